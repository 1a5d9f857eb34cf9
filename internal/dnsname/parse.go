package dnsname

import (
	"fmt"
	"net/netip"
	"strings"
)

// Reason says which rule a name breaks. Each is the ID of a rule in the registry (internal/rules).
type Reason string

// The reasons for which a name is refused.
const (
	ReasonEmpty             Reason = "name-empty"
	ReasonTooLong           Reason = "name-too-long"
	ReasonLabelEmpty        Reason = "name-label-empty"
	ReasonLabelTooLong      Reason = "name-label-too-long"
	ReasonLabelHyphen       Reason = "name-label-hyphen"
	ReasonCharacter         Reason = "name-character"
	ReasonNotASCII          Reason = "name-not-ascii"
	ReasonBadALabel         Reason = "name-bad-a-label"
	ReasonWildcard          Reason = "name-wildcard"
	ReasonIsIP              Reason = "name-is-ip"
	ReasonNumericTLD        Reason = "name-numeric-tld"
	ReasonAbsoluteSubdomain Reason = "name-absolute-subdomain"
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{ReasonEmpty, ReasonTooLong, ReasonLabelEmpty, ReasonLabelTooLong, ReasonLabelHyphen, ReasonCharacter,
		ReasonNotASCII, ReasonBadALabel, ReasonWildcard, ReasonIsIP, ReasonNumericTLD, ReasonAbsoluteSubdomain}
}

// Error says why a text is no name, and what would be.
type Error struct {
	Reason Reason
	// Detail says what would be accepted.
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Parse reads a domain name that holds no wildcard: a domain, or the target of a record. Every error is an *Error.
func Parse(text string) (Name, error) { return parse(text, false) }

// ParseOwner reads a domain name whose leftmost label may be "*". Every error is an *Error.
func ParseOwner(text string) (Name, error) { return parse(text, true) }

// parse reads a whole name. Some texts are refused only as whole names: as a subdomain, 10 is a label like any other.
func parse(text string, wildcard bool) (Name, error) {
	if _, err := netip.ParseAddr(strings.TrimSuffix(text, ".")); err == nil {
		return Name{}, refuse(ReasonIsIP, "write a name here, such as host.example.com, not an IP address")
	}
	labels, err := parseLabels(text, wildcard)
	if err != nil {
		return Name{}, err
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" {
		return Name{}, refuse(ReasonNumericTLD, "the rightmost label %q is all digits, which no top-level domain is", last)
	}
	return Name{strings.Join(labels, ".")}, nil
}

// ParseTarget reads the target of an MX or SRV record: a domain name, or "." for none. Every error is an *Error.
func ParseTarget(text string) (Name, error) {
	if text == "." {
		return Root, nil
	}
	return Parse(text)
}

// ParseSubdomain reads the part of a name left of its domain: relative labels, the leftmost of which may be "*", or "@"
// for the domain itself. It returns the canonical form. Every error is an *Error.
func ParseSubdomain(text string) (string, error) {
	if text == Apex {
		return Apex, nil
	}
	if strings.HasSuffix(text, ".") && text != "." {
		return "", refuse(ReasonAbsoluteSubdomain,
			"a subdomain is relative to its domain: leave out the trailing dot")
	}
	labels, err := parseLabels(text, true)
	if err != nil {
		return "", err
	}
	return strings.Join(labels, "."), nil
}

// ParseRelative reads the name of a zone relative to another one: labels without wildcard, and at least one, so not "@". It returns the
// canonical form. Every error is an *Error.
func ParseRelative(text string) (string, error) {
	if text == Apex {
		return "", refuse(ReasonCharacter, "@ is the other zone itself: give one or more labels, such as dev")
	}
	relative, err := ParseSubdomain(text)
	if err != nil {
		return "", err
	}
	if relative == "*" || strings.HasPrefix(relative, "*.") {
		return "", refuse(ReasonWildcard, "* stands only in a record's own name: give the zone a name without it")
	}
	return relative, nil
}

// Join composes a whole name from a domain and what ParseSubdomain returned. The only error is one of length.
func Join(subdomain string, domain Name) (Name, error) {
	if subdomain == Apex {
		return domain, nil
	}
	if domain == Root {
		return Name{subdomain}, nil
	}
	whole := Name{subdomain + "." + domain.text}
	if len(whole.text) > MaxLength {
		return Name{}, refuse(ReasonTooLong, "subdomain and domain together have %d characters; at most %d fit into a name",
			len(whole.text), MaxLength)
	}
	return whole, nil
}

// parseLabels splits a text into canonical labels and checks each.
func parseLabels(text string, wildcard bool) ([]string, error) {
	text = strings.TrimSuffix(text, ".")
	if text == "" {
		return nil, refuse(ReasonEmpty, "write a name of one or more labels joined by dots, such as www.example.com")
	}
	if hint, foreign := nonASCII(text, wildcard); foreign {
		return nil, refuse(ReasonNotASCII, "%s", hint)
	}
	if len(text) > MaxLength {
		return nil, refuse(ReasonTooLong, "the name has %d characters; at most %d fit", len(text), MaxLength)
	}
	labels := strings.Split(strings.ToLower(text), ".")
	for i, label := range labels {
		if wildcard && i == 0 && label == "*" {
			continue
		}
		if err := checkLabel(label); err != nil {
			return nil, err
		}
	}
	return labels, nil
}

func checkLabel(label string) *Error {
	switch {
	case label == "":
		return refuse(ReasonLabelEmpty, "a label is empty: write single dots between labels, and none at the start")
	case strings.Contains(label, "*"):
		return refuse(ReasonWildcard, "* stands only for the whole leftmost label of a record's own name, as in *.example.com")
	}
	if at := strings.IndexFunc(label, notLDHU); at >= 0 {
		if label[at] == '/' && strings.Trim(label, "0123456789") == "/" {
			return refuse(ReasonCharacter, "%q cannot be part of a name: write a hyphen in a classless reverse name, as in 0-127", "/")
		}
		return refuse(ReasonCharacter, "%q cannot be part of a name: use letters, digits, hyphens and underscores, with dots between labels",
			label[at:at+1])
	}
	switch {
	case len(label) > MaxLabelLength:
		return refuse(ReasonLabelTooLong, "a label has %d characters; at most %d fit between two dots", len(label), MaxLabelLength)
	case label[0] == '-' || label[len(label)-1] == '-':
		return refuse(ReasonLabelHyphen, "the label %q starts or ends with a hyphen, which no label may", label)
	case strings.HasPrefix(label, "xn--"):
		return checkALabel(label)
	}
	return nil
}

// notLDHU is true for what is no lower-case letter, digit, hyphen or underscore.
func notLDHU(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
