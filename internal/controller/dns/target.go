package dns

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// targets makes the target of calls from a class: timeout and credentials. What the class leaves out has the same defaults as at the gate.
type targets struct {
	// live reads Secrets from the API server: the operator caches none.
	live client.Reader
	// operatorNamespace is where a Secret is that has no namespace in the class.
	operatorNamespace string
	// namespaces are those that Secrets are read in.
	namespaces []string
}

// trouble is why a class has no target: a reason and a message for conditions.
type trouble struct {
	reason, message string
	// gone: the Secret, or the key in it, certainly does not exist.
	gone bool
}

func unusable(class *dnsv1alpha1.DNSClass, reason, why string) *trouble {
	return &trouble{reason: reason, message: fmt.Sprintf("DNSClass %s cannot be used: %s", class.Name, why)}
}

// serverOf returns the server of a class.
func serverOf(class *dnsv1alpha1.DNSClass) (endpoint.URL, *trouble) {
	server, err := endpoint.Parse(class.Spec.Server)
	if err != nil {
		return server, unusable(class, dnsv1alpha1.ReasonInvalidConfiguration, "its server is no URL of a DNS server")
	}
	return server, nil
}

func (t *trouble) forGood() *trouble {
	t.gone = true
	return t
}

// of returns the target for calls to this server with the credentials of the class. An error is one of the API server.
func (t *targets) of(ctx context.Context, class *dnsv1alpha1.DNSClass, server endpoint.URL) (httpdns.Target, *trouble, error) {
	target := httpdns.Target{Server: server, Timeout: dnsv1alpha1.DefaultTimeoutSeconds * time.Second}
	if seconds := class.Spec.TimeoutSeconds; seconds != nil {
		target.Timeout = time.Duration(*seconds) * time.Second
	}
	auth := class.Spec.HMACAuth
	if auth == nil {
		return target, nil, nil
	}
	switch auth.Algorithm {
	case "", dnsv1alpha1.HMACSHA256:
		target.Algorithm = "SHA256"
	case dnsv1alpha1.HMACSHA512:
		target.Algorithm = "SHA512"
	default:
		return target, unusable(class, dnsv1alpha1.ReasonInvalidConfiguration, "its hmacAuth.algorithm is neither SHA256 nor SHA512"), nil
	}
	var bad *trouble
	var err error
	target.Key, bad, err = t.key(ctx, class)
	return target, bad, err
}

// key returns the shared secret of a class that has hmacAuth.
func (t *targets) key(ctx context.Context, class *dnsv1alpha1.DNSClass) ([]byte, *trouble, error) {
	auth := class.Spec.HMACAuth
	switch {
	case (auth.Secret == nil) == (auth.SecretRef == nil):
		return nil, unusable(class, dnsv1alpha1.ReasonInvalidConfiguration, "its hmacAuth has not exactly one of secretRef and secret"), nil
	case auth.SecretRef != nil:
		return t.secretKey(ctx, class, *auth.SecretRef)
	case *auth.Secret == "":
		return nil, unusable(class, dnsv1alpha1.ReasonInvalidConfiguration, "its hmacAuth.secret is empty"), nil
	}
	return []byte(*auth.Secret), nil, nil
}

// secretKey reads one key of a Secret. Messages do not name the Secret: they are read in the namespaces of records, too.
func (t *targets) secretKey(ctx context.Context, class *dnsv1alpha1.DNSClass, ref dnsv1alpha1.SecretKeyReference) ([]byte, *trouble, error) {
	ref = t.complete(ref)
	missing := func(why string) *trouble { return unusable(class, dnsv1alpha1.ReasonSecretNotFound, why) }
	if !slices.Contains(t.namespaces, ref.Namespace) {
		return nil, missing("its Secret is in a namespace that this installation does not list for Secrets"), nil
	}
	secret := &corev1.Secret{}
	err := t.live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, missing("its Secret does not exist").forGood(), nil
	case apierrors.IsForbidden(err):
		return nil, missing("its Secret may not be read by the operator"), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read the Secret of DNSClass %s: %w", class.Name, err)
	}
	key, found := secret.Data[ref.Key]
	switch {
	case !found:
		return nil, missing("its Secret does not have the key that hmacAuth.secretRef names").forGood(), nil
	case len(key) == 0:
		return nil, missing("its Secret has an empty text under the key that hmacAuth.secretRef names"), nil
	}
	return key, nil, nil
}

// complete adds to a reference what the gate adds.
func (t *targets) complete(ref dnsv1alpha1.SecretKeyReference) dnsv1alpha1.SecretKeyReference {
	if ref.Namespace == "" {
		ref.Namespace = t.operatorNamespace
	}
	if ref.Key == "" {
		ref.Key = dnsv1alpha1.DefaultHMACKey
	}
	return ref
}

// refersTo says whether a class takes its key from this Secret.
func (t *targets) refersTo(class *dnsv1alpha1.DNSClass, secret client.ObjectKey) bool {
	auth := class.Spec.HMACAuth
	if auth == nil || auth.SecretRef == nil {
		return false
	}
	ref := t.complete(*auth.SecretRef)
	return ref.Namespace == secret.Namespace && ref.Name == secret.Name
}

// targetDigest stands for a target, the key included, where only sameness matters. It is kept in memory only.
func targetDigest(t httpdns.Target) string {
	return digest(t.Server.String(), t.Timeout, t.Algorithm, t.Key)
}

// contentHash stands for what is published where: equal hashes, nothing to do.
func contentHash(server endpoint.URL, set *record.RRset) string {
	return digest(server.String(), set.Type, set.Domain.String(), set.Subdomain, set.TTL, set.Priority, set.Weight, set.Port, set.Values())
}

// digest is the SHA-256, in hex, of the parts. JSON keeps them apart.
func digest(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic("digest of what cannot be marshalled: " + err.Error()) // the callers above pass strings, numbers and bytes only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
