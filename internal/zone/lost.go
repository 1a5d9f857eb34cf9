package zone

import (
	"fmt"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// lost finds what a new sub-zone would take from its parent and not let in itself: of other namespaces, which is refused, or else of its
// own.
func (m *Model) lost(obj ZoneObject, fqdn dnsname.Name, parent *zoneState) *Problem {
	if parent == nil || m.authority(fqdn) != nil {
		return nil
	}
	var own *Problem
	for loser := range m.losers(obj, fqdn, parent) {
		if loser.Namespace != obj.Namespace {
			return &Problem{Rule: rules.ZoneTakesNames, Field: fieldDomainName, Value: fqdn.FQDN(), Rests: []Rest{{loser.Kind, loser.Key}},
				Detail: "other namespaces publish names at this one or below it, and no delegation of this zone lets them in: give it such delegations, or another name"}
		}
		if own == nil {
			own = &Problem{Rule: rules.ZoneDropsNames, Field: fieldDomainName, Value: fqdn.FQDN(),
				Detail: fmt.Sprintf("the %s %s of this namespace is published at this name or below it, and no delegation of this zone lets it in: it is published no more", loser.Kind, loser.Name)}
		}
	}
	return own
}

// losers yields what a parent publishes at a name and below it that a new sub-zone of that name does not let in.
func (m *Model) losers(obj ZoneObject, fqdn dnsname.Name, parent *zoneState) func(yield func(Rest) bool) {
	return func(yield func(Rest) bool) {
		for _, records := range m.recordsAt.atOrBelow(fqdn) {
			for _, r := range records {
				if r.zone == parent && r.verdict.Published() && !m.recordMoves(r, obj, fqdn) && !yield(Rest{KindRecord, r.obj.Key}) {
					return
				}
			}
		}
		for name, zones := range m.zonesAt.atOrBelow(fqdn) {
			for _, z := range zones {
				moves := z.obj.ZoneRef == nil && obj.Delegations.AdmitsZone(z.obj.Namespace, relativeTo(name, fqdn)) >= 0
				if z.parent == parent && !moves && !yield(Rest{KindZone, z.obj.Key}) {
					return
				}
			}
		}
	}
}

// recordMoves says whether a record of the parent would be published still: in a new sub-zone, or in the parent if that is its place.
func (m *Model) recordMoves(r *recordState, obj ZoneObject, fqdn dnsname.Name) bool {
	if r.obj.Type == typeDS && r.fqdn == fqdn {
		return true
	}
	return r.obj.ZoneRef == nil && obj.Delegations.AdmitsRecord(r.obj.Namespace, relativeTo(r.fqdn, fqdn), r.obj.Type) >= 0 &&
		!m.wouldCut(obj, fqdn, r.fqdn)
}

// wouldCut says whether a name lies at or below a zone that would become a sub-zone of a new one.
func (m *Model) wouldCut(obj ZoneObject, fqdn, name dnsname.Name) bool {
	for at, more := name, true; more && at != fqdn; at, more = at.Parent() {
		if z := m.authority(at); z != nil && z.obj.ZoneRef == nil && obj.Delegations.AdmitsZone(z.obj.Namespace, relativeTo(at, fqdn)) >= 0 {
			return true
		}
	}
	return false
}
