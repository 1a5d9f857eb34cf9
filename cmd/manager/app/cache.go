package app

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// cacheOptions keeps the caches small: no managed fields, no copy of what was applied, Secrets of the watched namespaces
// only (and of those only the metadata is ever watched; with none, there is no watch), and in a process that only judges, no
// status that it does not read.
func cacheOptions(r Roles, watched []string) cache.Options {
	namespaces := make(map[string]cache.Config, len(watched))
	for _, ns := range watched {
		namespaces[ns] = cache.Config{}
	}
	transform := slim
	if !r.Controllers {
		transform = judged
	}
	return cache.Options{
		DefaultTransform: transform,
		// Kinds of ours are not named here: a kind that is named has to be served when the process starts.
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: namespaces}},
	}
}

// slim drops what nobody here reads of any object.
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

// judged drops besides what the gate does not read: status, and of a record all but what its claim is made of.
func judged(obj any) (any, error) {
	switch object := obj.(type) {
	case *dnsv1alpha1.DNSClass:
		object.Status = dnsv1alpha1.DNSClassStatus{}
	case *dnsv1alpha1.DNSRecord:
		object.Status = dnsv1alpha1.DNSRecordStatus{Applied: object.Status.Applied}
		object.Spec.Values, object.Spec.Description = nil, ""
	}
	return slim(obj)
}
