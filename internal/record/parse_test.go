package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// accept parses a record that keeps every rule that denies.
func accept(t testing.TB, s record.Spec) *record.RRset {
	t.Helper()
	set, problems := record.Parse(s)
	if set == nil {
		t.Fatalf("refused: %v", problems)
	}
	return set
}

func TestTypes(t *testing.T) {
	for _, kind := range record.Types() {
		if !kind.Known() || kind.Code() == 0 || dns.TypeToString[kind.Code()] != string(kind) {
			t.Errorf("%s: known %v, code %d", kind, kind.Known(), kind.Code())
		}
	}
	for kind, code := range map[record.Type]uint16{"": 0, "a": 0, "ANY": 0, "SOA": 6, "PTR": 12} {
		if kind.Known() || kind.Code() != code {
			t.Errorf("%q: known %v, code %d; want code %d", kind, kind.Known(), kind.Code(), code)
		}
	}
}

func TestCanonicalForm(t *testing.T) {
	tests := []struct {
		name string
		spec record.Spec
		rrs  []string // as zone file lines
	}{
		{"A, sorted", spec("A", list("192.0.2.9", "192.0.2.10"), subdomain("WWW"), domain("Example.COM."), ttl(60)),
			list("www.example.com. 60 IN A 192.0.2.10", "www.example.com. 60 IN A 192.0.2.9")},
		{"apex", spec("A", list("192.0.2.1"), subdomain("@")), list("example.com. 300 IN A 192.0.2.1")},
		{"wildcard", spec("A", list("192.0.2.1"), subdomain("*.apps"), ttl(0)), list("*.apps.example.com. 0 IN A 192.0.2.1")},
		{"AAAA", spec("AAAA", list("2001:0DB8:0:0:1::1"), ttl(1<<31-1)), list("www.example.com. 2147483647 IN AAAA 2001:db8::1:0:0:1")},
		{"CNAME", spec("CNAME", list("Other.Example.NET.")), list("www.example.com. 300 IN CNAME other.example.net.")},
		{"TXT", spec("TXT", list(`say "hi"; \ done`)), list(`www.example.com. 300 IN TXT "say \"hi\"; \\ done"`)},
		{"TXT, two texts are two records", spec("TXT", list("b", "a")), list(`www.example.com. 300 IN TXT "a"`, `www.example.com. 300 IN TXT "b"`)},
		{"TXT, split", spec("TXT", list(strings.Repeat("x", 256))), list(`www.example.com. 300 IN TXT "` + strings.Repeat("x", 255) + `" "x"`)},
		{"MX", spec("MX", list("Mail.Example.com."), numbers(number(5), nil, nil)), list("www.example.com. 300 IN MX 5 mail.example.com.")},
		{"null MX", spec("MX", list("."), numbers(number(0), nil, nil)), list("www.example.com. 300 IN MX 0 .")},
		{"SRV", spec("SRV", list("sip.example.com"), numbers(number(1), number(2), number(3))), list("_sip._tcp.example.com. 300 IN SRV 1 2 3 sip.example.com.")},
		{"no service", spec("SRV", list("."), numbers(number(0), number(0), number(0))), list("_sip._tcp.example.com. 300 IN SRV 0 0 0 .")},
		{"NS", spec("NS", list("NS1.example.net", "ns0.example.net")), list("www.example.com. 300 IN NS ns0.example.net.", "www.example.com. 300 IN NS ns1.example.net.")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, rr := range accept(t, tt.spec).RRs() {
				got = append(got, strings.ReplaceAll(rr.String(), "\t", " "))
			}
			if diff := cmp.Diff(tt.rrs, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Numbers that a type has no use for do not reach the RRset, so that they make no difference to it.
func TestUnusedMetadataMakesNoDifference(t *testing.T) {
	plain := accept(t, spec("A", list("192.0.2.1")))
	with := accept(t, spec("A", list("192.0.2.1"), numbers(number(1), number(2), number(3))))
	if !plain.Equal(with) {
		t.Errorf("%+v is not equal to %+v", plain, with)
	}
}

func TestEqual(t *testing.T) {
	base := spec("SRV", list("a.example.com", "b.example.com"))
	equal := map[string]record.Spec{
		"itself":           base,
		"another order":    spec("SRV", list("b.example.com", "a.example.com")),
		"another spelling": spec("SRV", list("A.example.com.", "b.Example.com"), subdomain("_SIP._tcp"), domain("EXAMPLE.com.")),
		"another cut":      spec("SRV", list("a.example.com", "b.example.com"), subdomain("_sip"), domain("_tcp.example.com")),
	}
	different := map[string]record.Spec{
		"owner":    spec("SRV", list("a.example.com", "b.example.com"), subdomain("_sip._udp")),
		"values":   spec("SRV", list("a.example.com", "c.example.com")),
		"fewer":    spec("SRV", list("a.example.com")),
		"TTL":      spec("SRV", list("a.example.com", "b.example.com"), ttl(301)),
		"priority": spec("SRV", list("a.example.com", "b.example.com"), numbers(number(11), number(20), number(5060))),
		"weight":   spec("SRV", list("a.example.com", "b.example.com"), numbers(number(10), number(21), number(5060))),
		"port":     spec("SRV", list("a.example.com", "b.example.com"), numbers(number(10), number(20), number(5061))),
		"type":     spec("NS", list("a.example.com", "b.example.com"), subdomain("_sip._tcp")),
	}
	set := accept(t, base)
	for name, s := range equal {
		if other := accept(t, s); !set.Equal(other) || !other.Equal(set) {
			t.Errorf("%s: not equal", name)
		}
	}
	for name, s := range different {
		if other := accept(t, s); set.Equal(other) || other.Equal(set) {
			t.Errorf("%s: equal", name)
		}
	}
}

func TestValuesIsACopy(t *testing.T) {
	set := accept(t, spec("A", list("192.0.2.1")))
	set.Values()[0] = "192.0.2.66"
	if got := set.Values()[0]; got != "192.0.2.1" {
		t.Errorf("the value became %s", got)
	}
}

// One pass finds every problem, each with its own field.
func TestAllProblemsAreFoundTogether(t *testing.T) {
	_, problems := record.Parse(record.Spec{Type: "MX", Domain: "example..com", Subdomain: "-", TTL: -1, Values: list("192.0.2.1", "ok.example.com", ""), Port: number(1)})
	var got []string
	for _, p := range problems {
		got = append(got, p.Rule.ID+" "+p.Field)
	}
	want := list("name-label-empty domain", "name-label-hyphen subdomain", "ttl-range ttl", "mx-priority metadata.priority", "metadata-unused metadata.port",
		"name-is-ip values", "name-empty values")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProblemsError(t *testing.T) {
	warning := record.Problem{Rule: rules.MetadataUnused, Field: "metadata", Detail: "leave it out"}
	refusal := record.Problem{Rule: rules.ValueIPv4, Field: "values", Detail: "give an address"}
	tests := []struct {
		name     string
		problems record.Problems
		want     string
	}{
		{"none", nil, ""},
		{"a refusal goes before a warning", record.Problems{warning, refusal}, "values: give an address (rule value-ipv4)"},
		{"a warning alone", record.Problems{warning}, "metadata: leave it out (rule metadata-unused)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.problems.Error(); got != tt.want {
				t.Errorf("got %q; want %q", got, tt.want)
			}
		})
	}
}

// What a hostile megabyte costs is bounded: short messages, and no more problems than a message has room for records.
func TestHugeSpec(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{"a", "a.", ".", "1.", "::", "ü", "\xff", "\n", "xn--a.", `\`, `"`, "_a._b.example.com"} {
		text := strings.Repeat(unit, size/len(unit))
		for _, kind := range append(record.Types(), record.Type(text)) {
			s := record.Spec{Type: string(kind), Domain: text, Subdomain: text, Values: list(text, text)}
			set, problems := record.Parse(s)
			checkProblems(t, s, set, problems)
			s = record.Spec{Type: string(kind), Domain: "example.com", Subdomain: "_a._b", Values: make([]string, size/4)}
			for i := range s.Values {
				s.Values[i] = unit
			}
			set, problems = record.Parse(s)
			checkProblems(t, s, set, problems)
			if set != nil || len(problems) > 6000 {
				t.Errorf("%d values of %q: accepted %v, %d problems", len(s.Values), unit, set != nil, len(problems))
			}
		}
	}
}

// wire packs a record, and returns its rdata.
func wire(t testing.TB, rr dns.RR) []byte {
	t.Helper()
	buffer := make([]byte, 2*dns.MaxMsgSize)
	end, err := dns.PackRR(rr, buffer, 0, nil, false)
	if err != nil {
		t.Fatalf("%v cannot be packed: %v", rr, err)
	}
	return buffer[end-int(rr.Header().Rdlength) : end]
}

// text reads the rdata of a TXT record: its character-strings, joined as receivers join them.
func text(t testing.TB, rdata []byte) string {
	t.Helper()
	var b strings.Builder
	for len(rdata) > 0 {
		length := int(rdata[0])
		if len(rdata) <= length {
			t.Fatalf("a character-string of %d bytes in the last %d", length, len(rdata)-1)
		}
		b.Write(rdata[1 : 1+length])
		rdata = rdata[1+length:]
	}
	return b.String()
}

// Every byte of a text arrives as it was written, wherever the text is split.
func TestTextArrivesAsWritten(t *testing.T) {
	for name, want := range map[string]string{
		"printable":                printable(),
		"looks like an escape":     `\123 \065 \" \\ \. \`,
		"backslash at the end":     `a\`,
		"quotes":                   `"a" "b"`,
		"comment and parentheses":  `; ( ) @ $INCLUDE /etc/passwd`,
		"beyond ASCII":             "grüße 世界 🙂",
		"255 bytes":                strings.Repeat("x", 255),
		"256 bytes":                strings.Repeat("x", 256),
		"escape across the split":  strings.Repeat("x", 254) + `\123`,
		"quote across the split":   strings.Repeat("x", 254) + `""`,
		"rune across the split":    strings.Repeat("x", 254) + "üü",
		"backslashes over a split": strings.Repeat(`\`, 600),
		"digits after a backslash": strings.Repeat("x", 253) + `\\` + "123",
		"long":                     strings.Repeat("日本語", 1365),
	} {
		t.Run(name, func(t *testing.T) {
			rr := accept(t, spec("TXT", list(want))).RRs()[0]
			rdata := wire(t, rr)
			if got := text(t, rdata); got != want {
				t.Errorf("arrives as %q", got)
			}
			if parts := len(rr.(*dns.TXT).Txt); parts != (len(want)+254)/255 {
				t.Errorf("%d bytes went into %d strings", len(want), parts)
			}
		})
	}
}

// specs generates records that keep every rule that denies.
var specs = rapid.Custom(func(t *rapid.T) record.Spec {
	kind := rapid.SampledFrom(record.Types()).Draw(t, "type")
	s := record.Spec{Type: string(kind), Domain: "example.com", TTL: rapid.Int64Range(0, record.MaxTTL).Draw(t, "ttl"),
		Subdomain: rapid.SampledFrom(list("www", "a.b", "_a._b", "X-1")).Draw(t, "subdomain")}
	number16 := func(name string) *int64 { return number(rapid.Int64Range(0, 65535).Draw(t, name)) }
	count := 8
	value := rapid.StringMatching(`[a-zA-Z_][a-z0-9_]{0,9}\.[a-z]{2,5}\.?`)
	switch kind {
	case record.A:
		value = rapid.StringMatching(`[1-9]\.[1-9]?[0-9]\.1?[0-9]\.[0-9]`)
	case record.AAAA:
		value = rapid.StringMatching(`[2-9][0-9A-Fa-f]{3}::[0-9A-Fa-f]{1,4}(:[0-9a-f]{0,3}[1-9])?`)
	case record.TXT:
		value = rapid.StringOfN(rapid.SampledFrom([]rune(printable()+"ü語🙂")), 1, 600, -1)
	case record.CNAME:
		count = 1
	case record.MX:
		s.Priority = number16("priority")
	case record.SRV:
		s.Subdomain, s.Priority, s.Weight, s.Port = "_sip._tcp", number16("priority"), number16("weight"), number16("port")
	case record.NS:
	}
	s.Values = rapid.SliceOfNDistinct(value, 1, count, func(v string) string { return canonicalKey(kind, v) }).Draw(t, "values")
	return s
})

// canonicalKey tells values apart as the wire does.
func canonicalKey(kind record.Type, value string) string {
	switch kind {
	case record.TXT:
		return value
	case record.AAAA:
		addr, _ := record.ParseIPv6(value)
		return addr.String()
	default:
		return strings.ToLower(strings.TrimSuffix(value, "."))
	}
}

func TestOrderAndSpellingMakeNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := specs.Draw(t, "spec")
		set, problems := record.Parse(s)
		if set == nil {
			t.Fatalf("%+v is refused: %v", s, problems)
		}
		other := s
		other.Values = rapid.Permutation(s.Values).Draw(t, "permutation")
		other.Domain, other.Subdomain = strings.ToUpper(s.Domain)+".", strings.ToUpper(s.Subdomain)
		if again, problems := record.Parse(other); again == nil || !again.Equal(set) || !set.Equal(again) {
			t.Errorf("%+v and %+v: %+v and %+v (%v)", s, other, set, again, problems)
		}
		if !slices.IsSorted(set.Values()) {
			t.Errorf("%q is not sorted", set.Values())
		}
	})
}

// A record that is changed in one place that matters is not equal to what it was.
func TestOneMoreValueMakesADifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := specs.Draw(t, "spec")
		set, problems := record.Parse(s)
		if set == nil {
			t.Fatalf("%+v is refused: %v", s, problems)
		}
		changed := s
		changed.TTL = (s.TTL + 1) % (record.MaxTTL + 1)
		if other, _ := record.Parse(changed); other == nil || other.Equal(set) {
			t.Error("another TTL is equal")
		}
		if len(s.Values) == 1 {
			return
		}
		changed = s
		changed.Values = s.Values[1:]
		if other, _ := record.Parse(changed); other == nil || other.Equal(set) {
			t.Error("one value less is equal")
		}
	})
}

func TestOwnerIsComposed(t *testing.T) {
	set := accept(t, spec("A", list("192.0.2.1"), domain("Example.com."), subdomain("WWW")))
	want, err := dnsname.Parse("www.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if set.Owner != want || set.Domain.String() != "example.com" || set.Subdomain != "www" {
		t.Errorf("owner %q, domain %q, subdomain %q", set.Owner, set.Domain, set.Subdomain)
	}
}

// TestZoneFileHabits: who writes the numbers of an MX or SRV record into its value is told where they go.
func TestZoneFileHabits(t *testing.T) {
	for typ, value := range map[string]string{"MX": "10 mail.example.com", "SRV": "0 5 5060 sip.example.com"} {
		_, problems := record.Parse(record.Spec{Type: typ, Domain: "example.com", Subdomain: "_sip._tcp", Values: []string{value}})
		if !slices.ContainsFunc(problems, func(p record.Problem) bool { return p.Index == 0 && strings.Contains(p.Detail, "metadata.priority") }) {
			t.Errorf("%s %q: %+v", typ, value, problems)
		}
	}
}
