package record

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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
		p.checkNAPTR(rr)
	case *dns.URI:
		p.checkURI(rr)
	case *dns.SVCB:
		p.checkSVCB(rr)
	case *dns.HTTPS:
		p.checkSVCB(&rr.SVCB)
	case *dns.X25:
		p.checkX25(rr)
	default:
		p.checkKeys(rr)
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
	if rr.Flag&^caaCritical != 0 {
		p.add(rules.CAAFlags, "give the flags 0, or 128 if an authority that does not know the property is to issue nothing")
	}
	if !slices.Contains(caaTags, tag) {
		p.add(rules.CAATag, "give one of the properties "+strings.Join(caaTags, ", ")+"; no authority knows another one")
	}
	switch tag {
	case "issue", "issuewild":
		p.checkIssuer(rr.Value)
	case "iodef":
		p.checkIodef(rr.Value)
	}
}

// caaCritical is the one flag that a CAA record has (RFC 8659 section 4.1).
const caaCritical = 128

func (p *rdataParser) checkIssuer(value string) {
	issuer, _, _ := strings.Cut(value, ";")
	if issuer = strings.TrimSpace(issuer); issuer == "" {
		return // nobody may issue
	}
	if _, err := dnsname.Parse(issuer); err != nil {
		p.add(rules.CAAIssuer, `give the domain name of an authority, and its parameters after a semicolon, such as "letsencrypt.org", or ";" if nobody may issue`)
	}
}

func (p *rdataParser) checkIodef(value string) {
	if scheme, ok := schemeOf(value); !ok || scheme != "mailto" && scheme != "http" && scheme != "https" {
		p.add(rules.CAAIodef, `give a URL of mailto, http or https, such as "mailto:security@example.org"`)
	}
}

func (p *rdataParser) checkURI(rr *dns.URI) {
	if _, ok := schemeOf(rr.Target); !ok {
		p.add(rules.URITarget, `give a whole URI with its scheme, such as "https://www.example.org/", and write what is no ASCII in it, and spaces, with %`)
	}
}

// schemeOf returns the scheme of a URI, in lower case, and whether the text is one (RFC 3986).
func schemeOf(text string) (string, bool) {
	if strings.ContainsFunc(text, notInURI) {
		return "", false
	}
	uri, err := url.Parse(text)
	if err != nil || uri.Scheme == "" || len(text) == len(uri.Scheme)+1 {
		return "", false
	}
	return uri.Scheme, true
}

// notInURI is true for what no URI holds (RFC 3986 appendix A).
func notInURI(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }

// checkX25 holds that a PSDN address is at least four digits (RFC 1183 section 3.1). BIND refuses a zone with another one.
func (p *rdataParser) checkX25(rr *dns.X25) {
	const minDigits = 4
	if len(rr.PSDNAddress) < minDigits || strings.Trim(rr.PSDNAddress, "0123456789") != "" {
		p.syntax("give an address of four or more digits")
	}
}

// checkKeys holds what DNSSEC's keys and the digests of keys are.
func (p *rdataParser) checkKeys(rr dns.RR) {
	switch rr := rr.(type) {
	case *dns.DNSKEY:
		p.checkProtocol(rr.Protocol)
	case *dns.CDNSKEY:
		p.checkProtocol(rr.Protocol)
	default:
		p.checkDigest(rr)
	}
}

// checkProtocol holds that keys of DNSSEC have protocol 3: those of another one are not used (RFC 4034 section 2.1.2).
func (p *rdataParser) checkProtocol(protocol uint8) {
	const dnssec = 3
	if protocol != dnssec {
		p.syntax("give 3 as the protocol, which is the second number")
	}
}

// caaTags are the registered properties (RFC 8659, RFC 8657, RFC 9495, and those of the CA/Browser Forum).
var caaTags = []string{"issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"}

// checkSVCB holds what clients ask of service parameters (RFC 9460); they drop the RRset where it does not hold. Other servers refuse a zone
// for it, also in an alias, the parameters of which nobody uses.
func (p *rdataParser) checkSVCB(rr *dns.SVCB) {
	if rr.Priority == 0 && len(rr.Value) > 0 {
		p.add(rules.SVCBAliasParams, "leave the parameters out, or give a priority from 1 to 65535")
	}
	given := map[dns.SVCBKey]bool{}
	for _, pair := range rr.Value {
		given[pair.Key()] = true
	}
	if given[dns.SVCB_NO_DEFAULT_ALPN] && !given[dns.SVCB_ALPN] {
		p.add(rules.SVCBParams, `give alpn besides no-default-alpn, or leave both out: alpn="h2"`)
	}
	p.checkPairs(rr.Value, given)
}

func (p *rdataParser) checkPairs(pairs []dns.SVCBKeyValue, given map[dns.SVCBKey]bool) {
	for _, pair := range pairs {
		switch pair := pair.(type) {
		case *dns.SVCBAlpn:
			if len(pair.Alpn) == 0 {
				p.add(rules.SVCBParams, `give the protocols of alpn: alpn="h2,h3"`)
			}
		case *dns.SVCBMandatory:
			if !isMandatory(pair.Code, given) {
				p.add(rules.SVCBParams, "name in mandatory other parameters that the record has, each once")
			}
		case *dns.SVCBDoHPath:
			if !isDoHPath(pair.Template) {
				p.add(rules.SVCBParams, `give dohpath as a path with a place for the variable dns: dohpath="/dns-query{?dns}"`)
			}
		}
	}
}

// dohPath is a URI template that is a path, with the variable dns in one of its expressions (RFC 9461 section 5, RFC 6570 section 2).
var dohPath = regexp.MustCompile(`^/(?:[^{}]|\{[^{}]*\})*\{[+#./;?&]?(?:[^{}]*,)?dns(?::[0-9]+|\*)?(?:,[^{}]*)?\}(?:[^{}]|\{[^{}]*\})*$`)

func isDoHPath(template string) bool {
	return utf8.ValidString(template) && dohPath.MatchString(template)
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

// digest compares the length of a digest in hexadecimal digits with that of its algorithm. That there is none is a matter of syntax.
func (p *rdataParser) digest(what string, lengths map[uint8]int, algorithm uint8, digest string) {
	if bytes, known := lengths[algorithm]; known && digest != "" && len(digest) != 2*bytes {
		p.add(rules.RDataDigestLength, fmt.Sprintf("give a digest of %d hexadecimal digits, as those of %s %d have, instead of %d", 2*bytes, what, algorithm, len(digest)))
	}
}
