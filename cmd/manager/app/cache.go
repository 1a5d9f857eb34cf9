package app

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// cacheOptions keeps the caches small: no managed fields, no copy of what was applied, Secrets of the listed namespaces
// only (and of those only the metadata is ever watched), and in a process that only judges, no status that it does not
// read.
func cacheOptions(cfg *Config, r Roles) cache.Options {
	namespaces := make(map[string]cache.Config, len(cfg.SecretNamespaces))
	for _, ns := range cfg.SecretNamespaces {
		namespaces[ns] = cache.Config{}
	}
	options := cache.Options{
		DefaultTransform: slim,
		ByObject:         map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: namespaces}},
	}
	if !r.Controllers {
		options.ByObject[&dnsv1alpha1.DNSClass{}] = cache.ByObject{Transform: judgedClass}
		options.ByObject[&dnsv1alpha1.DNSRecord{}] = cache.ByObject{Transform: judgedRecord}
	}
	return options
}

func slim(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
		if annotations := object.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			object.SetAnnotations(annotations)
		}
	}
	return obj, nil
}

func judgedClass(obj any) (any, error) {
	if class, ok := obj.(*dnsv1alpha1.DNSClass); ok {
		class.Status = dnsv1alpha1.DNSClassStatus{}
	}
	return slim(obj)
}

// judgedRecord keeps of a record what its claim is made of.
func judgedRecord(obj any) (any, error) {
	if rec, ok := obj.(*dnsv1alpha1.DNSRecord); ok {
		rec.Status = dnsv1alpha1.DNSRecordStatus{Applied: rec.Status.Applied}
		rec.Spec.Values, rec.Spec.Description = nil, ""
	}
	return slim(obj)
}
