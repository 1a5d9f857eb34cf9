package record

import (
	"regexp"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/rules"
)

// checkNAPTR holds what a NAPTR record is (RFC 3403 section 4.1): its flags are letters and digits, and it has an expression or a replacement.
func (p *rdataParser) checkNAPTR(rr *dns.NAPTR) {
	if strings.Trim(strings.ToLower(rr.Flags), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		p.syntax("give letters and digits as the flags")
	}
	if rr.Regexp != "" && rr.Replacement != "." {
		p.add(rules.NAPTRRegexp, `give either an expression, and . as the replacement, or "" as the expression`)
	}
	p.checkSubstitution(rr.Regexp)
}

// checkSubstitution holds what makes a substitution expression (RFC 3402 section 3.2) one that can be applied: an extended regular
// expression, a replacement that refers to its groups only, and the flag i or none, between three equal delimiters.
func (p *rdataParser) checkSubstitution(escaped string) {
	text := decode(escaped)
	if text == "" || isSubstitution(text) {
		return
	}
	p.add(rules.NAPTRRegexp, `give an empty expression, or a regular expression and its replacement between three delimiters: "!^.*$!sip:info@example.org!"`)
}

func isSubstitution(text string) bool {
	delimiter := text[0]
	if strings.IndexByte(`0123456789i\`, delimiter) >= 0 {
		return false
	}
	parts := splitUnescaped(text[1:], delimiter)
	if len(parts) != 3 || parts[0] == "" || parts[2] != "" && parts[2] != "i" {
		return false
	}
	expression, err := regexp.CompilePOSIX(parts[0])
	return err == nil && refersTo(parts[1], expression.NumSubexp())
}

// splitUnescaped splits a text at each delimiter that has no backslash before it.
func splitUnescaped(text string, delimiter byte) []string {
	var parts []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// refersTo says whether every \1 to \9 of a replacement is one of so many groups.
func refersTo(replacement string, groups int) bool {
	for i := 0; i < len(replacement); i++ {
		if replacement[i] != '\\' {
			continue
		}
		i++
		if i == len(replacement) {
			return false
		}
		if c := replacement[i]; c >= '0' && c <= '9' && (c == '0' || int(c-'0') > groups) {
			return false
		}
	}
	return true
}
