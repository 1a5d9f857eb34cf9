package claims

import (
	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

// KindDNSRecord is the Kind of a DNSRecord's Owner.
const KindDNSRecord = "DNSRecord"

// DNSServerPlane is the plane of a DNS server's names: classes with the same server share them.
func DNSServerPlane(server endpoint.URL) Plane { return Plane(server.String()) }

// DNSRecordOwner identifies a DNSRecord.
func DNSRecordOwner(namespace, name string) Owner {
	return Owner{Kind: KindDNSRecord, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// OfDNSRecord returns what a DNSRecord claims, given the server of its class ("" where the class is absent or unknown): its
// name on that server, and on the server that it was last applied to, until the object is gone. A record whose
// name or class makes no sense claims nothing more than what was applied.
func OfDNSRecord(rec *dnsv1alpha1.DNSRecord, server string) []Claim {
	name, ok := dnsRecordName(rec)
	if !ok {
		return nil
	}
	claim := Claim{Name: name, Type: record.Type(rec.Spec.Type), Owner: DNSRecordOwner(rec.Namespace, rec.Name),
		UID: rec.UID, Created: rec.CreationTimestamp.UTC()}
	var out []Claim
	applied := rec.Status.Applied
	if at, err := endpoint.Parse(server); err == nil {
		claim.Plane = DNSServerPlane(at)
		claim.Holds = applied != nil && applied.Server == at.String()
		out = append(out, claim)
	}
	if applied != nil && applied.Server != "" && Plane(applied.Server) != claim.Plane {
		claim.Plane, claim.Holds = Plane(applied.Server), true
		out = append(out, claim)
	}
	return out
}

func dnsRecordName(rec *dnsv1alpha1.DNSRecord) (dnsname.Name, bool) {
	domain, err := dnsname.Parse(rec.Spec.Domain)
	if err != nil {
		return dnsname.Name{}, false
	}
	text := rec.Spec.Subdomain
	if text == "" {
		text = dnsname.Apex
	}
	subdomain, err := dnsname.ParseSubdomain(text)
	if err != nil {
		return dnsname.Name{}, false
	}
	name, err := dnsname.Join(subdomain, domain)
	return name, err == nil
}
