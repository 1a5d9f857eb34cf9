package httpdns

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
)

const (
	// shortTimeout is the target's where a server never finishes.
	shortTimeout = 150 * time.Millisecond
	// longTimeout is the target's where the answer has to be refused for what it is, before the time is over.
	longTimeout = 20 * time.Second
	// slack is what a busy machine may add.
	slack = 5 * time.Second
)

// countingDial counts the bytes that a client reads.
func countingDial(read *atomic.Int64) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countingConn{Conn: conn, read: read}, nil
	}
}

type countingConn struct {
	net.Conn
	read *atomic.Int64
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// drip writes a piece again and again until the client is gone; slowly, or as fast as it can.
func drip(conn net.Conn, piece string, pause time.Duration) {
	ticker := time.NewTicker(max(pause, 1))
	defer ticker.Stop()
	for {
		if pause > 0 {
			<-ticker.C
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			return
		}
	}
}

func closeWrite(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// gzipBomb is a gzip stream of 64 MiB of JSON in 64 KiB.
func gzipBomb(t *testing.T) string {
	t.Helper()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	for range 64 {
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return compressed.String()
}

// TestHostileServers sends every operation to servers that break every rule. Each ends in the same error of the closed set, in time, with little read.
func TestHostileServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n" + jsonHeader
	kib := strings.Repeat("x", 1<<10)
	bomb := gzipBomb(t)
	tests := map[string]struct {
		run    script
		slow   bool // the server never finishes: the target's timeout ends it
		want   cause
		status int
		code   dnsserverv1.ErrorCode
	}{
		"no answer":        {func(c net.Conn, _ *http.Request) { untilGone(c) }, true, causeTimeout, 0, ""},
		"slow status line": {func(c net.Conn, _ *http.Request) { write(c, "HTTP/1.1 "); drip(c, "2", 5*time.Millisecond) }, true, causeTimeout, 0, ""},
		"slow header":      {func(c net.Conn, _ *http.Request) { write(c, ok); drip(c, "X-A: "+leak+"\r\n", 5*time.Millisecond) }, true, causeTimeout, 0, ""},
		"slow body": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Content-Length: 1000000\r\n\r\n{")
			drip(c, " ", 5*time.Millisecond)
		}, true, causeTimeout, 200, ""},
		"slow body without end": {func(c net.Conn, _ *http.Request) { write(c, ok+"\r\n{"); drip(c, " ", 5*time.Millisecond) }, true, causeTimeout, 200, ""},
		"slow chunks": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			drip(c, "1\r\n \r\n", 5*time.Millisecond)
		}, true, causeTimeout, 200, ""},
		"slow trailer": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n")
			drip(c, "X", 50*time.Millisecond)
		}, true, causeTimeout, 200, ""},
		"slow body of an error": {func(c net.Conn, _ *http.Request) {
			write(c, "HTTP/1.1 500 X\r\n\r\n")
			drip(c, leak, 5*time.Millisecond)
		}, true, causeTimeout, 500, ""},
		"slow 1xx":               {func(c net.Conn, _ *http.Request) { drip(c, "HTTP/1.1 103 X\r\n\r\n", 5*time.Millisecond) }, true, causeTimeout, 0, ""},
		"body stops, stays open": {func(c net.Conn, _ *http.Request) { write(c, ok+"Content-Length: 50\r\n\r\n{"); untilGone(c) }, true, causeTimeout, 200, ""},
		"flood of 1xx":           {func(c net.Conn, _ *http.Request) { drip(c, "HTTP/1.1 103 X\r\nLink: "+leak+"\r\n\r\n", 0) }, false, causeNotHTTP, 0, ""},
		"flood of 100":           {func(c net.Conn, _ *http.Request) { drip(c, "HTTP/1.1 100 Continue\r\n\r\n", 0) }, false, causeNotHTTP, 0, ""},
		"endless header":         {func(c net.Conn, _ *http.Request) { write(c, ok); drip(c, "X-A: "+leak+"\r\n", 0) }, false, causeNotHTTP, 0, ""},
		"endless header line":    {func(c net.Conn, _ *http.Request) { write(c, ok+"X-A: "); drip(c, leak, 0) }, false, causeNotHTTP, 0, ""},
		"endless status line":    {func(c net.Conn, _ *http.Request) { drip(c, leak, 0) }, false, causeNotHTTP, 0, ""},
		"10 GiB, announced":      {func(c net.Conn, _ *http.Request) { write(c, ok+"Content-Length: 10737418240\r\n\r\n"); drip(c, kib, 0) }, false, causeTooLarge, 200, ""},
		"10 GiB, chunked": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			drip(c, "400\r\n"+kib+"\r\n", 0)
		}, false, causeTooLarge, 200, ""},
		"10 GiB, in one chunk": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Transfer-Encoding: chunked\r\n\r\n280000000\r\n")
			drip(c, kib, 0)
		}, false, causeTooLarge, 200, ""},
		"10 GiB, until the end":  {func(c net.Conn, _ *http.Request) { write(c, ok+"\r\n"); drip(c, kib, 0) }, false, causeTooLarge, 200, ""},
		"10 GiB with status 500": {func(c net.Conn, _ *http.Request) { write(c, "HTTP/1.1 500 X\r\n\r\n"); drip(c, leak, 0) }, false, causeTooLarge, 500, ""},
		"chunk extensions": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			drip(c, "1;"+kib+"\r\n \r\n", 0)
		}, false, causeNotHTTP, 200, ""},
		"gzip bomb":                {respond(200, jsonHeader+"Content-Encoding: gzip\r\n", bomb), false, causeNotJSON, 200, ""},
		"deeply nested JSON":       {respond(200, jsonHeader, strings.Repeat(`{"error":`, 100_000)), false, causeNotJSON, 200, ""},
		"deeply nested details":    {respond(200, jsonHeader, `{"error":{"details":`+strings.Repeat("[", 1<<19)), false, causeNotJSON, 200, ""},
		"not JSON":                 {respond(200, jsonHeader, leak), false, causeNotJSON, 200, ""},
		"HTML":                     {respond(200, "Content-Type: text/html\r\n", "<p>"+leak), false, causeContentType, 200, ""},
		"JSON that is called text": {respond(200, "Content-Type: text/plain\r\n", wwwAnswer), false, causeContentType, 200, ""},
		"trailing garbage":         {respond(200, jsonHeader, `{"success":true,"status":"healthy"}`+leak), false, causeNotJSON, 200, ""},
		"empty":                    {respond(200, jsonHeader, ""), false, causeNotJSON, 200, ""},
		"redirect to itself":       {respond(302, "Location: /health\r\n", ""), false, causeRedirect, 302, ""},
		"redirect, endless body":   {func(c net.Conn, _ *http.Request) { write(c, "HTTP/1.1 307 X\r\nLocation: /\r\n\r\n"); drip(c, leak, 0) }, false, causeRedirect, 307, ""},
		"other protocol":           {say("HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: " + leak + "\r\n\r\n" + leak), false, causeStatus, 101, ""},
		"500":                      {respond(500, jsonHeader, errorBody("SERVER_ERROR")), false, causeFailed, 500, "SERVER_ERROR"},
		"500 without JSON":         {respond(500, "", leak), false, causeFailed, 500, ""},
		"401":                      {respond(401, jsonHeader, errorBody("NONCE_REUSED")), false, causeSignature, 401, "NONCE_REUSED"},
		"401 with an odd code":     {respond(401, jsonHeader, errorBody(leak)), false, causeSignature, 401, ""},
		"403":                      {respond(403, jsonHeader, errorBody("QUOTA_EXCEEDED")), false, causeQuota, 403, "QUOTA_EXCEEDED"},
		"400":                      {respond(400, jsonHeader, errorBody("INVALID_VALUE")), false, causeInvalid, 400, "INVALID_VALUE"},
		"closed at once":           {say(""), false, causeClosed, 0, ""},
		"closed in the status":     {say("HTTP/1.1 20"), false, causeNotHTTP, 0, ""},
		"closed in the header":     {say(ok + "Content-Le"), false, causeNotHTTP, 0, ""},
		"closed in the body":       {say(ok + "Content-Length: 100\r\n\r\n" + `{"success":true`), false, causeClosed, 200, ""},
		"closed in a chunk":        {say(ok + "Transfer-Encoding: chunked\r\n\r\n64\r\n" + leak), false, causeClosed, 200, ""},
		"closed before last chunk": {say(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n"), false, causeClosed, 200, ""},
		"closed in a 404":          {say("HTTP/1.1 404 X\r\n" + jsonHeader + "Content-Length: 100\r\n\r\n{"), false, causeClosed, 404, ""},
		"half-closed": {func(c net.Conn, _ *http.Request) {
			write(c, ok+"Content-Length: 100\r\n\r\n{")
			closeWrite(c)
			untilGone(c)
		}, false, causeClosed, 200, ""},
		"half-closed at once": {func(c net.Conn, _ *http.Request) { closeWrite(c); untilGone(c) }, false, causeClosed, 0, ""},
		"reset": {func(c net.Conn, _ *http.Request) {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}, false, causeClosed, 0, ""},
		"SSH":                  {say("SSH-2.0-" + leak + "\r\n"), false, causeNotHTTP, 0, ""},
		"HTTP/2":               {say("\x00\x00\x12\x04\x00\x00\x00\x00\x00" + leak + "\r\n"), false, causeNotHTTP, 0, ""},
		"odd status":           {say("HTTP/1.1 " + leak + "\r\n\r\n"), false, causeNotHTTP, 0, ""},
		"status of two digits": {say("HTTP/1.1 20 OK\r\n\r\n"), false, causeNotHTTP, 0, ""},
		"odd header":           {say(ok + leak + "\r\n\r\n"), false, causeNotHTTP, 0, ""},
		"two lengths":          {say(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"), false, causeNotHTTP, 0, ""},
		"negative length":      {say(ok + "Content-Length: -1\r\n\r\n{}"), false, causeNotHTTP, 0, ""},
		"odd chunk size":       {say(ok + "Transfer-Encoding: chunked\r\n\r\n" + leak + "\r\n"), false, causeNotHTTP, 200, ""},
		"odd transfer coding":  {say(ok + "Transfer-Encoding: " + leak + "\r\n\r\n"), false, causeNotHTTP, 0, ""},
		"more than it says":    {say(ok + "Content-Length: 4\r\n\r\nnull" + leak), false, causeUnsuccessful, 200, ""},
	}
	for name, tc := range tests {
		for operation, call := range operations(t) {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel()
				var read atomic.Int64
				server, timeout := serve(t, tc.run), longTimeout
				if tc.slow {
					timeout = shortTimeout
				}
				client := signedClient(t, server.url, timeout, Options{DialContext: countingDial(&read)})
				start := time.Now()
				err := call(t.Context(), client)
				took := time.Since(start)
				expected := tc.want
				if expected == causeUnsuccessful && operation == "Health" {
					expected = causeUnhealthy // null says neither
				}
				want(t, err, expected, tc.status, tc.code)
				if tc.slow && (took < timeout || !errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("ended after %v with %v, want the timeout", took, err)
				}
				if !tc.slow {
					timeout = 0
				}
				if took > timeout+slack {
					t.Errorf("took %v", took)
				}
				if n := read.Load(); n > dnsserverv1.MaxBodyBytes+128<<10 {
					t.Errorf("read %d bytes", n)
				}
				if n := server.count(); n != 1 {
					t.Errorf("%d requests were sent", n)
				}
			})
		}
	}
}

// TestRedirectIsNotFollowed holds that the server that a redirect leads to never hears of it.
func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for operation, call := range operations(t) {
			t.Run(fmt.Sprint(status, operation), func(t *testing.T) {
				other := serve(t, respond(200, jsonHeader, wwwAnswer))
				server := serve(t, respond(status, "Location: "+other.url+"/health\r\n", ""))
				want(t, call(t.Context(), signedClient(t, server.url, longTimeout, Options{})), causeRedirect, status, "")
				if other.count() != 0 {
					t.Error("the redirect was followed")
				}
			})
		}
	}
}

// TestRateLimited reads Retry-After in both forms from a real answer.
func TestRateLimited(t *testing.T) {
	now := time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC)
	tests := map[string]time.Duration{
		"": 0, "Retry-After: 120\r\n": 2 * time.Minute, "Retry-After: 999999\r\n": time.Hour, "Retry-After: " + leak + "\r\n": 0,
		"Retry-After: Tue, 30 Dec 2025 10:00:45 GMT\r\n": 45 * time.Second,
	}
	for header, wait := range tests {
		for operation, call := range operations(t) {
			t.Run(header+operation, func(t *testing.T) {
				server := serve(t, respond(429, jsonHeader+header, errorBody("RATE_LIMITED")))
				err := call(t.Context(), signedClient(t, server.url, longTimeout, Options{Clock: func() time.Time { return now }}))
				want(t, err, causeRateLimited, 429, "RATE_LIMITED")
				var failed *Error
				if errors.As(err, &failed); failed.RetryAfter != wait {
					t.Errorf("RetryAfter %v, want %v", failed.RetryAfter, wait)
				}
			})
		}
	}
}

// TestUnreachable never gets as far as a request.
func TestUnreachable(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + refusing.Addr().String()
	if err := refusing.Close(); err != nil {
		t.Fatal(err)
	}
	var dialing atomic.Int64
	failing := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	blackHole := func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialing.Add(1)
		defer dialing.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	silent := "https://" + listen(t, untilGone)
	plain := serve(t, respond(200, jsonHeader, wwwAnswer))
	hangUp := "https://" + listen(t, func(net.Conn) {})
	secure := tlsServer(t, nil)
	tests := map[string]struct {
		url     string
		options Options
		want    cause
	}{
		"refused":                    {refused, Options{}, causeRefused},
		"no such name":               {"http://dns.example.com", Options{DialContext: failing(&net.DNSError{Err: leak, Name: leak, IsNotFound: true})}, causeUnresolved},
		"resolver does not answer":   {"http://dns.example.com", Options{DialContext: failing(&net.DNSError{Err: leak, Name: leak, IsTimeout: true})}, causeUnresolved},
		"anything else":              {"http://dns.example.com", Options{DialContext: failing(errors.New(leak))}, causeNetwork},
		"black hole":                 {"http://dns.example.com", Options{DialContext: blackHole}, causeTimeout},
		"black hole, TLS":            {"https://dns.example.com", Options{DialContext: blackHole}, causeTimeout},
		"handshake is not answered":  {silent, Options{}, causeTimeout},
		"closed in the handshake":    {hangUp, Options{}, causeTLS},
		"https to a server of http":  {strings.Replace(plain.url, "http:", "https:", 1), Options{}, causeTLS},
		"certificate is not trusted": {secure.URL, Options{}, causeTLS},
		"certificate of another":     {strings.Replace(secure.URL, "127.0.0.1", "dns.example.org", 1), Options{RootCAs: roots(secure), DialContext: to(secure.Listener.Addr().String())}, causeTLS},
	}
	for name, tc := range tests {
		for operation, call := range operations(t) {
			t.Run(name+"/"+operation, func(t *testing.T) {
				timeout := longTimeout
				if tc.want == causeTimeout {
					timeout = shortTimeout
				}
				start := time.Now()
				err := call(t.Context(), signedClient(t, tc.url, timeout, tc.options))
				want(t, err, tc.want, 0, "")
				if took := time.Since(start); took > shortTimeout+slack {
					t.Errorf("took %v", took)
				}
			})
		}
	}
	for deadline := time.Now().Add(longTimeout); dialing.Load() > 0; <-time.After(time.Millisecond) { // a dial ends with its exchange, which may not wait for it
		if time.Now().After(deadline) {
			t.Fatalf("%d dials go on", dialing.Load())
		}
	}
}

// to dials one address, whatever is asked for.
func to(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// TestPlainHTTPToTLS is the mistake of http:// for a port that speaks TLS.
func TestPlainHTTPToTLS(t *testing.T) {
	secure := tlsServer(t, nil)
	url := strings.Replace(secure.URL, "https:", "http:", 1)
	for operation, call := range operations(t) {
		t.Run(operation, func(t *testing.T) {
			err := call(t.Context(), signedClient(t, url, longTimeout, Options{}))
			checkClosed(t, err)
			var failed *Error
			// Go's server answers 400 and closes; when it closes while it has not read all, its system may take the answer back.
			if !errors.As(err, &failed) || (failed.Kind != Invalid && failed.message != causeClosed.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCancelled ends an exchange because its caller goes away.
func TestCancelled(t *testing.T) {
	for operation, call := range operations(t) {
		t.Run(operation, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			server := serve(t, func(conn net.Conn, _ *http.Request) {
				cancel(errors.New(leak))
				untilGone(conn)
			})
			err := call(ctx, signedClient(t, server.url, longTimeout, Options{}))
			want(t, err, causeCancelled, 0, "")
			if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v is not context.Canceled alone", err)
			}
		})
	}
}

// TestSlowServerDelaysNoOther talks to a good server while many requests to another one hang.
func TestSlowServerDelaysNoOther(t *testing.T) {
	const requests = 30
	factory := NewFactory(Options{})
	arrived := make(chan struct{}, requests)
	slow := serve(t, func(conn net.Conn, _ *http.Request) {
		arrived <- struct{}{}
		untilGone(conn)
	})
	good := serve(t, respond(200, jsonHeader, `{"status":"healthy"}`))
	ctx, cancel := context.WithCancel(t.Context())
	hanging := factory.Client(Target{Server: mustURL(t, slow.url), Timeout: time.Hour})
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() {
			if err := hanging.Health(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("a hanging request ended with %v", err)
			}
		})
	}
	for range requests {
		<-arrived
	}
	client := factory.Client(Target{Server: mustURL(t, good.url), Timeout: slack})
	for range 10 {
		if err := client.Health(t.Context()); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
}

// TestTimeoutIsForTheWholeExchange gives header and body less than the timeout each, and both together more.
func TestTimeoutIsForTheWholeExchange(t *testing.T) {
	const timeout, part = 300 * time.Millisecond, 200 * time.Millisecond
	server := serve(t, func(conn net.Conn, _ *http.Request) {
		<-time.After(part)
		write(conn, "HTTP/1.1 200 OK\r\n"+jsonHeader+"\r\n")
		<-time.After(part)
		write(conn, wwwAnswer)
	})
	err := signedClient(t, server.url, timeout, Options{}).Delete(t.Context(), wwwID(t))
	checkClosed(t, err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the timeout", err)
	}
}

func tlsServer(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	if handler == nil {
		handler = http.NotFoundHandler()
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = discardLog
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}
