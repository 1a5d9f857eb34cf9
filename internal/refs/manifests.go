package refs

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/zone"
)

// Manifests answers from a set of manifests. What is not among them is unknown: it may be in the cluster.
type Manifests struct {
	store   *claims.Store
	feed    *claims.DNSFeed
	classes map[string]*dnsv1alpha1.DNSClass
	secrets map[types.NamespacedName]map[string][]byte
	zones   *zone.Model
	// added counts Zones and Records: of two that want the same, the one that was added first has it.
	added int64
}

// NewManifests returns an empty set.
func NewManifests() *Manifests {
	store := claims.NewStore()
	return &Manifests{store: store, feed: claims.NewDNSFeed(store), classes: map[string]*dnsv1alpha1.DNSClass{},
		secrets: map[types.NamespacedName]map[string][]byte{}, zones: zone.NewPartialModel()}
}

// AddDNSClass adds a class.
func (m *Manifests) AddDNSClass(class *dnsv1alpha1.DNSClass) {
	m.classes[class.Name] = class
	m.feed.ClassChanged(class)
}

// AddDNSRecord adds what a record claims.
func (m *Manifests) AddDNSRecord(rec *dnsv1alpha1.DNSRecord) {
	if class := rec.Spec.DNSClassRef.Name; m.feed.Server(class) == "" {
		// Whatever the server of an unknown class is, its records share it.
		standIn := &dnsv1alpha1.DNSClass{Spec: dnsv1alpha1.DNSClassSpec{Server: ServerOfUnknown(class)}}
		standIn.Name = class
		m.feed.ClassChanged(standIn)
	}
	m.feed.RecordChanged(rec)
}

// AddSecret adds a Secret, its stringData included.
func (m *Manifests) AddSecret(secret *corev1.Secret) {
	data := make(map[string][]byte, len(secret.Data)+len(secret.StringData))
	for k, v := range secret.Data {
		data[k] = v
	}
	for k, v := range secret.StringData {
		data[k] = []byte(v)
	}
	m.secrets[types.NamespacedName{Namespace: secret.Namespace, Name: secret.Name}] = data
}

// AddZone adds a Zone.
func (m *Manifests) AddZone(z *zonev1alpha1.Zone) {
	obj := zone.ZoneOf(z)
	obj.Created = m.next()
	m.zones.SetZone(obj)
}

// AddRecord adds a Record.
func (m *Manifests) AddRecord(rec *zonev1alpha1.Record) {
	obj := zone.RecordOf(rec)
	obj.Created = m.next()
	m.zones.SetRecord(obj)
}

// next is a time after all before it.
func (m *Manifests) next() time.Time {
	m.added++
	return time.Unix(m.added, 0)
}

// DNSClass implements Source.
func (m *Manifests) DNSClass(_ context.Context, name string) (*dnsv1alpha1.DNSClass, State, error) {
	if class, ok := m.classes[name]; ok {
		return class, Found, nil
	}
	return nil, Unknown, nil
}

// Rivals implements Source.
func (m *Manifests) Rivals(_ context.Context, claim claims.Claim) ([]claims.Claim, error) {
	return m.store.Rivals(claim), nil
}

// Secret implements Source.
func (m *Manifests) Secret(_ context.Context, ref dnsv1alpha1.SecretKeyReference) (SecretFacts, error) {
	data, ok := m.secrets[types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}]
	if !ok {
		return SecretFacts{}, nil
	}
	return FactsOf(data, ref.Key), nil
}

// MayGetSecret implements Source: there is no user to ask about.
func (m *Manifests) MayGetSecret(context.Context, authenticationv1.UserInfo, string, string) (State, error) {
	return Unknown, nil
}

// Zone implements Source.
func (m *Manifests) Zone(_ context.Context, z *zonev1alpha1.Zone) (zone.ZoneVerdict, []zone.Problem, error) {
	verdict, problems := m.zones.TryZone(zone.ZoneOf(z))
	return verdict, problems, nil
}

// Record implements Source.
func (m *Manifests) Record(_ context.Context, rec *zonev1alpha1.Record) (zone.RecordVerdict, []zone.Problem, error) {
	verdict, problems := m.zones.TryRecord(zone.RecordOf(rec))
	return verdict, problems, nil
}

var _ Source = (*Manifests)(nil)
