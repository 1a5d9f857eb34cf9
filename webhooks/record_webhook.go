package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/validation"
)

// +kubebuilder:webhook:path=/mutate-kubi-zone-v1alpha1-record,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=kubi.zone,resources=records,verbs=create;update,versions=v1alpha1,name=mzonerecord.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:path=/validate-kubi-zone-v1alpha1-record,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=kubi.zone,resources=records,verbs=create;update,versions=v1alpha1,name=vzonerecord.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`

func setupRecord(mgr ctrl.Manager, gate *Gate) error {
	hook := &Record{gate}
	registerDefaulter[zonev1alpha1.Record](mgr, "/mutate-kubi-zone-v1alpha1-record", hook)
	return ctrl.NewWebhookManagedBy(mgr, &zonev1alpha1.Record{}).WithValidator(hook).Complete()
}

// Record is the gate of one kind: its defaulter and its validator.
type Record struct{ *Gate }

// Default implements admission.Defaulter. What the operator itself takes away is not given back.
func (h *Record) Default(ctx context.Context, rec *zonev1alpha1.Record) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return lookupFailed(err)
	}
	if h.isOperator(req.UserInfo) {
		return nil
	}
	old, err := previous[zonev1alpha1.Record](req)
	if err != nil {
		return lookupFailed(err)
	}
	defaulting.Record(rec, old)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *Record) ValidateCreate(ctx context.Context, rec *zonev1alpha1.Record) (admission.Warnings, error) {
	return h.judge(ctx, rec, nil, validation.ParentLabel(rec, nil), nil)
}

// ValidateUpdate implements admission.Validator.
func (h *Record) ValidateUpdate(ctx context.Context, old, rec *zonev1alpha1.Record) (admission.Warnings, error) {
	if leaving(old, equality.Semantic.DeepEqual(old.Spec, rec.Spec)) {
		return nil, nil
	}
	return h.judge(ctx, rec, old, validation.ParentLabel(rec, old), validation.Record(old))
}

// ValidateDelete implements admission.Validator; no rule lists DELETE.
func (h *Record) ValidateDelete(context.Context, *zonev1alpha1.Record) (admission.Warnings, error) {
	return nil, nil
}

func (h *Record) judge(ctx context.Context, rec, old *zonev1alpha1.Record, label, before field.ErrorList) (admission.Warnings, error) {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, lookupFailed(err)
	}
	findings := validation.Ratchet(validation.Record(rec), before)
	if !h.isOperator(req.UserInfo) {
		findings = append(findings, label...)
	}
	referred, err := validation.RecordReferences(ctx, h.Source, rec, old)
	if err != nil {
		return nil, lookupFailed(err)
	}
	return answer(h.Policy, zonev1alpha1.GroupVersion.WithKind("Record").GroupKind(), rec, append(findings, referred...))
}
