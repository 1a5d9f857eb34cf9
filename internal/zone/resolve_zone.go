package zone

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// setZone takes in a Zone.
func (w *work) setZone(obj ZoneObject) {
	if obj.Leaving {
		if old := w.m.zones[obj.Key]; old != nil {
			w.removeZone(old)
		}
		return
	}
	z := w.m.zones[obj.Key]
	if z == nil {
		z = &zoneState{obj: obj}
		w.m.zones[obj.Key] = z
		w.zonesChanged[obj.Key] = struct{}{}
		w.refer(z, obj.ZoneRef)
		w.resolveZones(z, true)
		return
	}
	before := z.obj
	z.obj = obj
	if sameDecisions(before, obj) {
		w.setSOA(z, before.SOA)
		return
	}
	w.unrefer(z, before.ZoneRef)
	w.refer(z, obj.ZoneRef)
	w.zonesChanged[obj.Key] = struct{}{}
	w.resolveZones(z, !reflect.DeepEqual(before.Delegations, obj.Delegations))
	w.setSOA(z, before.SOA)
}

// sameDecisions says whether nothing differs that decides about names.
func sameDecisions(a, b ZoneObject) bool {
	return a.UID == b.UID && a.Created.Equal(b.Created) && a.Ready == b.Ready && a.DomainName == b.DomainName && equalRef(a.ZoneRef, b.ZoneRef) &&
		reflect.DeepEqual(a.Delegations, b.Delegations)
}

func equalRef(a, b *Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// setSOA takes in what a change of a zone's own SOA fields changes in its content.
func (w *work) setSOA(z *zoneState, before SOA) {
	if before == z.obj.SOA || z.content == nil {
		return
	}
	w.zonesChanged[z.obj.Key] = struct{}{}
	if before.TTL != z.obj.SOA.TTL {
		for name := range z.content.owners.all {
			w.settle[spot{z, name}] = struct{}{}
		}
	}
	if before.NameServer != z.obj.SOA.NameServer {
		w.settle[spot{z, z.fqdn}] = struct{}{}
	}
}

// removeZone takes out a Zone.
func (w *work) removeZone(z *zoneState) {
	delete(w.m.zones, z.obj.Key)
	w.unrefer(z, z.obj.ZoneRef)
	w.zonesChanged[z.obj.Key] = struct{}{}
	w.resolveZones(z, true)
}

func (w *work) refer(z *zoneState, ref *Key) {
	if ref != nil {
		w.m.referrersOf(*ref).zones[z.obj.Key] = z
	}
}

func (w *work) unrefer(z *zoneState, ref *Key) {
	if ref != nil {
		delete(w.m.referrersOf(*ref).zones, z.obj.Key)
		w.m.dropReferrers(*ref)
	}
}

// resolveZones finds anew what becomes of a zone that came, changed or went, and of all zones that this concerns: those named after it by
// their zoneRefs, those of the same name, and those below. Parents come before their children, because they have shorter names.
func (w *work) resolveZones(first *zoneState, delegationsChanged bool) {
	concerned := map[*zoneState]struct{}{}
	renamed := w.renamed(first)
	before := make([]dnsname.Name, len(renamed))
	for i, z := range renamed {
		concerned[z] = struct{}{}
		w.concern(concerned, z.fqdn)
		before[i] = z.fqdn
		w.unname(z) // all of them, so that none is named after an old name of itself
	}
	for i, z := range renamed {
		w.name(z, before[i])
		w.concern(concerned, z.fqdn)
	}
	order := slices.SortedFunc(maps.Keys(concerned), func(a, b *zoneState) int {
		return cmp.Or(cmp.Compare(len(a.fqdn.Labels()), len(b.fqdn.Labels())), cmpKeys(a.obj.Key, b.obj.Key))
	})
	for _, z := range order {
		w.resolveZone(z, z == first && delegationsChanged)
	}
}

func cmpKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// renamed returns a zone and all whose names hang on its name, each after the one it hangs on.
func (w *work) renamed(first *zoneState) []*zoneState {
	out := []*zoneState{first}
	seen := map[*zoneState]bool{first: true}
	for i := 0; i < len(out); i++ {
		r := w.m.referrers[out[i].obj.Key]
		if r == nil {
			continue
		}
		for _, key := range slices.SortedFunc(maps.Keys(r.zones), cmpKeys) {
			if z := r.zones[key]; !seen[z] {
				seen[z] = true
				out = append(out, z)
			}
		}
	}
	return out
}

// concern adds all zones at a name and below it.
func (w *work) concern(to map[*zoneState]struct{}, name dnsname.Name) {
	if name.IsZero() {
		return
	}
	for _, zones := range w.m.zonesAt.atOrBelow(name) {
		for _, z := range zones {
			to[z] = struct{}{}
		}
	}
}

// unname takes a zone's name from it.
func (w *work) unname(z *zoneState) {
	left := slices.DeleteFunc(slices.Clone(w.m.zonesAt.get(z.fqdn)), func(o *zoneState) bool { return o == z })
	switch {
	case z.fqdn.IsZero():
	case len(left) == 0:
		w.m.zonesAt.remove(z.fqdn)
	default:
		w.m.zonesAt.set(z.fqdn, left)
	}
	z.fqdn, z.nameProblem = dnsname.Name{}, nil
}

// name finds out the name of a zone that has none. A zone that is gone gets none.
func (w *work) name(z *zoneState, before dnsname.Name) {
	if w.m.zones[z.obj.Key] == z {
		z.fqdn, z.nameProblem = w.m.nameOfZone(z.obj)
	}
	w.file(z, z.fqdn)
	if before != z.fqdn {
		w.resolveReferring(z)
	}
}

// file puts a zone among those of its name, the one that has the name first.
func (w *work) file(z *zoneState, name dnsname.Name) {
	if name.IsZero() {
		return
	}
	zones := slices.Clone(w.m.zonesAt.get(name))
	at, _ := slices.BinarySearchFunc(zones, z, func(a, b *zoneState) int {
		if a.obj.precedes(b.obj.Object) {
			return -1
		}
		return 1
	})
	w.m.zonesAt.set(name, slices.Insert(zones, at, z))
}

// resolveReferring has every record resolved anew that names a zone.
func (w *work) resolveReferring(z *zoneState) {
	if r := w.m.referrers[z.obj.Key]; r != nil {
		for _, rec := range r.records {
			w.resolve[rec] = struct{}{}
		}
	}
}

// nameOfZone finds out the whole name of a zone, or says why it has none.
func (m *Model) nameOfZone(obj ZoneObject) (dnsname.Name, *Problem) {
	if obj.ZoneRef == nil {
		name, err := dnsname.Parse(obj.DomainName)
		return name, nameProblem(err, obj.DomainName)
	}
	parent := m.zones[*obj.ZoneRef]
	if parent == nil || parent.fqdn.IsZero() {
		return dnsname.Name{}, m.unnamedParent(*obj.ZoneRef, parent != nil)
	}
	relative, err := dnsname.ParseRelative(obj.DomainName)
	if err != nil {
		return dnsname.Name{}, nameProblem(err, obj.DomainName)
	}
	name, err := dnsname.Join(relative, parent.fqdn)
	return name, nameProblem(err, obj.DomainName)
}

// Fields of the specs that problems speak of.
const (
	fieldDomainName = "domainName"
	fieldZoneRef    = "zoneRef"
	fieldType       = "type"
	fieldRData      = "rdata"
	fieldTTL        = "ttl"
)

func nameProblem(err error, text string) *Problem {
	if err == nil {
		return nil
	}
	rule := rules.NameCharacter
	var named *dnsname.Error
	if errors.As(err, &named) {
		if known, ok := rules.Lookup(string(named.Reason)); ok {
			rule = known
		}
	}
	return &Problem{Rule: rule, Field: fieldDomainName, Value: text, Detail: err.Error()}
}

// unnamedParent says that the zone which a zoneRef names is not there, or has no name yet.
func (m *Model) unnamedParent(ref Key, known bool) *Problem {
	p := &Problem{Rule: rules.ZoneAbsent, Field: fieldZoneRef, Value: ref.Name, Rests: []Rest{{KindZone, ref}},
		Detail: "there is no such Zone yet: this object waits for it"}
	if known {
		p.Detail = "that Zone has no whole name yet: this object waits for it"
	}
	return p
}

// resolveZone finds out what becomes of a zone whose name is known, or is known not to be.
func (w *work) resolveZone(z *zoneState, delegationsChanged bool) {
	before, parentBefore, nameBefore := z.verdict, z.parent, publishedAs(z)
	verdict, parent := ZoneVerdict{}, (*zoneState)(nil)
	if w.m.zones[z.obj.Key] == z {
		var problem *Problem
		verdict, parent, problem = w.m.judgeZone(z.obj, z.fqdn, z.nameProblem)
		if problem != nil {
			verdict.Message = problem.Detail
		}
	}
	z.verdict, z.parent = verdict, parent
	if parent != nil {
		z.verdict.Parent = parent.obj.Key
	}
	if z.verdict != before {
		w.zonesChanged[z.obj.Key] = struct{}{}
	}
	if parentBefore != parent || contentOf(parent) != z.copiedTo || nameBefore != z.fqdn || !verdict.Published() {
		w.withdraw(z, parentBefore)
		w.copyUp[z] = struct{}{}
	}
	w.setPublished(z, nameBefore, delegationsChanged || parentBefore != parent)
}

// publishedAs returns the name that a zone's content was made for.
func publishedAs(z *zoneState) dnsname.Name {
	if z.content == nil {
		return dnsname.Name{}
	}
	return z.content.origin
}

// setPublished begins or ends the content of a zone, and has all records resolved anew that this concerns.
func (w *work) setPublished(z *zoneState, nameBefore dnsname.Name, admitsOthers bool) {
	nameNow := dnsname.Name{}
	if z.verdict.Published() {
		nameNow = z.fqdn
	}
	if nameBefore == nameNow {
		if admitsOthers {
			w.resolveBelow(nameNow)
			w.resolveReferring(z)
		}
		return
	}
	z.content = nil
	if !nameNow.IsZero() {
		z.content = newContent(nameNow)
		w.settle[spot{z, nameNow}] = struct{}{}
		w.settleBelow(z, nameNow)
	}
	w.resolveBelow(nameBefore)
	w.resolveBelow(nameNow)
	w.resolveReferring(z)
}

// resolveBelow has every record at a name and below it resolved anew.
func (w *work) resolveBelow(name dnsname.Name) {
	if name.IsZero() {
		return
	}
	for _, records := range w.m.recordsAt.atOrBelow(name) {
		for _, r := range records {
			w.resolve[r] = struct{}{}
		}
	}
}

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
