package dns

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
)

// ClassField is the field of a DNSRecord by which those of a class are found: a selectable field of the API, and an index of the cache.
const ClassField = "spec.dnsClassRef.name"

// classOf is the value of ClassField.
func classOf(obj client.Object) []string {
	rec, ok := obj.(*dnsv1alpha1.DNSRecord)
	if !ok {
		return nil
	}
	return []string{rec.Spec.DNSClassRef.Name}
}

// ringOwner wakes an object that may take over a name.
func ringOwner(bell *common.Alarm) func(claims.Owner) {
	return func(owner claims.Owner) {
		if owner.Kind == claims.KindDNSRecord {
			bell.Ring(owner.NamespacedName)
		}
	}
}

// changed lets through what a controller acts on in its own kind: the spec, a deletion, the finalizers and the annotation that releases. It stops
// what a controller writes itself.
var changed = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, now := e.ObjectOld, e.ObjectNew
		return before.GetGeneration() != now.GetGeneration() || before.GetUID() != now.GetUID() ||
			before.GetDeletionTimestamp().IsZero() != now.GetDeletionTimestamp().IsZero() ||
			!slices.Equal(before.GetFinalizers(), now.GetFinalizers()) ||
			before.GetAnnotations()[dnsv1alpha1.ReleaseAnnotation] != now.GetAnnotations()[dnsv1alpha1.ReleaseAnnotation]
	},
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

// wakesRecords lets through what records act on in their class: that it comes or goes, that its spec changes, and that it turns healthy.
var wakesRecords = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasClass := e.ObjectOld.(*dnsv1alpha1.DNSClass)
		now, isClass := e.ObjectNew.(*dnsv1alpha1.DNSClass)
		if !wasClass || !isClass {
			return false
		}
		return before.Generation != now.Generation || before.UID != now.UID || turnedHealthy(before, now)
	},
}

func turnedHealthy(before, now *dnsv1alpha1.DNSClass) bool {
	return !conditions.IsTrue(before.Status.Conditions, dnsv1alpha1.ConditionReady) &&
		conditions.IsTrue(now.Status.Conditions, dnsv1alpha1.ConditionReady)
}

// onlyDeletions lets through deletions and nothing else.
var onlyDeletions = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// mapping finds the objects that an event of another kind concerns.
type mapping struct {
	cache   client.Reader
	targets *targets
}

// listedNamespace lets through Secrets that may be read.
func (m *mapping) listedNamespace() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(secret client.Object) bool {
		return slices.Contains(m.targets.namespaces, secret.GetNamespace())
	})
}

// classToRecords finds the records of a class.
func (m *mapping) classToRecords(ctx context.Context, class client.Object) []reconcile.Request {
	return m.recordsOf(ctx, class.GetName())
}

// secretToRecords finds the records of the classes that sign with a Secret.
func (m *mapping) secretToRecords(ctx context.Context, secret client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, class := range m.secretToClasses(ctx, secret) {
		out = append(out, m.recordsOf(ctx, class.Name)...)
	}
	return out
}

// secretToClasses finds the classes that sign with a Secret.
func (m *mapping) secretToClasses(ctx context.Context, secret client.Object) []reconcile.Request {
	classes := &dnsv1alpha1.DNSClassList{}
	if err := m.cache.List(ctx, classes); err != nil {
		return nil // the cache fails only when it stops
	}
	var out []reconcile.Request
	for i := range classes.Items {
		if m.targets.refersTo(&classes.Items[i], client.ObjectKeyFromObject(secret)) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&classes.Items[i])})
		}
	}
	return out
}

// recordToLeavingClass finds the class of a record, if it waits for its records to go.
func (m *mapping) recordToLeavingClass(ctx context.Context, obj client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, name := range classOf(obj) {
		class, key := &dnsv1alpha1.DNSClass{}, client.ObjectKey{Name: name}
		if err := m.cache.Get(ctx, key, class); err == nil && !class.DeletionTimestamp.IsZero() {
			out = append(out, reconcile.Request{NamespacedName: key})
		}
	}
	return out
}

func (m *mapping) recordsOf(ctx context.Context, class string) []reconcile.Request {
	records := &dnsv1alpha1.DNSRecordList{}
	if err := m.cache.List(ctx, records, client.MatchingFields{ClassField: class}, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache fails only when it stops
	}
	out := make([]reconcile.Request, 0, len(records.Items))
	for i := range records.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&records.Items[i])})
	}
	return out
}
