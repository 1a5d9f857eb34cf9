package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/validation"
)

// +kubebuilder:webhook:path=/mutate-dns-homelab-mortenolsen-pro-v1alpha1-dnsrecord,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=dns.homelab.mortenolsen.pro,resources=dnsrecords,verbs=create;update,versions=v1alpha1,name=mdnsrecord.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:path=/validate-dns-homelab-mortenolsen-pro-v1alpha1-dnsrecord,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=dns.homelab.mortenolsen.pro,resources=dnsrecords,verbs=create;update,versions=v1alpha1,name=vdnsrecord.namegate.dev,admissionReviewVersions=v1,timeoutSeconds=5,patch=`{"matchConditions":[{"name":"not-only-leaving","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp) || object.spec != oldObject.spec"}]}`

func setupDNSRecord(mgr ctrl.Manager, gate *Gate) error {
	hook := &DNSRecord{gate}
	registerDefaulter[dnsv1alpha1.DNSRecord](mgr, "/mutate-dns-homelab-mortenolsen-pro-v1alpha1-dnsrecord", hook)
	return ctrl.NewWebhookManagedBy(mgr, &dnsv1alpha1.DNSRecord{}).WithValidator(hook).Complete()
}

// DNSRecord is the gate of one kind: its defaulter and its validator.
type DNSRecord struct{ *Gate }

// Default implements admission.Defaulter.
func (h *DNSRecord) Default(ctx context.Context, rec *dnsv1alpha1.DNSRecord) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return lookupFailed(err)
	}
	old, err := previous[dnsv1alpha1.DNSRecord](req)
	if err != nil {
		return lookupFailed(err)
	}
	if err := defaulting.DNSRecord(ctx, h.Source, rec, old); err != nil {
		return lookupFailed(err)
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *DNSRecord) ValidateCreate(ctx context.Context, rec *dnsv1alpha1.DNSRecord) (admission.Warnings, error) {
	return h.judge(ctx, rec, nil, nil)
}

// ValidateUpdate implements admission.Validator.
func (h *DNSRecord) ValidateUpdate(ctx context.Context, old, rec *dnsv1alpha1.DNSRecord) (admission.Warnings, error) {
	if leaving(old, equality.Semantic.DeepEqual(old.Spec, rec.Spec)) {
		return nil, nil
	}
	return h.judge(ctx, rec, old, validation.DNSRecord(old))
}

// ValidateDelete implements admission.Validator; no rule lists DELETE.
func (h *DNSRecord) ValidateDelete(context.Context, *dnsv1alpha1.DNSRecord) (admission.Warnings, error) {
	return nil, nil
}

func (h *DNSRecord) judge(ctx context.Context, rec, old *dnsv1alpha1.DNSRecord, before field.ErrorList) (admission.Warnings, error) {
	findings := validation.Ratchet(validation.DNSRecord(rec), before)
	referred, err := validation.DNSRecordReferences(ctx, h.Source, rec, old)
	if err != nil {
		return nil, lookupFailed(err)
	}
	return answer(h.Policy, dnsv1alpha1.GroupVersion.WithKind("DNSRecord").GroupKind(), rec, append(findings, referred...))
}
