package dns

import (
	"context"
	"errors"
	"time"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// Server is what the controllers need of a DNS server. Every call ends by itself, within the timeout of its target.
type Server interface {
	// Health returns nil for a server that is healthy.
	Health(ctx context.Context) error
	// Upsert creates or replaces a record.
	Upsert(ctx context.Context, set *record.RRset) error
	// Delete removes a record; one that is not there is success.
	Delete(ctx context.Context, id httpdns.ID) error
	// Get reads a record. It returns httpdns.ErrNotFound or httpdns.ErrUnsupported where that is so.
	Get(ctx context.Context, id httpdns.ID) (*record.RRset, error)
}

// Dial returns the server of a target. It must cost nothing, and not block.
type Dial func(httpdns.Target) Server

// HTTP dials servers of the DNS server webhook protocol.
func HTTP(factory *httpdns.Factory) Dial {
	return func(target httpdns.Target) Server { return factory.Client(target) }
}

// upsert writes the record.
func upsert(ctx context.Context, server Server, set *record.RRset) Outcome {
	return Outcome{Wrote: true, Err: server.Upsert(ctx, set)}
}

// repair reads the record, and writes it where the server has another or none. Where it cannot be read, insist decides
// whether it is written all the same.
func repair(ctx context.Context, server Server, set *record.RRset, insist bool) Outcome {
	found, err := server.Get(ctx, httpdns.Of(set))
	switch {
	case err == nil && found.Equal(set):
		return Outcome{}
	case err == nil, errors.Is(err, httpdns.ErrNotFound), errors.Is(err, httpdns.ErrOtherRecord), insist:
		return upsert(ctx, server, set)
	case errors.Is(err, httpdns.ErrUnsupported):
		return Outcome{}
	}
	return Outcome{Err: err}
}

// failure is what a failed call means for the object that it was made for.
type failure struct {
	reason string
	// code is one of the protocol's.
	code    string
	message string
	// refused: the server will not take the record as it is, however often it is asked.
	refused bool
	// retryAfter is how long the server wants to be left alone; 0 if it did not say.
	retryAfter time.Duration
}

// failures holds what each kind of failure means.
var failures = map[httpdns.Kind]failure{
	httpdns.Unreachable: {reason: dnsv1alpha1.ReasonServerUnreachable},
	httpdns.Server:      {reason: dnsv1alpha1.ReasonServerError},
	httpdns.RateLimited: {reason: dnsv1alpha1.ReasonServerError},
	httpdns.Quota:       {reason: dnsv1alpha1.ReasonServerError},
	httpdns.Auth:        {reason: dnsv1alpha1.ReasonAuthenticationFailed},
	httpdns.Invalid:     {reason: dnsv1alpha1.ReasonValidationFailed, refused: true},
}

// failureOf says what the error of a call means. An error that is not one of the provider's is shown in words of our own only: nobody
// has seen to it that it holds nothing that it should not.
func failureOf(err error) failure {
	var failed *httpdns.Error
	if !errors.As(err, &failed) {
		unknown := &httpdns.Error{Kind: httpdns.Server}
		return failure{reason: dnsv1alpha1.ReasonServerError, code: unknown.ProtocolCode(), message: errPanic.Error()}
	}
	f := failures[failed.Kind]
	f.code, f.message, f.retryAfter = failed.ProtocolCode(), failed.Error(), failed.RetryAfter
	return f
}
