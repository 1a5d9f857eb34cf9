package dns

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// acquireName takes the name on the server, or finds that another object has it. The store is fed by caches, which lag: before a name is taken
// that others claim too, and before it is given up for a rival, the rival is read from the API server.
func (r *Records) acquireName(ctx context.Context, p *recordPass) (bool, error) {
	claim := r.claimOn(p.obj, p.server)
	if !claim.Holds {
		for _, rival := range r.store.Rivals(claim) {
			precedes, err := r.precedes(ctx, rival, claim)
			if err != nil {
				return false, err
			}
			if precedes {
				r.lose(p, claim)
				return true, nil
			}
		}
	}
	rival, acquired := r.store.Acquire(claim)
	if acquired {
		return false, nil
	}
	_, exists, err := r.readRival(ctx, rival)
	switch {
	case err != nil:
		return false, err
	case !exists:
		p.after(common.ConflictDelay) // the store hears of it any moment
		return true, nil
	}
	r.lose(p, claim)
	return true, nil
}

// claimOn is the record's claim of its name on a server. Who has acquired a name holds it, also before the status says so.
func (r *Records) claimOn(rec *dnsv1alpha1.DNSRecord, server endpoint.URL) claims.Claim {
	var claim claims.Claim // a record that parses has one
	for _, c := range claims.OfDNSRecord(rec, server.String()) {
		if c.Plane == claims.DNSServerPlane(server) {
			claim = c
		}
	}
	for _, c := range r.store.Of(claim.Owner) {
		if c.UID == claim.UID && c.Plane == claim.Plane && c.Name == claim.Name && c.Type == claim.Type {
			claim.Holds = claim.Holds || c.Holds
		}
	}
	return claim
}

// precedes says whether a rival, as the API server has it, comes before the claim.
func (r *Records) precedes(ctx context.Context, rival, claim claims.Claim) (bool, error) {
	now, exists, err := r.readRival(ctx, rival)
	if err != nil || !exists {
		return false, err
	}
	for _, other := range now {
		if claims.Conflict(claim, other) != nil && claims.Precedes(other, claim) {
			return true, nil
		}
	}
	return false, nil
}

// readRival reads what the object of a claim claims now, past all caches, and whether it is still there.
func (r *Records) readRival(ctx context.Context, rival claims.Claim) (now []claims.Claim, exists bool, err error) {
	rec := &dnsv1alpha1.DNSRecord{}
	err = r.live.Get(ctx, rival.Owner.NamespacedName, rec)
	switch {
	case apierrors.IsNotFound(err):
		// It may have been claimed for once more by a reconciliation that had read it before it went.
		r.store.Forget(rival.Owner, rival.UID)
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read who else claims the name: %w", err)
	case rec.UID != rival.UID:
		r.store.Forget(rival.Owner, rival.UID) // another object has its name, and may claim the same
	}
	return claims.OfDNSRecord(rec, r.feed.Server(rec.Spec.DNSClassRef.Name)), true, nil
}

// lose gives up the name until the store says that it is free. What the record has on another server, from before its class moved, is still its
// own, and still to be deleted.
func (r *Records) lose(p *recordPass, claim claims.Claim) {
	status := &p.obj.Status
	if applied := status.Applied; applied != nil && applied.Server == string(claim.Plane) {
		status.Applied = nil
	}
	r.store.Release(p.obj.UID)
	r.lanes.Drop(p.obj.UID)
	p.note = note{}
	status.State, status.Error = dnsv1alpha1.RecordStatePending, nil
	p.ready(metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict, fmt.Sprintf(
		"the name %s is taken on this server; this record takes over when it is free", claim.Name))
	p.after(r.resync) // the store wakes it much sooner
}

// heldByAnother says whether what was applied belongs to another object by now, as the API server has it.
func (r *Records) heldByAnother(ctx context.Context, rec *dnsv1alpha1.DNSRecord, server endpoint.URL, name dnsname.Name) (bool, error) {
	claim := claims.Claim{Plane: claims.DNSServerPlane(server), Name: name, Type: record.Type(rec.Status.Applied.Type),
		Owner: claims.DNSRecordOwner(rec.Namespace, rec.Name), UID: rec.UID}
	for _, rival := range r.store.Rivals(claim) {
		now, exists, err := r.readRival(ctx, rival)
		if err != nil {
			return false, err
		}
		for _, other := range now {
			if exists && other.Holds && claims.Conflict(claim, other) == rules.NameTaken {
				return true, nil
			}
		}
	}
	return false, nil
}
