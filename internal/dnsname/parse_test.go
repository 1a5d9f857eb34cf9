package dnsname_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

var (
	label63 = strings.Repeat("a", 63)
	// name253 is the longest name: three labels of 63 and one of 61 characters.
	name253 = strings.Join([]string{label63, label63, label63, strings.Repeat("b", 61)}, ".")
)

// The parsers, by name.
var parsers = map[string]func(string) (string, error){
	"Parse":          func(text string) (string, error) { n, err := dnsname.Parse(text); return n.String(), err },
	"ParseOwner":     func(text string) (string, error) { n, err := dnsname.ParseOwner(text); return n.String(), err },
	"ParseTarget":    func(text string) (string, error) { n, err := dnsname.ParseTarget(text); return n.String(), err },
	"ParseSubdomain": dnsname.ParseSubdomain,
	"ParseRelative":  dnsname.ParseRelative,
}

func TestAccepted(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		want   string
		parser string // Parse unless set
	}{
		{name: "plain", text: "www.example.com", want: "www.example.com"},
		{name: "upper case", text: "WWW.Example.COM", want: "www.example.com"},
		{name: "one trailing dot", text: "example.com.", want: "example.com"},
		{name: "single label", text: "localhost", want: "localhost"},
		{name: "underscores", text: "_sip._tcp.example.com", want: "_sip._tcp.example.com"},
		{name: "underscore inside and at the end", text: "a_b.c_.example.com", want: "a_b.c_.example.com"},
		{name: "digits first", text: "3com.example.com", want: "3com.example.com"},
		{name: "all-digit label that is not rightmost", text: "10.example.com", want: "10.example.com"},
		{name: "rightmost label with a letter", text: "1.2.3.4a", want: "1.2.3.4a"},
		{name: "reverse name of an address", text: "4.3.2.1.in-addr.arpa", want: "4.3.2.1.in-addr.arpa"},
		{name: "hyphens in the third and fourth place", text: "r3---sn-apo3qvuoxuxbt-j5pe.example.com", want: "r3---sn-apo3qvuoxuxbt-j5pe.example.com"},
		{name: "longest label", text: label63 + ".example.com", want: label63 + ".example.com"},
		{name: "longest name", text: name253, want: name253},
		{name: "longest name with trailing dot", text: name253 + ".", want: name253},
		{name: "most labels", text: strings.Repeat("a.", 126) + "b", want: strings.Repeat("a.", 126) + "b"},
		{name: "target", parser: "ParseTarget", text: "Mail.Example.com.", want: "mail.example.com"},
		{name: "no target", parser: "ParseTarget", text: ".", want: "."},
		{name: "wildcard owner", parser: "ParseOwner", text: "*.Example.com", want: "*.example.com"},
		{name: "subdomain", parser: "ParseSubdomain", text: "WWW", want: "www"},
		{name: "subdomain of labels", parser: "ParseSubdomain", text: "a.B.c", want: "a.b.c"},
		{name: "apex", parser: "ParseSubdomain", text: "@", want: "@"},
		{name: "wildcard subdomain", parser: "ParseSubdomain", text: "*", want: "*"},
		{name: "wildcard above labels", parser: "ParseSubdomain", text: "*.apps", want: "*.apps"},
		{name: "all-digit subdomain", parser: "ParseSubdomain", text: "10", want: "10"},
		{name: "subdomain like an address", parser: "ParseSubdomain", text: "192.0.2.1", want: "192.0.2.1"},
		{name: "relative name", parser: "ParseRelative", text: "Dev", want: "dev"},
		{name: "relative name of labels", parser: "ParseRelative", text: "a.b", want: "a.b"},
		{name: "all-digit relative name, as reverse zones have", parser: "ParseRelative", text: "2.0", want: "2.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.parser == "" {
				tt.parser = "Parse"
			}
			got, err := parsers[tt.parser](tt.text)
			if err != nil || got != tt.want {
				t.Errorf("%s(%q) = %q, %v; want %q", tt.parser, tt.text, got, err, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		want   dnsname.Reason
		parser string // Parse unless set
	}{
		{name: "nothing", text: "", want: dnsname.ReasonEmpty},
		{name: "root as a domain", text: ".", want: dnsname.ReasonEmpty},
		{name: "no subdomain", parser: "ParseSubdomain", text: "", want: dnsname.ReasonEmpty},
		{name: "root as a subdomain", parser: "ParseSubdomain", text: ".", want: dnsname.ReasonEmpty},

		{name: "254 characters", text: name253 + "b", want: dnsname.ReasonTooLong},
		{name: "254 characters and a dot", text: name253 + "b.", want: dnsname.ReasonTooLong},
		{name: "subdomain of 254 characters", parser: "ParseSubdomain", text: name253 + "b", want: dnsname.ReasonTooLong},

		{name: "leading dot", text: ".example.com", want: dnsname.ReasonLabelEmpty},
		{name: "two dots", text: "www..example.com", want: dnsname.ReasonLabelEmpty},
		{name: "two trailing dots", text: "example.com..", want: dnsname.ReasonLabelEmpty},

		{name: "label of 64", text: label63 + "a.example.com", want: dnsname.ReasonLabelTooLong},

		{name: "leading hyphen", text: "-www.example.com", want: dnsname.ReasonLabelHyphen},
		{name: "trailing hyphen", text: "www-.example.com", want: dnsname.ReasonLabelHyphen},
		{name: "hyphen alone", text: "-.example.com", want: dnsname.ReasonLabelHyphen},

		{name: "space", text: "www example.com", want: dnsname.ReasonCharacter},
		{name: "space around", text: " www.example.com", want: dnsname.ReasonCharacter},
		{name: "newline", text: "www\n.example.com", want: dnsname.ReasonCharacter},
		{name: "newline at the end", text: "www.example.com\n", want: dnsname.ReasonCharacter},
		{name: "NUL", text: "www\x00.example.com", want: dnsname.ReasonCharacter},
		{name: "DEL", text: "www\x7f.example.com", want: dnsname.ReasonCharacter},
		{name: "escaped dot", text: `a\.b.example.com`, want: dnsname.ReasonCharacter},
		{name: "escaped byte", text: `a\046b.example.com`, want: dnsname.ReasonCharacter},
		{name: "quote", text: `"www".example.com`, want: dnsname.ReasonCharacter},
		{name: "semicolon", text: "www;.example.com", want: dnsname.ReasonCharacter},
		{name: "URL", text: "https://example.com", want: dnsname.ReasonCharacter},
		{name: "zone file directive", text: "$INCLUDE", want: dnsname.ReasonCharacter},
		{name: "classless reverse name", text: "0/25.2.0.192.in-addr.arpa", want: dnsname.ReasonCharacter},
		{name: "apex inside", parser: "ParseSubdomain", text: "www.@", want: dnsname.ReasonCharacter},

		{name: "apex as a relative name", parser: "ParseRelative", text: "@", want: dnsname.ReasonCharacter},

		{name: "umlaut", text: "bücher.example.com", want: dnsname.ReasonNotASCII},
		{name: "ideographic full stop", text: "www。example.com", want: dnsname.ReasonNotASCII},
		{name: "Kelvin sign, which lower-cases to k", text: "\u212aube.example.com", want: dnsname.ReasonNotASCII},
		{name: "invalid UTF-8", text: "\xff.example.com", want: dnsname.ReasonNotASCII},
		{name: "non-ASCII before length", text: strings.Repeat("ü", 300), want: dnsname.ReasonNotASCII},

		{name: "wildcard in a domain", text: "*.example.com", want: dnsname.ReasonWildcard},
		{name: "wildcard inside a label", parser: "ParseOwner", text: "a*.example.com", want: dnsname.ReasonWildcard},
		{name: "two stars", parser: "ParseOwner", text: "**.example.com", want: dnsname.ReasonWildcard},
		{name: "wildcard not leftmost", parser: "ParseOwner", text: "www.*.example.com", want: dnsname.ReasonWildcard},
		{name: "wildcard target", parser: "ParseTarget", text: "*.example.com", want: dnsname.ReasonWildcard},
		{name: "wildcard not leftmost in a subdomain", parser: "ParseSubdomain", text: "a.*", want: dnsname.ReasonWildcard},
		{name: "wildcard as a relative name", parser: "ParseRelative", text: "*", want: dnsname.ReasonWildcard},
		{name: "wildcard in a relative name", parser: "ParseRelative", text: "*.dev", want: dnsname.ReasonWildcard},

		{name: "IPv4 address", text: "192.0.2.1", want: dnsname.ReasonIsIP},
		{name: "IPv4 address with trailing dot", text: "192.0.2.1.", want: dnsname.ReasonIsIP},
		{name: "IPv6 address", text: "2001:db8::1", want: dnsname.ReasonIsIP},
		{name: "IPv6 address with a zone", text: "fe80::1%eth0", want: dnsname.ReasonIsIP},
		{name: "address as a target", parser: "ParseTarget", text: "192.0.2.1", want: dnsname.ReasonIsIP},

		{name: "short IPv4 form", text: "127.1", want: dnsname.ReasonNumericTLD},
		{name: "octal IPv4 form", text: "0177.0.0.1", want: dnsname.ReasonNumericTLD},
		{name: "address as one number", text: "2130706433", want: dnsname.ReasonNumericTLD},
		{name: "five numbers", text: "1.2.3.4.5", want: dnsname.ReasonNumericTLD},
		{name: "numeric top-level domain", parser: "ParseOwner", text: "*.example.42", want: dnsname.ReasonNumericTLD},

		{name: "absolute subdomain", parser: "ParseSubdomain", text: "www.", want: dnsname.ReasonAbsoluteSubdomain},
		{name: "absolute relative name", parser: "ParseRelative", text: "dev.", want: dnsname.ReasonAbsoluteSubdomain},
		{name: "absolute apex", parser: "ParseSubdomain", text: "@.", want: dnsname.ReasonAbsoluteSubdomain},
	}
	covered := map[dnsname.Reason]bool{dnsname.ReasonBadALabel: true} // TestALabels
	for _, tt := range tests {
		covered[tt.want] = true
		t.Run(tt.name, func(t *testing.T) {
			if tt.parser == "" {
				tt.parser = "Parse"
			}
			got, err := parsers[tt.parser](tt.text)
			if got != "" {
				t.Errorf("%s(%q) = %q beside an error", tt.parser, tt.text, got)
			}
			checkError(t, err, tt.want)
		})
	}
	for _, reason := range dnsname.Reasons() {
		if !covered[reason] {
			t.Errorf("reason %s has no case", reason)
		}
	}
}

// checkError holds what is true of every error of this package.
func checkError(t *testing.T, err error, want dnsname.Reason) {
	t.Helper()
	var refused *dnsname.Error
	if !errors.As(err, &refused) {
		t.Fatalf("error is %v (%T); want a *dnsname.Error with reason %s", err, err, want)
	}
	if refused.Reason != want {
		t.Errorf("reason %s (%s); want %s", refused.Reason, refused.Detail, want)
	}
	if refused.Error() != refused.Detail {
		t.Errorf("Error() is %q; want the detail %q", refused.Error(), refused.Detail)
	}
	checkDetail(t, refused.Detail)
}

// checkDetail refuses a detail that is long, or that carries what the input could do harm with.
func checkDetail(t *testing.T, detail string) {
	t.Helper()
	if detail == "" || len(detail) > 350 {
		t.Errorf("detail has %d characters: %.400q", len(detail), detail)
	}
	if strings.ContainsFunc(detail, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("detail is not printable ASCII: %q", detail)
	}
}

func TestALabels(t *testing.T) {
	tests := []struct {
		label string
		valid bool
	}{
		{"xn--bcher-kva", true},            // bücher
		{"xn--strae-oqa", true},            // straße: a deviation character stays what it is
		{"xn--fiqs8s", true},               // 中国
		{"xn--fiqz9s", true},               // 中國
		{"xn--p1ai", true},                 // рф
		{"xn--mgbaam7a8h", true},           // امارات, right to left
		{"xn--wgbh1c", true},               // مصر
		{"xn--deba0ad", true},              // טעסט
		{"xn--11b5bs3a9aj6g", true},        // परीक्षा
		{"xn--o3cw4h", true},               // ไทย
		{"xn--3e0b707e", true},             // 한국
		{"xn--zckzah", true},               // テスト
		{"xn--hxajbheg2az3al", true},       // παράδειγμα
		{"xn--hgbk6aj7f53bba", true},       // آزمایشی
		{"xn--vermgensberatung-pwb", true}, // vermögensberatung
		{"XN--BCHER-KVA", true},            // as typed in upper case

		{"xn--a", false},              // U+0080, a control character
		{"xn--ascii-a", false},        // U+0080 and letters
		{"xn--0", false},              // cut short
		{"xn--bcher-kv", false},       // cut short
		{"xn--99999999999", false},    // overflows
		{"xn--u-ccb", false},          // ü as u and a combining mark: not in normal form C
		{"xn--a-bcb", false},          // starts with a combining mark
		{"xn--xn---epa", false},       // xn--é, which looks like an A-label
		{"xn--wca", false},            // Ü: capitals are mapped, so none is left in a U-label
		{"xn--bcher-2oa", false},      // bcÖher
		{"xn--kkg", false},            // ẞ, the capital
		{"xn--1ch", false},            // ≠, a symbol
		{"xn--a-ecp", false},          // a⒈, a digit with a full stop in one character
		{"xn--_-eha", false},          // _ü: no underscore in a U-label
		{"xn--ab-j1t", false},         // a joiner between letters that do not join
		{"xn--0ca24w", false},         // àא: mixed direction
		{"xn--a-0hc", false},          // aא: mixed direction
		{"xn--www-example", false},    // decodes, with capitals
		{"xn--" + label63[4:], false}, // as long as a label can be
	}
	for _, tt := range tests {
		t.Run(tt.label, func(t *testing.T) {
			name, err := dnsname.Parse(tt.label + ".example.com")
			if !tt.valid {
				checkError(t, err, dnsname.ReasonBadALabel)
				return
			}
			if want := strings.ToLower(tt.label) + ".example.com"; err != nil || name.String() != want {
				t.Errorf("got %q, %v; want %q", name, err, want)
			}
		})
	}
	for _, broken := range []string{"xn--", "xn--abc-"} { // A-labels never end in a hyphen
		t.Run(broken, func(t *testing.T) {
			_, err := dnsname.Parse(broken + ".example.com")
			checkError(t, err, dnsname.ReasonLabelHyphen)
		})
	}
}

func TestNonASCIIHint(t *testing.T) {
	const general = "which starts with xn--"
	tests := []struct {
		parser string
		text   string
		want   string
	}{
		{"Parse", "bücher.example.com", "xn--bcher-kva.example.com"},
		{"Parse", "Bücher.Example.com", "xn--bcher-kva.example.com"},
		{"Parse", "例え。テスト", "xn--r8jz45g.xn--zckzah"},
		{"Parse", "_dmarc.bücher.example", "_dmarc.xn--bcher-kva.example"},
		{"ParseSubdomain", "*.bücher", "*.xn--bcher-kva"},
		{"ParseOwner", "*.bücher.example", "*.xn--bcher-kva.example"},
		// No hint is better than one that is refused in turn.
		{"Parse", "*.bücher.example", general},
		{"Parse", "bücher.5", general},
		{"Parse", "bü cher.example", general},
		{"Parse", "a\u202eb.example", general},
		{"Parse", "bücher\n.example", general},
		{"Parse", strings.Repeat("ü.", 200), general},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := parsers[tt.parser](tt.text)
			checkError(t, err, dnsname.ReasonNotASCII)
			if !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("hint %q does not end with %q", err, tt.want)
			}
		})
	}
}

func TestClasslessHint(t *testing.T) {
	for text, hint := range map[string]bool{"0/25.2.0.192.in-addr.arpa": true, "www/x.example.org": false, "2001:db8/32.example.org": false} {
		_, err := dnsname.Parse(text)
		checkError(t, err, dnsname.ReasonCharacter)
		if got := strings.Contains(err.Error(), "as in 0-127"); got != hint {
			t.Errorf("%s: %s", text, err)
		}
	}
}

func TestJoin(t *testing.T) {
	domain := parse(t, name253[64:]) // 189 characters
	tests := []struct {
		name      string
		subdomain string
		domain    dnsname.Name
		want      string
	}{
		{"apex", "@", domain, domain.String()},
		{"label", "www", parse(t, "example.com"), "www.example.com"},
		{"wildcard", "*.a", parse(t, "example.com"), "*.a.example.com"},
		{"root", "com", dnsname.Root, "com"},
		{"longest", label63, domain, label63 + "." + domain.String()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := dnsname.Join(tt.subdomain, tt.domain)
			if err != nil || got.String() != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	t.Run("too long together", func(t *testing.T) {
		got, err := dnsname.Join("a."+label63[:62], domain)
		if !got.IsZero() {
			t.Errorf("got %q beside an error", got)
		}
		checkError(t, err, dnsname.ReasonTooLong)
	})
}

func TestEveryReasonIsARegisteredRule(t *testing.T) {
	seen := map[dnsname.Reason]bool{}
	for _, reason := range dnsname.Reasons() {
		if seen[reason] {
			t.Errorf("reason %s is listed twice", reason)
		}
		seen[reason] = true
		if rule, known := rules.Lookup(string(reason)); !known || rule.Severity != rules.Deny {
			t.Errorf("reason %s is no rule that denies", reason)
		}
	}
}

// A megabyte of anything is refused with a short message.
func TestHugeInput(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{"a", "a.", ".", "-", "*", "1.", ":", "::1%", "ü", "\xff", "\n", "xn--", "xn--a.", "\x00", `\`, "@"} {
		text := strings.Repeat(unit, size/len(unit))
		for name, parser := range parsers {
			got, err := parser(text)
			var refused *dnsname.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%s of a megabyte of %q: %.80q, %v", name, unit, got, err)
			}
			checkDetail(t, refused.Detail)
		}
	}
}

func parse(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return name
}

func TestName(t *testing.T) {
	type facts struct {
		Text, FQDN           string
		Zero, Wildcard, Some bool
		Labels               []string
		Parent               string
	}
	owner := func(text string) dnsname.Name {
		name, err := dnsname.ParseOwner(text)
		if err != nil {
			t.Fatalf("ParseOwner(%q): %v", text, err)
		}
		return name
	}
	tests := []struct {
		name dnsname.Name
		want facts
	}{
		{dnsname.Name{}, facts{Zero: true}},
		{dnsname.Root, facts{Text: ".", FQDN: "."}},
		{owner("com"), facts{Text: "com", FQDN: "com.", Labels: []string{"com"}, Some: true, Parent: "."}},
		{owner("A.b.com."), facts{Text: "a.b.com", FQDN: "a.b.com.", Labels: []string{"a", "b", "com"}, Some: true, Parent: "b.com"}},
		{owner("*.b.com"), facts{Text: "*.b.com", FQDN: "*.b.com.", Wildcard: true, Labels: []string{"*", "b", "com"}, Some: true, Parent: "b.com"}},
		{owner("*"), facts{Text: "*", FQDN: "*.", Wildcard: true, Labels: []string{"*"}, Some: true, Parent: "."}},
	}
	for _, tt := range tests {
		t.Run(tt.want.Text, func(t *testing.T) {
			parent, some := tt.name.Parent()
			got := facts{Text: tt.name.String(), FQDN: tt.name.FQDN(), Zero: tt.name.IsZero(), Wildcard: tt.name.IsWildcard(),
				Labels: tt.name.Labels(), Parent: parent.String(), Some: some}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestIsAtOrBelow(t *testing.T) {
	name := func(text string) dnsname.Name {
		switch text {
		case "":
			return dnsname.Name{}
		case ".":
			return dnsname.Root
		}
		return parse(t, text)
	}
	tests := []struct {
		name, other string
		want        bool
	}{
		{"example.com", "example.com", true},
		{"www.example.com", "example.com", true},
		{"a.b.example.com", "example.com", true},
		{"example.com", "www.example.com", false},
		{"badexample.com", "example.com", false}, // only on label boundaries
		{"example.com", "ample.com", false},
		{"example.com.evil.net", "example.com", false},
		{"example.com", ".", true},
		{".", ".", true},
		{".", "com", false},
		{"", "com", false},
		{"com", "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got := name(tt.name).IsAtOrBelow(name(tt.other)); got != tt.want {
			t.Errorf("%q at or below %q: %v; want %v", tt.name, tt.other, got, tt.want)
		}
	}
}
