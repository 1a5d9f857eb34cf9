// Package controller holds what the controllers of all front doors share.
package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Alarm wakes objects of one controller from outside of its watches. Before the controller runs nobody is woken: it looks at every object
// when it starts.
type Alarm struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (a *Alarm) connect(queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = queue
}

// Ring has an object reconciled. It does not block.
func (a *Alarm) Ring(name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue != nil {
		a.queue.Add(reconcile.Request{NamespacedName: name})
	}
}

// SideDoor is a source of events that come from within, such as ended calls, and names that have become free.
type SideDoor struct {
	Bell *Alarm
	// OnStart is called when the controller starts, with the context of its life; nil for nothing.
	OnStart func(context.Context)
	// Ready says whether the controller may begin; nil for at once.
	Ready func() bool
}

// Start implements source.Source.
func (s SideDoor) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	if s.OnStart != nil {
		s.OnStart(ctx)
	}
	s.Bell.connect(queue)
	return nil
}

// readyPoll is how often a SideDoor looks whether it is ready.
const readyPoll = 20 * time.Millisecond

// WaitForSync implements source.SyncingSource.
func (s SideDoor) WaitForSync(ctx context.Context) error {
	if s.Ready == nil {
		return nil
	}
	return wait.PollUntilContextCancel(ctx, readyPoll, true, func(context.Context) (bool, error) { return s.Ready(), nil })
}

// Forgets calls gone with each object that is deleted.
func Forgets(gone func(client.Object)) handler.EventHandler {
	return handler.Funcs{DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		gone(e.Object)
	}}
}
