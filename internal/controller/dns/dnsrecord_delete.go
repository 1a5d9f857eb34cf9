package dns

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// delete takes the record off its server and lets go of the object. It works from what was applied: the spec may have become invalid.
func (r *Records) delete(ctx context.Context, p *recordPass) error {
	return run(ctx, p,
		r.ignoreWithoutFinalizer,
		r.letGoOfNothing,
		r.releaseIfTold,
		r.leaveToHolder,
		r.findClassToDelete,
		r.leaveWhatNeverArrived,
		r.findCredentialsToDelete,
		r.awaitRetryToDelete,
		r.confirm,
		r.deleteFromServer,
	)
}

func (r *Records) ignoreWithoutFinalizer(_ context.Context, p *recordPass) (bool, error) {
	p.over = !controllerutil.ContainsFinalizer(p.obj, dnsv1alpha1.DNSRecordFinalizer)
	return p.over, nil
}

// letGoOfNothing lets go of an object that never sent anything, or whose record is deleted already.
func (r *Records) letGoOfNothing(ctx context.Context, p *recordPass) (bool, error) {
	if p.obj.Status.Applied != nil && p.obj.Status.State != dnsv1alpha1.RecordStateDeleted {
		return false, nil
	}
	return true, r.letGo(ctx, p)
}

func (r *Records) releaseIfTold(ctx context.Context, p *recordPass) (bool, error) {
	if p.obj.Annotations[dnsv1alpha1.ReleaseAnnotation] != "true" {
		return false, nil
	}
	return true, r.release(ctx, p, "the annotation "+dnsv1alpha1.ReleaseAnnotation+" says so")
}

// leaveToHolder deletes nothing that another object has come to hold.
func (r *Records) leaveToHolder(ctx context.Context, p *recordPass) (bool, error) {
	id, name, server, err := identityOf(p.obj.Status.Applied)
	if err != nil {
		return true, r.release(ctx, p, "status.applied does not name a record on a server")
	}
	p.id, p.server = id, server
	held, err := r.heldByAnother(ctx, p.obj, server, name)
	if err != nil || !held {
		return false, err
	}
	r.log.Info("record belongs to another object now", logged(p.obj)...)
	return true, r.letGo(ctx, p)
}

// identityOf reads what identifies the record on its server.
func identityOf(applied *dnsv1alpha1.AppliedRecord) (id httpdns.ID, name dnsname.Name, server endpoint.URL, err error) {
	id.Type = record.Type(applied.Type)
	if !id.Type.Known() {
		return id, name, server, errors.New("no record type")
	}
	if server, err = endpoint.Parse(applied.Server); err != nil {
		return id, name, server, err
	}
	if id.Domain, err = dnsname.Parse(applied.Domain); err != nil {
		return id, name, server, err
	}
	if id.Subdomain, err = dnsname.ParseSubdomain(applied.Subdomain); err != nil {
		return id, name, server, err
	}
	name, err = dnsname.Join(id.Subdomain, id.Domain)
	return id, name, server, err
}

// findClassToDelete finds the class, whose credentials are needed. One that is gone for good is not waited for.
func (r *Records) findClassToDelete(ctx context.Context, p *recordPass) (bool, error) {
	class, key := &dnsv1alpha1.DNSClass{}, client.ObjectKey{Name: p.obj.Spec.DNSClassRef.Name}
	err := r.client.Get(ctx, key, class)
	if apierrors.IsNotFound(err) {
		err = r.live.Get(ctx, key, class)
	}
	if apierrors.IsNotFound(err) {
		return true, r.releaseIfGone(ctx, p, dnsv1alpha1.ReasonDNSClassNotFound, "its DNSClass does not exist any more")
	}
	p.class = class
	return false, err
}

// leaveWhatNeverArrived lets go of a record that is not known to have reached a server which its class has left since: nobody may be there.
func (r *Records) leaveWhatNeverArrived(ctx context.Context, p *recordPass) (bool, error) {
	if p.obj.Status.Applied.Hash != "" {
		return false, nil
	}
	if at, bad := serverOf(p.class); bad == nil && at == p.server {
		return false, nil
	}
	return true, r.release(ctx, p, "its DNSClass has another server now, and this one is not known to have taken it")
}

// releaseIfGone lets go of an object whose class or Secret is gone for good, which is to say longer than it takes to replace one.
func (r *Records) releaseIfGone(ctx context.Context, p *recordPass, reason, why string) error {
	p.ready(metav1.ConditionFalse, reason, why)
	if p.note.goneSince.IsZero() {
		p.note.goneSince = p.now
	}
	if left := p.note.goneSince.Add(r.retries.most).Sub(p.now); left > 0 {
		p.obj.Status.State, p.obj.Status.Error = dnsv1alpha1.RecordStatePending, nil
		p.after(left)
		return nil
	}
	return r.release(ctx, p, why)
}

func (r *Records) findCredentialsToDelete(ctx context.Context, p *recordPass) (bool, error) {
	target, bad, err := r.targets.of(ctx, p.class, p.server)
	switch {
	case err != nil:
		return false, err
	case bad != nil && bad.gone:
		return true, r.releaseIfGone(ctx, p, bad.reason, bad.message)
	case bad != nil:
		p.obj.Status.State, p.obj.Status.Error = dnsv1alpha1.RecordStatePending, nil
		p.ready(metav1.ConditionFalse, bad.reason, bad.message)
		p.after(r.retries.most)
		return true, nil
	}
	p.target, p.note.goneSince = target, time.Time{}
	return false, nil
}

func (r *Records) awaitRetryToDelete(_ context.Context, p *recordPass) (bool, error) {
	return p.await(digest("delete", targetDigest(p.target))), nil
}

// deleteFromServer has the record deleted.
func (r *Records) deleteFromServer(ctx context.Context, p *recordPass) (bool, error) {
	server, id, ticket := r.dial(p.target), p.id, r.ticket(p, "delete")
	outcome, ended := r.lanes.Do(ticket, func(ctx context.Context) Outcome {
		return Outcome{Wrote: true, Err: server.Delete(ctx, id)}
	})
	if !ended {
		return true, nil
	}
	p.used = &ticket
	if outcome.Err == nil {
		return true, r.deleted(ctx, p, outcome)
	}
	r.fail(p, outcome)
	p.retry(outcome.Ended.Add(r.retries.deleteAgain(p.note.failures)))
	return true, nil
}

// deleted: the record is gone from the server. State Deleted is written before the finalizer goes, for those who watch.
func (r *Records) deleted(ctx context.Context, p *recordPass, outcome Outcome) error {
	p.obj.Status.State, p.obj.Status.Error = dnsv1alpha1.RecordStateDeleted, nil
	p.obj.Status.LastSyncTime = &metav1.Time{Time: outcome.Ended}
	p.ready(metav1.ConditionFalse, dnsv1alpha1.ReasonRecordDeleted, "the record is gone from the server")
	r.log.Info("record deleted", logged(p.obj)...)
	if err := p.status.Status(ctx, p.obj); err != nil {
		return err
	}
	return r.letGo(ctx, p)
}

// release lets go of an object although its record is still on the server, and says so.
func (r *Records) release(ctx context.Context, p *recordPass, why string) error {
	r.leftBehind(p.obj, "Release", why)
	if err := p.status.Status(ctx, p.obj); err != nil {
		return err
	}
	return r.letGo(ctx, p)
}

// letGo takes the finalizer off: the object is gone, and nothing of it is remembered.
func (r *Records) letGo(ctx context.Context, p *recordPass) error {
	err := p.status.Metadata(ctx, p.obj, func(rec *dnsv1alpha1.DNSRecord) {
		controllerutil.RemoveFinalizer(rec, dnsv1alpha1.DNSRecordFinalizer)
	})
	p.over = err == nil
	return err
}
