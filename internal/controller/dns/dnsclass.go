package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses/status,verbs=patch

// Classes checks the health of the servers of DNSClasses, and keeps a class until no DNSRecord refers to it. Health is for people and
// for waking records that failed; it blocks nothing.
type Classes struct {
	client  client.Client
	live    client.Reader
	events  events.EventRecorder
	log     *slog.Logger
	targets *targets
	dial    Dial
	lanes   *Lanes
	// interval between two health checks.
	interval time.Duration
	// poll is the interval at which a class that is being deleted looks for users that no event told of.
	poll    time.Duration
	checked common.Notes[classNote]
}

// classNote is what is remembered of a class besides its status.
type classNote struct {
	// target is the digest of that of the last check, so that a changed Secret is noticed.
	target string
	// version is that of the last check.
	version common.Version
}

// classPass is one reconciliation of one class.
type classPass struct {
	pass[*dnsv1alpha1.DNSClass]
	target httpdns.Target
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *Classes) Reconcile(ctx context.Context, class *dnsv1alpha1.DNSClass) (reconcile.Result, error) {
	if r.checked.Of(class.UID).version.Ahead(class) {
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	}
	p := &classPass{pass: newPass(r.client, class)}
	err := run(ctx, p,
		r.keepWhileInUse,
		r.releaseIfUnused,
		r.findTarget,
		r.restUntilDue,
		r.check,
	)
	return r.end(ctx, p, err)
}

// end writes the status, and remembers the rest once that is written.
func (r *Classes) end(ctx context.Context, p *classPass, err error) (reconcile.Result, error) {
	result, err := p.write(ctx, err)
	switch {
	case errors.Is(err, common.ErrStale):
		return result, nil
	case err != nil:
		return result, err
	case p.over:
		r.Gone(p.obj)
		return result, nil
	case p.used != nil:
		r.checked.Keep(p.obj.UID, classNote{target: targetDigest(p.target), version: common.VersionOf(p.obj)})
		r.lanes.Forget(*p.used)
	}
	return result, nil
}

// Gone forgets a class that does not exist any more.
func (r *Classes) Gone(class client.Object) {
	r.checked.Drop(class.GetUID())
	r.lanes.Drop(class.GetUID())
}

// keepWhileInUse restores the finalizer that the gate adds to every class.
func (r *Classes) keepWhileInUse(ctx context.Context, p *classPass) (bool, error) {
	if !p.obj.DeletionTimestamp.IsZero() || controllerutil.ContainsFinalizer(p.obj, dnsv1alpha1.DNSClassInUseFinalizer) {
		return false, nil
	}
	return false, p.status.Metadata(ctx, p.obj, func(class *dnsv1alpha1.DNSClass) {
		controllerutil.AddFinalizer(class, dnsv1alpha1.DNSClassInUseFinalizer)
	})
}

// releaseIfUnused lets go of a class that is being deleted and that no record refers to; a record that is being deleted itself still needs it.
func (r *Classes) releaseIfUnused(ctx context.Context, p *classPass) (bool, error) {
	switch {
	case p.obj.DeletionTimestamp.IsZero():
		return false, nil
	case !controllerutil.ContainsFinalizer(p.obj, dnsv1alpha1.DNSClassInUseFinalizer):
		p.over = true
		return true, nil
	}
	used, err := r.inUse(ctx, p.obj)
	switch {
	case err != nil:
		return false, err
	case used && p.obj.Annotations[dnsv1alpha1.ReleaseAnnotation] != "true":
		p.after(r.poll)
		return false, nil
	case used:
		r.events.Eventf(p.obj, nil, corev1.EventTypeWarning, EventLeftBehind, "Release",
			"DNSRecords that refer to this class stay behind: the annotation %s says so", dnsv1alpha1.ReleaseAnnotation)
		r.log.Warn("class released while records refer to it", "dnsclass", p.obj.Name)
	}
	err = p.status.Metadata(ctx, p.obj, func(class *dnsv1alpha1.DNSClass) {
		controllerutil.RemoveFinalizer(class, dnsv1alpha1.DNSClassInUseFinalizer)
	})
	p.over = err == nil
	return true, err
}

// inUse asks the API server, past all caches, for one record that refers to the class.
func (r *Classes) inUse(ctx context.Context, class *dnsv1alpha1.DNSClass) (bool, error) {
	records := &dnsv1alpha1.DNSRecordList{}
	if err := r.live.List(ctx, records, client.MatchingFields{ClassField: class.Name}, client.Limit(1)); err != nil {
		return false, fmt.Errorf("look for DNSRecords of DNSClass %s: %w", class.Name, err)
	}
	return len(records.Items) > 0, nil
}

// findTarget finds out how to speak to the server.
func (r *Classes) findTarget(ctx context.Context, p *classPass) (bool, error) {
	server, bad := serverOf(p.obj)
	var err error
	if bad == nil {
		p.target, bad, err = r.targets.of(ctx, p.obj, server)
	}
	switch {
	case err != nil:
		return false, err
	case bad != nil:
		p.unchecked(bad.reason, bad.message)
		if bad.reason == dnsv1alpha1.ReasonSecretNotFound {
			p.soon(r.interval)
		}
		return true, nil
	}
	return false, nil
}

// restUntilDue ends the reconciliation of a class whose last check is not old, also one of an earlier process.
func (r *Classes) restUntilDue(_ context.Context, p *classPass) (bool, error) {
	status := &p.obj.Status
	if status.LastHealthCheck == nil || status.ObservedGeneration != p.obj.Generation || !p.checkedBefore() {
		return false, nil
	}
	now := targetDigest(p.target)
	switch note := r.checked.Of(p.obj.UID); note.target {
	case now:
	case "":
		note.target = now
		r.checked.Keep(p.obj.UID, note)
	default:
		return false, nil
	}
	if status.LastHealthCheck.After(p.now) {
		return false, nil // a clock was ahead
	}
	wait := status.LastHealthCheck.Add(r.interval).Sub(p.now)
	if wait > 0 {
		p.soon(wait)
	}
	return wait > 0, nil
}

// check has the server asked for its health.
func (r *Classes) check(_ context.Context, p *classPass) (bool, error) {
	server := r.dial(p.target)
	ticket := Ticket{Server: p.target.Server.String(), Object: client.ObjectKeyFromObject(p.obj), UID: p.obj.UID,
		Fingerprint: digest("health", p.obj.Generation, targetDigest(p.target))}
	outcome, ended := r.lanes.Do(ticket, func(ctx context.Context) Outcome { return Outcome{Err: server.Health(ctx)} })
	if !ended {
		p.pending()
		return true, nil
	}
	p.used = &ticket
	p.found(outcome)
	if outcome.Err != nil {
		r.log.Warn("health check failed", "dnsclass", p.obj.Name, "reason", failureOf(outcome.Err).reason, "error", failureOf(outcome.Err).message)
	}
	p.soon(outcome.Ended.Add(r.interval).Sub(p.now))
	return true, nil
}

// soon has the class looked at again after that time, or sooner if that is asked for already.
func (p *classPass) soon(wait time.Duration) {
	if p.again == 0 || wait < p.again {
		p.after(wait)
	}
}

// pending says that no check has completed yet, unless one has.
func (p *classPass) pending() {
	if p.obj.Status.LastHealthCheck != nil && p.checkedBefore() {
		return
	}
	p.set(metav1.ConditionUnknown, dnsv1alpha1.ReasonHealthCheckPending, "no health check has completed yet", dnsv1alpha1.HealthUnknown)
}

// unchecked says why the server cannot be asked.
func (p *classPass) unchecked(reason, message string) {
	p.set(metav1.ConditionFalse, reason, message, dnsv1alpha1.HealthUnknown)
}

// found says what a check found.
func (p *classPass) found(outcome Outcome) {
	p.obj.Status.LastHealthCheck = &metav1.Time{Time: outcome.Ended}
	if outcome.Err == nil {
		p.set(metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy, "the server is healthy", dnsv1alpha1.Healthy)
		return
	}
	f := failureOf(outcome.Err)
	if f.refused {
		f.reason = dnsv1alpha1.ReasonServerError // a class has no record that could be refused
	}
	p.set(metav1.ConditionFalse, f.reason, f.message, dnsv1alpha1.Unhealthy)
}

// set makes condition and health say the same.
func (p *classPass) set(ready metav1.ConditionStatus, reason, message string, health dnsv1alpha1.HealthStatus) {
	status := &p.obj.Status
	conditions.Set(&status.Conditions, dnsv1alpha1.ConditionReady, ready, reason, message, p.obj.Generation)
	status.ObservedGeneration = p.obj.Generation
	status.Health = &dnsv1alpha1.DNSClassHealth{Status: health, LastCheck: status.LastHealthCheck, Message: message}
}

// checkedBefore says whether the status is that of a check, and not of a class that could not be checked.
func (p *classPass) checkedBefore() bool {
	health := p.obj.Status.Health
	return health != nil && health.Status != dnsv1alpha1.HealthUnknown && health.Status != ""
}
