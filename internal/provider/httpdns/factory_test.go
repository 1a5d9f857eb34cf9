package httpdns

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

var discardLog = log.New(io.Discard, "", 0)

func roots(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// verifying answers as a server does that checks signatures.
type verifying struct {
	verifier *dnsserverv1.Verifier
	mu       sync.Mutex
	nonces   map[string]bool
}

func newVerifying(t *testing.T, algorithm dnsserverv1.Algorithm, key string) *verifying {
	t.Helper()
	// The clock of the verifier is a little behind, so that a timestamp of the second in which it starts is not before its start.
	clock := func() time.Time { return time.Now().Add(-2 * time.Second) }
	verifier, err := dnsserverv1.NewVerifier(algorithm, []byte(key), dnsserverv1.VerifierOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return &verifying{verifier: verifier, nonces: map[string]bool{}}
}

func (v *verifying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = v.verifier.Verify(r, body)
	}
	w.Header().Set("Content-Type", "application/json")
	var refused *dnsserverv1.VerifyError
	if errors.As(err, &refused) {
		w.WriteHeader(refused.Code.Status())
		_, _ = io.WriteString(w, errorBody(string(refused.Code)))
		return
	}
	v.mu.Lock()
	v.nonces[r.Header.Get("X-DNS-Nonce")] = true
	v.mu.Unlock()
	_, _ = io.WriteString(w, strings.Replace(wwwAnswer, "{", `{"status":"healthy",`, 1))
}

// TestSignaturesVerify sends every operation to servers that verify, over http and https, with and without a base path.
func TestSignaturesVerify(t *testing.T) {
	for _, algorithm := range []dnsserverv1.Algorithm{dnsserverv1.SHA256, dnsserverv1.SHA512} {
		for _, base := range []string{"", "/dns/v1"} {
			v := newVerifying(t, algorithm, testKey)
			plain := httptest.NewServer(v)
			t.Cleanup(plain.Close)
			secure := tlsServer(t, v)
			count := 0
			for _, server := range []*httptest.Server{plain, secure} {
				factory := NewFactory(Options{RootCAs: roots(secure)})
				for operation, call := range operations(t) {
					t.Run(fmt.Sprint(algorithm, base, operation), func(t *testing.T) {
						target := Target{Server: mustURL(t, server.URL+base), Timeout: longTimeout, Key: []byte(testKey), Algorithm: algorithm}
						client := factory.Client(target)
						clear(target.Key) // the client has a copy
						if err := call(t.Context(), client); err != nil {
							t.Error(err)
						}
						count++

						target.Key = []byte(testKey + "\n")
						want(t, call(t.Context(), factory.Client(target)), causeSignature, 401, "AUTH_FAILED")
						target.Key = nil
						want(t, call(t.Context(), factory.Client(target)), causeSignature, 401, "AUTH_FAILED")
					})
				}
			}
			if len(v.nonces) != count {
				t.Errorf("%d nonces in %d requests", len(v.nonces), count)
			}
		}
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.Config.ErrorLog = discardLog
	server.StartTLS()
	t.Cleanup(server.Close)
	want(t, signedClient(t, server.URL, longTimeout, Options{RootCAs: roots(server)}).Health(t.Context()), causeTLS, 0, "")
}

// TestRequestsThatAreNotSent are refused before any connection is opened.
func TestRequestsThatAreNotSent(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		t.Error("a connection was opened")
		return nil, errors.New("none")
	}
	factory := NewFactory(Options{DialContext: dial})
	server := mustURL(t, "http://dns.example.com")
	ctx := t.Context()
	for operation, call := range operations(t) {
		t.Run(operation, func(t *testing.T) {
			want(t, call(ctx, factory.Client(Target{})), causeNoServer, 0, "")
			want(t, call(ctx, factory.Client(Target{Server: server, Key: []byte{}})), causeUnsigned, 0, "")
			want(t, call(ctx, factory.Client(Target{Server: server, Key: []byte(testKey), Algorithm: "MD5"})), causeUnsigned, 0, "")
		})
	}
	client := factory.Client(Target{Server: server})
	good := wwwID(t)
	for name, change := range map[string]func(*ID){
		"no type":              func(id *ID) { id.Type = "" },
		"unknown type":         func(id *ID) { id.Type = "../A" },
		"no domain":            func(id *ID) { id.Domain = dnsname.Name{} },
		"root":                 func(id *ID) { id.Domain = dnsname.Root },
		"no subdomain":         func(id *ID) { id.Subdomain = "" },
		"dots":                 func(id *ID) { id.Subdomain = ".." },
		"path":                 func(id *ID) { id.Subdomain = "a/b" },
		"upper case":           func(id *ID) { id.Subdomain = "WWW" },
		"too long for a name":  func(id *ID) { id.Subdomain = strings.Repeat("a.", 125) + "a" },
		"dot at the end":       func(id *ID) { id.Subdomain = "www." },
		"wildcard in the rest": func(id *ID) { id.Subdomain = "a.*" },
	} {
		t.Run(name, func(t *testing.T) {
			id := good
			change(&id)
			want(t, client.Delete(ctx, id), causeNoRecord, 0, "")
			_, err := client.Get(ctx, id)
			want(t, err, causeNoRecord, 0, "")
		})
	}
	if _, ok := good.owner(); !ok {
		t.Error("the ID that these tests start from is refused itself")
	}
}

// proxyTest is set in the process that TestProxy starts.
const proxyTest = "NAMEGATE_PROXY_TEST"

// TestProxy runs TestProxyInOwnProcess in a process of its own: net/http reads the environment once in the life of a process.
func TestProxy(t *testing.T) {
	proxy := serve(t, respond(200, jsonHeader, `{"status":"healthy"}`))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyInOwnProcess$", "-test.v")
	cmd.Env = append(os.Environ(), proxyTest+"=1", "HTTP_PROXY="+proxy.url, "http_proxy="+proxy.url, "NO_PROXY=", "no_proxy=", "REQUEST_METHOD=")
	if output, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(output), "--- PASS: TestProxyInOwnProcess") {
		t.Fatalf("%v\n%s", err, output)
	}
	if proxy.count() != 1 || proxy.requests[0].RequestURI != "http://dns.example.com/base/health" {
		t.Errorf("the proxy got %d requests, want one, for the server", proxy.count())
	}
}

// TestProxyInOwnProcess is the part of TestProxy that needs an environment of its own; in any other process there is nothing for it to do.
func TestProxyInOwnProcess(t *testing.T) {
	if os.Getenv(proxyTest) == "" {
		return
	}
	target := Target{Server: mustURL(t, "http://dns.example.com/base"), Key: []byte(testKey), Timeout: longTimeout}

	var direct []string
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		direct = append(direct, address)
		return nil, errors.New("none")
	}
	want(t, NewFactory(Options{DialContext: dial}).Client(target).Health(t.Context()), causeNetwork, 0, "")
	if len(direct) != 1 || direct[0] != "dns.example.com:80" {
		t.Errorf("dialled %q, want only the server itself", direct)
	}
	if err := NewFactory(Options{AllowProxy: true}).Client(target).Health(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestUserAgent(t *testing.T) {
	server := serve(t, respond(200, jsonHeader, `{"status":"healthy"}`))
	if err := signedClient(t, server.url, 0, Options{UserAgent: "namegate/1.2.3"}).Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := server.requests[0].UserAgent(); got != "namegate/1.2.3" {
		t.Errorf("User-Agent %q", got)
	}
}

// TestPatientConn holds back what a server says first: net/http would write it into the process's log.
func TestPatientConn(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	conn := newPatientConn(ours)
	read := make(chan string)
	go func() {
		buffer := make([]byte, 64)
		n, _ := conn.Read(buffer)
		read <- string(buffer[:n])
	}()
	if err := theirs.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := io.WriteString(theirs, "too early"); err == nil || n != 0 {
		t.Fatalf("%d bytes were read before anything was written", n)
	}
	if err := theirs.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = conn.Write([]byte("x")) }()
	if _, err := theirs.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(theirs, "answer") }()
	if got := <-read; got != "answer" {
		t.Errorf("read %q", got)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestPatientConnClose(t *testing.T) {
	ours, theirs := net.Pipe()
	conn := newPatientConn(ours)
	done := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		done <- err
	}()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a read of a closed connection succeeded")
	}
	_ = theirs.Close()
}

// TestServerThatSpeaksFirst also relies on TestMain, which fails if the banner reached the process's log.
func TestServerThatSpeaksFirst(t *testing.T) {
	address := listen(t, func(conn net.Conn) {
		write(conn, "220 "+leak+"\r\n")
		untilGone(conn)
	})
	for range 50 {
		want(t, signedClient(t, "http://"+address, longTimeout, Options{}).Health(t.Context()), causeNotHTTP, 0, "")
	}
}

// TestNothingShowsTheKey prints target, client and factory in every way.
func TestNothingShowsTheKey(t *testing.T) {
	target := Target{Server: mustURL(t, "https://dns.example.com/base"), Key: []byte(testKey), Timeout: time.Second}
	factory := NewFactory(Options{})
	client := factory.Client(target)
	var texts []string
	for _, value := range []any{target, &target, client, *client, struct{ T Target }{target}, []Target{target}, factory} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
			texts = append(texts, fmt.Sprintf(verb, value))
		}
		text, err := json.Marshal(value)
		if err == nil {
			texts = append(texts, string(text))
		}
		var logged strings.Builder
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("m", "v", value)
		slog.New(slog.NewTextHandler(&logged, nil)).Info("m", "v", value)
		texts = append(texts, logged.String())
	}
	decimals := strings.Trim(fmt.Sprintf("%d", []byte(testKey)), "[]")
	forms := []string{testKey, decimals, strings.ReplaceAll(decimals, " ", ", "), fmt.Sprintf("%x", testKey), fmt.Sprintf("%#v", []byte(testKey))[8:40], marshal(t, []byte(testKey))}
	for _, text := range texts {
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("the key is in %q", text)
			}
		}
	}
	if got := fmt.Sprint(target); got != "{https://dns.example.com/base 1s signed}" {
		t.Errorf("target is shown as %q", got)
	}
	if got := fmt.Sprint(Target{}); got != "{ 0s unsigned}" {
		t.Errorf("empty target is shown as %q", got)
	}
}

// TestCauses holds that the closed set is what it says: every kind is used, no text twice, and no cause without words.
func TestCauses(t *testing.T) {
	kinds, texts := map[Kind]bool{}, map[string]bool{}
	for _, c := range causes {
		if texts[c.message] || c.message == "" {
			t.Errorf("%q is there twice, or empty", c.message)
		}
		kinds[c.kind], texts[c.message] = true, true
	}
	if len(kinds) != len(Kinds()) {
		t.Errorf("causes of %d kinds, want %d", len(kinds), len(Kinds()))
	}
	for _, kind := range Kinds() {
		if !kinds[kind] {
			t.Errorf("no cause is of kind %s", kind)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := failure(causeFailed)
	for _, tc := range []struct {
		status int
		code   dnsserverv1.ErrorCode
		want   string
	}{
		{0, "", "the server failed"},
		{502, "", "the server failed (status 502)"},
		{500, dnsserverv1.CodeServerError, "the server failed (status 500, SERVER_ERROR)"},
	} {
		e.Status, e.Code = tc.status, tc.code
		if got := e.Error(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestSpecRoundTrip holds that Wire and Spec are each other's inverse for every type.
func TestSpecRoundTrip(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	values := map[record.Type]string{record.A: "192.0.2.1", record.AAAA: "2001:db8::1", record.CNAME: "a.example.org", record.TXT: "text",
		record.MX: ".", record.SRV: "a.example.org", record.NS: "ns.example.org"}
	for _, typ := range record.Types() {
		spec := record.Spec{Type: string(typ), Domain: "example.com", Subdomain: "_a._b", Values: []string{values[typ]}, TTL: 7}
		if typ == record.MX || typ == record.SRV {
			spec.Priority = number(0)
		}
		if typ == record.SRV {
			spec.Weight, spec.Port = number(65535), number(1)
		}
		set := mustSet(t, spec)
		wire := Wire(set)
		if (wire.Metadata != nil) != (typ == record.MX || typ == record.SRV) || wire.FQDN != "" {
			t.Errorf("%s on the wire: %+v", typ, wire)
		}
		if back := mustSet(t, Spec(wire)); !back.Equal(set) {
			t.Errorf("%s comes back as %+v", typ, back)
		}
	}
}

func TestDefaultTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{0, -1} {
		if got := NewFactory(Options{}).Client(Target{Server: endpoint.URL{}, Timeout: timeout}).timeout; got != 30*time.Second {
			t.Errorf("timeout %v", got)
		}
	}
}

// TestErrOtherRecord holds that exactly the answers with another record, or one that is none, can be told from other failures.
func TestErrOtherRecord(t *testing.T) {
	for _, c := range causes {
		want := c == causeOtherRecord || c == causeBadRecord
		if got := errors.Is(failure(c), ErrOtherRecord); got != want {
			t.Errorf("%s: %v, want %v", c.message, got, want)
		}
	}
}

// TestProtocolCode holds that every failure has a code of the protocol, the server's own first.
func TestProtocolCode(t *testing.T) {
	for _, kind := range Kinds() {
		if code := dnsserverv1.ErrorCode((&Error{Kind: kind}).ProtocolCode()); !code.Known() {
			t.Errorf("%s without a code has %q, which the protocol does not know", kind, code)
		}
	}
	if got := (&Error{Kind: Auth, Code: dnsserverv1.CodeNonceReused}).ProtocolCode(); got != "NONCE_REUSED" {
		t.Errorf("the server's code is not kept: %q", got)
	}
}
