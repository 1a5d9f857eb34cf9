package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// ZoneBuilder builds a Zone.
type ZoneBuilder struct{ obj zonev1alpha1.Zone }

// Zone begins a Zone: example.org., which lets in nothing yet. Its times are left to the defaults.
func Zone(namespace, name string) *ZoneBuilder {
	return &ZoneBuilder{zonev1alpha1.Zone{
		TypeMeta:   metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: "Zone"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       zonev1alpha1.ZoneSpec{DomainName: "example.org."},
	}}
}

// Domain sets spec.domainName.
func (b *ZoneBuilder) Domain(domainName string) *ZoneBuilder {
	b.obj.Spec.DomainName = domainName
	return b
}

// ZoneRef sets spec.zoneRef; an empty namespace is left to the default, which is the zone's own.
func (b *ZoneBuilder) ZoneRef(name, namespace string) *ZoneBuilder {
	b.obj.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: name, Namespace: namespace}
	return b
}

// DelegateAll lets in every name of every namespace: Records of all types, at the apex and below it, and sub-zones.
func (b *ZoneBuilder) DelegateAll() *ZoneBuilder {
	return b.Delegation(zonev1alpha1.Delegation{
		Zones:   []string{"*"},
		Records: []zonev1alpha1.RecordDelegation{{Pattern: "@"}, {Pattern: "*"}},
	})
}

// Delegate lets in Records of all types whose name matches a pattern, from some namespaces; nil stands for all of them.
func (b *ZoneBuilder) Delegate(namespaces []string, patterns ...string) *ZoneBuilder {
	records := make([]zonev1alpha1.RecordDelegation, len(patterns))
	for i, pattern := range patterns {
		records[i].Pattern = pattern
	}
	return b.Delegation(zonev1alpha1.Delegation{Namespaces: namespaces, Records: records})
}

// DelegateTypes lets in Records of some types whose name matches the pattern, from some namespaces; nil stands for all of them.
func (b *ZoneBuilder) DelegateTypes(namespaces []string, pattern string, types ...string) *ZoneBuilder {
	return b.Delegation(zonev1alpha1.Delegation{
		Namespaces: namespaces,
		Records:    []zonev1alpha1.RecordDelegation{{Pattern: pattern, Types: types}},
	})
}

// DelegateZones lets in sub-zones whose name matches a pattern, from some namespaces; nil stands for all of them.
func (b *ZoneBuilder) DelegateZones(namespaces []string, patterns ...string) *ZoneBuilder {
	return b.Delegation(zonev1alpha1.Delegation{Namespaces: namespaces, Zones: patterns})
}

// Delegation adds to spec.delegations.
func (b *ZoneBuilder) Delegation(delegation zonev1alpha1.Delegation) *ZoneBuilder {
	b.obj.Spec.Delegations = append(b.obj.Spec.Delegations, delegation)
	return b
}

// NoDelegations takes away what was delegated so far.
func (b *ZoneBuilder) NoDelegations() *ZoneBuilder {
	b.obj.Spec.Delegations = nil
	return b
}

// TTL sets spec.ttl, in seconds.
func (b *ZoneBuilder) TTL(seconds int32) *ZoneBuilder {
	b.obj.Spec.TTL = &seconds
	return b
}

// Times sets spec.refresh, spec.retry and spec.expire, in seconds.
func (b *ZoneBuilder) Times(refresh, retry, expire int32) *ZoneBuilder {
	b.obj.Spec.Refresh, b.obj.Spec.Retry, b.obj.Spec.Expire = &refresh, &retry, &expire
	return b
}

// NegativeResponseCache sets spec.negativeResponseCache, in seconds.
func (b *ZoneBuilder) NegativeResponseCache(seconds int32) *ZoneBuilder {
	b.obj.Spec.NegativeResponseCache = &seconds
	return b
}

// NameServer sets spec.nameServer.
func (b *ZoneBuilder) NameServer(name string) *ZoneBuilder {
	b.obj.Spec.NameServer = name
	return b
}

// Contact sets spec.contact.
func (b *ZoneBuilder) Contact(address string) *ZoneBuilder {
	b.obj.Spec.Contact = address
	return b
}

// Label sets one label.
func (b *ZoneBuilder) Label(key, value string) *ZoneBuilder {
	setLabel(&b.obj.ObjectMeta, key, value)
	return b
}

// Finalizers sets metadata.finalizers.
func (b *ZoneBuilder) Finalizers(finalizers ...string) *ZoneBuilder {
	b.obj.Finalizers = finalizers
	return b
}

// Deleting marks the zone as being deleted. An API server sets this mark by itself; it is for tests without one.
func (b *ZoneBuilder) Deleting() *ZoneBuilder {
	now := metav1.Now()
	b.obj.DeletionTimestamp = &now
	return b
}

// Obj returns a copy of what was built, so that one builder can serve for several objects.
func (b *ZoneBuilder) Obj() *zonev1alpha1.Zone { return b.obj.DeepCopy() }

// RecordBuilder builds a Record.
type RecordBuilder struct{ obj zonev1alpha1.Record }

// Record begins a Record: www.example.org., an A record of 192.0.2.1 without a ttl of its own. Its class is left to the default.
func Record(namespace, name string) *RecordBuilder {
	return &RecordBuilder{zonev1alpha1.Record{
		TypeMeta:   metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: "Record"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       zonev1alpha1.RecordSpec{DomainName: "www.example.org.", Type: "A", RData: "192.0.2.1"},
	}}
}

// Domain sets spec.domainName.
func (b *RecordBuilder) Domain(domainName string) *RecordBuilder {
	b.obj.Spec.DomainName = domainName
	return b
}

// ZoneRef sets spec.zoneRef; an empty namespace is left to the default, which is the record's own.
func (b *RecordBuilder) ZoneRef(name, namespace string) *RecordBuilder {
	b.obj.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: name, Namespace: namespace}
	return b
}

// Type sets spec.type.
func (b *RecordBuilder) Type(recordType string) *RecordBuilder {
	b.obj.Spec.Type = recordType
	return b
}

// Class sets spec.class.
func (b *RecordBuilder) Class(class string) *RecordBuilder {
	b.obj.Spec.Class = class
	return b
}

// RData sets spec.rdata.
func (b *RecordBuilder) RData(rdata string) *RecordBuilder {
	b.obj.Spec.RData = rdata
	return b
}

// TTL sets spec.ttl, in seconds.
func (b *RecordBuilder) TTL(seconds int32) *RecordBuilder {
	b.obj.Spec.TTL = &seconds
	return b
}

// Label sets one label.
func (b *RecordBuilder) Label(key, value string) *RecordBuilder {
	setLabel(&b.obj.ObjectMeta, key, value)
	return b
}

// Finalizers sets metadata.finalizers.
func (b *RecordBuilder) Finalizers(finalizers ...string) *RecordBuilder {
	b.obj.Finalizers = finalizers
	return b
}

// Deleting marks the record as being deleted. An API server sets this mark by itself; it is for tests without one.
func (b *RecordBuilder) Deleting() *RecordBuilder {
	now := metav1.Now()
	b.obj.DeletionTimestamp = &now
	return b
}

// Obj returns a copy of what was built, so that one builder can serve for several objects.
func (b *RecordBuilder) Obj() *zonev1alpha1.Record { return b.obj.DeepCopy() }

func setLabel(meta *metav1.ObjectMeta, key, value string) {
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	meta.Labels[key] = value
}
