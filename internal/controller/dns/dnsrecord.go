package dns

import (
	"context"
	"errors"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/dnsrecord"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsrecords,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsrecords/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Records publishes DNSRecords.
//
// The process may end between any two effects. What is on a server is always known from status.applied, which is written before the
// first request, and every request may be made twice:
//
//	the last effect was             what the next process finds     what it does
//	-                               nothing                         starts; a deletion just lets go
//	the finalizer                   no status.applied               starts; a deletion just lets go
//	status.applied without a hash   Ready=Unknown, Publishing       publishes; a deletion deletes
//	the request                     the same                        the same, once more
//	the request of a change         the old hash                    publishes once more
//	status.applied with the hash    Ready=True                      asks the server whether it still has it
//	the request to delete           no state Deleted                deletes once more: not found is success
//	state Deleted                   state Deleted                   takes the finalizer off
type Records struct {
	client  client.Client
	live    client.Reader
	events  events.EventRecorder
	log     *slog.Logger
	targets *targets
	dial    Dial
	lanes   *Lanes
	store   *claims.Store
	feed    *claims.DNSFeed
	retries schedule
	// resync is the time between two looks at a server that has a record as written.
	resync time.Duration
	notes  common.Notes[note]
}

// recordPass is one reconciliation of one record: what a phase found, for those after it.
type recordPass struct {
	pass[*dnsv1alpha1.DNSRecord]
	note   note
	class  *dnsv1alpha1.DNSClass
	server endpoint.URL
	set    *record.RRset
	// want is the hash of what the server should have.
	want string
	// id names the record on the server that it is deleted from.
	id     httpdns.ID
	target httpdns.Target
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *Records) Reconcile(ctx context.Context, rec *dnsv1alpha1.DNSRecord) (reconcile.Result, error) {
	p := &recordPass{pass: newPass(r.client, rec), note: r.notes.Of(rec.UID)}
	if p.note.version.Ahead(rec) {
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	}
	if rec.DeletionTimestamp.IsZero() {
		return r.end(ctx, p, r.publish(ctx, p))
	}
	return r.end(ctx, p, r.delete(ctx, p))
}

func (r *Records) publish(ctx context.Context, p *recordPass) error {
	return run(ctx, p,
		r.keepFinalizer,
		r.parse,
		r.findClass,
		r.fillTTL,
		r.acquireName,
		r.restIfConverged,
		r.findCredentials,
		r.awaitRetry,
		r.ensureFinalizer,
		r.writeIntent,
		r.confirm,
		r.sync,
	)
}

// end writes the status, and remembers the rest once that is written.
func (r *Records) end(ctx context.Context, p *recordPass, err error) (reconcile.Result, error) {
	result, err := p.write(ctx, err)
	switch {
	case errors.Is(err, common.ErrStale):
		return result, nil
	case err != nil:
		return result, err
	case p.over:
		r.Gone(p.obj)
		return result, nil
	}
	p.note.version = common.VersionOf(p.obj)
	r.notes.Keep(p.obj.UID, p.note)
	if p.used != nil {
		r.lanes.Forget(*p.used)
	}
	return result, nil
}

// Gone forgets a record that does not exist any more.
func (r *Records) Gone(rec client.Object) {
	r.notes.Drop(rec.GetUID())
	r.lanes.Drop(rec.GetUID())
}

// parse reads the record. One that makes no sense has bypassed the gate.
func (r *Records) parse(_ context.Context, p *recordPass) (bool, error) {
	set, problems := record.Parse(dnsrecord.Spec(&p.obj.Spec, 0))
	if set == nil {
		p.invalid(problems.Denied().Error())
		return true, nil
	}
	p.set = set
	p.obj.Status.FQDN = set.Owner.String()
	return false, nil
}

// findClass finds the class and its server. A class that is being deleted still serves the records that it has.
func (r *Records) findClass(ctx context.Context, p *recordPass) (bool, error) {
	class := &dnsv1alpha1.DNSClass{}
	err := r.client.Get(ctx, client.ObjectKey{Name: p.obj.Spec.DNSClassRef.Name}, class)
	if apierrors.IsNotFound(err) {
		p.blocked(dnsv1alpha1.ReasonDNSClassNotFound, "the DNSClass that dnsClassRef names does not exist")
		return true, nil
	}
	if err != nil {
		return false, err
	}
	server, bad := serverOf(class)
	if bad != nil {
		p.invalid(bad.message)
		return true, nil
	}
	p.class, p.server = class, server
	return false, nil
}

// fillTTL takes the TTL of the class where the record has none, and by that knows what the server should have.
func (r *Records) fillTTL(_ context.Context, p *recordPass) (bool, error) {
	ttl := int32(dnsv1alpha1.DefaultTTL)
	if p.class.Spec.DefaultTTL != nil {
		ttl = *p.class.Spec.DefaultTTL
	}
	set, problems := record.Parse(dnsrecord.Spec(&p.obj.Spec, int64(ttl)))
	if set == nil {
		p.invalid(problems.Denied().Error())
		return true, nil
	}
	p.set, p.want = set, contentHash(p.server, set)
	return false, nil
}

// restIfConverged ends the reconciliation of a record that the server has, until it is time to ask the server again.
func (r *Records) restIfConverged(_ context.Context, p *recordPass) (bool, error) {
	if !p.converged() || !p.observed() || !p.now.Before(p.note.checkAt) {
		return false, nil
	}
	p.after(p.note.checkAt.Sub(p.now))
	return true, nil
}

func (r *Records) findCredentials(ctx context.Context, p *recordPass) (bool, error) {
	target, bad, err := r.targets.of(ctx, p.class, p.server)
	switch {
	case err != nil:
		return false, err
	case bad != nil && bad.reason == dnsv1alpha1.ReasonInvalidConfiguration:
		p.invalid(bad.message)
		return true, nil
	case bad != nil:
		p.blocked(bad.reason, bad.message)
		p.after(r.retries.idle)
		return true, nil
	}
	p.target = target
	return false, nil
}

// awaitRetry ends the reconciliation while the time of the next attempt has not come.
func (r *Records) awaitRetry(_ context.Context, p *recordPass) (bool, error) {
	return p.await(digest("publish", p.obj.Generation, targetDigest(p.target))), nil
}

// keepFinalizer restores the finalizer of a record that may be on a server: whoever replaces an object takes off what he does not know.
func (r *Records) keepFinalizer(ctx context.Context, p *recordPass) (bool, error) {
	if p.obj.Status.Applied == nil {
		return false, nil
	}
	return r.ensureFinalizer(ctx, p)
}

func (r *Records) ensureFinalizer(ctx context.Context, p *recordPass) (bool, error) {
	if controllerutil.ContainsFinalizer(p.obj, dnsv1alpha1.DNSRecordFinalizer) {
		return false, nil
	}
	return false, p.status.Metadata(ctx, p.obj, func(rec *dnsv1alpha1.DNSRecord) {
		controllerutil.AddFinalizer(rec, dnsv1alpha1.DNSRecordFinalizer)
	})
}

// writeIntent writes down what is about to be sent where, before anything is sent. What the record had on another server stays there:
// that may be the same server under another URL.
func (r *Records) writeIntent(ctx context.Context, p *recordPass) (bool, error) {
	intent := dnsv1alpha1.AppliedRecord{Server: p.server.String(), Type: dnsv1alpha1.RecordType(p.set.Type),
		Domain: p.set.Domain.String(), Subdomain: p.set.Subdomain}
	if applied := p.obj.Status.Applied; applied != nil {
		if at := *applied; at == withHash(intent, at.Hash) {
			return false, nil
		}
		r.leftBehind(p.obj, "Move", "the DNSClass has another server now")
	}
	p.obj.Status.Applied = &intent
	p.obj.Status.State, p.obj.Status.Error = dnsv1alpha1.RecordStatePending, nil
	p.ready(metav1.ConditionUnknown, dnsv1alpha1.ReasonPublishing, "the record is on its way to the server")
	err := p.status.Status(ctx, p.obj)
	p.note.confirmed = err == nil // the write held the version
	return false, err
}

// confirm reads the object past all caches before this process sends its first request for it: another may have changed or deleted
// it, and a request for what is gone would leave a record behind that nobody owns.
func (r *Records) confirm(ctx context.Context, p *recordPass) (bool, error) {
	if p.note.confirmed {
		return false, nil
	}
	now := &dnsv1alpha1.DNSRecord{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(p.obj), now)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, err
	case now.UID != p.obj.UID, common.VersionOf(now).Ahead(p.obj):
		p.after(common.ConflictDelay)
		return true, nil
	}
	p.note.confirmed = true
	return false, nil
}

func withHash(a dnsv1alpha1.AppliedRecord, hash string) dnsv1alpha1.AppliedRecord {
	a.Hash = hash
	return a
}

// sync has the record written to the server; where the server should have it already, read first.
func (r *Records) sync(_ context.Context, p *recordPass) (bool, error) {
	server, set := r.dial(p.target), p.set
	ticket, call := r.ticket(p, "upsert"), func(ctx context.Context) Outcome { return upsert(ctx, server, set) }
	if p.converged() {
		// The generation was never seen: something else may have been sent since, so the server's word is needed.
		insist := !p.observed()
		ticket, call = r.ticket(p, "check"), func(ctx context.Context) Outcome { return repair(ctx, server, set, insist) }
	}
	outcome, ended := r.lanes.Do(ticket, call)
	if !ended {
		return true, nil
	}
	p.used = &ticket
	switch {
	case !outcome.Wrote:
		r.checked(p, outcome)
	case outcome.Err != nil:
		r.failed(p, outcome)
	default:
		r.written(p, outcome)
	}
	return true, nil
}

// ticket for a call to the server of the target.
func (r *Records) ticket(p *recordPass, operation string) Ticket {
	return Ticket{Server: p.target.Server.String(), Object: client.ObjectKeyFromObject(p.obj), UID: p.obj.UID,
		Fingerprint: digest(operation, p.want, p.obj.Generation, targetDigest(p.target))}
}
