package libdns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/libdns/libdns"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Backend keeps records in the zones of one provider. A name belongs to the longest zone that it lies in.
type Backend struct {
	client Client
	zones  []dnsname.Name
}

var _ backend.Backend = (*Backend)(nil)

// New returns a back end for at least one zone.
func New(client Client, zones []dnsname.Name) (*Backend, error) {
	if len(zones) == 0 {
		return nil, errors.New("give at least one zone that the provider holds")
	}
	return &Backend{client: client, zones: zones}, nil
}

// Upsert is described by backend.Backend.
func (b *Backend) Upsert(ctx context.Context, set *record.RRset) error {
	zone, served := backend.ZoneOf(b.zones, set.Owner)
	switch {
	case !served:
		return backend.ErrNotServed
	case apexNS(backend.IDOf(set), zone), set.Type == record.CNAME && set.Owner == zone:
		return backend.ErrConflict
	}
	_, err := b.client.SetRecords(ctx, zone.FQDN(), toRecords(set, zone))
	return err
}

// Delete is described by backend.Backend. It deletes what is there, whoever wrote it.
func (b *Backend) Delete(ctx context.Context, id backend.ID) (bool, error) {
	zone, served := backend.ZoneOf(b.zones, id.Owner)
	if !served || apexNS(id, zone) {
		return false, nil
	}
	there, err := b.lookup(ctx, zone, id)
	if err != nil || len(there) == 0 {
		return false, err
	}
	_, err = b.client.DeleteRecords(ctx, zone.FQDN(), there)
	return err == nil, err
}

// Get is described by backend.Backend.
func (b *Backend) Get(ctx context.Context, id backend.ID) (*record.RRset, bool, error) {
	zone, served := backend.ZoneOf(b.zones, id.Owner)
	if !served || apexNS(id, zone) {
		return nil, false, nil
	}
	there, err := b.lookup(ctx, zone, id)
	if err != nil || len(there) == 0 {
		return nil, false, err
	}
	set, err := fromRecords(id, there)
	return set, err == nil, err
}

// Healthy is described by backend.Backend: every zone can be changed, or at least read.
func (b *Backend) Healthy(ctx context.Context) error {
	probe := func(ctx context.Context, zone string) error {
		_, err := b.client.GetRecords(ctx, zone)
		return err
	}
	if prober, can := b.client.(Prober); can {
		probe = prober.Probe
	}
	for _, zone := range b.zones {
		if err := probe(ctx, zone.FQDN()); err != nil {
			return fmt.Errorf("zone %s: %w", zone, err)
		}
	}
	return nil
}

// apexNS is true for the NS records of a zone itself. They are the zone's own: a record that replaced them would take the zone
// off the net, and providers ignore or refuse their deletion (RFC 2136 section 3.4.2.3).
func apexNS(id backend.ID, zone dnsname.Name) bool { return id.Type == record.NS && id.Owner == zone }

// lookup returns the provider's records of one RRset.
func (b *Backend) lookup(ctx context.Context, zone dnsname.Name, id backend.ID) ([]libdns.Record, error) {
	if looker, can := b.client.(Looker); can {
		return looker.LookupRecords(ctx, zone.FQDN(), libdns.RelativeName(id.Owner.FQDN(), zone.FQDN()), string(id.Type))
	}
	all, err := b.client.GetRecords(ctx, zone.FQDN())
	if err != nil {
		return nil, err
	}
	var found []libdns.Record
	for _, rec := range all {
		if rr := rec.RR(); rr.Type == string(id.Type) && absolute(rr.Name, zone.FQDN()) == id.Owner.FQDN() {
			found = append(found, rec)
		}
	}
	return found, nil
}

// absolute returns the canonical whole name of a record.
func absolute(name, zone string) string { return strings.ToLower(libdns.AbsoluteName(name, zone)) }
