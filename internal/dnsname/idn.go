package dnsname

import (
	"fmt"

	"golang.org/x/net/idna"
)

// strict decodes and encodes without mapping anything: what does not survive it unchanged is not an A-label.
var strict = idna.New(idna.ValidateLabels(true), idna.CheckHyphens(true), idna.CheckJoiners(true), idna.BidiRule(),
	idna.StrictDomainName(true), idna.Transitional(false), idna.VerifyDNSLength(true))

// suggesting maps as a browser's address bar does, and lets * and _ through, which the parser judges. It makes the hint for a
// person, and is never used to compare.
var suggesting = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false), idna.Transitional(false),
	idna.VerifyDNSLength(true))

// nonASCII says whether a text holds any character outside ASCII, and what to write instead.
func nonASCII(text string, wildcard bool) (hint string, foreign bool) {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return aLabelHint(text, wildcard), true
		}
	}
	return "", false
}

// aLabelHint proposes only what the parser would take in the same place.
func aLabelHint(text string, wildcard bool) string {
	const general = "write the name in ASCII; an internationalised label is written as its A-label, which starts with xn--"
	if len(text) > MaxLength {
		return general
	}
	ascii, err := suggesting.ToASCII(text)
	if err != nil {
		return general
	}
	if _, err := parse(ascii, wildcard); err != nil {
		return general
	}
	return fmt.Sprintf("write the name in ASCII, as its A-labels: %s", ascii)
}

// checkALabel refuses an xn-- label that does not decode to a valid U-label or does not encode to itself again.
func checkALabel(label string) *Error {
	unicode, err := strict.ToUnicode(label)
	if err == nil {
		var back string
		if back, err = strict.ToASCII(unicode); err == nil && back == label && unicode != label {
			return nil
		}
	}
	return refuse(ReasonBadALabel, "%q is no valid A-label: it does not decode to an internationalised label and back to itself; write what a converter (IDNA 2008) makes of that label", label)
}
