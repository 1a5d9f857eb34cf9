package zone

import (
	"cmp"
	"slices"
	"strings"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Entry is one resource record of class IN as a zone publishes it.
type Entry struct {
	// Name is the owner.
	Name dnsname.Name
	Type record.Type
	// TTL in seconds.
	TTL uint32
	// RData in canonical form (record.ParseRData).
	RData string
}

// Compare orders entries: by owner in the canonical order of names (RFC 4034 section 6.1), the SOA before all other types of its name,
// then by type, rdata and TTL.
func Compare(a, b Entry) int {
	if a.Name != b.Name {
		return strings.Compare(sortKey(a.Name), sortKey(b.Name))
	}
	if a.Type != b.Type {
		return cmp.Or(cmp.Compare(rank(a.Type), rank(b.Type)), strings.Compare(string(a.Type), string(b.Type)))
	}
	return cmp.Or(strings.Compare(a.RData, b.RData), cmp.Compare(a.TTL, b.TTL))
}

// TypeSOA is the type of a zone's first entry.
const TypeSOA record.Type = "SOA"

func rank(t record.Type) int {
	if t == TypeSOA {
		return -1
	}
	return int(t.Code())
}

// sortKey makes a text of a name that sorts in canonical order, and is a prefix of the keys of all names below it, followed by a zero
// byte.
func sortKey(n dnsname.Name) string {
	labels := n.Labels()
	slices.Reverse(labels)
	return strings.Join(labels, "\x00")
}

// View is an entry as the status of a Zone shows it.
func (e Entry) View() zonev1alpha1.ZoneEntry {
	return zonev1alpha1.ZoneEntry{FQDN: e.Name.FQDN(), Type: string(e.Type), Class: zonev1alpha1.DefaultClass, TTL: int32(e.TTL), RData: e.RData} //nolint:gosec // A TTL has 31 bits.
}

// Slice is an entry as a ZoneSlice carries it.
func (e Entry) Slice() zonev1alpha1.SliceEntry {
	return zonev1alpha1.SliceEntry{Name: e.Name.String(), Type: string(e.Type), TTL: int32(e.TTL), RData: e.RData} //nolint:gosec // A TTL has 31 bits.
}
