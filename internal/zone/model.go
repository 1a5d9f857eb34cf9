package zone

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Model is the picture of all Zones and Records, kept up to date one event at a time. It decides what becomes of each: the work after an
// event is proportional to what the event changes. What it decides follows from the objects alone, not from the order in which they
// came. It is safe for concurrent use.
type Model struct {
	// partial says that there may be more objects than these.
	partial bool

	mu      sync.RWMutex
	zones   map[Key]*zoneState
	records map[Key]*recordState
	// zonesAt finds the zones that want a name, the one that has it first.
	zonesAt *tree[[]*zoneState]
	// recordsAt finds the records of a name, whoever adopts them.
	recordsAt *tree[[]*recordState]
	// referrers finds what refers to a Zone by its zoneRef, whether that is known or not.
	referrers map[Key]*referrers
	// looping are the records that are left out because their CNAMEs lead back to themselves.
	looping map[*recordState]struct{}
	told    []func(Changes)
}

// zoneState is what is known of a Zone.
type zoneState struct {
	obj ZoneObject
	// fqdn is zero while it is not known; nameProblem says why.
	fqdn        dnsname.Name
	nameProblem *Problem
	verdict     ZoneVerdict
	// parent is the zone that this one is a sub-zone of.
	parent *zoneState
	// content is nil while the zone is not published.
	content *content
	// copied is what the parent holds of this zone: its NS records and the addresses of its name servers.
	copied map[dnsname.Name][]Entry
	// copiedTo is the content of the parent that holds it.
	copiedTo *content
}

// recordState is what is known of a Record.
type recordState struct {
	obj   RecordObject
	rdata record.RData
	// invalid is the first problem of the object itself.
	invalid *Problem
	fqdn    dnsname.Name
	// zone is the one that has adopted the record.
	zone    *zoneState
	verdict RecordVerdict
}

// referrers of one Zone.
type referrers struct {
	zones   map[Key]*zoneState
	records map[Key]*recordState
}

// Changes are the objects that something changed for.
type Changes struct {
	// Zones whose verdict or content has changed.
	Zones []Key
	// Records whose verdict has changed.
	Records []Key
}

// NewModel returns an empty model. What it does not know does not exist.
func NewModel() *Model {
	return &Model{zones: map[Key]*zoneState{}, records: map[Key]*recordState{}, zonesAt: newTree[[]*zoneState](),
		recordsAt: newTree[[]*recordState](), referrers: map[Key]*referrers{}, looping: map[*recordState]struct{}{}}
}

// NewPartialModel returns an empty model that knows some of the objects: it never says that one is absent.
func NewPartialModel() *Model {
	m := NewModel()
	m.partial = true
	return m
}

// OnChange registers a function that is told after each event, outside of the model's lock, which objects it changed something for. It
// must not block. Register before the model is fed.
func (m *Model) OnChange(f func(Changes)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, f)
}

// SetZone takes in a Zone that was added or changed. An older version than the one that is known is ignored.
func (m *Model) SetZone(z ZoneObject) {
	m.change(func(w *work) {
		if old := m.zones[z.Key]; old == nil || !isOlder(z.Version, old.obj.Version) {
			w.setZone(z)
		}
	})
}

// RemoveZone takes out a Zone that is gone, unless another one of its name has taken its place. An empty uid means whichever is there.
func (m *Model) RemoveZone(key Key, uid types.UID) {
	m.change(func(w *work) {
		if old := m.zones[key]; old != nil && (uid == "" || uid == old.obj.UID) {
			w.removeZone(old)
		}
	})
}

// SetRecord takes in a Record that was added or changed. An older version than the one that is known is ignored.
func (m *Model) SetRecord(r RecordObject) {
	m.change(func(w *work) {
		if old := m.records[r.Key]; old == nil || !isOlder(r.Version, old.obj.Version) {
			w.setRecord(r)
		}
	})
}

// RemoveRecord takes out a Record that is gone, unless another one of its name has taken its place. An empty uid means whichever is there.
func (m *Model) RemoveRecord(key Key, uid types.UID) {
	m.change(func(w *work) {
		if old := m.records[key]; old != nil && (uid == "" || uid == old.obj.UID) {
			w.removeRecord(old)
		}
	})
}

// isOlder says whether a version is certainly before another one.
func isOlder(version, than string) bool {
	if version == "" || than == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// Zone returns what becomes of a Zone.
func (m *Model) Zone(key Key) (ZoneVerdict, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if z := m.zones[key]; z != nil {
		return z.verdict, true
	}
	return ZoneVerdict{}, false
}

// Record returns what becomes of a Record.
func (m *Model) Record(key Key) (RecordVerdict, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if r := m.records[key]; r != nil {
		return r.verdict, true
	}
	return RecordVerdict{}, false
}

// ZoneAt returns the published zone of a name.
func (m *Model) ZoneAt(origin dnsname.Name) (Key, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if z := m.authority(origin); z != nil {
		return z.obj.Key, true
	}
	return Key{}, false
}

// authority returns the published zone of exactly this name.
func (m *Model) authority(name dnsname.Name) *zoneState {
	for _, z := range m.zonesAt.get(name) {
		if z.content != nil {
			return z
		}
	}
	return nil
}

// change makes one change and all that follows from it, and then tells who wants to know.
func (m *Model) change(do func(*work)) {
	m.mu.Lock()
	w := newWork(m)
	do(w)
	w.run()
	told := m.told
	m.mu.Unlock()
	changes := w.changes()
	if len(changes.Zones)+len(changes.Records) == 0 {
		return
	}
	for _, tell := range told {
		tell(changes)
	}
}

// work is what one event brings with it.
type work struct {
	m *Model
	// resolve are the records whose zone has to be found anew.
	resolve map[*recordState]struct{}
	// settle are the names whose records have to be put beside one another anew.
	settle map[spot]struct{}
	// copyUp are the sub-zones whose parents may have to hold something else of them.
	copyUp map[*zoneState]struct{}

	zonesChanged, recordsChanged map[Key]struct{}
}

// spot is a name in a zone.
type spot struct {
	zone *zoneState
	name dnsname.Name
}

func newWork(m *Model) *work {
	return &work{m: m, resolve: map[*recordState]struct{}{}, settle: map[spot]struct{}{}, copyUp: map[*zoneState]struct{}{},
		zonesChanged: map[Key]struct{}{}, recordsChanged: map[Key]struct{}{}}
}

// run does what is left to do, until nothing is.
func (w *work) run() {
	for len(w.resolve)+len(w.settle)+len(w.copyUp) > 0 {
		for r := range take(w.resolve) {
			w.resolveRecord(r)
		}
		for s := range take(w.settle) {
			w.settleName(s.zone, s.name)
		}
		if len(w.settle) > 0 {
			continue
		}
		for z := range take(w.copyUp) {
			w.copyUpZone(z)
		}
	}
}

// take empties a set while its members are gone through: more may be added meanwhile.
func take[T comparable](set map[T]struct{}) func(yield func(T) bool) {
	members := slices.Collect(maps.Keys(set))
	clear(set)
	return slices.Values(members)
}

func (w *work) changes() Changes {
	return Changes{Zones: sortedKeys(w.zonesChanged), Records: sortedKeys(w.recordsChanged)}
}

func sortedKeys(set map[Key]struct{}) []Key {
	return slices.SortedFunc(maps.Keys(set), func(a, b Key) int { return strings.Compare(a.String(), b.String()) })
}

// referrersOf returns what refers to a Zone, made if need be.
func (m *Model) referrersOf(zone Key) *referrers {
	if m.referrers[zone] == nil {
		m.referrers[zone] = &referrers{zones: map[Key]*zoneState{}, records: map[Key]*recordState{}}
	}
	return m.referrers[zone]
}

func (m *Model) dropReferrers(zone Key) {
	if r := m.referrers[zone]; r != nil && len(r.zones)+len(r.records) == 0 {
		delete(m.referrers, zone)
	}
}
