// Package v1 is the DNS server webhook protocol, version 1: the JSON that travels between Namegate and a DNS
// server, and the signature that protects it. It depends on the standard library only, so that a server's author can
// import it.
package v1

import (
	"net/http"
	"time"
)

// Paths of the protocol, below the base URL of the server.
const (
	PathHealth  = "/health"
	PathRecords = "/records"
)

// OperationUpsert is the one operation of POST /records.
const OperationUpsert = "upsert"

// ContentType of every request and response body.
const ContentType = "application/json"

// MaxBodyBytes is the size that neither side's body may exceed.
const MaxBodyBytes = 1 << 20

// Record is one RRset: all values of one type at one name.
type Record struct {
	// Type is A, AAAA, CNAME, TXT, MX, SRV or NS.
	Type string `json:"type"`
	// Domain under which the name lives, canonical: lower case, no trailing dot.
	Domain string `json:"domain"`
	// Subdomain is the part left of the domain, or "@" for the domain itself.
	Subdomain string `json:"subdomain"`
	// FQDN is the whole name, lower case, no trailing dot. Servers fill it in; clients leave it empty.
	FQDN string `json:"fqdn,omitempty"`
	// Values of the RRset; their order has no meaning.
	Values []string `json:"values"`
	// TTL in seconds.
	TTL int64 `json:"ttl"`
	// Metadata is what MX (priority) and SRV (priority, weight, port) need besides the values.
	Metadata *RecordMetadata `json:"metadata,omitempty"`
}

// RecordMetadata is shared by all values of an MX or SRV record. Each number has 16 bits on the wire.
type RecordMetadata struct {
	Priority *int64 `json:"priority,omitempty"`
	Weight   *int64 `json:"weight,omitempty"`
	Port     *int64 `json:"port,omitempty"`
}

// UpsertRequest is the body of POST /records.
type UpsertRequest struct {
	Record    Record `json:"record"`
	Operation string `json:"operation"`
}

// Response is the body of every answer below /records.
type Response struct {
	Success bool    `json:"success"`
	Record  *Record `json:"record,omitempty"`
	Message string  `json:"message,omitempty"`
	Error   *Error  `json:"error,omitempty"`
}

// Error says why a request failed.
type Error struct {
	Code    ErrorCode      `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// Health is the body of GET /health.
type Health struct {
	// Status is HealthyStatus, or anything else for a server that is not healthy.
	Status    string    `json:"status"`
	Message   string    `json:"message,omitempty"`
	Timestamp time.Time `json:"timestamp,omitzero"`
}

// Values of Health.Status.
const (
	HealthyStatus   = "healthy"
	UnhealthyStatus = "unhealthy"
)

// ErrorCode is one of the protocol's error codes.
type ErrorCode string

// The error codes, and the HTTP status that a server sends with each.
const (
	// CodeInvalidRecord (400): the record as a whole is not valid.
	CodeInvalidRecord ErrorCode = "INVALID_RECORD"
	// CodeInvalidDomain (400): the domain or subdomain is not a domain name.
	CodeInvalidDomain ErrorCode = "INVALID_DOMAIN"
	// CodeInvalidValue (400): a value does not fit the type.
	CodeInvalidValue ErrorCode = "INVALID_VALUE"
	// CodeRecordNotFound (404): there is no such record. For a deletion that is success.
	CodeRecordNotFound ErrorCode = "RECORD_NOT_FOUND"
	// CodeServerError (500): the server failed.
	CodeServerError ErrorCode = "SERVER_ERROR"
	// CodeAuthFailed (401): the signature is missing or wrong.
	CodeAuthFailed ErrorCode = "AUTH_FAILED"
	// CodeTimestampStale (401): the timestamp is outside the window.
	CodeTimestampStale ErrorCode = "TIMESTAMP_STALE"
	// CodeNonceReused (401): the nonce has been used within the window.
	CodeNonceReused ErrorCode = "NONCE_REUSED"
	// CodeRateLimited (429): too many requests; Retry-After says when to come back.
	CodeRateLimited ErrorCode = "RATE_LIMITED"
	// CodeQuotaExceeded (403): the server takes no further records.
	CodeQuotaExceeded ErrorCode = "QUOTA_EXCEEDED"
)

// statuses holds every code with its HTTP status.
var statuses = map[ErrorCode]int{
	CodeInvalidRecord:  http.StatusBadRequest,
	CodeInvalidDomain:  http.StatusBadRequest,
	CodeInvalidValue:   http.StatusBadRequest,
	CodeRecordNotFound: http.StatusNotFound,
	CodeServerError:    http.StatusInternalServerError,
	CodeAuthFailed:     http.StatusUnauthorized,
	CodeTimestampStale: http.StatusUnauthorized,
	CodeNonceReused:    http.StatusUnauthorized,
	CodeRateLimited:    http.StatusTooManyRequests,
	CodeQuotaExceeded:  http.StatusForbidden,
}

// Known says whether the code is one of the protocol's. Show no other code to anybody: it is text that a stranger wrote.
func (c ErrorCode) Known() bool {
	_, known := statuses[c]
	return known
}

// Status returns the HTTP status that a server sends with the code; 500 for a code that is not Known.
func (c ErrorCode) Status() int {
	if status, known := statuses[c]; known {
		return status
	}
	return http.StatusInternalServerError
}
