package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecordType is the type of an RRset.
//
// +kubebuilder:validation:Enum=A;AAAA;CNAME;TXT;MX;SRV;NS
type RecordType string

// The record types that a DNSRecord can have.
const (
	RecordTypeA     RecordType = "A"
	RecordTypeAAAA  RecordType = "AAAA"
	RecordTypeCNAME RecordType = "CNAME"
	RecordTypeTXT   RecordType = "TXT"
	RecordTypeMX    RecordType = "MX"
	RecordTypeSRV   RecordType = "SRV"
	RecordTypeNS    RecordType = "NS"
)

// DNSRecordSpec is one RRset: all values of one type at one name.
//
// +kubebuilder:validation:XValidation:rule="has(self.subdomain) == has(oldSelf.subdomain) || (has(self.subdomain) ? self.subdomain == '@' : oldSelf.subdomain == '@')",message="subdomain cannot change, because another name is another record: delete this one and create the other (rule identity-immutable)"
type DNSRecordSpec struct {
	// type of the record: A, AAAA, CNAME, TXT, MX, SRV or NS. It cannot change.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type cannot change, because another type is another record: delete this one and create the other (rule identity-immutable)"
	Type RecordType `json:"type"`

	// domain under which the name lives, at most 253 characters, underscores where DNS uses them, no wildcard.
	// Upper case and one trailing dot are accepted. It cannot change. Example: "example.com".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="domain cannot change, because another name is another record: delete this one and create the other (rule identity-immutable)"
	Domain string `json:"domain"`

	// subdomain is the part of the name left of the domain: one or more labels, the leftmost of which may be
	// "*", or "@" for the domain itself. Default "@". It cannot change. Example: "www".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="subdomain cannot change, because another name is another record: delete this one and create the other (rule identity-immutable)"
	Subdomain string `json:"subdomain,omitempty"`

	// dnsClassRef names the DNSClass that publishes the record. It cannot change.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="dnsClassRef cannot change, because the record would stay behind on the old server: delete this one and create the other (rule identity-immutable)"
	DNSClassRef DNSClassReference `json:"dnsClassRef"`

	// values of the record. A: IPv4 addresses; AAAA: IPv6 addresses; CNAME: exactly one name; TXT: texts, each
	// published as one TXT record, split at 255 bytes as the wire wants it; MX, SRV and NS: names of hosts
	// ("." is a null MX, or an SRV that says "no such service"). Example: ["192.168.1.100", "192.168.1.101"].
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=4096
	Values []string `json:"values"`

	// ttl in seconds, 0 to 2147483647 (RFC 2181 section 8). Default: the defaultTTL of the class when the record is
	// created; an update without it keeps the value. Example: 600.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL *int32 `json:"ttl,omitempty"`

	// description is a note for people; it is not published. Example: "Web application load balancer IPs".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// metadata carries what MX (priority) and SRV (priority, weight, port) need besides the value. On other types it
	// has no effect.
	//
	// +optional
	Metadata *RecordMetadata `json:"metadata,omitempty"`
}

// DNSClassReference names a DNSClass.
type DNSClassReference struct {
	// name of the DNSClass. It has to exist. Example: "cloudflare".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// RecordMetadata is what MX and SRV records need besides their values; all values of the record share it.
type RecordMetadata struct {
	// priority of an MX (its preference, RFC 5321 section 5.1) or SRV record (RFC 2782): 0 to 65535, lower is tried first.
	// Example: 10.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Priority *int32 `json:"priority,omitempty"`

	// weight of an SRV record among those of equal priority (RFC 2782): 0 to 65535. Example: 100.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Weight *int32 `json:"weight,omitempty"`

	// port of the service of an SRV record (RFC 2782): 0 to 65535. Example: 443.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
}

// RecordState is where a record stands between the cluster and the server.
//
// +kubebuilder:validation:Enum=Created;Updated;Deleted;Error;Pending
type RecordState string

// The states of a record.
const (
	// RecordStatePending: not on the server yet as written; the next attempt follows by itself.
	RecordStatePending RecordState = "Pending"
	// RecordStateCreated: on the server as first written.
	RecordStateCreated RecordState = "Created"
	// RecordStateUpdated: on the server, changed at least once.
	RecordStateUpdated RecordState = "Updated"
	// RecordStateDeleted: gone from the server; the object follows.
	RecordStateDeleted RecordState = "Deleted"
	// RecordStateError: the attempts are used up, or the server refuses the record; tried again at the health
	// check interval, when the class turns healthy, and when the spec changes.
	RecordStateError RecordState = "Error"
)

// RecordError is the last error of a record.
type RecordError struct {
	// code is one of the protocol's error codes (SERVER_ERROR, AUTH_FAILED, RATE_LIMITED, …).
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Code string `json:"code,omitempty"`

	// message says what failed. It holds no secret and no text of the server's.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// timestamp is when this error was first seen.
	//
	// +optional
	Timestamp *metav1.Time `json:"timestamp,omitempty"`
}

// AppliedRecord is what was last sent to a server for this object. It is written before the first request, so that
// what is on the server is always known here, and the deletion works from it.
type AppliedRecord struct {
	// server is the canonical base URL that the record was sent to.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Server string `json:"server,omitempty"`

	// type, domain and subdomain identify the record on the server, in canonical form.
	//
	// +optional
	Type RecordType `json:"type,omitempty"`

	// domain of the record on the server.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Domain string `json:"domain,omitempty"`

	// subdomain of the record on the server.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Subdomain string `json:"subdomain,omitempty"`

	// hash of the content that the server took last; empty until it took any.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`
}

// DNSRecordStatus is where the record stands.
type DNSRecordStatus struct {
	// conditions: Ready, with the reasons Publishing, RecordCreated, RecordUpdated, RecordDeleted, DNSClassNotFound,
	// SecretNotFound, ServerUnreachable, ServerError, AuthenticationFailed, InvalidConfiguration, ValidationFailed and
	// NameConflict.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// state: Pending, Created, Updated, Deleted or Error.
	//
	// +optional
	State RecordState `json:"state,omitempty"`

	// lastSyncTime is when the server last took the record. It moves only with a write to the server.
	//
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`

	// fqdn is the full name of the record, lower case, without the trailing dot. Example: "www.example.com".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	FQDN string `json:"fqdn,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// error is the last error, absent while there is none.
	//
	// +optional
	Error *RecordError `json:"error,omitempty"`

	// applied is what was last sent to the server for this object.
	//
	// +optional
	Applied *AppliedRecord `json:"applied,omitempty"`
}

// DNSRecord is one RRset that a DNSClass publishes. One server holds one RRset of a type at a name, and it has one
// owner: a second DNSRecord for it is refused.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=dnsr,categories=namegate
// +kubebuilder:selectablefield:JSONPath=`.spec.dnsClassRef.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Values",type=string,JSONPath=`.spec.values`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.dnsClassRef.name`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	//
	// +required
	Spec DNSRecordSpec `json:"spec"`

	// status is written by the controller only.
	//
	// +optional
	Status DNSRecordStatus `json:"status,omitempty"`
}

// DNSRecordList is a list of DNSRecord.
//
// +kubebuilder:object:root=true
type DNSRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSRecord `json:"items"`
}
