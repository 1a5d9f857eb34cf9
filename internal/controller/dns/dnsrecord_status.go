package dns

import (
	"hash/fnv"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/internal/rules"
)

// ready sets the one condition, and with it the generation that the status speaks of.
func (p *recordPass) ready(status metav1.ConditionStatus, reason, message string) {
	conditions.Set(&p.obj.Status.Conditions, dnsv1alpha1.ConditionReady, status, reason, message, p.obj.Generation)
	p.obj.Status.ObservedGeneration = p.obj.Generation
}

// invalid: the object bypassed the gate. Nothing is published and nothing is tried again until it changes.
func (p *recordPass) invalid(message string) {
	p.obj.Status.State, p.obj.Status.Error = dnsv1alpha1.RecordStateError, nil
	p.ready(metav1.ConditionFalse, dnsv1alpha1.ReasonInvalidConfiguration, message)
}

// blocked: another object is in the way, and a watch tells when it has changed. It is no error of this record. One that is on its
// server as written stays in its state.
func (p *recordPass) blocked(reason, message string) {
	if !p.onServer() {
		p.obj.Status.State = dnsv1alpha1.RecordStatePending
	}
	p.obj.Status.Error = nil
	p.ready(metav1.ConditionFalse, reason, message)
}

// onServer says whether the server took the record as it is wanted; while that cannot be known for want of a class, as it was last seen.
func (p *recordPass) onServer() bool {
	applied := p.obj.Status.Applied
	switch {
	case applied == nil || applied.Hash == "":
		return false
	case p.want == "":
		return p.observed()
	}
	return applied.Hash == p.want
}

// converged says whether the server took the record as it is wanted, and nothing has gone wrong since.
func (p *recordPass) converged() bool {
	return p.want != "" && p.onServer() && conditions.IsTrue(p.obj.Status.Conditions, dnsv1alpha1.ConditionReady)
}

// observed says whether the status speaks of the present generation.
func (p *recordPass) observed() bool {
	return conditions.Find(p.obj.Status.Conditions, dnsv1alpha1.ConditionReady).ObservedGeneration == p.obj.Generation
}

// written: the server took the record.
func (r *Records) written(p *recordPass, outcome Outcome) {
	status := &p.obj.Status
	reason, message := dnsv1alpha1.ReasonRecordUpdated, "the server took the change of the record"
	status.State = dnsv1alpha1.RecordStateUpdated
	if status.Applied.Hash == "" {
		reason, message = dnsv1alpha1.ReasonRecordCreated, "the server took the record"
		status.State = dnsv1alpha1.RecordStateCreated
	}
	status.Applied.Hash, status.Error = p.want, nil
	status.LastSyncTime = &metav1.Time{Time: outcome.Ended}
	p.ready(metav1.ConditionTrue, reason, message)
	r.log.Info("record written", logged(p.obj, "reason", reason)...)
	r.restUntilCheck(p, outcome.Ended)
}

// checked: the server was asked whether it still has the record, and nothing was written. An answer that could not be had changes nothing: what
// is wrong with the server is said by its class.
func (r *Records) checked(p *recordPass, outcome Outcome) {
	if outcome.Err != nil {
		r.log.Warn("record could not be checked on its server", logged(p.obj, "reason", failureOf(outcome.Err).reason)...)
	}
	now := conditions.Find(p.obj.Status.Conditions, dnsv1alpha1.ConditionReady)
	p.ready(now.Status, now.Reason, now.Message)
	r.restUntilCheck(p, outcome.Ended)
}

func (r *Records) restUntilCheck(p *recordPass, since time.Time) {
	p.note.failures, p.note.notBefore = 0, time.Time{}
	p.note.checkAt = since.Add(spread(p.obj.UID, r.resync))
	p.after(p.note.checkAt.Sub(p.now))
}

// spread moves an interval by up to a tenth either way, always alike for the same object, so that not all records are checked at once.
func spread(uid types.UID, interval time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid))
	share := float64(h.Sum32()) / math.MaxUint32
	return time.Duration(float64(interval) * (0.9 + 0.2*share))
}

// failed: a call to publish failed, and the next attempt follows by itself.
func (r *Records) failed(p *recordPass, outcome Outcome) {
	f := r.fail(p, outcome)
	p.retry(outcome.Ended.Add(r.retries.publishAgain(p.note.failures, f.refused)))
}

// fail counts a failure and puts it into the status.
func (r *Records) fail(p *recordPass, outcome Outcome) failure {
	f := failureOf(outcome.Err)
	p.note.failures++
	p.note.quietServer, p.note.quietUntil = p.target.Server.String(), outcome.Ended.Add(r.retries.quiet(f.retryAfter))
	p.obj.Status.State = dnsv1alpha1.RecordStatePending
	if f.refused || r.retries.usedUp(p.note.failures) {
		p.obj.Status.State = dnsv1alpha1.RecordStateError
	}
	p.setError(f, outcome.Ended)
	p.ready(metav1.ConditionFalse, f.reason, f.message)
	r.log.Warn("request to the server failed", logged(p.obj, "reason", f.reason, "code", f.code, "error", f.message, "failures", p.note.failures)...)
	return f
}

// setError keeps the time at which the same error was first seen, so that one that lasts is written once.
func (p *recordPass) setError(f failure, at time.Time) {
	if e := p.obj.Status.Error; e != nil && e.Code == f.code && e.Message == f.message {
		return
	}
	p.obj.Status.Error = &dnsv1alpha1.RecordError{Code: f.code, Message: f.message, Timestamp: &metav1.Time{Time: at}}
}

// await says whether the next attempt at the subject has to wait, and has the record looked at again then.
func (p *recordPass) await(subject string) bool {
	p.note.about(subject, healthySince(p.class))
	wait := p.note.wait(p.target.Server.String(), p.now)
	if wait > 0 {
		p.after(wait)
	}
	return wait > 0
}

// retry has the next attempt made at that time, or later if the server wants to be left alone.
func (p *recordPass) retry(at time.Time) {
	p.note.notBefore = at
	p.after(p.note.wait(p.target.Server.String(), p.now))
}

// leftBehind tells people what is left on a server that this object no longer looks after.
func (r *Records) leftBehind(rec *dnsv1alpha1.DNSRecord, action, why string) {
	applied := rec.Status.Applied
	r.events.Eventf(rec, nil, corev1.EventTypeWarning, EventLeftBehind, action, "the %s record of %s is left on server %s: %s",
		applied.Type, appliedName(applied), rules.Clip(applied.Server), why)
	r.log.Warn("record left behind", logged(rec, "server", applied.Server, "name", appliedName(applied), "type", applied.Type, "why", why)...)
}

// appliedName is the name of what was applied, for people.
func appliedName(applied *dnsv1alpha1.AppliedRecord) string {
	if applied.Subdomain == dnsv1alpha1.DefaultSubdomain {
		return applied.Domain
	}
	return applied.Subdomain + "." + applied.Domain
}

// logged are the attributes of every log line about a record.
func logged(rec *dnsv1alpha1.DNSRecord, more ...any) []any {
	return append([]any{"namespace", rec.Namespace, "dnsrecord", rec.Name, "dnsclass", rec.Spec.DNSClassRef.Name, "fqdn", rec.Status.FQDN,
		"recordtype", rec.Spec.Type}, more...)
}
