package record

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/rules"
)

// reader makes a record of the words of its rdata, or adds what is wrong with them and returns nil.
type reader func(p *rdataParser) dns.RR

// readers are for the types that most records have: they cost a fraction of the zone file parser, and what they say is wrong is what the
// values of an RRset are told. Where both read a text they read the same.
var readers = map[Type]reader{
	A:       (*rdataParser).readIPv4,
	AAAA:    (*rdataParser).readIPv6,
	CNAME:   (*rdataParser).readName,
	"DNAME": (*rdataParser).readName,
	NS:      (*rdataParser).readName,
	"PTR":   (*rdataParser).readName,
	MX:      (*rdataParser).readMX,
	SRV:     (*rdataParser).readSRV,
	TXT:     (*rdataParser).readTXT,
}

func (p *rdataParser) readIPv4() dns.RR {
	if len(p.words) == 1 {
		if addr, ok := ParseIPv4(p.words[0].text); ok {
			return &dns.A{Hdr: rootHeader(p.code), A: addr.AsSlice()}
		}
	}
	p.add(rules.ValueIPv4, ipv4Detail)
	return nil
}

func (p *rdataParser) readIPv6() dns.RR {
	if len(p.words) == 1 {
		if addr, ok := ParseIPv6(p.words[0].text); ok {
			return &dns.AAAA{Hdr: rootHeader(p.code), AAAA: addr.AsSlice()}
		}
	}
	p.add(rules.ValueIPv6, ipv6Detail)
	return nil
}

func (p *rdataParser) readName() dns.RR {
	if len(p.words) != 1 {
		p.syntax("there is more than one name")
		return nil
	}
	name, header := p.words[0].text, rootHeader(p.code)
	switch p.code {
	case dns.TypeCNAME:
		return &dns.CNAME{Hdr: header, Target: name}
	case dns.TypeDNAME:
		return &dns.DNAME{Hdr: header, Target: name}
	case dns.TypeNS:
		return &dns.NS{Hdr: header, Ns: name}
	default:
		return &dns.PTR{Hdr: header, Ptr: name}
	}
}

func (p *rdataParser) readMX() dns.RR {
	n, name, ok := p.numbersAndName(1)
	if !ok {
		return nil
	}
	return &dns.MX{Hdr: rootHeader(p.code), Preference: n[0], Mx: name}
}

func (p *rdataParser) readSRV() dns.RR {
	n, name, ok := p.numbersAndName(3)
	if !ok {
		return nil
	}
	return &dns.SRV{Hdr: rootHeader(p.code), Priority: n[0], Weight: n[1], Port: n[2], Target: name}
}

// numbersAndName reads as many numbers of 16 bits, and a name.
func (p *rdataParser) numbersAndName(count int) (numbers [3]uint16, name string, ok bool) {
	if len(p.words) != count+1 {
		p.syntax("")
		return numbers, "", false
	}
	for i := range count {
		n, err := strconv.ParseUint(p.words[i].text, 10, 16)
		if err != nil {
			p.syntax("")
			return numbers, "", false
		}
		numbers[i] = uint16(n)
	}
	return numbers, p.words[count].text, true
}

func (p *rdataParser) readTXT() dns.RR {
	rr := &dns.TXT{Hdr: rootHeader(p.code)}
	for _, w := range p.words {
		rr.Txt = append(rr.Txt, chunks(decode(w.text))...)
	}
	return rr
}

// keptAll says whether the zone file parser has taken every word for what it is. It leaves some out that it has no use for.
func (p *rdataParser) keptAll(rr dns.RR) bool {
	count := len(p.words)
	switch rr := rr.(type) {
	case *dns.UINFO:
		return count == 1 && p.areStrings()
	case *dns.HINFO:
		return count == 2 && p.areStrings()
	case *dns.ISDN:
		return count <= 2 && p.areStrings()
	case *dns.NID, *dns.L64:
		return strings.EqualFold(p.words[count-1].text, lastField(presentation(rr)))
	case *dns.IPSECKEY:
		return rr.GatewayType <= dns.IPSECGatewayHost
	case *dns.AMTRELAY:
		return rr.GatewayType&0x7f <= dns.AMTRELAYHost
	case *dns.LOC:
		return p.isLocation()
	}
	return true
}

// hasGateway says whether a record has the address or host that ends it. Where the bytes end before them, neither their reader nor the
// one of the text finds anything missing.
func hasGateway(rr dns.RR) bool {
	switch rr := rr.(type) {
	case *dns.L32:
		return rr.Locator32 != nil
	case *dns.IPSECKEY:
		return rr.GatewayAddr != nil || rr.GatewayHost != "" || rr.GatewayType == dns.IPSECGatewayNone || rr.GatewayType > dns.IPSECGatewayHost
	case *dns.AMTRELAY:
		return rr.GatewayAddr != nil || rr.GatewayHost != "" || rr.GatewayType == dns.AMTRELAYNone || rr.GatewayType > dns.AMTRELAYHost
	}
	return true
}

// areStrings says whether each word fits into one character-string (RFC 1035 section 3.3).
func (p *rdataParser) areStrings() bool {
	for _, w := range p.words {
		if len(decode(w.text)) > maxString {
			return false
		}
	}
	return true
}

func lastField(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

// isLocation says whether the words of a LOC record are numbers and directions, and its altitude, after the second direction, one that it
// can hold (RFC 1876 sections 2 and 3).
func (p *rdataParser) isLocation() bool {
	altitude := ""
	for i, w := range p.words {
		switch {
		case i > 0 && slices.Contains([]string{"E", "W", "e", "w"}, p.words[i-1].text):
			altitude = w.text
			if len(p.words) > i+4 {
				return false
			}
		case strings.Trim(w.text, "0123456789.NSEWnsew") != "" && altitude == "":
			return false
		}
	}
	metres, err := strconv.ParseFloat(strings.TrimRight(altitude, "Mm"), 64)
	return err == nil && metres >= -100_000 && metres <= 42_849_672.95
}

// validIPv6 says whether 16 bytes are an address that ParseIPv6 accepts.
func validIPv6(ip []byte) (netip.Addr, bool) {
	addr, ok := netip.AddrFromSlice(ip)
	if !ok {
		return addr, false
	}
	return ParseIPv6(addr.String())
}
