// Package dns holds the controllers of the first front door: DNSClass and DNSRecord. They assume valid input, because the gate has checked it:
// they parse, and what does not parse is not published.
//
// No reconciler waits for a network. Calls to DNS servers are made in Lanes, and the object is reconciled again when its call has ended.
package dns

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	common "github.com/namegate/namegate/internal/controller"
)

// EventLeftBehind is the reason of the Warning event that names what an object no longer looks after.
const EventLeftBehind = "LeftBehind"

// Options of the controllers. Every field is needed, unless it says otherwise.
type Options struct {
	// HealthCheckInterval is the time between two health checks of a server, and between two attempts of a record in state Error.
	HealthCheckInterval time.Duration
	// RetryBaseDelay and RetryMaxDelay bound the delay before a retry: min(RetryBaseDelay * 2^attempt, RetryMaxDelay).
	RetryBaseDelay, RetryMaxDelay time.Duration
	// RetryMaxAttempts is how many retries a record has before it is in state Error; 0 for none.
	RetryMaxAttempts int
	// ResyncInterval is the time between two looks at a server that has a record as written, give or take a tenth.
	ResyncInterval time.Duration
	// OperatorNamespace is where a Secret is that has no namespace in its class.
	OperatorNamespace string
	// SecretNamespaces are those that Secrets are read in.
	SecretNamespaces []string
	// WatchSecrets has the metadata of Secrets watched, in the namespaces that the manager's cache is limited to. Without it, a
	// changed Secret is noticed at the HealthCheckInterval.
	WatchSecrets bool
	// Logger takes the log events.
	Logger *slog.Logger
	// Dial returns a DNS server: HTTP(httpdns.NewFactory(…)).
	Dial Dial
	// Store and Feed know who claims which name. Both are fed from the manager's cache (refs/cached.FeedDNS), after SetupWithManager.
	Store *claims.Store
	Feed  *claims.DNSFeed
	// Fed says whether the feed has seen everything that was there at the start. No record is reconciled before: a name that seems
	// free may have a holder.
	Fed func() bool
	// MaxConcurrentReconciles of each controller; 1 if 0.
	MaxConcurrentReconciles int
	// CallsPerServer is how many calls may be in flight to one server; 4 if 0.
	CallsPerServer int
}

// defaultCallsPerServer is CallsPerServer where it is 0.
const defaultCallsPerServer = 4

// SetupWithManager adds both controllers to a manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &dnsv1alpha1.DNSRecord{}, ClassField, classOf); err != nil {
		return fmt.Errorf("index DNSRecords by class: %w", err)
	}
	shared := &targets{live: mgr.GetAPIReader(), operatorNamespace: o.OperatorNamespace, namespaces: o.SecretNamespaces}
	find := &mapping{cache: mgr.GetClient(), targets: shared}
	if err := setupClasses(mgr, o, shared, find); err != nil {
		return fmt.Errorf("DNSClass controller: %w", err)
	}
	if err := setupRecords(mgr, o, shared, find); err != nil {
		return fmt.Errorf("DNSRecord controller: %w", err)
	}
	return nil
}

func setupClasses(mgr ctrl.Manager, o Options, shared *targets, find *mapping) error {
	bell := &common.Alarm{}
	r := newClasses(mgr, o, shared, bell)
	b := ctrl.NewControllerManagedBy(mgr).Named("dnsclass").
		For(&dnsv1alpha1.DNSClass{}, builder.WithPredicates(changed)).
		Watches(&dnsv1alpha1.DNSClass{}, common.Forgets(r.Gone)).
		Watches(&dnsv1alpha1.DNSRecord{}, handler.EnqueueRequestsFromMapFunc(find.recordToLeavingClass), builder.WithPredicates(onlyDeletions)).
		WatchesRawSource(common.SideDoor{Bell: bell, OnStart: r.lanes.Start}).
		WithOptions(options(o))
	if o.WatchSecrets {
		watchSecrets(b, find, find.secretToClasses)
	}
	if err := mgr.Add(ends(r.lanes)); err != nil {
		return err
	}
	return b.Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

func setupRecords(mgr ctrl.Manager, o Options, shared *targets, find *mapping) error {
	bell := &common.Alarm{}
	o.Store.OnFreed(ringOwner(bell))
	r := newRecords(mgr, o, shared, bell)
	start := func(ctx context.Context) {
		r.lanes.Start(ctx)
		objects.serve(ctx, mgr.GetClient())
	}
	b := ctrl.NewControllerManagedBy(mgr).Named("dnsrecord").
		For(&dnsv1alpha1.DNSRecord{}, builder.WithPredicates(changed)).
		Watches(&dnsv1alpha1.DNSRecord{}, common.Forgets(r.Gone)).
		Watches(&dnsv1alpha1.DNSClass{}, handler.EnqueueRequestsFromMapFunc(find.classToRecords), builder.WithPredicates(wakesRecords)).
		WatchesRawSource(common.SideDoor{Bell: bell, OnStart: start, Ready: o.Fed}).
		WithOptions(options(o))
	if o.WatchSecrets {
		watchSecrets(b, find, find.secretToRecords)
	}
	if err := mgr.Add(ends(r.lanes)); err != nil {
		return err
	}
	return b.Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// errorBaseDelay is the delay after the first failure of the API server; it doubles with each.
const errorBaseDelay = 50 * time.Millisecond

// options of both controllers. What failed for the API server's sake is tried again no later than what failed for a DNS server's.
func options(o Options) controller.Options {
	return controller.Options{MaxConcurrentReconciles: o.MaxConcurrentReconciles,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](min(errorBaseDelay, o.RetryMaxDelay), o.RetryMaxDelay)}
}

// watchSecrets adds a watch of the metadata of Secrets.
func watchSecrets(b *builder.Builder, find *mapping, to handler.MapFunc) {
	b.WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(to), builder.WithPredicates(find.listedNamespace()))
}

func newClasses(mgr ctrl.Manager, o Options, shared *targets, bell *common.Alarm) *Classes {
	return &Classes{client: mgr.GetClient(), live: mgr.GetAPIReader(), events: mgr.GetEventRecorder("namegate-dnsclass"), log: o.Logger,
		targets: shared, dial: measuring(o.Dial), lanes: newLanes(o, bell), interval: o.HealthCheckInterval, poll: o.RetryMaxDelay}
}

func newRecords(mgr ctrl.Manager, o Options, shared *targets, bell *common.Alarm) *Records {
	return &Records{client: mgr.GetClient(), live: mgr.GetAPIReader(), events: mgr.GetEventRecorder("namegate-dnsrecord"), log: o.Logger,
		targets: shared, dial: measuring(o.Dial), lanes: newLanes(o, bell), store: o.Store, feed: o.Feed, resync: o.ResyncInterval,
		retries: schedule{base: o.RetryBaseDelay, most: o.RetryMaxDelay, attempts: o.RetryMaxAttempts, idle: o.HealthCheckInterval}}
}

func newLanes(o Options, bell *common.Alarm) *Lanes {
	width := o.CallsPerServer
	if width <= 0 {
		width = defaultCallsPerServer
	}
	return NewLanes(width, bell.Ring, o.Logger)
}

// ends keeps the manager, and with it the lease of the leader, until no call is in flight: the next leader must not write beside them.
func ends(lanes *Lanes) manager.RunnableFunc {
	return func(ctx context.Context) error {
		<-ctx.Done()
		lanes.Wait()
		return nil
	}
}
