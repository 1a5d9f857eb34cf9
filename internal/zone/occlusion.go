package zone

import (
	"slices"
	"strings"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// hidden: what a delegation or a DNAME hides is never seen.
func (s *settlement) hidden(r *recordState) *Problem {
	if by := s.above; by.kind != "" && !by.lets(r.obj.Type, s.name) {
		return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, by.record, by.says())
	}
	if set := s.sets[record.NS]; set != nil && !s.isApex && r.obj.Type != record.NS {
		at := cutOf(s.name, s.zone.content.origin, s.kept)
		if r.obj.Type != typeDS && !at.lets(r.obj.Type, s.name) {
			return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, set.first, at.says())
		}
	}
	return nil
}

// hides: a record that would hide others is refused, if they were there first.
func (s *settlement) hides(r *recordState) *Problem {
	if !isCutType(r.obj.Type) || s.isApex && r.obj.Type == record.NS || s.sets[r.obj.Type] != nil {
		return nil
	}
	would := cutOf(s.name, s.zone.content.origin, s.ofNamespace(r))
	for _, other := range s.kept {
		if r.obj.Type == record.NS && other.obj.Type != typeDS && !would.lets(other.obj.Type, s.name) {
			return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, other, hidesDetail)
		}
	}
	for at, records := range s.m.recordsAt.atOrBelow(s.name) {
		for _, other := range records {
			if at != s.name && other.zone == s.zone && other.obj.precedes(r.obj.Object) && !would.lets(other.obj.Type, at) {
				return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, other, hidesDetail)
			}
		}
	}
	return nil
}

// ofNamespace returns a record and all others of its type and namespace that want to stand here: the name servers of a delegation are
// judged together, because what one of them hides may be the address of another.
func (s *settlement) ofNamespace(r *recordState) []*recordState {
	out := []*recordState{r}
	for _, other := range s.candidates {
		if other != r && other.obj.Type == r.obj.Type && other.obj.Namespace == r.obj.Namespace {
			out = append(out, other)
		}
	}
	return out
}

const hidesDetail = "there are records at this name or below it that this one would hide: take them away first, or choose another name"

// hidesZone: a DNAME does not hide sub-zones, whichever was there first (RFC 6672 section 2.4). Some servers, NSD among them, do not load a zone that has both.
func (s *settlement) hidesZone(r *recordState) *Problem {
	if !isDNAME(r.obj.Type) {
		return nil
	}
	below := s.subZone()
	if below == nil {
		return nil
	}
	return &Problem{Rule: rules.RecordOccluded, Field: fieldDomainName, Value: s.name.FQDN(),
		Detail: "there is a zone below this name, which could not be delegated beside a DNAME: choose another name",
		Rests:  []Rest{{KindZone, below.obj.Key}, {KindZone, s.zone.obj.Key}}}
}

// subZone returns a zone at this name or below it that the zone delegates; nil: there is none.
func (s *settlement) subZone() *zoneState {
	for _, zones := range s.m.zonesAt.atOrBelow(s.name) {
		for _, z := range zones {
			if z.copiedTo == s.zone.content && len(z.copied) > 0 {
				return z
			}
		}
	}
	return nil
}

// cut is what a name hides below it: a delegation to other name servers all but their addresses, a DNAME everything. It is comparable.
type cut struct {
	// kind is NS or DNAME; empty where nothing is hidden.
	kind record.Type
	name dnsname.Name
	// targets are the name servers, joined by spaces with one at either end.
	targets string
	record  *recordState
}

const typeDNAME record.Type = "DNAME"

func isCutType(t record.Type) bool { return t == record.NS || t == typeDNAME }

func isDNAME(t record.Type) bool { return t == typeDNAME }

// cutOf says what a name hides that has these records.
func cutOf(name, origin dnsname.Name, kept []*recordState) cut {
	out := cut{name: name}
	var targets []string
	for _, r := range kept {
		switch {
		case r.obj.Type == typeDNAME:
			return cut{kind: typeDNAME, name: name, record: r}
		case r.obj.Type == record.NS && name != origin:
			if out.kind == "" {
				out.kind, out.record = record.NS, r
			}
			if target, ok := r.target(); ok {
				targets = append(targets, target.String())
			}
		}
	}
	if out.kind == "" {
		return cut{}
	}
	slices.Sort(targets)
	out.targets = " " + strings.Join(targets, " ") + " "
	return out
}

// lets says whether a record of a type is seen in spite of the cut: the address of a name server that the delegation names.
func (c cut) lets(typ record.Type, name dnsname.Name) bool {
	return c.kind == "" || c.kind == record.NS && (typ == record.A || typ == record.AAAA) && strings.Contains(c.targets, " "+name.String()+" ")
}

// says why something is hidden.
func (c cut) says() string {
	if c.kind == typeDNAME {
		return "the DNAME at " + c.name.FQDN() + " stands for everything below it: choose another name, or take the DNAME away"
	}
	return c.name.FQDN() + " is delegated to other name servers, and only their addresses stand there: put this record into their zone, or choose another name"
}

// cutAbove returns the nearest cut that is strictly above a name in its zone.
func (m *Model) cutAbove(z *zoneState, name dnsname.Name) cut {
	for at := range ancestors(name, z.content.origin) {
		if c := z.content.owner(at).cut; c.kind != "" {
			return c
		}
	}
	if name != z.content.origin {
		return z.content.owner(z.content.origin).cut // a DNAME at the apex
	}
	return cut{}
}

// mayHide says whether a zone has candidates of some types at a name.
func (m *Model) mayHide(z *zoneState, name dnsname.Name, types func(record.Type) bool) bool {
	return slices.ContainsFunc(m.recordsAt.get(name), func(r *recordState) bool { return r.zone == z && types(r.obj.Type) })
}
