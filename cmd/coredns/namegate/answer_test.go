package namegate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

const ds = "12345 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE7FA8A1A1A1A1A1A1A1A1A1A1"

// internet is a set of zones with everything that an answer can depend on.
func internet(t testing.TB) []published {
	t.Helper()
	return []published{
		publish(t, "dns/org", "u1", "example.org.", 10,
			"@ 300 NS ns.example.org.", "@ 300 MX 10 mail.example.org.", `@ 300 TXT "v=spf1 -all"`,
			"ns 300 A 192.0.2.53", "www 300 A 192.0.2.1", "www 300 A 192.0.2.2", "www 300 AAAA 2001:db8::1", "mail 300 A 192.0.2.25",
			"alias 300 CNAME www.example.org.", "far 300 CNAME alias.example.org.", "lost 300 CNAME nowhere.example.org.",
			"noaaaa 300 CNAME mail.example.org.", "toother 300 CNAME host.other.net.", "toothernone 300 CNAME none.other.net.",
			"toothernodata 300 CNAME ns.other.net.", "tochild 300 CNAME www.dev.example.org.", "tochildnone 300 CNAME none.dev.example.org.",
			"todeleg 300 CNAME a.sub.example.org.", "away 300 CNAME www.example.com.", "ring 300 CNAME ring.other.net.",
			"*.wild 300 A 192.0.2.7", "host.wild 300 TXT \"x\"", "*.walias 300 CNAME www.example.org.", "deep.ent 300 A 192.0.2.8",
			"sub 300 NS ns.sub.example.org.", "sub 300 NS ns.other.net.", "sub 300 NS ns.example.org.", "ns.sub 300 A 192.0.2.99", "sub 300 DS "+ds,
			"dev 300 NS ns.dev.example.org.", "ns.dev 300 A 192.0.2.54", "dev 300 DS "+ds,
			"_sip._tcp 300 SRV 0 0 5060 www.example.org.", "tree 300 DNAME other.net."),
		publish(t, "dns/dev", "u2", "dev.example.org.", 20, "@ 300 NS ns.dev.example.org.", "ns 300 A 192.0.2.54", "www 300 A 192.0.2.80"),
		publish(t, "web/net", "u3", "other.net.", 30, "@ 300 NS ns.other.net.", "ns 300 A 198.51.100.53", "host 300 A 198.51.100.1",
			"ring 300 CNAME ring.example.org."),
		publish(t, "web/bare", "u4", "bare.net.", 40, "@ 300 NS ns.bare.net."),
		publish(t, "web/undel", "u5", "undelegated.example.org.", 50, "@ 300 NS ns.other.net."),
	}
}

func soaOf(origin string, serial int) string {
	return fmt.Sprintf("%s 60 SOA ns.%s noc.%s %d 7200 3600 86400 60", origin, origin, origin, serial)
}

// short writes a record as one line without its class.
func short(rr dns.RR) string {
	return strings.ReplaceAll(strings.Replace(rr.String(), "\tIN\t", "\t", 1), "\t", " ")
}

func shorts(rrs []dns.RR) string {
	var out []string
	for _, rr := range rrs {
		if rr.Header().Rrtype != dns.TypeOPT {
			out = append(out, short(rr))
		}
	}
	return strings.Join(out, "\n")
}

// next answers like a plugin that knows one name.
var next = plugin.HandlerFunc(func(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	m := new(dns.Msg)
	m.SetRcode(r, dns.RcodeNotZone)
	return dns.RcodeSuccess, w.WriteMsg(m)
})

// ask puts a question to the plugin and returns the message, or one with the code that it returned.
func (n *Namegate) asked(t testing.TB, name string, qtype uint16, tcp, do bool) *dns.Msg {
	t.Helper()
	r := new(dns.Msg)
	r.SetQuestion(name, qtype)
	if do {
		r.SetEdns0(4096, true)
	}
	rec := dnstest.NewRecorder(&test.ResponseWriter{TCP: tcp})
	code, err := n.ServeDNS(t.Context(), rec, r)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Msg == nil {
		return new(dns.Msg).SetRcode(r, code)
	}
	if _, err := rec.Msg.Pack(); err != nil {
		t.Fatal(err)
	}
	return rec.Msg
}

// sorted splits lines: records of a set are in no order.
func sorted(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }

func lines(l ...string) string { return strings.Join(l, "\n") }

func TestAnswers(t *testing.T) {
	n := pluginWith(t, internet(t)...)
	orgSOA, devSOA, netSOA := soaOf("example.org.", 10), soaOf("dev.example.org.", 20), soaOf("other.net.", 30)
	orgNS, netNS, devNS := "example.org. 300 NS ns.example.org.", "other.net. 300 NS ns.other.net.", "dev.example.org. 300 NS ns.dev.example.org."
	www := lines("www.example.org. 300 A 192.0.2.1", "www.example.org. 300 A 192.0.2.2")
	alias := "alias.example.org. 300 CNAME www.example.org."
	subNS := lines("sub.example.org. 300 NS ns.example.org.", "sub.example.org. 300 NS ns.other.net.", "sub.example.org. 300 NS ns.sub.example.org.")
	subGlue := lines("ns.sub.example.org. 300 A 192.0.2.99", "ns.example.org. 300 A 192.0.2.53")
	for _, tc := range []struct {
		name              string
		qtype             uint16
		do, tcp           bool
		rcode             int
		referral          bool
		answer, ns, extra string
	}{
		{name: "www.example.org.", qtype: dns.TypeA, answer: www, ns: orgNS},
		{name: "wWw.EXAMPLE.org.", qtype: dns.TypeA, answer: www, ns: orgNS},
		{name: "www.example.org.", qtype: dns.TypeA, do: true, answer: www, ns: orgNS},
		{name: "example.org.", qtype: dns.TypeSOA, answer: strings.Replace(orgSOA, " 60 ", " 600 ", 1), ns: orgNS},
		{name: "example.org.", qtype: dns.TypeNS, answer: orgNS, extra: "ns.example.org. 300 A 192.0.2.53"},
		{name: "example.org.", qtype: dns.TypeMX, answer: "example.org. 300 MX 10 mail.example.org.", ns: orgNS, extra: "mail.example.org. 300 A 192.0.2.25"},
		{name: "_sip._tcp.example.org.", qtype: dns.TypeSRV, answer: "_sip._tcp.example.org. 300 SRV 0 0 5060 www.example.org.", ns: orgNS,
			extra: lines(www, "www.example.org. 300 AAAA 2001:db8::1")},
		// What does not exist.
		{name: "none.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, ns: orgSOA},
		{name: "none.example.org.", qtype: dns.TypeA, do: true, rcode: dns.RcodeNameError, ns: orgSOA},
		{name: "below.www.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, ns: orgSOA},
		{name: "mail.example.org.", qtype: dns.TypeAAAA, ns: orgSOA},
		{name: "example.org.", qtype: dns.TypeAAAA, ns: orgSOA},
		{name: "ent.example.org.", qtype: dns.TypeA, ns: orgSOA},
		{name: "_tcp.example.org.", qtype: dns.TypeSRV, ns: orgSOA},
		{name: "bare.net.", qtype: dns.TypeA, ns: soaOf("bare.net.", 40)},
		{name: "x.bare.net.", qtype: dns.TypeA, rcode: dns.RcodeNameError, ns: soaOf("bare.net.", 40)},
		// Wildcards.
		{name: "a.wild.example.org.", qtype: dns.TypeA, answer: "a.wild.example.org. 300 A 192.0.2.7", ns: orgNS},
		{name: "b.a.wild.example.org.", qtype: dns.TypeA, answer: "b.a.wild.example.org. 300 A 192.0.2.7", ns: orgNS},
		{name: "a.wild.example.org.", qtype: dns.TypeAAAA, ns: orgSOA},
		{name: "host.wild.example.org.", qtype: dns.TypeA, ns: orgSOA},
		{name: "a.host.wild.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, ns: orgSOA},
		{name: "*.wild.example.org.", qtype: dns.TypeA, answer: "*.wild.example.org. 300 A 192.0.2.7", ns: orgNS},
		{name: "a.walias.example.org.", qtype: dns.TypeA, answer: lines("a.walias.example.org. 300 CNAME www.example.org.", www), ns: orgNS},
		// Aliases.
		{name: "alias.example.org.", qtype: dns.TypeA, answer: lines(alias, www), ns: orgNS},
		{name: "alias.example.org.", qtype: dns.TypeCNAME, answer: alias, ns: orgNS},
		{name: "far.example.org.", qtype: dns.TypeA, answer: lines("far.example.org. 300 CNAME alias.example.org.", alias, www), ns: orgNS},
		{name: "lost.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, answer: "lost.example.org. 300 CNAME nowhere.example.org.", ns: orgSOA},
		{name: "noaaaa.example.org.", qtype: dns.TypeAAAA, answer: "noaaaa.example.org. 300 CNAME mail.example.org.", ns: orgSOA},
		{name: "toother.example.org.", qtype: dns.TypeA, answer: lines("toother.example.org. 300 CNAME host.other.net.", "host.other.net. 300 A 198.51.100.1"), ns: netNS},
		{name: "toothernone.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, answer: "toothernone.example.org. 300 CNAME none.other.net.", ns: netSOA},
		{name: "toothernodata.example.org.", qtype: dns.TypeMX, answer: "toothernodata.example.org. 300 CNAME ns.other.net.", ns: netSOA},
		{name: "tochild.example.org.", qtype: dns.TypeA, answer: lines("tochild.example.org. 300 CNAME www.dev.example.org.", "www.dev.example.org. 300 A 192.0.2.80"), ns: devNS},
		{name: "tochildnone.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError, answer: "tochildnone.example.org. 300 CNAME none.dev.example.org.", ns: devSOA},
		{name: "todeleg.example.org.", qtype: dns.TypeA, answer: "todeleg.example.org. 300 CNAME a.sub.example.org.", ns: subNS, extra: subGlue},
		{name: "x.tree.example.org.", qtype: dns.TypeA, rcode: dns.RcodeNameError,
			answer: lines("tree.example.org. 300 DNAME other.net.", "x.tree.example.org. 300 CNAME x.other.net."), ns: netSOA},
		{name: "host.tree.example.org.", qtype: dns.TypeA, answer: lines("tree.example.org. 300 DNAME other.net.", "host.tree.example.org. 300 CNAME host.other.net.",
			"host.other.net. 300 A 198.51.100.1"), ns: netNS},
		// Delegations.
		{name: "a.sub.example.org.", qtype: dns.TypeA, referral: true, ns: subNS, extra: subGlue},
		{name: "sub.example.org.", qtype: dns.TypeNS, referral: true, ns: subNS, extra: subGlue},
		{name: "a.sub.example.org.", qtype: dns.TypeA, do: true, referral: true, ns: lines(subNS, "sub.example.org. 300 DS "+ds), extra: subGlue},
		{name: "sub.example.org.", qtype: dns.TypeDS, answer: "sub.example.org. 300 DS " + ds, ns: orgNS},
		{name: "www.dev.example.org.", qtype: dns.TypeA, answer: "www.dev.example.org. 300 A 192.0.2.80", ns: devNS},
		{name: "dev.example.org.", qtype: dns.TypeDS, answer: "dev.example.org. 300 DS " + ds, ns: orgNS},
		{name: "dev.example.org.", qtype: dns.TypeA, ns: devSOA},
		{name: "other.net.", qtype: dns.TypeDS, ns: netSOA},
		{name: "undelegated.example.org.", qtype: dns.TypeDS, ns: soaOf("undelegated.example.org.", 50)},
		// Everything.
		{name: "www.example.org.", qtype: dns.TypeANY, answer: www},
		{name: "www.example.org.", qtype: dns.TypeANY, tcp: true, answer: lines(www, "www.example.org. 300 AAAA 2001:db8::1")},
		{name: "a.wild.example.org.", qtype: dns.TypeANY, answer: "a.wild.example.org. 300 A 192.0.2.7"},
		{name: "alias.example.org.", qtype: dns.TypeANY, answer: alias, ns: orgNS},
		{name: "none.example.org.", qtype: dns.TypeANY, rcode: dns.RcodeNameError, ns: orgSOA},
		{name: "ent.example.org.", qtype: dns.TypeANY, ns: orgSOA},
		{name: "bare.net.", qtype: dns.TypeANY, tcp: true, answer: lines("bare.net. 300 NS ns.bare.net.", strings.Replace(soaOf("bare.net.", 40), " 60 ", " 600 ", 1))},
		// Not ours to say.
		{name: "www.example.com.", qtype: dns.TypeA, rcode: dns.RcodeRefused},
		{name: "example.org.", qtype: dns.TypeAXFR, tcp: true, rcode: dns.RcodeRefused},
		{name: "example.org.", qtype: dns.TypeIXFR, tcp: true, rcode: dns.RcodeRefused},
	} {
		t.Run(fmt.Sprintf("%s %s do=%t tcp=%t", tc.name, dns.TypeToString[tc.qtype], tc.do, tc.tcp), func(t *testing.T) {
			m := n.asked(t, tc.name, tc.qtype, tc.tcp, tc.do)
			if m.Rcode != tc.rcode {
				t.Errorf("%s, want %s", dns.RcodeToString[m.Rcode], dns.RcodeToString[tc.rcode])
			}
			if authoritative := !tc.referral && tc.rcode != dns.RcodeRefused; m.Authoritative != authoritative {
				t.Errorf("authoritative is %t, want %t", m.Authoritative, authoritative)
			}
			for section, diff := range map[string]string{
				"answer": cmp.Diff(sorted(tc.answer), sorted(shorts(m.Answer))), "authority": cmp.Diff(sorted(tc.ns), sorted(shorts(m.Ns))), "additional": cmp.Diff(sorted(tc.extra), sorted(shorts(m.Extra))),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", section, diff)
				}
			}
		})
	}
}

// TestAnswersThatDiffered has what other servers once answered otherwise, and rightly so (see TestLikeOtherServers).
func TestAnswersThatDiffered(t *testing.T) {
	const label = "a23456789012345678901234567890123456789012345678901234567890"
	zoneLines := []string{
		"@ 300 NS ns.example.org.", "*.w 300 A 192.0.2.7", "x.b.w 300 A 192.0.2.8", "*.cw 300 CNAME end.example.org.", "x.b.cw 300 A 192.0.2.8", "end 300 A 192.0.2.9",
		"*.tosub 300 CNAME a.sub.example.org.", "twice 300 CNAME x.tosub.example.org.", "sub 300 NS ns.beside.example.org.", "sub 300 DS " + ds,
		"beside 300 NS ns.beside.example.org.", "ns.beside 300 A 192.0.2.61", "ns.beside 300 AAAA 2001:db8::61",
		"dev 300 NS ns.beside.example.org.", "dev 300 DS " + ds, "long 300 DNAME " + label + "." + label + "." + label + ".example.net.", "tolong 300 CNAME " + label + ".long.example.org.",
		"ring1 300 CNAME ring2.example.org.", "ring2 300 CNAME ring1.example.org.",
	}
	chain := make([]string, 0, 14)
	for i := range cap(chain) - 1 {
		chain = append(chain, fmt.Sprintf("c%d.example.org. 300 CNAME c%d.example.org.", i, i+1))
	}
	chain = append(chain, "c13.example.org. 300 CNAME end.example.org.")
	for _, line := range chain {
		zoneLines = append(zoneLines, strings.Replace(line, ".example.org. ", " ", 1))
	}
	n := pluginWith(t, publish(t, "dns/org", "u1", org, 10, zoneLines...),
		publish(t, "dns/dev", "u2", "dev.example.org.", 20, "@ 300 NS ns.dev.example.org.", "todev 300 CNAME dev.example.org."))
	orgNS, orgSOA, end := "example.org. 300 NS ns.example.org.", soaOf(org, 10), "end.example.org. 300 A 192.0.2.9"
	toSub := "x.tosub.example.org. 300 CNAME a.sub.example.org."
	subNS, glue := "sub.example.org. 300 NS ns.beside.example.org.", "ns.beside.example.org. 300 A 192.0.2.61\nns.beside.example.org. 300 AAAA 2001:db8::61"
	dname := "long.example.org. 300 DNAME " + label + "." + label + "." + label + ".example.net."
	for _, tc := range []struct {
		case_             string
		name              string
		qtype             uint16
		rcode             int
		answer, ns, extra string
	}{
		{case_: "no wildcard for a name that is empty", name: "b.w.", qtype: dns.TypeA, ns: orgSOA},
		{case_: "no wildcard below a name that is empty", name: "y.b.w.", qtype: dns.TypeA, rcode: dns.RcodeNameError, ns: orgSOA},
		{case_: "the wildcard beside it", name: "y.w.", qtype: dns.TypeA, answer: "y.w.example.org. 300 A 192.0.2.7", ns: orgNS},
		{case_: "no alias of a wildcard for a name that is empty", name: "b.cw.", qtype: dns.TypeA, ns: orgSOA},
		{case_: "addresses in another delegation", name: "a.sub.", qtype: dns.TypeA, ns: subNS + "\nsub.example.org. 300 DS " + ds, extra: glue},
		{case_: "one DS after two aliases", name: "twice.", qtype: dns.TypeA, answer: lines("twice.example.org. 300 CNAME x.tosub.example.org.", toSub),
			ns: subNS + "\nsub.example.org. 300 DS " + ds, extra: glue},
		{case_: "DS of the parent for an alias to the apex", name: "todev.dev.", qtype: dns.TypeDS,
			answer: lines("todev.dev.example.org. 300 CNAME dev.example.org.", "dev.example.org. 300 DS "+ds), ns: orgNS},
		{case_: "a name that a DNAME makes too long", name: label + ".long.", qtype: dns.TypeA, rcode: dns.RcodeYXDomain, answer: dname},
		{case_: "the same behind an alias", name: "tolong.", qtype: dns.TypeA, rcode: dns.RcodeYXDomain, answer: lines("tolong.example.org. 300 CNAME "+label+".long.example.org.", dname)},
		{case_: "eleven aliases", name: "c3.", qtype: dns.TypeA, answer: lines(append(chain[3:len(chain):len(chain)], end)...), ns: orgNS},
		{case_: "ten aliases", name: "c4.", qtype: dns.TypeA, answer: lines(append(chain[4:len(chain):len(chain)], end)...), ns: orgNS},
		{case_: "fourteen aliases", name: "c0.", qtype: dns.TypeA, answer: lines(append(chain[:len(chain):len(chain)], end)...), ns: orgNS},
		{case_: "ten aliases to no such type", name: "c4.", qtype: dns.TypeMX, answer: lines(chain[4:]...), ns: orgSOA},
		{case_: "fourteen aliases to no name servers", name: "c0.", qtype: dns.TypeNS, answer: lines(chain...), ns: orgSOA},
		{case_: "aliases in a circle", name: "ring1.", qtype: dns.TypeTXT, rcode: dns.RcodeServerFailure},
	} {
		t.Run(tc.case_, func(t *testing.T) {
			m := n.asked(t, tc.name+org, tc.qtype, false, true)
			if m.Rcode != tc.rcode {
				t.Errorf("%s, want %s", dns.RcodeToString[m.Rcode], dns.RcodeToString[tc.rcode])
			}
			if tc.rcode == dns.RcodeServerFailure {
				return
			}
			for section, diff := range map[string]string{
				"answer": cmp.Diff(tc.answer, shorts(m.Answer)), "authority": cmp.Diff(tc.ns, shorts(m.Ns)), "additional": cmp.Diff(tc.extra, shorts(m.Extra)),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", section, diff)
				}
			}
		})
	}
}

// An answer that fits once the addresses of its targets are left out is not truncated, and a referral keeps what it is about.
func TestOnlyWhatIsOptionalIsLeftOut(t *testing.T) {
	zoneLines := []string{"@ 300 NS ns.example.org."}
	for i := range 12 {
		zoneLines = append(zoneLines, fmt.Sprintf("some 300 MX %d mail%d.example.org.", i, i), fmt.Sprintf("mail%d 300 AAAA 2001:db8::%d", i, i),
			fmt.Sprintf("cut 300 NS ns%d.cut.example.org.", i), fmt.Sprintf("ns%d.cut 300 AAAA 2001:db8::%d", i, i))
	}
	(&memory{begin: func(f *feed) { f.lists(t, publish(t, "dns/org", "u1", org, 10, zoneLines...)) }}).install(t)
	s := serve(t, "{addr} {\nbind 127.0.0.1\nnamegate {\nkubeconfig a\n}\n}")
	for _, tc := range []struct {
		name              string
		tcp               bool
		truncated         bool
		answer, authority int
		extra             []int // at least and at most
	}{
		{"some.", false, false, 12, 1, []int{0, 0}},
		{"some.", true, false, 12, 1, []int{12, 12}},
		{"cut.", false, true, 0, 12, []int{1, 11}},
		{"cut.", true, false, 0, 12, []int{12, 12}},
	} {
		client := &dns.Client{Net: "udp"}
		if tc.tcp {
			client.Net = "tcp"
		}
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion(tc.name+org, dns.TypeMX), s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if m.Truncated != tc.truncated || len(m.Answer) != tc.answer || len(m.Ns) != tc.authority || len(m.Extra) < tc.extra[0] || len(m.Extra) > tc.extra[1] {
			t.Errorf("%s %s: truncated %t, with %d, %d and %d records", tc.name, client.Net, m.Truncated, len(m.Answer), len(m.Ns), len(m.Extra))
		}
	}
}

// An alias of which no server knows the end is a failure of it, with what is known (RFC 6604).
func TestAliasOutOfReach(t *testing.T) {
	n := pluginWith(t, internet(t)...)
	for _, name := range []string{"away.example.org.", "ring.example.org."} {
		m := n.asked(t, name, dns.TypeA, false, false)
		if len(m.Answer) == 0 || m.Rcode != dns.RcodeServerFailure {
			t.Errorf("%s: %v", name, m)
		}
	}
}

func TestNext(t *testing.T) {
	all := internet(t)
	const passed = dns.RcodeNotZone
	for _, tc := range []struct {
		case_     string
		origins   plugin.Zones
		fall      []string
		name      string
		qtype     uint16
		unsynced  bool
		wantRcode int
	}{
		{"no zone of ours", plugin.Zones{"."}, nil, "www.example.com.", dns.TypeA, false, passed},
		{"a zone of ours", plugin.Zones{"."}, nil, "www.example.org.", dns.TypeA, false, dns.RcodeSuccess},
		{"no name of it", plugin.Zones{"."}, nil, "none.example.org.", dns.TypeA, false, dns.RcodeNameError},
		{"no name of it, fallthrough", plugin.Zones{"."}, []string{"."}, "none.example.org.", dns.TypeA, false, passed},
		{"no name of it, fallthrough elsewhere", plugin.Zones{"."}, []string{"other.net."}, "none.example.org.", dns.TypeA, false, dns.RcodeNameError},
		{"another type, fallthrough", plugin.Zones{"."}, []string{"."}, "mail.example.org.", dns.TypeAAAA, false, dns.RcodeSuccess},
		{"a name with names below it, fallthrough", plugin.Zones{"."}, []string{"."}, "ent.example.org.", dns.TypeA, false, dns.RcodeSuccess},
		{"a zone that is not listed", plugin.Zones{"dev.example.org."}, nil, "www.example.org.", dns.TypeA, false, passed},
		{"a zone below a listed one", plugin.Zones{"example.org."}, nil, "www.dev.example.org.", dns.TypeA, false, dns.RcodeSuccess},
		{"a listed name within a zone", plugin.Zones{"www.example.org."}, nil, "www.example.org.", dns.TypeA, false, passed},
		{"DS of a zone whose parent is not listed", plugin.Zones{"dev.example.org."}, nil, "dev.example.org.", dns.TypeDS, false, dns.RcodeSuccess},
		{"before the first list", plugin.Zones{"example.org."}, nil, "www.example.org.", dns.TypeA, true, dns.RcodeServerFailure},
		{"before the first list, not below", plugin.Zones{"example.org."}, nil, "www.example.com.", dns.TypeA, true, passed},
		{"before the first list, below the root", plugin.Zones{"."}, nil, "www.example.com.", dns.TypeA, true, passed},
	} {
		t.Run(tc.case_, func(t *testing.T) {
			n := pluginWith(t, all...)
			if tc.unsynced {
				n = &Namegate{feed: newFeed(kinds)}
			}
			n.origins, n.fall.Zones, n.Next = tc.origins, tc.fall, next
			if m := n.asked(t, tc.name, tc.qtype, false, false); m.Rcode != tc.wantRcode {
				t.Errorf("%s, want %s", dns.RcodeToString[m.Rcode], dns.RcodeToString[tc.wantRcode])
			}
		})
	}
}

// Without another plugin, names that are not ours are refused, and before the first list nobody knows which are.
func TestNoNext(t *testing.T) {
	n := &Namegate{options: options{origins: plugin.Zones{"."}}, feed: newFeed(kinds)}
	if m := n.asked(t, "www.example.com.", dns.TypeA, false, false); m.Rcode != dns.RcodeServerFailure {
		t.Errorf("%s before the first list", dns.RcodeToString[m.Rcode])
	}
	n.feed.lists(t)
	n.feed.awaitWhole(t.Context())
	if m := n.asked(t, "www.example.com.", dns.TypeA, false, false); m.Rcode != dns.RcodeRefused {
		t.Errorf("%s after it", dns.RcodeToString[m.Rcode])
	}
}

// Plugins may append to an answer; that writes nothing into the zone, nor into what another question gets.
func TestSectionsAreClipped(t *testing.T) {
	n := pluginWith(t, publish(t, "dns/org", "u1", org, 10, "@ 300 NS a.net.", "@ 300 NS b.net.", "@ 300 NS c.net.",
		"www 300 A 192.0.2.1", "www 300 A 192.0.2.2", "www 300 A 192.0.2.3"))
	m := n.asked(t, "www.example.org.", dns.TypeA, false, false)
	for _, section := range [][]dns.RR{m.Answer, m.Ns} {
		if len(section) != 3 || len(slices.Grow(section, 0)) != cap(section) {
			t.Errorf("%d records with room for %d", len(section), cap(section))
		}
	}
}
