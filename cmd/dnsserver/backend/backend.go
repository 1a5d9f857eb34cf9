// Package backend is what the HTTP side of the DNS server asks of the place where records are kept.
package backend

import (
	"context"
	"errors"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// ID names one RRset. Two IDs with the same owner and type mean the same RRset, however the owner is split into domain and subdomain.
type ID struct {
	// Owner is the whole name.
	Owner dnsname.Name
	// Domain and Subdomain are its canonical parts; Subdomain is "@" for the domain itself.
	Domain    dnsname.Name
	Subdomain string
	Type      record.Type
}

// IDOf returns the ID of an RRset.
func IDOf(set *record.RRset) ID {
	return ID{Owner: set.Owner, Domain: set.Domain, Subdomain: set.Subdomain, Type: set.Type}
}

// The errors that are about the record. Their text holds nothing that a client or a DNS server wrote, and is shown to clients;
// every other error of a Backend is a failure of the back end, and only logged.
var (
	// ErrConflict: what is already at the name excludes the record.
	ErrConflict = errors.New("other records at the name are in its way: a CNAME stands alone, and the NS records of a zone's own name belong to the zone")
	// ErrNotServed: the name lies in no zone of this server.
	ErrNotServed = errors.New("the name is in no zone that this server holds")
	// ErrQuota: there is no room for one more record.
	ErrQuota = errors.New("this server holds as many records as it may")
	// ErrForeign: there is an RRset, but none that a record of the protocol can describe: its values differ in priority, or
	// one of them is nothing that the protocol accepts. An upsert replaces it.
	ErrForeign = errors.New("what is at the name was not written by this protocol and cannot be described by it")
)

// Backend keeps RRsets. All methods are safe for concurrent use and return when the context ends.
type Backend interface {
	// Upsert makes the RRset the only one of its type at its owner. Once it returned nil, the RRset is published and kept.
	Upsert(ctx context.Context, set *record.RRset) error
	// Delete removes an RRset, and says whether there was one.
	Delete(ctx context.Context, id ID) (existed bool, err error)
	// Get returns an RRset, and whether there is one.
	Get(ctx context.Context, id ID) (set *record.RRset, found bool, err error)
	// Healthy returns nil when the other methods can be expected to work. Its error is only logged.
	Healthy(ctx context.Context) error
}

// ZoneOf returns the longest zone that the name is at or below.
func ZoneOf(zones []dnsname.Name, name dnsname.Name) (zone dnsname.Name, found bool) {
	for _, z := range zones {
		if name.IsAtOrBelow(z) && len(z.String()) > len(zone.String()) {
			zone, found = z, true
		}
	}
	return zone, found
}
