// Package zone holds the controllers of the second front door: Zone and Record. What becomes of an object is decided by the model
// (internal/zone), which hears of every event; the controllers write down what it says, and nothing where that is written already.
package zone

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// Options of the controllers. Every field is needed, unless it says otherwise.
type Options struct {
	// PublishBurst is how many changes of one zone are published at once, and PublishInterval the time between two more.
	PublishBurst    int
	PublishInterval time.Duration
	// Logger takes the log events.
	Logger *slog.Logger
	// Model decides. It is fed from the manager's cache (refs/cached.FeedZones), after SetupWithManager.
	Model *zone.Model
	// Fed says whether the model has seen everything that was there at the start. Nothing is reconciled before: a zone would lose the
	// records that are not known yet.
	Fed func() bool
	// MaxConcurrentReconciles of each controller; 8 if 0. They wait for the API server most of the time.
	MaxConcurrentReconciles int
}

const defaultConcurrency = 8

// SetupWithManager adds both controllers to a manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	zones, records := &common.Alarm{}, &common.Alarm{}
	o.Model.OnChange(rings(zones, records))
	if err := setupZones(mgr, o, zones); err != nil {
		return fmt.Errorf("set up the controller of Zones: %w", err)
	}
	if err := setupRecords(mgr, o, records); err != nil {
		return fmt.Errorf("set up the controller of Records: %w", err)
	}
	return nil
}

// rings wakes the objects that something has changed for.
func rings(zones, records *common.Alarm) func(zone.Changes) {
	return func(changes zone.Changes) {
		for _, key := range changes.Zones {
			zones.Ring(key)
		}
		for _, key := range changes.Records {
			records.Ring(key)
		}
	}
}

func setupZones(mgr ctrl.Manager, o Options, bell *common.Alarm) error {
	r := newZones(mgr.GetClient(), mgr.GetAPIReader(), o)
	start := func(ctx context.Context) { objects.serve(ctx, mgr.GetClient()) }
	return ctrl.NewControllerManagedBy(mgr).Named("zone").
		For(&zonev1alpha1.Zone{}, builder.WithPredicates(r.fromElsewhere())).
		Watches(&zonev1alpha1.Zone{}, common.Forgets(r.Gone)).
		Watches(&zonev1alpha1.ZoneSlice{}, r.sliceEvents(), builder.OnlyMetadata). // which ones there are, and that they are whole; the entries are the model's
		WatchesRawSource(common.SideDoor{Bell: bell, OnStart: start, Ready: o.Fed}).
		WithOptions(options(o)).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

func setupRecords(mgr ctrl.Manager, o Options, bell *common.Alarm) error {
	r := newRecords(mgr.GetClient(), o)
	return ctrl.NewControllerManagedBy(mgr).Named("record").
		For(&zonev1alpha1.Record{}).
		Watches(&zonev1alpha1.Record{}, common.Forgets(r.Gone)).
		WatchesRawSource(common.SideDoor{Bell: bell, Ready: o.Fed}).
		WithOptions(options(o)).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// What failed for the API server's sake is tried again after errorBaseDelay, which doubles with each failure up to errorMaxDelay.
const (
	errorBaseDelay = 50 * time.Millisecond
	errorMaxDelay  = 30 * time.Second
)

func options(o Options) controller.Options {
	width := o.MaxConcurrentReconciles
	if width <= 0 {
		width = defaultConcurrency
	}
	return controller.Options{MaxConcurrentReconciles: width,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](errorBaseDelay, errorMaxDelay)}
}
