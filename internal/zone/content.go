package zone

import (
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
)

// content is what a published zone holds.
type content struct {
	origin dnsname.Name
	// owners are the names that have entries or candidates.
	owners *tree[*owner]
	shards *Shards
	// derived are the entries that sub-zones have copied up, by their names.
	derived map[dnsname.Name][]Entry
	// targets are the names of name servers whose addresses were copied up into the parent.
	targets map[dnsname.Name]struct{}
	// leftOut is the number of records that were adopted and are not published.
	leftOut int
	// shown is the view, nil where it has to be made; it ends before the name of the key shownTo, unless that is empty.
	shown   []zonev1alpha1.ZoneEntry
	shownTo string
	// noNameServer says that no record gives an NS record at the apex.
	noNameServer bool
}

// owner is one name of a zone, settled.
type owner struct {
	entries []Entry
	kept    []*recordState
	leftOut int
	// cut says what this name hides below it.
	cut cut
}

func newContent(origin dnsname.Name) *content {
	return &content{origin: origin, owners: newTree[*owner](), shards: NewShards(), derived: map[dnsname.Name][]Entry{},
		targets: map[dnsname.Name]struct{}{}}
}

// owner returns what is at a name; never nil.
func (c *content) owner(name dnsname.Name) *owner {
	if o := c.owners.get(name); o != nil {
		return o
	}
	return &owner{}
}

// maxView is the size of the entries that the status of a Zone shows, in bytes of their JSON form.
const maxView = 32 << 10

// viewOverhead is what the JSON form of an entry has besides its name, type and rdata, in bytes.
const viewOverhead = 72

// view returns the first entries in canonical order, as many as fit. It is kept as long as nothing changes in it.
func (c *content) view() []zonev1alpha1.ZoneEntry {
	if c.shown == nil {
		c.shown, c.shownTo = []zonev1alpha1.ZoneEntry{}, ""
		c.makeView()
	}
	return c.shown
}

func (c *content) makeView() {
	size := 0
	for name, o := range c.owners.all {
		for _, e := range o.entries {
			size += len(e.Name.String()) + len(e.Type) + len(e.RData) + viewOverhead
			if size > maxView {
				c.shownTo = sortKey(name)
				return
			}
			c.shown = append(c.shown, e.View())
		}
	}
}

// touched says that the entries of a name have changed.
func (c *content) touched(name dnsname.Name) {
	if c.shownTo == "" || sortKey(name) <= c.shownTo {
		c.shown = nil
	}
}

// Content returns what a zone publishes now, and whether it is published. Its view is not to be changed.
func (m *Model) Content(key Key) (Content, bool) {
	m.mu.Lock() // digests are computed here
	defer m.mu.Unlock()
	z := m.zones[key]
	if z == nil || z.content == nil {
		return Content{}, false
	}
	c := z.content
	return Content{
		Origin: c.origin, SOA: z.obj.SOA, Hash: c.shards.Hash(c.origin, z.obj.SOA), Digests: c.shards.Digests(), Count: c.shards.Len() + 1,
		View: c.view(), LeftOut: c.leftOut, NoNameServer: c.noNameServer,
	}, true
}

// Shards returns the shards of a zone that have one of these digests. One that has changed meanwhile is not among them.
func (m *Model) Shards(key Key, digests map[string]struct{}) []Shard {
	m.mu.Lock() // digests are computed here
	defer m.mu.Unlock()
	z := m.zones[key]
	if z == nil || z.content == nil {
		return nil
	}
	var out []Shard
	z.content.shards.root.leaves(func(leaf *shard) {
		if _, wanted := digests[leaf.sum()]; wanted {
			out = append(out, leaf.export())
		}
	})
	return out
}
