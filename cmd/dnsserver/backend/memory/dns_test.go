package memory_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse makes an RRset of TTL 300.
func parse(t testing.TB, typ, domain, subdomain string, values ...string) *record.RRset {
	t.Helper()
	ten, port := int64(10), int64(5060)
	set, problems := record.Parse(record.Spec{Type: typ, Domain: domain, Subdomain: subdomain, Values: values, TTL: 300,
		Priority: &ten, Weight: &ten, Port: &port})
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

func name(t testing.TB, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fill puts RRsets, each written as "type domain subdomain value...", into a new store.
func fill(t testing.TB, options memory.Options, records ...string) *memory.Store {
	t.Helper()
	s, err := memory.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		f := strings.Fields(r)
		if err := s.Upsert(t.Context(), parse(t, f[0], f[1], f[2], f[3:]...)); err != nil {
			t.Fatalf("%s: %v", r, err)
		}
	}
	return s
}

// listen serves DNS until the test ends, and returns the address.
func listen(t testing.TB, s *memory.Store) string {
	t.Helper()
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Serve(ctx, 5*time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask sends a message over udp or tcp.
func ask(t testing.TB, network, addr string, m *dns.Msg) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: network, Timeout: 5 * time.Second, UDPSize: dns.MaxMsgSize}
	r, _, err := c.Exchange(m, addr)
	if err != nil {
		t.Fatalf("%s: %v", network, err)
	}
	return r
}

func question(qname string, qtype uint16) *dns.Msg {
	m := new(dns.Msg).SetQuestion(qname, qtype)
	m.RecursionDesired = false
	return m
}

// shown writes a response as a few lines: flags, then each record with its section. The serial of a SOA changes, so it is left out.
func shown(r *dns.Msg) []string {
	head := dns.RcodeToString[r.Rcode]
	if r.Authoritative {
		head += " aa"
	}
	if r.Truncated {
		head += " tc"
	}
	if r.RecursionAvailable {
		head += " ra"
	}
	lines := []string{head}
	for section, rrs := range map[string][]dns.RR{"answer": r.Answer, "authority": r.Ns, "additional": r.Extra} {
		for _, rr := range rrs {
			if soa, is := rr.(*dns.SOA); is {
				lines = append(lines, fmt.Sprintf("%s: %s %d SOA %s %s %d", section, soa.Hdr.Name, soa.Hdr.Ttl, soa.Ns, soa.Mbox, soa.Minttl))
			} else if rr.Header().Rrtype != dns.TypeOPT {
				lines = append(lines, section+": "+strings.Join(strings.Fields(rr.String()), " "))
			}
		}
	}
	slices.Sort(lines[1:])
	return lines
}

var zoneRecords = []string{
	"A example.com @ 192.0.2.1",
	"TXT example.com @ v=spf1",
	"MX example.com @ mail.example.com mail.example.net",
	"NS example.com @ ns1.example.com",
	"A example.com ns1 192.0.2.53",
	"A example.com mail 192.0.2.25",
	"AAAA example.com mail 2001:db8::25",
	"A example.com www 192.0.2.80 192.0.2.81",
	"CNAME example.com alias www.example.com",
	"CNAME example.com alias2 alias.example.com",
	"CNAME example.com away www.example.net",
	"CNAME example.com nowhere gone.example.com",
	"CNAME example.com loop1 loop2.example.com",
	"CNAME example.com loop2 loop1.example.com",
	"CNAME example.com across host.example.org",
	"A example.org host 192.0.2.99",
	"A example.com deep.empty.ent 192.0.2.7",
	"SRV example.com _sip._tcp mail.example.com",
	"A example.com *.wild 192.0.2.42",
	"TXT example.com *.wild text",
	"A example.com exact.wild 192.0.2.43",
	"A example.com a.sub.wild 192.0.2.44",
	"CNAME example.com *.aliases www.example.com",
	"CNAME example.com *.self x.self.example.com",
	"NS example.com cut ns.cut.example.com ns.example.net",
	"A example.com ns.cut 192.0.2.54",
	"A example.com hidden.cut 192.0.2.55",
	"CNAME example.com tocut www.cut.example.com",
}

func TestAnswers(t *testing.T) {
	addr := listen(t, fill(t, memory.Options{}, zoneRecords...))
	const soa = "authority: example.com. 60 SOA ns1.example.com. hostmaster.example.com. 60"
	www := []string{"answer: www.example.com. 300 IN A 192.0.2.80", "answer: www.example.com. 300 IN A 192.0.2.81"}
	mail := []string{"additional: mail.example.com. 300 IN A 192.0.2.25", "additional: mail.example.com. 300 IN AAAA 2001:db8::25"}
	referral := []string{"additional: ns.cut.example.com. 300 IN A 192.0.2.54",
		"authority: cut.example.com. 300 IN NS ns.cut.example.com.", "authority: cut.example.com. 300 IN NS ns.example.net."}
	tests := []struct {
		what  string
		qname string
		qtype uint16
		want  []string
	}{
		{"several values", "www.example.com.", dns.TypeA, append([]string{"NOERROR aa"}, www...)},
		{"upper case", "WwW.eXample.COM.", dns.TypeA, append([]string{"NOERROR aa"}, www...)},
		{"apex", "example.com.", dns.TypeA, []string{"NOERROR aa", "answer: example.com. 300 IN A 192.0.2.1"}},
		{"apex NS is no delegation", "example.com.", dns.TypeNS, []string{"NOERROR aa",
			"additional: ns1.example.com. 300 IN A 192.0.2.53", "answer: example.com. 300 IN NS ns1.example.com."}},
		{"SOA", "example.com.", dns.TypeSOA, []string{"NOERROR aa",
			"answer: example.com. 60 SOA ns1.example.com. hostmaster.example.com. 60"}},
		{"MX with addresses", "example.com.", dns.TypeMX, append(append([]string{"NOERROR aa"}, mail...),
			"answer: example.com. 300 IN MX 10 mail.example.com.", "answer: example.com. 300 IN MX 10 mail.example.net.")},
		{"SRV with addresses", "_sip._tcp.example.com.", dns.TypeSRV, append(append([]string{"NOERROR aa"}, mail...),
			"answer: _sip._tcp.example.com. 300 IN SRV 10 10 5060 mail.example.com.")},
		{"no data", "www.example.com.", dns.TypeAAAA, []string{"NOERROR aa", soa}},
		{"no name", "gone.example.com.", dns.TypeA, []string{"NXDOMAIN aa", soa}},
		{"below a name", "x.www.example.com.", dns.TypeA, []string{"NXDOMAIN aa", soa}},
		{"empty non-terminal", "ent.example.com.", dns.TypeA, []string{"NOERROR aa", soa}},
		{"second empty non-terminal", "empty.ent.example.com.", dns.TypeTXT, []string{"NOERROR aa", soa}},
		{"below an empty non-terminal", "x.ent.example.com.", dns.TypeA, []string{"NXDOMAIN aa", soa}},
		{"CNAME itself", "alias.example.com.", dns.TypeCNAME, []string{"NOERROR aa", "answer: alias.example.com. 300 IN CNAME www.example.com."}},
		{"chain", "alias2.example.com.", dns.TypeA, append([]string{"NOERROR aa",
			"answer: alias.example.com. 300 IN CNAME www.example.com.", "answer: alias2.example.com. 300 IN CNAME alias.example.com."}, www...)},
		{"chain without data", "alias.example.com.", dns.TypeTXT, []string{"NOERROR aa", "answer: alias.example.com. 300 IN CNAME www.example.com.", soa}},
		{"chain that leaves", "away.example.com.", dns.TypeA, []string{"NOERROR aa", "answer: away.example.com. 300 IN CNAME www.example.net."}},
		{"chain to no name", "nowhere.example.com.", dns.TypeA, []string{"NXDOMAIN aa", "answer: nowhere.example.com. 300 IN CNAME gone.example.com.", soa}},
		{"chain to another zone", "across.example.com.", dns.TypeA, []string{"NOERROR aa",
			"answer: across.example.com. 300 IN CNAME host.example.org.", "answer: host.example.org. 300 IN A 192.0.2.99"}},
		{"loop", "loop1.example.com.", dns.TypeA, []string{"NOERROR aa",
			"answer: loop1.example.com. 300 IN CNAME loop2.example.com.", "answer: loop2.example.com. 300 IN CNAME loop1.example.com."}},
		{"wildcard", "Any.wild.example.com.", dns.TypeA, []string{"NOERROR aa", "answer: any.wild.example.com. 300 IN A 192.0.2.42"}},
		{"wildcard, many labels", "a.b.c.wild.example.com.", dns.TypeTXT, []string{"NOERROR aa", `answer: a.b.c.wild.example.com. 300 IN TXT "text"`}},
		{"wildcard itself", "*.wild.example.com.", dns.TypeA, []string{"NOERROR aa", "answer: *.wild.example.com. 300 IN A 192.0.2.42"}},
		{"wildcard without data", "any.wild.example.com.", dns.TypeAAAA, []string{"NOERROR aa", soa}},
		{"wildcard is for names below", "wild.example.com.", dns.TypeA, []string{"NOERROR aa", soa}},
		{"a name that exists has no wildcard", "exact.wild.example.com.", dns.TypeTXT, []string{"NOERROR aa", soa}},
		{"nor has an empty non-terminal", "sub.wild.example.com.", dns.TypeA, []string{"NOERROR aa", soa}},
		{"nor a name below it", "b.sub.wild.example.com.", dns.TypeA, []string{"NXDOMAIN aa", soa}},
		{"wildcard for a name that no record can have", `a\.b\032c.wild.example.com.`, dns.TypeA,
			[]string{"NOERROR aa", `answer: a\.b\ c.wild.example.com. 300 IN A 192.0.2.42`}},
		{"wildcard CNAME", "x.aliases.example.com.", dns.TypeA, append([]string{"NOERROR aa",
			"answer: x.aliases.example.com. 300 IN CNAME www.example.com."}, www...)},
		{"wildcard CNAME to itself", "x.self.example.com.", dns.TypeA, []string{"NOERROR aa", "answer: x.self.example.com. 300 IN CNAME x.self.example.com."}},
		{"delegation", "cut.example.com.", dns.TypeNS, append([]string{"NOERROR"}, referral...)},
		{"below a delegation", "x.y.cut.example.com.", dns.TypeA, append([]string{"NOERROR"}, referral...)},
		{"hidden by a delegation", "hidden.cut.example.com.", dns.TypeA, append([]string{"NOERROR"}, referral...)},
		{"DS is above the cut", "cut.example.com.", dns.TypeDS, []string{"NOERROR aa", soa}},
		{"chain into a delegation", "tocut.example.com.", dns.TypeA, append(append([]string{"NOERROR aa"}, referral[0],
			"answer: tocut.example.com. 300 IN CNAME www.cut.example.com."), referral[1:]...)},
		{"ANY is one RRset", "www.example.com.", dns.TypeANY, append([]string{"NOERROR aa"}, www...)},
		{"ANY at the apex", "example.com.", dns.TypeANY, []string{"NOERROR aa",
			"answer: example.com. 60 SOA ns1.example.com. hostmaster.example.com. 60"}},
		{"ANY does not follow", "alias.example.com.", dns.TypeANY, []string{"NOERROR aa", "answer: alias.example.com. 300 IN CNAME www.example.com."}},
		{"another zone", "host.example.net.", dns.TypeA, []string{"REFUSED"}},
		{"above the zones", "com.", dns.TypeNS, []string{"REFUSED"}},
		{"the root", ".", dns.TypeNS, []string{"REFUSED"}},
		{"AXFR", "example.com.", dns.TypeAXFR, []string{"REFUSED"}},
		{"IXFR", "example.com.", dns.TypeIXFR, []string{"REFUSED"}},
	}
	for _, tt := range tests {
		slices.Sort(tt.want[1:])
		for _, network := range []string{"udp", "tcp"} {
			t.Run(tt.what+"/"+network, func(t *testing.T) {
				r := ask(t, network, addr, question(tt.qname, tt.qtype))
				if diff := cmp.Diff(tt.want, shown(r)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if len(r.Question) != 1 || r.Question[0].Name != strings.ReplaceAll(tt.qname, `\032`, `\ `) {
					t.Errorf("the question came back as %v", r.Question)
				}
			})
		}
	}
}

func TestChainHasABound(t *testing.T) {
	s := fill(t, memory.Options{})
	for i := range 40 {
		target := fmt.Sprintf("c%d.example.com", i+1)
		if err := s.Upsert(t.Context(), parse(t, "CNAME", "example.com", fmt.Sprintf("c%d", i), target)); err != nil {
			t.Fatal(err)
		}
	}
	r := ask(t, "tcp", listen(t, s), question("c0.example.com.", dns.TypeA))
	if r.Rcode != dns.RcodeSuccess || len(r.Answer) != 16 {
		t.Errorf("got %s with %d CNAMEs, want NOERROR with 16", dns.RcodeToString[r.Rcode], len(r.Answer))
	}
}

func TestOtherMessages(t *testing.T) {
	addr := listen(t, fill(t, memory.Options{}, zoneRecords...))
	with := func(change func(m *dns.Msg)) *dns.Msg {
		m := question("www.example.com.", dns.TypeA)
		change(m)
		return m
	}
	tests := map[string]struct {
		query *dns.Msg
		rcode int
	}{
		"class CHAOS":    {with(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), dns.RcodeRefused},
		"class ANY":      {with(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassANY }), dns.RcodeRefused},
		"NOTIFY":         {new(dns.Msg).SetNotify("example.com."), dns.RcodeNotImplemented},
		"UPDATE":         {new(dns.Msg).SetUpdate("example.com."), dns.RcodeNotImplemented},
		"no question":    {with(func(m *dns.Msg) { m.Question = nil }), dns.RcodeFormatError},
		"two questions":  {with(func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }), dns.RcodeFormatError},
		"EDNS version 1": {with(func(m *dns.Msg) { m.SetEdns0(1232, false); m.IsEdns0().SetVersion(1) }), dns.RcodeBadVers},
		"type OPT":       {with(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeOPT }), dns.RcodeRefused},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			r := ask(t, "udp", addr, tt.query)
			if r.Rcode != tt.rcode || len(r.Answer) > 0 {
				t.Errorf("got %s with %d answers, want %s with none", dns.RcodeToString[r.Rcode], len(r.Answer), dns.RcodeToString[tt.rcode])
			}
		})
	}
}

func TestSizes(t *testing.T) {
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("192.0.2.%d", i))
	}
	s := fill(t, memory.Options{}, "MX example.com @ mail.example.com")
	for _, set := range []*record.RRset{parse(t, "A", "example.com", "many", many...), parse(t, "A", "example.com", "mail", many...)} {
		if err := s.Upsert(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	addr := listen(t, s)
	tests := []struct {
		what, network, qname string
		qtype, edns          uint16
		largest              int
		truncated            bool
		edns0                bool
	}{
		{"plain UDP", "udp", "many.example.com.", dns.TypeA, 0, 512, true, false},
		{"EDNS within our bound", "udp", "many.example.com.", dns.TypeA, 1000, 1000, true, true},
		{"EDNS above our bound", "udp", "many.example.com.", dns.TypeA, 65535, 1232, true, true},
		{"EDNS below the least", "udp", "many.example.com.", dns.TypeA, 100, 512, true, true},
		{"TCP", "tcp", "many.example.com.", dns.TypeA, 0, 65535, false, false},
		{"addresses beside an answer are dropped", "udp", "example.com.", dns.TypeMX, 0, 512, false, false},
		{"addresses beside an answer are sent where there is room", "tcp", "example.com.", dns.TypeMX, 1232, 65535, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			m := question(tt.qname, tt.qtype)
			if tt.edns > 0 {
				m.SetEdns0(tt.edns, true)
			}
			r := ask(t, tt.network, addr, m)
			r.Compress = true // to measure it as it was sent
			if r.Truncated != tt.truncated || r.Len() > tt.largest {
				t.Errorf("truncated %t with %d bytes, want %t with at most %d", r.Truncated, r.Len(), tt.truncated, tt.largest)
			}
			opt := r.IsEdns0()
			if (opt != nil) != tt.edns0 || (opt != nil && !opt.Do()) {
				t.Errorf("EDNS0 %v, want it %t and with the DO bit of the query", opt, tt.edns0)
			}
		})
	}
	if r := ask(t, "tcp", addr, question("many.example.com.", dns.TypeA)); len(r.Answer) != len(many) {
		t.Errorf("TCP: %d values, want %d", len(r.Answer), len(many))
	}
}

func TestConfiguredZones(t *testing.T) {
	s := fill(t, memory.Options{Zones: []dnsname.Name{name(t, "example.com"), name(t, "empty.test")}}, "A a.example.com www 192.0.2.1")
	addr := listen(t, s)
	for _, tt := range []struct {
		qname string
		want  []string
	}{
		{"empty.test.", []string{"NOERROR aa", "authority: empty.test. 60 SOA empty.test. hostmaster.empty.test. 60"}},
		{"x.empty.test.", []string{"NXDOMAIN aa", "authority: empty.test. 60 SOA empty.test. hostmaster.empty.test. 60"}},
		{"a.example.com.", []string{"NOERROR aa", "authority: example.com. 60 SOA example.com. hostmaster.example.com. 60"}},
	} {
		if diff := cmp.Diff(tt.want, shown(ask(t, "udp", addr, question(tt.qname, dns.TypeA)))); diff != "" {
			t.Errorf("%s -want +got:\n%s", tt.qname, diff)
		}
	}
	for what, tt := range map[string]struct {
		set  *record.RRset
		want error
	}{
		"outside":           {parse(t, "A", "example.org", "www", "192.0.2.1"), backend.ErrNotServed},
		"not at a boundary": {parse(t, "A", "notexample.com", "www", "192.0.2.1"), backend.ErrNotServed},
		"CNAME at a zone":   {parse(t, "CNAME", "test", "empty", "www.example.com"), backend.ErrConflict},
	} {
		if err := s.Upsert(t.Context(), tt.set); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", what, err, tt.want)
		}
	}
}

func TestZoneGoesWithItsLastRecord(t *testing.T) {
	s := fill(t, memory.Options{}, "A example.com www 192.0.2.1", "A example.com api 192.0.2.2")
	addr := listen(t, s)
	rcode := func(qname string) string {
		return dns.RcodeToString[ask(t, "udp", addr, question(qname, dns.TypeA)).Rcode]
	}
	remove := func(sub string) {
		t.Helper()
		if existed, err := s.Delete(t.Context(), backend.IDOf(parse(t, "A", "example.com", sub, "192.0.2.1"))); err != nil || !existed {
			t.Fatalf("existed %t, error %v", existed, err)
		}
	}
	remove("www")
	if got := rcode("www.example.com."); got != "NXDOMAIN" {
		t.Errorf("after one of two: %s", got)
	}
	remove("api")
	if got := rcode("www.example.com."); got != "REFUSED" {
		t.Errorf("after both: %s", got)
	}
}

func TestSerialGrows(t *testing.T) {
	s := fill(t, memory.Options{}, "A example.com www 192.0.2.1")
	addr := listen(t, s)
	serial := func() uint32 {
		return ask(t, "udp", addr, question("example.com.", dns.TypeSOA)).Answer[0].(*dns.SOA).Serial
	}
	first := serial()
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "www", "192.0.2.2")); err != nil {
		t.Fatal(err)
	}
	second := serial()
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "www", "192.0.2.2")); err != nil {
		t.Fatal(err)
	}
	if third := serial(); second <= first || third != second {
		t.Errorf("serials %d, %d after a change, %d after none", first, second, third)
	}
}

func TestListenFails(t *testing.T) {
	s := fill(t, memory.Options{})
	addr := listen(t, s)
	if l, err := s.Listen(addr); err == nil {
		t.Errorf("bound %s twice", l.Addr())
	}
}

// TestTCPPortTaken holds only the TCP side of a port, so that only the second of the two addresses cannot be bound.
func TestTCPPortTaken(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	if l, err := fill(t, memory.Options{}).Listen(tcp.Addr().String()); err == nil {
		t.Errorf("bound %s", l.Addr())
	}
}
