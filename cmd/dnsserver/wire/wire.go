// Package wire converts between the protocol's records and the parsed ones.
package wire

import (
	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Spec returns what record.Parse needs of a record as a client wrote it. The FQDN is the server's to fill in, and not read.
func Spec(r v1.Record) record.Spec {
	spec := record.Spec{Type: r.Type, Domain: r.Domain, Subdomain: r.Subdomain, Values: r.Values, TTL: r.TTL}
	if m := r.Metadata; m != nil {
		spec.Priority, spec.Weight, spec.Port = m.Priority, m.Weight, m.Port
	}
	return spec
}

// Record returns the canonical form of an RRset, FQDN included, with the owner split into the given domain and subdomain.
func Record(set *record.RRset, domain dnsname.Name, subdomain string) v1.Record {
	return v1.Record{
		Type:      string(set.Type),
		Domain:    domain.String(),
		Subdomain: subdomain,
		FQDN:      set.Owner.String(),
		Values:    set.Values(),
		TTL:       int64(set.TTL),
		Metadata:  metadata(set),
	}
}

func metadata(set *record.RRset) *v1.RecordMetadata {
	switch set.Type {
	case record.MX:
		return &v1.RecordMetadata{Priority: number(set.Priority)}
	case record.SRV:
		return &v1.RecordMetadata{Priority: number(set.Priority), Weight: number(set.Weight), Port: number(set.Port)}
	case record.A, record.AAAA, record.CNAME, record.TXT, record.NS:
	}
	return nil
}

func number(n uint16) *int64 {
	wide := int64(n)
	return &wide
}
