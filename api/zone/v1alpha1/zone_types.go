package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ZoneReference names a Zone.
type ZoneReference struct {
	// name of the Zone. Example: "example-org".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the Zone. Default: that of the object which refers to it. Example: "dns".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// RecordDelegation lets records into a zone whose name matches a pattern.
type RecordDelegation struct {
	// pattern of names relative to the zone: labels joined by dots. "*" as the leftmost label stands for one or more labels, and
	// inside a label for any run of characters; "@" is the zone's own name, which no other pattern matches. Examples: "*", "*.dev",
	// "www", "web-*", "@".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Pattern string `json:"pattern"`

	// types that the records may have; all where none is given. Example: ["A", "AAAA"].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=16
	Types []string `json:"types,omitempty"`
}

// Delegation lets Records and sub-zones of some namespaces into a zone. What no delegation admits is not let in, also from the zone's
// own namespace.
type Delegation struct {
	// namespaces that this delegation is for; all where none is given. Example: ["team-a"].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`

	// zones are patterns of the names of sub-zones, relative to this zone, as in records. Example: ["*.dev"].
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Zones []string `json:"zones,omitempty"`

	// records lets in Records by name and type.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Records []RecordDelegation `json:"records,omitempty"`
}

// ZoneSpec is a DNS zone, and who may put names into it.
//
// +kubebuilder:validation:XValidation:rule="self.domainName.endsWith('.') != has(self.zoneRef)",message="give either a domainName that ends in a dot, which is the whole name (example.org.), or a zoneRef to the zone that domainName is relative to, not both and not neither (rule zone-ref-or-fqdn)"
// +kubebuilder:validation:XValidation:rule="has(self.zoneRef) == has(oldSelf.zoneRef)",message="zoneRef cannot change, because another parent is another name: delete this object and create the other (rule identity-immutable)"
// +kubebuilder:validation:XValidation:rule="self.retry < self.refresh",message="give a retry that is less than refresh: secondaries ask again sooner after a failure than after a success (rule soa-retry)"
// +kubebuilder:validation:XValidation:rule="self.expire > self.refresh + self.retry",message="give an expire that is more than refresh and retry together, or secondaries drop the zone before they have asked twice (rule soa-expire)"
type ZoneSpec struct {
	// domainName of the zone: whole if it ends in a dot, else relative to the zone that zoneRef names. Upper case is accepted. It cannot
	// change. Examples: "example.org.", "dev".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="domainName cannot change, because another name is another zone: delete this object and create the other (rule identity-immutable)"
	DomainName string `json:"domainName"`

	// zoneRef names the parent of a sub-zone whose domainName is relative. It cannot change.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="zoneRef cannot change, because another parent is another name: delete this object and create the other (rule identity-immutable)"
	ZoneRef *ZoneReference `json:"zoneRef,omitempty"`

	// delegations say which Records and sub-zones the zone lets in. Without any it lets in nothing.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Delegations []Delegation `json:"delegations,omitempty"`

	// ttl in seconds of records that have none of their own, and of the SOA record. Default 360.
	//
	// +optional
	// +kubebuilder:default=360
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL *int32 `json:"ttl,omitempty"`

	// refresh is the time in seconds after which secondaries ask for a new serial (RFC 1035 section 3.3.13). Default 86400, one day.
	//
	// +optional
	// +kubebuilder:default=86400
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Refresh *int32 `json:"refresh,omitempty"`

	// retry is the time in seconds after which secondaries ask again when nobody answered; it is less than refresh. Default 7200, two
	// hours.
	//
	// +optional
	// +kubebuilder:default=7200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Retry *int32 `json:"retry,omitempty"`

	// expire is the time in seconds after which secondaries that had no answer stop serving the zone; it is more than refresh and retry
	// together. Default 3600000, a thousand hours.
	//
	// +optional
	// +kubebuilder:default=3600000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Expire *int32 `json:"expire,omitempty"`

	// negativeResponseCache is how long, in seconds, resolvers remember that a name does not exist (RFC 2308 section 4). Default 360.
	//
	// +optional
	// +kubebuilder:default=360
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	NegativeResponseCache *int32 `json:"negativeResponseCache,omitempty"`

	// nameServer is the primary name server that the SOA record names, and the NS record of a zone which has none of its own. A whole
	// name, with or without the trailing dot. Default: ns.{origin}. Example: "ns1.example.net.".
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	NameServer string `json:"nameServer,omitempty"`

	// contact is the mailbox of who is responsible, as the SOA record writes it: with a dot in the place of the @, or as a mail address.
	// Default: noc.{origin}. Examples: "hostmaster.example.org.", "hostmaster@example.org".
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Contact string `json:"contact,omitempty"`
}

// ZoneEntry is one resource record of a zone.
type ZoneEntry struct {
	// fqdn is the whole owner name, lower case, with the trailing dot. Example: "www.example.org.".
	//
	// +required
	// +kubebuilder:validation:MaxLength=254
	FQDN string `json:"fqdn"`

	// type of the record. Example: "A".
	//
	// +required
	// +kubebuilder:validation:MaxLength=16
	Type string `json:"type"`

	// class of the record: IN.
	//
	// +required
	// +kubebuilder:validation:MaxLength=2
	Class string `json:"class"`

	// ttl in seconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL int32 `json:"ttl"`

	// rdata in canonical form, as zone files write it. Example: "192.0.2.1".
	//
	// +required
	// +kubebuilder:validation:MaxLength=262144
	RData string `json:"rdata"`
}

// ZoneStatus is what the zone publishes.
type ZoneStatus struct {
	// conditions: Ready (Published, ZoneNotFound, NotDelegated, NameConflict, InvalidConfiguration) and Complete (AllPublished,
	// RecordsLeftOut, NoNameServer).
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

	// fqdn is the whole name of the zone, lower case, with the trailing dot. Example: "example.org.".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=254
	FQDN string `json:"fqdn,omitempty"`

	// entries are the records of the zone, for people to read, the SOA first: as many as fit into 32 KiB. Programs read the ZoneSlices.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Entries []ZoneEntry `json:"entries,omitempty"`

	// entryCount is how many records the zone has, the SOA included.
	//
	// +optional
	EntryCount int32 `json:"entryCount,omitempty"`

	// entriesTruncated says that entries does not show all of them.
	//
	// +optional
	EntriesTruncated bool `json:"entriesTruncated,omitempty"`

	// hash of the content: of every record, and of the SOA without its serial. It is the same for the same content.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`

	// serial of the SOA record (RFC 1035 section 3.3.13). It rises with each change of the hash, and never falls.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	Serial int64 `json:"serial,omitempty"`

	// slices are the digests of the ZoneSlices that make up the content of this serial, in the order of their shards. Who serves the zone
	// takes it when it has them all.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=65536
	// +kubebuilder:validation:items:MaxLength=64
	Slices []string `json:"slices,omitempty"`
}

// Zone is a DNS zone. Records and sub-zones of any namespace join it where its delegations let them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories=namegate
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Serial",type=integer,JSONPath=`.status.serial`
// +kubebuilder:printcolumn:name="Entries",type=integer,JSONPath=`.status.entryCount`
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.metadata.labels.kubi\.zone/parent-zone`
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.domainName`,priority=1
// +kubebuilder:printcolumn:name="Hash",type=string,JSONPath=`.status.hash`,priority=1
// +kubebuilder:printcolumn:name="Complete",type=string,JSONPath=`.status.conditions[?(@.type=="Complete")].status`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Zone struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	//
	// +required
	Spec ZoneSpec `json:"spec"`

	// status is written by the controller only.
	//
	// +optional
	Status ZoneStatus `json:"status,omitempty"`
}

// ZoneList is a list of Zone.
//
// +kubebuilder:object:root=true
type ZoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Zone `json:"items"`
}
