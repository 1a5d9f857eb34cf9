// Package dnsrecord reads a DNSRecord as what it publishes: the gate, the claims and the controllers all read it here, so that they never
// differ on what an object says.
package dnsrecord

import (
	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Spec returns the record that a DNSRecord describes. An object that has not passed the defaulter may have no subdomain, which is the
// domain itself, and no ttl, for which defaultTTL (in seconds) stands.
func Spec(spec *dnsv1alpha1.DNSRecordSpec, defaultTTL int64) record.Spec {
	out := record.Spec{Type: string(spec.Type), Domain: spec.Domain, Subdomain: apexIfNone(spec.Subdomain), Values: spec.Values, TTL: defaultTTL}
	if spec.TTL != nil {
		out.TTL = int64(*spec.TTL)
	}
	if m := spec.Metadata; m != nil {
		out.Priority, out.Weight, out.Port = wide(m.Priority), wide(m.Weight), wide(m.Port)
	}
	return out
}

// Compose returns the whole name of a domain and a subdomain as a DNSRecord writes them: no subdomain is the domain itself. The error is
// a *dnsname.Error.
func Compose(domain, subdomain string) (dnsname.Name, error) {
	parent, err := dnsname.Parse(domain)
	if err != nil {
		return dnsname.Name{}, err
	}
	relative, err := dnsname.ParseSubdomain(apexIfNone(subdomain))
	if err != nil {
		return dnsname.Name{}, err
	}
	return dnsname.Join(relative, parent)
}

func apexIfNone(subdomain string) string {
	if subdomain == "" {
		return dnsname.Apex
	}
	return subdomain
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	w := int64(*n)
	return &w
}
