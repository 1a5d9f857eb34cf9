package masterfile_test

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

// FuzzMasterfile: no text makes Parse panic or give back what is not in the zone, and what it accepts is written and read again as the same.
func FuzzMasterfile(f *testing.F) {
	for _, text := range []string{
		"", top, top + "www A 192.0.2.1\n", "$ORIGIN .\n" + top, top + "$INCLUDE /etc/passwd\n", top + "$GENERATE 0-255 a$ A 192.0.2.$\n", top + "$GENERATE 1-3/2 ${1,63,n} TXT \"$$INCLUDE x\"\n",
		top + "a TXT (\n\"$INCLUDE x\" ; \"\n)\n", top + "a TXT \"\\000\\010\\\"\" \\( \\;\n", top + "a TXT \"x\n$INCLUDE /etc/passwd\n\"\n", top + "\\$INCLUDE TXT x\n", top + " \t( A ) 192.0.2.1\r\n",
		top + "a TYPE65280 \\# 3 00 ff0a\n", top + "a CAA 0 issue \"x;y\"\nb HTTPS 1 @ alpn=\"a\\\\,b\" key65333=x\n", top + "a HIP 2 200100107B1A74DF365639CC39F1D578 AwEAAbdxyhNuSutc5EMzxTs9LBPCIkOFH8cI= rvs\n",
		"@ 5 SOA a\\.b.c Host\\.x 1 3 2 9 1\n", "@ SOA . . 0 0 0 0 0\n", top + "a\\000b A 192.0.2.1\n", top + strings.Repeat("(", 100) + strings.Repeat(")", 100), top + "a IPSECKEY 10 3 2 gw AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==\n",
		top + "a NSEC b\na RRSIG x\n", top + "sub NS ns.sub\nns.sub A 192.0.2.1\n", top + "a TXT a\"b\"c d\\ e\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if longRange.MatchString(text) {
			return // tens of thousands of records take their time, and show nothing that fewer do not
		}
		z, problems, err := masterfile.Parse(strings.NewReader(text), mustName(t, "example.org"))
		if err != nil || (z == nil) == (len(problems) == 0) {
			t.Fatalf("%v %v %v", z, problems, err)
		}
		for _, p := range problems {
			if line := p.String(); strings.ContainsFunc(line, isControl) || len(line) > 2000 {
				t.Errorf("problem %q", line)
			}
		}
		if z == nil || len(z.Records) > 2000 {
			return
		}
		checkReadsBack(t, z)
	})
}

// longRange is in texts that may make many records of few characters.
var longRange = regexp.MustCompile(`(?i)(?s)\$generate.*-\s*\d{4}`)

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// checkReadsBack writes what was read, and wants the same to be read of it.
func checkReadsBack(t *testing.T, z *masterfile.Zone) {
	t.Helper()
	var entries []zone.Entry
	for _, r := range z.Records {
		entries = append(entries, r.Entry)
	}
	soa := zone.ZoneOf(z.Manifests("dns", "").Zone).SOA.Entry(z.Origin, z.SOA.Serial)
	file := render(t, soa, entries)
	again, problems, err := masterfile.Parse(bytes.NewReader(file), dnsname.Name{})
	if err != nil || again == nil {
		t.Fatalf("not read back: %v %v\n%s", problems, err, file)
	}
	if soaAgain := zone.ZoneOf(again.Manifests("dns", "").Zone).SOA.Entry(again.Origin, again.SOA.Serial); soaAgain != soa || again.SOA.Serial != z.SOA.Serial {
		t.Errorf("SOA %v; want %v", soaAgain, soa)
	}
	var entriesAgain []zone.Entry
	for _, r := range again.Records {
		entriesAgain = append(entriesAgain, r.Entry)
	}
	slices.SortFunc(entries, zone.Compare)
	if diff := cmp.Diff(entries, entriesAgain, cmp.Comparer(func(a, b dnsname.Name) bool { return a == b })); diff != "" {
		t.Errorf("read back (-want +got)\n%s", diff)
	}
}

// sampleEvery is how many records of the fuzzer pass between two that are also shown to another server's checker. Every seed is.
func sampleEvery() int64 {
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing == nil || fuzzing.Value.String() == "" {
		return 1
	}
	return 500
}

// FuzzRender: what the gate accepts is written as one record, which other parsers read as that record: whatever the name and the data
// are, no text of a user becomes anything else in a file.
func FuzzRender(f *testing.F) {
	for _, seed := range injections {
		f.Add(seed.owner, string(seed.typ), seed.rdata, uint32(60))
	}
	for _, value := range values {
		for _, owner := range owners[:6] {
			f.Add(owner, value.typ, value.rdata, uint32(0))
		}
	}
	var count atomic.Int64
	f.Fuzz(func(t *testing.T, owner, typ, rdata string, ttl uint32) {
		name, err := dnsname.ParseOwner(owner + ".example.org")
		if owner == "@" {
			name, err = dnsname.Parse("example.org")
		}
		data, problems := record.ParseRData(record.Type(typ), rdata)
		if err != nil || ttl > record.MaxTTL || len(problems.Denied()) > 0 {
			return
		}
		e := zone.Entry{Name: name, TTL: ttl, Type: record.Type(typ), RData: data.String()}
		file := render(t, exampleSOA(t), []zone.Entry{e})
		checkLines(t, file, e)
		checkParsers(t, file, e, data)
		if rule, _ := record.CheckOwner(e.Type, name); rule == nil && count.Add(1)%sampleEvery() == 0 {
			checkServers(t, e)
		}
	})
}

// checkLines wants one line for each of the two directives, the SOA record and the entry.
func checkLines(t *testing.T, file []byte, e zone.Entry) {
	t.Helper()
	all := strings.Split(string(file), "\n")
	want := fmt.Sprintf("%s %d IN %s %s", e.Name.FQDN(), e.TTL, e.Type, e.RData)
	if len(all) != 5 || all[3] != want || all[4] != "" {
		t.Errorf("%q; want a fourth and last line %q", all, want)
	}
}

// checkParsers has the DNS library and our own parser read the file.
func checkParsers(t *testing.T, file []byte, e zone.Entry, data record.RData) {
	t.Helper()
	parser := dns.NewZoneParser(bytes.NewReader(file), "", "")
	var rrs []dns.RR
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		rrs = append(rrs, rr)
	}
	if parser.Err() != nil || len(rrs) != 2 {
		t.Fatalf("%v, read as %v\n%s", parser.Err(), rrs, file)
	}
	if want := data.RR(e.Name, e.TTL); packed(t, rrs[1]) != packed(t, want) {
		t.Errorf("read as %v; want %v\n%s", rrs[1], want, file)
	}
	z, problems, err := masterfile.Parse(bytes.NewReader(file), dnsname.Name{})
	switch rule, _ := record.CheckOwner(e.Type, e.Name); {
	case err != nil:
		t.Fatal(err)
	case z == nil && rule != nil && len(problems) == 1:
	case z == nil || len(z.Records) != 1 || z.Records[0].Entry != e:
		t.Errorf("read as %+v %v; want %+v", z, problems, e)
	}
}

func packed(t *testing.T, rr dns.RR) string {
	t.Helper()
	buffer := make([]byte, dns.MaxMsgSize)
	length, err := dns.PackRR(rr, buffer, 0, nil, false)
	if err != nil {
		t.Fatalf("%v: %v", rr, err)
	}
	return string(buffer[:length])
}

// checkServers has other servers read a zone with the entry, if such a zone could be: the entry is beside what every zone has.
func checkServers(t *testing.T, e zone.Entry) {
	t.Helper()
	switch {
	case e.Name == mustName(t, "example.org") && slices.Contains([]record.Type{record.CNAME, "DNAME", "DS", record.NS}, e.Type), e.Type == "DS" && e.Name.IsWildcard():
		return
	case e.Type == "NAPTR" && !strings.Contains(e.RData, `"" `+e.RData[strings.LastIndexByte(e.RData, ' ')+1:]):
		return // BIND also reads the regular expression, which is neither a name nor part of the syntax of a file
	}
	entries := []zone.Entry{e}
	if e.Type == "DS" { // it stands beside the delegation that it is about
		entries = append(entries, zone.Entry{Name: e.Name, TTL: e.TTL, Type: record.NS, RData: "ns.example.net."})
	}
	file := render(t, exampleSOA(t), append(entries, entry(t, "example.org", 1, record.NS, "ns.example.net.")))
	lenient := checker{"named-checkzone", func(origin string) []string {
		// What is not about syntax is left to the gate: hosts, targets, and their names.
		return []string{"-i", "none", "-k", "ignore", "-n", "ignore", "-M", "ignore", "-S", "ignore", "-T", "ignore", "-W", "ignore", "-r", "ignore", "-m", "ignore", origin, "/dev/stdin"}
	}}
	lenient.run(t, "example.org", file)
}

// injections are records of which a part would be something else in a careless file.
var injections = []struct {
	owner string
	typ   record.Type
	rdata string
}{
	{"a", "TXT", "\"x\"\n$INCLUDE /etc/passwd"}, {"a", "TXT", "\"x\n$INCLUDE /etc/passwd\""}, {"a", "TXT", `"x\010$INCLUDE /etc/passwd"`}, {"a", "TXT", "\"x\r\nb.example.org. A 192.0.2.1\""},
	{"a", "TXT", `"x" ; comment`}, {"a", "TXT", `"x ; no comment"`}, {"a", "TXT", `x\;y`}, {"a", "TXT", `"x" ( "y" )`}, {"a", "TXT", `"(" ")"`}, {"a", "TXT", `\( \)`}, {"a", "TXT", `(`},
	{"a", "TXT", `"x`}, {"a", "TXT", `x"`}, {"a", "TXT", `"x\"`}, {"a", "TXT", `"x\\"`}, {"a", "TXT", `"x\\" "\\"`}, {"a", "TXT", `x\`}, {"a", "TXT", `"\000"`}, {"a", "TXT", "\"\x00\""}, {"a", "TXT", `\000`},
	{"a", "TXT", `"\255\127\032"`}, {"a", "TXT", `"\256"`}, {"a", "TXT", `"\1"`}, {"a", "TXT", `$INCLUDE`}, {"a", "TXT", `"$GENERATE 1-9 a$ A 192.0.2.$"`}, {"a", "TXT", `""`}, {"a", "TXT", `"" "x"`}, {"a", "TXT", "\"\u2028\u202e\""},
	{"$INCLUDE", "A", "192.0.2.1"}, {"$TTL 5\na", "A", "192.0.2.1"}, {"a b", "A", "192.0.2.1"}, {"a\\010b", "A", "192.0.2.1"}, {"a;b", "A", "192.0.2.1"}, {"(a", "A", "192.0.2.1"}, {"\"a", "A", "192.0.2.1"}, {"@", "A", "192.0.2.1"}, {" ", "A", "192.0.2.1"},
	{"a", "A", "192.0.2.1\nb A 192.0.2.2"}, {"a", "A", "192.0.2.1 ; x"}, {"a", "MX", "10 mail.example.org. (\n)"}, {"a", "CNAME", `a\.b.example.org.`}, {"a", "CNAME", `a\010b.example.org.`}, {"a", "CNAME", `$INCLUDE.example.org.`},
	{"a", "CNAME", `a\;b.example.org.`}, {"a", "CNAME", `"a".example.org.`}, {"a", "RP", `john\.doe.example.org. a\"b.example.org.`}, {"a", "CAA", `0 issue "a.example;\" x"`}, {"a", "CAA", `0 iodef "mailto:x\010y"`}, {"a", "HINFO", `"$TTL" ";"`},
	{"a", "NAPTR", `1 1 "" "" "!^.*$!\\1;(!" .`}, {"a", "URI", `1 1 "https://x/\"\010"`}, {"a", "SVCB", `1 . key65333="\";\010("`}, {"a", "HTTPS", `1 . alpn="a\\,b\;"`}, {"a", "TYPE65280", `\# 1 00 ; x`}, {"a", "TYPE65280", `\# 0`}, {"a", "TYPE1", `\# 4 c0000201`},
	{"a", "TXT", `\# 2 010a`}, {"a", "SPF", `\# 3 02225c`}, {"a", "SOA", ". . 1 2 3 4 5"}, {"a", "A\nb", "192.0.2.1"}, {"a", "OPENPGPKEY", "AAAA ;"}, {"a", "X25", `";"`}, {"a", "GPOS", `"1" "2" "3"`}, {"a", "ISDN", `"1;" "2"`}, {"a", "NSAP", "0x47.0005"},
}
