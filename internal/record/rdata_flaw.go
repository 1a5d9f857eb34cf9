package record

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// form is what a field of rdata can hold.
type form int

const (
	// anything is for what is checked elsewhere.
	anything form = iota
	number8
	number16
	quotedText
	hexadecimal
	base64Text
)

// fieldForm is one field of the rdata of a type.
type fieldForm struct {
	name string
	form form
}

// layouts are the fields of types, in their order. The last one, if it is bytes, goes on to the end.
var layouts = map[Type][]fieldForm{
	MX:           {{"preference", number16}, {"mail server", anything}},
	SRV:          {{"priority", number16}, {"weight", number16}, {"port", number16}, {"target", anything}},
	"AFSDB":      {{"subtype", number16}, {"host", anything}},
	"CAA":        {{"flags", number8}, {"property", anything}, {"value", anything}},
	"CDNSKEY":    {{"flags", number16}, {"protocol", number8}, {"algorithm", number8}, {"key", base64Text}},
	"CDS":        {{"key tag", number16}, {"algorithm", anything}, {"digest type", number8}, {"digest", hexadecimal}},
	"CERT":       {{"type", anything}, {"key tag", number16}, {"algorithm", anything}, {"certificate", base64Text}},
	"DNSKEY":     {{"flags", number16}, {"protocol", number8}, {"algorithm", number8}, {"key", base64Text}},
	"DS":         {{"key tag", number16}, {"algorithm", anything}, {"digest type", number8}, {"digest", hexadecimal}},
	"HINFO":      {{"CPU", anything}, {"operating system", anything}},
	"KX":         {{"preference", number16}, {"host", anything}},
	"NAPTR":      {{"order", number16}, {"preference", number16}, {"flags", quotedText}, {"services", quotedText}, {"expression", quotedText}, {"replacement", anything}},
	"OPENPGPKEY": {{"key", base64Text}},
	"RP":         {{"mailbox", anything}, {"name of a text", anything}},
	"SMIMEA":     {{"usage", number8}, {"selector", number8}, {"matching type", number8}, {"digest", hexadecimal}},
	"SSHFP":      {{"algorithm", number8}, {"fingerprint type", number8}, {"fingerprint", hexadecimal}},
	"TLSA":       {{"usage", number8}, {"selector", number8}, {"matching type", number8}, {"digest", hexadecimal}},
	"URI":        {{"priority", number16}, {"weight", number16}, {"target", anything}},
}

// serviceLayout is what SVCB and HTTPS have before their parameters.
var serviceLayout = []fieldForm{{"priority", number16}, {"target", anything}}

// flawOfFields searches for what is wrong with rdata that its reader has refused; "" where that is not found.
func (p *rdataParser) flawOfFields() string {
	switch {
	case p.isGeneric():
		return ""
	case strings.HasPrefix(string(p.typ), genericPrefix):
		return "give the bytes, for the form of this type is not known"
	case p.typ == "LOC":
		return "give the latitude, up to 90 N or S, the longitude, up to 180 E or W, each in degrees and, if need be, minutes and seconds below 60, and the altitude in metres"
	case !p.typ.hasPairs():
		return flawOfLayout(layouts[p.typ], p.words)
	}
	if flaw := flawOfLayout(serviceLayout, p.words[:min(len(p.words), len(serviceLayout))]); flaw != "" {
		return flaw
	}
	return flawOfPairs(p.words[len(serviceLayout):])
}

func flawOfLayout(layout []fieldForm, words []word) string {
	if len(layout) == 0 {
		return ""
	}
	last := layout[len(layout)-1].form
	if len(words) < len(layout) || len(words) > len(layout) && last != hexadecimal && last != base64Text {
		names := make([]string, len(layout))
		for i, f := range layout {
			names[i] = f.name
		}
		return fmt.Sprintf("give %d fields (%s) instead of %d", len(layout), strings.Join(names, ", "), len(words))
	}
	for i, f := range layout {
		if flaw := f.flaw(words[i:]); flaw != "" {
			return flaw
		}
	}
	return ""
}

// flaw says what is wrong with the first of some words, or with all of them in a field that goes on to the end.
func (f fieldForm) flaw(words []word) string {
	switch f.form {
	case number8, number16:
		bits := 8 * int(f.form)
		if _, err := strconv.ParseUint(words[0].text, 10, bits); err != nil {
			return fmt.Sprintf("give the %s as a number from 0 to %d", f.name, 1<<bits-1)
		}
	case quotedText:
		if !words[0].quoted {
			return "put the " + f.name + " in quotes"
		}
	case hexadecimal:
		if _, err := hex.DecodeString(joinWords(words)); err != nil {
			return "give the " + f.name + " in pairs of hexadecimal digits, without colons"
		}
	case base64Text:
		if _, err := base64.StdEncoding.DecodeString(joinWords(words)); err != nil {
			return "give the " + f.name + " in base64"
		}
	case anything:
	}
	return ""
}

func joinWords(words []word) string {
	var out strings.Builder
	for _, w := range words {
		out.WriteString(w.text)
	}
	return out.String()
}

// flawOfPairs searches the parameters of a service (RFC 9460 section 2.1).
func flawOfPairs(words []word) string {
	var given []string
	for _, w := range words {
		key, value, _ := strings.Cut(w.text, "=")
		value = strings.Trim(value, `"`)
		switch flaw := flawOfPair(key, value); {
		case flaw != "":
			return flaw
		case slices.Contains(given, key):
			return "give each parameter once"
		}
		given = append(given, key)
	}
	return ""
}

func flawOfPair(key, value string) string {
	switch key {
	case "mandatory", "alpn", "dohpath":
		return ""
	case "no-default-alpn", "ohttp":
		return unless(value == "", "give no value to "+key)
	case "port":
		_, err := strconv.ParseUint(value, 10, 16)
		return unless(err == nil, "give port as a number from 0 to 65535")
	case "ipv4hint":
		return unless(areAddresses(value, netip.Addr.Is4), "give ipv4hint as a list of IPv4 addresses, with commas and no spaces between them")
	case "ipv6hint":
		return unless(areAddresses(value, func(a netip.Addr) bool { return a.Is6() && !a.Is4In6() }),
			"give ipv6hint as a list of IPv6 addresses, with commas and no spaces between them")
	case "ech":
		_, err := base64.StdEncoding.DecodeString(value)
		return unless(err == nil, "give ech in base64")
	}
	const invalid = 65535 // RFC 9460 section 14.3.2
	digits, isNumber := strings.CutPrefix(key, "key")
	number, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case !isNumber || err != nil || number == invalid:
		return "name parameters mandatory, alpn, no-default-alpn, port, ipv4hint, ech, ipv6hint, dohpath, ohttp, or key and a number up to 65534, in lower case, and write lists without spaces"
	case number <= uint64(dns.SVCB_OHTTP):
		return "give a parameter that has a name by it, and not by its number"
	}
	return ""
}

func unless(ok bool, flaw string) string {
	if ok {
		return ""
	}
	return flaw
}

// areAddresses says whether a list holds addresses of one family and nothing else.
func areAddresses(list string, family func(netip.Addr) bool) bool {
	for part := range strings.SplitSeq(list, ",") {
		if addr, err := netip.ParseAddr(part); err != nil || !family(addr) {
			return false
		}
	}
	return true
}
