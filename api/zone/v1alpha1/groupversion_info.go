// Package v1alpha1 is what a user may say to the second front door: Zone, a DNS zone and who may put names into it, and Record,
// one resource record. ZoneSlice carries the content of a zone to those who serve it, and is written by the controller only.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=kubi.zone
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "kubi.zone", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that generated code uses.
var SchemeGroupVersion = GroupVersion

// SchemeBuilder collects the kinds of this group.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the kinds of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Zone{}, &ZoneList{}, &Record{}, &RecordList{}, &ZoneSlice{}, &ZoneSliceList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
