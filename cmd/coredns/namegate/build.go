package namegate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coredns/coredns/plugin/file"
	"github.com/coredns/coredns/plugin/file/tree"
	"github.com/miekg/dns"
)

// version is a zone with one serial, as it is served. It is never changed: a change of the zone is another version, which shares with this
// one what did not change.
type version struct {
	from   *announced
	shards []*shard
	zone   *file.Zone
	// names has what each name has, but for SOA and NS of the apex, in the order of the tree.
	names []*tree.Elem
	// wild says that there are wildcards.
	wild bool
	// negative is the SOA of answers that something does not exist, with the time for which that may be remembered (RFC 2308 section 3).
	negative *dns.SOA
	// types of the records, sorted. There may be some of which the last record went.
	types []uint16
	// records is their number, the SOA included.
	records int
}

// build makes a version of a Zone and all of its slices. What it has in common with the version before (nil: there is none) it takes from
// there. It fails as a whole if any record is wrong.
func build(a *announced, shards []*shard, before *version, upstream file.Upstreamer) (*version, error) {
	if before == nil {
		before = &version{}
	}
	v := &version{from: a, shards: shards, negative: negativeSOA(a.soa), records: 1}
	for _, s := range shards {
		v.records += len(s.rrs)
	}
	c, err := compare(a.origin, before, shards)
	if err != nil {
		return nil, err
	}
	v.types = c.types
	if v.names, err = c.merge(before.names); err != nil {
		return nil, err
	}
	v.wild = slices.ContainsFunc(v.names, func(e *tree.Elem) bool { return strings.HasPrefix(e.Name(), "*.") })
	v.zone = file.NewZone(a.origin, "")
	v.zone.Upstream, v.zone.SOA, v.zone.NS = upstream, a.soa, c.apexNS
	v.zone.Tree = balanced(v.names)
	return v, nil
}

func negativeSOA(soa *dns.SOA) *dns.SOA {
	out := *soa
	out.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return &out
}

// change is what there is to do to a version.
type change struct {
	// out has the records that go, and in those that come, by name.
	out map[dns.RR]struct{}
	in  map[string][]dns.RR
	// order has the names that change, in the order of the tree. The records of a name that is new are all that come.
	order tree.Tree
	// apexNS and types are those of the next version.
	apexNS []dns.RR
	types  []uint16
}

// compare finds the records of slices that went and of slices that came.
func compare(origin string, before *version, shards []*shard) (*change, error) {
	c := &change{out: map[dns.RR]struct{}{}, in: map[string][]dns.RR{}}
	had, has := setOf(before.shards), setOf(shards)
	for s := range had {
		if _, stays := has[s]; !stays {
			c.remove(s, origin)
		}
	}
	if before.zone != nil {
		c.apexNS = slices.DeleteFunc(slices.Clone(before.zone.NS), func(rr dns.RR) bool { _, gone := c.out[rr]; return gone })
	}
	types := map[uint16]struct{}{dns.TypeSOA: {}}
	for _, t := range before.types {
		types[t] = struct{}{}
	}
	for _, s := range shards {
		if _, known := had[s]; known {
			continue
		}
		if err := c.add(s, origin, types); err != nil {
			return nil, fmt.Errorf("ZoneSlice %s: %w", s.key, err)
		}
	}
	c.apexNS, c.types = slices.Clip(c.apexNS), slices.Sorted(maps.Keys(types))
	return c, nil
}

func setOf(shards []*shard) map[*shard]struct{} {
	out := make(map[*shard]struct{}, len(shards))
	for _, s := range shards {
		out[s] = struct{}{}
	}
	return out
}

func (c *change) remove(s *shard, origin string) {
	for _, rr := range s.rrs {
		c.out[rr] = struct{}{}
		if !isApexNS(rr, origin) {
			c.order.Insert(rr)
		}
	}
}

// isApexNS says whether a record is kept outside of the tree. (So is the SOA, which is in no slice.)
func isApexNS(rr dns.RR, origin string) bool {
	return rr.Header().Rrtype == dns.TypeNS && rr.Header().Name == origin
}

func (c *change) add(s *shard, origin string, types map[uint16]struct{}) error {
	for _, rr := range s.rrs {
		header := rr.Header()
		switch {
		case !within(header.Name, origin):
			return fmt.Errorf("%s %s: the name is not in the zone", clip(header.Name), dns.Type(header.Rrtype))
		case header.Rrtype == dns.TypeSOA:
			return errors.New("it has an SOA, which is the Zone's")
		case isApexNS(rr, origin):
			c.apexNS = append(c.apexNS, rr)
		default:
			c.in[header.Name] = append(c.in[header.Name], rr)
			c.order.Insert(rr)
		}
		types[header.Rrtype] = struct{}{}
	}
	return nil
}

// within says whether a name is the origin or below it. Both are in lower case.
func within(name, origin string) bool {
	above, ok := strings.CutSuffix(name, origin)
	return ok && (above == "" || origin == "." || strings.HasSuffix(above, "."))
}

// merge makes the names of the next version.
func (c *change) merge(before []*tree.Elem) ([]*tree.Elem, error) {
	changing := c.order.All()
	out := make([]*tree.Elem, 0, len(before)+len(changing))
	rest := before
	for _, elem := range changing {
		at, found := slices.BinarySearchFunc(rest, elem.Name(), func(e *tree.Elem, name string) int { return -tree.Less(e, name) })
		out = append(out, rest[:at]...)
		rest = rest[at:]
		if found {
			elem, rest = c.elem(rest[0], elem.Name()), rest[1:]
		}
		if elem == nil {
			continue
		}
		if len(elem.Type(dns.TypeCNAME)) > 1 {
			return nil, fmt.Errorf("%s has two CNAME records", clip(elem.Name()))
		}
		out = append(out, elem)
	}
	return append(out, rest...), nil
}

// elem makes what a name has next; nil: nothing.
func (c *change) elem(old *tree.Elem, name string) *tree.Elem {
	var t tree.Tree
	for _, rr := range old.All() {
		if _, gone := c.out[rr]; !gone {
			t.Insert(rr)
		}
	}
	for _, rr := range c.in[name] {
		t.Insert(rr)
	}
	if t.Root == nil {
		return nil
	}
	return t.Root.Elem
}

// balanced makes a tree of names in its order. It is for looking up only, so the colours of its nodes do not matter.
func balanced(names []*tree.Elem) *tree.Tree {
	nodes := make([]tree.Node, len(names))
	var link func(from, to int) *tree.Node
	link = func(from, to int) *tree.Node {
		if from == to {
			return nil
		}
		middle := (from + to) / 2
		n := &nodes[middle]
		n.Elem, n.Left, n.Right = names[middle], link(from, middle), link(middle+1, to)
		return n
	}
	return &tree.Tree{Root: link(0, len(names)), Count: len(names)}
}

// has says whether a name of a zone has records of a type; not for NS and SOA at the apex.
func has(z *file.Zone, name string, rrtype uint16) bool {
	elem, found := z.Search(name)
	return found && len(elem.Type(rrtype)) > 0
}

// sliceError says what is wrong with a slice.
func sliceError(s *shard) error { return fmt.Errorf("ZoneSlice %s: %w", s.key, s.err) }
