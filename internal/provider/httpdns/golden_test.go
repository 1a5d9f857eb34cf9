package httpdns

import (
	"context"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/record"
)

// recordWire runs one call against a server that keeps every byte of the request, and answers 200.
func recordWire(t *testing.T, base string, key []byte, algorithm dnsserverv1.Algorithm, call func(context.Context, *Client) error) (wire, host string) {
	t.Helper()
	got := make(chan string, 1)
	host = listen(t, func(conn net.Conn) {
		var text []byte
		for buffer := make([]byte, 4096); !complete(string(text)); {
			n, err := conn.Read(buffer)
			text = append(text, buffer[:n]...)
			if err != nil {
				break
			}
		}
		got <- string(text)
		body := `{"success":true,"status":"healthy"}`
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+jsonHeader+"Connection: close\r\n\r\n"+body)
	})
	now := func() time.Time { return time.Date(2025, 12, 30, 10, 0, 0, 5, time.UTC) }
	client := NewFactory(Options{Clock: now}).Client(Target{Server: mustURL(t, "http://"+host+base), Key: key, Algorithm: algorithm})
	if err := call(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	return <-got, host
}

// complete says whether a request has arrived whole: those with a body end in "}".
func complete(text string) bool {
	header, body, ok := strings.Cut(text, "\r\n\r\n")
	return ok && (!strings.HasPrefix(header, "POST") || strings.HasSuffix(body, `"operation":"upsert"}`))
}

// TestGoldenWire holds every byte of a request, but for host, nonce and signature.
func TestGoldenWire(t *testing.T) {
	upsert := func(spec record.Spec) func(context.Context, *Client) error {
		set := mustSet(t, spec)
		return func(ctx context.Context, c *Client) error { return c.Upsert(ctx, set) }
	}
	remove := func(typ record.Type, subdomain string) func(context.Context, *Client) error {
		id := ID{Type: typ, Domain: mustName(t, "example.com"), Subdomain: subdomain}
		return func(ctx context.Context, c *Client) error { return c.Delete(ctx, id) }
	}
	number := func(n int64) *int64 { return &n }
	health := func(ctx context.Context, c *Client) error { return c.Health(ctx) }
	a := record.Spec{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.168.1.101", "192.168.1.100"}, TTL: 600}
	unused := a
	unused.Priority, unused.Weight, unused.Port = number(1), number(2), number(3)
	apex, wildcard, txt := a, a, a
	apex.Subdomain, wildcard.Subdomain = "@", "*.Dev"
	txt.Type, txt.Values = "TXT", []string{`a <b> & "c" \ ä`}

	const (
		get   = "Accept: application/json\r\nConnection: close\r\n\r\n"
		del   = get
		agent = "Host: HOST\r\nUser-Agent: namegate\r\n"
	)
	post := func(body string) string {
		return agent + "Content-Length: " + strconv.Itoa(len(body)) + "\r\nAccept: application/json\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body
	}
	wwwBody := `{"record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.168.1.100","192.168.1.101"],"ttl":600},"operation":"upsert"}`
	tests := map[string]struct {
		base string
		call func(context.Context, *Client) error
		want string
	}{
		"health":                {"", health, "GET /health HTTP/1.1\r\n" + agent + get},
		"health with base path": {"/dns/v1", health, "GET /dns/v1/health HTTP/1.1\r\n" + agent + get},
		"A":                     {"", upsert(a), "POST /records HTTP/1.1\r\n" + post(wwwBody)},
		"A with base path":      {"/dns/v1/", upsert(a), "POST /dns/v1/records HTTP/1.1\r\n" + post(wwwBody)},
		"A with escaped base":   {"/a%20b", upsert(a), "POST /a%20b/records HTTP/1.1\r\n" + post(wwwBody)},
		"A drops metadata":      {"", upsert(unused), "POST /records HTTP/1.1\r\n" + post(wwwBody)},
		"MX": {"", upsert(record.Spec{Type: "MX", Domain: "Example.com.", Subdomain: "@", Values: []string{"Mail.example.com."}, Priority: number(10), Weight: number(5)}),
			"POST /records HTTP/1.1\r\n" + post(`{"record":{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"],"ttl":0,"metadata":{"priority":10}},"operation":"upsert"}`)},
		"SRV": {"", upsert(record.Spec{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", Values: []string{"sip.example.com"}, TTL: 60, Priority: number(0), Weight: number(0), Port: number(5060)}),
			"POST /records HTTP/1.1\r\n" + post(`{"record":{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["sip.example.com"],"ttl":60,"metadata":{"priority":0,"weight":0,"port":5060}},"operation":"upsert"}`)},
		"TXT": {"", upsert(txt),
			"POST /records HTTP/1.1\r\n" + post(`{"record":{"type":"TXT","domain":"example.com","subdomain":"www","values":["a \u003cb\u003e \u0026 \"c\" \\ ä"],"ttl":600},"operation":"upsert"}`)},
		"wildcard": {"", upsert(wildcard),
			"POST /records HTTP/1.1\r\n" + post(strings.Replace(wwwBody, `"www"`, `"*.dev"`, 1))},
		"apex":                     {"", upsert(apex), "POST /records HTTP/1.1\r\n" + post(strings.Replace(wwwBody, `"www"`, `"@"`, 1))},
		"delete A":                 {"", remove(record.A, "www"), "DELETE /records/A/example.com/www HTTP/1.1\r\n" + agent + del},
		"delete with base path":    {"/dns/v1", remove(record.A, "www"), "DELETE /dns/v1/records/A/example.com/www HTTP/1.1\r\n" + agent + del},
		"delete MX at the apex":    {"", remove(record.MX, "@"), "DELETE /records/MX/example.com/@ HTTP/1.1\r\n" + agent + del},
		"delete the wildcard":      {"", remove(record.A, "*"), "DELETE /records/A/example.com/%2A HTTP/1.1\r\n" + agent + del},
		"delete SRV":               {"", remove(record.SRV, "_sip._tcp"), "DELETE /records/SRV/example.com/_sip._tcp HTTP/1.1\r\n" + agent + del},
		"delete a deeper wildcard": {"/x", remove(record.TXT, "*.a"), "DELETE /x/records/TXT/example.com/%2A.a HTTP/1.1\r\n" + agent + del},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wire, host := recordWire(t, tc.base, nil, "", tc.call)
			if diff := cmp.Diff(tc.want, strings.Replace(wire, host, "HOST", 1)); diff != "" {
				t.Errorf("unsigned request (-want +got):\n%s", diff)
			}
			for _, algorithm := range []dnsserverv1.Algorithm{"", dnsserverv1.SHA256, dnsserverv1.SHA512} {
				wire, host = recordWire(t, tc.base, []byte(testKey), algorithm, tc.call)
				unsigned := checkSignature(t, wire, algorithm)
				if diff := cmp.Diff(tc.want, strings.Replace(unsigned, host, "HOST", 1)); diff != "" {
					t.Errorf("request signed with %q (-want +got):\n%s", algorithm, diff)
				}
			}
		})
	}
}

var signatureLines = regexp.MustCompile(`(?i)x-dns-nonce: ([0-9a-f]{64})\r\nx-dns-signature: ([0-9a-f]+)\r\nx-dns-timestamp: 2025-12-30T10:00:00Z\r\n`)

// checkSignature checks the three headers of a request, and returns the request without them.
func checkSignature(t *testing.T, wire string, algorithm dnsserverv1.Algorithm) string {
	t.Helper()
	found := signatureLines.FindStringSubmatch(wire)
	if found == nil {
		t.Fatalf("no signature in %q", wire)
	}
	method, rest, _ := strings.Cut(wire, " ")
	path, _, _ := strings.Cut(rest, " ")
	_, body, _ := strings.Cut(wire, "\r\n\r\n")
	if algorithm == "" {
		algorithm = dnsserverv1.SHA256
	}
	want, err := dnsserverv1.Sign(algorithm, []byte(testKey), method, path, "2025-12-30T10:00:00Z", found[1], []byte(body))
	if err != nil || found[2] != want {
		t.Errorf("signature %s, want %s, %v", found[2], want, err)
	}
	return signatureLines.ReplaceAllString(wire, "")
}

// TestGoldenGet holds the request of Get, and that the record comes back as it was sent.
func TestGoldenGet(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	specs := []record.Spec{
		{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.1", "192.0.2.2"}, TTL: 600},
		{Type: "MX", Domain: "example.com", Subdomain: "@", Values: []string{"mail.example.com"}, TTL: 5, Priority: number(10)},
		{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", Values: []string{"a.example.com"}, Priority: number(1), Weight: number(2), Port: number(3)},
		{Type: "TXT", Domain: "example.com", Subdomain: "*", Values: []string{`"x" <y>`}, TTL: 1},
	}
	paths := []string{"/records/A/example.com/www", "/records/MX/example.com/@", "/records/SRV/example.com/_sip._tcp", "/records/TXT/example.com/%2A"}
	for i, spec := range specs {
		t.Run(spec.Type, func(t *testing.T) {
			set := mustSet(t, spec)
			wire := Wire(set)
			wire.FQDN = set.Owner.String()
			server := serve(t, respond(200, jsonHeader, marshal(t, dnsserverv1.Response{Success: true, Record: &wire})))
			got, err := signedClient(t, server.url, 0, Options{}).Get(t.Context(), Of(set))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(set) {
				t.Errorf("got %+v, want %+v", got, set)
			}
			if r := server.requests[0]; r.Method != "GET" || r.RequestURI != paths[i] || server.bodies[0] != "" {
				t.Errorf("%s %s with body %q", r.Method, r.RequestURI, server.bodies[0])
			}
		})
	}
}
