package zone

import (
	"errors"
	"fmt"
	"strings"

	"github.com/namegate/namegate/internal/dnsname"
)

// Pattern matches names relative to a zone. "*" as the leftmost label stands for one or more labels, and inside a label for any run of
// characters. "@" is the apex, the zone's own name, which nothing else matches.
type Pattern struct {
	// labels from left to right; none for the apex.
	labels []string
}

// The most that a pattern can hold: a relative name is never longer than a name.
const maxPattern = dnsname.MaxLength

// ParsePattern reads a pattern. Upper case is accepted. The error says what would be accepted.
func ParsePattern(text string) (Pattern, error) {
	switch {
	case text == "":
		return Pattern{}, errors.New("give a pattern: labels joined by dots, * for anything, or @ for the zone's own name")
	case text == dnsname.Apex:
		return Pattern{}, nil
	case len(text) > maxPattern:
		return Pattern{}, fmt.Errorf("give a pattern of at most %d characters", maxPattern)
	case strings.HasSuffix(text, "."):
		return Pattern{}, errors.New("a pattern is relative to the zone: leave out the trailing dot, and the zone's name")
	}
	p := Pattern{labels: strings.Split(strings.ToLower(text), ".")}
	for _, label := range p.labels {
		if err := checkPatternLabel(label); err != nil {
			return Pattern{}, err
		}
	}
	return p, nil
}

func checkPatternLabel(label string) error {
	switch {
	case label == "":
		return errors.New("a label is empty: write single dots between labels, and none at the start")
	case len(label) > dnsname.MaxLabelLength:
		return fmt.Errorf("a label has %d characters; at most %d fit between two dots", len(label), dnsname.MaxLabelLength)
	case strings.Contains(label, "**"):
		return errors.New("two * in a row say no more than one: write one")
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("the label %q starts or ends with a hyphen, which no label may", label)
	}
	for _, r := range label {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '*' {
			return fmt.Errorf("%q cannot be part of a pattern: use letters, digits, hyphens, underscores and *, with dots between labels", r)
		}
	}
	return nil
}

// IsApex says whether the pattern is "@".
func (p Pattern) IsApex() bool { return len(p.labels) == 0 }

// String returns the pattern in canonical form.
func (p Pattern) String() string {
	if p.IsApex() {
		return dnsname.Apex
	}
	return strings.Join(p.labels, ".")
}

// Matches says whether the pattern matches a name given by its labels relative to the zone, none for the apex. A record's own wildcard
// label is matched by a pattern's "*" like any other label.
func (p Pattern) Matches(relative []string) bool {
	if p.IsApex() || len(relative) == 0 {
		return p.IsApex() && len(relative) == 0
	}
	labels := p.labels
	if labels[0] == "*" {
		if len(relative) < len(labels) {
			return false
		}
		labels = labels[1:]
		relative = relative[len(relative)-len(labels):]
	}
	if len(labels) != len(relative) {
		return false
	}
	for i, label := range labels {
		if !matchLabel(label, relative[i]) {
			return false
		}
	}
	return true
}

// matchLabel matches one label, in which each * stands for any run of characters. It takes the earliest place for each part, which is
// enough without ever going back: parts are only ordered.
func matchLabel(pattern, label string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == label
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(label) < len(first)+len(last) || !strings.HasPrefix(label, first) || !strings.HasSuffix(label, last) {
		return false
	}
	rest := label[len(first) : len(label)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}
