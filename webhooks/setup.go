package webhooks

import (
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
)

// Gate is what all webhooks share.
type Gate struct {
	// Source answers questions about other objects.
	Source refs.Source
	// Policy holds the severities of this installation.
	Policy rules.Policy
	// OperatorNamespace is where a secretRef without a namespace points.
	OperatorNamespace string
	// SecretNamespaces are the namespaces that a secretRef may point into.
	SecretNamespaces validation.SecretScope
	// OperatorAccounts are the ServiceAccounts in OperatorNamespace that the operator runs as: what they write is its own.
	OperatorAccounts []string
}

// isOperator says whether a request is the operator's own.
func (g *Gate) isOperator(user authenticationv1.UserInfo) bool {
	name, inOurs := strings.CutPrefix(user.Username, "system:serviceaccount:"+g.OperatorNamespace+":")
	return inOurs && slices.Contains(g.OperatorAccounts, name)
}

// setups register the webhooks of kinds, by their names.
type setups map[string]func(ctrl.Manager, *Gate) error

// SetupDNS registers the webhooks of the DNSClass and DNSRecord front door.
func SetupDNS(mgr ctrl.Manager, gate *Gate) error {
	return setups{"DNSClass": setupDNSClass, "DNSRecord": setupDNSRecord}.run(mgr, gate)
}

// SetupZones registers the webhooks of the Zone and Record front door.
func SetupZones(mgr ctrl.Manager, gate *Gate) error {
	return setups{"Zone": setupZone, "Record": setupRecord}.run(mgr, gate)
}

func (s setups) run(mgr ctrl.Manager, gate *Gate) error {
	for kind, setup := range s {
		if err := setup(mgr, gate); err != nil {
			return fmt.Errorf("set up the webhooks of %s: %w", kind, err)
		}
	}
	return nil
}
