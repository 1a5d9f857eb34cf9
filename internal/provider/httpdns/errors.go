package httpdns

import (
	"context"
	"errors"
	"fmt"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
)

// Kind says in one word how a request failed. The set is closed, so a Kind may be the label of a metric.
type Kind string

// The kinds of failure.
const (
	// Unreachable: there is no complete answer: no connection, no name, no trust, or not in time.
	Unreachable Kind = "Unreachable"
	// Server: there is an answer, but it says that the server failed, or it is not one of the protocol's.
	Server Kind = "Server"
	// Auth: the server does not accept the signature (401) or the client (403), or the request cannot be signed.
	Auth Kind = "Auth"
	// Invalid: the server says that the record is not valid (400), or the request is none that the protocol has.
	Invalid Kind = "Invalid"
	// RateLimited: the server takes no request for now (429).
	RateLimited Kind = "RateLimited"
	// Quota: the server takes no further record (403 with QUOTA_EXCEEDED).
	Quota Kind = "Quota"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Unreachable, Server, Auth, Invalid, RateLimited, Quota} }

// What Get returns besides *Error.
var (
	// ErrNotFound: the server says that it has no such record.
	ErrNotFound = errors.New("the server has no such record")
	// ErrUnsupported: the server does not offer to read records, which the protocol allows.
	ErrUnsupported = errors.New("the server does not offer to read records")
	// ErrOtherRecord is found by errors.Is in the *Error of an answer that holds a record, but not one that anybody asked for:
	// somebody has spoilt it on the server.
	ErrOtherRecord = errors.New("the server has something else in the place of the record")
)

// Error is every other error of a Client. Its text is made of words of this package, a status and a code of the protocol, so it may be shown
// to anybody: it holds nothing that the server wrote, no part of the URL, and no part of the key.
type Error struct {
	Kind Kind
	// Code that the server sent; empty if it sent none, or none of the protocol's.
	Code dnsserverv1.ErrorCode
	// Status of the HTTP answer; 0 if there was none.
	Status int
	// RetryAfter is how long the server wants to be left alone: up to an hour, 0 if it did not say. Only 429 and 503 have it.
	RetryAfter time.Duration

	message string
}

// Error says what happened, in one sentence without a time or an ID: the same failure always has the same text.
func (e *Error) Error() string {
	switch {
	case e.Status == 0:
		return e.message
	case e.Code == "":
		return fmt.Sprintf("%s (status %d)", e.message, e.Status)
	}
	return fmt.Sprintf("%s (status %d, %s)", e.message, e.Status, e.Code)
}

// usualCode is the protocol's code for each kind of failure.
var usualCode = map[Kind]dnsserverv1.ErrorCode{
	Unreachable: dnsserverv1.CodeServerError,
	Server:      dnsserverv1.CodeServerError,
	Auth:        dnsserverv1.CodeAuthFailed,
	Invalid:     dnsserverv1.CodeInvalidRecord,
	RateLimited: dnsserverv1.CodeRateLimited,
	Quota:       dnsserverv1.CodeQuotaExceeded,
}

// ProtocolCode is Code, or the protocol's usual code for the kind where the server sent none.
func (e *Error) ProtocolCode() string {
	if e.Code != "" {
		return string(e.Code)
	}
	return string(usualCode[e.Kind])
}

// Is makes errors.Is find ErrOtherRecord as said there; context.Canceled in the error of a request that its caller cancelled, and context.DeadlineExceeded in
// that of one that took too long.
func (e *Error) Is(target error) bool {
	return (target == ErrOtherRecord && (e.message == causeOtherRecord.message || e.message == causeBadRecord.message)) ||
		(target == context.Canceled && e.message == causeCancelled.message) ||
		(target == context.DeadlineExceeded && e.message == causeTimeout.message)
}

// cause is one way to fail: its kind, and the words for it.
type cause struct {
	kind    Kind
	message string
}

// causes is every cause there is.
var causes []cause

func newCause(kind Kind, message string) cause {
	c := cause{kind, message}
	causes = append(causes, c)
	return c
}

var (
	causeRefused    = newCause(Unreachable, "the server's host refused the connection")
	causeTimeout    = newCause(Unreachable, "the server did not answer in time")
	causeUnresolved = newCause(Unreachable, "the name of the server's host cannot be resolved")
	causeTLS        = newCause(Unreachable, "no trusted TLS connection to the server: check its certificate, and http or https in its URL")
	causeClosed     = newCause(Unreachable, "the server closed the connection before its answer was complete")
	causeCancelled  = newCause(Unreachable, "the request was cancelled")
	causeNetwork    = newCause(Unreachable, "the server's host cannot be reached")

	causeNotHTTP      = newCause(Server, "the server's answer is not valid HTTP")
	causeTooLarge     = newCause(Server, "the server's answer is larger than 1 MiB")
	causeRedirect     = newCause(Server, "the server sent a redirect, which is not followed: give the URL that it leads to")
	causeStatus       = newCause(Server, "the server answered with a status that the protocol does not have here")
	causeFailed       = newCause(Server, "the server failed")
	causeContentType  = newCause(Server, "the server's answer is not of type application/json")
	causeNotJSON      = newCause(Server, "the server's answer is not the JSON of the protocol")
	causeUnhealthy    = newCause(Server, "the server says that it is not healthy")
	causeUnsuccessful = newCause(Server, "the server says that it did not succeed")
	causeOtherRecord  = newCause(Server, "the server's answer is about another record")
	causeBadRecord    = newCause(Server, "the record in the server's answer is not valid")

	causeSignature = newCause(Auth, "the server asks for a signature, or does not accept the one that it got")
	causeForbidden = newCause(Auth, "the server forbids the request")
	causeUnsigned  = newCause(Auth, "the request cannot be signed: the key is empty, or the algorithm neither SHA256 nor SHA512")

	causeInvalid  = newCause(Invalid, "the server refused the request as not valid")
	causeNoServer = newCause(Invalid, "there is no server to send the request to")
	causeNoRecord = newCause(Invalid, "type, domain and subdomain do not name a record")
	causeTooBig   = newCause(Invalid, "the record is larger than a request may be: 1 MiB")

	causeRateLimited = newCause(RateLimited, "the server takes no more requests for now")
	causeQuota       = newCause(Quota, "the server takes no further record")
)

// failure makes the Error of a cause that has no answer to it.
func failure(c cause) *Error { return &Error{Kind: c.kind, message: c.message} }
