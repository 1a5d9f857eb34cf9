package zone

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// world is a small universe in which names, zones and records meet often.
type world struct {
	rng     *rand.Rand
	version int
	zones   map[Key]ZoneObject
	records map[Key]RecordObject
}

func newWorld(seed uint64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 1)), zones: map[Key]ZoneObject{}, records: map[Key]RecordObject{}}
}

func pick[T any](w *world, of ...T) T { return of[w.rng.IntN(len(of))] }

func (w *world) object(kind string, n int) Object {
	w.version++
	key := Key{Namespace: pick(w, "one", "two"), Name: fmt.Sprintf("%s-%d", kind, w.rng.IntN(n))}
	created := time.Unix(int64(1000+w.rng.IntN(5)), 0).UTC()
	return Object{Key: key, UID: types.UID(fmt.Sprint(key, created.Unix())), Version: fmt.Sprint(w.version), Created: created, Ready: w.rng.IntN(4) == 0}
}

func (w *world) name() string {
	return pick(w, "", "a.", "b.", "a.a.", "b.a.", "c.b.a.", "ns.a.", "ns.b.a.", "*.b.") + pick(w, "test.", "z.test.", "other.")
}

func (w *world) ref() *Key {
	return &Key{Namespace: pick(w, "one", "two"), Name: fmt.Sprintf("zone-%d", w.rng.IntN(6))}
}

func (w *world) delegations() Delegations {
	specs := []zonev1alpha1.Delegation{}
	for range w.rng.IntN(3) + 1 {
		d := zonev1alpha1.Delegation{}
		if w.rng.IntN(2) == 0 {
			d.Namespaces = []string{pick(w, "one", "two")}
		}
		if w.rng.IntN(3) > 0 {
			d.Zones = []string{pick(w, "*", "a", "*.a")}
		}
		d.Records = []zonev1alpha1.RecordDelegation{{Pattern: pick(w, "*", "*", "@", "*.a", "a")}}
		if w.rng.IntN(3) == 0 {
			d.Records[0].Types = []string{"A", "NS"}
		}
		specs = append(specs, d, zonev1alpha1.Delegation{Records: []zonev1alpha1.RecordDelegation{{Pattern: "@"}}})
	}
	return CompileDelegations(specs)
}

func (w *world) zone() ZoneObject {
	z := ZoneObject{Object: w.object("zone", 6), Delegations: w.delegations(),
		SOA: SOA{TTL: uint32(pick(w, 60, 300)), Refresh: 10, Retry: 5, Expire: 100, Minimum: 3}}
	if old, known := w.zones[z.Key]; known && w.rng.IntN(3) > 0 {
		z.DomainName, z.ZoneRef, z.UID, z.Created = old.DomainName, old.ZoneRef, old.UID, old.Created
		return z
	}
	z.DomainName = pick(w, "test.", "a.test.", "b.a.test.", "z.test.", "other.")
	if w.rng.IntN(3) == 0 {
		z.DomainName, z.ZoneRef = pick(w, "a", "b.a", "z"), w.ref()
	}
	return z
}

func (w *world) record() RecordObject {
	r := RecordObject{Object: w.object("record", 30), Type: pick(w, record.A, record.A, record.CNAME, record.NS, record.TXT, typeDNAME, typeDS)}
	r.DomainName = w.name()
	if w.rng.IntN(3) == 0 {
		r.DomainName, r.ZoneRef = pick(w, "@", "a", "b.a", "ns.a", "*.b"), w.ref()
	}
	if w.rng.IntN(3) == 0 {
		r.TTL = new(uint32(pick(w, 60, 90)))
	}
	switch r.Type {
	case record.A:
		r.RData = fmt.Sprintf("192.0.2.%d", w.rng.IntN(3))
	case record.TXT:
		r.RData = fmt.Sprintf(`"%d"`, w.rng.IntN(3))
	case typeDS:
		r.RData = "1 8 2 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF"
	default:
		r.RData = w.name()
		if r.RData[0] == '*' {
			r.RData = r.RData[2:]
		}
	}
	return r
}

// step changes one thing, and tells the model.
func (w *world) step(m *Model) {
	switch n := w.rng.IntN(20); {
	case n < 4:
		z := w.zone()
		w.zones[z.Key] = z
		m.SetZone(z)
	case n < 16:
		r := w.record()
		w.records[r.Key] = r
		m.SetRecord(r)
	case n < 17:
		if key, ok := anyKey(w, w.zones); ok {
			uid := w.zones[key].UID
			delete(w.zones, key)
			m.RemoveZone(key, uid)
		}
	default:
		if key, ok := anyKey(w, w.records); ok {
			delete(w.records, key)
			m.RemoveRecord(key, "")
		}
	}
}

// anyKey picks one of the objects, the same for the same seed.
func anyKey[T any](w *world, of map[Key]T) (Key, bool) {
	keys := slices.SortedFunc(maps.Keys(of), cmpKeys)
	if len(keys) == 0 {
		return Key{}, false
	}
	return pick(w, keys...), true
}

// anew builds a model of what is there now, in an order of its own.
func (w *world) anew() *Model {
	m := NewModel()
	var feed []func()
	for _, key := range slices.SortedFunc(maps.Keys(w.zones), cmpKeys) {
		z := w.zones[key]
		feed = append(feed, func() { m.SetZone(z) })
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.records), cmpKeys) {
		r := w.records[key]
		feed = append(feed, func() { m.SetRecord(r) })
	}
	w.rng.Shuffle(len(feed), func(i, j int) { feed[i], feed[j] = feed[j], feed[i] })
	for _, f := range feed {
		f()
	}
	return m
}

// picture is everything that a model says.
type picture struct {
	Zones    map[string]ZoneVerdict
	Records  map[string]RecordVerdict
	Contents map[string]Content
	Entries  map[string][]Entry
}

func pictureOf(m *Model) picture {
	p := picture{map[string]ZoneVerdict{}, map[string]RecordVerdict{}, map[string]Content{}, map[string][]Entry{}}
	for key := range m.zones {
		p.Zones[key.String()], _ = m.Zone(key)
		if c, ok := m.Content(key); ok {
			p.Contents[key.String()] = c
			for shard := range m.zones[key].content.shards.All {
				p.Entries[key.String()] = append(p.Entries[key.String()], shard.Entries...)
			}
			slices.SortFunc(p.Entries[key.String()], Compare)
		}
	}
	for key := range m.records {
		p.Records[key.String()], _ = m.Record(key)
	}
	return p
}

// byValue compares names with ==.
var byValue = cmp.Comparer(func(a, b dnsname.Name) bool { return a == b })

// TestModelFollowsFromObjects: whatever happened on the way, a model says what one says that is made of the same objects in another order.
func TestModelFollowsFromObjects(t *testing.T) {
	worlds, steps := 80, 120
	if testing.Short() {
		worlds = 20
	}
	reasons := map[string]int{}
	for seed := range worlds {
		w, m := newWorld(uint64(seed)), NewModel()
		for step := range steps {
			w.step(m)
			if step%10 != 9 {
				continue
			}
			got, want := pictureOf(m), pictureOf(w.anew())
			if diff := cmp.Diff(want, got, byValue); diff != "" {
				t.Fatalf("seed %d, after step %d: the model differs from one that is made anew (-anew +model):\n%s\nrecords: %+v\nzones: %+v", seed, step, diff, w.records, w.zones)
			}
			checkPicture(t, got)
			for _, v := range got.Records {
				reasons[v.Reason]++
			}
			for _, v := range got.Zones {
				reasons["zone "+v.Reason]++
			}
		}
	}
	for _, reason := range []string{adopted, zonev1alpha1.ReasonZoneNotFound, zonev1alpha1.ReasonNotDelegated, zonev1alpha1.ReasonNameConflict,
		zonev1alpha1.ReasonQuarantined, "zone " + published, "zone " + zonev1alpha1.ReasonNameConflict, "zone " + zonev1alpha1.ReasonNotDelegated,
		"zone " + zonev1alpha1.ReasonZoneNotFound} {
		if reasons[reason] == 0 {
			t.Errorf("no world had a verdict %s", reason)
		}
	}
	t.Log(reasons)
}

// checkPicture holds what is true of every content: no name both a CNAME and something else, no record twice, one TTL for an RRset.
func checkPicture(t *testing.T, p picture) {
	t.Helper()
	for key, entries := range p.Entries {
		ttl, byName := map[string]uint32{}, map[string][]Entry{}
		for i, e := range entries {
			set := e.Name.String() + " " + string(e.Type)
			if had, known := ttl[set]; known && had != e.TTL {
				t.Fatalf("zone %s has two TTLs for %s", key, set)
			}
			ttl[set] = e.TTL
			byName[e.Name.String()] = append(byName[e.Name.String()], e)
			if i > 0 && e == entries[i-1] {
				t.Fatalf("zone %s has %v twice", key, e)
			}
			if !e.Name.IsAtOrBelow(p.Contents[key].Origin) {
				t.Fatalf("zone %s has %v, which lies outside", key, e)
			}
		}
		for name, at := range byName {
			if hasCNAME(at) && len(at) > 1 {
				t.Fatalf("zone %s has a CNAME beside other records at %s: %v", key, name, at)
			}
		}
	}
}
