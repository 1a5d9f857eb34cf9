package webhooks

import (
	"fmt"

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
}

// SetupDNS registers the webhooks of the DNSClass and DNSRecord front door.
func SetupDNS(mgr ctrl.Manager, gate *Gate) error {
	for kind, setup := range map[string]func(ctrl.Manager, *Gate) error{
		"DNSClass": setupDNSClass, "DNSRecord": setupDNSRecord,
	} {
		if err := setup(mgr, gate); err != nil {
			return fmt.Errorf("set up the webhooks of %s: %w", kind, err)
		}
	}
	return nil
}
