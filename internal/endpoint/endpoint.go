// Package endpoint reads the base URL of a DNS server. Two URLs that mean the same server have the same canonical form, which is
// the plane that the server's names live on.
package endpoint

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/namegate/namegate/internal/dnsname"
)

// URL is the canonical base URL of a DNS server. URLs are compared with ==. The zero value is no URL.
type URL struct{ text string }

// String returns the canonical form, without a trailing slash: https://dns.example.com/base.
func (u URL) String() string { return u.text }

// IsZero says whether this is no URL.
func (u URL) IsZero() bool { return u.text == "" }

// Secure says whether the transport is encrypted.
func (u URL) Secure() bool { return strings.HasPrefix(u.text, "https://") }

// Base returns the URL for building requests.
func (u URL) Base() *url.URL {
	base, err := url.Parse(u.text)
	if err != nil {
		return &url.URL{}
	}
	return base
}

// The ways in which a text is no base URL. No error holds any part of the text, which may hold a password.
var (
	ErrSyntax   = errors.New("write a URL such as https://dns.example.com:7100")
	ErrScheme   = errors.New("start the URL with http:// or https://")
	ErrHost     = errors.New("give the URL a host: a name such as dns.example.com, or an IP address")
	ErrPort     = errors.New("give a port from 1 to 65535, or leave out the port and its colon")
	ErrUserInfo = errors.New("leave user and password out of the URL: requests are signed with hmacAuth")
	ErrQuery    = errors.New("leave the query (? and what follows) out of the URL")
	ErrFragment = errors.New("leave the fragment (# and what follows) out of the URL")
	ErrPath     = errors.New("give a clean base path such as /dns/v1: no empty, . or .. segment, no encoded slash, backslash or control character, " +
		"and nothing percent-encoded without need")
	ErrTooLong = errors.New("give a URL of at most 2048 characters")
)

// MaxLength of a canonical URL, in characters: what the fields hold that store one.
const MaxLength = 2048

// Parse reads a base URL. Scheme and host may be written in upper case, the default port and one trailing slash left in.
func Parse(text string) (URL, error) {
	if len(text) > MaxLength {
		return URL{}, ErrTooLong
	}
	parsed, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return URL{}, ErrSyntax
	}
	scheme := strings.ToLower(parsed.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return URL{}, ErrScheme
	case parsed.User != nil:
		return URL{}, ErrUserInfo
	case strings.Contains(text, "#"):
		return URL{}, ErrFragment
	case strings.Contains(text, "?"):
		return URL{}, ErrQuery
	}
	host, err := canonicalHost(parsed, scheme)
	if err != nil {
		return URL{}, err
	}
	path, err := canonicalPath(parsed)
	if err != nil {
		return URL{}, err
	}
	canonical := scheme + "://" + host + path
	if len(canonical) > MaxLength { // an IPv6 address can be longer in canonical form
		return URL{}, ErrTooLong
	}
	return URL{canonical}, nil
}

// canonicalName makes the canonical form of an IP address or a name. An IPv4 address in IPv6 form is reached over IPv4, so it is
// that address.
func canonicalName(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", ErrHost
		}
		if addr = addr.Unmap(); addr.Is6() {
			return "[" + addr.String() + "]", nil
		}
		return addr.String(), nil
	}
	name, err := dnsname.Parse(host)
	if err != nil || isHexAddress(name) {
		return "", ErrHost
	}
	return name.String(), nil
}

// isHexAddress says whether some resolvers read a name as an IPv4 address with hexadecimal parts, such as 0x7f000001. Those with
// decimal and octal parts are no names to dnsname either.
func isHexAddress(name dnsname.Name) bool {
	labels := name.Labels()
	digits, hex := strings.CutPrefix(labels[len(labels)-1], "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

func canonicalHost(parsed *url.URL, scheme string) (string, error) {
	host, err := canonicalName(parsed.Hostname())
	if err != nil {
		return "", err
	}
	port := parsed.Port()
	if port == "" {
		if strings.HasSuffix(parsed.Host, ":") {
			return "", ErrPort
		}
		return host, nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", ErrPort
	}
	if (scheme == "http" && number == 80) || (scheme == "https" && number == 443) {
		return host, nil
	}
	return host + ":" + strconv.FormatUint(number, 10), nil
}

func canonicalPath(parsed *url.URL) (string, error) {
	path := strings.TrimSuffix(parsed.EscapedPath(), "/")
	if path == "" {
		return "", nil
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" || plain == "." || plain == ".." || url.PathEscape(plain) != segment ||
			!utf8.ValidString(plain) || strings.ContainsFunc(plain, ambiguous) {
			return "", ErrPath
		}
	}
	return path, nil
}

// ambiguous is true for what servers on the way may take for a separator or cut off, however it is encoded.
func ambiguous(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) }

// What is shown in place of a text of which nothing may be, and the longest scheme and host that are shown: names end at 253.
const (
	notShown = "(not shown)"
	maxShown = 300
)

// Shown returns what may be shown of a URL that somebody wrote: the whole of it where it parses, and only scheme and host
// otherwise, because what else there is may be a password or a token. It is printable ASCII of at most MaxLength characters.
func Shown(text string) string {
	if _, err := Parse(text); err == nil {
		return text
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Opaque != "" || parsed.Host == "" || len(parsed.Scheme)+len(parsed.Host) > maxShown {
		return notShown
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host}).String()
}
