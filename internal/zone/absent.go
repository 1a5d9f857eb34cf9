package zone

import (
	"fmt"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// absences warns of what a record needs that is not there: its targets in our zones, and the addresses of the name servers that it
// delegates to. They may still come. It warns of a second SPF text, too: the other one may still go.
func (m *Model) absences(r *recordState) []Problem {
	var out []Problem
	if p := m.secondSPF(r); p != nil {
		out = append(out, *p)
	}
	for _, target := range r.rdata.Targets() {
		if p := m.absentTarget(r, target); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

func (m *Model) absentTarget(r *recordState, target dnsname.Name) *Problem {
	zone := m.nearestZone(target)
	if zone == nil {
		return nil
	}
	if r.obj.Type == record.NS && r.fqdn != r.zone.fqdn && target.IsAtOrBelow(r.fqdn) {
		return m.absentGlue(r, target)
	}
	kept := zone.content.owner(target)
	switch {
	case r.obj.Type.WantsHost() && hasCNAME(kept.entries):
		return m.absence(rules.TargetAlias, r, fmt.Sprintf("%s is a CNAME: name the host that it points at", target.FQDN()))
	case m.partial || m.answers(zone, target, r.obj.Type.WantsHost()):
		return nil
	case r.obj.Type.WantsHost():
		return m.absence(rules.TargetAbsent, r, fmt.Sprintf("%s has no A or AAAA record yet in the zone %s", target.FQDN(), zone.fqdn.FQDN()))
	}
	return m.absence(rules.TargetAbsent, r, fmt.Sprintf("%s does not exist yet in the zone %s", target.FQDN(), zone.fqdn.FQDN()))
}

func (m *Model) absence(rule *rules.Rule, r *recordState, detail string) *Problem {
	return &Problem{Rule: rule, Field: fieldRData, Value: r.obj.RData, Detail: detail}
}

// absentGlue warns of a delegation whose name server lies below it and has no address there.
func (m *Model) absentGlue(r *recordState, target dnsname.Name) *Problem {
	if m.partial || hasAddress(r.zone.content.owner(target).entries) {
		return nil
	}
	return m.absence(rules.GlueAbsent, r, fmt.Sprintf("give the name server %s an A or AAAA record in this zone, or nobody finds it: it lies below the name that is delegated to it", target.FQDN()))
}

// secondSPF warns of an SPF text beside another one.
func (m *Model) secondSPF(r *recordState) *Problem {
	if !r.rdata.IsSPF() {
		return nil
	}
	for _, other := range r.zone.content.owner(r.fqdn).kept {
		if other.obj.Key != r.obj.Key && other.rdata.IsSPF() {
			return m.absence(rules.TXTSPFMultiple, r, "join the SPF texts of this name into one")
		}
	}
	return nil
}

// nearestZone returns the published zone that a name lies in.
func (m *Model) nearestZone(name dnsname.Name) *zoneState {
	for at, more := name, true; more; at, more = at.Parent() {
		if z := m.authority(at); z != nil {
			return z
		}
	}
	return nil
}

// answers says whether a zone has something at a name, or hands it on: a wildcard or a delegation above it.
func (m *Model) answers(z *zoneState, name dnsname.Name, host bool) bool {
	if entries := z.content.owner(name).entries; len(entries) > 0 {
		return !host || hasAddress(entries)
	}
	if m.cutAbove(z, name).kind != "" {
		return true
	}
	for at, more := name, true; more && at != z.fqdn; {
		if at, more = at.Parent(); !more {
			break
		}
		if wildcard, err := dnsname.Join("*", at); err == nil && len(z.content.owner(wildcard).entries) > 0 {
			return true
		}
	}
	return false
}

func hasAddress(entries []Entry) bool {
	for _, e := range entries {
		if e.Type == record.A || e.Type == record.AAAA {
			return true
		}
	}
	return false
}
