package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HMACAlgorithm names the hash of the request signature.
//
// +kubebuilder:validation:Enum=SHA256;SHA512
type HMACAlgorithm string

// The hash algorithms of the DNS server protocol.
const (
	HMACSHA256 HMACAlgorithm = "SHA256"
	HMACSHA512 HMACAlgorithm = "SHA512"
)

// DNSClassSpec describes a DNS server that speaks the DNS server webhook protocol, version 1.
type DNSClassSpec struct {
	// server is the base URL of the DNS server: http or https, a host, and a clean base path if the server has
	// one; no user info, query or fragment. Two classes with the same server share its names: one RRset there has one owner.
	// Example: "http://cloudflare-dns.dns.svc:7100".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Server string `json:"server"`

	// defaultTTL is the TTL, in seconds, of records of this class that set none. A later change affects new
	// records only. Default 300. Example: 600.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	DefaultTTL *int32 `json:"defaultTTL,omitempty"`

	// timeoutSeconds bounds one request to the server, from the connection to the last byte, in seconds.
	// Default 30. Example: 10.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// hmacAuth signs every request with a shared secret. Absent: requests are not signed.
	//
	// +optional
	HMACAuth *HMACAuth `json:"hmacAuth,omitempty"`
}

// HMACAuth says where the shared secret is and which hash signs. Exactly one of secretRef and secret is given.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.secret)",message="give exactly one of secretRef (preferred) and secret (rule hmac-one-secret)"
type HMACAuth struct {
	// secretRef names the Secret that holds the shared secret (preferred). Only a user who may get that Secret
	// may refer to it.
	//
	// +optional
	SecretRef *SecretKeyReference `json:"secretRef,omitempty"`

	// secret is the shared secret itself; anyone who may read this DNSClass can read it. For testing only.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Secret *string `json:"secret,omitempty"`

	// algorithm is the hash of the signature: SHA256 or SHA512. Default SHA256.
	//
	// +optional
	Algorithm HMACAlgorithm `json:"algorithm,omitempty"`
}

// SecretKeyReference names one key of a Secret.
type SecretKeyReference struct {
	// name of the Secret. Example: "cloudflare-dns-secret".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the Secret: one that the installation lists. Default: the operator's own namespace.
	// Example: "dns-system".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// key within the Secret. The bytes are used as they are, a trailing newline included. Default "hmac-secret".
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// HealthStatus is the outcome of the last health check.
//
// +kubebuilder:validation:Enum=Healthy;Unhealthy;Unknown
type HealthStatus string

// The outcomes of a health check.
const (
	Healthy       HealthStatus = "Healthy"
	Unhealthy     HealthStatus = "Unhealthy"
	HealthUnknown HealthStatus = "Unknown"
)

// DNSClassHealth is what the last health check found. It is informational and blocks nothing.
type DNSClassHealth struct {
	// status: Healthy, Unhealthy or Unknown (not checked yet).
	//
	// +optional
	Status HealthStatus `json:"status,omitempty"`

	// lastCheck is when the last health check ended.
	//
	// +optional
	LastCheck *metav1.Time `json:"lastCheck,omitempty"`

	// message says what the check found.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// DNSClassStatus is what the controller last saw of the server.
type DNSClassStatus struct {
	// conditions: Ready, with the reasons ServerHealthy, HealthCheckPending, ServerUnreachable, ServerError,
	// SecretNotFound, AuthenticationFailed and InvalidConfiguration.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastHealthCheck is when the last health check ended.
	//
	// +optional
	LastHealthCheck *metav1.Time `json:"lastHealthCheck,omitempty"`

	// health is the outcome of the last health check.
	//
	// +optional
	Health *DNSClassHealth `json:"health,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// DNSClass is a DNS server that publishes records: where it is, how requests to it are signed, and what records
// of this class get where they say nothing.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=dnsc,categories=namegate
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.server`
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.health.status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Checked",type=date,JSONPath=`.status.lastHealthCheck`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	//
	// +required
	Spec DNSClassSpec `json:"spec"`

	// status is written by the controller only.
	//
	// +optional
	Status DNSClassStatus `json:"status,omitempty"`
}

// DNSClassList is a list of DNSClass.
//
// +kubebuilder:object:root=true
type DNSClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSClass `json:"items"`
}
