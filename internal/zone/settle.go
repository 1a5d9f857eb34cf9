package zone

import (
	"slices"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// settleName puts the records of one name in one zone beside one another: each in the order of precedence, as long as it contradicts none
// before it. What is kept is published; what is not says why.
func (w *work) settleName(z *zoneState, name dnsname.Name) {
	c := z.content
	if c == nil || !name.IsAtOrBelow(c.origin) {
		return
	}
	before, now := c.owner(name), &owner{}
	candidates := w.m.candidates(z, name)
	beside := w.m.beside(z, name, candidates)
	for _, r := range candidates {
		problem := beside.contradiction(r)
		if problem == nil {
			beside.keep(r)
		} else {
			now.leftOut++
		}
		w.settled(r, z, problem)
	}
	now.kept = beside.kept
	now.cut = cutOf(name, c.origin, now.kept)
	now.entries = w.entries(z, name, beside)
	w.replace(z, name, before, now)
	if late := beside.circle; late != nil && late.zone != nil {
		w.settle[spot{late.zone, late.fqdn}] = struct{}{}
	}
}

// candidates are the records that a zone has adopted at a name, in the order of precedence.
func (m *Model) candidates(z *zoneState, name dnsname.Name) []*recordState {
	var out []*recordState
	for _, r := range m.recordsAt.get(name) {
		if r.zone == z {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *recordState) int {
		if a.obj.precedes(b.obj.Object) {
			return -1
		}
		return 1
	})
	return out
}

// settled tells a record what became of it.
func (w *work) settled(r *recordState, z *zoneState, problem *Problem) {
	delete(w.m.looping, r)
	verdict := RecordVerdict{FQDN: r.fqdn, Parent: z.obj.Key, Reason: adopted, Message: "adopted by the zone " + z.fqdn.FQDN()}
	if problem != nil {
		verdict.Reason, verdict.Message = zonev1alpha1.ReasonQuarantined, problem.Detail+" (rule "+problem.Rule.ID+")"
		if problem.conflict {
			verdict.Reason = zonev1alpha1.ReasonNameConflict
		}
		if problem.Rule == rules.CNAMELoop {
			w.m.looping[r] = struct{}{}
		}
	}
	w.setVerdict(r, verdict)
}

// entries makes the entries of a name: of the records that were kept, and of what sub-zones have copied up. The apex has an NS record in
// any case.
func (w *work) entries(z *zoneState, name dnsname.Name, beside *settlement) []Entry {
	var out []Entry
	for _, r := range beside.kept {
		out = append(out, Entry{Name: name, Type: r.obj.Type, TTL: beside.ttl(r.obj.Type, z.obj.SOA.TTL), RData: r.rdata.String()})
	}
	if name == z.content.origin {
		none := beside.sets[record.NS] == nil
		if none {
			out = append(out, Entry{Name: name, Type: record.NS, TTL: z.obj.SOA.TTL, RData: z.obj.SOA.nameServer(name).FQDN()})
		}
		if none != z.content.noNameServer {
			z.content.noNameServer = none
			w.zonesChanged[z.obj.Key] = struct{}{}
		}
	}
	out = append(out, z.content.derived[name]...)
	slices.SortFunc(out, Compare)
	return slices.Compact(out)
}

// replace puts what a name has now in the place of what it had, and passes on what follows from it.
func (w *work) replace(z *zoneState, name dnsname.Name, before, now *owner) {
	c := z.content
	if len(now.entries)+len(now.kept)+now.leftOut == 0 {
		c.owners.remove(name)
	} else {
		c.owners.set(name, now)
	}
	if before.leftOut != now.leftOut {
		c.leftOut += now.leftOut - before.leftOut
		w.zonesChanged[z.obj.Key] = struct{}{}
	}
	if before.cut != now.cut {
		w.settleBelow(z, name)
	}
	if slices.Equal(before.entries, now.entries) {
		return
	}
	c.touched(name)
	c.shards.Change(without(before.entries, now.entries), without(now.entries, before.entries))
	w.zonesChanged[z.obj.Key] = struct{}{}
	if _, isTarget := c.targets[name]; isTarget || name == c.origin {
		w.copyUp[z] = struct{}{}
	}
	if hasCNAME(before.entries) != hasCNAME(now.entries) || hasCNAME(now.entries) {
		for r := range w.m.looping {
			w.settle[spot{r.zone, r.fqdn}] = struct{}{}
		}
	}
}

// without returns the entries that are not among others. Both are sorted.
func without(entries, others []Entry) []Entry {
	var out []Entry
	for _, e := range entries {
		if _, found := slices.BinarySearchFunc(others, e, Compare); !found {
			out = append(out, e)
		}
	}
	return out
}

func hasCNAME(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Type == record.CNAME })
}

// settleBelow has all names below one settled anew.
func (w *work) settleBelow(z *zoneState, name dnsname.Name) {
	for at, records := range w.m.recordsAt.atOrBelow(name) {
		if at != name && slices.ContainsFunc(records, func(r *recordState) bool { return r.zone == z }) {
			w.settle[spot{z, at}] = struct{}{}
		}
	}
}

// settlement is what has been kept of one name so far, and what stands around it.
type settlement struct {
	m      *Model
	zone   *zoneState
	name   dnsname.Name
	isApex bool
	// above is what hides this name.
	above cut
	// candidates are all records that want to stand here.
	candidates []*recordState
	kept       []*recordState
	sets       map[record.Type]*rrset
	// circle is the record to be refused for a circle of CNAMEs that one of these closes; nil where there is none.
	circle *recordState
}

// rrset is what has been kept of one type.
type rrset struct {
	first *recordState
	// ttl is the first that was written, and nil where none was.
	ttl   *uint32
	rdata map[string]*recordState
	// size is the sum of what they take in a message.
	size int
}

// beside begins a settlement.
func (m *Model) beside(z *zoneState, name dnsname.Name, candidates []*recordState) *settlement {
	return &settlement{m: m, zone: z, name: name, isApex: name == z.content.origin, above: m.cutAbove(z, name), candidates: candidates,
		sets: map[record.Type]*rrset{}}
}

func (s *settlement) keep(r *recordState) {
	s.kept = append(s.kept, r)
	set := s.sets[r.obj.Type]
	if set == nil {
		set = &rrset{first: r, rdata: map[string]*recordState{}}
		s.sets[r.obj.Type] = set
	}
	set.rdata[r.rdata.String()] = r
	set.size += r.rdata.Size()
	if set.ttl == nil {
		set.ttl = r.obj.TTL
	}
}

// ttl of the RRset of a type: the one that was written, else the zone's.
func (s *settlement) ttl(typ record.Type, otherwise uint32) uint32 {
	if ttl := s.sets[typ].ttl; ttl != nil {
		return *ttl
	}
	return otherwise
}
