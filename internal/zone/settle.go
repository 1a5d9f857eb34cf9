package zone

import (
	"slices"
	"strconv"
	"strings"

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
	verdict := RecordVerdict{FQDN: r.fqdn, Parent: z.obj.Key, Reason: adopted, Message: "published in the zone " + z.fqdn.FQDN()}
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

// contradiction returns the first rule that a record breaks beside what was kept, or nil.
func (s *settlement) contradiction(r *recordState) *Problem {
	for _, check := range []func(*recordState) *Problem{s.cname, s.rrset, s.duplicate, s.ttls, s.hidden, s.hides, s.loop} {
		if p := check(r); p != nil {
			return p
		}
	}
	return nil
}

// problem makes a problem of two records. Those of two namespaces contend for the name, unless they are at different ones.
func (s *settlement) problem(rule *rules.Rule, field string, value any, r, other *recordState, detail string) *Problem {
	p := &Problem{Rule: rule, Field: field, Value: value, Detail: detail}
	if other != nil {
		p.Rests = []Rest{{KindRecord, other.obj.Key}, {KindZone, s.zone.obj.Key}}
		p.conflict = rule != rules.RecordOccluded && other.obj.Namespace != r.obj.Namespace
	}
	return p
}

// cname: a CNAME stands alone, and not at the apex.
func (s *settlement) cname(r *recordState) *Problem {
	if r.obj.Type == record.CNAME && s.isApex {
		return s.problem(rules.CNAMEAtApex, fieldDomainName, r.obj.DomainName, r, nil,
			"use A or AAAA records for the zone's own name, or give the CNAME a name below it such as www")
	}
	if len(s.kept) == 0 {
		return nil
	}
	alias := s.sets[record.CNAME]
	switch {
	case r.obj.Type != record.CNAME && alias != nil:
		return s.problem(rules.CNAMEAlone, fieldDomainName, s.name.FQDN(), r, alias.first,
			"this name already is a CNAME, and a CNAME stands alone: choose another name")
	case r.obj.Type == record.CNAME && alias == nil:
		return s.problem(rules.CNAMEAlone, fieldDomainName, s.name.FQDN(), r, s.kept[0],
			"this name already has other records, and a CNAME stands alone: choose another name")
	case r.obj.Type == record.CNAME && alias.first.obj.Namespace == r.obj.Namespace && alias.rdata[r.rdata.String()] == nil:
		return s.problem(rules.CNAMESingle, fieldDomainName, s.name.FQDN(), r, alias.first,
			"this name already is a CNAME with another target, and a CNAME has one: change that record, or choose another name")
	}
	return nil
}

// rrset: the records of one name and type belong to one namespace.
func (s *settlement) rrset(r *recordState) *Problem {
	set := s.sets[r.obj.Type]
	if set == nil || set.first.obj.Namespace == r.obj.Namespace {
		return nil
	}
	return s.problem(rules.RRsetTaken, fieldDomainName, s.name.FQDN(), r, set.first,
		"this name already has records of type "+string(r.obj.Type)+", which do not belong to this namespace: choose another name")
}

// duplicate: a zone holds each record once.
func (s *settlement) duplicate(r *recordState) *Problem {
	if set := s.sets[r.obj.Type]; set != nil {
		if other := set.rdata[r.rdata.String()]; other != nil {
			return s.problem(rules.RecordDuplicate, fieldRData, r.obj.RData, r, other,
				"give each record once: the Record "+other.obj.Name+" of this namespace says the same")
		}
	}
	return nil
}

// ttls: the records of one name and type have one TTL.
func (s *settlement) ttls(r *recordState) *Problem {
	set := s.sets[r.obj.Type]
	if set == nil || set.ttl == nil || r.obj.TTL == nil || *set.ttl == *r.obj.TTL {
		return nil
	}
	return s.problem(rules.TTLDiffers, fieldTTL, int64(*r.obj.TTL), r, set.first,
		"give the ttl that the other records of this name and type have, "+strconv.FormatUint(uint64(*set.ttl), 10)+", or leave it out")
}

// hidden: what a delegation or a DNAME hides is never seen.
func (s *settlement) hidden(r *recordState) *Problem {
	if by := s.above; by.kind != "" && !by.lets(r.obj.Type, s.name) {
		return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, by.record, by.says())
	}
	if set := s.sets[record.NS]; set != nil && !s.isApex && r.obj.Type != record.NS {
		at := cutOf(s.name, s.zone.content.origin, s.kept)
		if r.obj.Type != typeDS && !at.lets(r.obj.Type, s.name) {
			return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, set.first, at.says())
		}
	}
	return nil
}

// hides: a record that would hide others is refused, if they were there first.
func (s *settlement) hides(r *recordState) *Problem {
	if !isCutType(r.obj.Type) || s.isApex && r.obj.Type == record.NS || s.sets[r.obj.Type] != nil {
		return nil
	}
	would := cutOf(s.name, s.zone.content.origin, s.ofNamespace(r))
	for _, other := range s.kept {
		if r.obj.Type == record.NS && other.obj.Type != typeDS && !would.lets(other.obj.Type, s.name) {
			return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, other, hidesDetail)
		}
	}
	for at, records := range s.m.recordsAt.atOrBelow(s.name) {
		for _, other := range records {
			if at != s.name && other.zone == s.zone && other.obj.precedes(r.obj.Object) && !would.lets(other.obj.Type, at) {
				return s.problem(rules.RecordOccluded, fieldDomainName, s.name.FQDN(), r, other, hidesDetail)
			}
		}
	}
	return nil
}

// ofNamespace returns a record and all others of its type and namespace that want to stand here: the name servers of a delegation are
// judged together, because what one of them hides may be the address of another.
func (s *settlement) ofNamespace(r *recordState) []*recordState {
	out := []*recordState{r}
	for _, other := range s.candidates {
		if other != r && other.obj.Type == r.obj.Type && other.obj.Namespace == r.obj.Namespace {
			out = append(out, other)
		}
	}
	return out
}

const hidesDetail = "there are records at this name or below it that this one would hide: take them away first, or choose another name"

// maxChain is the length of a chain of CNAMEs that is followed.
const maxChain = 64

// loop: a chain of CNAMEs does not lead back to itself. Of those in a circle the last in the order of precedence is refused.
func (s *settlement) loop(r *recordState) *Problem {
	if r.obj.Type != record.CNAME {
		return nil
	}
	last, at := r, r
	for range maxChain {
		target, ok := at.target()
		if !ok {
			return nil
		}
		if target == s.name {
			if last != r {
				s.circle = last
				return nil
			}
			return s.problem(rules.CNAMELoop, fieldRData, r.obj.RData, r, at, "point the CNAME at a name that does not lead back to "+s.name.FQDN())
		}
		if at = s.m.aliasAt(target); at == nil {
			return nil
		}
		if last.obj.precedes(at.obj.Object) {
			last = at
		}
	}
	return nil
}

// target returns what a CNAME points at.
func (r *recordState) target() (dnsname.Name, bool) {
	if targets := r.rdata.Targets(); len(targets) == 1 {
		return targets[0], true
	}
	return dnsname.Name{}, false
}

// aliasAt returns the CNAME that is published at a name.
func (m *Model) aliasAt(name dnsname.Name) *recordState {
	for _, r := range m.recordsAt.get(name) {
		if r.obj.Type == record.CNAME && r.verdict.Published() {
			return r
		}
	}
	return nil
}

// cut is what a name hides below it: a delegation to other name servers all but their addresses, a DNAME everything. It is comparable.
type cut struct {
	// kind is NS or DNAME; empty where nothing is hidden.
	kind record.Type
	name dnsname.Name
	// targets are the name servers, joined by spaces with one at either end.
	targets string
	record  *recordState
}

const typeDNAME record.Type = "DNAME"

func isCutType(t record.Type) bool { return t == record.NS || t == typeDNAME }

func isDNAME(t record.Type) bool { return t == typeDNAME }

// cutOf says what a name hides that has these records.
func cutOf(name, origin dnsname.Name, kept []*recordState) cut {
	out := cut{name: name}
	var targets []string
	for _, r := range kept {
		switch {
		case r.obj.Type == typeDNAME:
			return cut{kind: typeDNAME, name: name, record: r}
		case r.obj.Type == record.NS && name != origin:
			if out.kind == "" {
				out.kind, out.record = record.NS, r
			}
			if target, ok := r.target(); ok {
				targets = append(targets, target.String())
			}
		}
	}
	if out.kind == "" {
		return cut{}
	}
	slices.Sort(targets)
	out.targets = " " + strings.Join(targets, " ") + " "
	return out
}

// lets says whether a record of a type is seen in spite of the cut: the address of a name server that the delegation names.
func (c cut) lets(typ record.Type, name dnsname.Name) bool {
	return c.kind == "" || c.kind == record.NS && (typ == record.A || typ == record.AAAA) && strings.Contains(c.targets, " "+name.String()+" ")
}

// says why something is hidden.
func (c cut) says() string {
	if c.kind == typeDNAME {
		return "the DNAME at " + c.name.FQDN() + " stands for everything below it: choose another name, or take the DNAME away"
	}
	return c.name.FQDN() + " is delegated to other name servers, and only their addresses stand there: put this record into their zone, or choose another name"
}

// cutAbove returns the nearest cut that is strictly above a name in its zone.
func (m *Model) cutAbove(z *zoneState, name dnsname.Name) cut {
	for at := range ancestors(name, z.content.origin) {
		if c := z.content.owner(at).cut; c.kind != "" {
			return c
		}
	}
	if name != z.content.origin {
		return z.content.owner(z.content.origin).cut // a DNAME at the apex
	}
	return cut{}
}

// mayHide says whether a zone has candidates of some types at a name.
func (m *Model) mayHide(z *zoneState, name dnsname.Name, types func(record.Type) bool) bool {
	return slices.ContainsFunc(m.recordsAt.get(name), func(r *recordState) bool { return r.zone == z && types(r.obj.Type) })
}
