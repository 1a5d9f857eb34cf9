package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/rules"
)

// ParentLabel checks what a user does to the label that the controller writes. A new object may carry it, as one from a backup does (old is
// nil): nothing follows from it.
func ParentLabel(obj, old metav1.Object) field.ErrorList {
	path := field.NewPath("metadata", "labels").Key(zonev1alpha1.ParentZoneLabel)
	now, has := obj.GetLabels()[zonev1alpha1.ParentZoneLabel]
	if old == nil {
		if !has {
			return nil
		}
		return field.ErrorList{rules.ParentLabelIgnored.Invalid(path, now,
			"leave it out: the controller writes this label, and finds the zone by the object's name and the delegations")}
	}
	before, had := old.GetLabels()[zonev1alpha1.ParentZoneLabel]
	if now == before && has == had {
		return nil
	}
	return field.ErrorList{rules.ParentLabelChanged.Invalid(path, now,
		"leave it as it is: the controller writes this label, and finds the zone by the object's name and the delegations")}
}
