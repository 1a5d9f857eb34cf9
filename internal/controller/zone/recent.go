package zone

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// ownerField is the index of the cache by which the ZoneSlices of a Zone are found: the UID of the Zone that controls them.
const ownerField = "metadata.controller"

// ownerOf is the value of ownerField.
func ownerOf(obj client.Object) []string {
	if ref := metav1.GetControllerOf(obj); ref != nil {
		return []string{string(ref.UID)}
	}
	return nil
}

// recent knows the writes of ZoneSlices that no event has told of yet: until then the cache does not have them. It is safe for concurrent use.
type recent struct {
	mu   sync.Mutex
	made map[types.NamespacedName]making
	gone map[types.UID]time.Time
}

// making is for which Zone a slice was created, and when.
type making struct {
	zone types.UID
	at   time.Time
}

// creates notes that a slice is about to be created for a Zone. The event may come before the answer.
func (r *recent) creates(z *zonev1alpha1.Zone, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made = map[types.NamespacedName]making{}
	}
	r.made[types.NamespacedName{Namespace: z.Namespace, Name: name}] = making{z.UID, time.Now()}
}

// deletes notes that a slice is about to be deleted.
func (r *recent) deletes(s *zonev1alpha1.ZoneSlice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone == nil {
		r.gone = map[types.UID]time.Time{}
	}
	r.gone[s.UID] = time.Now()
}

// settled notes that an event has told of a slice, or that the write of it has failed. It says whether this process was deleting it.
func (r *recent) settled(s client.Object) (deleted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, client.ObjectKeyFromObject(s))
	_, deleted = r.gone[s.GetUID()]
	delete(r.gone, s.GetUID())
	return deleted
}

// created says whether a slice was created that the cache does not show yet. If that takes too long, there is something else to it.
func (r *recent) created(z *zonev1alpha1.Zone, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	made, known := r.made[types.NamespacedName{Namespace: z.Namespace, Name: name}]
	return known && made.zone == z.UID && time.Since(made.at) < common.StaleLimit
}

// deleted says whether a slice was deleted that the cache still shows.
func (r *recent) deleted(s *zonev1alpha1.ZoneSlice) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.gone[s.UID]
	return known && time.Since(at) < common.StaleLimit
}

// sliceEvents wakes the Zone of a slice that somebody else has changed or deleted. One that somebody else has created does no harm, and goes
// when the Zone is looked at next: to wake it would have two processes that lead at once create and delete slices in turns.
func (r *Zones) sliceEvents() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { r.recent.settled(e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			r.recent.settled(e.ObjectNew)
			wakeOwner(e.ObjectOld, q)
			wakeOwner(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			if !r.recent.settled(e.Object) {
				wakeOwner(e.Object, q)
			}
		},
	}
}

func wakeOwner(s client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if ref := metav1.GetControllerOf(s); ref != nil && ref.Kind == zone.KindZone {
		queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: s.GetNamespace(), Name: ref.Name}})
	}
}
