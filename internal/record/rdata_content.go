package record

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// checkContent holds what a type asks of its rdata, which the wire would carry anyway.
func (p *rdataParser) checkContent(rr dns.RR) {
	switch rr := rr.(type) {
	case *dns.A:
		addr, _ := netip.AddrFromSlice(rr.A)
		p.warnSpecial(addr)
	case *dns.AAAA:
		p.checkIPv6(rr.AAAA)
	case *dns.TXT:
		p.checkTXT(rr)
	case *dns.MX:
		if rr.Mx == "." && rr.Preference != 0 {
			p.add(rules.MXNullPriority, "give preference 0 with the null MX: 0 .")
		}
	case *dns.CAA:
		p.checkCAA(rr)
	case *dns.NAPTR:
		p.checkSubstitution(rr.Regexp)
	case *dns.SVCB:
		p.checkSVCB(rr)
	case *dns.HTTPS:
		p.checkSVCB(&rr.SVCB)
	default:
		p.checkDigest(rr)
	}
}

func (p *rdataParser) checkIPv6(ip []byte) {
	addr, ok := validIPv6(ip)
	if !ok {
		p.add(rules.ValueIPv6, ipv6Detail)
		return
	}
	p.warnSpecial(addr)
}

func (p *rdataParser) warnSpecial(addr netip.Addr) {
	if isSpecial(addr) {
		p.add(rules.AddressSpecial, specialDetail)
	}
}

func (p *rdataParser) checkTXT(rr *dns.TXT) {
	text := strings.Join(rr.Txt, "")
	switch {
	case text == "":
		p.add(rules.TXTEmpty, "give a text")
	case len(text) > 3 && strings.HasPrefix(text, `\"`) && strings.HasSuffix(text, `\"`):
		p.add(rules.TXTQuoted, `leave out the escaped quotes unless they are part of the text`)
	}
}

// checkCAA looks at the property of a CAA record (RFC 8659 section 4.1).
func (p *rdataParser) checkCAA(rr *dns.CAA) {
	tag := strings.ToLower(rr.Tag)
	if tag == "" || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		p.syntax("a property has a name of letters and digits")
		return
	}
	if !slices.Contains(caaTags, tag) {
		p.add(rules.CAATag, "give one of the properties "+strings.Join(caaTags, ", ")+"; no authority knows another one")
	}
	if tag != "issue" && tag != "issuewild" {
		return
	}
	issuer, _, _ := strings.Cut(rr.Value, ";")
	if issuer = strings.TrimSpace(issuer); issuer == "" {
		return // nobody may issue
	}
	if _, err := dnsname.Parse(issuer); err != nil {
		p.add(rules.CAAIssuer, `give the domain name of an authority, and its parameters after a semicolon, such as "letsencrypt.org", or ";" if nobody may issue`)
	}
}

// caaTags are the registered properties (RFC 8659, RFC 8657, RFC 9495, and those of the CA/Browser Forum).
var caaTags = []string{"issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"}

// checkSVCB holds what clients ask of service parameters (RFC 9460); they drop the RRset where it does not hold.
func (p *rdataParser) checkSVCB(rr *dns.SVCB) {
	if rr.Priority == 0 {
		if len(rr.Value) > 0 {
			p.add(rules.SVCBAliasParams, "leave the parameters out, or give a priority from 1 to 65535")
		}
		return
	}
	given := map[dns.SVCBKey]bool{}
	for _, pair := range rr.Value {
		given[pair.Key()] = true
	}
	if given[dns.SVCB_NO_DEFAULT_ALPN] && !given[dns.SVCB_ALPN] {
		p.add(rules.SVCBParams, `give alpn besides no-default-alpn, or leave both out: alpn="h2"`)
	}
	for _, pair := range rr.Value {
		switch pair := pair.(type) {
		case *dns.SVCBAlpn:
			if len(pair.Alpn) == 0 {
				p.add(rules.SVCBParams, `give the protocols of alpn: alpn="h2,h3"`)
			}
		case *dns.SVCBMandatory:
			if !isMandatory(pair.Code, given) {
				p.add(rules.SVCBParams, "name in mandatory other parameters that the record has, each once")
			}
		}
	}
}

// isMandatory says whether the keys are a list as RFC 9460 section 8 asks for.
func isMandatory(keys []dns.SVCBKey, given map[dns.SVCBKey]bool) bool {
	for i, key := range keys {
		if key == dns.SVCB_MANDATORY || !given[key] || slices.Contains(keys[:i], key) {
			return false
		}
	}
	return len(keys) > 0
}

// Bytes of the digests of each algorithm, by its number.
var (
	dsDigests    = map[uint8]int{1: 20, 2: 32, 3: 32, 4: 48, 5: 32, 6: 32} // RFC 4034, 4509, 5933, 6605, 9558, 9563
	sshfpDigests = map[uint8]int{1: 20, 2: 32}                             // RFC 4255, 6594
	tlsaDigests  = map[uint8]int{1: 32, 2: 64}                             // RFC 6698, 8162
	zoneDigests  = map[uint8]int{1: 48, 2: 64}                             // RFC 8976
)

func (p *rdataParser) checkDigest(rr dns.RR) {
	switch rr := rr.(type) {
	case *dns.DS:
		p.digest("digest type", dsDigests, rr.DigestType, rr.Digest)
	case *dns.CDS:
		p.digest("digest type", dsDigests, rr.DigestType, rr.Digest)
	case *dns.DLV:
		p.digest("digest type", dsDigests, rr.DigestType, rr.Digest)
	case *dns.TA:
		p.digest("digest type", dsDigests, rr.DigestType, rr.Digest)
	case *dns.SSHFP:
		p.digest("fingerprint type", sshfpDigests, rr.Type, rr.FingerPrint)
	case *dns.TLSA:
		p.digest("matching type", tlsaDigests, rr.MatchingType, rr.Certificate)
	case *dns.SMIMEA:
		p.digest("matching type", tlsaDigests, rr.MatchingType, rr.Certificate)
	case *dns.ZONEMD:
		p.digest("hash algorithm", zoneDigests, rr.Hash, rr.Digest)
	}
}

// digest compares the length of a digest in hexadecimal digits with that of its algorithm.
func (p *rdataParser) digest(what string, lengths map[uint8]int, algorithm uint8, digest string) {
	if bytes, known := lengths[algorithm]; known && len(digest) != 2*bytes {
		p.add(rules.RDataDigestLength, fmt.Sprintf("give a digest of %d hexadecimal digits, as those of %s %d have, instead of %d", 2*bytes, what, algorithm, len(digest)))
	}
}
