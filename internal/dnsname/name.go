// Package dnsname is the one canonical form of domain names. Whatever compares, stores or publishes a name does so as a
// Name: lower-case ASCII, fully qualified, without the trailing dot. Upper case and one trailing dot are accepted
// on input; everything else that is not canonical is refused, never repaired.
package dnsname

import "strings"

// Lengths of RFC 1035 section 2.3.4, in characters of the text form without the trailing dot.
const (
	MaxLength      = 253
	MaxLabelLength = 63
)

// Name is a canonical fully qualified domain name. Names are compared with ==. The zero value is no name.
type Name struct{ text string }

// Root is the name of the root, written "." on input: the null target of MX and SRV.
var Root = Name{"."}

// Apex is how a subdomain names the domain itself.
const Apex = "@"

// String returns the name without a trailing dot ("." for the root, "" for the zero value).
func (n Name) String() string { return n.text }

// FQDN returns the name with the trailing dot, as zone files and the wire write it; "" for the zero value, which must not pass
// for the root.
func (n Name) FQDN() string {
	if n == Root || n.IsZero() {
		return n.text
	}
	return n.text + "."
}

// IsZero says whether this is no name.
func (n Name) IsZero() bool { return n.text == "" }

// IsWildcard says whether the leftmost label is "*".
func (n Name) IsWildcard() bool { return n.text == "*" || strings.HasPrefix(n.text, "*.") }

// Labels returns the labels from left to right; the root has none.
func (n Name) Labels() []string {
	if n == Root || n.IsZero() {
		return nil
	}
	return strings.Split(n.text, ".")
}

// Parent returns the name without its leftmost label, and whether there is one (a top-level domain's is the root,
// which has none).
func (n Name) Parent() (Name, bool) {
	if n == Root || n.IsZero() {
		return Name{}, false
	}
	_, rest, more := strings.Cut(n.text, ".")
	if !more {
		return Root, true
	}
	return Name{rest}, true
}

// IsAtOrBelow says whether the name is the other or lies under it, on label boundaries.
func (n Name) IsAtOrBelow(other Name) bool {
	if n.IsZero() || other.IsZero() {
		return false
	}
	return n == other || other == Root || strings.HasSuffix(n.text, "."+other.text)
}
