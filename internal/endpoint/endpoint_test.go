package endpoint_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/endpoint"
)

func TestEqualForms(t *testing.T) {
	tests := []struct {
		want  string
		forms []string
	}{
		{"http://dns.example.com", []string{
			"http://dns.example.com", "HTTP://DNS.Example.COM", "http://dns.example.com/", "http://dns.example.com:80", "http://dns.example.com:080/",
			"http://dns.example.com.", "http://dns.example.com.:80/"}},
		{"https://dns.example.com", []string{"https://dns.example.com:443/", "hTTps://dns.example.com"}},
		{"http://dns.example.com:443", []string{"http://dns.example.com:443", "http://dns.example.com:00443/"}},
		{"https://dns.example.com:80", []string{"https://dns.example.com:80"}},
		{"http://cloudflare-dns.dns.svc:7100", []string{"http://cloudflare-dns.dns.svc:7100", "http://Cloudflare-DNS.dns.svc:7100/"}},
		{"http://localhost:65535", []string{"http://localhost:65535"}},
		{"http://my_host", []string{"http://my_host"}},
		{"http://xn--bcher-kva.example", []string{"http://XN--bcher-kva.example"}},
		{"http://192.0.2.1:7100", []string{"http://192.0.2.1:7100", "http://[::ffff:192.0.2.1]:7100/", "http://[::FFFF:c000:201]:7100"}},
		{"http://[2001:db8::1]", []string{"http://[2001:db8::1]", "http://[2001:0DB8:0:0:0:0:0:1]:80/"}},
		{"https://[2001:db8::1]:8443", []string{"https://[2001:db8:0::1]:8443"}},
		{"http://dns.example.com/base", []string{"http://dns.example.com/base", "http://dns.example.com:80/base/"}},
		{"http://dns.example.com/Base/v1", []string{"http://DNS.example.com/Base/v1/"}}, // a path keeps its case
		{"http://dns.example.com/a%20b/b%C3%BCcher/%2A", []string{"http://dns.example.com/a%20b/b%C3%BCcher/%2A"}},
		{"http://dns.example.com/@user:x/~a-_.$&+=", []string{"http://dns.example.com/@user:x/~a-_.$&+="}},
		{"http://dns.example.com/...", []string{"http://dns.example.com/..."}},
	}
	for _, tt := range tests {
		for _, form := range tt.forms {
			t.Run(form, func(t *testing.T) {
				got, err := endpoint.Parse(form)
				if err != nil {
					t.Fatal(err)
				}
				checkURL(t, got)
				if got.String() != tt.want {
					t.Errorf("canonical form %q; want %q", got, tt.want)
				}
				if got.Secure() != strings.HasPrefix(tt.want, "https:") {
					t.Errorf("secure: %v", got.Secure())
				}
				if shown := endpoint.Shown(form); shown != form {
					t.Errorf("shown as %q", shown)
				}
			})
		}
	}
}

// checkURL holds what is true of every accepted URL.
func checkURL(t *testing.T, u endpoint.URL) {
	t.Helper()
	if again, err := endpoint.Parse(u.String()); err != nil || again != u {
		t.Errorf("%q parses to %q, %v", u, again, err)
	}
	base := u.Base()
	if base.String() != u.String() || base.Host == "" || base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "" || base.Opaque != "" {
		t.Errorf("base of %q is %#v", u, base)
	}
	if u.IsZero() || len(u.String()) > endpoint.MaxLength || strings.HasSuffix(u.String(), "/") || !printableASCII(u.String()) {
		t.Errorf("%q is not canonical", u)
	}
	// What a client appends stays below the base path.
	if joined := base.JoinPath("records", "A"); joined.String() != u.String()+"/records/A" {
		t.Errorf("a path below %q is %q", u, joined)
	}
}

func printableASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Every error; none of them holds anything of the URL.
var allErrors = []error{endpoint.ErrSyntax, endpoint.ErrScheme, endpoint.ErrHost, endpoint.ErrPort, endpoint.ErrUserInfo, endpoint.ErrQuery, endpoint.ErrFragment,
	endpoint.ErrPath, endpoint.ErrTooLong}

const longest = 2048 - len("http://example.com/")

func TestRefusedForms(t *testing.T) {
	tests := []struct {
		text  string
		want  error
		shown string
	}{
		{"", endpoint.ErrScheme, "(not shown)"},
		{"dns.example.com", endpoint.ErrScheme, "(not shown)"},
		{"dns.example.com:7100", endpoint.ErrScheme, "(not shown)"},
		{"//dns.example.com", endpoint.ErrScheme, "//dns.example.com"},
		{"ftp://dns.example.com", endpoint.ErrScheme, "ftp://dns.example.com"},
		{"unix:///run/dns.sock", endpoint.ErrScheme, "(not shown)"},
		{"javascript:alert(1)", endpoint.ErrScheme, "(not shown)"},

		{"http://", endpoint.ErrHost, "(not shown)"},
		{"http:", endpoint.ErrHost, "(not shown)"},
		{"http:dns.example.com", endpoint.ErrHost, "(not shown)"},
		{"http:///base", endpoint.ErrHost, "(not shown)"},
		{"http://:7100", endpoint.ErrHost, "http://:7100"},
		{"http://.", endpoint.ErrHost, "http://."},
		{"http://a..example.com", endpoint.ErrHost, "http://a..example.com"},
		{"http://-a.example.com", endpoint.ErrHost, "http://-a.example.com"},
		{"http://*.example.com", endpoint.ErrHost, "http://*.example.com"},
		{"http://xn--a.example", endpoint.ErrHost, "http://xn--a.example"},
		{"http://a,b", endpoint.ErrHost, "http://a,b"},
		{"http://[fe80::1%25eth0]", endpoint.ErrHost, "http://[fe80::1%25eth0]"},
		// Other spellings of 127.0.0.1, which only some resolvers understand.
		{"http://127.1", endpoint.ErrHost, "http://127.1"},
		{"http://2130706433", endpoint.ErrHost, "http://2130706433"},
		{"http://0177.0.0.1", endpoint.ErrHost, "http://0177.0.0.1"},
		{"http://0x7f000001", endpoint.ErrHost, "http://0x7f000001"},
		{"http://0X7F.0.0.0X1", endpoint.ErrHost, "http://0X7F.0.0.0X1"},
		{"http://127.0.0.0x1.", endpoint.ErrHost, "http://127.0.0.0x1."},

		{"http://dns.example.com:", endpoint.ErrPort, "http://dns.example.com:"},
		{"http://[::1]:", endpoint.ErrPort, "http://[::1]:"},
		{"http://dns.example.com:0", endpoint.ErrPort, "http://dns.example.com:0"},
		{"http://dns.example.com:65536", endpoint.ErrPort, "http://dns.example.com:65536"},
		{"http://dns.example.com:99999999999999999999", endpoint.ErrPort, "http://dns.example.com:99999999999999999999"},
		{"http://dns.example.com:dns", endpoint.ErrSyntax, "(not shown)"},
		{"http://dns.example.com:-1", endpoint.ErrSyntax, "(not shown)"},
		{"http://2001:db8::1", endpoint.ErrSyntax, "(not shown)"},

		{"http://dns.example.com?x=1", endpoint.ErrQuery, "http://dns.example.com"},
		{"http://dns.example.com/?", endpoint.ErrQuery, "http://dns.example.com"},
		{"http://dns.example.com/base?token=hunter2", endpoint.ErrQuery, "http://dns.example.com"},
		{"http://dns.example.com#", endpoint.ErrFragment, "http://dns.example.com"},
		{"http://dns.example.com/base#hunter2", endpoint.ErrFragment, "http://dns.example.com"},

		{"http://dns.example.com//", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a//b", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a//", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/.", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a/../b", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/%2e%2e/b", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/..%2Fb", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a%2Fb", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a%5Cb", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a%00", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a%0D%0AX-Evil:1", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/%FF", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/%61", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/%c3%bc", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a*b", endpoint.ErrPath, "http://dns.example.com"},
		{"http://dns.example.com/a;b", endpoint.ErrPath, "http://dns.example.com"},

		{"http://dns.example.com/a b", endpoint.ErrSyntax, "http://dns.example.com"},
		{" http://dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://dns.example.com\n", endpoint.ErrSyntax, "(not shown)"},
		{"http://dns.example.com/\x7f", endpoint.ErrSyntax, "(not shown)"},
		{`http://dns.example.com\@evil.example`, endpoint.ErrSyntax, "(not shown)"},
		{`http://dns.example.com/a\b`, endpoint.ErrSyntax, "http://dns.example.com"},
		{"http://bücher.example", endpoint.ErrSyntax, "http://b%C3%BCcher.example"},
		{"http://dns\u202e.example", endpoint.ErrSyntax, "http://dns%E2%80%AE.example"},
		{"http://dns.example.com/ü", endpoint.ErrSyntax, "http://dns.example.com"},
		{"http://ex%61mple.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://ex%C3%A4mple.com", endpoint.ErrHost, "http://ex%C3%A4mple.com"},
		{"http://dns.example.com/%zz", endpoint.ErrSyntax, "(not shown)"},
		{"http://[192.0.2.1]", endpoint.ErrSyntax, "(not shown)"},
		{"http://[dns.example.com]", endpoint.ErrSyntax, "(not shown)"},
		{"http://[::1", endpoint.ErrSyntax, "(not shown)"},

		{"http://user@dns.example.com", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"http://user:hunter2@dns.example.com:7100/base", endpoint.ErrUserInfo, "http://dns.example.com:7100"},
		{"http://:hunter2@dns.example.com", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"http://@dns.example.com", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"http://user:hunter2@", endpoint.ErrUserInfo, "(not shown)"},
		{"http://user:hunter2@dns.example.com?x", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"http://user:hunt%65r2@dns.example.com#x", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"http://user:hunter2@a@dns.example.com", endpoint.ErrUserInfo, "http://dns.example.com"},
		{"ftp://user:hunter2@dns.example.com", endpoint.ErrScheme, "ftp://dns.example.com"},
		{"user:hunter2@dns.example.com", endpoint.ErrScheme, "(not shown)"},
		{"//user:hunter2@dns.example.com", endpoint.ErrScheme, "//dns.example.com"},
		{"http:user:hunter2@dns.example.com", endpoint.ErrHost, "(not shown)"},
		{"http:/user:hunter2@dns.example.com", endpoint.ErrHost, "(not shown)"},
		{"http:///user:hunter2@dns.example.com", endpoint.ErrHost, "(not shown)"},
		{"http://user:hunter2 @dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://user:hunter2%@dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://user:hunter2/x@dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://user:hunter2\n@dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://user:hunter2\\@dns.example.com", endpoint.ErrSyntax, "(not shown)"},
		{"http://user:hünter2@dns.example.com", endpoint.ErrSyntax, "(not shown)"},

		{"http://example.com/" + strings.Repeat("a", longest+1), endpoint.ErrTooLong, "http://example.com"},
		{"http://[1::3:4:5:6:7:8]/" + strings.Repeat("a", 2048-len("http://[1::3:4:5:6:7:8]/")), endpoint.ErrTooLong, "http://[1::3:4:5:6:7:8]"},
		{"http://" + strings.Repeat("a", 300), endpoint.ErrHost, "(not shown)"},
		{strings.Repeat("a", 300) + "://example.com", endpoint.ErrScheme, "(not shown)"},
		{"http://" + strings.Repeat("a", 1<<20), endpoint.ErrTooLong, "(not shown)"},
		{strings.Repeat("%", 1<<20), endpoint.ErrTooLong, "(not shown)"},
	}
	seen := map[error]bool{}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.60q", tt.text), func(t *testing.T) {
			got, err := endpoint.Parse(tt.text)
			if !errors.Is(err, tt.want) || !got.IsZero() {
				t.Errorf("got %q, %v; want %v", got, err, tt.want)
			}
			if !slices.Contains(allErrors, err) {
				t.Errorf("%v is none of the package's errors, and may hold what was written", err)
			}
			seen[err] = true
			checkShown(t, tt.text)
			if shown := endpoint.Shown(tt.text); shown != tt.shown {
				t.Errorf("shown as %q; want %q", shown, tt.shown)
			}
		})
	}
	for _, err := range allErrors {
		if !seen[err] {
			t.Errorf("no case for %q", err)
		}
	}
}

// checkShown holds what is true of everything that is shown.
func checkShown(t *testing.T, text string) {
	t.Helper()
	shown := endpoint.Shown(text)
	if !printableASCII(shown) || len(shown) > endpoint.MaxLength {
		t.Errorf("%.100q is shown as %.500q", text, shown)
	}
	if strings.Contains(shown, "hunter2") {
		t.Errorf("%q is shown as %q, with the password", text, shown)
	}
}

func TestLongestURL(t *testing.T) {
	text := "http://example.com/" + strings.Repeat("a", longest)
	got, err := endpoint.Parse(text)
	if err != nil || got.String() != text {
		t.Errorf("%d characters: %v", len(text), err)
	}
}

func TestZeroURL(t *testing.T) {
	var zero endpoint.URL
	if !zero.IsZero() || zero.String() != "" || zero.Secure() || *zero.Base() != (url.URL{}) {
		t.Errorf("zero value: %q, base %v", zero, zero.Base())
	}
}
