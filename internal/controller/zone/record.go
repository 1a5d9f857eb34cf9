package zone

import (
	"cmp"
	"context"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=records,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kubi.zone,resources=records/status,verbs=patch

// Records tells each Record which Zone has adopted it, by its label, or why none has, by its condition. It needs no finalizer: a Record that
// is gone is gone from the model, and so from its zone.
type Records struct {
	client client.Client
	log    *slog.Logger
	model  *zone.Model
	// written are the versions of Records that the cache has not shown yet.
	written common.Notes[common.Version]
}

func newRecords(c client.Client, o Options) *Records {
	return &Records{client: c, log: o.Logger, model: o.Model}
}

// Reconcile implements reconcile.ObjectReconciler.
func (r *Records) Reconcile(ctx context.Context, rec *zonev1alpha1.Record) (reconcile.Result, error) {
	verdict, known := r.model.Record(client.ObjectKeyFromObject(rec))
	if !known || !rec.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // the model hears of it any moment, or it is going
	}
	if r.written.Of(rec.UID).Ahead(rec) {
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	}
	r.written.Drop(rec.UID)
	err := r.write(ctx, rec, verdict)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: common.ConflictDelay}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, err
}

// Gone forgets a record that does not exist any more.
func (r *Records) Gone(rec client.Object) { r.written.Drop(rec.GetUID()) }

// write makes label and status say what the verdict says. The label comes first, for who waits for the condition. A gate that is away refuses
// it, and does not keep the status from being written.
func (r *Records) write(ctx context.Context, rec *zonev1alpha1.Record, verdict zone.RecordVerdict) error {
	patcher := conditions.NewPatcher(r.client, common.FieldOwner, rec)
	label, before := labelOf(verdict.Parent), rec.ResourceVersion
	was := conditions.Find(rec.Status.Conditions, zonev1alpha1.ConditionReady).Reason
	changed := judgeRecord(rec, verdict)
	var err error
	if !isLabelled(rec, label) {
		err = patcher.Metadata(ctx, rec, func(rec *zonev1alpha1.Record) { setLabel(rec, label) })
	}
	if changed && !apierrors.IsConflict(err) {
		err = cmp.Or(patcher.Status(ctx, rec), err)
	}
	if rec.ResourceVersion != before {
		r.written.Keep(rec.UID, common.VersionOf(rec))
	}
	if err == nil && was != verdict.Reason {
		r.log.Info("record judged", "namespace", rec.Namespace, "record", rec.Name, "fqdn", rec.Status.FQDN, "recordtype", rec.Spec.Type, "reason", verdict.Reason,
			"zone", label)
	}
	return err
}

// judgeRecord makes the status say what the verdict says, and says whether that changed it.
func judgeRecord(rec *zonev1alpha1.Record, verdict zone.RecordVerdict) bool {
	status, fqdn := &rec.Status, fqdnOf(verdict.FQDN)
	changed := status.FQDN != fqdn || status.ObservedGeneration != rec.Generation
	status.FQDN, status.ObservedGeneration = fqdn, rec.Generation
	return conditions.Set(&status.Conditions, zonev1alpha1.ConditionReady, truth(verdict.Published()), verdict.Reason, verdict.Message, rec.Generation) || changed
}

func truth(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
