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

// +kubebuilder:webhook:path=/mutate-kubi-zone-v1alpha1-zone,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=kubi.zone,resources=zones,verbs=create;update,versions=v1alpha1,name=mzone.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:path=/validate-kubi-zone-v1alpha1-zone,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=kubi.zone,resources=zones,verbs=create;update,versions=v1alpha1,name=vzone.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:rbac:groups=kubi.zone,resources=zones;records,verbs=get;list;watch

func setupZone(mgr ctrl.Manager, gate *Gate) error {
	hook := &Zone{gate}
	registerDefaulter[zonev1alpha1.Zone](mgr, "/mutate-kubi-zone-v1alpha1-zone", hook)
	return ctrl.NewWebhookManagedBy(mgr, &zonev1alpha1.Zone{}).WithValidator(hook).Complete()
}

// Zone is the gate of one kind: its defaulter and its validator.
type Zone struct{ *Gate }

// Default implements admission.Defaulter. What the operator itself takes away is not given back.
func (h *Zone) Default(ctx context.Context, z *zonev1alpha1.Zone) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return lookupFailed(err)
	}
	if h.isOperator(req.UserInfo) {
		return nil
	}
	old, err := previous[zonev1alpha1.Zone](req)
	if err != nil {
		return lookupFailed(err)
	}
	defaulting.Zone(z, old)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *Zone) ValidateCreate(ctx context.Context, z *zonev1alpha1.Zone) (admission.Warnings, error) {
	return h.judge(ctx, z, nil, validation.ParentLabel(z, nil), nil)
}

// ValidateUpdate implements admission.Validator.
func (h *Zone) ValidateUpdate(ctx context.Context, old, z *zonev1alpha1.Zone) (admission.Warnings, error) {
	if leaving(old, equality.Semantic.DeepEqual(old.Spec, z.Spec)) {
		return nil, nil
	}
	return h.judge(ctx, z, old, validation.ParentLabel(z, old), validation.Zone(old))
}

// ValidateDelete implements admission.Validator; no rule lists DELETE.
func (h *Zone) ValidateDelete(context.Context, *zonev1alpha1.Zone) (admission.Warnings, error) {
	return nil, nil
}

func (h *Zone) judge(ctx context.Context, z, old *zonev1alpha1.Zone, label, before field.ErrorList) (admission.Warnings, error) {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, lookupFailed(err)
	}
	findings := validation.Ratchet(validation.Zone(z), before)
	if !h.isOperator(req.UserInfo) {
		findings = append(findings, label...)
	}
	referred, err := validation.ZoneReferences(ctx, h.Source, z, old)
	if err != nil {
		return nil, lookupFailed(err)
	}
	return answer(h.Policy, zonev1alpha1.GroupVersion.WithKind("Zone").GroupKind(), z, append(findings, referred...))
}
