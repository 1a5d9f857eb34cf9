package libdns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns/bindtest"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, spec record.Spec) *record.RRset {
	t.Helper()
	set, problems := record.Parse(spec)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// simple makes an RRset that needs no metadata.
func simple(t testing.TB, typ, domain, subdomain string, values ...string) *record.RRset {
	t.Helper()
	return parse(t, record.Spec{Type: typ, Domain: domain, Subdomain: subdomain, Values: values, TTL: 300})
}

func names(t testing.TB, texts ...string) []dnsname.Name {
	t.Helper()
	var out []dnsname.Name
	for _, text := range texts {
		n, err := dnsname.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// open makes the rfc2136 client as the flags would.
func open(t testing.TB, args ...string) (libdns.Client, error) {
	t.Helper()
	for _, p := range libdns.Providers() {
		if p.Name == "rfc2136" {
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			p.Flags(f)
			if err := f.Parse(args); err != nil {
				t.Fatal(err)
			}
			return p.Open(nil)
		}
	}
	t.Fatal("rfc2136 is not registered")
	return nil, nil
}

func secretFile(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tsig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// client makes a client for a server, with the key of bindtest.
func client(t testing.TB, addr string) libdns.Client {
	t.Helper()
	c, err := open(t, "--rfc2136-server", addr, "--tsig-key-name", bindtest.KeyName, "--tsig-secret-file", secretFile(t, bindtest.KeySecret+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newBackend(t testing.TB, c libdns.Client, zones ...string) *libdns.Backend {
	t.Helper()
	b, err := libdns.New(c, names(t, zones...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rrs asks BIND, and returns what it has of the type at the name, as text.
func rrs(t testing.TB, addr, qname string, qtype uint16) []string {
	t.Helper()
	m := new(dns.Msg).SetQuestion(qname, qtype)
	m.RecursionDesired = false
	c := dns.Client{Net: "tcp", Timeout: 5 * time.Second}
	r, _, err := c.Exchange(m, addr)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, rr := range append(r.Answer, r.Ns...) {
		if rr.Header().Rrtype == qtype {
			out = append(out, rr.String())
		}
	}
	slices.Sort(out)
	return out
}

// texts writes zone file lines the way that rrs does.
func texts(t testing.TB, lines ...string) []string {
	t.Helper()
	var out []string
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rr.String())
	}
	slices.Sort(out)
	return out
}

func number(n int64) *int64 { return &n }

const long = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" +
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

// TestTypes takes an RRset of each type through its life.
func TestTypes(t *testing.T) {
	server := bindtest.Start(t, "example.com")
	b := newBackend(t, client(t, server.Addr), "example.com")
	tests := []struct {
		first, second record.Spec
		wire1, wire2  []string
	}{
		{
			record.Spec{Type: "A", Subdomain: "www", Values: []string{"192.0.2.1", "192.0.2.2"}, TTL: 300},
			record.Spec{Type: "A", Subdomain: "www", Values: []string{"192.0.2.2", "192.0.2.3"}, TTL: 60},
			[]string{"www.example.com. 300 IN A 192.0.2.1", "www.example.com. 300 IN A 192.0.2.2"},
			[]string{"www.example.com. 60 IN A 192.0.2.2", "www.example.com. 60 IN A 192.0.2.3"},
		}, {
			record.Spec{Type: "AAAA", Subdomain: "@", Values: []string{"2001:db8::1"}, TTL: 300},
			record.Spec{Type: "AAAA", Subdomain: "@", Values: []string{"2001:db8::2"}, TTL: 300},
			[]string{"example.com. 300 IN AAAA 2001:db8::1"},
			[]string{"example.com. 300 IN AAAA 2001:db8::2"},
		}, {
			record.Spec{Type: "CNAME", Subdomain: "alias", Values: []string{"www.example.com"}, TTL: 300},
			record.Spec{Type: "CNAME", Subdomain: "alias", Values: []string{"www.example.net"}, TTL: 300},
			[]string{"alias.example.com. 300 IN CNAME www.example.com."},
			[]string{"alias.example.com. 300 IN CNAME www.example.net."},
		}, {
			record.Spec{Type: "TXT", Subdomain: "_text.a", TTL: 300,
				Values: []string{`quotes " and \ and \032 and ; and $INCLUDE /etc/passwd`, "non-breaking\u00a0space, ünïcödé, 日本", long + long, long + "é" + long}},
			record.Spec{Type: "TXT", Subdomain: "_text.a", Values: []string{" spaces at the ends "}, TTL: 0},
			[]string{`_text.a.example.com. 300 IN TXT "quotes \" and \\ and \\032 and ; and $INCLUDE /etc/passwd"`,
				`_text.a.example.com. 300 IN TXT "non-breaking\194\160space, \195\188n\195\175c\195\182d\195\169, \230\151\165\230\156\172"`,
				`_text.a.example.com. 300 IN TXT "` + long + `" "` + long + `"`,
				`_text.a.example.com. 300 IN TXT "` + long + `" "\195\169` + long[:253] + `" "` + long[253:] + `"`},
			[]string{`_text.a.example.com. 0 IN TXT " spaces at the ends "`},
		}, {
			record.Spec{Type: "MX", Subdomain: "@", Values: []string{"mx1.example.com", "mx2.example.net"}, TTL: 300, Priority: number(10)},
			record.Spec{Type: "MX", Subdomain: "@", Values: []string{"."}, TTL: 300, Priority: number(0)},
			[]string{"example.com. 300 IN MX 10 mx1.example.com.", "example.com. 300 IN MX 10 mx2.example.net."},
			[]string{"example.com. 300 IN MX 0 ."},
		}, {
			record.Spec{Type: "SRV", Subdomain: "*._tcp", Values: []string{"a.example.com", "b.example.com"}, TTL: 300,
				Priority: number(1), Weight: number(2), Port: number(65535)},
			record.Spec{Type: "SRV", Subdomain: "*._tcp", Values: []string{"."}, TTL: 300, Priority: number(0), Weight: number(0), Port: number(0)},
			[]string{"*._tcp.example.com. 300 IN SRV 1 2 65535 a.example.com.", "*._tcp.example.com. 300 IN SRV 1 2 65535 b.example.com."},
			[]string{"*._tcp.example.com. 300 IN SRV 0 0 0 ."},
		}, {
			record.Spec{Type: "NS", Subdomain: "sub", Values: []string{"ns1.example.net", "ns2.example.net"}, TTL: 300},
			record.Spec{Type: "NS", Subdomain: "sub", Values: []string{"ns3.example.net"}, TTL: 300},
			[]string{"sub.example.com. 300 IN NS ns1.example.net.", "sub.example.com. 300 IN NS ns2.example.net."},
			[]string{"sub.example.com. 300 IN NS ns3.example.net."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.first.Type, func(t *testing.T) {
			tt.first.Domain, tt.second.Domain = "example.com", "example.com"
			first, second := parse(t, tt.first), parse(t, tt.second)
			for _, step := range []struct {
				what string
				set  *record.RRset
				wire []string
			}{{"create", first, tt.wire1}, {"again", first, tt.wire1}, {"replace", second, tt.wire2}} {
				if err := b.Upsert(t.Context(), step.set); err != nil {
					t.Fatalf("%s: %v", step.what, err)
				}
				if diff := cmp.Diff(texts(t, step.wire...), rrs(t, server.Addr, step.set.Owner.FQDN(), step.set.Type.Code())); diff != "" {
					t.Errorf("%s -want +got:\n%s", step.what, diff)
				}
				got, found, err := b.Get(t.Context(), backend.IDOf(step.set))
				if err != nil || !found || !got.Equal(step.set) {
					t.Errorf("%s: get returns %v, %t, %v", step.what, got, found, err)
				}
			}
			for _, want := range []bool{true, false} {
				if existed, err := b.Delete(t.Context(), backend.IDOf(second)); err != nil || existed != want {
					t.Errorf("delete: existed %t, error %v; want %t", existed, err, want)
				}
			}
			if left := rrs(t, server.Addr, second.Owner.FQDN(), second.Type.Code()); len(left) > 0 {
				t.Errorf("left after the deletion: %v", left)
			}
			if _, found, err := b.Get(t.Context(), backend.IDOf(second)); err != nil || found {
				t.Errorf("get after the deletion: %t, %v", found, err)
			}
		})
	}
}

// TestNames: an RRset is looked for at exactly its name.
func TestNames(t *testing.T) {
	server := bindtest.Start(t, "example.com", "sub.example.com")
	b := newBackend(t, client(t, server.Addr), "example.com", "sub.example.com")
	upsert := func(set *record.RRset) error { return b.Upsert(t.Context(), set) }
	find := func(set *record.RRset) (bool, error) {
		_, found, err := b.Get(t.Context(), backend.IDOf(set))
		return found, err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(upsert(simple(t, "A", "example.com", "*", "192.0.2.1")))
	under := simple(t, "A", "example.com", "x", "192.0.2.1")
	if found, err := find(under); found || err != nil {
		t.Errorf("what a wildcard answers is no record: %t, %v", found, err)
	}
	if existed, err := b.Delete(t.Context(), backend.IDOf(under)); existed || err != nil {
		t.Errorf("deleting it: %t, %v", existed, err)
	}
	must(upsert(under))
	if found, err := find(under); !found || err != nil {
		t.Errorf("beside the wildcard: %t, %v", found, err)
	}

	must(upsert(simple(t, "A", "example.com", "www.sub", "192.0.2.2")))
	if got := rrs(t, server.Addr, "www.sub.example.com.", dns.TypeA); len(got) != 1 {
		t.Errorf("the longest zone did not get the record: %v", got)
	}

	must(upsert(simple(t, "NS", "example.com", "cut", "ns.cut.example.com")))
	glue, hidden := simple(t, "A", "example.com", "ns.cut", "192.0.2.3"), simple(t, "TXT", "example.com", "hidden.cut", "text")
	for _, set := range []*record.RRset{glue, hidden} {
		must(upsert(set))
		if found, err := find(set); !found || err != nil {
			t.Errorf("%s below a delegation: %t, %v", set.Owner, found, err)
		}
		if existed, err := b.Delete(t.Context(), backend.IDOf(set)); !existed || err != nil {
			t.Errorf("deleting it: %t, %v", existed, err)
		}
		if found, err := find(set); found || err != nil {
			t.Errorf("after that: %t, %v", found, err)
		}
	}

	must(upsert(simple(t, "CNAME", "example.com", "alias", "x.example.com")))
	if found, err := find(simple(t, "A", "example.com", "alias", "192.0.2.1")); found || err != nil {
		t.Errorf("what a CNAME leads to is not at its name: %t, %v", found, err)
	}
}

func TestRefused(t *testing.T) {
	server := bindtest.Start(t, "example.com")
	b := newBackend(t, client(t, server.Addr), "example.com")
	if err := b.Upsert(t.Context(), simple(t, "A", "example.com", "host", "192.0.2.1")); err != nil {
		t.Fatal(err)
	}
	if err := b.Upsert(t.Context(), simple(t, "CNAME", "example.com", "alias", "host.example.com")); err != nil {
		t.Fatal(err)
	}
	for what, tt := range map[string]struct {
		set  *record.RRset
		want error
	}{
		"CNAME beside A":       {simple(t, "CNAME", "example.com", "host", "www.example.com"), backend.ErrConflict},
		"A beside CNAME":       {simple(t, "A", "example.com", "alias", "192.0.2.1"), backend.ErrConflict},
		"CNAME at the apex":    {simple(t, "CNAME", "com", "example", "www.example.com"), backend.ErrConflict},
		"NS at the apex":       {simple(t, "NS", "example.com", "@", "ns.example.net"), backend.ErrConflict},
		"no zone":              {simple(t, "A", "example.org", "www", "192.0.2.1"), backend.ErrNotServed},
		"no label boundary":    {simple(t, "A", "notexample.com", "www", "192.0.2.1"), backend.ErrNotServed},
		"the parent of a zone": {simple(t, "TXT", "com", "www", "text"), backend.ErrNotServed},
	} {
		if err := b.Upsert(t.Context(), tt.set); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", what, err, tt.want)
		}
		if errors.Is(tt.want, backend.ErrNotServed) || tt.set.Type == record.NS {
			if existed, err := b.Delete(t.Context(), backend.IDOf(tt.set)); existed || err != nil {
				t.Errorf("%s: delete %t, %v", what, existed, err)
			}
			if _, found, err := b.Get(t.Context(), backend.IDOf(tt.set)); found || err != nil {
				t.Errorf("%s: get %t, %v", what, found, err)
			}
		}
	}
	if got := rrs(t, server.Addr, "host.example.com.", dns.TypeA); len(got) != 1 {
		t.Errorf("a refused record changed another: %v", got)
	}
	if got := rrs(t, server.Addr, "example.com.", dns.TypeNS); len(got) != 1 {
		t.Errorf("the NS records of the zone: %v", got)
	}
}

// TestForeign: what others wrote is found, replaced and deleted, but not described as what it is not.
func TestForeign(t *testing.T) {
	server := bindtest.Start(t, "example.com")
	c := client(t, server.Addr)
	b := newBackend(t, c, "example.com")
	insert := func(lines ...string) {
		t.Helper()
		m := new(dns.Msg).SetUpdate("example.com.")
		for _, line := range lines {
			rr, err := dns.NewRR(line)
			if err != nil {
				t.Fatal(err)
			}
			m.Insert([]dns.RR{rr})
		}
		m.SetTsig(bindtest.KeyName+".", dns.HmacSHA256, 300, time.Now().Unix())
		c := dns.Client{Net: "tcp", TsigSecret: map[string]string{bindtest.KeyName + ".": bindtest.KeySecret}}
		if r, _, err := c.Exchange(m, server.Addr); err != nil || r.Rcode != dns.RcodeSuccess {
			t.Fatal(r, err)
		}
	}
	insert("mx.example.com. 300 IN MX 10 a.example.com.", "mx.example.com. 300 IN MX 20 b.example.com.",
		`txt.example.com. 300 IN TXT "\007\255"`, "_odd._tcp.example.com. 300 IN SVCB 1 . alpn=h2", "odd.example.com. 300 IN SRV 1 2 3 x.")
	if all, err := c.GetRecords(t.Context(), "example.com."); err != nil || len(all) != 6 {
		t.Errorf("the whole zone: %v, %v", all, err)
	}
	mx := parse(t, record.Spec{Type: "MX", Domain: "example.com", Subdomain: "mx", Values: []string{"a.example.com"}, TTL: 300, Priority: number(10)})
	for _, set := range []*record.RRset{mx, simple(t, "TXT", "example.com", "txt", "text")} {
		if _, found, err := b.Get(t.Context(), backend.IDOf(set)); found || !errors.Is(err, backend.ErrForeign) {
			t.Errorf("%s: %t, %v", set.Type, found, err)
		}
		if err := b.Upsert(t.Context(), set); err != nil {
			t.Errorf("replacing %s: %v", set.Type, err)
		}
		if got, found, err := b.Get(t.Context(), backend.IDOf(set)); err != nil || !found || !got.Equal(set) {
			t.Errorf("after replacing %s: %v, %t, %v", set.Type, got, found, err)
		}
	}
	insert("mx.example.com. 300 IN MX 30 c.example.com.")
	if existed, err := b.Delete(t.Context(), backend.IDOf(mx)); !existed || err != nil {
		t.Errorf("delete: %t, %v", existed, err)
	}
	if left := rrs(t, server.Addr, "mx.example.com.", dns.TypeMX); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestHealth(t *testing.T) {
	server := bindtest.Start(t, "example.com")
	if err := newBackend(t, client(t, server.Addr), "example.com").Healthy(t.Context()); err != nil {
		t.Errorf("a good key: %v", err)
	}
	wrong := secretFile(t, "d3Jvbmcga2V5")
	right := secretFile(t, bindtest.KeySecret)
	for what, tt := range map[string]struct {
		args []string
		zone string
	}{
		"wrong secret":          {[]string{"--rfc2136-server", server.Addr, "--tsig-key-name", bindtest.KeyName, "--tsig-secret-file", wrong}, "example.com"},
		"unknown key":           {[]string{"--rfc2136-server", server.Addr, "--tsig-key-name", "unknown", "--tsig-secret-file", right}, "example.com"},
		"key without rights":    {[]string{"--rfc2136-server", server.Addr, "--tsig-key-name", "stranger", "--tsig-secret-file", right}, "example.com"},
		"other algorithm":       {[]string{"--rfc2136-server", server.Addr, "--tsig-key-name", bindtest.KeyName, "--tsig-algorithm", "hmac-sha512", "--tsig-secret-file", right}, "example.com"},
		"not the server's zone": {[]string{"--rfc2136-server", server.Addr, "--tsig-key-name", bindtest.KeyName, "--tsig-secret-file", right}, "example.org"},
		"nobody listens":        {[]string{"--rfc2136-server", closedAddr(t), "--tsig-key-name", bindtest.KeyName, "--tsig-secret-file", right}, "example.com"},
	} {
		t.Run(what, func(t *testing.T) {
			c, err := open(t, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, c, tt.zone)
			set := simple(t, "A", tt.zone, "www", "192.0.2.1")
			_, getErr := func() (bool, error) { _, found, err := b.Get(t.Context(), backend.IDOf(set)); return found, err }()
			errs := map[string]error{"health": b.Healthy(t.Context()), "upsert": b.Upsert(t.Context(), set)}
			if what != "key without rights" { // it may still ask
				errs["get"] = getErr
			}
			for call, err := range errs {
				if err == nil || errors.Is(err, backend.ErrConflict) {
					t.Errorf("%s: %v", call, err)
				} else if strings.Contains(err.Error(), bindtest.KeySecret) || strings.Contains(err.Error(), "d3Jvbmcga2V5") {
					t.Errorf("%s: the error holds the key: %v", call, err)
				}
			}
		})
	}
}

// closedAddr is an address at which nobody listens.
func closedAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestSilentServer: a server that takes the connection and says nothing costs no more than the time that the request has.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := client(t, l.Addr().String())
	b := newBackend(t, c, "example.com")
	set := simple(t, "A", "example.com", "www", "192.0.2.1")
	for what, call := range map[string]func(ctx context.Context) error{
		"upsert":   func(ctx context.Context) error { return b.Upsert(ctx, set) },
		"health":   b.Healthy,
		"transfer": func(ctx context.Context) error { _, err := c.GetRecords(ctx, "example.com."); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		if err := call(ctx); err == nil {
			t.Errorf("%s succeeded", what)
		}
		cancel()
		if took := time.Since(start); took > 1500*time.Millisecond { // the libraries wait for 2 s of their own
			t.Errorf("%s took %s", what, took)
		}
	}
}

// TestForgedAnswers: an answer without a signature is none.
func TestForgedAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	forger := &dns.Server{Listener: l, MsgAcceptFunc: func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			r := new(dns.Msg).SetReply(q)
			r.Authoritative = true
			if q.Opcode == dns.OpcodeQuery {
				r.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300}, A: net.IPv4(192, 0, 2, 1)}}
			}
			_ = w.WriteMsg(r)
		})}
	started := make(chan struct{})
	forger.NotifyStartedFunc = func() { close(started) }
	done := make(chan error)
	go func() { done <- forger.ActivateAndServe() }()
	<-started
	defer func() {
		if err := errors.Join(forger.Shutdown(), <-done); err != nil {
			t.Error(err)
		}
	}()
	b := newBackend(t, client(t, l.Addr().String()), "example.com")
	set := simple(t, "A", "example.com", "www", "192.0.2.1")
	if err := b.Upsert(t.Context(), set); err == nil {
		t.Error("upsert believed it")
	}
	if _, _, err := b.Get(t.Context(), backend.IDOf(set)); err == nil {
		t.Error("get believed it")
	}
	if err := b.Healthy(t.Context()); err == nil {
		t.Error("health believed it")
	}
}

func TestBadFlags(t *testing.T) {
	good := secretFile(t, bindtest.KeySecret)
	for what, args := range map[string][]string{
		"no server":         {"--tsig-key-name", "k", "--tsig-secret-file", good},
		"no port":           {"--rfc2136-server", "192.0.2.1", "--tsig-key-name", "k", "--tsig-secret-file", good},
		"no key name":       {"--rfc2136-server", "192.0.2.1:53", "--tsig-secret-file", good},
		"bad key name":      {"--rfc2136-server", "192.0.2.1:53", "--tsig-key-name", "a key", "--tsig-secret-file", good},
		"no secret":         {"--rfc2136-server", "192.0.2.1:53", "--tsig-key-name", "k"},
		"secret not base64": {"--rfc2136-server", "192.0.2.1:53", "--tsig-key-name", "k", "--tsig-secret-file", secretFile(t, "#")},
		"empty secret":      {"--rfc2136-server", "192.0.2.1:53", "--tsig-key-name", "k", "--tsig-secret-file", secretFile(t, "\n")},
		"old algorithm":     {"--rfc2136-server", "192.0.2.1:53", "--tsig-key-name", "k", "--tsig-secret-file", good, "--tsig-algorithm", "hmac-md5"},
	} {
		if _, err := open(t, args...); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// TestConcurrentUpserts: changes of different RRsets do not disturb one another.
func TestConcurrentUpserts(t *testing.T) {
	server := bindtest.Start(t, "example.com")
	b := newBackend(t, client(t, server.Addr), "example.com")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if err := b.Upsert(t.Context(), simple(t, "A", "example.com", fmt.Sprintf("h%d", i), "192.0.2.1")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 10 {
		if got := rrs(t, server.Addr, fmt.Sprintf("h%d.example.com.", i), dns.TypeA); len(got) != 1 {
			t.Errorf("h%d: %v", i, got)
		}
	}
}
