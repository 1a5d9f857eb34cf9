package namegate

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// keeper keeps the versions that are served up to date with a book.
type keeper struct {
	book *book
	// swapped is told of each zone that has a new version. It does not block.
	swapped func(origin string)

	pace *pacer
	// served has the *version of each zone by its name.
	served sync.Map

	mu sync.Mutex
	// refused has what was found wrong, so that it is said once.
	refused map[string]refusal
}

// refusal is what was refused.
type refusal struct {
	chosen *announced
	shards []*shard
}

func newKeeper(b *book, swapped func(origin string)) *keeper {
	k := &keeper{book: b, swapped: swapped, refused: map[string]refusal{}}
	k.pace = newPacer(runtime.GOMAXPROCS(0), k.renew)
	return k
}

// touch has zones looked at again. It does not wait.
func (k *keeper) touch(t touched) {
	for origin := range t {
		k.pace.do(origin)
	}
}

// at returns the version of the zone with exactly this name, or nil.
func (k *keeper) at(origin string) *version {
	v, ok := k.served.Load(origin)
	if !ok {
		return nil
	}
	return v.(*version) //nolint:forcetypeassert // Nothing else is stored.
}

// find returns the version of the zone with the longest name that a name is at or below, or nil. The name is in lower case.
func (k *keeper) find(name string) *version {
	for off, end := 0, false; !end; off, end = dns.NextLabel(name, off) {
		if v := k.at(name[off:]); v != nil {
			return v
		}
	}
	return k.at(".")
}

// all lists the names of the zones that are served.
func (k *keeper) all() []string {
	var out []string
	k.served.Range(func(origin, _ any) bool {
		out = append(out, origin.(string)) //nolint:forcetypeassert // Nothing else is stored.
		return true
	})
	return out
}

// pending lists the zones that are published and not served.
func (k *keeper) pending() []string {
	return slices.DeleteFunc(k.book.origins(), func(origin string) bool { return k.at(origin) != nil })
}

// renew brings what is served for a name to what is to be served. The pacer runs it for one name at most once at a time.
func (k *keeper) renew(origin string) {
	p, old := k.book.plan(origin), k.at(origin)
	switch {
	case p.chosen == nil:
		k.withdraw(old)
	case old != nil && old.from.same(p.chosen):
	case p.err != nil:
		k.refuse(p, p.err)
		k.keep(p, old)
	case p.missing > 0:
		k.keep(p, old)
	default:
		k.renewTo(p, old)
	}
}

func (k *keeper) renewTo(p plan, old *version) {
	start := time.Now()
	v, err := build(p.chosen, p.shards, old, alias{})
	if err != nil {
		k.refuse(p, err)
		k.keep(p, old)
		return
	}
	rebuildSeconds.Observe(time.Since(start).Seconds())
	k.swap(v, old)
}

// swap puts a version in the place of another, at once and as a whole.
func (k *keeper) swap(v, old *version) {
	origin := v.from.origin
	k.served.Store(origin, v)
	k.mu.Lock()
	delete(k.refused, origin)
	k.mu.Unlock()
	if old == nil {
		servedZones.Inc()
		log.Infof("Serving zone %s of Zone %s with serial %d, %d records", origin, v.from.key, v.from.serial, v.records)
	}
	if old != nil && old.from.uid != v.from.uid {
		log.Warningf("Zone %s takes over %s from Zone %s: the serial goes from %d to %d", v.from.key, origin, old.from.key, old.from.serial, v.from.serial)
	}
	serials.set(origin, v.from.serial)
	k.swapped(origin)
}

// keep leaves a version in place while the next one cannot be had, unless its Zone is gone.
func (k *keeper) keep(p plan, old *version) {
	if old != nil && !slices.Contains(p.claimants, old.from.uid) {
		k.withdraw(old)
	}
}

// withdraw serves a zone no longer.
func (k *keeper) withdraw(old *version) {
	if old == nil {
		return
	}
	origin := old.from.origin
	k.served.Delete(origin)
	k.mu.Lock()
	delete(k.refused, origin)
	k.mu.Unlock()
	servedZones.Dec()
	serials.remove(origin)
	log.Infof("Zone %s is served no longer: Zone %s publishes nothing", origin, old.from.key)
}

// refuse says, once, that a version is not served.
func (k *keeper) refuse(p plan, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, before := k.refused[p.chosen.origin]
	if before && last.chosen.same(p.chosen) && slices.Equal(last.shards, p.shards) {
		return
	}
	k.refused[p.chosen.origin] = refusal{chosen: p.chosen, shards: p.shards}
	refuse(p.chosen, reasonInvalid, err)
}

// refuse logs and counts an announcement that is not served.
func refuse(a *announced, reason string, err error) {
	refusedVersions.WithLabelValues(reason).Inc()
	log.Errorf("Zone %s (%s) with serial %d is not served, and what was served before stays: %v", a.key, strings.TrimSuffix(a.origin, "."), a.serial, err)
}

// forget takes what was served out of the metrics.
func (k *keeper) forget() {
	for _, origin := range k.all() {
		servedZones.Dec()
		serials.remove(origin)
	}
}
