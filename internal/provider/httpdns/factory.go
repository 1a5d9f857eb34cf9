// Package httpdns is the client of the DNS server webhook protocol (api/dnsserver/v1). It trusts no server: every exchange ends
// within the target's timeout, reads at most 1 MiB, follows no redirect, and every failure is one of a closed set
// that holds nothing the server wrote.
package httpdns

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/endpoint"
)

// DefaultTimeout is the timeout of a Target that has none.
const DefaultTimeout = 30 * time.Second

// DefaultUserAgent is the User-Agent header where Options has none.
const DefaultUserAgent = "namegate"

// Options are the settings that all clients of a Factory share. The zero value is fit for production.
type Options struct {
	// AllowProxy lets requests go through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. Without it they go to the server itself.
	AllowProxy bool
	// UserAgent is sent with every request; DefaultUserAgent if empty.
	UserAgent string
	// RootCAs are the authorities that servers' certificates are checked against; the system's if nil.
	RootCAs *x509.CertPool
	// Clock returns the time for timestamps and for Retry-After dates; time.Now if nil.
	Clock func() time.Time
	// DialContext opens connections; a net.Dialer's if nil.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Factory makes clients that share one transport. It is safe for concurrent use, and needs no closing: it keeps no connection.
type Factory struct {
	transport *http.Transport
	userAgent string
	clock     func() time.Time
}

// NewFactory returns a factory. One is enough for a process.
func NewFactory(options Options) *Factory {
	f := &Factory{transport: newTransport(options), userAgent: options.UserAgent, clock: options.Clock}
	if f.userAgent == "" {
		f.userAgent = DefaultUserAgent
	}
	if f.clock == nil {
		f.clock = time.Now
	}
	return f
}

// Target is one server, and how to speak to it.
type Target struct {
	Server endpoint.URL
	// Timeout bounds each exchange as a whole, from the look-up of the host's name to the last byte of the body; DefaultTimeout if not positive.
	Timeout time.Duration
	// Key signs the requests. Nil sends them unsigned; an empty one that is not nil is refused, because nobody means it. Its bytes are used untrimmed.
	Key []byte `json:"-"`
	// Algorithm of the signature; SHA256 if empty.
	Algorithm dnsserverv1.Algorithm
}

// Format writes the target without its key, whatever the verb.
func (t Target) Format(s fmt.State, _ rune) {
	signed := "unsigned"
	if t.Key != nil {
		signed = "signed"
	}
	_, _ = io.WriteString(s, "{"+t.Server.String()+" "+t.Timeout.String()+" "+signed+"}")
}

// Client returns a client of one server. It costs nothing to make, needs no closing, and is safe for concurrent use. The key is copied.
func (f *Factory) Client(target Target) *Client {
	if target.Timeout <= 0 {
		target.Timeout = DefaultTimeout
	}
	return &Client{factory: f, server: target.Server, timeout: target.Timeout, sign: f.signer(target)}
}

// signer returns what signs a request. It holds the key in a closure, so that printing a Client shows no key.
func (f *Factory) signer(target Target) func(req *http.Request, body []byte) error {
	if target.Key == nil {
		return func(*http.Request, []byte) error { return nil }
	}
	key, algorithm := bytes.Clone(target.Key), target.Algorithm
	if algorithm == "" {
		algorithm = dnsserverv1.SHA256
	}
	return func(req *http.Request, body []byte) error {
		return dnsserverv1.SignRequest(req, algorithm, key, body, f.clock())
	}
}
