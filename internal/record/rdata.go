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

// Bytes of a message (RFC 1035 section 4.1): its header, the type and class of the question, and what each record has at least: a
// pointer to its owner (section 4.1.4), type, class, TTL and the length of its rdata.
const (
	headerSize    = 12
	questionSize  = 4
	minRecordSize = 12
)

// maxValues is more values than any message can carry.
const maxValues = dns.MaxMsgSize / minRecordSize

// messageSize returns the bytes of the smallest message that answers with the whole RRset.
func (r *RRset) messageSize() int {
	if r.Type == TXT {
		return r.textMessageSize()
	}
	msg := new(dns.Msg)
	msg.SetQuestion(r.Owner.FQDN(), r.Type.Code())
	msg.Answer = r.RRs()
	msg.Compress = true
	return msg.Len()
}

// textMessageSize counts itself, because dns.Msg.Len counts the escapes of a text as bytes on the wire.
func (r *RRset) textMessageSize() int {
	size := headerSize + len(r.Owner.FQDN()) + 1 + questionSize
	for _, text := range r.values {
		size += minRecordSize + len(text) + (len(text)+maxString-1)/maxString
	}
	return size
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
