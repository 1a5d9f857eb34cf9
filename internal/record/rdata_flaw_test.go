package record_test

import (
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/record"
)

// A refusal says what to do about the one thing that is wrong, and not only what rdata of the type looks like.
func TestFlaws(t *testing.T) {
	tests := []struct {
		typ        record.Type
		text, want string
	}{
		{"MX", "mail.example.org.", "give 2 fields (preference, mail server) instead of 1;"},
		{"MX", "10 mail.example.org. x", "give 2 fields (preference, mail server) instead of 3;"},
		{"MX", "65536 mail.example.org.", "give the preference as a number from 0 to 65535;"},
		{"SRV", "0 0 sip sip.example.org.", "give the port as a number from 0 to 65535;"},
		{"SRV", "0 70000 1 sip.example.org.", "give the weight as a number from 0 to 65535;"},
		{"CAA", `256 issue "ca.example"`, "give the flags as a number from 0 to 255;"},
		{"SSHFP", "4 2 SHA256:abcd", "give the fingerprint in pairs of hexadecimal digits, without colons;"},
		{"TLSA", "3 1 1", "the last field is missing;"},
		{"TLSA", "3 1 0 ab c", "give the digest in pairs of hexadecimal digits, without colons;"},
		{"DS", "1 8 256 ab", "give the digest type as a number from 0 to 255;"},
		{"DNSKEY", "257 3 13 %%%", "give the key in base64;"},
		{"DNSKEY", "257 4 13 AQID", "give 3 as the protocol, which is the second number;"},
		{"CERT", "PKIX 1 8 !", "give the certificate in base64;"},
		{"NAPTR", `1 1 u "x" "" .`, "put the flags in quotes;"},
		{"NAPTR", `1 1 "?" "x" "" .`, "give letters and digits as the flags;"},
		{"HTTPS", "x . alpn=h2", "give the priority as a number from 0 to 65535;"},
		{"HTTPS", "1", "give 2 fields (priority, target) instead of 1;"},
		{"HTTPS", "1 . alpn=h2 alpn=h3", "give each parameter once;"},
		{"HTTPS", "1 . no-default-alpn=x alpn=h2", "give no value to no-default-alpn;"},
		{"HTTPS", "1 . port=http", "give port as a number from 0 to 65535;"},
		{"HTTPS", "1 . ipv4hint=192.0.2.1,2001:db8::1", "give ipv4hint as a list of IPv4 addresses,"},
		{"HTTPS", `1 . ipv6hint="2001:db8::1, 2001:db8::2"`, "give ipv6hint as a list of IPv6 addresses,"},
		{"HTTPS", "1 . ipv6hint=::ffff:192.0.2.1", "give ipv6hint as a list of IPv6 addresses,"},
		{"HTTPS", `1 . ech="###"`, "give ech in base64;"},
		{"HTTPS", "1 . foo=bar", "name parameters mandatory, alpn,"},
		{"HTTPS", "1 . key65535=x", "name parameters mandatory, alpn,"},
		{"HTTPS", "1 . key3=x", "give a parameter that has a name by it,"},
		{"SVCB", "1 . alpn=h2, h3", "and write lists without spaces;"},
		{"LOC", "48.2 N 16.3 E 0m", "give the latitude, up to 90 N or S,"},
		{"TYPE300", "abc", "give the bytes, for the form of this type is not known;"},
		{"TYPE300", `\# 2 00`, `after \# stand the number of bytes,`},
		{"a", "192.0.2.1", "types are written in upper case: give A"},
		{"tYPE300", `\# 0`, "types are written in upper case: give TYPE300"},
		{"TYPE257", `\# 1 00`, "this type has a name: give CAA"},
		{"TYPE6", `\# 1 00`, "give a type such as A,"},
		{"ANY", "x", "give a type such as A,"},
	}
	for _, tt := range tests {
		data, problems := record.ParseRData(tt.typ, tt.text)
		checkRDataProblems(t, rdataCase{tt.typ, tt.text}, data, problems)
		if len(problems) != 1 || !strings.Contains(problems[0].Detail, tt.want) || len(problems[0].Detail) > 350 {
			t.Errorf("%s %q: got %v; want %q", tt.typ, tt.text, problems, tt.want)
		}
	}
}

// A flaw is what the reader refuses, so nothing that is accepted is told one.
func TestNoFlawIsFoundInWhatIsAccepted(t *testing.T) {
	for typ, forms := range rdataForms {
		for _, form := range forms {
			if flaw := record.FlawOf(typ, form[0]); flaw != "" && typ != "LOC" && !strings.HasPrefix(string(typ), "TYPE") {
				t.Errorf("%s %q: %s", typ, form[0], flaw)
			}
		}
	}
}
