package claims

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
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
	// held remembers which names were acquired, from before a status says so, against events that are older than that.
	held map[types.UID][]target
	// freed is told which object may take over a name.
	freed []func(Owner)
}

type key struct {
	plane Plane
	name  dnsname.Name
}

// target is what one object can hold: one RRset on one plane.
type target struct {
	key
	typ record.Type
}

func targetOf(c Claim) target { return target{key{c.Plane, c.Name}, c.Type} }

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{byName: map[key][]Claim{}, byOwner: map[Owner][]Claim{}, below: map[Plane]*node{}, held: map[types.UID][]target{}}
}

// OnFreed registers a function that is called, outside of the store's lock, with each object that may take over a name: a
// rival's claim on it is gone, or ranks lower than before. A DNSFeed calls it under its own lock, so it must neither block nor call the
// feed. Register before the store is fed.
func (s *Store) OnFreed(f func(Owner)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed = append(s.freed, f)
}

// Set makes these the claims of the owner, in the place of what it claimed before.
func (s *Store) Set(owner Owner, claims ...Claim) {
	s.mu.Lock()
	rivals := s.replace(owner, slices.Clone(claims))
	tell := s.freed
	s.mu.Unlock()
	notify(tell, rivals)
}

// Remove drops all claims of an owner that is gone.
func (s *Store) Remove(owner Owner) { s.Set(owner) }

// Forget drops the claims of an object that is known to be gone, unless another object of that name has taken its place.
func (s *Store) Forget(owner Owner, uid types.UID) {
	s.mu.Lock()
	var rivals []Owner
	if had := s.byOwner[owner]; len(had) > 0 && had[0].UID == uid {
		rivals = s.replace(owner, nil)
	}
	tell := s.freed
	s.mu.Unlock()
	notify(tell, rivals)
}

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
	return s.asHeld(s.byOwner[owner])
}

// Rivals returns the claims of others that conflict with this one.
func (s *Store) Rivals(c Claim) []Claim {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rivals(c)
}

// Acquire takes the name for a claim, or returns the rival that precedes it. Whoever has acquired a name holds it until
// its claims are set anew without it, it is released, or the object is gone. Of two that ask at the same time one gets it.
func (s *Store) Acquire(c Claim) (rival Claim, acquired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.withHold(c)
	for _, other := range s.rivals(c) {
		if Precedes(other, asked) {
			return other, false
		}
	}
	own := slices.DeleteFunc(slices.Clone(s.byOwner[c.Owner]), func(o Claim) bool { return targetOf(o) == targetOf(c) })
	s.replace(c.Owner, append(own, c))
	s.hold(c)
	return Claim{}, true
}

// Release gives up what Acquire remembered of an object: it has lost the name, and has nothing published. What its status
// says that it holds is not touched.
func (s *Store) Release(uid types.UID) {
	s.mu.Lock()
	var rivals []Owner
	for _, t := range s.held[uid] {
		for _, c := range s.byName[t.key] {
			if c.UID == uid && c.Type == t.typ && !c.Holds {
				rivals = append(rivals, ownersOf(s.rivals(c))...)
			}
		}
	}
	delete(s.held, uid)
	tell := s.freed
	s.mu.Unlock()
	notify(tell, rivals)
}

// Below calls yield with every claim at the name or under it, until yield returns false. The store is locked
// meanwhile: yield must not call it.
func (s *Store) Below(plane Plane, name dnsname.Name, yield func(Claim) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.below[plane].find(name).walk(func(at dnsname.Name) bool {
		for _, c := range s.byName[key{plane, at}] {
			if !yield(s.withHold(c)) {
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
			out = append(out, s.withHold(other))
		}
	}
	return out
}

// withHold returns a claim as it stands: held if its status says so, or if it was acquired since.
func (s *Store) withHold(c Claim) Claim {
	c.Holds = c.Holds || slices.Contains(s.held[c.UID], targetOf(c))
	return c
}

func (s *Store) asHeld(claims []Claim) []Claim {
	out := slices.Clone(claims)
	for i, c := range out {
		out[i] = s.withHold(c)
	}
	return out
}

func (s *Store) hold(c Claim) {
	if held := s.held[c.UID]; !slices.Contains(held, targetOf(c)) {
		s.held[c.UID] = append(held, targetOf(c))
	}
}

// replace swaps an owner's claims and returns those who may take over a name by it.
func (s *Store) replace(owner Owner, claims []Claim) []Owner {
	before := s.asHeld(s.byOwner[owner])
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
	return s.freedBy(before, s.asHeld(claims))
}

// forget drops the memory of what is claimed no more.
func (s *Store) forget(before, after []Claim) {
	for _, b := range before {
		if slices.ContainsFunc(after, func(a Claim) bool { return a.UID == b.UID && targetOf(a) == targetOf(b) }) {
			continue
		}
		left := slices.DeleteFunc(s.held[b.UID], func(t target) bool { return t == targetOf(b) })
		if len(left) == 0 {
			delete(s.held, b.UID)
			continue
		}
		s.held[b.UID] = left
	}
}

// freedBy returns the rivals of every claim that is gone, or that ranks lower than before.
func (s *Store) freedBy(before, after []Claim) []Owner {
	if len(s.freed) == 0 {
		return nil
	}
	var out []Owner
	for _, b := range before {
		kept := slices.ContainsFunc(after, func(a Claim) bool {
			return targetOf(a) == targetOf(b) && (a.Holds || !b.Holds) && !a.Created.After(b.Created)
		})
		if !kept {
			out = append(out, ownersOf(s.rivals(b))...)
		}
	}
	return out
}

func ownersOf(claims []Claim) []Owner {
	var out []Owner
	for _, c := range claims {
		out = append(out, c.Owner)
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
	root := s.below[c.Plane]
	root.find(c.Name).remove()
	if root.isEmpty() {
		delete(s.below, c.Plane)
	}
}

func notify(tell []func(Owner), owners []Owner) {
	for _, owner := range owners {
		for _, f := range tell {
			f(owner)
		}
	}
}
