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
		p.add(nameRule(err), FieldDomain, p.spec.Domain, err.Error())
	}
	subdomain, subErr := dnsname.ParseSubdomain(p.spec.Subdomain)
	if subErr != nil {
		p.add(nameRule(subErr), FieldSubdomain, p.spec.Subdomain, subErr.Error())
	}
	if err != nil || subErr != nil {
		return
	}
	owner, err := dnsname.Join(subdomain, domain)
	if err != nil {
		p.add(nameRule(err), FieldSubdomain, p.spec.Subdomain, err.Error())
		return
	}
	p.set.Owner, p.set.Domain, p.set.Subdomain = owner, domain, subdomain
	if subdomain == domain.String() || strings.HasSuffix(subdomain, "."+domain.String()) {
		p.add(rules.NameRepeatsDomain, FieldSubdomain, p.spec.Subdomain,
			"the record would be published as "+owner.String()+": leave the domain out of the subdomain")
	}
}

// nameRule finds the rule that a name breaks; the reasons of dnsname are rule IDs.
func nameRule(err error) *rules.Rule {
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
	switch p.set.Type {
	case CNAME:
		p.checkCNAMEOwner()
	case SRV:
		if !isServiceName(owner) {
			p.add(rules.SRVOwner, FieldSubdomain, p.spec.Subdomain,
				"start the name with the service and its protocol, as in _sip._tcp; one instance name may stand before them, as in printer._ipp._tcp")
		}
	case NS:
		if owner.IsWildcard() {
			p.add(rules.NSWildcard, FieldSubdomain, p.spec.Subdomain, "delegate a name without *")
		}
	case A, AAAA:
		if strings.Contains(owner.String(), "_") {
			p.add(rules.HostUnderscore, FieldSubdomain, p.spec.Subdomain, "name hosts with letters, digits and hyphens")
		}
	case TXT, MX:
	}
}

func (p *parser) checkCNAMEOwner() {
	if p.set.Subdomain == dnsname.Apex {
		p.add(rules.CNAMEAtApex, FieldSubdomain, p.spec.Subdomain,
			"use A or AAAA records for the domain itself, or give the CNAME a subdomain such as www")
	}
	for i, value := range p.spec.Values {
		if target, err := dnsname.Parse(value); err == nil && target == p.set.Owner {
			p.addValue(rules.CNAMESelf, i, "point the CNAME at another name than its own")
		}
	}
}

// isServiceName says whether a name starts with _service._protocol (RFC 2782), the service of which may be a wildcard, or has them
// after one instance name, which may be one too (RFC 6763 section 4.1).
func isServiceName(owner dnsname.Name) bool {
	labels := owner.Labels()
	switch {
	case len(labels) > 2 && (isUnderscored(labels[0]) || labels[0] == "*") && isUnderscored(labels[1]):
		return true
	default:
		return len(labels) > 3 && isUnderscored(labels[1]) && isUnderscored(labels[2])
	}
}

// isUnderscored says whether a label is an underscore and something after it.
func isUnderscored(label string) bool { return len(label) > 1 && label[0] == '_' }

// checkSize refuses an RRset that no single DNS message can carry.
func (p *parser) checkSize() {
	if size := p.set.messageSize(); size > dns.MaxMsgSize {
		p.add(rules.RRsetTooLarge, FieldValues, nil, tooLargeDetail(size))
	}
}
