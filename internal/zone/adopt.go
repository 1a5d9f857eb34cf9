package zone

import (
	"fmt"
	"strings"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// adopter finds the zone that adopts a record of this name. The problem says why none does.
func (m *Model) adopter(obj RecordObject, name dnsname.Name) (*zoneState, *Problem) {
	if obj.ZoneRef != nil {
		return m.namedAdopter(obj, name)
	}
	zone, _, passed := m.longestAdopter(Question{Namespace: obj.Namespace, Name: name, Type: obj.Type})
	switch {
	case zone != nil:
		return zone, nil
	case len(passed) == 0:
		return nil, &Problem{Rule: rules.ZoneAbsent, Field: fieldDomainName, Value: name.FQDN(),
			Detail: "no Zone has this name or one above it: the record is published when there is one that delegates the name to this namespace"}
	}
	return nil, notDelegated(obj, name, passed)
}

func (m *Model) namedAdopter(obj RecordObject, name dnsname.Name) (*zoneState, *Problem) {
	zone := m.zones[*obj.ZoneRef]
	if zone.content == nil {
		return nil, &Problem{Rule: rules.ZoneAbsent, Field: fieldZoneRef, Value: obj.ZoneRef.Name, Rests: []Rest{{KindZone, *obj.ZoneRef}},
			Detail: "that Zone is not published, as its own conditions say: this record waits for it"}
	}
	cut := m.cutBetween(name, zone)
	if cut != nil && (obj.Type != typeDS || cut.fqdn != name) {
		return nil, notDelegated(obj, name, []*zoneState{zone, cut})
	}
	if zone.obj.Delegations.AdmitsRecord(obj.Namespace, relativeTo(name, zone.fqdn), obj.Type) >= 0 {
		return zone, nil
	}
	return nil, notDelegated(obj, name, []*zoneState{zone})
}

// typeDS is the one type that stands on the parent's side of a delegation (RFC 4035 section 2.4).
const typeDS record.Type = "DS"

// longestAdopter finds the zone with the longest name that matches and that delegates the name. A zone never adopts what is at or below
// one of its own sub-zones. It returns also the zones that match and do not adopt the name, the longest first.
func (m *Model) longestAdopter(q Question) (zone *zoneState, delegation int, passed []*zoneState) {
	for name, more := q.Name, true; more; name, more = name.Parent() {
		z := m.authority(name)
		if z == nil {
			continue
		}
		cut := cutBy(passed, z)
		mayAdopt := cut == nil || q.Type == typeDS && cut.fqdn == q.Name
		if q.Type == typeDS && z.fqdn == q.Name {
			mayAdopt = false
		}
		if at := z.obj.Delegations.AdmitsRecord(q.Namespace, relativeTo(q.Name, z.fqdn), q.Type); mayAdopt && at >= 0 {
			return z, at, passed
		}
		passed = append(passed, z)
	}
	return nil, -1, passed
}

// notDelegated says which suffix is not delegated for which type.
func notDelegated(obj RecordObject, name dnsname.Name, passed []*zoneState) *Problem {
	by := passed[0]
	p := &Problem{Rule: rules.RecordNotDelegated, Field: fieldDomainName, Value: name.FQDN(),
		Detail: fmt.Sprintf("the zone %s does not delegate records of type %s at this name to the namespace %s: ask who runs it for a delegation with the pattern %q",
			by.fqdn.FQDN(), obj.Type, obj.Namespace, joinRelative(relativeTo(name, by.fqdn)))}
	if obj.ZoneRef != nil && len(passed) > 1 {
		p.Field = fieldZoneRef
		p.Detail = fmt.Sprintf("this name belongs to the sub-zone %s: give its zone, or the whole name without a zoneRef", passed[1].fqdn.FQDN())
	}
	for i, z := range passed {
		p.Rests = append(p.Rests, Rest{KindZone, z.obj.Key})
		open := obj.ZoneRef == nil && cutBy(passed[:i], z) == nil
		p.maybeSubZone = p.maybeSubZone || open && z.obj.Delegations.mayDelegate(relativeTo(name, z.fqdn))
	}
	return p
}

// joinRelative writes a relative name as a pattern.
func joinRelative(labels []string) string {
	if len(labels) == 0 {
		return dnsname.Apex
	}
	return strings.Join(labels, ".")
}
