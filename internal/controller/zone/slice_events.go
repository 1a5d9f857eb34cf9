package zone

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// sliceEvents wakes the Zone of a slice that somebody else has changed or deleted. One that somebody else has created, or this process without
// getting an answer, does no harm, and goes a while later: to wake the Zone at once would have two processes that lead at once create and delete
// slices in turns.
func (r *Zones) sliceEvents() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if !r.appeared(e.Object) && !e.IsInInitialList {
				wakeOwner(e.Object, later{q})
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if !sameSlice(e.ObjectOld, e.ObjectNew) {
				r.vanished(e.ObjectOld)
			}
			r.appeared(e.ObjectNew)
			wakeOwner(e.ObjectOld, q)
			wakeOwner(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			if !r.vanished(e.Object) {
				wakeOwner(e.Object, q)
			}
		},
	}
}

// later is a queue whose objects are looked at when two processes that lead at once have had time to become one.
type later struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Add implements workqueue.TypedInterface.
func (l later) Add(req reconcile.Request) { l.AddAfter(req, common.StaleLimit) }

// appeared takes in that the cache shows a slice, as it is now. It says whether this process knows of it already.
func (r *Zones) appeared(s client.Object) (known bool) {
	of, owned := ownerOf(s)
	return owned && r.shelf.seen(of, s)
}

// vanished takes in that the cache shows a slice no more. It says whether this process has deleted it.
func (r *Zones) vanished(s client.Object) (own bool) {
	of, owned := ownerOf(s)
	return owned && r.shelf.ended(of, s)
}

// sameSlice says whether a slice is still the same object of the same Zone. A cache may show the end of one and the start of another as one change.
func sameSlice(before, after client.Object) bool {
	one, _ := ownerOf(before)
	other, _ := ownerOf(after)
	return one == other && before.GetUID() == after.GetUID()
}

// ownerOf returns the Zone that controls a slice.
func ownerOf(s client.Object) (of ownerKey, owned bool) {
	ref := metav1.GetControllerOf(s)
	if ref == nil {
		return ownerKey{}, false
	}
	return ownerKey{s.GetNamespace(), ref.UID}, true
}

func wakeOwner(s client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if ref := metav1.GetControllerOf(s); ref != nil && ref.Kind == zone.KindZone {
		queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: s.GetNamespace(), Name: ref.Name}})
	}
}
