package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SliceEntry is one resource record of class IN in a ZoneSlice.
type SliceEntry struct {
	// name is the whole owner name, lower case, without the trailing dot.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// type of the record.
	//
	// +required
	// +kubebuilder:validation:MaxLength=16
	Type string `json:"type"`

	// ttl in seconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL int32 `json:"ttl"`

	// rdata in canonical form.
	//
	// +required
	// +kubebuilder:validation:MaxLength=262144
	RData string `json:"rdata"`
}

// ZoneSlice carries one shard of the content of a zone to those who serve it. Its content never changes: another content is another
// ZoneSlice. The status of its Zone says which ones belong together. It is internal, and written by the controller only.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.zone`
// +kubebuilder:printcolumn:name="Shard",type=string,JSONPath=`.shard`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ZoneSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// zone is the name of the Zone in the same namespace.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	Zone string `json:"zone"`

	// shard of the zone that this is: the first bits of the hashes of the owner names in it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=128
	Shard string `json:"shard"`

	// digest of shard and entries.
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest"`

	// entries of the shard, sorted. None of them is the SOA, which is made of the Zone.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Entries []SliceEntry `json:"entries"`
}

// ZoneSliceList is a list of ZoneSlice.
//
// +kubebuilder:object:root=true
type ZoneSliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ZoneSlice `json:"items"`
}
