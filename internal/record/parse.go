package record

import (
	"errors"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// Parse checks a record and makes an RRset of it. The RRset is nil where a rule that refuses is broken;
// the problems may hold warnings besides. All problems are found in one pass.
func Parse(spec Spec) (*RRset, Problems) {
	p := parser{spec: spec, set: &RRset{Type: Type(spec.Type)}}
	p.checkType()
	p.checkName()
	p.checkTTL()
	p.checkMetadata()
	p.checkValues()
	p.checkOwner()
	if len(p.problems.Denied()) > 0 {
		return nil, p.problems
	}
	p.checkSize()
	if len(p.problems.Denied()) > 0 {
		return nil, p.problems
	}
	return p.set, p.problems
}

// parser carries one Spec through the checks.
type parser struct {
	spec     Spec
	set      *RRset
	problems Problems
}

func (p *parser) add(rule *rules.Rule, field string, value any, detail string) {
	p.problems = append(p.problems, Problem{Rule: rule, Field: field, Index: -1, Value: value, Detail: detail})
}

func (p *parser) missing(rule *rules.Rule, field, detail string) {
	p.problems = append(p.problems, Problem{Rule: rule, Field: field, Index: -1, Missing: true, Detail: detail})
}

func (p *parser) addValue(rule *rules.Rule, index int, detail string) {
	p.problems = append(p.problems,
		Problem{Rule: rule, Field: FieldValues, Index: index, Value: p.spec.Values[index], Detail: detail})
}

func (p *parser) checkType() {
	if !p.set.Type.Known() {
		p.add(rules.RecordType, FieldType, p.spec.Type, "give one of A, AAAA, CNAME, TXT, MX, SRV and NS")
	}
}

// checkName parses domain and subdomain and composes the owner.
func (p *parser) checkName() {
	domain, err := dnsname.Parse(p.spec.Domain)
	if err != nil {
		p.add(NameRule(err), FieldDomain, p.spec.Domain, err.Error())
	}
	subdomain, subErr := dnsname.ParseSubdomain(p.spec.Subdomain)
	if subErr != nil {
		p.add(NameRule(subErr), FieldSubdomain, p.spec.Subdomain, subErr.Error())
	}
	if err != nil || subErr != nil {
		return
	}
	owner, err := dnsname.Join(subdomain, domain)
	if err != nil {
		p.add(NameRule(err), FieldSubdomain, p.spec.Subdomain, err.Error())
		return
	}
	p.set.Owner, p.set.Domain, p.set.Subdomain = owner, domain, subdomain
	if subdomain == domain.String() || strings.HasSuffix(subdomain, "."+domain.String()) {
		p.add(rules.NameRepeatsDomain, FieldSubdomain, p.spec.Subdomain,
			"the record would be published as "+owner.String()+": leave the domain out of the subdomain")
	}
}

// NameRule finds the rule that a name breaks, by the error of dnsname: its reasons are the IDs of rules.
func NameRule(err error) *rules.Rule {
	var named *dnsname.Error
	if errors.As(err, &named) {
		if rule, known := rules.Lookup(string(named.Reason)); known {
			return rule
		}
	}
	return rules.NameCharacter
}

func (p *parser) checkTTL() {
	if p.spec.TTL < 0 || p.spec.TTL > MaxTTL {
		p.add(rules.TTLRange, FieldTTL, p.spec.TTL, "give a number of seconds from 0 to 2147483647")
		return
	}
	p.set.TTL = uint32(p.spec.TTL)
}

// checkValues parses each value by the rules of the type, and refuses equal ones.
func (p *parser) checkValues() {
	switch count := len(p.spec.Values); {
	case count == 0:
		p.missing(rules.ValuesRequired, FieldValues, "give at least one value")
		return
	case count > maxValues:
		p.add(rules.RRsetTooLarge, FieldValues, nil, tooManyDetail(count))
		p.spec.Values = nil // nothing else looks at them: a problem for each would cost far more than they did
		return
	}
	parse, known := valueParsers[p.set.Type]
	if !known {
		return
	}
	seen := make(map[string]int, len(p.spec.Values))
	for i, value := range p.spec.Values {
		canonical, ok := parse(p, i, value)
		if !ok {
			continue
		}
		if first, twice := seen[canonical]; twice {
			p.addValue(rules.ValueDuplicate, i, duplicateDetail(first))
			continue
		}
		seen[canonical] = i
		p.set.values = append(p.set.values, canonical)
	}
	slices.Sort(p.set.values)
	p.checkTogether()
}

// checkOwner holds what a type asks of its own name.
func (p *parser) checkOwner() {
	owner := p.set.Owner
	if owner.IsZero() {
		return
	}
	if p.set.Type == CNAME {
		p.checkCNAMEOwner()
	}
	if rule, detail := CheckOwner(p.set.Type, owner); rule != nil {
		p.add(rule, FieldSubdomain, p.spec.Subdomain, detail)
	}
}

func (p *parser) checkCNAMEOwner() {
	if p.set.Subdomain == dnsname.Apex {
		p.add(rules.CNAMEAtApex, FieldSubdomain, p.spec.Subdomain,
			"use A or AAAA records for the domain itself, or give the CNAME a subdomain such as www")
	}
	for i, value := range p.spec.Values {
		if PointsAt(value, p.set.Owner) {
			p.addValue(rules.CNAMESelf, i, "point the CNAME at another name than its own")
		}
	}
}

// checkSize refuses an RRset that no single DNS message can carry.
func (p *parser) checkSize() {
	if size := p.set.messageSize(); size > dns.MaxMsgSize {
		p.add(rules.RRsetTooLarge, FieldValues, nil, tooLargeDetail(size))
	}
}
