// Package refs is the narrow view of other objects that a decision about one object needs. An answer is found, absent or
// unknown; unknown never denies. The webhooks ask the cluster (internal/refs/cached), the linter asks the manifests at hand
// (Manifests).
package refs

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/zone"
)

// State is what is known of another object.
type State int

// The states of an answer.
const (
	// Unknown: it could not be asked for; nothing follows from it.
	Unknown State = iota
	// Absent: it certainly does not exist.
	Absent
	// Found: it exists.
	Found
)

// Source answers questions about other objects. An error is one of the look-up itself, and never a finding. An answer
// that a refusal can rest on (Absent, a rival, or a problem that denies) has been confirmed with the API server where there is one.
type Source interface {
	// DNSClass returns the class of that name. A class that is being deleted is found, with its deletionTimestamp.
	DNSClass(ctx context.Context, name string) (*dnsv1alpha1.DNSClass, State, error)
	// Rivals returns the claims of other objects that conflict with this one.
	Rivals(ctx context.Context, claim claims.Claim) ([]claims.Claim, error)
	// Secret says whether the Secret exists, and what a warning can say about the key.
	Secret(ctx context.Context, ref dnsv1alpha1.SecretKeyReference) (SecretFacts, error)
	// MayGetSecret says whether the user may get the Secret: Found for yes, Absent for no.
	MayGetSecret(ctx context.Context, user authenticationv1.UserInfo, namespace, name string) (State, error)
	// Zone says what would become of a Zone beside all others, were it admitted as it is here. It takes the place of the one with its name.
	Zone(ctx context.Context, z *zonev1alpha1.Zone) (zone.ZoneVerdict, []zone.Problem, error)
	// Record says the same of a Record.
	Record(ctx context.Context, rec *zonev1alpha1.Record) (zone.RecordVerdict, []zone.Problem, error)
}

// ServerOfUnknown stands for the server of a class that is not known, where only sameness matters. It names no host: .invalid never
// resolves (RFC 6761 section 6.4).
func ServerOfUnknown(class string) string { return "http://" + class + ".invalid" }

// SecretFacts is what may be said about a key of a Secret. It never holds the value.
type SecretFacts struct {
	// Secret and Key are the states of the Secret and of the key in it.
	Secret, Key State
	// Empty and TrailingNewline describe the value of a key that was found.
	Empty, TrailingNewline bool
}

// FactsOf describes one key of a Secret's data.
func FactsOf(data map[string][]byte, key string) SecretFacts {
	value, ok := data[key]
	if !ok {
		return SecretFacts{Secret: Found, Key: Absent}
	}
	n := len(value)
	return SecretFacts{Secret: Found, Key: Found, Empty: n == 0, TrailingNewline: n > 0 && value[n-1] == '\n'}
}
