package controller_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/namegate/namegate/internal/controller"
)

// TestSideDoorWaits until what the controller decides by is known.
func TestSideDoorWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fed atomic.Bool
		bell, started := &controller.Alarm{}, false
		var door source.SyncingSource = controller.SideDoor{Bell: bell, OnStart: func(context.Context) { started = true }, Ready: fed.Load}
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		bell.Ring(types.NamespacedName{Name: "early"})
		if err := door.Start(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		bell.Ring(types.NamespacedName{Name: "late"})
		if !started || queue.Len() != 1 {
			t.Errorf("started %v, %d woken", started, queue.Len())
		}
		ready := false
		go func() {
			ready = door.WaitForSync(t.Context()) == nil
		}()
		<-time.After(time.Minute)
		synctest.Wait()
		if ready {
			t.Error("ready before the store is")
		}
		fed.Store(true)
		<-time.After(time.Second)
		synctest.Wait()
		if !ready {
			t.Error("not ready although the store is")
		}
		if err := (controller.SideDoor{Bell: bell}).WaitForSync(t.Context()); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		never := controller.SideDoor{Ready: func() bool { return false }}
		if err := never.WaitForSync(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}
