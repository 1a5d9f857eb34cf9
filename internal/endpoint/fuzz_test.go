package endpoint_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/endpoint"
)

func FuzzEndpoint(f *testing.F) {
	for _, text := range []string{
		"", "http://dns.example.com", "HTTPS://DNS.Example.com:443/", "http://[2001:db8::1]:7100/base", "http://[::ffff:192.0.2.1]", "http://192.0.2.1:080",
		"http://0x7f000001", "http://127.1", "http://user:hunter2@dns.example.com", "http://dns.example.com/%2e%2e/a%2Fb", "http://a/@b:c/~",
		"http://dns.example.com?x#y", "http:a@b", "//a@b", "http://bücher.example", "http://a:0", "http://a:", "http://[fe80::1%25eth0]", `http://a\@b`,
		"http://[1::3:4:5:6:7:8]", "http://a/%C3%BC", "http://dns\u202e.example",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := endpoint.Parse(text)
		checkShown(t, strings.ReplaceAll(text, "hunter2", ""))
		if err != nil {
			if !slices.Contains(allErrors, err) || !u.IsZero() {
				t.Errorf("%q gives %q, %v", text, u, err)
			}
			return
		}
		checkURL(t, u)
		if scheme, _, _ := strings.Cut(text, ":"); !strings.EqualFold(scheme, u.Base().Scheme) {
			t.Errorf("%q became %q", text, u)
		}
		// Case of the scheme and a slash at the end make no difference.
		for _, same := range []string{strings.ToUpper(text[:4]) + text[4:], u.String() + "/"} {
			if again, err := endpoint.Parse(same); len(same) <= endpoint.MaxLength && (err != nil || again != u) {
				t.Errorf("%q is %q, and %q is %q, %v", text, u, same, again, err)
			}
		}
	})
}

// FuzzShown puts a password where URLs have it, and wants it shown in no case.
func FuzzShown(f *testing.F) {
	f.Add("http", "user", "dns.example.com/base")
	f.Add("http", "", "[::1]:7100?x#y")
	f.Add("ftp", "a:b", "a@b")
	f.Add("HTTPS", "%41", "%zz")
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		const password = "pAss7w0rd"
		text := scheme + "://" + user + ":" + password + "@" + rest
		parsed, err := url.Parse(text)
		if err == nil && parsed.User == nil {
			return // a slash, ? or # before it: there is no password then
		}
		if _, err := endpoint.Parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
		if shown := endpoint.Shown(text); strings.Contains(shown, password) {
			t.Errorf("%q is shown as %q", text, shown)
		}
	})
}
