// Package webhooks is the gate as the API server calls it: one thin file per kind over the pure functions of
// internal/defaulting and internal/validation, and this file, which turns findings into answers.
package webhooks

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/namegate/namegate/internal/rules"
)

// maxWarnings keeps the warnings of one answer few enough to be read.
const maxWarnings = 5

// answer makes one answer of all findings: a 422 that lists those that deny, and the others as warnings.
func answer(policy rules.Policy, kind schema.GroupKind, obj metav1.Object, findings field.ErrorList) (admission.Warnings, error) {
	deny, warn := policy.Split(findings)
	warnings := warningsOf(warn)
	if len(deny) == 0 {
		return warnings, nil
	}
	return warnings, apierrors.NewInvalid(kind, obj.GetName(), deny)
}

func warningsOf(findings field.ErrorList) admission.Warnings {
	var out admission.Warnings
	for i, f := range findings {
		if i == maxWarnings {
			return append(out, fmt.Sprintf("and %d more: kubectl namegate lint shows all", len(findings)-maxWarnings))
		}
		out = append(out, f.Field+": "+f.Detail)
	}
	return out
}

// lookupFailed answers 500: the gate could not look, which says nothing about the object.
func lookupFailed(err error) error { return apierrors.NewInternalError(err) }

// previous returns the object before the request, nil on create.
func previous[T any](req admission.Request) (*T, error) {
	if req.Operation != admissionv1.Update {
		return nil, nil
	}
	old := new(T)
	return old, json.Unmarshal(req.OldObject.Raw, old)
}

// leaving says whether an update only lets go of an object: it is being deleted, and its spec stays. Nothing may stand in
// the way of that, and nothing else of a deleted object is let through. It is the webhook configuration's matchCondition,
// judged on the old object like there.
func leaving(old metav1.Object, specUnchanged bool) bool {
	return old.GetDeletionTimestamp() != nil && specUnchanged
}
