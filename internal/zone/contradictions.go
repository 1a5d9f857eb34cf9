package zone

import (
	"strconv"

	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// contradiction returns the first rule that a record breaks beside what was kept, or nil.
func (s *settlement) contradiction(r *recordState) *Problem {
	for _, check := range []func(*recordState) *Problem{s.cname, s.rrset, s.duplicate, s.room, s.dname, s.none, s.ttls, s.hidden, s.hides, s.hidesZone, s.loop} {
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

// room: the records of one name and type fit into one message, or nobody can be given any of them.
func (s *settlement) room(r *recordState) *Problem {
	set := s.sets[r.obj.Type]
	if set == nil || set.size+r.rdata.Size() <= record.MaxSetSize {
		return nil
	}
	return s.problem(rules.RRsetTooLarge, fieldRData, nil, r, set.first,
		"the records that this name has of this type fill a DNS message of 65,535 bytes already: give fewer of them, or divide them among names")
}

// dname: a name has one DNAME (RFC 6672 section 2.4). Servers that transfer a zone with two drop it whole.
func (s *settlement) dname(r *recordState) *Problem {
	set := s.sets[typeDNAME]
	if r.obj.Type != typeDNAME || set == nil {
		return nil
	}
	return s.problem(rules.DNAMESingle, fieldDomainName, s.name.FQDN(), r, set.first,
		"this name already has a DNAME with another target, and a DNAME has one: change that record, or choose another name")
}

// none: what says that there is no such service stands alone (RFC 7505 section 3, RFC 2782).
func (s *settlement) none(r *recordState) *Problem {
	set := s.sets[r.obj.Type]
	if set == nil || len(r.rdata.Targets()) > 0 && len(set.first.rdata.Targets()) > 0 {
		return nil
	}
	switch r.obj.Type {
	case record.MX:
		return s.problem(rules.MXNullAlone, fieldRData, r.obj.RData, r, set.first, "the null MX says that this name takes no mail: give either it or mail servers")
	case record.SRV:
		return s.problem(rules.SRVNullAlone, fieldRData, r.obj.RData, r, set.first, "the target . says that there is no such service: give either it or hosts")
	default:
		return nil
	}
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
