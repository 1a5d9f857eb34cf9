package zone

import (
	"fmt"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// judgeZone decides about a zone: whether it is published, and which zone is its parent. The problem says why it is not published.
func (m *Model) judgeZone(obj ZoneObject, fqdn dnsname.Name, unnamed *Problem) (ZoneVerdict, *zoneState, *Problem) {
	if unnamed != nil {
		reason := zonev1alpha1.ReasonInvalidConfiguration
		if unnamed.Rule == rules.ZoneAbsent {
			reason = zonev1alpha1.ReasonZoneNotFound
		}
		return ZoneVerdict{Reason: reason}, nil, unnamed
	}
	verdict := ZoneVerdict{FQDN: fqdn, Reason: published}
	if problem := m.zoneTaken(obj, fqdn); problem != nil {
		verdict.Reason = zonev1alpha1.ReasonNameConflict
		return verdict, nil, problem
	}
	parent, problem := m.parentOfZone(obj, fqdn)
	if problem != nil {
		verdict.Reason = zonev1alpha1.ReasonNotDelegated
		return verdict, nil, problem
	}
	return verdict, parent, nil
}

// zoneTaken says that another zone has the name. One that may not have it itself, for want of a delegation, keeps nobody from it.
func (m *Model) zoneTaken(obj ZoneObject, fqdn dnsname.Name) *Problem {
	for _, other := range m.zonesAt.get(fqdn) {
		if other.obj.Key == obj.Key || !other.obj.precedes(obj.Object) {
			continue
		}
		if _, refused := m.parentOfZone(other.obj, fqdn); refused == nil {
			return &Problem{Rule: rules.ZoneTaken, Field: fieldDomainName, Value: fqdn.FQDN(), Rests: []Rest{{KindZone, other.obj.Key}},
				Detail: "there is a Zone of this name already: choose another name, or ask who runs it for a delegation"}
		}
	}
	return nil
}

// parentOfZone finds the zone that a zone is a sub-zone of. There is none above a zone that stands alone. A zone below another one that
// does not delegate to it is refused, unless it was there first: nobody loses a zone because somebody else makes one above it.
func (m *Model) parentOfZone(obj ZoneObject, fqdn dnsname.Name) (*zoneState, *Problem) {
	if obj.ZoneRef != nil {
		return m.namedParentOfZone(obj, fqdn)
	}
	var passed []*zoneState
	for name, more := fqdn.Parent(); more; name, more = name.Parent() {
		above := m.authority(name)
		if above == nil || above.obj.Key == obj.Key {
			continue
		}
		if cutBy(passed, above) == nil && above.obj.Delegations.AdmitsZone(obj.Namespace, relativeTo(fqdn, above.fqdn)) >= 0 {
			return above, nil
		}
		passed = append(passed, above)
	}
	if len(passed) > 0 && passed[0].obj.precedes(obj.Object) {
		return nil, zoneNotDelegated(obj, fqdn, passed[0])
	}
	return nil, nil //nolint:nilnil // A zone may stand alone.
}

func (m *Model) namedParentOfZone(obj ZoneObject, fqdn dnsname.Name) (*zoneState, *Problem) {
	parent := m.zones[*obj.ZoneRef]
	above, _ := fqdn.Parent()
	admitted := parent.content != nil && m.cutBetween(above, parent) == nil &&
		parent.obj.Delegations.AdmitsZone(obj.Namespace, relativeTo(fqdn, parent.fqdn)) >= 0
	if !admitted {
		return nil, zoneNotDelegated(obj, fqdn, parent)
	}
	return parent, nil
}

// cutBy returns the first of some zones that is a sub-zone of another one.
func cutBy(zones []*zoneState, parent *zoneState) *zoneState {
	for _, z := range zones {
		if z.parent == parent {
			return z
		}
	}
	return nil
}

// cutBetween returns the sub-zone of a zone that a name is at or below of.
func (m *Model) cutBetween(name dnsname.Name, parent *zoneState) *zoneState {
	for at, more := name, true; more && at != parent.fqdn; at, more = at.Parent() {
		if z := m.authority(at); z != nil && z.parent == parent {
			return z
		}
	}
	return nil
}

func zoneNotDelegated(obj ZoneObject, fqdn dnsname.Name, by *zoneState) *Problem {
	return &Problem{Rule: rules.ZoneNotDelegated, Field: fieldDomainName, Value: fqdn.FQDN(), Rests: []Rest{{KindZone, by.obj.Key}},
		Detail: fmt.Sprintf("the zone %s does not delegate this name to the namespace %s: ask who runs it for a delegation with zones: [%q]",
			by.fqdn.FQDN(), obj.Namespace, joinRelative(relativeTo(fqdn, by.fqdn)))}
}
