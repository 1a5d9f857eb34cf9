package v1alpha1

// ConditionReady is the one condition type of DNSClass and DNSRecord. On a DNSClass it is informational: an
// unhealthy class never blocks its records. On a DNSRecord it says whether the server holds the record as written.
const ConditionReady = "Ready"

// Reasons of the Ready condition, for both kinds where they apply.
const (
	// ReasonServerHealthy (DNSClass): the last health check succeeded.
	ReasonServerHealthy = "ServerHealthy"
	// ReasonHealthCheckPending (DNSClass, status Unknown): no health check has completed yet.
	ReasonHealthCheckPending = "HealthCheckPending"
	// ReasonServerUnreachable: no answer was had from the server (connection, TLS, timeout).
	ReasonServerUnreachable = "ServerUnreachable"
	// ReasonServerError: the server answered, but not as the protocol says, or that it failed.
	ReasonServerError = "ServerError"
	// ReasonSecretNotFound: the Secret of hmacAuth.secretRef, or its key, is absent or may not be read.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonAuthenticationFailed: the server refused the signature (401).
	ReasonAuthenticationFailed = "AuthenticationFailed"
	// ReasonInvalidConfiguration: the object bypassed the gate and cannot be published.
	ReasonInvalidConfiguration = "InvalidConfiguration"

	// ReasonPublishing (DNSRecord, status Unknown): the first write to the server is under way.
	ReasonPublishing = "Publishing"
	// ReasonRecordCreated (DNSRecord): the server took the record for the first time.
	ReasonRecordCreated = "RecordCreated"
	// ReasonRecordUpdated (DNSRecord): the server took a change of the record, or a repair.
	ReasonRecordUpdated = "RecordUpdated"
	// ReasonRecordDeleted (DNSRecord): the record is gone from the server; the object follows.
	ReasonRecordDeleted = "RecordDeleted"
	// ReasonDNSClassNotFound (DNSRecord): the class that dnsClassRef names does not exist.
	ReasonDNSClassNotFound = "DNSClassNotFound"
	// ReasonValidationFailed (DNSRecord): the server refused the record (400).
	ReasonValidationFailed = "ValidationFailed"
	// ReasonNameConflict (DNSRecord): another object holds the name; this one takes over when it goes.
	ReasonNameConflict = "NameConflict"
)

// Finalizers and annotations.
const (
	// DNSRecordFinalizer keeps a DNSRecord until its RRset is gone from the server.
	DNSRecordFinalizer = "dns.homelab.mortenolsen.pro/finalizer"
	// DNSClassInUseFinalizer keeps a DNSClass until no DNSRecord refers to it.
	DNSClassInUseFinalizer = "dns.homelab.mortenolsen.pro/in-use"
	// ReleaseAnnotation set to "true" lets go of an object that is being deleted at once, without another word
	// to the server or a look at its users; a Warning event names what was left behind.
	ReleaseAnnotation = "dns.homelab.mortenolsen.pro/release"
)

// Defaults that the gate writes where the user wrote nothing.
const (
	DefaultTTL            = 300
	DefaultTimeoutSeconds = 30
	DefaultHMACKey        = "hmac-secret"
	DefaultSubdomain      = "@"
)
