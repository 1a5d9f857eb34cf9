package httpdns

import (
	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Wire returns the record as a client sends it. Metadata goes with MX and SRV only.
func Wire(set *record.RRset) dnsserverv1.Record {
	wire := dnsserverv1.Record{Type: string(set.Type), Domain: set.Domain.String(), Subdomain: set.Subdomain,
		Values: set.Values(), TTL: int64(set.TTL)}
	switch set.Type {
	case record.MX:
		wire.Metadata = &dnsserverv1.RecordMetadata{Priority: number(set.Priority)}
	case record.SRV:
		wire.Metadata = &dnsserverv1.RecordMetadata{Priority: number(set.Priority), Weight: number(set.Weight), Port: number(set.Port)}
	case record.A, record.AAAA, record.CNAME, record.TXT, record.NS:
	}
	return wire
}

func number(n uint16) *int64 {
	wide := int64(n)
	return &wide
}

// Spec returns what somebody wrote on the wire, for record.Parse.
func Spec(wire dnsserverv1.Record) record.Spec {
	spec := record.Spec{Type: wire.Type, Domain: wire.Domain, Subdomain: wire.Subdomain, Values: wire.Values, TTL: wire.TTL}
	if m := wire.Metadata; m != nil {
		spec.Priority, spec.Weight, spec.Port = m.Priority, m.Weight, m.Port
	}
	return spec
}

// isAbout says whether a record on the wire has the type and the name. Its fqdn decides where the server sent one, else domain and subdomain.
func isAbout(wire *dnsserverv1.Record, typ record.Type, owner dnsname.Name) bool {
	if wire.Type != string(typ) {
		return false
	}
	if wire.FQDN != "" {
		name, err := dnsname.ParseOwner(wire.FQDN)
		return err == nil && name == owner
	}
	domain, err := dnsname.Parse(wire.Domain)
	if err != nil {
		return false
	}
	subdomain, err := dnsname.ParseSubdomain(wire.Subdomain)
	if err != nil {
		return false
	}
	name, err := dnsname.Join(subdomain, domain)
	return err == nil && name == owner
}
