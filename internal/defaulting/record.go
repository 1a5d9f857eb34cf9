package defaulting

import zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"

// Record does for a Record what Zone does for a Zone.
func Record(rec, old *zonev1alpha1.Record) {
	if old != nil {
		keepParentLabel(&rec.ObjectMeta, &old.ObjectMeta)
	}
}
