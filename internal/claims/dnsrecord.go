package claims

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/dnsrecord"
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
// name on that server, and what it was last applied as, until the object is gone. A record whose name or class makes no
// sense claims nothing more than what was applied.
func OfDNSRecord(rec *dnsv1alpha1.DNSRecord, server string) []Claim {
	if rec.DeletionTimestamp != nil && !slices.Contains(rec.Finalizers, dnsv1alpha1.DNSRecordFinalizer) {
		return nil // our part is done: what somebody else's finalizer still waits for does not hold the name
	}
	claim := Claim{Owner: DNSRecordOwner(rec.Namespace, rec.Name), UID: rec.UID, Created: rec.CreationTimestamp.UTC()}
	var out []Claim
	if applied := rec.Status.Applied; applied != nil {
		if name, err := dnsrecord.Compose(applied.Domain, applied.Subdomain); err == nil && applied.Server != "" {
			claim.Plane, claim.Name, claim.Type, claim.Holds = Plane(applied.Server), name, record.Type(applied.Type), true
			out = append(out, claim)
		}
	}
	name, err := dnsrecord.Compose(rec.Spec.Domain, rec.Spec.Subdomain)
	if err != nil {
		return out
	}
	at, err := endpoint.Parse(server)
	if err != nil {
		return out
	}
	claim.Plane, claim.Name, claim.Type, claim.Holds = DNSServerPlane(at), name, record.Type(rec.Spec.Type), false
	if len(out) == 1 && targetOf(out[0]) == targetOf(claim) {
		return out
	}
	return append([]Claim{claim}, out...)
}
