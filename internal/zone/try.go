package zone

import (
	"slices"
	"time"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// TryZone judges what would become of a Zone if it were admitted now, in the place of the one with its key. Nothing changes by it. Among
// the problems are those that deny and those that warn.
func (m *Model) TryZone(obj ZoneObject) (ZoneVerdict, []Problem) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	obj.Object = asLast(obj.Object)
	if p := m.refCycle(obj); p != nil {
		return ZoneVerdict{Reason: zonev1alpha1.ReasonInvalidConfiguration, Message: p.Detail}, []Problem{*p}
	}
	fqdn, unnamed := m.nameOfZone(obj)
	verdict, parent, problem := m.judgeZone(obj, fqdn, unnamed)
	if parent != nil {
		verdict.Parent = parent.obj.Key
	}
	var problems []Problem
	if problem != nil && !m.isUnknown(problem) {
		verdict.Message = problem.Detail
		problems = append(problems, *problem)
	}
	if !verdict.Published() {
		return verdict, problems
	}
	for _, p := range []*Problem{m.lost(obj, fqdn, parent), m.apexWithoutNS(obj, fqdn)} {
		if p != nil {
			problems = append(problems, *p)
		}
	}
	return verdict, problems
}

// TryRecord judges what would become of a Record if it were admitted now, in the place of the one with its key. Nothing changes by it.
// Among the problems are those that deny and those that warn.
func (m *Model) TryRecord(obj RecordObject) (RecordVerdict, []Problem) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	obj.Object = asLast(obj.Object)
	r := newRecordState(obj)
	name, problem := m.nameOfRecord(obj)
	if problem != nil {
		return RecordVerdict{Reason: zonev1alpha1.ReasonZoneNotFound, Message: problem.Detail}, m.known(problem)
	}
	r.fqdn = name
	zone, problem := m.adopter(obj, name)
	if problem != nil {
		verdict := RecordVerdict{FQDN: name, Reason: zonev1alpha1.ReasonNotDelegated, Message: problem.Detail}
		if problem.Rule == rules.ZoneAbsent {
			verdict.Reason = zonev1alpha1.ReasonZoneNotFound
		}
		return verdict, m.known(problem)
	}
	r.zone = zone
	verdict := RecordVerdict{FQDN: name, Parent: zone.obj.Key, Reason: adopted}
	if p := r.ownProblem(name); p != nil {
		verdict.Reason, verdict.Message = zonev1alpha1.ReasonInvalidConfiguration, p.Detail
		return verdict, nil // the object's own problems are found without us
	}
	if p := m.tryBeside(r); p != nil {
		verdict.Reason, verdict.Message = zonev1alpha1.ReasonQuarantined, p.Detail
		return verdict, []Problem{*p}
	}
	return verdict, m.absences(r)
}

// asLast makes an object come after all others in the order of precedence: what is there is not to suffer by what comes.
func asLast(o Object) Object {
	o.Created, o.Ready = time.Time{}, false
	return o
}

// known returns a problem, unless it is one of not knowing enough.
func (m *Model) known(p *Problem) []Problem {
	if m.isUnknown(p) {
		return nil
	}
	return []Problem{*p}
}

// isUnknown says whether a problem is that something is absent which may be elsewhere: a zone, or a sub-zone that would adopt the name.
func (m *Model) isUnknown(p *Problem) bool {
	return m.partial && (p.Rule == rules.ZoneAbsent || p.maybeSubZone)
}

// tryBeside puts a record beside those that are published at its name.
func (m *Model) tryBeside(r *recordState) *Problem {
	others := slices.DeleteFunc(m.candidates(r.zone, r.fqdn), func(other *recordState) bool {
		return other.obj.Key == r.obj.Key || !other.verdict.Published()
	})
	beside := m.beside(r.zone, r.fqdn, others)
	for _, other := range others {
		beside.keep(other)
	}
	if by := beside.above.record; by != nil && by.obj.Key == r.obj.Key {
		beside.above = cut{} // its own former self
	}
	return beside.contradiction(r)
}

// refCycle says that the chain of zoneRefs leads back to the zone.
func (m *Model) refCycle(obj ZoneObject) *Problem {
	ref := obj.ZoneRef
	for range maxChain {
		if ref == nil {
			return nil
		}
		if *ref == obj.Key {
			return &Problem{Rule: rules.ZoneRefCycle, Field: fieldZoneRef, Value: obj.ZoneRef.Name, Rests: m.chain(obj),
				Detail: "this zone is named after itself by the zones that its zoneRef leads to: give one of them a whole domainName"}
		}
		next := m.zones[*ref]
		if next == nil {
			return nil
		}
		ref = next.obj.ZoneRef
	}
	return nil
}

// chain lists the zones that a zone is named after.
func (m *Model) chain(obj ZoneObject) []Rest {
	var out []Rest
	for ref := obj.ZoneRef; ref != nil && len(out) < maxChain && *ref != obj.Key; {
		out = append(out, Rest{KindZone, *ref})
		next := m.zones[*ref]
		if next == nil {
			break
		}
		ref = next.obj.ZoneRef
	}
	return out
}

// apexWithoutNS warns of a zone that no record gives an NS record.
func (m *Model) apexWithoutNS(obj ZoneObject, fqdn dnsname.Name) *Problem {
	if m.partial || fqdn.IsZero() {
		return nil
	}
	for _, r := range m.recordsAt.get(fqdn) {
		if r.obj.Type == record.NS && obj.Delegations.AdmitsRecord(r.obj.Namespace, nil, record.NS) >= 0 {
			return nil
		}
	}
	return &Problem{Rule: rules.ApexNSAbsent, Field: fieldDomainName, Value: fqdn.FQDN(),
		Detail: "no Record gives this zone a name server: until one of type NS at @ does, it names " + obj.SOA.nameServer(fqdn).FQDN()}
}

// Explain says which zone would adopt a name of a namespace, by which delegation, or why none would.
func (m *Model) Explain(q Question) Explanation {
	m.mu.RLock()
	defer m.mu.RUnlock()
	zone, delegation, passed := m.longestAdopter(q)
	out := Explanation{Delegation: delegation}
	if zone != nil {
		out.Zone, out.Origin = zone.obj.Key, zone.fqdn
	}
	for i, z := range passed {
		out.Passed = append(out.Passed, Passed{Zone: z.obj.Key, Origin: z.fqdn, Why: m.whyPassed(q, z, passed[:i])})
	}
	return out
}

func (m *Model) whyPassed(q Question, z *zoneState, longer []*zoneState) string {
	switch {
	case q.Type == typeDS && z.fqdn == q.Name:
		return "a DS record stands in the zone above the one that it is about"
	case cutBy(longer, z) != nil:
		return "the name belongs to its sub-zone " + cutBy(longer, z).fqdn.FQDN()
	}
	return "no delegation names this namespace, name and type together"
}
