package record_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

var (
	hex20 = strings.Repeat("ab", 20)
	hex32 = strings.Repeat("cd", 32)
	hex48 = strings.Repeat("ef", 48)
	hex64 = strings.Repeat("0a", 64)
)

// rdataForms are rdata of every type with a mnemonic, and their canonical form where it is another.
var rdataForms = map[record.Type][][2]string{
	"A": {{"192.0.2.1", ""}, {"  192.0.2.1 ", "192.0.2.1"}, {`\# 4 C0000201`, "192.0.2.1"}},
	"AAAA": {{"2001:db8::1", ""}, {"2001:0DB8:0:0:0::1", "2001:db8::1"}, {`\# 16 20010db8 000000000000000000000001`, "2001:db8::1"},
		{"64:ff9b::192.0.2.1", "64:ff9b::c000:201"}},
	"AFSDB":    {{"1 AFS.example.org.", "1 afs.example.org."}},
	"AMTRELAY": {{"10 0 1 192.0.2.1", ""}, {"10 0 2 2001:db8::1", ""}, {"10 1 0 .", ""}, {"128 0 3 AMT.example.org.", "128 0 3 amt.example.org."}, {"0 0 0 .", ""}},
	"APL":      {{"1:192.0.2.0/24 !2:2001:db8::/32", ""}},
	"AVC":      {{`"app-name:x" "b"`, ""}, {"a b", `"a" "b"`}},
	"CAA": {{`0 issue "letsencrypt.org"`, ""}, {"128 issuewild letsencrypt.org", `128 issuewild "letsencrypt.org"`}, {`0 issue ";"`, ""},
		{`0 iodef "mailto:a@example.org"`, ""}},
	"CDNSKEY": {{"0 3 0 AA==", ""}, {"257 3 13 AAEC AwQF", "257 3 13 AAECAwQF"}},
	"CDS":     {{"0 0 0 00", ""}, {"1 13 2 " + hex32, "1 13 2 " + strings.ToUpper(hex32)}},
	"CERT":    {{"1 12345 8 AQID", "PKIX 12345 RSASHA256 AQID"}},
	"CNAME":   {{"www.example.org.", ""}, {"WWW.Example.ORG.", "www.example.org."}, {`\# 12 026E73076578616D706C6500`, "ns.example."}},
	"CSYNC":   {{"66 3 A NS AAAA", ""}, {"66 3 a ns TYPE28", "66 3 A NS AAAA"}},
	"DHCID":   {{"AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=", ""}},
	"DLV":     {{"1 8 1 " + hex20, "1 8 1 " + strings.ToUpper(hex20)}},
	"DNAME":   {{"Example.NET.", "example.net."}},
	"DNSKEY":  {{"256 3 8 AQIDBA==", ""}},
	"DS": {{"1 RSASHA256 4 " + hex48, "1 8 4 " + strings.ToUpper(hex48)}, {"1 8 2 " + hex32[:20] + " " + hex32[20:], "1 8 2 " + strings.ToUpper(hex32)},
		{"1 8 200 AB", ""}},
	"EID":   {{"0A1B", ""}},
	"EUI48": {{"00-00-5E-00-53-2A", "00-00-5e-00-53-2a"}},
	"EUI64": {{"00-00-5e-ef-10-00-00-2a", ""}},
	"GID":   {{"100", ""}, {"0100", "100"}},
	"GPOS":  {{"-32.6882 116.8652 10.0", ""}},
	"HINFO": {{`"PC Intel" "Linux"`, ""}, {"PC Linux", `"PC" "Linux"`}},
	"HIP":   {{"2 200100107B1A74DF365639CC39F1D578 AwEAAbdx RVS.example.org. b.example.org.", "2 200100107b1a74df365639cc39f1d578 AwEAAbdx rvs.example.org. b.example.org."}},
	"HTTPS": {{"0 www.example.org.", ""}, {`1 . alpn=h2,h3 port=8443`, `1 . alpn="h2,h3" port="8443"`}, {`1 . port="8443" alpn="h2"`, `1 . alpn="h2" port="8443"`},
		{`1 . ipv4hint="192.0.2.1,192.0.2.2" ipv6hint=2001:DB8::1`, `1 . ipv4hint="192.0.2.1,192.0.2.2" ipv6hint="2001:db8::1"`},
		{`1 . mandatory=port port=1 key65000="a b"`, `1 . mandatory="port" port="1" key65000="a\ b"`}},
	"IPSECKEY": {{"10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb", ""}, {"10 3 2 GW.example.org. AQNRU3mG", "10 3 2 gw.example.org. AQNRU3mG"},
		{"10 0 2 . AQNRU3mG", ""}, {"10 1 0 192.0.2.38", ""}},
	"ISDN": {{`"150862028003217" "004"`, ""}},
	"KEY":  {{"512 3 8 AQID", ""}},
	"KX":   {{"10 KX.example.org.", "10 kx.example.org."}},
	"L32":  {{"10 192.0.2.1", ""}},
	"L64":  {{"10 2001:0DB8:1140:1000", ""}},
	"LOC": {{"52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "52 22 23.000 N 04 53 32.000 E -2m 0.00m 10000m 10m"},
		{"42 N 71 W 24m", "42 00 0.000 N 71 00 0.000 W 24m 1m 10000m 10m"}},
	"LP":    {{"10 L64.example.org.", "10 l64.example.org."}},
	"MB":    {{"mail.example.org.", ""}},
	"MD":    {{"mail.example.org.", ""}},
	"MF":    {{"mail.example.org.", ""}},
	"MG":    {{`Madge\.x.example.org.`, `madge\.x.example.org.`}},
	"MINFO": {{`list-request.example.org. .`, ""}},
	"MR":    {{"new.example.org.", ""}},
	"MX":    {{"10 Mail.example.org.", "10 mail.example.org."}, {"0 .", ""}, {"010   mail.example.org.", "10 mail.example.org."}},
	"NAPTR": {{`100 10 "u" "E2U+sip" "!^.*$!sip:info@example.org!" .`, ""}, {`100 10 "S" "SIP+D2U" "" _SIP._udp.example.org.`, `100 10 "S" "SIP+D2U" "" _sip._udp.example.org.`},
		{`1 1 "u" "x" "!^(.*)$!\\1;x!" .`, ""}},
	"NID":        {{"10 0014:4fff:ff20:ee64", ""}},
	"NIMLOC":     {{"0A1B", ""}},
	"NINFO":      {{`"a b"`, ""}},
	"NS":         {{"NS1.example.org.", "ns1.example.org."}},
	"NSAP-PTR":   {{"foo.example.org.", ""}},
	"OPENPGPKEY": {{"AQID BA==", "AQIDBA=="}},
	"PTR":        {{"Host.example.org.", "host.example.org."}},
	"PX":         {{"10 a.example.org. b.example.org.", ""}},
	"RESINFO":    {{"qnamemin exterr=15,16", `"qnamemin" "exterr=15,16"`}},
	"RKEY":       {{"0 3 8 AQID", ""}},
	"RP": {{`John\.Doe.example.org. .`, `john\.doe.example.org. .`},
		{`a+b.example.org. Txt.example.org.`, `a+b.example.org. txt.example.org.`}, {`\097.example.org. .`, `a.example.org. .`}},
	"RT": {{"10 relay.example.org.", ""}},
	"SMIMEA": {{"3 1 1 " + hex32, ""},
		{"3 0 0 " + strings.Repeat("ab", 2000), "3 0 0 " + strings.Repeat("ab", 512) + " " + strings.Repeat("ab", 512) + " " + strings.Repeat("ab", 512) + " " + strings.Repeat("ab", 464)}},
	"SPF":    {{`"v=spf1 -all"`, ""}},
	"SRV":    {{"1 2 3 Sip.example.org.", "1 2 3 sip.example.org."}, {"0 0 0 .", ""}},
	"SSHFP":  {{"4 2 " + hex32, "4 2 " + strings.ToUpper(hex32)}, {"4 1 " + strings.ToUpper(hex20), ""}},
	"SVCB":   {{`1 svc.example.org. alpn="h2" no-default-alpn`, `1 svc.example.org. alpn="h2" no-default-alpn=""`}, {`1 . dohpath=/q{?dns}`, `1 . dohpath="/q{?dns}"`}, {"1 . ohttp alpn=h2", `\# 14 0001000001000302683200080000`}},
	"TA":     {{"1 8 2 " + hex32, "1 8 2 " + strings.ToUpper(hex32)}},
	"TALINK": {{". b.example.org.", ""}},
	"TLSA":   {{"3 1 1 " + strings.ToUpper(hex32), "3 1 1 " + hex32}, {"3 1 2 " + hex64[:10] + " " + hex64[10:], "3 1 2 " + hex64}, {"3 0 0 0102", ""}},
	"TXT": {{`"v=spf1 -all"`, ""}, {"word", `"word"`}, {`"a" "b"`, ""}, {`"a; (b) $c"`, ""}, {`"\097\010"`, `"a\010"`}, {`"ü"`, `"\195\188"`}, {`"\255"`, ""}, {`"" "a"`, ""},
		{`"` + strings.Repeat("x", 300) + `"`, `"` + strings.Repeat("x", 255) + `" "` + strings.Repeat("x", 45) + `"`}, {`"\"a\" \\"`, ""}, {`a\ b`, `"a b"`}, {`\# 2 0141`, `"A"`}},
	"UID":    {{"100", ""}},
	"UINFO":  {{`"a b"`, ""}},
	"URI":    {{`10 1 "ftp://ftp.example.org/public"`, ""}, {`10 1 https://example.org/`, `10 1 "https://example.org/"`}},
	"X25":    {{"311061700956", ""}},
	"ZONEMD": {{"2018031900 1 1 " + hex48, "2018031900 1 1 " + hex48}, {"1 1 2 " + hex64, ""}},

	"TYPE65280": {{`\# 4 0A000001`, `\# 4 0a000001`}, {`\# 0`, ""}, {`\# 3 ab c d ef`, `\# 3 abcdef`}},
	"TYPE22":    {{`\# 1 ff`, ""}},
}

func TestZoneTypes(t *testing.T) {
	types := record.ZoneTypes()
	last := record.Type("")
	for _, typ := range types {
		if !typ.InZone() || dns.StringToType[string(typ)] != typ.Code() || typ <= last {
			t.Errorf("%q after %q: in zone %v, code %d", typ, last, typ.InZone(), typ.Code())
		}
		last = typ
		if len(rdataForms[typ]) == 0 {
			t.Errorf("%s has no row in the table of forms", typ)
		}
	}
	for _, typ := range record.Types() {
		if !typ.InZone() {
			t.Errorf("%s is in no zone", typ)
		}
	}
	for _, typ := range []record.Type{"", "a", "SOA", "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "SIG", "NXT", "OPT", "TSIG", "TKEY",
		"ANY", "AXFR", "IXFR", "MAILA", "MAILB", "NULL",
		"NXNAME", "None", "Reserved", "UNSPEC", "ATMA", "TYPE", "TYPE0", "TYPE1", "TYPE01", "TYPE041", "TYPE0300", "TYPE41", "TYPE128", "TYPE200", "TYPE255", "TYPE65535", "TYPE65536",
		"TYPE-1", "TYPE+300", "type300", "TYPE300 ", "TYPE300\n"} {
		if typ.InZone() {
			t.Errorf("%q is in zones", typ)
		}
		if code := typ.Code(); code != 0 && typ != "SOA" {
			t.Errorf("%q has code %d", typ, code)
		}
	}
	for typ, code := range map[record.Type]uint16{"SOA": 6, "TYPE65280": 65280, "TYPE300": 300, "HTTPS": 65, "NSAP-PTR": 23} {
		if typ.Code() != code {
			t.Errorf("%s has code %d; want %d", typ, typ.Code(), code)
		}
	}
}

func TestWantsHost(t *testing.T) {
	for typ, want := range map[record.Type]bool{"MX": true, "NS": true, "SRV": true, "CNAME": false, "DNAME": false, "PTR": false, "HTTPS": false} {
		if typ.WantsHost() != want {
			t.Errorf("%s: %v", typ, !want)
		}
	}
}

func TestRDataForms(t *testing.T) {
	for typ, forms := range rdataForms {
		for _, form := range forms {
			t.Run(string(typ)+" "+fmt.Sprintf("%.40s", form[0]), func(t *testing.T) {
				want := form[1]
				if want == "" {
					want = form[0]
				}
				got := acceptRData(t, typ, form[0])
				if diff := cmp.Diff(want, got.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				checkRData(t, typ, got)
			})
		}
	}
}

func acceptRData(t testing.TB, typ record.Type, text string) record.RData {
	t.Helper()
	data, problems := record.ParseRData(typ, text)
	if data.IsZero() {
		t.Fatalf("%s %q is refused: %v", typ, text, problems)
	}
	return data
}

// rdataCase is a type and a text of rdata.
type rdataCase struct {
	typ  record.Type
	text string
}

// rdataRule is what breaks a rule, and what comes close and is accepted without a word of it.
type rdataRule struct{ breaks, keeps []rdataCase }

var long64K = `"` + strings.Repeat("x", 65533) + `"`

var rdataCases = map[*rules.Rule]rdataRule{
	rules.RDataType: {
		breaks: []rdataCase{{"", "x"}, {"a", "192.0.2.1"}, {"SOA", "ns.example.org. a.example.org. 1 2 3 4 5"}, {"NSEC", "a.example.org. A"}, {"RRSIG", "x"},
			{"TYPE1", `\# 4 c0000201`}, {"ANY", "x"},
			{"A\nAAAA", "x"}, {record.Type(strings.Repeat("A", 1<<20)), "x"}},
		keeps: []rdataCase{{"DS", "1 8 2 " + hex32}, {"TYPE300", `\# 1 00`}, {"DNSKEY", "256 3 8 AQID"}},
	},
	rules.RDataSyntax: {
		breaks: []rdataCase{
			{"MX", ""}, {"MX", "   "}, {"MX", "mail.example.org."}, {"MX", "10"}, {"MX", "65536 mail.example.org."}, {"MX", "-1 mail.example.org."}, {"MX", "10 mail.example.org. x"},
			{"MX", "10 mail.example.org. ; comment"}, {"MX", "( 10 mail.example.org. )"}, {"MX", "10 mail.example.org.\n"}, {"MX", "10\tmail.example.org."},
			{"MX", "10 mail.example.org.\n@ 0 IN A 192.0.2.66"}, {"MX", "10 mail.example.org.\r"}, {"MX", "10 mail.example.org.\x00"}, {"MX", "10 mail.example.org.\x7f"},
			{"MX", "10 \xff."}, {"MX", "10 a\u200b.example.org."},
			{"MX", `10 "mail.example.org."`}, {"A", `"192.0.2.1"`}, {"CNAME", "a.example.org. b.example.org."}, {"CNAME", "$INCLUDE /etc/passwd"}, {"CNAME", `a\`},
			{"CNAME", `a\99.example.org.`}, {"CNAME", `a\256.example.org.`},
			{"SRV", "1 2 sip.example.org."}, {"SRV", "1 2 3 4 sip.example.org."}, {"TXT", `"a`}, {"TXT", `a\`}, {"TXT", `"\1"`}, {"TXT", `"\300"`},
			{"TXT", strings.Repeat("x", 65536)}, {"TXT", strings.Repeat(`\"`, 1<<19)},
			{"CAA", "0 issue"}, {"CAA", `0 issue "a" "b"`}, {"CAA", `256 issue "a.example"`}, {"CAA", `0 is-sue "a.example"`}, {"CAA", `0 issue "a\\b"`}, {"CAA", `0 issue a;b`},
			{"A", `\# 5 c000020101`}, {"A", `\# 3 c00002`}, {"A", `\# 4 c00002`}, {"A", `\# 4 c000020g`}, {"A", `\# 0`}, {"A", `\#`}, {"CNAME", `\# 2 c000`},
			{"CNAME", `\# 0`}, {"MX", `\# 4 000ac000`}, {"TYPE300", "abc"}, {"TYPE300", `\# 70000 00`}, {"TYPE300", `\# 1`}, {"TYPE300", `\# 2 00`},
			{"HINFO", "PC"}, {"HINFO", `"a" "b" "c"`}, {"HINFO", `"` + strings.Repeat("x", 256) + `" "a"`}, {"UINFO", `"a" "b"`}, {"ISDN", `"a" "b" "c"`},
			{"L32", "10 2001:db8::1"}, {"NID", "10 0014:4fff:ff20:ee64:1"}, {"NID", "10 0014a4fffaff20:ee64"},
			{"IPSECKEY", "10 4 2 foo AQID"}, {"AMTRELAY", "10 0 4 foo"}, {"LOC", "42 N 71 W 1e30m"}, {"LOC", "42 1 NaN N 71 W 1m"}, {"LOC", "42 N 71 W 1m 1m 1m 1m 1m"},
			{"LOC", "42 N 71 W NaN"}, {"HIP", "2 " + strings.Repeat("00", 300) + " AwEAAbdx"},
			{"DNSKEY", "256 3 8"}, {"DS", "1 8 200"}, {"DS", "1 8 2 xyz"}, {"CERT", "PKIX 1 8"}, {"SSHFP", "1 200"}, {"TLSA", "3 1 0"}, {"OPENPGPKEY", "===="},
			{"EUI48", "00-00-5e-00-53"}, {"CSYNC", "1 1 AAAA A"}, {"APL", "1:192.0.2.1/24"},
			{"HTTPS", `1 . alpn="h2"port="1"`}, {"HTTPS", `1 . port=1 port=2`}, {"HTTPS", `1 . foo=bar`}, {"HTTPS", `1 . port="70000"`},
			{"HTTPS", `1 . ipv4hint=2001:db8::1`}, {"HTTPS", `1 . key65535=x`}, {"HTTPS", `1 "."`}, {"NAPTR", "1 1 u x y ."},
			{"URI", `1 1 "a" "b"`}, {"AVC", "a;b"}, {"X25", `$1`}, {"X25", "1$"}, {"X25", "123"}, {"X25", `\# 4 03612062`}, {"X25", `\# 3 022461`}, {"RP", "$a.example.org. ."}, {"RP", "john." + name253 + ". ."}, {"SVCB", "1 . ; x"},
			{"AMTRELAY", "10 1 2 2001:db8::1"}, // no reader finds the gateway behind a discovery bit
			{"L32", `\# 2 000a`}, {"IPSECKEY", `\# 3 0a0302`}, {"IPSECKEY", `\# 3 0a0102`}, {"AMTRELAY", `\# 2 0a01`}, {"MX", `\# 2 000a`}, {"NAPTR", `\# 4 00010001`},
			{"CAA", `\# 1 00`}, {"SVCB", `\# 2 0001`}, {"TLSA", "3 1 1"}, {"DNSKEY", "257 4 13 AQID"}, {"CDNSKEY", `\# 5 0101020d00`}, {"NAPTR", `1 1 "?" "x" "" .`},
		},
		keeps: []rdataCase{{"MX", " 10  mail.example.org. "}, {"TXT", `"; ( ) $ORIGIN @ \" \\"`}, {"TXT", `\#x`}, {"NAPTR", `1 1 "" "" "" .`},
			{"HTTPS", `1 . alpn="h2" port="1"`}, {"HTTPS", "0 ."}, {"DS", "1 8 200 00"},
			{"TXT", `"` + strings.Repeat("x", 60000) + `"`}, {"LOC", "42 N 71 W -100000m 1m 1m 1m"}, {"LOC", "42 N 71 W 42849672.95m"},
			{"LOC", "1 2 3.457 S 1 2 3.459 E 1.01m"}, {"TYPE300", `\# 0`},
			{"CAA", `0 issue "ca.example; a=b"`}, {"HINFO", `"` + strings.Repeat("x", 255) + `" ""`}, {"AVC", `"a;b"`}},
	},
	rules.NAPTRRegexp: {
		breaks: []rdataCase{{"NAPTR", `1 1 "u" "x" "!^.*$!sip:a!" a.example.org.`}, {"NAPTR", `1 1 "u" "x" "!^.*$!\\1!" .`}, {"NAPTR", `1 1 "u" "x" "!^(.*)$!\\2!" .`}, {"NAPTR", `1 1 "u" "x" "!^.*$!sip:a!b" .`}, {"NAPTR", `1 1 "u" "x" "!^.*$!sip:a" .`},
			{"NAPTR", `1 1 "u" "x" "!^(.*$!sip:a!" .`}, {"NAPTR", `1 1 "u" "x" "1^.*$1sip:a1" .`}, {"NAPTR", `1 1 "u" "x" "i^.*$isip:ai" .`}, {"NAPTR", `1 1 "u" "x" "!!sip:a!" .`},
			{"NAPTR", `1 1 "u" "x" "!^.*$!\\1;(!" .`}, {"NAPTR", `1 1 "u" "x" "!^.*$!a\\!" .`}, {"NAPTR", `1 1 "u" "x" "x" .`}},
		keeps: []rdataCase{{"NAPTR", `1 1 "u" "x" "!^(.*)$!sip:\\1@example.org!i" .`}, {"NAPTR", `1 1 "u" "x" "/^.*$/tel:+1/" .`}, {"NAPTR", `1 1 "u" "x" "" .`},
			{"NAPTR", `1 1 "u" "x" "!a\\!b!c!" .`}},
	},
	rules.RDataRelativeName: {
		breaks: []rdataCase{{"CNAME", "www"}, {"CNAME", "www.example.org"}, {"CNAME", "@"}, {"NS", "ns1"}, {"PTR", "host.example.org"}, {"DNAME", "x"}, {"MX", "10 mail"},
			{"MX", "10 @"}, {"SRV", "1 2 3 sip.example.org"},
			{"RP", "john.example.org. txt"}, {"RP", "john ."}, {"RP", "john.example.org ."}, {"HTTPS", "1 svc.example.org"}, {"SVCB", "1 @"},
			{"NAPTR", `1 1 "s" "x" "" _sip._udp`}, {"AFSDB", "1 afs"}, {"HIP", "2 2001 AwEAAbdx rvs"},
			{"IPSECKEY", "10 3 2 gw.example.org AQID"}, {"AMTRELAY", "10 0 3 gw"}, {"PX", "10 a.example.org. b"}},
		keeps: []rdataCase{{"CNAME", "www.example.org."}, {"SRV", "0 0 0 ."}, {"HTTPS", "1 ."}, {"RP", ". ."}, {"AMTRELAY", "10 0 1 192.0.2.1"}},
	},
	rules.HostUnderscore: {
		breaks: []rdataCase{{"MX", "10 my_mail.example.org."}, {"NS", "_ns.example.org."}, {"SRV", "0 0 1 a._b.example.org."}, {"MX", `\# 9 000a 025f61 026465 00`}},
		keeps:  []rdataCase{{"CNAME", "_a.example.org."}, {"MX", "10 my-mail.example.org."}, {"PTR", "_ipp._tcp.example.org."}, {"HTTPS", "1 _a.example.org."}},
	},
	rules.RDataDigestLength: {
		breaks: []rdataCase{{"DS", "1 8 1 " + hex32}, {"DS", "1 8 2 " + hex20}, {"DS", "1 8 4 " + hex32}, {"CDS", "1 8 2 00"}, {"DLV", "1 8 2 00"}, {"TA", "1 8 2 00"},
			{"SSHFP", "4 1 " + hex32}, {"SSHFP", "4 2 " + hex20}, {"TLSA", "3 1 1 " + hex64},
			{"TLSA", "3 1 2 " + hex32}, {"SMIMEA", "3 1 1 00"}, {"ZONEMD", "1 1 1 " + hex64}, {"DS", `\# 5 0001080201`}},
		keeps: []rdataCase{{"DS", "1 8 2 " + hex32}, {"CDS", "0 0 0 00"}, {"SSHFP", "4 2 " + hex32}, {"TLSA", "3 1 0 00"}, {"ZONEMD", "1 1 240 " + strings.Repeat("00", 12)}},
	},
	rules.TXTUnquoted: {
		breaks: []rdataCase{{"TXT", "v=spf1 -all"}, {"TXT", `"a" b`}, {"TXT", "v=DMARC1; p=none"}, {"TXT", "a;b"}, {"TXT", "(a)"}, {"TXT", `a="b"`}, {"TXT", `"a""b"`},
			{"SPF", "v=spf1 -all"}},
		keeps: []rdataCase{{"TXT", "v=spf1"}, {"TXT", `"v=spf1 -all"`}, {"TXT", `"a" "b"`}, {"TXT", `a\;b`}, {"TXT", `\# 2 0141`}, {"RESINFO", "a b"}},
	},
	rules.CAATag: {
		breaks: []rdataCase{{"CAA", `0 isue "ca.example"`}, {"CAA", `0 auth "x"`}, {"CAA", `128 tbs "x"`}},
		keeps:  []rdataCase{{"CAA", `0 ISSUE "ca.example"`}, {"CAA", `0 issuemail ";"`}, {"CAA", `0 contactphone "+1"`}},
	},
	rules.CAAIssuer: {
		breaks: []rdataCase{{"CAA", `0 issue "https://letsencrypt.org"`}, {"CAA", `0 issuewild "Let's Encrypt"`}, {"CAA", `0 issue "192.0.2.1"`}, {"CAA", `0 issue "*"`}},
		keeps: []rdataCase{{"CAA", `0 issue ";"`}, {"CAA", `0 issue ""`}, {"CAA", `0 issue " ca.example ; account=1"`}, {"CAA", `0 iodef "https://ca.example/"`},
			{"CAA", `0 issue "letsencrypt.org;validationmethods=dns-01"`}},
	},
	rules.CAAFlags: {
		breaks: []rdataCase{{"CAA", `1 issue "ca.example"`}, {"CAA", `129 issue ";"`}, {"CAA", `255 iodef "mailto:a@example.org"`}},
		keeps:  []rdataCase{{"CAA", `0 issue "ca.example"`}, {"CAA", `128 issue "ca.example"`}},
	},
	rules.CAAIodef: {
		breaks: []rdataCase{{"CAA", `0 iodef "security@example.org"`}, {"CAA", `0 iodef ""`}, {"CAA", `0 iodef "mailto:"`}, {"CAA", `0 iodef "ftp://example.org/"`},
			{"CAA", `0 IODEF "mailto:a b@example.org"`}},
		keeps: []rdataCase{{"CAA", `0 iodef "mailto:security@example.org"`}, {"CAA", `0 iodef "HTTPS://example.org/report"`}, {"CAA", `0 iodef "http://example.org"`}},
	},
	rules.URITarget: {
		breaks: []rdataCase{{"URI", `1 1 ""`}, {"URI", `1 1 "www.example.org"`}, {"URI", `1 1 "/path"`}, {"URI", `1 1 "'https://example.org/'"`}, {"URI", `1 1 "https:"`},
			{"URI", `1 1 "https://example.org/a b"`}, {"URI", `1 1 "https://example.org/ü"`}, {"URI", `1 1 "https://example.org/<x>"`}, {"URI", `1 1 "https://[::1"`}, {"URI", `\# 4 00010001`}},
		keeps: []rdataCase{{"URI", `1 1 "https://example.org/%C3%BC?a=b#c"`}, {"URI", "1 1 mailto:a@example.org"}, {"URI", `1 1 "tel:+1-201-555-0123"`}, {"URI", `1 1 "urn:isbn:0451450523"`}},
	},
	rules.SVCBParams: {
		breaks: []rdataCase{{"HTTPS", "1 . no-default-alpn"}, {"HTTPS", "0 a.example. no-default-alpn"}, {"HTTPS", "0 a.example. mandatory=port"}, {"SVCB", "1 . dohpath=dns-query"}, {"SVCB", "1 . dohpath=/dns-query"},
			{"SVCB", "1 . dohpath=/q{?dnsx}"}, {"SVCB", "1 . dohpath=/q{?dns"}, {"SVCB", `1 . dohpath="/\255{?dns}"`}, {"SVCB", `1 . dohpath=""`}, {"SVCB", `\# 10 0001 00 0007 0003 2f7b7d`},
			{"HTTPS", "0 a.example. dohpath=x"}, {"HTTPS", `1 . alpn=""`}, {"SVCB", "1 . mandatory=alpn"}, {"SVCB", "1 . mandatory=port,port port=1"},
			{"SVCB", "1 . mandatory=mandatory"}, {"SVCB", "1 . mandatory"}, {"SVCB", "1 . mandatory=foo"}},
		keeps: []rdataCase{{"SVCB", "1 . dohpath=/dns-query{?dns}"}, {"SVCB", "1 . dohpath=/q{?x,dns}{&y}"}, {"SVCB", "1 . dohpath=/{+dns:3}/z"}, {"HTTPS", "1 . alpn=h2 no-default-alpn"}, {"SVCB", "1 . mandatory=port,alpn port=1 alpn=h2"}, {"HTTPS", "1 ."}},
	},
	rules.SVCBAliasParams: {
		breaks: []rdataCase{{"HTTPS", "0 www.example.org. alpn=h2"}, {"SVCB", "0 www.example.org. port=1"}},
		keeps:  []rdataCase{{"HTTPS", "0 www.example.org."}, {"HTTPS", "1 www.example.org. alpn=h2"}},
	},

	// Rules that rdata shares with the values of an RRset.
	rules.ValueIPv4: {
		breaks: []rdataCase{{"A", "www.example.org."}, {"A", "192.0.2.01"}, {"A", "192.0.2"}, {"A", "::ffff:192.0.2.1"}, {"A", "192.0.2.1 192.0.2.2"},
			{"A", "192.0.2.1/24"}, {"A", "2001:db8::1"}},
		keeps: []rdataCase{{"A", "192.0.2.1"}},
	},
	rules.ValueIPv6: {
		breaks: []rdataCase{{"AAAA", "192.0.2.1"}, {"AAAA", "::ffff:192.0.2.1"}, {"AAAA", "fe80::1%eth0"}, {"AAAA", "::192.0.2.1"},
			{"AAAA", `\# 16 00000000000000000000ffffc0000201`}, {"AAAA", `\# 16 000000000000000000000000c0000201`}, {"AAAA", "2001:db8::1 x"}},
		keeps: []rdataCase{{"AAAA", "2001:db8::1"}},
	},
	rules.AddressSpecial: {
		breaks: []rdataCase{{"A", "127.0.0.1"}, {"AAAA", "::1"}, {"A", "255.255.255.255"}, {"A", `\# 4 7f000001`}},
		keeps:  []rdataCase{{"A", "10.0.0.1"}, {"AAAA", "fd00::1"}},
	},
	rules.NameIsIP: {
		breaks: []rdataCase{{"CNAME", "192.0.2.1"}, {"CNAME", "192.0.2.1."}, {"MX", "10 192.0.2.1"}, {"NS", "2001:db8::1"}, {"HTTPS", "1 192.0.2.1."}, {"KX", "10 192.0.2.1"}},
		keeps:  []rdataCase{{"PTR", "1.2.0.192.in-addr.arpa."}},
	},
	rules.NameNotASCII: {
		breaks: []rdataCase{{"CNAME", "bücher.example."}, {"MX", "10 bücher.example."}, {"AFSDB", "1 bücher.example."}},
		keeps:  []rdataCase{{"CNAME", "xn--bcher-kva.example."}},
	},
	rules.NameCharacter: {
		breaks: []rdataCase{{"CNAME", `a\.b.example.org.`}, {"CNAME", `\097.example.org.`}, {"CNAME", `a\;.example.org.`}, {"AFSDB", `1 a\ b.example.org.`},
			{"RP", `a\;b.example.org. .`}, {"RP", `a$b.example.org. .`}, {"RP", `a\000.example.org. .`},
			{"RP", `a.exa\.mple.org. .`}, {"RP", `a@example.org. .`}, {"NS", `\# 4 02613b00`}, {"RP", `a.b.example.org. a\b.example.org.`}},
		keeps: []rdataCase{{"RP", `a\.b.example.org. .`}, {"CNAME", "_a.example.org."}},
	},
	rules.NameWildcard: {breaks: []rdataCase{{"CNAME", "*.example.org."}, {"LP", "1 *.example.org."}}, keeps: []rdataCase{{"CNAME", "example.org."}}},
	rules.NameEmpty: {breaks: []rdataCase{{"CNAME", "."}, {"NS", "."}, {"PTR", "."}, {"AFSDB", "1 ."}, {"DNAME", "."}}, keeps: []rdataCase{{"MX", "0 ."},
		{"MINFO", ". ."}, {"NAPTR", `1 1 "u" "x" "" .`}}},
	rules.NameTooLong: {
		breaks: []rdataCase{{"CNAME", name253 + "b."}},
		keeps:  []rdataCase{{"CNAME", name253 + "."}, {"RP", "john." + name253[5:] + ". ."}},
	},
	rules.TargetSingleLabel: {breaks: []rdataCase{{"CNAME", "web."}, {"MX", "10 mail."}}, keeps: []rdataCase{{"CNAME", "web.example."}, {"RP", ". txt."}}},
	rules.TXTCharacter: {
		breaks: []rdataCase{{"TXT", "\"a\nb\""}, {"TXT", "\"a\tb\""}, {"TXT", "\"a\xff\""}, {"TXT", "\"a\u202eb\""}, {"TXT", "\"a\"\n"}},
		keeps:  []rdataCase{{"TXT", `"a\010b"`}, {"TXT", `"\255"`}, {"TXT", `"grüße 世界"`}},
	},
	rules.TXTEmpty:       {breaks: []rdataCase{{"TXT", `""`}, {"TXT", `"" ""`}, {"TXT", `\# 1 00`}}, keeps: []rdataCase{{"TXT", `" "`}, {"TXT", `"" "a"`}}},
	rules.TXTQuoted:      {breaks: []rdataCase{{"TXT", `"\"v=spf1 -all\""`}, {"TXT", `"\"\""`}}, keeps: []rdataCase{{"TXT", `"a"`}, {"TXT", `"\""`}, {"TXT", `"\"a\" b"`}}},
	rules.MXNullPriority: {breaks: []rdataCase{{"MX", "10 ."}}, keeps: []rdataCase{{"MX", "0 ."}, {"MX", "10 mail.example.org."}}},
	rules.RRsetTooLarge: {
		breaks: []rdataCase{{"TXT", long64K}, {"TXT", long64K[:64747] + `"`}, {"TXT", `"` + strings.Repeat("ü", 9000) + `"`}},
		keeps:  []rdataCase{{"TXT", long64K[:64746] + `"`}, {"TXT", `"` + strings.Repeat("ü", 8000) + `"`}},
	},
}

func TestRDataRule(t *testing.T) {
	for rule, c := range rdataCases {
		t.Run(rule.ID, func(t *testing.T) {
			for _, b := range c.breaks {
				t.Run(fmt.Sprintf("breaks/%.20s %.60q", b.typ, b.text), func(t *testing.T) {
					data, problems := record.ParseRData(b.typ, b.text)
					checkRDataProblems(t, b, data, problems)
					if !speaks(rule, problems) {
						t.Errorf("the rule is silent: %v", problems)
					}
					if rule.Severity == rules.Warn && data.IsZero() {
						t.Errorf("a warning refuses: %v", problems)
					}
				})
			}
			for _, k := range c.keeps {
				t.Run(fmt.Sprintf("keeps/%.20s %.60q", k.typ, k.text), func(t *testing.T) {
					data, problems := record.ParseRData(k.typ, k.text)
					checkRDataProblems(t, k, data, problems)
					if speaks(rule, problems) || data.IsZero() {
						t.Fatalf("refused or warned of: %v", problems)
					}
					checkRData(t, k.typ, data)
				})
			}
		})
	}
}

func speaks(rule *rules.Rule, problems record.Problems) bool {
	for _, p := range problems {
		if p.Rule == rule {
			return true
		}
	}
	return false
}

// checkRDataProblems holds what is true of the answer to any rdata.
func checkRDataProblems(t *testing.T, c rdataCase, data record.RData, problems record.Problems) {
	t.Helper()
	if refused := len(problems.Denied()) > 0; refused != data.IsZero() {
		t.Errorf("refused is %v, and the rdata %q", refused, data)
	}
	if (problems.Error() == "") != (len(problems) == 0) || !plain(problems.Error()) {
		t.Errorf("sentence %.500q for %d problems", problems.Error(), len(problems))
	}
	for _, p := range problems {
		if p.Detail == "" || !plain(p.Detail) || p.Index != -1 {
			t.Errorf("detail %.500q of index %d is not short printable ASCII", p.Detail, p.Index)
		}
		if p.Field == record.FieldRData && p.Value != c.text || p.Field == record.FieldType && p.Value != string(c.typ) || p.Field != record.FieldRData && p.Field != record.FieldType {
			t.Errorf("the problem with %s shows %.100v", p.Field, p.Value)
		}
	}
}

// Every rule of rdata.go has a case that breaks it and one that comes close.
func TestEveryRDataRuleHasCases(t *testing.T) {
	cases := map[string]rdataRule{}
	for rule, c := range rdataCases {
		cases[rule.ID] = c
		if len(c.breaks) == 0 || len(c.keeps) == 0 {
			t.Errorf("rule %s needs a case that breaks it and one that is nearly so", rule.ID)
		}
	}
	ids := registeredIn(t, "../rules/rdata.go")
	if len(ids) == 0 {
		t.Error("no rule is found")
	}
	for _, id := range ids {
		if _, ok := cases[id]; !ok {
			t.Errorf("rule %s of rdata.go needs a row in the table", id)
		}
	}
}

func TestRDataTargets(t *testing.T) {
	tests := []struct {
		typ  record.Type
		text string
		want []string
	}{
		{"A", "192.0.2.1", nil},
		{"CNAME", "WWW.example.org.", list("www.example.org")},
		{"DNAME", "example.net.", list("example.net")},
		{"NS", "ns.example.org.", list("ns.example.org")},
		{"PTR", "a.example.org.", list("a.example.org")},
		{"MX", "10 mail.example.org.", list("mail.example.org")},
		{"MX", "0 .", nil},
		{"SRV", "1 2 3 sip.example.org.", list("sip.example.org")},
		{"AFSDB", "1 a.example.org.", list("a.example.org")},
		{"KX", "1 a.example.org.", list("a.example.org")},
		{"HTTPS", "1 a.example.org. alpn=h2", list("a.example.org")},
		{"HTTPS", "1 . alpn=h2", nil},
		{"SVCB", "0 a.example.org.", list("a.example.org")},
		{"HIP", "2 2001 AwEAAbdx a.example.org. B.example.org.", list("a.example.org", "b.example.org")},
		{"IPSECKEY", "10 3 2 gw.example.org. AQID", list("gw.example.org")},
		{"IPSECKEY", "10 1 2 192.0.2.1 AQID", nil},
		{"NAPTR", `1 1 "s" "x" "" _sip._udp.example.org.`, list("_sip._udp.example.org")},
		{"RP", "john.example.org. txt.example.org.", nil},
		{"MINFO", "a.example.org. b.example.org.", nil},
	}
	for _, tt := range tests {
		t.Run(string(tt.typ)+" "+tt.text, func(t *testing.T) {
			var got []string
			for _, target := range acceptRData(t, tt.typ, tt.text).Targets() {
				got = append(got, target.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRDataRR(t *testing.T) {
	data := acceptRData(t, "MX", "10 Mail.example.org.")
	for _, owner := range []string{"example.org", "*.example.org", name253} {
		name, err := dnsname.ParseOwner(owner)
		if err != nil {
			t.Fatal(err)
		}
		one, other := data.RR(name, 1<<31-1), data.RR(name, 1<<31-1)
		if want := owner + ".\t2147483647\tIN\tMX\t10 mail.example.org."; one.String() != want {
			t.Errorf("got  %s\nwant %s", one, want)
		}
		one.(*dns.MX).Mx = "other.example.org."
		if other.(*dns.MX).Mx != "mail.example.org." || data.String() != "10 mail.example.org." {
			t.Error("the copies share their data")
		}
	}
	if rr := (record.RData{}).RR(dnsname.Root, 0); rr != nil {
		t.Errorf("no rdata makes %v", rr)
	}
}

func TestRDataEqual(t *testing.T) {
	base := acceptRData(t, "MX", "10 mail.example.org.")
	for text, want := range map[string]bool{"10 MAIL.example.org.": true, `\# 20 000a046d61696c076578616d706c65036f726700`: true, "11 mail.example.org.": false} {
		if other := acceptRData(t, "MX", text); base.Equal(other) != want || (base.String() == other.String()) != want {
			t.Errorf("%s is equal: %v", text, !want)
		}
	}
	if acceptRData(t, "NS", "a.example.org.").Equal(acceptRData(t, "CNAME", "a.example.org.")) {
		t.Error("two types are equal")
	}
}

// Where a message shows what rdata of a type looks like, it would be accepted.
func TestSyntaxExamplesAreAccepted(t *testing.T) {
	for _, typ := range append(record.ZoneTypes(), "TYPE300") {
		_, problems := record.ParseRData(typ, "( )")
		detail := ""
		for _, p := range problems {
			if p.Rule == rules.RDataSyntax {
				detail = p.Detail
			}
		}
		if typ == "TXT" || typ == "SPF" {
			_, detail, _ = strings.Cut(problems[0].Detail, "part of it")
		}
		_, example, found := strings.Cut(detail, ": ")
		_, rest, more := strings.Cut(detail, "on one line: ")
		switch {
		case more:
			example = rest
		case strings.Contains(detail, "RFC 3597"):
			continue
		}
		if !found {
			t.Errorf("%s: no example in %q", typ, detail)
			continue
		}
		acceptRData(t, typ, example)
	}
}

// What a hostile megabyte costs is bounded, and so is what is said of it.
func TestHugeRData(t *testing.T) {
	for _, unit := range []string{"a", "a.", ".", "1.", "::", "ü", "\xff", "\n", " ", "a ", "xn--a.", `\`, `\\`, `"`, `"" `, "(", ";", "$", `\# 1 00 `, "1 "} {
		for _, size := range []int{1000, record.MaxRDataText, 1 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			for _, typ := range []record.Type{"A", "CNAME", "MX", "TXT", "HTTPS", "NAPTR", "HIP", "APL", "OPENPGPKEY", "CSYNC", "TYPE300"} {
				data, problems := record.ParseRData(typ, text)
				checkRDataProblems(t, rdataCase{typ, text}, data, problems)
				if len(problems) > 100 {
					t.Errorf("%s of %d times %q has %d problems", typ, size/len(unit), unit, len(problems))
				}
			}
		}
	}
}

func BenchmarkParseRData(b *testing.B) {
	for _, c := range []rdataCase{{"A", "192.0.2.1"}, {"CNAME", "www.example.org."}, {"TXT", `"v=spf1 include:_spf.example.org -all"`}, {"MX", "10 mail.example.org."},
		{"CAA", `0 issue "letsencrypt.org"`}, {"HTTPS", `1 . alpn="h2,h3"`},
		{"TLSA", "3 1 1 " + hex32}, {"TXT", long64K}, {"TXT", strings.Repeat("x", 1<<20)}} {
		b.Run(fmt.Sprintf("%s of %d bytes", c.typ, len(c.text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := record.ParseRData(c.typ, c.text); len(problems) > 1 {
					b.Fatal(problems)
				}
			}
		})
	}
}
