// Package defaulting writes what the user left out. A defaulter only adds: it never changes what was written and never
// repairs bad input. It sees objects that the schema has not checked yet, and running it twice is running it once.
package defaulting

import (
	"slices"

	"k8s.io/utils/ptr"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// DNSClass defaults a DNSClass: defaultTTL, timeoutSeconds, the algorithm, and where the Secret is. On create it adds the in-use
// finalizer, so that no class goes while records refer to it.
func DNSClass(class *dnsv1alpha1.DNSClass, create bool, operatorNamespace string) {
	spec := &class.Spec
	if spec.DefaultTTL == nil {
		spec.DefaultTTL = ptr.To[int32](dnsv1alpha1.DefaultTTL)
	}
	if spec.TimeoutSeconds == nil {
		spec.TimeoutSeconds = ptr.To[int32](dnsv1alpha1.DefaultTimeoutSeconds)
	}
	if spec.HMACAuth != nil {
		defaultHMAC(spec.HMACAuth, operatorNamespace)
	}
	if create && !slices.Contains(class.Finalizers, dnsv1alpha1.DNSClassInUseFinalizer) {
		class.Finalizers = append(class.Finalizers, dnsv1alpha1.DNSClassInUseFinalizer)
	}
}

func defaultHMAC(auth *dnsv1alpha1.HMACAuth, operatorNamespace string) {
	if auth.Algorithm == "" {
		auth.Algorithm = dnsv1alpha1.HMACSHA256
	}
	if ref := auth.SecretRef; ref != nil {
		if ref.Namespace == "" {
			ref.Namespace = operatorNamespace
		}
		if ref.Key == "" {
			ref.Key = dnsv1alpha1.DefaultHMACKey
		}
	}
}
