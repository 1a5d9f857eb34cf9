package namegate

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/namegate/namegate/internal/zone"
)

// book holds the Zones and ZoneSlices of a watch, and finds what is to be served. It is safe for concurrent use.
type book struct {
	mu     sync.Mutex
	zones  map[types.NamespacedName]*announced
	shards map[types.NamespacedName]*shard
	// byOrigin has the published Zones of each name, by UID.
	byOrigin map[string]map[types.UID]*announced
}

func newBook() *book {
	return &book{
		zones:    map[types.NamespacedName]*announced{},
		shards:   map[types.NamespacedName]*shard{},
		byOrigin: map[string]map[types.UID]*announced{},
	}
}

// touched collects the names of zones for which something changed.
type touched map[string]struct{}

func (t touched) add(origin string) {
	if origin != "" {
		t[origin] = struct{}{}
	}
}

// setZone takes a Zone in. What is older than what is there already is left out, however late it comes: an object whose resourceVersion
// is lower, and a serial that is.
func (b *book) setZone(a *announced) touched {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := touched{}
	if old := b.zones[a.key]; old == nil || old.version <= a.version {
		b.putZone(a, out)
	}
	return out
}

func (b *book) putZone(a *announced, out touched) {
	old := b.zones[a.key]
	if old != nil && old.uid == a.uid && old.serial != 0 && zone.SerialLess(a.serial, old.serial) {
		refuse(a, reasonOlder, fmt.Errorf("the serial %d is older than %d, which was announced before", a.serial, old.serial))
		return
	}
	b.dropZone(old, out)
	b.zones[a.key] = a
	if !a.published() {
		return
	}
	if b.byOrigin[a.origin] == nil {
		b.byOrigin[a.origin] = map[types.UID]*announced{}
	}
	b.byOrigin[a.origin][a.uid] = a
	out.add(a.origin)
}

func (b *book) dropZone(a *announced, out touched) {
	if a == nil {
		return
	}
	delete(b.zones, a.key)
	if !a.published() {
		return
	}
	delete(b.byOrigin[a.origin], a.uid)
	if len(b.byOrigin[a.origin]) == 0 {
		delete(b.byOrigin, a.origin)
	}
	out.add(a.origin)
}

// removeZone forgets a Zone that was deleted.
func (b *book) removeZone(key types.NamespacedName, uid types.UID) touched {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := touched{}
	if a := b.zones[key]; a != nil && a.uid == uid {
		b.dropZone(a, out)
	}
	return out
}

// replaceZones takes in all the Zones that a namespace has (all namespaces, where it is empty).
func (b *book) replaceZones(namespace string, all []*announced) touched {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := touched{}
	have := make(map[types.NamespacedName]types.UID, len(all))
	for _, a := range all {
		have[a.key] = a.uid
		b.putZone(a, out)
	}
	for key, a := range b.zones {
		if isOf(key, namespace) && have[key] != a.uid {
			b.dropZone(a, out)
		}
	}
	return out
}

func isOf(key types.NamespacedName, namespace string) bool {
	return namespace == "" || key.Namespace == namespace
}

// setShard takes a ZoneSlice in.
func (b *book) setShard(s *shard) touched {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := touched{}
	b.putShard(s, out)
	return out
}

func (b *book) putShard(s *shard, out touched) {
	b.shards[s.key] = s
	if a := b.zones[types.NamespacedName{Namespace: s.key.Namespace, Name: s.zone}]; a != nil && slices.Contains(a.digests, s.digest) {
		out.add(a.origin)
	}
}

// removeShard forgets a ZoneSlice. What is served stays.
func (b *book) removeShard(key types.NamespacedName, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.shards[key]; s != nil && s.uid == uid {
		delete(b.shards, key)
	}
}

// shardOf returns the ZoneSlice that is there already, so that it need not be parsed once more: its content is that
// of its digest.
func (b *book) shardOf(key types.NamespacedName, uid types.UID, digest string) *shard {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.shards[key]; s != nil && s.uid == uid && s.digest == digest && s.err == nil {
		return s
	}
	return nil
}

// replaceShards takes in all the ZoneSlices that a namespace has (all namespaces, where it is empty).
func (b *book) replaceShards(namespace string, all []*shard) touched {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := touched{}
	have := make(map[types.NamespacedName]struct{}, len(all))
	for _, s := range all {
		have[s.key] = struct{}{}
		b.putShard(s, out)
	}
	for key := range b.shards {
		if _, there := have[key]; !there && isOf(key, namespace) {
			delete(b.shards, key)
		}
	}
	return out
}

// origins lists the names of all zones that are published.
func (b *book) origins() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.byOrigin))
}

// plan is what is to be served for a name.
type plan struct {
	// chosen is the Zone that is served; nil: none.
	chosen *announced
	// claimants are the UIDs of all Zones with the name.
	claimants []types.UID
	// shards of the chosen Zone, in the order of their IDs.
	shards []*shard
	// missing is how many of them are not here yet.
	missing int
	// err says why it cannot be served.
	err error
}

// plan finds what is to be served for a name.
func (b *book) plan(origin string) plan {
	b.mu.Lock()
	defer b.mu.Unlock()
	var p plan
	for uid, a := range b.byOrigin[origin] {
		p.claimants = append(p.claimants, uid)
		if p.chosen == nil || a.before(p.chosen) {
			p.chosen = a
		}
	}
	if p.chosen == nil {
		return p
	}
	p.err = p.chosen.err
	for _, digest := range p.chosen.digests {
		b.planShard(&p, digest)
	}
	return p
}

func (b *book) planShard(p *plan, digest string) {
	owner := p.chosen.key
	s := b.shards[types.NamespacedName{Namespace: owner.Namespace, Name: zone.SliceName(owner.Name, digest)}]
	switch {
	case s == nil || s.zone != owner.Name || s.digest != digest:
		p.missing++
	case s.err != nil:
		p.err = sliceError(s)
	default:
		p.shards = append(p.shards, s)
	}
}
