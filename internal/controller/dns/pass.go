package dns

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
)

// phase is one step of a reconciliation. The first one that is done, or fails, ends it.
type phase[P any] func(ctx context.Context, p P) (done bool, err error)

func run[P any](ctx context.Context, p P, phases ...phase[P]) error {
	for _, next := range phases {
		if done, err := next(ctx, p); done || err != nil {
			return err
		}
	}
	return nil
}

// pass is what one reconciliation of either kind carries from phase to phase.
type pass[T client.Object] struct {
	obj    T
	status *conditions.Patcher[T]
	now    time.Time
	// again is when to look at the object again; 0 for when something happens.
	again time.Duration
	// used is the call whose outcome went into the status; nil if there is none.
	used *Ticket
	// over: the finalizer is off, there is nothing left to write to.
	over bool
}

func newPass[T client.Object](c client.Client, obj T) pass[T] {
	return pass[T]{obj: obj, status: conditions.NewPatcher(c, common.FieldOwner, obj), now: time.Now()}
}

// after has the object looked at again after that time.
func (p *pass[T]) after(wait time.Duration) { p.again = max(wait, time.Millisecond) }

// write ends a reconciliation with the deferred patch of the status. It is not reached by way of a panic: what a phase left half done is not
// written.
func (p *pass[T]) write(ctx context.Context, err error) (reconcile.Result, error) {
	if err == nil {
		err = p.status.Status(ctx, p.obj)
	}
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, common.ErrStale
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, common.ErrStale
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.again}, nil
}

// healthySince is since when a class is healthy, "" if it is not.
func healthySince(class *dnsv1alpha1.DNSClass) string {
	ready := conditions.Find(class.Status.Conditions, dnsv1alpha1.ConditionReady)
	if ready.Status != metav1.ConditionTrue {
		return ""
	}
	return ready.LastTransitionTime.UTC().Format(time.RFC3339)
}
