package zone

import (
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

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
