package memory

import (
	"cmp"
	"maps"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/record"
)

// tree holds the RRsets by owner, and every name between an owner and the root. Names are lower-case FQDNs in presentation
// form, as dns.CanonicalName makes them.
type tree struct {
	nodes map[string]*node
	// zones holds the apexes: how many records have the name as their domain, or one for a configured zone.
	zones map[string]int
	// derive is set where the domain of each record is a zone.
	derive bool
	// serial of every zone's SOA. It grows with every change.
	serial uint32
	// count of RRsets.
	count int
}

// node is one name. It exists while it or a name below it owns an RRset; one without RRsets is an empty non-terminal (RFC 4592
// section 2.2.2).
type node struct {
	sets map[uint16]entry
	// holders is how many RRsets are at or below the name.
	holders int
}

// entry is one RRset, with its resource records ready to be sent. They are shared by all answers and never changed.
type entry struct {
	set *record.RRset
	rrs []dns.RR
}

func newTree(zones []string, serial uint32) *tree {
	t := &tree{nodes: map[string]*node{}, zones: map[string]int{}, derive: len(zones) == 0, serial: serial}
	for _, apex := range zones {
		t.zones[apex] = 1
	}
	return t
}

// find returns the RRset at exactly this owner, or nil.
func (t *tree) find(id backend.ID) *record.RRset {
	if n := t.nodes[id.Owner.FQDN()]; n != nil {
		return n.sets[id.Type.Code()].set
	}
	return nil
}

// conflicts says whether the RRset cannot stand beside what its owner has already: a CNAME stands alone (RFC 1034 section 3.6.2),
// and not where the SOA of a configured zone is.
func (t *tree) conflicts(set *record.RRset) bool {
	owner := set.Owner.FQDN()
	if set.Type == record.CNAME && !t.derive && t.zones[owner] > 0 {
		return true
	}
	n := t.nodes[owner]
	if n == nil {
		return false
	}
	for code := range n.sets {
		if code != set.Type.Code() && (set.Type == record.CNAME || code == dns.TypeCNAME) {
			return true
		}
	}
	return false
}

// put adds an RRset or replaces the one of its type at its owner.
func (t *tree) put(set *record.RRset) {
	if old := t.find(backend.IDOf(set)); old != nil {
		t.remove(old)
	}
	for name := range upwards(set.Owner.FQDN()) {
		n := t.nodes[name]
		if n == nil {
			n = &node{}
			t.nodes[name] = n
		}
		n.holders++
	}
	n := t.nodes[set.Owner.FQDN()]
	if n.sets == nil {
		n.sets = map[uint16]entry{}
	}
	n.sets[set.Type.Code()] = entry{set: set, rrs: set.RRs()}
	t.count++
	if t.derive {
		t.zones[set.Domain.FQDN()]++
	}
}

// remove takes out an RRset that is in the tree.
func (t *tree) remove(set *record.RRset) {
	owner := set.Owner.FQDN()
	delete(t.nodes[owner].sets, set.Type.Code())
	for name := range upwards(owner) {
		if n := t.nodes[name]; n.holders > 1 {
			n.holders--
		} else {
			delete(t.nodes, name)
		}
	}
	t.count--
	if !t.derive {
		return
	}
	if apex := set.Domain.FQDN(); t.zones[apex] > 1 {
		t.zones[apex]--
	} else {
		delete(t.zones, apex)
	}
}

// all returns every RRset, in no order.
func (t *tree) all() []*record.RRset {
	sets := make([]*record.RRset, 0, t.count)
	for n := range maps.Values(t.nodes) {
		for e := range maps.Values(n.sets) {
			sets = append(sets, e.set)
		}
	}
	return sets
}

// compare orders RRsets by owner and type.
func compare(a, b *record.RRset) int {
	return cmp.Or(cmp.Compare(a.Owner.String(), b.Owner.String()), cmp.Compare(a.Type, b.Type))
}

// upwards yields a name and all its ancestors but the root.
func upwards(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name != "." {
			if !yield(name) {
				return
			}
			name = parent(name)
		}
	}
}

// parent returns a name without its leftmost label. A dot within a label is escaped, and no separator.
func parent(name string) string {
	next, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[next:]
}
