package masterfile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

// compiled is what BIND makes of a master file: its records but the SOA, in a form that does not depend on how they were written. ok is false
// where it takes the file not at all.
func compiled(t *testing.T, file string) (records []string, ok bool, output string) {
	t.Helper()
	program, err := exec.LookPath("named-compilezone")
	if err != nil {
		t.Skip("named-compilezone is not installed (Debian: bind9-utils)")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	// What is not about syntax is switched off: hosts, targets, and their names.
	args := []string{"-i", "none", "-k", "ignore", "-n", "ignore", "-M", "ignore", "-S", "ignore", "-T", "ignore", "-W", "ignore", "-r", "ignore", "-m", "ignore",
		"-s", "full", "-o", out, "example.org", in}
	printed, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		return nil, false, string(printed)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	parser := dns.NewZoneParser(bytes.NewReader(text), ".", "")
	for rr, more := parser.Next(); more; rr, more = parser.Next() {
		if rr.Header().Rrtype != dns.TypeSOA {
			records = append(records, canonicalLine(rr))
		}
	}
	if parser.Err() != nil {
		t.Fatalf("%v\n%s", parser.Err(), text)
	}
	slices.Sort(records)
	return records, true, string(printed)
}

// canonicalLine writes a record in the form that ours have.
func canonicalLine(rr dns.RR) string {
	header := rr.Header()
	typ, rdata := record.Type(dns.Type(header.Rrtype).String()), strings.TrimPrefix(rr.String(), header.String())
	if unknown, is := rr.(*dns.RFC3597); is {
		rdata = fmt.Sprintf(`\# %d %s`, len(unknown.Rdata)/2, unknown.Rdata)
	}
	if data, problems := record.ParseRData(typ, rdata); len(problems.Denied()) == 0 {
		rdata = data.String()
	}
	return fmt.Sprintf("%s %d %s %s", strings.ToLower(header.Name), header.Ttl, typ, rdata)
}

// imported is what we make of the same file.
func imported(t *testing.T, file string) (records []string, ok bool, output string) {
	t.Helper()
	z, problems, err := masterfile.Parse(strings.NewReader(file), mustName(t, "example.org"))
	if err != nil {
		t.Fatal(err)
	}
	if z == nil {
		return nil, false, fmt.Sprint(problems)
	}
	for _, r := range z.Records {
		records = append(records, fmt.Sprintf("%s %d %s %s", r.Name.FQDN(), r.TTL, r.Type, r.RData))
	}
	slices.Sort(records)
	return records, true, ""
}

// ns is what every zone of BIND's has.
const ns = "@ NS ns1.example.net.\n"

// oddities are legal and illegal syntax, behind top and ns.
var oddities = []string{
	"www 300 IN A 192.0.2.1\n", "www IN 300 A 192.0.2.1\n", "www in 1h30m a 192.0.2.1\n", "www 1H30M A 192.0.2.1\n", "www 1h30 A 192.0.2.1\n", "www 1m1h A 192.0.2.1\n", "www 1h1h A 192.0.2.1\n", "www 0 A 192.0.2.1\n", "www 2147483647 A 192.0.2.1\n", "www 2147483648 A 192.0.2.1\n",
	"www 3550w A 192.0.2.1\n", "www 01 A 192.0.2.1\n", "www 0x10 A 192.0.2.1\n",
	"$TTL 1h30m\nwww A 192.0.2.1\n", "$TTL 1W\nwww A 192.0.2.1\n", "$ttl 5 ; c\nwww A 192.0.2.1\n", "$TTL (5)\nwww A 192.0.2.1\n", "$TTL (\n5\n)\nwww A 192.0.2.1\n",
	"www A 192.0.2.1\n A 192.0.2.2\n\tA 192.0.2.3\n", "www (\n A\n 192.0.2.1 ) ; c\n", "(www A 192.0.2.1)\n", "(\nwww A 192.0.2.1\n)\n", "www A (192.0.2.1\n)\n A 192.0.2.2\n", " ( A 192.0.2.1 )\n", "www A ((192.0.2.1))\n", "www TXT (a ; ) (\n b)\n",
	"www A 192.0.2.1;c\n", "www TXT a;b\n", "www TXT \"a;b\"\n", "www TXT \"a\"\"b\"\n", "www TXT a\"b\"\n", "www TXT a\"b\"c\n", "www TXT \"a\"b\n", "www TXT a\\;b\n", "www TXT a\\\"b\n", "www TXT \\097\\098\n", "www TXT \"\\097\\;\\\"\"\n", "www TXT a\\ b\n", "www TXT \"a\\\\\"\n", "www TXT @\n", "www TXT \"\"\n", "www TXT (\"a\"\n\"b\")\n", "www TXT \"tab\there\"\n", "www TXT \"\u00e9\"\n", "www TXT \u00e9\n", "www TXT \\300\n", "www TXT \"\\3\"\n", "www TXT \\(a\\)\n",
	"\\119ww A 192.0.2.1\n", "w\\ww A 192.0.2.1\n", "\\* A 192.0.2.1\n", "a\\.b A 192.0.2.1\n", "a\\@b A 192.0.2.1\n", "\\@ A 192.0.2.1\n", "\"www\" A 192.0.2.1\n", "a/b A 192.0.2.1\n", "0/25 NS ns\n", "www\\.  A 192.0.2.1\n", "\\119.example.org. A 192.0.2.1\n", "a. A 192.0.2.1\n",
	"www CNAME \\119\n", "www CNAME a\\.b\n", "www CNAME \"a\"\n", "www CNAME @\n", "www CNAME .\n", "www MX 10 @\n", "www MX (10\n mail)\n", "www PTR a\\046b\n", "www MX 10 MAIL\n", "www MX 010 mail\n",
	"$ORIGIN sub\nwww A 192.0.2.1\n$ORIGIN deep\nwww A 192.0.2.1\n@ A 192.0.2.2\n", "www A 192.0.2.1\n$ORIGIN sub\n A 192.0.2.2\n", "$ORIGIN sub.example.org.\nwww CNAME a\n", "$ORIGIN .\nwww.example.org A 192.0.2.1\n", "$origin sub\nwww A 192.0.2.1\n", "$ORIGIN \\115ub\nwww A 192.0.2.1\n", "$ORIGIN @\nwww A 192.0.2.1\n", "$ORIGIN sub ; c\nwww A 192.0.2.1\n", "$ORIGIN example.net.\nwww.example.org. A 192.0.2.1\n", "$ORIGIN (sub)\nwww A 192.0.2.1\n", "$ORIGIN *.sub\n@ A 192.0.2.1\n", "$ORIGIN _tcp\n_sip SRV 1 2 3 a\n",
	"www A 192.0.2.1\nwww A 192.0.2.1\n", "www A 192.0.2.1\nWWW.EXAMPLE.ORG. A 192.0.2.1\n", "www 5 A 192.0.2.1\nwww 6 A 192.0.2.2\n", "www 5 A 192.0.2.1\nwww 6 A 192.0.2.1\n", "www.example.net. A 192.0.2.1\n", "www CH TXT a\n", "www CLASS1 A 192.0.2.1\n", "www class1 A 192.0.2.1\n", "www HS A 192.0.2.1\n", "www IN IN A 192.0.2.1\n", "www 5 5 A 192.0.2.1\n", "www ANY A 192.0.2.1\n", "www CLASS01 A 192.0.2.1\n",
	"@ SOA ns1 hostmaster 2026112000 1d 2h 1000h 5m\n", "@ SOA ns1 hostmaster 2026112001 1d 2h 1000h 5m\n", "sub SOA ns1 hostmaster 2026112001 1d 2h 1000h 5m\n", "",
	"www TYPE1 192.0.2.1\n", "www TYPE1 \\# 4 c0000201\n", "www A \\# 4 c0 00 02 01\n", "www TYPE01 192.0.2.1\n", "www type65280 \\# 1 0A\n", "www TYPE65280 \\# ( 2 0a\n 0b )\n", "www TYPE65280 \\# 2 0\n", "www TYPE65280 \\# 0\n", "www \\# 4 c0000201\n", "www MX \\# 7 000a036d78300000\n",
	"in A 192.0.2.1\n", "300 A 192.0.2.1\n", "IN A 192.0.2.1\n", "a A 192.0.2.1\n", "www A 192.0.2.1 extra\n", "www A\n", "www\n", "www A 192.0.2.01\n", "www AAAA ::ffff:1.2.3.4\n", "www AAAA 2001:DB8::0:1\n", "\twww A 192.0.2.1\n", "; only\n", " ; only\n", "   \n", "()\n", "www A 192.0.2.1\n()\n A 192.0.2.2\n", "( )  \nwww A 192.0.2.1\n",
	"$GENERATE 1-3 a$ A 192.0.2.$\n", "$GENERATE 1-10/3 a$ A 192.0.2.$\n", "$GENERATE 10-1 a$ A 192.0.2.$\n", "$GENERATE 0-2 a${10} A 192.0.2.${1}\n", "$GENERATE 0-2 a${10,5} A 192.0.2.${1}\n", "$GENERATE 10-12 a${0,4,o} A 192.0.2.$\n", "$GENERATE 10-12 a${0,4,x} A 192.0.2.$\n", "$GENERATE 10-12 a${0,4,X} TXT ${0,4,X}\n",
	"$GENERATE 1-3 ${0,1,n}.r PTR p$\n", "$GENERATE 1-3 ${0,2,n}r PTR p$\n", "$GENERATE 1-3 ${0,3,n}.r PTR p$\n", "$GENERATE 1-3 ${0,4,n}r PTR p$\n", "$GENERATE 1-3 ${0,0,n}.r PTR p$\n", "$GENERATE 250-260 ${0,2,N}r PTR p$\n", "$GENERATE 250-260 ${0,7,N}.r PTR p$\n", "$GENERATE 250-260 ${0,8,n}r TXT ${0,8,N}\n", "$GENERATE 5-6 a$ A 192.0.2.${-4}\n", "$GENERATE 5-6 a${-6,0,d} A 192.0.2.1\n", "$GENERATE 5-6 a${-6,3,d} A 192.0.2.1\n",
	"$GENERATE 1-2 a$ 60 A 192.0.2.$\n", "$GENERATE 1-2 a$ IN A 192.0.2.$\n", "$GENERATE 1-2 a$ 60 IN A 192.0.2.$\n", "$GENERATE 1-2 a$ IN 60 A 192.0.2.$\n", "$GENERATE 1-2 a$ MX \"10 m$\"\n", "$GENERATE 1-2 a$ MX 10 m$\n", "$GENERATE 1-2 a$ TXT \\$\n", "$GENERATE 1-2 a$ TXT $$\n", "$GENERATE 1-2 a$ TXT \"x y $\"\n", "$GENERATE 1-2 a$ TXT \"\\\"x y $\\\"\"\n", "$generate 1-2 a$ a 192.0.2.$\n", "$GENERATE 1-2 @ A 192.0.2.$\n", "$GENERATE 1-2 * A 192.0.2.$\n", "$GENERATE 1-2 a A 192.0.2.$\n", "$GENERATE 1-2 a$.example.org. CNAME b$.example.net.\n", "$GENERATE 1-2 a${0,0} A 192.0.2.$\n", "$GENERATE 1-2 a${0,0,} A 192.0.2.$\n", "$GENERATE 1-2 a${} A 192.0.2.$\n", "$GENERATE 1-2 a${0,3,d}b$ A 192.0.2.$ ; c\n", "$GENERATE 1-2 a$ A 192.0.2.$ extra\n",
	"www A 192.0.2.1\n$ORIGIN .\nx.example.org A 192.0.2.2\n$ORIGIN example.org.\ny A 192.0.2.3\n", "\ufeffwww A 192.0.2.1\n", "@ RRSIG A 13 2 60 20300101000000 20200101000000 1 @ AAAA\n", "@ ZONEMD 2026112000 1 1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\n", "@ DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==\n",
	"www A 192.0.2.1\n$GENERATE 1-2 a$ A 192.0.2.$\n A 192.0.2.9\n", "$GENERATE 1-2 a$ SRV \"1 2 3 t$\"\n", "$GENERATE 1-2/ a$ A 192.0.2.$\n", "$GENERATE 1 a$ A 192.0.2.$\n", "$GENERATE 1-2 a$ 1h A 192.0.2.$\n", "$ORIGIN sub\n$GENERATE 1-2 a$ CNAME b$\n", "$GENERATE 1-1 a$ CNAME @\n", "$GENERATE 1-1 $ CNAME x.$.example.org.\n", "$GENERATE 1-2 a${0,2,d}${1,3,x} A 192.0.2.$\n", "$GENERATE 1-1 a${+1} A 192.0.2.$\n",
	"www HINFO a b\n", "www HINFO \"a b\" c\n", "www CAA 0 issue ca.example.net\n", "www CAA 0 issue \"ca.example.net\"\n", "www LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m\n", "www LOC 52 N 4 E 0\n", "www SSHFP 1 1 0000000000 000000000000000000000000000000\n", "www TLSA 3 1 1 (0123456789abcdef0123456789abcdef\n 0123456789abcdef0123456789abcdef)\n", "www RP a.b .\n", "www NAPTR 1 1 \"\" \"\" \"\" .\n", "www NAPTR 1 1 U E2U+sip !^.*$!sip:a@b! .\n", "www HTTPS 1 . alpn=h2\n", "www HTTPS 1 . alpn=h2,h3 port=443\n", "www SVCB 0 a\n", "www URI 1 1 \"https://a\"\n", "www SPF \"v=spf1 -all\"\n", "www SPF v=spf1\n", "www AFSDB 1 a\n", "www ISDN 1 2\n", "www X25 1\n", "www RT 1 a\n", "www DNAME a\n", "www DS 1 13 2 ( 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef ) \n NS a.example.net.\n", "www EUI48 00-00-5e-00-53-2a\n", "www OPENPGPKEY AAAA BBBB\n", "www CERT PKIX 1 RSASHA1 AAAA\n", "www APL 1:192.0.2.0/24 !2:2001:db8::/32\n", "www NULL \\# 1 00\n", "www NID 1 1014:4fff:ff20:ee64\n", "www SMIMEA 3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n", "www CSYNC 1 3 A NS\n", "www KEY 0 3 5 AAAA\n", "www DLV 1 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n", "www AMTRELAY 1 0 3 a\n", "www IPSECKEY 1 3 2 a AAAA\n", "www HIP 2 200100107B1A74DF365639CC39F1D578 AAAA rvs rvs2.example.net.\n", "www MINFO a b\n", "www PX 1 a b\n", "www KX 1 a\n", "www TALINK a b\n", "www L32 1 192.0.2.1\n", "www LP 1 a\n", "www NINFO a\n", "www MB a\n",
}

// otherThanBIND are the oddities of which we make something else, and why.
var otherThanBIND = map[string]string{
	"www 2147483648 A 192.0.2.1\n":           "BIND makes 0 of it (RFC 2181 section 8); nobody means that",
	"www TXT \"\"\n":                         "rule txt-empty",
	"a\\.b A 192.0.2.1\n":                    "rule name-character",
	"a\\@b A 192.0.2.1\n":                    "rule name-character",
	"\\@ A 192.0.2.1\n":                      "rule name-character",
	"\"www\" A 192.0.2.1\n":                  "names have no quotes (RFC 1035 section 5.1)",
	"a/b A 192.0.2.1\n":                      "rule name-character",
	"0/25 NS ns\n":                           "rule name-character",
	"www\\.  A 192.0.2.1\n":                  "rule name-character",
	"www CNAME a\\.b\n":                      "rule name-character",
	"www PTR a\\046b\n":                      "rule name-character",
	"www CNAME .\n":                          "rule name-empty",
	"www AAAA ::ffff:1.2.3.4\n":              "rule value-ipv6",
	"a. A 192.0.2.1\n":                       "BIND drops what is not in the zone; the dot may be a mistake",
	"www.example.net. A 192.0.2.1\n":         "BIND drops what is not in the zone",
	"www 5 A 192.0.2.1\nwww 6 A 192.0.2.2\n": "rule ttl-differs; BIND takes the first",
	"www 5 A 192.0.2.1\nwww 6 A 192.0.2.1\n": "rule record-duplicate; BIND takes the first",
	"$GENERATE 1-2 a$ MX 10 m$\n":            "BIND wants quotes; it is plain what is meant",
	"$GENERATE 1-2 a$ SRV \"1 2 3 t$\"\n":    "rule srv-owner",
	"\ufeffwww A 192.0.2.1\n":                "rule name-not-ascii: this byte order mark is not at the start of the file",
	"@ RRSIG A 13 2 60 20300101000000 20200101000000 1 @ AAAA\n": "left out",
	"www NULL \\# 1 00\n": "rule rdata-type (RFC 1035 section 3.3.10)",
}

// TestAsBIND holds what we make of master files against what named-compilezone makes of them.
func TestAsBIND(t *testing.T) {
	for _, oddity := range oddities {
		_, isOther := otherThanBIND[oddity]
		if isOther = isOther || strings.HasPrefix(oddity, "@ ZONEMD"); !isOther {
			compare(t, oddity, top+ns+oddity)
			compare(t, oddity, strings.ReplaceAll(top+ns+oddity, "\n", "\r\n"))
			if !strings.Contains(strings.ToUpper(oddity), "$GENERATE") { // which BIND wants a newline after
				compare(t, oddity, strings.TrimSuffix(top+ns+oddity, "\n"))
			}
			continue
		}
		theirs, ok, _ := compiled(t, top+ns+oddity)
		ours, read, _ := imported(t, top+ns+oddity)
		if ok == read && slices.Equal(theirs, ours) {
			t.Errorf("%q is the same now", oddity)
		}
	}
}

// compare wants BIND and us to read the same records, or both to refuse the file.
func compare(t *testing.T, name, file string) {
	t.Helper()
	theirs, ok, said := compiled(t, file)
	ours, read, problems := imported(t, file)
	if ok != read {
		t.Errorf("%q: BIND reads it %v: %v %.300s\nwe %v: %v %s", name, ok, theirs, said, read, ours, problems)
	} else if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("%q (-BIND +we)\n%s", name, diff)
	}
}

// randomFiles are as many files as are compared with BIND; each of them is made of its number.
const randomFiles = 60

func TestRandomFilesAsBIND(t *testing.T) {
	records := 0
	for seed := range uint64(randomFiles) {
		file := writer{Rand: rand.New(rand.NewPCG(seed, 1))}.file()
		compare(t, fmt.Sprintf("file %d\n%s", seed, file), file)
		ours, _, _ := imported(t, file)
		records += len(ours)
	}
	if records < 20*randomFiles {
		t.Errorf("only %d records are in %d files", records, randomFiles)
	}
}

// writer writes master files as nobody would who is not out to confuse.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) file() string {
	text := w.one("", "\n", "; c\n") + top + ns
	for n := range 30 {
		switch w.IntN(10) {
		case 0:
			text += w.one("$ORIGIN", "$origin") + w.one(" ", "\t") + w.one("sub", "example.org.", "a.b", "x\\045y") + w.one("", " ", " ; c (") + "\n$ORIGIN " + w.one("deep", "example.org.", "@") + "\n"
		case 1:
			text += "$TTL " + w.ttl() + w.one("", " ; \"") + "\n"
		case 2:
			text += w.generate(n)
		default:
			text += w.record(n)
		}
	}
	text += "end 5 A 192.0.2.1\n"
	if w.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if w.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

func (w writer) ttl() string {
	return w.one("5", "1h", "1H30m", "2w3d4h5m6s", "0", "007", "1m1h", "3600")
}

// record has a name of its own, so that neither TTLs nor types meet, and may be followed by one that begins with a space.
func (w writer) record(n int) string {
	first := fmt.Sprintf(w.one("h%d", "H%d", "x.h%d", "\\104%d", "h\\-%d", "_h%d.example.org.", "*.h%d", "h%d.EXAMPLE.org."), n)
	data := w.data()
	text := w.spread(slices.Concat([]string{first}, w.head(), data), true)
	if data[0] != "CNAME" && w.IntN(3) == 0 {
		text += w.one(" ", "\t", " \t ") + w.spread(append(w.head(), w.one("AAAA", "aaaa"), w.one("2001:db8::1", "2001:DB8:0::A")), false)
	}
	return text
}

func (w writer) head() []string {
	ttl, class := w.ttl(), w.one("IN", "in", "CLASS1")
	return [][]string{{}, {ttl}, {class}, {ttl, class}, {class, ttl}}[w.IntN(5)]
}

func (w writer) data() []string {
	name := w.one("a", "@", "a.b", "MAIL.example.net.", "\\109x", "ns\\-1")
	return [][]string{
		{w.one("A", "a", "TYPE1"), "192.0.2.1"}, {"A", `\#`, "4", w.one("c0000201", "C00002 01")}, {"MX", w.one("10", "010"), name}, {"txt", w.text()}, {"TXT", w.text(), w.text()}, {"CNAME", name}, {"PTR", name},
		{"RP", name, name}, {"HINFO", w.text(), w.text()}, {"CAA", "0", "issue", `"ca.example.net; a=b"`}, {"TYPE65280", `\#`, "3", "0a0b0c"}, {"NAPTR", "1", "2", w.one("S", `"s"`), "SIP+D2U", `""`, name}, {"SSHFP", "1", "1", "0123456789", "0123456789012345678901234567 89"},
		{"HTTPS", "1", name, `alpn="h2,h3"`, "port=443"}, {"NS", name}, {"LOC", "52", "22", "23.000", "N", "4", "53", "32.000", "E", "-2.00m"}, {"AFSDB", "1", name},
	}[w.IntN(17)]
}

func (w writer) text() string {
	return w.one("word", `"two words"`, `"a;b(c)"`, `a\;b`, `"\"q\""`, `\097\;\\`, `"\010"`, `"a""b"`, `a"b"`, `"$INCLUDE x"`, "\"\t\"", `"é"`, "@", `\(x`)
}

// spread puts spaces, comments and parentheses between the parts of a record. owner says that the first part is one, which stands at the
// start of the line.
func (w writer) spread(parts []string, owner bool) string {
	text, open := "", false
	for i, part := range parts {
		if i > 0 || !owner {
			text += w.one(" ", "\t", "  ")
			if !open && w.IntN(4) == 0 {
				text, open = text+w.one("(", "( ", "(\n", "( ; c )\n"), true
			} else if open && w.IntN(3) == 0 {
				text += w.one("\n", " ; \" c\n", "\n\n\t")
			}
		}
		text += part
	}
	if open {
		text += w.one(")", " )", "\n)", " ; c\n )")
	}
	return text + w.one("\n", " \n", " ; c \"\n", ";\n", "\n\n", "\n  \n")
}

func (w writer) generate(n int) string {
	from := w.IntN(300)
	span := fmt.Sprintf("%d-%d%s", from, from+w.IntN(9), w.one("", "/1", "/3"))
	modifier := fmt.Sprintf("${%d,%d,%s}", w.IntN(20), w.IntN(9), w.one("d", "o", "x", "X"))
	nibbles := fmt.Sprintf("${%d,%d,%s}", w.IntN(20), w.IntN(9), w.one("n", "N"))
	left := fmt.Sprintf(w.one("g%d-$", "g%d-%s", "$.g%d", "%[2]s.g%[1]d", "%[3]sy.g%[1]d"), n, modifier, strings.ReplaceAll(nibbles, "}", "}x"))
	if before, _, cut := strings.Cut(left, "%!(EXTRA"); cut {
		left = before
	}
	data := w.one("A 192.0.2.1", "a 192.0.2.1", "CNAME t$", "CNAME "+modifier+".t", "PTR p${1}.example.net.", `MX "10 m$"`, `TXT "a $ b"`, `TXT \$`, "TXT $$", `TXT "\"a $\""`, "TXT "+nibbles)
	return w.one("$GENERATE", "$generate") + " " + span + w.one(" ", "\t") + left + w.one("", " 60", " IN", " 60 IN", " IN 1h") + " " + data + w.one("", " ", " ; c") + "\n"
}

// What is read of the oddest of files is written plainly, and read as the same again.
func TestOdditiesReadBack(t *testing.T) {
	files := slices.Clone(oddities)
	for i := range files {
		files[i] = top + ns + files[i]
	}
	for seed := range uint64(randomFiles) {
		files = append(files, writer{Rand: rand.New(rand.NewPCG(seed, 2))}.file())
	}
	read := 0
	for _, file := range files {
		z, _, err := masterfile.Parse(strings.NewReader(file), mustName(t, "example.org"))
		if err != nil {
			t.Fatal(err)
		}
		if z != nil {
			checkReadsBack(t, z)
			read++
		}
	}
	if read < randomFiles+len(oddities)/2 {
		t.Errorf("only %d of %d files are read", read, len(files))
	}
}
