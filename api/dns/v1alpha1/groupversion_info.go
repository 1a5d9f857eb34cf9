// Package v1alpha1 is what a user may say to the first front door: DNSClass, a DNS server that publishes
// records, and DNSRecord, one RRset on such a server.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=dns.homelab.mortenolsen.pro
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "dns.homelab.mortenolsen.pro", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that generated code uses.
var SchemeGroupVersion = GroupVersion

// SchemeBuilder collects the kinds of this group.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds the kinds of this group to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &DNSClass{}, &DNSClassList{}, &DNSRecord{}, &DNSRecordList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
