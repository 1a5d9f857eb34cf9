// Package builder builds Namegate's objects for tests in one readable line, so that a test shows only what it is about.
package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// DNSClassBuilder builds a DNSClass.
type DNSClassBuilder struct{ obj dnsv1alpha1.DNSClass }

// DNSClass begins a DNSClass of the server at http://127.0.0.1:7100, without authentication.
func DNSClass(name string) *DNSClassBuilder {
	return &DNSClassBuilder{dnsv1alpha1.DNSClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: dnsv1alpha1.GroupVersion.String(), Kind: "DNSClass"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       dnsv1alpha1.DNSClassSpec{Server: "http://127.0.0.1:7100"},
	}}
}

// Server sets spec.server.
func (b *DNSClassBuilder) Server(url string) *DNSClassBuilder {
	b.obj.Spec.Server = url
	return b
}

// DefaultTTL sets spec.defaultTTL, in seconds.
func (b *DNSClassBuilder) DefaultTTL(seconds int32) *DNSClassBuilder {
	b.obj.Spec.DefaultTTL = &seconds
	return b
}

// Timeout sets spec.timeoutSeconds.
func (b *DNSClassBuilder) Timeout(seconds int32) *DNSClassBuilder {
	b.obj.Spec.TimeoutSeconds = &seconds
	return b
}

// SecretRef sets spec.hmacAuth.secretRef; an empty namespace or key is left to the defaults.
func (b *DNSClassBuilder) SecretRef(namespace, name, key string) *DNSClassBuilder {
	b.hmac().SecretRef = &dnsv1alpha1.SecretKeyReference{Namespace: namespace, Name: name, Key: key}
	return b
}

// InlineSecret sets spec.hmacAuth.secret.
func (b *DNSClassBuilder) InlineSecret(secret string) *DNSClassBuilder {
	b.hmac().Secret = &secret
	return b
}

// Algorithm sets spec.hmacAuth.algorithm.
func (b *DNSClassBuilder) Algorithm(algorithm dnsv1alpha1.HMACAlgorithm) *DNSClassBuilder {
	b.hmac().Algorithm = algorithm
	return b
}

func (b *DNSClassBuilder) hmac() *dnsv1alpha1.HMACAuth {
	if b.obj.Spec.HMACAuth == nil {
		b.obj.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{}
	}
	return b.obj.Spec.HMACAuth
}

// Finalizers sets metadata.finalizers.
func (b *DNSClassBuilder) Finalizers(finalizers ...string) *DNSClassBuilder {
	b.obj.Finalizers = finalizers
	return b
}

// Deleting marks the class as being deleted. An API server sets this mark by itself; it is for tests without one.
func (b *DNSClassBuilder) Deleting() *DNSClassBuilder {
	now := metav1.Now()
	b.obj.DeletionTimestamp = &now
	return b
}

// Obj returns a copy of what was built, so that one builder can serve for several objects.
func (b *DNSClassBuilder) Obj() *dnsv1alpha1.DNSClass { return b.obj.DeepCopy() }

// DNSRecordBuilder builds a DNSRecord.
type DNSRecordBuilder struct{ obj dnsv1alpha1.DNSRecord }

// DNSRecord begins a DNSRecord: www.example.com, an A record of 192.0.2.1, of the class "reference".
func DNSRecord(namespace, name string) *DNSRecordBuilder {
	return &DNSRecordBuilder{dnsv1alpha1.DNSRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: dnsv1alpha1.GroupVersion.String(), Kind: "DNSRecord"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: dnsv1alpha1.DNSRecordSpec{
			Type:        dnsv1alpha1.RecordTypeA,
			Domain:      "example.com",
			Subdomain:   "www",
			DNSClassRef: dnsv1alpha1.DNSClassReference{Name: "reference"},
			Values:      []string{"192.0.2.1"},
		},
	}}
}

// Type sets spec.type.
func (b *DNSRecordBuilder) Type(recordType dnsv1alpha1.RecordType) *DNSRecordBuilder {
	b.obj.Spec.Type = recordType
	return b
}

// Domain sets spec.domain.
func (b *DNSRecordBuilder) Domain(domain string) *DNSRecordBuilder {
	b.obj.Spec.Domain = domain
	return b
}

// Subdomain sets spec.subdomain; an empty one is left to the default.
func (b *DNSRecordBuilder) Subdomain(subdomain string) *DNSRecordBuilder {
	b.obj.Spec.Subdomain = subdomain
	return b
}

// Class sets spec.dnsClassRef.name.
func (b *DNSRecordBuilder) Class(name string) *DNSRecordBuilder {
	b.obj.Spec.DNSClassRef.Name = name
	return b
}

// Values sets spec.values.
func (b *DNSRecordBuilder) Values(values ...string) *DNSRecordBuilder {
	b.obj.Spec.Values = values
	return b
}

// TTL sets spec.ttl, in seconds.
func (b *DNSRecordBuilder) TTL(seconds int32) *DNSRecordBuilder {
	b.obj.Spec.TTL = &seconds
	return b
}

// Description sets spec.description.
func (b *DNSRecordBuilder) Description(text string) *DNSRecordBuilder {
	b.obj.Spec.Description = text
	return b
}

// MX sets what an MX record needs besides its values.
func (b *DNSRecordBuilder) MX(priority int32) *DNSRecordBuilder {
	b.obj.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: &priority}
	return b
}

// SRV sets what an SRV record needs besides its values.
func (b *DNSRecordBuilder) SRV(priority, weight, port int32) *DNSRecordBuilder {
	b.obj.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: &priority, Weight: &weight, Port: &port}
	return b
}

// Annotation sets one annotation.
func (b *DNSRecordBuilder) Annotation(key, value string) *DNSRecordBuilder {
	if b.obj.Annotations == nil {
		b.obj.Annotations = map[string]string{}
	}
	b.obj.Annotations[key] = value
	return b
}

// Finalizers sets metadata.finalizers.
func (b *DNSRecordBuilder) Finalizers(finalizers ...string) *DNSRecordBuilder {
	b.obj.Finalizers = finalizers
	return b
}

// Deleting marks the record as being deleted. An API server sets this mark by itself; it is for tests without one.
func (b *DNSRecordBuilder) Deleting() *DNSRecordBuilder {
	now := metav1.Now()
	b.obj.DeletionTimestamp = &now
	return b
}

// Obj returns a copy of what was built, so that one builder can serve for several objects.
func (b *DNSRecordBuilder) Obj() *dnsv1alpha1.DNSRecord { return b.obj.DeepCopy() }
