package claims

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/namegate/namegate/internal/dnsname"
)

// Store holds every claim that is known. A look-up costs the same however many claims there are. It is safe for
// concurrent use.
type Store struct {
	mu sync.RWMutex
	// byName finds the claims at one name: a handful at the most.
	byName map[key][]Claim
	// byOwner finds what one object claims.
	byOwner map[Owner][]Claim
	// below is a tree of labels for each plane, from the root down, for questions about a whole subtree.
	below map[Plane]*node
	// held remembers who holds from before its status says so, against events that are older than that.
	held map[types.UID]struct{}
	// freed is told which object may take over a name.
	freed []func(Owner)
}

type key struct {
	plane Plane
	name  dnsname.Name
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{byName: map[key][]Claim{}, byOwner: map[Owner][]Claim{}, below: map[Plane]*node{}, held: map[types.UID]struct{}{}}
}

// OnFreed registers a function that is called, outside of any lock, with each object whose rival has let go of a name.
// It must not block. Register before the store is fed.
func (s *Store) OnFreed(f func(Owner)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed = append(s.freed, f)
}

// Set makes these the claims of the owner, in the place of what it claimed before.
func (s *Store) Set(owner Owner, claims ...Claim) {
	s.mu.Lock()
	rivals := s.replace(owner, claims)
	tell := s.freed
	s.mu.Unlock()
	notify(tell, rivals)
}

// Remove drops all claims of an owner that is gone.
func (s *Store) Remove(owner Owner) { s.Set(owner) }

// Len is the number of claims.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := 0
	for _, claims := range s.byOwner {
		n += len(claims)
	}
	return n
}

// Of returns the claims of an owner.
func (s *Store) Of(owner Owner) []Claim {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.byOwner[owner])
}

// Rivals returns the claims of others that conflict with this one.
func (s *Store) Rivals(c Claim) []Claim {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rivals(c)
}

// Acquire takes the name for a claim, or returns the rival that precedes it. Whoever has acquired a name holds it until
// its claim is set anew without it, or removed. Of two that ask at the same time one gets it.
func (s *Store) Acquire(c Claim) (rival Claim, acquired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Holds = c.Holds || s.holds(c.UID)
	for _, other := range s.rivals(c) {
		if Precedes(other, c) {
			return other, false
		}
	}
	c.Holds = true
	s.held[c.UID] = struct{}{}
	own := slices.DeleteFunc(slices.Clone(s.byOwner[c.Owner]), func(o Claim) bool {
		return o.Plane == c.Plane && o.Name == c.Name && o.Type == c.Type
	})
	s.replace(c.Owner, append(own, c))
	return Claim{}, true
}

// Release gives up what Acquire remembered of an object: it has lost the name, and has nothing published.
func (s *Store) Release(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, uid)
}

// Below calls yield with every claim at the name or under it, until yield returns false. The store is locked
// meanwhile: yield must not call it.
func (s *Store) Below(plane Plane, name dnsname.Name, yield func(Claim) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.below[plane].find(name).walk(func(at dnsname.Name) bool {
		for _, c := range s.byName[key{plane, at}] {
			if !yield(c) {
				return false
			}
		}
		return true
	})
}

func (s *Store) rivals(c Claim) []Claim {
	var out []Claim
	for _, other := range s.byName[key{c.Plane, c.Name}] {
		if Conflict(c, other) != nil {
			out = append(out, other)
		}
	}
	return out
}

func (s *Store) holds(uid types.UID) bool {
	_, held := s.held[uid]
	return held
}

// replace swaps an owner's claims and returns those whose rival has gone by it.
func (s *Store) replace(owner Owner, claims []Claim) []Owner {
	before := s.byOwner[owner]
	for i := range claims {
		claims[i].Holds = claims[i].Holds || s.holds(claims[i].UID)
	}
	s.forget(before, claims)
	for _, c := range before {
		s.drop(c)
	}
	if len(claims) == 0 {
		delete(s.byOwner, owner)
	} else {
		s.byOwner[owner] = claims
	}
	for _, c := range claims {
		s.insert(c)
	}
	return s.freedBy(before, claims)
}

// forget drops the memory of objects that claim nothing any more.
func (s *Store) forget(before, after []Claim) {
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a Claim) bool { return a.UID == b.UID }) {
			delete(s.held, b.UID)
		}
	}
}

func (s *Store) freedBy(before, after []Claim) []Owner {
	if len(s.freed) == 0 {
		return nil
	}
	var out []Owner
	for _, b := range before {
		if slices.Contains(after, b) {
			continue
		}
		for _, rival := range s.rivals(b) {
			out = append(out, rival.Owner)
		}
	}
	return out
}

func (s *Store) insert(c Claim) {
	k := key{c.Plane, c.Name}
	if len(s.byName[k]) == 0 {
		if s.below[c.Plane] == nil {
			s.below[c.Plane] = newNode(nil, "")
		}
		s.below[c.Plane].add(c.Name)
	}
	s.byName[k] = append(s.byName[k], c)
}

func (s *Store) drop(c Claim) {
	k := key{c.Plane, c.Name}
	left := slices.DeleteFunc(s.byName[k], func(o Claim) bool { return o.Owner == c.Owner && o.Type == c.Type })
	if len(left) > 0 {
		s.byName[k] = left
		return
	}
	delete(s.byName, k)
	s.below[c.Plane].find(c.Name).remove()
}

func notify(tell []func(Owner), owners []Owner) {
	for _, owner := range owners {
		for _, f := range tell {
			f(owner)
		}
	}
}
