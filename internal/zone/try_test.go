package zone

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// TestTryForetells: what the gate says of a new object is what the controllers make of it, and an object that the gate admits takes
// nothing from those that are there.
func TestTryForetells(t *testing.T) {
	worlds := 250
	if testing.Short() {
		worlds = 20
	}
	seen := map[string]int{}
	for seed := range worlds {
		w, m := newWorld(uint64(seed)), NewModel()
		for range 80 {
			w.step(m)
		}
		for range 20 {
			foretellRecord(t, w, m, seen)
			foretellZone(t, w, m, seen)
		}
	}
	for _, rule := range []*rules.Rule{rules.CNAMEAlone, rules.CNAMEAtApex, rules.CNAMESingle, rules.CNAMELoop, rules.RRsetTaken, rules.RecordDuplicate,
		rules.TTLDiffers, rules.DNAMESingle, rules.RecordOccluded, rules.RecordNotDelegated, rules.ZoneAbsent, rules.ZoneTaken, rules.ZoneNotDelegated, rules.ZoneRefCycle, rules.ZoneTakesNames, rules.ZoneDropsNames,
		rules.TargetAbsent, rules.TargetAlias, rules.GlueAbsent, rules.ApexNSAbsent} {
		if seen[rule.ID] == 0 {
			t.Errorf("no world broke the rule %s", rule.ID)
		}
	}
	t.Log(seen)
}

// later is after everything else in a world.
var later = time.Unix(1_000_000, 0).UTC()

func foretellRecord(t *testing.T, w *world, m *Model, seen map[string]int) {
	t.Helper()
	r := w.record()
	if _, known := w.records[r.Key]; known {
		return
	}
	r.Created, r.Ready = later, false
	before := pictureOf(m)
	verdict, problems := m.TryRecord(r)
	if diff := cmp.Diff(before, pictureOf(m), byValue); diff != "" {
		t.Fatalf("a try changes the model:\n%s", diff)
	}
	denied := denies(problems, seen)
	m.SetRecord(r)
	after := pictureOf(m)
	got := after.Records[r.Key.String()]
	m.RemoveRecord(r.Key, "")
	if denied && got.Published() {
		t.Fatalf("the gate refuses %+v for %+v, and the controller publishes it", r, problems)
	}
	if !denied && verdict.Published() && !got.Published() {
		t.Fatalf("the gate admits %+v with %+v, and the controller says %+v", r, problems, got)
	}
	if denied || !verdict.Published() {
		return
	}
	for key, v := range before.Records {
		if v.Published() && !after.Records[key].Published() {
			t.Fatalf("%+v takes %s away, which was %+v and is %+v", r, key, v, after.Records[key])
		}
	}
}

func foretellZone(t *testing.T, w *world, m *Model, seen map[string]int) {
	t.Helper()
	z := w.zone()
	if _, known := w.zones[z.Key]; known {
		return
	}
	z.Created, z.Ready = later, false
	before := pictureOf(m)
	verdict, problems := m.TryZone(z)
	denied := denies(problems, seen)
	m.SetZone(z)
	after := pictureOf(m)
	got := after.Zones[z.Key.String()]
	m.RemoveZone(z.Key, "")
	if denied && got.Published() && !w.takesNames(problems) {
		t.Fatalf("the gate refuses the zone %+v for %+v, and the controller publishes it", z, problems)
	}
	if !denied && (verdict.Published() != got.Published() || verdict.FQDN != got.FQDN || verdict.Parent != got.Parent) {
		t.Fatalf("the gate foretells %+v of the zone %+v, and the controller says %+v", verdict, z, got)
	}
	if !denied && !wakesAnother(before, after, z.Key.String()) {
		takesNothing(t, m, z, before, after)
	}
	if diff := cmp.Diff(before, pictureOf(m), byValue); diff != "" {
		t.Fatalf("a zone that came and went leaves something behind:\n%s", diff)
	}
}

func denies(problems []Problem, seen map[string]int) bool {
	denied := false
	for _, p := range problems {
		seen[p.Rule.ID]++
		denied = denied || p.Rule.Severity == rules.Deny
	}
	return denied
}

// takesNothing holds that what other namespaces had before a zone came they have after it.
func takesNothing(t *testing.T, m *Model, z ZoneObject, before, after picture) {
	t.Helper()
	for key, v := range before.Zones {
		if now := after.Zones[key]; v.Published() && !now.Published() && m.zones[keyOf(key)].obj.Namespace != z.Namespace {
			t.Fatalf("the zone %+v takes %s away, which was %+v and is %+v", z, key, v, now)
		}
	}
	for key, v := range before.Records {
		now := after.Records[key]
		if v.Published() && (now.Parent == Key{}) && m.records[keyOf(key)].obj.Namespace != z.Namespace && !after.hasBetween(v.FQDN, after.Zones[z.Key.String()].FQDN) {
			t.Fatalf("the zone %+v takes the record %s away, which was %+v and is %+v", z, key, v, now)
		}
	}
}

// wakesAnother says whether another zone is published because this one came, for which it has waited. It may be older than those that
// suffer by it.
func wakesAnother(before, after picture, key string) bool {
	for other, v := range after.Zones {
		if other != key && v.Published() && !before.Zones[other].Published() {
			return true
		}
	}
	return false
}

// takesNames says whether a zone is refused for what it would take from others, which the controllers cannot know.
func (w *world) takesNames(problems []Problem) bool {
	return len(problems) > 0 && problems[0].Rule == rules.ZoneTakesNames
}

func keyOf(text string) Key {
	namespace, name, _ := strings.Cut(text, "/")
	return Key{Namespace: namespace, Name: name}
}

// hasBetween says whether a zone lies between a name and the origin of a zone above it: it is then that zone which decides.
func (p picture) hasBetween(name, origin dnsname.Name) bool {
	for _, z := range p.Zones {
		if z.Published() && name.IsAtOrBelow(z.FQDN) && z.FQDN != origin && z.FQDN.IsAtOrBelow(origin) {
			return true
		}
	}
	return false
}
