package record

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// valueParsers make the canonical form of one value, or add what is wrong with it.
var valueParsers = map[Type]func(p *parser, index int, value string) (canonical string, ok bool){
	A:     (*parser).ipv4,
	AAAA:  (*parser).ipv6,
	CNAME: (*parser).name,
	TXT:   (*parser).text,
	MX:    (*parser).targetOrNone,
	SRV:   (*parser).targetOrNone,
	NS:    (*parser).name,
}

// ParseIPv4 reads a dotted-quad IPv4 address without leading zeros.
func ParseIPv4(value string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(value)
	return addr, err == nil && addr.Is4()
}

// compatible is where IPv4 addresses were once written as IPv6 ones (RFC 4291 section 2.5.5.1, deprecated).
var compatible = netip.MustParsePrefix("::/96")

// ParseIPv6 reads an IPv6 address without a zone; an IPv4 address in disguise (::ffff:1.2.3.4, ::1.2.3.4) is none.
func ParseIPv6(value string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(value)
	if err != nil || !addr.Is6() || addr.Is4In6() || addr.Zone() != "" {
		return addr, false
	}
	return addr, !compatible.Contains(addr) || addr.IsUnspecified() || addr.IsLoopback()
}

// What would be accepted, for the values of an RRset and for rdata.
const (
	ipv4Detail        = "give an IPv4 address of four numbers from 0 to 255 without leading zeros, such as 192.0.2.1"
	ipv6Detail        = "give an IPv6 address such as 2001:db8::1, without a zone (%eth0) and not an IPv4 address; IPv4 addresses go into an A record"
	specialDetail     = "give the address of a host that others can reach"
	singleLabelDetail = "give the full name, domain included; nothing is added to it"
)

func (p *parser) ipv4(index int, value string) (string, bool) {
	addr, ok := ParseIPv4(value)
	if !ok {
		p.addValue(rules.ValueIPv4, index, ipv4Detail)
		return "", false
	}
	p.warnSpecial(index, addr)
	return addr.String(), true
}

func (p *parser) ipv6(index int, value string) (string, bool) {
	addr, ok := ParseIPv6(value)
	if !ok {
		p.addValue(rules.ValueIPv6, index, ipv6Detail)
		return "", false
	}
	p.warnSpecial(index, addr)
	return addr.String(), true
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func (p *parser) warnSpecial(index int, addr netip.Addr) {
	if isSpecial(addr) {
		p.addValue(rules.AddressSpecial, index, specialDetail)
	}
}

// isSpecial says whether an address reaches no host of anybody's.
func isSpecial(addr netip.Addr) bool {
	return addr.IsUnspecified() || addr.IsLoopback() || addr.IsMulticast() || addr.IsLinkLocalUnicast() || addr == broadcast
}

func (p *parser) name(index int, value string) (string, bool) {
	if value == "." {
		p.addValue(rules.NameEmpty, index, "give the name of a host; . stands for none in MX and SRV records only")
		return "", false
	}
	return p.targetOrNone(index, value)
}

func (p *parser) targetOrNone(index int, value string) (string, bool) {
	target, err := dnsname.ParseTarget(value)
	if err != nil {
		p.addValue(NameRule(err), index, err.Error()+p.numbersHint(value))
		return "", false
	}
	if isSingleLabel(target) {
		p.addValue(rules.TargetSingleLabel, index, singleLabelDetail)
	}
	return target.String(), true
}

func isSingleLabel(target dnsname.Name) bool {
	return target != dnsname.Root && !strings.Contains(target.String(), ".")
}

// numbersHint tells those who write an MX or SRV value as a zone file has it where its numbers go.
func (p *parser) numbersHint(value string) string {
	if !strings.Contains(value, " ") {
		return ""
	}
	switch p.set.Type {
	case MX:
		return "; write the host alone, and its priority into metadata.priority"
	case SRV:
		return "; write the host alone, and the numbers into metadata.priority, metadata.weight and metadata.port"
	case A, AAAA, CNAME, TXT, NS:
	}
	return ""
}

func (p *parser) text(index int, value string) (string, bool) {
	switch {
	case value == "":
		p.addValue(rules.TXTEmpty, index, "give a text, or leave the value out")
		return "", false
	case !utf8.ValidString(value) || strings.ContainsFunc(value, invisible):
		p.addValue(rules.TXTCharacter, index, "leave out newlines, tabs and other control or invisible characters")
		return "", false
	}
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		p.addValue(rules.TXTQuoted, index, "leave out the quotes unless they are part of the text")
	}
	return value, true
}

// invisible is true for what changes a text without being seen: controls, formats, line and paragraph separators.
func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// checkTogether holds what the values of one RRset may not be beside one another.
func (p *parser) checkTogether() {
	switch p.set.Type {
	case CNAME:
		if n := len(p.spec.Values); n > 1 {
			p.add(rules.CNAMESingle, FieldValues, nil, fmt.Sprintf("give exactly one value instead of %d: a CNAME has one target", n))
		}
	case TXT:
		p.checkSPF()
	case MX:
		p.checkNull(rules.MXNullAlone, "leave out the other values, or the null MX .")
		if p.has(".") && p.set.Priority != 0 {
			p.add(rules.MXNullPriority, FieldPriority, int64(p.set.Priority), "give priority 0 with the null MX .")
		}
	case SRV:
		p.checkNull(rules.SRVNullAlone, "leave out the other values, or the . that says there is no such service")
	case A, AAAA, NS:
	}
}

func (p *parser) checkNull(rule *rules.Rule, detail string) {
	if p.has(".") && len(p.set.values) > 1 {
		p.add(rule, FieldValues, nil, detail)
	}
}

func (p *parser) has(value string) bool {
	for _, v := range p.set.values {
		if v == value {
			return true
		}
	}
	return false
}

func (p *parser) checkSPF() {
	count := 0
	for _, v := range p.set.values {
		if isSPF(v) {
			count++
		}
	}
	if count > 1 {
		p.add(rules.TXTSPFMultiple, FieldValues, nil, "join the SPF texts into one")
	}
}

// isSPF says whether receivers take a text for an SPF record (RFC 7208 section 4.5); its version is compared without regard
// to case, as every literal of the grammar is (section 12).
func isSPF(text string) bool {
	version, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(version, "v=spf1")
}

func duplicateDetail(first int) string {
	return fmt.Sprintf("give each value once: it is equal to values[%d]", first)
}

func tooManyDetail(count int) string {
	return fmt.Sprintf("give fewer values: a DNS message has at most %d bytes, and no room for %d of them", dns.MaxMsgSize, count)
}

func tooLargeDetail(size int) string {
	return fmt.Sprintf("give fewer or shorter values: together they need %d bytes, and a DNS message has at most %d", size, dns.MaxMsgSize)
}
