package zone

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/record"
)

// Key names a Zone or a Record.
type Key = types.NamespacedName

// Object is what decisions need to know of any object.
type Object struct {
	Key
	UID types.UID
	// Version is the resourceVersion, so that an older state of an object never replaces a newer one. Empty: not stored yet.
	Version string
	// Created is the creationTimestamp; zero: not stored yet, which is later than all others.
	Created time.Time
	// Ready says that the object was published as far as its own status tells: it holds its name.
	Ready bool
	// Leaving says that the object is being deleted. We hold none back by a finalizer, so that is as good as gone.
	Leaving bool
}

// ZoneObject is what decisions need to know of a Zone.
type ZoneObject struct {
	Object
	DomainName string
	// ZoneRef is nil where domainName is the whole name.
	ZoneRef     *Key
	Delegations Delegations
	SOA         SOA
}

// RecordObject is what decisions need to know of a Record.
type RecordObject struct {
	Object
	DomainName string
	// ZoneRef is nil where domainName is the whole name.
	ZoneRef *Key
	Type    record.Type
	// TTL is nil where the zone's is taken.
	TTL   *uint32
	RData string
}

// ZoneOf reads a Zone.
func ZoneOf(z *zonev1alpha1.Zone) ZoneObject {
	return ZoneObject{
		Object:      objectOf(&z.ObjectMeta, z.Status.Conditions),
		DomainName:  z.Spec.DomainName,
		ZoneRef:     refOf(z.Spec.ZoneRef, z.Namespace),
		Delegations: CompileDelegations(z.Spec.Delegations),
		SOA:         soaOf(&z.Spec),
	}
}

// RecordOf reads a Record.
func RecordOf(r *zonev1alpha1.Record) RecordObject {
	out := RecordObject{
		Object:     objectOf(&r.ObjectMeta, r.Status.Conditions),
		DomainName: r.Spec.DomainName,
		ZoneRef:    refOf(r.Spec.ZoneRef, r.Namespace),
		Type:       record.Type(r.Spec.Type),
		RData:      r.Spec.RData,
	}
	if r.Spec.TTL != nil && *r.Spec.TTL >= 0 {
		ttl := uint32(*r.Spec.TTL)
		out.TTL = &ttl
	}
	return out
}

func objectOf(meta *metav1.ObjectMeta, conditions []metav1.Condition) Object {
	o := Object{Key: Key{Namespace: meta.Namespace, Name: meta.Name}, UID: meta.UID, Version: meta.ResourceVersion, Created: meta.CreationTimestamp.UTC()}
	if meta.CreationTimestamp.IsZero() {
		o.Created = time.Time{}
	}
	o.Leaving = meta.DeletionTimestamp != nil
	for _, c := range conditions {
		if c.Type == zonev1alpha1.ConditionReady {
			o.Ready = c.Status == metav1.ConditionTrue
		}
	}
	return o
}

func refOf(ref *zonev1alpha1.ZoneReference, namespace string) *Key {
	if ref == nil {
		return nil
	}
	key := Key{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = namespace
	}
	return &key
}

// ParentLabel is the value of the label that names a Zone as the parent of another object.
func ParentLabel(zone Key) string { return zone.Name + "." + zone.Namespace }

// MaxParentLabel is how many characters the value of a label has at most.
const MaxParentLabel = 63

// precedes says which of two objects that want the same name has it: the one that is published keeps it, else the older, then the one
// whose namespace and name sort first. It is the same on every replica and after every restart.
func (o Object) precedes(other Object) bool {
	switch {
	case o.Ready != other.Ready:
		return o.Ready
	case o.Created.IsZero() != other.Created.IsZero():
		return other.Created.IsZero()
	case !o.Created.Equal(other.Created):
		return o.Created.Before(other.Created)
	case o.Namespace != other.Namespace:
		return o.Namespace < other.Namespace
	}
	return o.Name < other.Name
}
