package dnsname_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/namegate/namegate/internal/dnsname"
)

var seeds = []string{
	"www.example.com", "WWW.Example.COM.", "_sip._tcp.example.com", "*.example.com", "*", "@", ".", "", "..", "a..b", "-a.b-", "192.0.2.1",
	"2001:db8::1", "fe80::1%eth0", "127.1", "0x7f.1", "1.2.3.4.5", `a\.b`, `a\046b`, "a\nb", "$INCLUDE /etc/passwd", "\xff\xfe", "bücher.example",
	"*.bücher.example", "例え。テスト", "\u212aube", "a\u202eb", "xn--bcher-kva", "xn--mgbaam7a8h", "xn--", "xn--a", "xn--99999999999", "xn--xn---epa",
	"xn--u-ccb", name253, name253 + "b", label63 + "a", strings.Repeat("a.", 126) + "b",
}

// checkFuzzError holds what is true of every error, whatever the input.
func checkFuzzError(t *testing.T, err error) {
	t.Helper()
	var refused *dnsname.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%T is no *dnsname.Error", err)
	}
	if !slices.Contains(dnsname.Reasons(), refused.Reason) {
		t.Errorf("reason %q is not listed", refused.Reason)
	}
	checkDetail(t, refused.Detail)
}

// checkName holds what is true of every accepted name.
func checkName(t *testing.T, name dnsname.Name) {
	t.Helper()
	text := name.String()
	if text == "" || len(text) > dnsname.MaxLength || text != strings.ToLower(text) {
		t.Errorf("%q is not canonical", text)
	}
	for _, label := range name.Labels() {
		if label == "" || len(label) > dnsname.MaxLabelLength {
			t.Errorf("label %q of %q has %d characters", label, text, len(label))
		}
	}
	if _, is := dns.IsDomainName(text); !is {
		t.Errorf("%q is no domain name", text)
	}
	wire := make([]byte, 255) // RFC 1035 section 2.3.4
	end, err := dns.PackDomainName(name.FQDN(), wire, 0, nil, false)
	if err != nil {
		t.Fatalf("%q does not fit the wire: %v", text, err)
	}
	if back, _, err := dns.UnpackDomainName(wire[:end], 0); err != nil || back != name.FQDN() {
		t.Errorf("%q comes back from the wire as %q, %v", name.FQDN(), back, err)
	}
}

func fuzzWhole(f *testing.F, parse func(string) (dnsname.Name, error)) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := parse(text)
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		checkName(t, name)
		if want := strings.ToLower(strings.TrimSuffix(text, ".")); name.String() != want {
			t.Errorf("%q became %q: a parser folds case and drops one dot, and repairs nothing", text, name)
		}
		for _, form := range []string{name.String(), name.FQDN(), strings.ToUpper(name.String())} {
			if again, err := parse(form); err != nil || again != name {
				t.Errorf("%q became %q, and %q of it %q, %v", text, name, form, again, err)
			}
		}
	})
}

func FuzzParse(f *testing.F) { fuzzWhole(f, dnsname.Parse) }

func FuzzParseOwner(f *testing.F) { fuzzWhole(f, dnsname.ParseOwner) }

func FuzzSubdomain(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "example.com")
	}
	f.Add(label63, name253[64:])
	f.Add("a."+label63[:62], name253[64:])
	f.Fuzz(func(t *testing.T, text, under string) {
		subdomain, err := dnsname.ParseSubdomain(text)
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		if again, err := dnsname.ParseSubdomain(subdomain); err != nil || again != subdomain {
			t.Errorf("%q became %q and that %q, %v", text, subdomain, again, err)
		}
		domain, err := dnsname.Parse(under)
		if err != nil {
			checkFuzzError(t, err)
			return
		}
		checkJoined(t, subdomain, domain)
	})
}

// checkJoined compares the joined name with the same name parsed as a whole.
func checkJoined(t *testing.T, subdomain string, domain dnsname.Name) {
	t.Helper()
	joined, err := dnsname.Join(subdomain, domain)
	if err != nil {
		if len(subdomain)+1+len(domain.String()) <= dnsname.MaxLength {
			t.Errorf("%q and %q fit, yet: %v", subdomain, domain, err)
		}
		checkFuzzError(t, err)
		return
	}
	checkName(t, joined)
	if !joined.IsAtOrBelow(domain) {
		t.Errorf("%q is not below %q", joined, domain)
	}
	if subdomain == dnsname.Apex {
		return
	}
	if whole, err := dnsname.ParseOwner(subdomain + "." + domain.String()); err != nil || whole != joined {
		t.Errorf("joined %q, parsed as a whole %q, %v", joined, whole, err)
	}
}

// labels generates labels that Parse takes.
var labels = rapid.StringMatching(`[a-z_]([a-z0-9_]{0,20}[a-z0-9_])?`)

// names generates names of up to six labels.
var names = rapid.Custom(func(t *rapid.T) dnsname.Name {
	text := strings.Join(rapid.SliceOfN(labels, 1, 6).Draw(t, "labels"), ".")
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return name
})

func TestIsAtOrBelowIsASuffixOfLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, other := names.Draw(t, "name"), names.Draw(t, "other")
		if rapid.Bool().Draw(t, "related") {
			if joined, err := dnsname.Join(name.String(), other); err == nil {
				name = joined
			}
		}
		a, b := name.Labels(), other.Labels()
		want := len(a) >= len(b) && slices.Equal(a[len(a)-len(b):], b)
		if got := name.IsAtOrBelow(other); got != want {
			t.Errorf("%q at or below %q: %v; want %v", name, other, got, want)
		}
	})
}

func TestParentsEndAtTheRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := names.Draw(t, "name")
		steps := len(name.Labels())
		at := name
		for range steps {
			parent, some := at.Parent()
			if !some || !at.IsAtOrBelow(parent) || !name.IsAtOrBelow(parent) || len(parent.Labels()) != len(at.Labels())-1 {
				t.Fatalf("parent of %q is %q (%v)", at, parent, some)
			}
			at = parent
		}
		if at != dnsname.Root {
			t.Errorf("%d parents above %q is %q, not the root", steps, name, at)
		}
	})
}
