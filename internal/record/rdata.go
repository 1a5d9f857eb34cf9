package record

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
)

// rr builds one typed resource record from a canonical value.
func (r *RRset) rr(value string) dns.RR {
	h := dns.RR_Header{Name: r.Owner.FQDN(), Rrtype: r.Type.Code(), Class: dns.ClassINET, Ttl: r.TTL}
	switch r.Type {
	case A:
		return &dns.A{Hdr: h, A: netip.MustParseAddr(value).AsSlice()}
	case AAAA:
		return &dns.AAAA{Hdr: h, AAAA: netip.MustParseAddr(value).AsSlice()}
	case CNAME:
		return &dns.CNAME{Hdr: h, Target: fqdn(value)}
	case TXT:
		return &dns.TXT{Hdr: h, Txt: chunks(value)}
	case MX:
		return &dns.MX{Hdr: h, Preference: r.Priority, Mx: fqdn(value)}
	case SRV:
		return &dns.SRV{Hdr: h, Priority: r.Priority, Weight: r.Weight, Port: r.Port, Target: fqdn(value)}
	case NS:
		return &dns.NS{Hdr: h, Ns: fqdn(value)}
	}
	return nil
}

func fqdn(canonical string) string {
	if canonical == dnsname.Root.String() {
		return canonical
	}
	return canonical + "."
}

// maxString is the length of one character-string (RFC 1035 section 3.3), in bytes.
const maxString = 255

// chunks splits a text into character-strings; receivers join them again. What miekg/dns would read as an escape
// (RFC 1035 section 5.1) is escaped, so that every byte arrives as it was written.
func chunks(text string) []string {
	var out []string
	for len(text) > maxString {
		out = append(out, escape(text[:maxString]))
		text = text[maxString:]
	}
	return append(out, escape(text))
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func escape(chunk string) string { return escaper.Replace(chunk) }
