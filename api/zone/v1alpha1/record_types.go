package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecordSpec is one resource record.
//
// +kubebuilder:validation:XValidation:rule="self.domainName.endsWith('.') != has(self.zoneRef)",message="give either a domainName that ends in a dot, which is the whole name (www.example.org.), or a zoneRef to the zone that domainName is relative to, not both and not neither (rule zone-ref-or-fqdn)"
// +kubebuilder:validation:XValidation:rule="has(self.zoneRef) == has(oldSelf.zoneRef)",message="zoneRef cannot change, because another zone is another name: delete this object and create the other (rule identity-immutable)"
type RecordSpec struct {
	// domainName of the record: whole if it ends in a dot, else relative to the zone that zoneRef names, "@" being the zone's own name. The
	// leftmost label may be "*". Upper case is accepted. It cannot change. Examples: "www.example.org.", "www", "@", "_sip._tcp".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="domainName cannot change, because another name is another record: delete this object and create the other (rule identity-immutable)"
	DomainName string `json:"domainName"`

	// zoneRef names the zone that domainName is relative to, and that the record joins. It cannot change.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="zoneRef cannot change, because another zone is another name: delete this object and create the other (rule identity-immutable)"
	ZoneRef *ZoneReference `json:"zoneRef,omitempty"`

	// type of the record, upper case: any that zone files know (A, AAAA, CAA, CNAME, HTTPS, MX, NS, PTR, SRV, TLSA, TXT, …) but SOA and
	// DNSSEC's signatures, which are the zone's own. It cannot change.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type cannot change, because another type is another record: delete this object and create the other (rule identity-immutable)"
	Type string `json:"type"`

	// class of the record: IN, the Internet.
	//
	// +optional
	// +kubebuilder:default=IN
	// +kubebuilder:validation:Enum=IN
	Class string `json:"class,omitempty"`

	// ttl in seconds. Default: that of the zone, whenever the zone is published. Records of one name and type have one ttl.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL *int32 `json:"ttl,omitempty"`

	// rdata as zone files write it, on one line: names whole and with their trailing dot, texts in quotes. Examples: "192.0.2.1",
	// "10 mail.example.org.", "\"v=spf1 -all\"".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65535
	RData string `json:"rdata"`
}

// RecordStatus is where the record stands.
type RecordStatus struct {
	// conditions: Ready, with the reasons Adopted, ZoneNotFound, NotDelegated, NameConflict, Quarantined and InvalidConfiguration.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// fqdn is the whole name of the record, lower case, with the trailing dot. Example: "www.example.org.".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=254
	FQDN string `json:"fqdn,omitempty"`
}

// Record is one resource record. The zone with the longest name that matches and that delegates the name to this namespace publishes it.
// Records of one name and type make an RRset, which belongs to one namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories=namegate
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Data",type=string,JSONPath=`.spec.rdata`
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.metadata.labels.kubi\.zone/parent-zone`
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.domainName`,priority=1
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.class`,priority=1
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Record struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	//
	// +required
	Spec RecordSpec `json:"spec"`

	// status is written by the controller only.
	//
	// +optional
	Status RecordStatus `json:"status,omitempty"`
}

// RecordList is a list of Record.
//
// +kubebuilder:object:root=true
type RecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Record `json:"items"`
}
