package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	admissionv1 "k8s.io/api/admission/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/validation"
)

// +kubebuilder:webhook:path=/mutate-dns-homelab-mortenolsen-pro-v1alpha1-dnsclass,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=dns.homelab.mortenolsen.pro,resources=dnsclasses,verbs=create;update,versions=v1alpha1,name=mdnsclass.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:path=/validate-dns-homelab-mortenolsen-pro-v1alpha1-dnsclass,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=dns.homelab.mortenolsen.pro,resources=dnsclasses,verbs=create;update,versions=v1alpha1,name=vdnsclass.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses;dnsrecords,verbs=get;list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

func setupDNSClass(mgr ctrl.Manager, gate *Gate) error {
	hook := &DNSClass{gate}
	registerDefaulter[dnsv1alpha1.DNSClass](mgr, "/mutate-dns-homelab-mortenolsen-pro-v1alpha1-dnsclass", hook)
	return ctrl.NewWebhookManagedBy(mgr, &dnsv1alpha1.DNSClass{}).WithValidator(hook).Complete()
}

// DNSClass is the gate of one kind: its defaulter and its validator.
type DNSClass struct{ *Gate }

// Default implements admission.Defaulter.
func (h *DNSClass) Default(ctx context.Context, class *dnsv1alpha1.DNSClass) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return lookupFailed(err)
	}
	defaulting.DNSClass(class, req.Operation == admissionv1.Create, h.OperatorNamespace)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *DNSClass) ValidateCreate(ctx context.Context, class *dnsv1alpha1.DNSClass) (admission.Warnings, error) {
	return h.judge(ctx, class, nil, nil)
}

// ValidateUpdate implements admission.Validator.
func (h *DNSClass) ValidateUpdate(ctx context.Context, old, class *dnsv1alpha1.DNSClass) (admission.Warnings, error) {
	if leaving(old, equality.Semantic.DeepEqual(old.Spec, class.Spec)) {
		return nil, nil
	}
	return h.judge(ctx, class, old, validation.DNSClass(old, h.SecretNamespaces))
}

// ValidateDelete implements admission.Validator; no rule lists DELETE.
func (h *DNSClass) ValidateDelete(context.Context, *dnsv1alpha1.DNSClass) (admission.Warnings, error) {
	return nil, nil
}

func (h *DNSClass) judge(ctx context.Context, class, old *dnsv1alpha1.DNSClass, before field.ErrorList) (admission.Warnings, error) {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, lookupFailed(err)
	}
	findings := validation.Ratchet(validation.DNSClass(class, h.SecretNamespaces), before)
	referred, err := validation.DNSClassReferences(ctx, h.Source, req.UserInfo, class, old)
	if err != nil {
		return nil, lookupFailed(err)
	}
	return answer(h.Policy, dnsv1alpha1.GroupVersion.WithKind("DNSClass").GroupKind(), class, append(findings, referred...))
}
