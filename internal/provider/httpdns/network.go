package httpdns

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of the shared transport. All else is bounded by the context of each exchange.
const (
	maxHeaderBytes = 64 << 10
	// maxProxyHandshake bounds a TLS handshake through a proxy, which the transport does by itself and outside of the exchange's context.
	maxProxyHandshake = 30 * time.Second
	tlsSessions       = 64
)

// newTransport makes the transport. It speaks HTTP/1.1, so that closing the connection stops a server at once, and uses each connection
// for one exchange, for three reasons: net/http writes what a server says on an idle connection into the process's log; it repeats a GET whose kept
// connection was closed, with a nonce that the server may have seen; and a new connection always finds the server that the name leads to now.
func newTransport(options Options) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	d := dialer{connect: options.DialContext, tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: options.RootCAs,
		NextProtos: []string{"http/1.1"}, ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions)}}
	if d.connect == nil {
		d.connect = new(net.Dialer).DialContext
	}
	transport := &http.Transport{
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		TLSClientConfig:        d.tls,
		TLSHandshakeTimeout:    maxProxyHandshake,
		DisableCompression:     true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
	}
	if options.AllowProxy {
		transport.Proxy = http.ProxyFromEnvironment
	}
	return transport
}

// dialer opens the connections of a transport.
type dialer struct {
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
}

// dialKey is the key of the exchange's own context among the values of the context that a dial gets. The transport detaches dials from their
// requests, for the good of later ones; here a dial ends with its exchange.
type dialKey struct{}

func withDialContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, dialKey{}, ctx)
}

// exchangeContext returns the context of the exchange that a dial is for.
func exchangeContext(ctx context.Context) context.Context {
	if own, ok := ctx.Value(dialKey{}).(context.Context); ok {
		return own
	}
	return ctx
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.connect(exchangeContext(ctx), network, address)
	if err != nil {
		return nil, err
	}
	return newPatientConn(conn), nil
}

// errTLS marks every failure of a handshake.
var errTLS = errors.New("TLS")

func (d dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx = exchangeContext(ctx)
	conn, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %w", errTLS, err)
	}
	return newPatientConn(secure), nil
}

// patientConn reads nothing before something was written. A server that speaks first speaks no HTTP, and net/http would write what it says
// into the process's log.
type patientConn struct {
	net.Conn
	spoken chan struct{}
	once   sync.Once
}

func newPatientConn(conn net.Conn) *patientConn {
	return &patientConn{Conn: conn, spoken: make(chan struct{})}
}

func (c *patientConn) speak() { c.once.Do(func() { close(c.spoken) }) }

func (c *patientConn) Read(p []byte) (int, error) {
	<-c.spoken
	return c.Conn.Read(p)
}

func (c *patientConn) Write(p []byte) (int, error) {
	c.speak()
	return c.Conn.Write(p)
}

func (c *patientConn) Close() error {
	c.speak()
	return c.Conn.Close()
}

// observed is what happened in one exchange. The hook runs on a goroutine of the transport, maybe after the exchange has ended.
type observed struct{ answered atomic.Bool }

// trace returns ctx with the hook that fills o.
func (o *observed) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { o.answered.Store(true) }})
}

// cause reduces an error of the transport, or one from reading a body, to the closed set. The error's own text may come from the server.
func (o *observed) cause(ctx context.Context, err error) cause {
	var dnsError *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return causeCancelled
	case errors.As(err, &dnsError):
		return causeUnresolved
	case ctx.Err() != nil || isTimeout(err):
		return causeTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return causeRefused
	case isTLS(err):
		return causeTLS
	case isClosed(err):
		return causeClosed
	case o.answered.Load():
		return causeNotHTTP
	}
	return causeNetwork
}

func isTimeout(err error) bool {
	var timed interface{ Timeout() bool }
	return errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &timed) && timed.Timeout())
}

// isTLS also knows the errors of a handshake through a proxy and those of a connection that is secured already.
func isTLS(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		header      tls.RecordHeaderError
		alert       tls.AlertError
	)
	return errors.Is(err, errTLS) || errors.As(err, &certificate) || errors.As(err, &header) || errors.As(err, &alert)
}

func isClosed(err error) bool {
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE} {
		if errors.Is(err, closed) {
			return true
		}
	}
	return false
}
