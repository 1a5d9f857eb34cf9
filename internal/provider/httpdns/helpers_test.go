package httpdns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

const (
	testKey = "a-key-that-nobody-may-ever-see"
	// leak is what hostile servers write wherever they can.
	leak = "LEAK-what-the-server-wrote"
)

func mustURL(t testing.TB, text string) endpoint.URL {
	t.Helper()
	u, err := endpoint.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func mustName(t testing.TB, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func mustSet(t testing.TB, spec record.Spec) *record.RRset {
	t.Helper()
	set, problems := record.Parse(spec)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

func wwwSet(t testing.TB) *record.RRset {
	return mustSet(t, record.Spec{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.2", "192.0.2.1"}, TTL: 600})
}

func wwwID(t testing.TB) ID {
	return ID{Type: record.A, Domain: mustName(t, "example.com"), Subdomain: "www"}
}

// wwwAnswer is a good answer to upsert, delete and get of wwwSet.
const wwwAnswer = `{"success":true,"record":{"type":"A","domain":"example.com","subdomain":"www","fqdn":"www.example.com","values":["192.0.2.1","192.0.2.2"],"ttl":600}}`

// script answers one request on a connection of its own; it may break every rule. When it returns, the connection is closed.
type script func(conn net.Conn, r *http.Request)

// scripted is a server on 127.0.0.1 that runs a script for each connection.
type scripted struct {
	url      string
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// serve starts a server. It is stopped at the end of the test, also in the middle of a script: whatever the script waits for on its connection fails then.
func serve(t testing.TB, run script) *scripted {
	t.Helper()
	s := &scripted{}
	s.url = "http://" + listen(t, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
		s.mu.Unlock()
		run(conn, r)
	})
	return s
}

// count returns how many requests came.
func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// listen starts a server on 127.0.0.1 that hands over each connection, and returns its address.
func listen(t testing.TB, handle func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		conns []net.Conn
	)
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return listener.Addr().String()
}

// untilGone waits until the client closes the connection, or the test ends.
func untilGone(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// write sends text; a client that has gone is no failure.
func write(conn net.Conn, text string) { _, _ = io.WriteString(conn, text) }

// respond is a script that sends a whole, well-formed answer.
func respond(status int, header, body string) script {
	return func(conn net.Conn, _ *http.Request) {
		write(conn, fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
	}
}

const jsonHeader = "Content-Type: application/json\r\n"

// say is a script that sends bytes and closes.
func say(text string) script {
	return func(conn net.Conn, _ *http.Request) { write(conn, text) }
}

// operations are all that a client can do, reduced to their errors.
func operations(t testing.TB) map[string]func(context.Context, *Client) error {
	set, id := wwwSet(t), wwwID(t)
	return map[string]func(context.Context, *Client) error{
		"Health": func(ctx context.Context, c *Client) error { return c.Health(ctx) },
		"Upsert": func(ctx context.Context, c *Client) error { return c.Upsert(ctx, set) },
		"Delete": func(ctx context.Context, c *Client) error { return c.Delete(ctx, id) },
		"Get": func(ctx context.Context, c *Client) error {
			got, err := c.Get(ctx, id)
			if (got == nil) != (err != nil) {
				return fmt.Errorf("Get returned %v and %w", got, err)
			}
			return err
		},
	}
}

func signedClient(t testing.TB, url string, timeout time.Duration, options Options) *Client {
	t.Helper()
	return NewFactory(options).Client(Target{Server: mustURL(t, url), Timeout: timeout, Key: []byte(testKey)})
}

// suffix is what Error adds to a cause's words.
var suffix = regexp.MustCompile(` \(status \d+(, [A-Z_]+)?\)$`)

// checkClosed fails unless err is nil, one of Get's two, or an *Error that is made of known words only, in whatever way it is printed.
func checkClosed(t testing.TB, err error) {
	t.Helper()
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnsupported) {
		return
	}
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	words := suffix.ReplaceAllString(failed.Error(), "")
	known := false
	for _, c := range causes {
		known = known || (c.message == words && c.kind == failed.Kind)
	}
	if !known {
		t.Errorf("%q of kind %s is not in the closed set", words, failed.Kind)
	}
	if failed.Code != "" && !failed.Code.Known() {
		t.Errorf("code %q", failed.Code)
	}
	if failed.RetryAfter < 0 || failed.RetryAfter > time.Hour {
		t.Errorf("RetryAfter %v", failed.RetryAfter)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		text := fmt.Sprintf(verb, err)
		for _, secret := range []string{testKey, leak, "127.0.0.1"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %q: %s", verb, secret, text)
			}
		}
	}
}

// want fails unless err is the cause, with the status and the code.
func want(t testing.TB, err error, c cause, status int, code dnsserverv1.ErrorCode) {
	t.Helper()
	checkClosed(t, err)
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want %q", err, c.message)
	}
	if failed.message != c.message || failed.Kind != c.kind || failed.Status != status || failed.Code != code {
		t.Errorf("got %s: %q, status %d, code %q; want %s: %q, status %d, code %q",
			failed.Kind, failed.message, failed.Status, failed.Code, c.kind, c.message, status, code)
	}
}
