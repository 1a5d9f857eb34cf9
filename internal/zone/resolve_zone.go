package zone

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/namegate/namegate/internal/dnsname"
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
