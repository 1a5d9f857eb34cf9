package app

import (
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/away"
	"github.com/namegate/namegate/internal/conditions"
)

// cacheOptions keeps the caches small: no managed fields, no copy of what was applied, Secrets of the watched namespaces
// only (and of those only the metadata is ever watched; with none, there is no watch), and in a process that only judges, no
// status that it does not read. Watches go on soon after an API server that was away is back.
func cacheOptions(r Roles, watched []string, log *slog.Logger) cache.Options {
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
		NewInformer: func(lw toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			told := func(err error) {
				log.Warn("a watch waits for the API server", "kind", fmt.Sprintf("%T", kind), "error", err)
			}
			return toolscache.NewSharedIndexInformer(away.Patient(lw, told), kind, resync, indexers)
		},
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

// judged drops besides what the gate does not read: status, but for what says who holds a name, and of a DNSRecord all but what its claim is
// made of.
func judged(obj any) (any, error) {
	switch object := obj.(type) {
	case *dnsv1alpha1.DNSClass:
		object.Status = dnsv1alpha1.DNSClassStatus{}
	case *dnsv1alpha1.DNSRecord:
		object.Status = dnsv1alpha1.DNSRecordStatus{Applied: object.Status.Applied}
		object.Spec.Values, object.Spec.Description = nil, ""
	case *zonev1alpha1.Zone:
		object.Status = zonev1alpha1.ZoneStatus{Conditions: readiness(object.Status.Conditions)}
	case *zonev1alpha1.Record:
		object.Status = zonev1alpha1.RecordStatus{Conditions: readiness(object.Status.Conditions)}
	}
	return slim(obj)
}

// readiness is what the gate reads of conditions: whether the object holds its name.
func readiness(list []metav1.Condition) []metav1.Condition {
	ready := conditions.Find(list, zonev1alpha1.ConditionReady)
	if ready.Status == "" {
		return nil
	}
	return []metav1.Condition{{Type: ready.Type, Status: ready.Status}}
}
