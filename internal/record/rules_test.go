package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

var (
	label63 = strings.Repeat("a", 63)
	name253 = strings.Join([]string{label63, label63, label63, strings.Repeat("b", 61)}, ".")
)

// spec makes a Spec of www.example.com that keeps every rule if the values do, changed as asked.
func spec(kind string, values []string, changes ...func(*record.Spec)) record.Spec {
	s := record.Spec{Type: kind, Domain: "example.com", Subdomain: "www", Values: values, TTL: 300}
	switch kind {
	case "MX":
		s.Priority = number(10)
	case "SRV":
		s.Subdomain = "_sip._tcp"
		s.Priority, s.Weight, s.Port = number(10), number(20), number(5060)
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func number(n int64) *int64 { return &n }

func domain(d string) func(*record.Spec) { return func(s *record.Spec) { s.Domain = d } }

func subdomain(d string) func(*record.Spec) { return func(s *record.Spec) { s.Subdomain = d } }

func ttl(seconds int64) func(*record.Spec) { return func(s *record.Spec) { s.TTL = seconds } }

// numbers sets the metadata; nil leaves a number out.
func numbers(priority, weight, port *int64) func(*record.Spec) {
	return func(s *record.Spec) { s.Priority, s.Weight, s.Port = priority, weight, port }
}

func list(values ...string) []string { return values }

// addresses makes n different IPv4 addresses.
func addresses(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "10." + strconv.Itoa(i>>16) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255)
	}
	return out
}

// texts makes n different texts of the given length.
func texts(n, length int) []string {
	out := make([]string, n)
	for i := range out {
		tail := strconv.Itoa(i)
		out[i] = strings.Repeat("x", length-len(tail)) + tail
	}
	return out
}

// at is where a rule is to speak: a field, and the index of the value or -1.
type at struct {
	Field   string
	Index   int
	Missing bool
}

func field(name string) []at { return []at{{Field: name, Index: -1}} }

func missing(name string) []at { return []at{{Field: name, Index: -1, Missing: true}} }

func value(indexes ...int) []at {
	var out []at
	for _, i := range indexes {
		out = append(out, at{Field: record.FieldValues, Index: i})
	}
	return out
}

// breach is a record that breaks a rule, and where.
type breach struct {
	name string
	spec record.Spec
	at   []at
}

// ruleCase is how one rule is broken, and what comes close and is accepted.
type ruleCase struct {
	breaks []breach
	keeps  map[string]record.Spec
}

// nameCases are the rules of names, each broken in a domain, a subdomain or a value.
var nameCases = map[*rules.Rule]ruleCase{
	rules.NameEmpty: {
		breaks: []breach{
			{"no domain", spec("A", list("192.0.2.1"), domain("")), field("domain")},
			{"no subdomain", spec("A", list("192.0.2.1"), subdomain("")), field("subdomain")},
			{"root as domain", spec("A", list("192.0.2.1"), domain(".")), field("domain")},
			{"empty target", spec("NS", list("ns.example.net", "")), value(1)},
			{"null CNAME", spec("CNAME", list(".")), value(0)},
			{"null NS", spec("NS", list(".")), value(0)},
		},
		keeps: map[string]record.Spec{"apex": spec("A", list("192.0.2.1"), subdomain("@")), "null MX": spec("MX", list("."), numbers(number(0), nil, nil))},
	},
	rules.NameTooLong: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain(name253+"b")), field("domain")},
			{"subdomain", spec("A", list("192.0.2.1"), subdomain(name253+"b")), field("subdomain")},
			{"together", spec("A", list("192.0.2.1"), domain(name253), subdomain("w")), field("subdomain")},
			{"target", spec("CNAME", list(name253+"b")), value(0)},
		},
		keeps: map[string]record.Spec{
			"longest domain":   spec("A", list("192.0.2.1"), domain(name253), subdomain("@")),
			"longest together": spec("A", list("192.0.2.1"), domain(name253[64:]), subdomain(label63)),
			"longest target":   spec("CNAME", list(name253+".")),
		},
	},
	rules.NameLabelEmpty: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("example..com")), field("domain")},
			{"subdomain", spec("A", list("192.0.2.1"), subdomain(".www")), field("subdomain")},
			{"target", spec("MX", list("mail.example.com..")), value(0)},
		},
		keeps: map[string]record.Spec{"one trailing dot": spec("MX", list("mail.example.com."), domain("example.com."))},
	},
	rules.NameLabelTooLong: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain(label63+"a.com")), field("domain")},
			{"subdomain", spec("A", list("192.0.2.1"), subdomain(label63+"a")), field("subdomain")},
			{"target", spec("NS", list(label63+"a.example.com")), value(0)},
		},
		keeps: map[string]record.Spec{"63 characters": spec("NS", list(label63+".example.com"), subdomain(label63))},
	},
	rules.NameLabelHyphen: {
		breaks: []breach{
			{"at the start", spec("A", list("192.0.2.1"), subdomain("-www")), field("subdomain")},
			{"at the end", spec("A", list("192.0.2.1"), domain("example-.com")), field("domain")},
			{"target", spec("CNAME", list("-.example.com")), value(0)},
		},
		keeps: map[string]record.Spec{"inside": spec("CNAME", list("a--b.example.com"), subdomain("w-w--w"))},
	},
	rules.NameCharacter: {
		breaks: []breach{
			{"space", spec("A", list("192.0.2.1"), subdomain("w w")), field("subdomain")},
			{"slash", spec("A", list("192.0.2.1"), domain("example.com/")), field("domain")},
			{"newline in a target", spec("CNAME", list("a.example.net.\n@ IN A 192.0.2.66")), value(0)},
			{"zone file comment in a target", spec("NS", list("ns.example.net;")), value(0)},
			{"port in a target", spec("SRV", list("sip.example.com:5060")), value(0)},
			{"preference in a target", spec("MX", list("10 mail.example.com")), value(0)},
		},
		keeps: map[string]record.Spec{"underscores": spec("CNAME", list("_acme-challenge.example.net"), subdomain("_acme-challenge"))},
	},
	rules.NameNotASCII: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("bücher.example")), field("domain")},
			{"subdomain", spec("A", list("192.0.2.1"), subdomain("*.bücher")), field("subdomain")},
			{"target", spec("CNAME", list("bücher.example")), value(0)},
		},
		keeps: map[string]record.Spec{"A-label": spec("CNAME", list("xn--bcher-kva.example"), subdomain("xn--bcher-kva"))},
	},
	rules.NameBadALabel: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("xn--a.example")), field("domain")},
			{"subdomain", spec("A", list("192.0.2.1"), subdomain("xn--99999999999")), field("subdomain")},
			{"target", spec("CNAME", list("xn--u-ccb.example")), value(0)},
		},
		keeps: map[string]record.Spec{"right to left": spec("A", list("192.0.2.1"), domain("xn--mgbaam7a8h")), "no prefix": spec("A", list("192.0.2.1"), subdomain("xn-a"))},
	},
	rules.NameWildcard: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("*.example.com")), field("domain")},
			{"not leftmost", spec("A", list("192.0.2.1"), subdomain("www.*")), field("subdomain")},
			{"part of a label", spec("A", list("192.0.2.1"), subdomain("w*")), field("subdomain")},
			{"target", spec("CNAME", list("*.example.com")), value(0)},
		},
		keeps: map[string]record.Spec{"alone": spec("A", list("192.0.2.1"), subdomain("*")), "leftmost": spec("CNAME", list("example.net"), subdomain("*.apps"))},
	},
	rules.NameIsIP: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("192.0.2.1")), field("domain")},
			{"CNAME", spec("CNAME", list("192.0.2.1")), value(0)},
			{"MX", spec("MX", list("192.0.2.1.")), value(0)},
			{"NS", spec("NS", list("2001:db8::1")), value(0)},
			{"SRV", spec("SRV", list("sip.example.com", "192.0.2.1")), value(1)},
		},
		keeps: map[string]record.Spec{
			"subdomain of four numbers": spec("A", list("192.0.2.1"), subdomain("192.0.2.1")),
			"reverse zone":              spec("NS", list("ns.example.com"), domain("2.0.192.in-addr.arpa"), subdomain("1")),
		},
	},
	rules.NameNumericTLD: {
		breaks: []breach{
			{"domain", spec("A", list("192.0.2.1"), domain("example.123")), field("domain")},
			{"target", spec("CNAME", list("10.1")), value(0)},
		},
		keeps: map[string]record.Spec{"numeric subdomain": spec("A", list("192.0.2.1"), subdomain("10.1")), "digits inside": spec("CNAME", list("1.com"))},
	},
	rules.NameAbsoluteSubdomain: {
		breaks: []breach{
			{"one label", spec("A", list("192.0.2.1"), subdomain("www.")), field("subdomain")},
			{"whole name", spec("A", list("192.0.2.1"), subdomain("www.example.com.")), field("subdomain")},
		},
		keeps: map[string]record.Spec{"absolute domain": spec("A", list("192.0.2.1"), domain("example.com."))},
	},
	rules.NameRepeatsDomain: {
		breaks: []breach{
			{"whole name", spec("A", list("192.0.2.1"), subdomain("www.example.com")), field("subdomain")},
			{"the domain", spec("A", list("192.0.2.1"), subdomain("Example.com")), field("subdomain")},
			{"wildcard", spec("A", list("192.0.2.1"), subdomain("*.example.com")), field("subdomain")},
		},
		keeps: map[string]record.Spec{
			"only part of a label": spec("A", list("192.0.2.1"), subdomain("badexample.com")),
			"further left":         spec("A", list("192.0.2.1"), subdomain("example.com.www")),
		},
	},
}

var recordCases = map[*rules.Rule]ruleCase{
	rules.RecordType: {
		breaks: []breach{
			{"none", spec("", list("x")), field("type")},
			{"unknown", spec("PTR", list("a.example.com")), field("type")},
			{"lower case", spec("a", list("192.0.2.1")), field("type")},
			{"hostile", spec("A\nAAAA", list("192.0.2.1")), field("type")},
		},
		keeps: map[string]record.Spec{"A": spec("A", list("192.0.2.1")), "AAAA": spec("AAAA", list("2001:db8::1")), "CNAME": spec("CNAME", list("a.example.com")),
			"TXT": spec("TXT", list("a")), "MX": spec("MX", list("a.example.com")), "SRV": spec("SRV", list("a.example.com")), "NS": spec("NS", list("a.example.com"))},
	},
	rules.ValuesRequired: {
		breaks: []breach{
			{"nil", spec("A", nil), missing("values")},
			{"empty", spec("TXT", []string{}), missing("values")},
			{"CNAME", spec("CNAME", nil), missing("values")},
		},
		keeps: map[string]record.Spec{"one": spec("A", list("192.0.2.1"))},
	},
	rules.ValueDuplicate: {
		breaks: []breach{
			{"A", spec("A", list("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1")), value(2, 3)},
			{"AAAA in two spellings", spec("AAAA", list("2001:db8::1", "2001:0DB8:0:0:0:0:0:1")), value(1)},
			{"MX in two cases", spec("MX", list("mail.example.com", "Mail.Example.com.")), value(1)},
			{"TXT", spec("TXT", list("a", "a")), value(1)},
			{"null MX", spec("MX", list(".", "."), numbers(number(0), nil, nil)), value(1)},
		},
		keeps: map[string]record.Spec{
			"texts of another case": spec("TXT", list("a", "A", "a ")),
			"other addresses":       spec("A", list("192.0.2.1", "192.0.2.11")),
		},
	},
	rules.RRsetTooLarge: {
		breaks: []breach{
			{"one text", spec("TXT", texts(1, 65535)), field("values")},
			// 12 + 17 + 4 bytes of header and question; a text of 4,080 bytes needs 12 + 4,080 + 16.
			{"texts, one byte too many", spec("TXT", append(texts(15, 4080), texts(1, 3855)...)), field("values")},
			{"addresses", spec("A", addresses(4094)), field("values")},
			{"more values than any message has records", spec("A", addresses(5462)), field("values")},
			{"a great many values that are wrong", spec("TXT", make([]string, 300_000)), field("values")},
			{"a great many CNAMEs at itself", spec("CNAME", slices.Repeat(list("www.example.com"), 100_000)), field("values")},
		},
		keeps: map[string]record.Spec{
			"texts, to the byte":          spec("TXT", append(texts(15, 4080), texts(1, 3854)...)),
			"texts of escaped characters": spec("TXT", list(strings.Repeat(`"`, 40_000))),
			"texts beyond ASCII":          spec("TXT", list(strings.Repeat("ü", 30_000))),
			"addresses":                   spec("A", addresses(4093)),
			"as many as a DNSRecord has":  spec("TXT", texts(64, 1000)),
		},
	},
	rules.TTLRange: {
		breaks: []breach{
			{"negative", spec("A", list("192.0.2.1"), ttl(-1)), field("ttl")},
			{"32 bits", spec("A", list("192.0.2.1"), ttl(1<<31)), field("ttl")},
			{"more than 32 bits", spec("A", list("192.0.2.1"), ttl(1<<32+300)), field("ttl")},
		},
		keeps: map[string]record.Spec{"zero": spec("A", list("192.0.2.1"), ttl(0)), "largest": spec("A", list("192.0.2.1"), ttl(1<<31-1))},
	},
	rules.ValueIPv4: {
		breaks: []breach{
			{"name", spec("A", list("www.example.com")), value(0)},
			{"IPv6", spec("A", list("192.0.2.1", "2001:db8::1")), value(1)},
			{"mapped", spec("A", list("::ffff:192.0.2.1")), value(0)},
			{"leading zero", spec("A", list("192.0.2.01")), value(0)},
			{"three numbers", spec("A", list("192.0.2")), value(0)},
			{"too large a number", spec("A", list("192.0.2.256")), value(0)},
			{"prefix", spec("A", list("192.0.2.0/24")), value(0)},
			{"port", spec("A", list("192.0.2.1:80")), value(0)},
			{"space", spec("A", list(" 192.0.2.1")), value(0)},
			{"trailing dot", spec("A", list("192.0.2.1.")), value(0)},
			{"hexadecimal", spec("A", list("0xc0.0.2.1")), value(0)},
			{"one number", spec("A", list("3221225985")), value(0)},
			{"other digits", spec("A", list("١٩٢.0.2.1")), value(0)},
			{"empty", spec("A", list("")), value(0)},
		},
		keeps: map[string]record.Spec{"public": spec("A", list("192.0.2.1")), "private": spec("A", list("10.0.0.0", "192.168.1.255"))},
	},
	rules.ValueIPv6: {
		breaks: []breach{
			{"IPv4", spec("AAAA", list("192.0.2.1")), value(0)},
			{"mapped", spec("AAAA", list("::ffff:192.0.2.1")), value(0)},
			{"compatible", spec("AAAA", list("::192.0.2.1")), value(0)},
			{"mapped, in hexadecimal", spec("AAAA", list("::ffff:c000:201")), value(0)},
			{"zone", spec("AAAA", list("2001:db8::1%eth0")), value(0)},
			{"brackets", spec("AAAA", list("[2001:db8::1]")), value(0)},
			{"prefix", spec("AAAA", list("2001:db8::/32")), value(0)},
			{"two gaps", spec("AAAA", list("2001::db8::1")), value(0)},
			{"nine groups", spec("AAAA", list("1:2:3:4:5:6:7:8:9")), value(0)},
			{"empty", spec("AAAA", list("")), value(0)},
		},
		keeps: map[string]record.Spec{
			"upper case and zeros": spec("AAAA", list("2001:0DB8:0000::0001")),
			"NAT64":                spec("AAAA", list("64:ff9b::192.0.2.1")),
			"unique local":         spec("AAAA", list("fd00::1")),
		},
	},
	rules.AddressSpecial: {
		breaks: []breach{
			{"IPv4", spec("A", list("0.0.0.0", "127.0.0.1", "127.255.255.254", "169.254.1.1", "224.0.0.1", "239.1.2.3", "255.255.255.255")), value(0, 1, 2, 3, 4, 5, 6)},
			{"IPv6", spec("AAAA", list("::", "::1", "fe80::1", "ff02::1")), value(0, 1, 2, 3)},
		},
		keeps: map[string]record.Spec{
			"IPv4": spec("A", list("10.0.0.1", "126.255.255.255", "128.0.0.1", "169.253.255.255", "172.16.0.1", "192.168.0.1", "240.0.0.1", "255.255.255.254")),
			"IPv6": spec("AAAA", list("fd00::1", "fec0::1", "2001:db8::1")),
		},
	},
	rules.HostUnderscore: {
		breaks: []breach{
			{"A", spec("A", list("192.0.2.1"), subdomain("my_host")), field("subdomain")},
			{"AAAA", spec("AAAA", list("2001:db8::1"), subdomain("_host")), field("subdomain")},
			{"in the domain", spec("A", list("192.0.2.1"), domain("_a.example.com")), field("subdomain")},
		},
		keeps: map[string]record.Spec{
			"TXT":    spec("TXT", list("v=DMARC1; p=none"), subdomain("_dmarc")),
			"CNAME":  spec("CNAME", list("_x.acm.example.net"), subdomain("_x")),
			"SRV":    spec("SRV", list("sip.example.com")),
			"hyphen": spec("A", list("192.0.2.1"), subdomain("my-host")),
		},
	},

	rules.CNAMESingle: {
		breaks: []breach{{"two", spec("CNAME", list("a.example.com", "b.example.com")), field("values")}},
		keeps:  map[string]record.Spec{"one": spec("CNAME", list("a.example.com")), "two MX": spec("MX", list("a.example.com", "b.example.com"))},
	},
	rules.CNAMESelf: {
		breaks: []breach{
			{"same spelling", spec("CNAME", list("www.example.com")), value(0)},
			{"another spelling", spec("CNAME", list("WWW.Example.com."), domain("EXAMPLE.com.")), value(0)},
		},
		keeps: map[string]record.Spec{
			"the domain":                   spec("CNAME", list("example.com")),
			"below itself":                 spec("CNAME", list("a.www.example.com")),
			"MX at its target":             spec("MX", list("www.example.com")),
			"another name of the same end": spec("CNAME", list("www.example.com"), subdomain("ww")),
		},
	},
	rules.CNAMEAtApex: {
		breaks: []breach{{"apex", spec("CNAME", list("a.example.net"), subdomain("@")), field("subdomain")}},
		keeps: map[string]record.Spec{
			"below it":       spec("CNAME", list("a.example.net")),
			"wildcard":       spec("CNAME", list("a.example.net"), subdomain("*")),
			"A at the apex":  spec("A", list("192.0.2.1"), subdomain("@")),
			"NS at the apex": spec("NS", list("ns.example.net"), subdomain("@")),
		},
	},

	rules.TXTCharacter: {
		breaks: []breach{
			{"newline", spec("TXT", list("a", "a\nb")), value(1)},
			{"carriage return", spec("TXT", list("a\rb")), value(0)},
			{"tab", spec("TXT", list("a\tb")), value(0)},
			{"NUL", spec("TXT", list("a\x00")), value(0)},
			{"escape", spec("TXT", list("\x1b[31m")), value(0)},
			{"DEL", spec("TXT", list("\x7f")), value(0)},
			{"C1 control", spec("TXT", list("a\u0085b")), value(0)},
			{"right-to-left override", spec("TXT", list("a\u202eb")), value(0)},
			{"zero-width space", spec("TXT", list("a\u200bb")), value(0)},
			{"byte order mark", spec("TXT", list("\ufeffa")), value(0)},
			{"soft hyphen", spec("TXT", list("a\u00adb")), value(0)},
			{"line separator", spec("TXT", list("a\u2028b")), value(0)},
			{"tag character", spec("TXT", list("a\U000e0041")), value(0)},
			{"invalid UTF-8", spec("TXT", list("a\xff")), value(0)},
			{"surrogate", spec("TXT", list("\xed\xa0\x80")), value(0)},
		},
		keeps: map[string]record.Spec{
			"letters of the world": spec("TXT", list("grüße, 世界, مرحبا, 🙂")),
			"all of ASCII":         spec("TXT", list(printable())),
			"spaces":               spec("TXT", list(" ", "  a ")),
		},
	},
	rules.TXTEmpty: {
		breaks: []breach{{"empty", spec("TXT", list("a", "")), value(1)}},
		keeps:  map[string]record.Spec{"space": spec("TXT", list(" ")), "quotes around nothing": spec("TXT", list(`""`))},
	},
	rules.TXTQuoted: {
		breaks: []breach{
			{"quoted", spec("TXT", list(`"v=spf1 -all"`)), value(0)},
			{"strings", spec("TXT", list(`"a" "b"`)), value(0)},
			{"nothing quoted", spec("TXT", list(`""`)), value(0)},
		},
		keeps: map[string]record.Spec{"quotes inside": spec("TXT", list(`a "b" c`)), "one quote": spec("TXT", list(`"`, `"a`, `a"`)), "apostrophes": spec("TXT", list(`'a'`))},
	},
	rules.TXTSPFMultiple: {
		breaks: []breach{
			{"two", spec("TXT", list("v=spf1 -all", "v=spf1 mx -all")), field("values")},
			{"of another case", spec("TXT", list("v=spf1 -all", "V=SPF1 mx -all")), field("values")},
			{"nothing after the version", spec("TXT", list("v=spf1", "v=spf1 -all")), field("values")},
		},
		keeps: map[string]record.Spec{
			"one":             spec("TXT", list("v=spf1 -all", "google-site-verification=x")),
			"another version": spec("TXT", list("v=spf1 -all", "v=spf10 -all", "spf2.0/pra -all", " v=spf1 -all")),
		},
	},

	rules.MXPriority: {
		breaks: []breach{
			{"missing", spec("MX", list("a.example.com"), numbers(nil, nil, nil)), missing("metadata.priority")},
			{"missing with a null MX", spec("MX", list("."), numbers(nil, nil, nil)), missing("metadata.priority")},
			{"negative", spec("MX", list("a.example.com"), numbers(number(-1), nil, nil)), field("metadata.priority")},
			{"17 bits", spec("MX", list("a.example.com"), numbers(number(65536), nil, nil)), field("metadata.priority")},
		},
		keeps: map[string]record.Spec{"zero": spec("MX", list("a.example.com"), numbers(number(0), nil, nil)), "largest": spec("MX", list("a.example.com"), numbers(number(65535), nil, nil))},
	},
	rules.MXNullAlone: {
		breaks: []breach{{"with another", spec("MX", list("a.example.com", "."), numbers(number(0), nil, nil)), field("values")}},
		keeps:  map[string]record.Spec{"alone": spec("MX", list("."), numbers(number(0), nil, nil))},
	},
	rules.MXNullPriority: {
		breaks: []breach{{"priority 10", spec("MX", list("."), numbers(number(10), nil, nil)), field("metadata.priority")}},
		keeps:  map[string]record.Spec{"priority 0": spec("MX", list("."), numbers(number(0), nil, nil)), "a host": spec("MX", list("a.example.com"))},
	},
	rules.SRVMetadata: {
		breaks: []breach{
			{"none", spec("SRV", list("a.example.com"), numbers(nil, nil, nil)),
				slices.Concat(missing("metadata.priority"), missing("metadata.weight"), missing("metadata.port"))},
			{"no weight", spec("SRV", list("a.example.com"), numbers(number(0), nil, number(0))), missing("metadata.weight")},
			{"no port for no service", spec("SRV", list("."), numbers(number(0), number(0), nil)), missing("metadata.port")},
			{"out of range", spec("SRV", list("a.example.com"), numbers(number(65536), number(-1), number(1<<40))),
				slices.Concat(field("metadata.priority"), field("metadata.weight"), field("metadata.port"))},
		},
		keeps: map[string]record.Spec{
			"zeros":   spec("SRV", list("a.example.com"), numbers(number(0), number(0), number(0))),
			"largest": spec("SRV", list("a.example.com"), numbers(number(65535), number(65535), number(65535))),
		},
	},
	rules.SRVOwner: {
		breaks: []breach{
			{"apex", spec("SRV", list("a.example.com"), subdomain("@")), field("subdomain")},
			{"no protocol", spec("SRV", list("a.example.com"), subdomain("_sip")), field("subdomain")},
			{"no underscore", spec("SRV", list("a.example.com"), subdomain("sip._tcp")), field("subdomain")},
			{"no underscore before the protocol", spec("SRV", list("a.example.com"), subdomain("_sip.tcp")), field("subdomain")},
			{"underscores alone", spec("SRV", list("a.example.com"), subdomain("_._")), field("subdomain")},
			{"two labels before the service", spec("SRV", list("a.example.com"), subdomain("a.b._sip._tcp")), field("subdomain")},
			{"wildcard", spec("SRV", list("a.example.com"), subdomain("*")), field("subdomain")},
		},
		keeps: map[string]record.Spec{
			"service":              spec("SRV", list("a.example.com"), subdomain("_sip._tcp")),
			"below a host":         spec("SRV", list("a.example.com"), subdomain("_ldap._tcp.dc._msdcs")),
			"any service":          spec("SRV", list("a.example.com"), subdomain("*._tcp")),
			"in the domain":        spec("SRV", list("a.example.com"), domain("_tcp.example.com"), subdomain("_sip")),
			"service instance":     spec("SRV", list("a.example.com"), subdomain("printer._ipp._tcp")),
			"instance of any name": spec("SRV", list("a.example.com"), subdomain("*._ipp._tcp")),
		},
	},
	rules.SRVNullAlone: {
		breaks: []breach{{"with another", spec("SRV", list(".", "a.example.com")), field("values")}},
		keeps:  map[string]record.Spec{"alone": spec("SRV", list("."))},
	},
	rules.NSWildcard: {
		breaks: []breach{
			{"wildcard", spec("NS", list("ns.example.net"), subdomain("*")), field("subdomain")},
			{"deeper", spec("NS", list("ns.example.net"), subdomain("*.a")), field("subdomain")},
		},
		keeps: map[string]record.Spec{"label": spec("NS", list("ns.example.net"), subdomain("a")), "wildcard MX": spec("MX", list("a.example.com"), subdomain("*"))},
	},
	rules.MetadataUnused: {
		breaks: []breach{
			{"A", spec("A", list("192.0.2.1"), numbers(number(10), number(100), number(443))), field("metadata")},
			{"TXT, out of range", spec("TXT", list("a"), numbers(nil, nil, number(-1))), field("metadata")},
			{"MX", spec("MX", list("a.example.com"), numbers(number(10), number(0), number(0))), slices.Concat(field("metadata.weight"), field("metadata.port"))},
		},
		keeps: map[string]record.Spec{"MX": spec("MX", list("a.example.com")), "SRV": spec("SRV", list("a.example.com")), "A": spec("A", list("192.0.2.1"))},
	},
	rules.TargetSingleLabel: {
		breaks: []breach{
			{"CNAME", spec("CNAME", list("web")), value(0)},
			{"MX", spec("MX", list("mail.example.com", "mail.")), value(1)},
		},
		keeps: map[string]record.Spec{"two labels": spec("CNAME", list("web.example")), "no target": spec("SRV", list("."))},
	},
}

// printable is every printable ASCII character.
func printable() string {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

func allCases() map[*rules.Rule]ruleCase {
	all := maps.Clone(nameCases)
	maps.Copy(all, recordCases)
	return all
}

func TestRule(t *testing.T) {
	for rule, c := range allCases() {
		t.Run(rule.ID, func(t *testing.T) {
			for _, b := range c.breaks {
				t.Run("breaks/"+b.name, func(t *testing.T) { checkBreach(t, rule, b) })
			}
			for name, near := range c.keeps {
				t.Run("keeps/"+name, func(t *testing.T) { checkNearMiss(t, rule, near) })
			}
		})
	}
}

// checkBreach wants the rule to speak exactly where it is broken, and the record to be refused by the rules that deny.
func checkBreach(t *testing.T, rule *rules.Rule, b breach) {
	set, problems := record.Parse(b.spec)
	checkProblems(t, b.spec, set, problems)
	var got []at
	for _, p := range problems {
		if p.Rule == rule {
			got = append(got, at{p.Field, p.Index, p.Missing})
		}
	}
	if diff := cmp.Diff(b.at, got); diff != "" {
		t.Errorf("where %s is broken (-want +got)\n%s", rule.ID, diff)
	}
	if rule.Severity == rules.Deny && set != nil {
		t.Error("the record is accepted")
	}
	if rule.Severity == rules.Warn && set == nil {
		t.Errorf("a warning refuses the record: %v", problems)
	}
}

// checkNearMiss wants the record accepted, and the rule silent.
func checkNearMiss(t *testing.T, rule *rules.Rule, near record.Spec) {
	set, problems := record.Parse(near)
	checkProblems(t, near, set, problems)
	if set == nil {
		t.Fatalf("refused: %v", problems)
	}
	for _, p := range problems {
		if p.Rule == rule {
			t.Errorf("%s speaks of %s: %s", rule.ID, p.Field, p.Detail)
		}
	}
}

// checkProblems holds what is true of the answer to any Spec.
func checkProblems(t *testing.T, s record.Spec, set *record.RRset, problems record.Problems) {
	t.Helper()
	if refused := len(problems.Denied()) > 0; refused != (set == nil) {
		t.Errorf("refused is %v, and the RRset %v", refused, set)
	}
	if (problems.Error() == "") != (len(problems) == 0) || !plain(problems.Error()) {
		t.Errorf("sentence %.500q for %d problems", problems.Error(), len(problems))
	}
	for _, p := range problems {
		if p.Rule == nil {
			t.Fatalf("a problem without a rule: %v", p.Detail)
		}
		if p.Detail == "" || !plain(p.Detail) {
			t.Errorf("detail %.500q is not short printable ASCII", p.Detail)
		}
		if p.Index >= 0 && (p.Field != record.FieldValues || p.Value != s.Values[p.Index]) {
			t.Errorf("problem with %s[%d] shows %v", p.Field, p.Index, p.Value)
		}
	}
}

// plain says whether a message is short and holds nothing of the input that could do harm.
func plain(message string) bool {
	return len(message) <= 500 && !strings.ContainsFunc(message, func(r rune) bool { return r < ' ' || r > '~' })
}

// Every rule of names.go and records.go has a case that breaks it and one that comes close.
func TestEveryRuleHasCases(t *testing.T) {
	all := allCases()
	cases := map[string]ruleCase{}
	for rule, c := range all {
		cases[rule.ID] = c
	}
	for _, file := range []string{"../rules/names.go", "../rules/records.go"} {
		ids := registeredIn(t, file)
		if len(ids) == 0 {
			t.Errorf("no rule is found in %s", file)
		}
		for _, id := range ids {
			if c := cases[id]; len(c.breaks) == 0 || len(c.keeps) == 0 {
				t.Errorf("rule %s of %s needs a case that breaks it and one that is nearly so: add both to the table", id, file)
			}
		}
	}
}

// registeredIn reads the IDs of the rules that a source file registers.
func registeredIn(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isName := pair.Key.(*ast.Ident)
		value, isText := pair.Value.(*ast.BasicLit)
		if isName && isText && key.Name == "ID" {
			id, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return true
	})
	return ids
}
