package defaulting

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// Zone gives an update (old is nil on create) of a Zone the label back that the controller wrote, where the user's manifest does not have
// it. All else that a user may leave out has its default in the schema.
func Zone(z, old *zonev1alpha1.Zone) {
	if old != nil {
		keepParentLabel(&z.ObjectMeta, &old.ObjectMeta)
	}
}

func keepParentLabel(meta, old *metav1.ObjectMeta) {
	parent, had := old.Labels[zonev1alpha1.ParentZoneLabel]
	if _, has := meta.Labels[zonev1alpha1.ParentZoneLabel]; has || !had {
		return
	}
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	meta.Labels[zonev1alpha1.ParentZoneLabel] = parent
}
