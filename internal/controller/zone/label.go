package zone

import (
	"crypto/sha256"
	"encoding/hex"

	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/zone"
)

// labelOf returns the value of the label that names a parent; "" for no label. A Zone whose names are too long for one has bypassed the gate.
func labelOf(parent zone.Key) string {
	if parent == (zone.Key{}) || len(zone.ParentLabel(parent)) > zone.MaxParentLabel {
		return ""
	}
	return zone.ParentLabel(parent)
}

// isLabelled says whether an object has the label that names this parent, and none if that is "".
func isLabelled(obj client.Object, value string) bool {
	got, has := obj.GetLabels()[zonev1alpha1.ParentZoneLabel]
	return got == value && has == (value != "")
}

// setLabel sets the label that names the parent, or takes it away.
func setLabel(obj client.Object, value string) {
	labels := obj.GetLabels()
	if value == "" {
		delete(labels, zonev1alpha1.ParentZoneLabel)
	} else {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[zonev1alpha1.ParentZoneLabel] = value
	}
	obj.SetLabels(labels)
}

// zoneLabel is the value of the label of a ZoneSlice that names its Zone. A name too long for a label has bypassed the gate, and is
// shown by a hash of it.
func zoneLabel(name string) string {
	if len(name) <= zone.MaxParentLabel {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

func fqdnOf(name dnsname.Name) string {
	if name.IsZero() {
		return ""
	}
	return name.FQDN()
}
