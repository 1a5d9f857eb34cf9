package zone

import (
	"slices"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// copyUpZone gives a parent what it has to hold of a sub-zone: its NS records, and the addresses of its name servers within it.
func (w *work) copyUpZone(z *zoneState) {
	if z.content == nil || z.parent == nil || z.parent.content == nil {
		if z.content != nil {
			clear(z.content.targets)
		}
		return
	}
	w.setCopied(z, z.parent, z.upward())
}

// upward collects the entries that go up into the parent, and remembers which names they hang on.
func (z *zoneState) upward() map[dnsname.Name][]Entry {
	c := z.content
	clear(c.targets)
	out := map[dnsname.Name][]Entry{}
	for _, e := range c.owner(c.origin).entries {
		if e.Type != record.NS {
			continue
		}
		out[c.origin] = append(out[c.origin], e)
		if target, err := dnsname.Parse(e.RData); err == nil && target.IsAtOrBelow(c.origin) {
			c.targets[target] = struct{}{}
		}
	}
	for target := range c.targets {
		for _, e := range c.owner(target).entries {
			if e.Type == record.A || e.Type == record.AAAA {
				out[target] = append(out[target], e)
			}
		}
	}
	return out
}

// setCopied puts entries of a sub-zone into its parent, in the place of those that were there.
func (w *work) setCopied(z, parent *zoneState, now map[dnsname.Name][]Entry) {
	for name, entries := range z.copied {
		if !slices.Equal(entries, now[name]) {
			delete(parent.content.derived, name)
			w.settleCopied(parent, name)
		}
	}
	for name, entries := range now {
		if !slices.Equal(entries, z.copied[name]) {
			parent.content.derived[name] = entries
			w.settleCopied(parent, name)
		}
	}
	z.copied, z.copiedTo = now, parent.content
}

// settleCopied has a name settled anew that entries were copied to, and those above it that have a DNAME.
func (w *work) settleCopied(parent *zoneState, name dnsname.Name) {
	w.settle[spot{parent, name}] = struct{}{}
	for above, more := name.Parent(); more && above.IsAtOrBelow(parent.fqdn); above, more = above.Parent() {
		if w.m.mayHide(parent, above, isDNAME) {
			w.settle[spot{parent, above}] = struct{}{}
		}
	}
}

// withdraw takes out of a former parent what it held of a zone.
func (w *work) withdraw(z, from *zoneState) {
	if from != nil && from.content != nil && from.content == z.copiedTo {
		w.setCopied(z, from, nil)
	}
	z.copied, z.copiedTo = nil, nil
}

func contentOf(z *zoneState) *content {
	if z == nil {
		return nil
	}
	return z.content
}
