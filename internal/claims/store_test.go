package claims_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// target is one RRset on one plane, and hold what one object has acquired.
type target struct {
	plane claims.Plane
	name  dnsname.Name
	typ   record.Type
}

type hold struct {
	uid types.UID
	target
}

func targetOf(c claims.Claim) target { return target{c.Plane, c.Name, c.Type} }

// model is the store as one would write it without a thought of speed: a list of claims and a set of holds.
type model struct {
	claims   []claims.Claim
	acquired map[hold]bool
}

func (m *model) effective(c claims.Claim) claims.Claim {
	c.Holds = c.Holds || m.acquired[hold{c.UID, targetOf(c)}]
	return c
}

func (m *model) all(keep func(claims.Claim) bool) []claims.Claim {
	var out []claims.Claim
	for _, c := range m.claims {
		if keep(c) {
			out = append(out, m.effective(c))
		}
	}
	return out
}

func (m *model) of(owner claims.Owner) []claims.Claim {
	return m.all(func(c claims.Claim) bool { return c.Owner == owner })
}

func (m *model) rivals(c claims.Claim) []claims.Claim {
	return m.all(func(o claims.Claim) bool { return claims.Conflict(c, o) != nil })
}

func (m *model) set(owner claims.Owner, now []claims.Claim) {
	kept := map[hold]bool{}
	for _, c := range now {
		kept[hold{c.UID, targetOf(c)}] = true
	}
	for _, c := range m.of(owner) {
		if h := (hold{c.UID, targetOf(c)}); !kept[h] {
			delete(m.acquired, h)
		}
	}
	m.claims = slices.DeleteFunc(m.claims, func(c claims.Claim) bool { return c.Owner == owner })
	m.claims = append(m.claims, now...)
}

// blockedBy returns who keeps a claim from its name.
func (m *model) blockedBy(c claims.Claim) []claims.Claim {
	return slices.DeleteFunc(m.rivals(c), func(o claims.Claim) bool { return !claims.Precedes(o, m.effective(c)) })
}

func (m *model) acquire(c claims.Claim) bool {
	if len(m.blockedBy(c)) > 0 {
		return false
	}
	own := slices.DeleteFunc(slices.Clone(m.claims), func(o claims.Claim) bool { return o.Owner != c.Owner || targetOf(o) == targetOf(c) })
	m.set(c.Owner, append(own, c))
	m.acquired[hold{c.UID, targetOf(c)}] = true
	return true
}

func (m *model) release(uid types.UID) {
	maps.DeleteFunc(m.acquired, func(h hold, _ bool) bool { return h.uid == uid })
}

// blocked returns the owners of claims that cannot be acquired now.
func (m *model) blocked() map[claims.Owner]bool {
	out := map[claims.Owner]bool{}
	for _, c := range m.claims {
		if len(m.blockedBy(c)) > 0 {
			out[c.Owner] = true
		}
	}
	return out
}

var (
	planes = []claims.Plane{here, there}
	names  = []dnsname.Name{mustName("example.com"), mustName("www.example.com"), mustName("a.www.example.com"), mustName("*.example.com"),
		mustName("notexample.com"), mustName("com")}
	rrtypes = []record.Type{record.A, record.CNAME, record.TXT}
	owners  = []string{"a", "b", "c", "d"}
)

func drawOwner(t *rapid.T) claims.Owner {
	return claims.DNSRecordOwner("default", rapid.SampledFrom(owners).Draw(t, "owner"))
}

// drawUID draws one of the objects that have had a name, one after the other.
func drawUID(t *rapid.T, owner claims.Owner) types.UID {
	return types.UID(fmt.Sprintf("%s-%d", owner.Name, rapid.IntRange(1, 2).Draw(t, "incarnation")))
}

func drawClaimOf(t *rapid.T, owner claims.Owner, uid types.UID) claims.Claim {
	return claims.Claim{Owner: owner, UID: uid, Plane: rapid.SampledFrom(planes).Draw(t, "plane"), Name: rapid.SampledFrom(names).Draw(t, "name"),
		Type: rapid.SampledFrom(rrtypes).Draw(t, "type"), Holds: rapid.IntRange(0, 3).Draw(t, "holds") == 0,
		Created: time.Unix(rapid.Int64Range(1, 3).Draw(t, "created"), 0).UTC()}
}

// TestStoreAgainstModel runs the store beside the model: both answer alike after every step, whoever could not have a name and now can is
// told, and nobody is told who is no rival of what changed.
func TestStoreAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, m := claims.NewStore(), &model{acquired: map[hold]bool{}}
		var told []claims.Owner
		store.OnFreed(func(owner claims.Owner) {
			store.Of(owner) // the store is not locked meanwhile
			told = append(told, owner)
		})
		step := func(t *rapid.T, touched claims.Owner, act func()) {
			told = nil
			blocked, rivals := m.blocked(), rivalsOf(m, touched)
			act()
			after := m.blocked()
			for owner := range blocked {
				if !after[owner] && owner != touched && len(m.of(owner)) > 0 && !slices.Contains(told, owner) {
					t.Fatalf("%v can have its name now and was not told (told: %v)", owner, told)
				}
			}
			for _, owner := range told {
				if !rivals[owner] {
					t.Fatalf("%v was told, and was no rival of %v", owner, touched)
				}
			}
			compare(t, store, m)
		}
		t.Repeat(map[string]func(*rapid.T){
			"Set": func(t *rapid.T) {
				owner := drawOwner(t)
				uid := drawUID(t, owner)
				now := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) claims.Claim { return drawClaimOf(t, owner, uid) }), 0, 3, targetOf).Draw(t, "claims")
				step(t, owner, func() {
					m.set(owner, slices.Clone(now))
					store.Set(owner, now...)
				})
				clear(now) // the store has its own copy
				compare(t, store, m)
			},
			"Remove": func(t *rapid.T) {
				owner := drawOwner(t)
				step(t, owner, func() {
					m.set(owner, nil)
					store.Remove(owner)
				})
			},
			"Acquire": func(t *rapid.T) {
				owner := drawOwner(t)
				c := drawClaimOf(t, owner, drawUID(t, owner))
				step(t, owner, func() {
					blockers := m.blockedBy(c)
					want := m.acquire(c)
					rival, got := store.Acquire(c)
					if got != want || !got && !slices.Contains(blockers, rival) {
						t.Fatalf("Acquire(%v) is %v, %v; want %v, or a rival of %v", c, rival, got, want, blockers)
					}
				})
			},
			"Release": func(t *rapid.T) {
				owner := drawOwner(t)
				uid := drawUID(t, owner)
				step(t, owner, func() {
					m.release(uid)
					store.Release(uid)
				})
			},
		})
	})
}

// rivalsOf returns everybody who conflicts with any claim of an owner.
func rivalsOf(m *model, owner claims.Owner) map[claims.Owner]bool {
	out := map[claims.Owner]bool{}
	for _, c := range m.of(owner) {
		for _, r := range m.rivals(c) {
			out[r.Owner] = true
		}
	}
	return out
}

func sorted(list []claims.Claim) []claims.Claim {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b claims.Claim) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

func compare(t *rapid.T, store *claims.Store, m *model) {
	check := func(what string, got, want []claims.Claim) {
		if diff := gocmp.Diff(sorted(want), sorted(got), byValue); diff != "" {
			t.Fatalf("%s (-model +store)\n%s", what, diff)
		}
	}
	if got, want := store.Len(), len(m.claims); got != want {
		t.Fatalf("Len is %d; want %d", got, want)
	}
	for _, name := range owners {
		owner := claims.DNSRecordOwner("default", name)
		check("Of "+name, store.Of(owner), m.of(owner))
	}
	for _, plane := range planes {
		for _, name := range append(slices.Clone(names), dnsname.Root, mustName("absent.www.example.com")) {
			var below []claims.Claim
			store.Below(plane, name, func(c claims.Claim) bool {
				below = append(below, c)
				return true
			})
			check("Below "+name.String(), below, m.all(func(c claims.Claim) bool { return c.Plane == plane && c.Name.IsAtOrBelow(name) }))
			for _, typ := range rrtypes {
				probe := claims.Claim{Plane: plane, Name: name, Type: typ, Owner: claims.DNSRecordOwner("other", "probe")}
				check("Rivals", store.Rivals(probe), m.rivals(probe))
			}
		}
	}
}

func TestBelowStops(t *testing.T) {
	store := claims.NewStore()
	store.Set(claim("a").Owner, claim("a"), claim("a", typed(record.TXT)), claim("a", named("x.www.example.com")))
	calls := 0
	store.Below(here, mustName("example.com"), func(claims.Claim) bool {
		calls++
		return calls < 2
	})
	if calls != 2 {
		t.Errorf("yield was called %d times after it returned false at the second", calls)
	}
}

// What was acquired on one server is not held on another: a class that moves must not take names from those who have them there.
func TestAcquiredOnOneServerIsNotHeldOnAnother(t *testing.T) {
	store := claims.NewStore()
	if _, ok := store.Acquire(claim("older", created(1))); !ok {
		t.Fatal("a free name is refused")
	}
	store.Set(claim("younger").Owner, claim("younger", on(there), created(2), holds))
	store.Set(claim("older").Owner, claim("older", on(there), created(1)), claim("older", created(1), holds))
	rival, ok := store.Acquire(claim("older", on(there), created(1)))
	if ok || rival.Owner != claim("younger").Owner {
		t.Errorf("the older object took the name from its holder: %v, %v", rival, ok)
	}
}

// An event that is older than what was acquired does not take it back; one of the object's deletion does.
func TestAcquireOutlivesOlderEvents(t *testing.T) {
	store := claims.NewStore()
	if _, ok := store.Acquire(claim("b", created(2))); !ok {
		t.Fatal("a free name is refused")
	}
	store.Set(claim("b").Owner, claim("b", created(2)))
	if rival, ok := store.Acquire(claim("a", created(1))); ok || !rival.Holds {
		t.Errorf("an older event freed an acquired name: %v, %v", rival, ok)
	}
	store.Remove(claim("b").Owner)
	store.Set(claim("b").Owner, claim("b", created(2)))
	if _, ok := store.Acquire(claim("a", created(1))); !ok {
		t.Error("the memory of an object outlives it")
	}
}

// TestFreed: b waits for the name that a has in one way or another, and something happens to a.
func TestFreed(t *testing.T) {
	a := claim("a").Owner
	set := func(list ...claims.Claim) func(*claims.Store) {
		return func(s *claims.Store) { s.Set(a, list...) }
	}
	acquire := func(c claims.Claim) func(*claims.Store) {
		return func(s *claims.Store) { s.Acquire(c) }
	}
	remove := func(s *claims.Store) { s.Remove(a) }
	release := func(s *claims.Store) { s.Release("a") }
	tests := []struct {
		name       string
		given, act func(*claims.Store)
		want       bool
	}{
		{"the holder goes", set(claim("a", holds)), remove, true},
		{"who came before goes", set(claim("a")), remove, true},
		{"it moves to another server", set(claim("a", holds)), set(claim("a", on(there))), true},
		{"its status lets go", set(claim("a", holds)), set(claim("a")), true},
		{"it is deleted and created anew", set(claim("a")), set(claim("a", created(5000))), true},
		{"a CNAME goes", set(claim("a", typed(record.CNAME))), remove, true},
		{"it is released", acquire(claim("a")), release, true},
		{"it says the same again", set(claim("a", holds)), set(claim("a", holds)), false},
		{"it takes hold", set(claim("a")), set(claim("a", holds)), false},
		{"it acquires", set(claim("a")), acquire(claim("a")), false},
		{"it claims more", set(claim("a")), set(claim("a"), claim("a", on(there))), false},
		{"another type goes", set(claim("a", typed(record.TXT))), remove, false},
		{"another name goes", set(claim("a", named("web.example.com"))), remove, false},
		{"it is released and has acquired nothing", set(claim("a")), release, false},
		{"it is released, and its status says that it holds", acquire(claim("a", holds)), release, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := claims.NewStore()
			tt.given(store)
			store.Set(claim("b").Owner, claim("b", created(2000)))
			told := map[claims.Owner]int{}
			for range 2 {
				store.OnFreed(func(owner claims.Owner) { told[owner]++ })
			}
			tt.act(store)
			want := map[claims.Owner]int{}
			if tt.want {
				want[claim("b").Owner] = 2
			}
			if diff := gocmp.Diff(want, told); diff != "" {
				t.Errorf("who was told, by two listeners (-want +got)\n%s", diff)
			}
		})
	}
}

// Of many objects that want one name at the same time exactly one gets it, and the next one only once it has gone.
func TestConcurrentAcquire(t *testing.T) {
	const wanting, rounds = 16, 50
	store := claims.NewStore()
	store.OnFreed(func(owner claims.Owner) { store.Of(owner) })
	for round := range rounds {
		winners := make(chan claims.Claim, wanting)
		var all sync.WaitGroup
		for i := range wanting {
			all.Go(func() {
				c := claim(fmt.Sprintf("%d-%d", round, i), created(int64(wanting-i)))
				store.Set(c.Owner, c)
				store.Rivals(c)
				store.Below(here, mustName("com"), func(claims.Claim) bool { return true })
				if _, ok := store.Acquire(c); ok {
					winners <- c
				}
			})
		}
		all.Wait()
		close(winners)
		var won []claims.Claim
		for c := range winners {
			won = append(won, c)
		}
		holders := 0
		for _, c := range store.Rivals(claim("probe")) {
			if c.Holds {
				holders++
			}
		}
		if len(won) != holders || holders != 1 {
			t.Fatalf("round %d: %d objects were given the name and %d hold it: %v", round, len(won), holders, won)
		}
		for i := range wanting {
			store.Remove(claim(fmt.Sprintf("%d-%d", round, i)).Owner)
		}
		if n := store.Len(); n != 0 {
			t.Fatalf("round %d: %d claims are left of objects that are gone", round, n)
		}
	}
}
