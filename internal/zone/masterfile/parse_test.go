package masterfile_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

// top is a file that is whole but for its records; they start in line 3.
const top = "$TTL 1h\n@ SOA ns1 hostmaster 2026112000 1d 2h 1000h 5m\n"

func mustName(t testing.TB, text string) dnsname.Name {
	t.Helper()
	if text == "" {
		return dnsname.Name{}
	}
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// lines writes records as lines of a master file, each with its line in the file.
func lines(z *masterfile.Zone) []string {
	var out []string
	for _, r := range z.Records {
		out = append(out, fmt.Sprintf("%d: %s %d %s %s", r.Line, r.Name, r.TTL, r.Type, r.RData))
	}
	return out
}

func TestParse(t *testing.T) {
	tests := []struct {
		name   string
		origin string // example.org where it is empty; "none" for none
		file   string
		want   []string
	}{
		{"relative names", "", top + "www A 192.0.2.1\n@ MX 10 mail\n  MX 20 mail.example.net.\n",
			[]string{"3: www.example.org 3600 A 192.0.2.1", "4: example.org 3600 MX 10 mail.example.org.", "5: example.org 3600 MX 20 mail.example.net."}},
		{"origin and root", "none", "$ORIGIN .\n$TTL 60\nexample.org IN SOA ns1.example.org h.example.org 1 3 2 9 1\n$ORIGIN example.org.\na A 192.0.2.1\n$ORIGIN b\nc A 192.0.2.2\n@ A 192.0.2.3\n",
			[]string{"5: a.example.org 60 A 192.0.2.1", "7: c.b.example.org 60 A 192.0.2.2", "8: b.example.org 60 A 192.0.2.3"}},
		{"TTL and class in any order", "", top + "a 5 IN A 192.0.2.1\nb IN 6 A 192.0.2.1\nc in A 192.0.2.1\nd 1h30m A 192.0.2.1\ne 1w2d3h4m5s CLASS1 A 192.0.2.1\n",
			[]string{"3: a.example.org 5 A 192.0.2.1", "4: b.example.org 6 A 192.0.2.1", "5: c.example.org 3600 A 192.0.2.1",
				"6: d.example.org 5400 A 192.0.2.1", "7: e.example.org 788645 A 192.0.2.1"}},
		{"last TTL without a directive", "", "@ 900 SOA a b 1 3 2 9 1\na A 192.0.2.1\nb 5 A 192.0.2.1\nc A 192.0.2.1\n",
			[]string{"2: a.example.org 900 A 192.0.2.1", "3: b.example.org 5 A 192.0.2.1", "4: c.example.org 5 A 192.0.2.1"}},
		{"TTL of negative answers", "", "@ SOA a b 1 3 2 9 77\na A 192.0.2.1\n", []string{"2: a.example.org 77 A 192.0.2.1"}},
		{"TTL directive again", "", top + "a A 192.0.2.1\n$ttl 5\nb 7 A 192.0.2.1\nc A 192.0.2.1\n",
			[]string{"3: a.example.org 3600 A 192.0.2.1", "5: b.example.org 7 A 192.0.2.1", "6: c.example.org 5 A 192.0.2.1"}},
		{"parentheses and comments", "", top + "a ( ; (\n  60 ; \"\n TXT ) (\n\"one ; two\"\n; \n 'three' ) ; end )\n; whole line \" (\n\n A 192.0.2.1\n\t ; c\nc A 192.0.2.2;\n",
			[]string{`3: a.example.org 60 TXT "one ; two" "'three'"`, "11: a.example.org 3600 A 192.0.2.1", "13: c.example.org 3600 A 192.0.2.2"}},
		{"carriage returns", "", strings.ReplaceAll(top+"a A 192.0.2.1\nb TXT \"x\"\n", "\n", "\r\n"),
			[]string{"3: a.example.org 3600 A 192.0.2.1", `4: b.example.org 3600 TXT "x"`}},
		{"no newline at the end", "", top + "a A 192.0.2.1", []string{"3: a.example.org 3600 A 192.0.2.1"}},
		{"texts", "", top + `a TXT bare words "and quoted; (one)" "a\"b" "\065\\" "$INCLUDE /etc/passwd"` + "\n",
			[]string{`3: a.example.org 3600 TXT "bare" "words" "and quoted; (one)" "a\"b" "A\\" "$INCLUDE /etc/passwd"`}},
		{"types by number", "", top + "a TYPE1 192.0.2.1\nb TYPE1 \\# 4 c0000202\nc TYPE65280 \\# 2 ABCD\nd type65281 \\# 0\n",
			[]string{"3: a.example.org 3600 A 192.0.2.1", "4: b.example.org 3600 A 192.0.2.2", `5: c.example.org 3600 TYPE65280 \# 2 abcd`,
				`6: d.example.org 3600 TYPE65281 \# 0`}},
		{"relative targets", "", top + "_s._tcp SRV 1 2 3 t\nb NAPTR 1 2 \"S\" \"SIP+D2U\" \"\" _sip._udp\nc HTTPS 1 @ alpn=\"h2,h3\"\nd RP who what\ne CNAME @\n",
			[]string{"3: _s._tcp.example.org 3600 SRV 1 2 3 t.example.org.", `4: b.example.org 3600 NAPTR 1 2 "S" "SIP+D2U" "" _sip._udp.example.org.`,
				`5: c.example.org 3600 HTTPS 1 example.org. alpn="h2,h3"`, "6: d.example.org 3600 RP who.example.org. what.example.org.",
				"7: e.example.org 3600 CNAME example.org."}},
		{"null targets", "", top + "a MX 0 .\n", []string{"3: a.example.org 3600 MX 0 ."}},
		{"upper case", "", strings.ToUpper(top) + "WWW a 192.0.2.1\nB cname WWW\n",
			[]string{"3: www.example.org 3600 A 192.0.2.1", "4: b.example.org 3600 CNAME www.example.org."}},
		{"wildcards and underscores", "", top + "* A 192.0.2.1\n*.b A 192.0.2.1\n_dmarc TXT \"v=DMARC1\"\n",
			[]string{"3: *.example.org 3600 A 192.0.2.1", "4: *.b.example.org 3600 A 192.0.2.1", `5: _dmarc.example.org 3600 TXT "v=DMARC1"`}},
		{"signatures", "", top + "@ RRSIG A 8 2 300 20261201000000 20261101000000 1 example.org. AAAA\n@ NSEC a A\n@ NSEC3PARAM 1 0 0 -\na A 192.0.2.1\n",
			[]string{"6: a.example.org 3600 A 192.0.2.1"}},
		{"escapes that need not be", "", top + "\\119w\\w A 192.0.2.1\n\\*.b CNAME \\097\\-\\049\n$ORIGIN \\115ub\nc A 192.0.2.1\n",
			[]string{"3: www.example.org 3600 A 192.0.2.1", "4: *.b.example.org 3600 CNAME a-1.example.org.", "6: c.sub.example.org 3600 A 192.0.2.1"}},
		{"texts without spaces between", "", top + "a TXT \"x\"\"y\"z\"\\\"\"\nb TXT \"1\t2\"\nc NAPTR 1 2 S SIP+D2U \"\" d\n",
			[]string{`3: a.example.org 3600 TXT "x" "y" "z" "\""`, `4: b.example.org 3600 TXT "1\0092"`, `5: c.example.org 3600 NAPTR 1 2 "S" "SIP+D2U" "" d.example.org.`}},
		{"the same record again", "", top + "a A 192.0.2.1\nA.example.org. A 192.0.2.1\nb A 192.0.2.1\n",
			[]string{"3: a.example.org 3600 A 192.0.2.1", "5: b.example.org 3600 A 192.0.2.1"}},
		{"the answer to a transfer", "", top + "a A 192.0.2.1\n" + strings.TrimPrefix(top, "$TTL 1h\n"), []string{"3: a.example.org 3600 A 192.0.2.1"}},
		{"byte order mark", "", "\ufeff" + top + "a A 192.0.2.1\n", []string{"3: a.example.org 3600 A 192.0.2.1"}},
		{"a space after $GENERATE", "", top + "a A 192.0.2.1\n$GENERATE 1-2 b$ A 192.0.2.$\n A 192.0.2.2\n",
			[]string{"3: a.example.org 3600 A 192.0.2.1", "4: b1.example.org 3600 A 192.0.2.1", "4: b2.example.org 3600 A 192.0.2.2", "5: a.example.org 3600 A 192.0.2.2"}},
		{"keys of a zone without signatures", "", top + "@ CDS 0 0 0 00\na A 192.0.2.1\n", []string{"4: a.example.org 3600 A 192.0.2.1", "3: example.org 3600 CDS 0 0 0 00"}},
		{"SOA last", "", "$TTL 5\na A 192.0.2.1\n@ SOA a b 1 3 2 9 1\n", []string{"2: a.example.org 5 A 192.0.2.1"}},
		{"generate all forms", "", top + "$GENERATE 8-10 h$ A 192.0.2.$\n$GENERATE 0-4/2 ${10,3,x} 60 IN CNAME h$\n" +
			"$GENERATE 1-1 m 60 MX \"10 mx$\"\n$GENERATE 291-291 ${0,7,n}.r PTR p${-290}\n$GENERATE 171-171 ${0,0,N}.r PTR ${0,0,X}\n",
			[]string{"3: h8.example.org 3600 A 192.0.2.8", "3: h9.example.org 3600 A 192.0.2.9", "3: h10.example.org 3600 A 192.0.2.10",
				"4: 00a.example.org 60 CNAME h0.example.org.", "4: 00c.example.org 60 CNAME h2.example.org.", "4: 00e.example.org 60 CNAME h4.example.org.",
				"5: m.example.org 60 MX 10 mx1.example.org.", "6: 3.2.1.0.r.example.org 3600 PTR p1.example.org.", "7: b.a.r.example.org 3600 PTR ab.example.org."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			origin := map[string]string{"": "example.org", "none": ""}[tt.origin]
			z, problems, err := masterfile.Parse(strings.NewReader(tt.file), mustName(t, origin))
			if err != nil {
				t.Fatal(err)
			}
			if z == nil {
				t.Fatalf("problems %v", problems)
			}
			if diff := cmp.Diff(tt.want, lines(z)); diff != "" {
				t.Errorf("records (-want +got)\n%s", diff)
			}
		})
	}
}

// What cannot be imported is told by line, with the rule that the gate refuses it for.
func TestParseProblems(t *testing.T) {
	tests := []struct {
		name   string
		origin string
		file   string
		want   []string // parts of each problem, in their order
	}{
		{"empty", "", "", []string{" there is no SOA record"}},
		{"include", "", top + "$INCLUDE /etc/passwd\nwww A x\n", []string{"3: $INCLUDE is not followed"}},
		{"include, otherwise", "", top + "$include\t\"/etc/passwd\" x.\n", []string{"3: $INCLUDE is not followed"}},
		{"blank before a directive", "", top + " $INCLUDE /etc/passwd\n", []string{`3: type: "$INCLUDE": give a type`}},
		{"include as owner", "", top + "\\$INCLUDE A 192.0.2.1\n", []string{`3: domainName: "\\$INCLUDE.example.org.": "\\" cannot be part of a name`}},
		{"unknown directive", "", top + "$DATE 1\n", []string{`3: "$DATE" is no directive`}},
		{"no origin", "none", top, []string{`2: domainName: "@": this name is relative`}},
		{"no origin in rdata", "none", "example.org. 5 SOA a. b.c. 1 3 2 9 1\na.example.org. MX 10 b\n", []string{`2: rdata: "b": this name is relative`}},
		{"other origin", "example.net", "$ORIGIN example.org.\n" + top, []string{`3: domainName: "example.org.": the SOA record is not that of the zone example.net.`}},
		{"origin that is none", "", "$ORIGIN a..b.\n", []string{`1: $ORIGIN "a..b.": a label is empty`}},
		{"TTL directive that is none", "", "$TTL 1x\n", []string{`1: $TTL "1x": give a time`}},
		{"TTL too large", "", top + "a 2147483648 A 192.0.2.1\nb 99999999999999999999999 A 192.0.2.1\nc 3551w A 192.0.2.1\nd 1hh A 192.0.2.1\n",
			[]string{"(rule ttl-range)", "(rule ttl-range)", "(rule ttl-range)", "6: ttl: \"1hh\": give a time"}},
		{"no TTL", "", "a A 192.0.2.1\n@ SOA a b 1 3 2 9 1\n", []string{"1: ttl: the record has no TTL"}},
		{"out of zone", "", top + "a.example.net. A 192.0.2.1\nxexample.org. A 192.0.2.1\n",
			[]string{`3: domainName: "a.example.net.": this name is not in the zone example.org.`, "4: domainName"}},
		{"class", "", top + "a CH TXT x\nb CLASS3 TXT x\nc HS A 192.0.2.1\n", []string{`3: class: "CH": records of class IN`, "4: class", "5: class"}},
		{"second SOA", "", top + "@ SOA a b 1 3 2 9 1\n", []string{"3: there is a second SOA record"}},
		{"blank owner first", "", " A 192.0.2.1\n@ SOA a b 1 3 2 9 1\n", []string{"1: the line starts with a space"}},
		{"too little", "", top + "a\na A\na 5 IN\n", []string{"3: a record has", "4: a record has", "5: a record has"}},
		{"all at once", "", top + "a A 192.0.2.300\nb..c A 192.0.2.1\nc AAAA 192.0.2.1\nd WKS x\n*.x NS a\n-x A 192.0.2.1\nsip SRV 1 2 3 t\n",
			[]string{"3: rdata: \"192.0.2.300\": ", "4: domainName: \"b..c.example.org.\": a label is empty", "(rule value-ipv6)", "6: type: \"WKS\"",
				"(rule ns-wildcard)", "(rule name-label-hyphen)", "(rule srv-owner)"}},
		{"a time that is not whole", "", "$TTL 1h30\n", []string{`1: $TTL "1h30": give a time`}},
		{"generate with half a modifier", "", top + "$GENERATE 1-2 a${0,0,} A 192.0.2.$\n", []string{"3: $GENERATE: ${"}},
		{"duplicate", "", top + "a A 192.0.2.1\nA 60 A 192.0.2.1\n", []string{"4: rdata: \"192.0.2.1\": line 3 has the same record (rule record-duplicate)"}},
		{"TTLs of a set", "", top + "a A 192.0.2.1\na 60 A 192.0.2.2\n", []string{"4: ttl: 60: line 3 gives records of this name and type the TTL 3600 (rule ttl-differs)"}},
		{"open quote", "", top + "a TXT \"x\nb A 192.0.2.1\n", []string{"3: a text in quotes holds a control character or goes on"}},
		{"quote at the end", "", top + "a TXT \"x", []string{"3: a quote has no other half"}},
		{"open parenthesis", "", top + "\na TXT ( x\ny\n", []string{"4: this parenthesis is not closed"}},
		{"closing parenthesis", "", top + "a A 192.0.2.1 )\n", []string{"3: this closing parenthesis"}},
		{"NUL", "", top + "a TXT x\x00y\n", []string{"3: there is the control character 0x00"}},
		{"backslash at the end", "", top + "a TXT x\\\n", []string{"3: a backslash stands before the end"}},
		{"carriage return", "", top + "a A 192.0.2.1\rb A 192.0.2.2\n", []string{"3: there is a carriage return"}},
		{"long line", "", top + "a TXT " + strings.Repeat(" x", 300_000) + "\n", []string{"3: this is longer than any record"}},
		{"no SOA", "", "a 5 A 192.0.2.1\nb 5 A x\n", []string{" there is no SOA record", "2: rdata"}},
		{"SOA retry", "", "@ 5 SOA a b 1 3600 3600 99999 1\n", []string{"1: retry: 3600: give a time that is less than refresh (3600) (rule soa-retry)"}},
		{"SOA expire", "", "@ 5 SOA a b 1 3600 600 4200 1\n", []string{"1: expire: 4200: give a time that is more than refresh and retry together (4200) (rule soa-expire)"}},
		{"SOA zero", "", "@ 5 SOA a b 1 0 600 4200 1\n", []string{"1: refresh: 0: give a time of at least one second (rule schema-value)"}},
		{"SOA numbers", "", "@ 5 SOA a b x 1 1 1 1\n", []string{"1: serial"}},
		{"SOA times", "", "@ 5 SOA a b 1 1d 1 x 1\n", []string{"1: expire: \"x\""}},
		{"SOA short", "", "@ 5 SOA a b 1 1 1 1\n", []string{"1: rdata: an SOA record holds"}},
		{"SOA name server", "", "@ 5 SOA . b 1 3 2 9 1\n", []string{`1: nameServer: ".": `}},
		{"SOA mailbox", "", "@ 5 SOA a b/c 1 3 2 9 1\n", []string{"(rule soa-contact)"}},
		{"SOA mailbox without a domain", "", "@ 5 SOA a nobody. 1 3 2 9 1\n", []string{"(rule soa-contact)"}},
		{"generate range", "", top + "$GENERATE 5-1 a A 192.0.2.1\n", []string{`3: $GENERATE "5-1": give a range`}},
		{"generate step", "", top + "$GENERATE 1-5/0 a A 192.0.2.1\n", []string{"3: $GENERATE"}},
		{"generate too large a range", "", top + "$GENERATE 0-65536 a$ A 192.0.2.1\n", []string{"3: $GENERATE \"0-65536\": give a range of at most 65536"}},
		{"generate too much together", "", top + "$GENERATE 0-65535 a$ A 192.0.2.1\n$GENERATE 0-0 b$ A 192.0.2.1\n", []string{"4: the $GENERATE directives make more records"}},
		{"generate includes", "", top + "$GENERATE 1-2 $$INCLUDE TXT x$\n", []string{"3: domainName: \"$INCLUDE.example.org.\""}},
		{"generate newline", "", top + "$GENERATE 1-2 a$ TXT \"x\\\nb\"\n", []string{"3: a backslash stands before a control character"}},
		{"generate modifier", "", top + "$GENERATE 1-2 a${0,999,d} A 192.0.2.$\n", []string{"3: $GENERATE: ${"}},
		{"generate base", "", top + "$GENERATE 1-2 a${0,0,s} A 192.0.2.$\n", []string{`3: $GENERATE: "s" is no base`}},
		{"generate brace", "", top + "$GENERATE 1-2 a${0 A 192.0.2.$\n", []string{"3: $GENERATE: a ${ has no closing brace"}},
		{"generate below zero", "", top + "$GENERATE 1-2 a${-2,0,x} A 192.0.2.$\n", []string{"3: $GENERATE: ${\"-2,0,x\"} makes a number below 0"}},
		{"generate once wrong", "", top + "$GENERATE 250-260 a$ A 192.0.2.$\n", []string{"3: rdata: \"192.0.2.256\""}},
		{"generate quotes", "", top + "$GENERATE 1-2 a$ TXT \"(x\"\n", []string{"3: $GENERATE makes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			origin := map[string]string{"": "example.org", "none": ""}
			text, special := origin[tt.origin]
			if !special {
				text = tt.origin
			}
			z, problems, err := masterfile.Parse(strings.NewReader(tt.file), mustName(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if z != nil || len(problems) != len(tt.want) {
				t.Fatalf("zone %v, problems %v; want %d", z, problems, len(tt.want))
			}
			for i, p := range problems {
				if !strings.Contains(p.String(), tt.want[i]) || len(p.String()) > 1000 || strings.ContainsAny(p.String(), "\n\x00") {
					t.Errorf("problem %q; want %q", p, tt.want[i])
				}
			}
		})
	}
}

// Contacts and the numbers of the SOA record become the fields of a Zone.
func TestParseSOA(t *testing.T) {
	for mailbox, want := range map[string]string{
		"hostmaster": "hostmaster@example.org", "Host.example.NET.": "Host@example.NET", `first\.last.example.net.`: "first.last@example.net",
		"root.localhost.": "root@localhost", "a+b.example.net.": "a+b@example.net",
	} {
		z, problems, err := masterfile.Parse(strings.NewReader("@ 5m SOA NS1 "+mailbox+" 4294967295 1D 2H 5w 0\n"), mustName(t, "example.org"))
		if err != nil || z == nil {
			t.Errorf("%s: %v %v", mailbox, problems, err)
			continue
		}
		soa := masterfile.SOA{Line: 1, TTL: 300, NameServer: mustName(t, "ns1.example.org"), Contact: want, Serial: 4294967295,
			Refresh: 86400, Retry: 7200, Expire: 3024000, Minimum: 0}
		if z.SOA != soa || z.Origin != mustName(t, "example.org") {
			t.Errorf("%s: %+v; want %+v", mailbox, z.SOA, soa)
		}
	}
}

// What a signer makes is left out, with its keys where it has signed; and so is what repeats.
func TestParseLeftOut(t *testing.T) {
	const digest = "@ ZONEMD 2026112000 1 1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\n"
	const keys = "@ DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==\n@ CDNSKEY 0 3 0 AA==\n@ CDS x\n"
	tests := []struct {
		name, file string
		want       map[record.Type]int
		signed     bool
		records    int
	}{
		{"signatures and proofs", "@ RRSIG x\n@ NSEC a\n RRSIG y\n* NSEC3 x\n@ TYPE51 x\na SIG x\na NXT x\n",
			map[record.Type]int{"RRSIG": 2, "NSEC": 1, "NSEC3": 1, "NSEC3PARAM": 1, "SIG": 1, "NXT": 1}, true, 0},
		{"keys before the signature", keys + "@ RRSIG x\nsub DS 1 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
			map[record.Type]int{"DNSKEY": 1, "CDNSKEY": 1, "CDS": 1, "RRSIG": 1}, true, 1},
		{"keys without signatures", strings.ReplaceAll(keys, "CDS x", "CDS 0 0 0 00"), map[record.Type]int{}, false, 3},
		{"digest", digest + "@ TYPE63 \\# x\n", map[record.Type]int{"ZONEMD": 2}, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z, problems, err := masterfile.Parse(strings.NewReader(top+tt.file), mustName(t, "example.org"))
			if err != nil || z == nil {
				t.Fatal(problems, err)
			}
			if diff := cmp.Diff(tt.want, z.LeftOut); diff != "" || z.Signed() != tt.signed || len(z.Records) != tt.records {
				t.Errorf("signed %v, %d records; want %v, %d\n(-want +got)\n%s", z.Signed(), len(z.Records), tt.signed, tt.records, diff)
			}
		})
	}
	z, _, err := masterfile.Parse(strings.NewReader(top+strings.Repeat("a A 192.0.2.1\n", 3)), mustName(t, "example.org"))
	if err != nil || z == nil || z.Repeated != 2 || len(z.Records) != 1 {
		t.Errorf("%+v %v", z, err)
	}
}

// Files and what they hold are bounded, and an error of reading is not the end of the file.
func TestParseBounds(t *testing.T) {
	tests := []struct {
		name string
		r    io.Reader
		want string
	}{
		{"size", io.MultiReader(strings.NewReader(top), io.LimitReader(newlines{}, masterfile.MaxSize)), "the file is too large: at most 64 MiB"},
		{"records", strings.NewReader(top + strings.Repeat("a NSEC b\n", masterfile.MaxRecords)), "500002: these are more records than are read: at most 500000"},
		{"problems", strings.NewReader(top + strings.Repeat("a A x\n", 2000)), "1002: there are 1000 problems"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z, problems, err := masterfile.Parse(tt.r, mustName(t, "example.org"))
			if z != nil || err != nil || len(problems) == 0 || !strings.Contains(problems[len(problems)-1].String(), tt.want) {
				t.Errorf("%v, %d problems, %v; want %s", z, len(problems), err, tt.want)
			}
		})
	}
	broken := errors.New("broken")
	if _, _, err := masterfile.Parse(io.MultiReader(strings.NewReader(top), failing{broken}), mustName(t, "example.org")); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type newlines struct{}

func (newlines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
