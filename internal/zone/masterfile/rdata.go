package masterfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// rdata returns the data of a record in canonical form.
func (p *parser) rdata(l line) (string, *Problem) {
	for _, at := range namesIn(l.typ, l.rdata) {
		whole, err := p.absolute(l.rdata[at])
		if err != nil {
			return "", &Problem{Field: fieldRData, Value: l.rdata[at], Detail: err.Error()}
		}
		l.rdata[at] = whole
	}
	l.rdata = quoted(l.typ, l.rdata)
	parsed, problems := record.ParseRData(l.typ, strings.Join(l.rdata, " "))
	if denied := problems.Denied(); len(denied) > 0 {
		first := denied[0]
		return "", &Problem{Field: first.Field, Value: first.Value, Detail: first.Detail, Rule: first.Rule}
	}
	return parsed.String(), nil
}

// names says at which places the rdata of a type holds names, which may be relative to the origin. All other types hold none, or, as
// LOC and TXT, nothing that an origin would change.
var names = map[record.Type][]int{
	record.CNAME: {0}, "DNAME": {0}, record.NS: {0}, "PTR": {0}, "NSAP-PTR": {0}, "MB": {0}, "MD": {0}, "MF": {0}, "MG": {0}, "MR": {0},
	record.MX: {1}, "AFSDB": {1}, "KX": {1}, "LP": {1}, "RT": {1}, "SVCB": {1}, "HTTPS": {1},
	"MINFO": {0, 1}, "RP": {0, 1}, "TALINK": {0, 1}, "PX": {1, 2}, record.SRV: {3}, "NAPTR": {5},
}

// namesIn returns the places of the names in rdata.
func namesIn(typ record.Type, rdata []string) []int {
	if rdata[0] == genericMark {
		return nil
	}
	var out []int
	for _, at := range places(typ, rdata) {
		if at < len(rdata) {
			out = append(out, at)
		}
	}
	return out
}

// genericMark starts rdata that is written as bytes (RFC 3597 section 5), with whole names.
const genericMark = `\#`

// places also knows the types whose names depend on what stands before them.
func places(typ record.Type, rdata []string) []int {
	const gatewayIsName = "3" // RFC 4025 section 2.3, RFC 8777 section 4.2.3
	switch {
	case typ == "IPSECKEY" && len(rdata) > 3 && rdata[1] == gatewayIsName, typ == "AMTRELAY" && len(rdata) > 3 && rdata[2] == gatewayIsName:
		return []int{3}
	case typ == "HIP": // its rendezvous servers (RFC 8005 section 5)
		var out []int
		for at := 3; at < len(rdata); at++ {
			out = append(out, at)
		}
		return out
	}
	return names[typ]
}

// quoted puts quotes around the texts in rdata that have none. They mean the same, and what was meant is plain. A tab in quotes is written as
// the byte that it is.
func quoted(typ record.Type, words []string) []string {
	if words[0] == genericMark {
		return words
	}
	var out []string
	for at, word := range words {
		word = strings.ReplaceAll(word, "\t", `\009`)
		switch {
		case typ == record.TXT || typ == "SPF":
			out = append(out, texts(word)...)
		case typ == "NAPTR" && at >= 2 && at <= 4 && word[0] != '"': // flags, services and regular expression (RFC 3403 section 4.1)
			out = append(out, `"`+word+`"`)
		default:
			out = append(out, word)
		}
	}
	return out
}

// texts divides a word where quotes start and end, which need no space around them.
func texts(word string) []string {
	var out []string
	for word != "" {
		end, inQuotes := 0, word[0] == '"'
		if inQuotes {
			end++
		}
		for end < len(word) && word[end] != '"' {
			if word[end] == '\\' {
				end++
			}
			end++
		}
		if inQuotes {
			end++
		}
		end = min(end, len(word))
		if inQuotes {
			out = append(out, word[:end])
		} else {
			out = append(out, `"`+word[:end]+`"`)
		}
		word = word[end:]
	}
	return out
}

// Fields of a Zone that the numbers of an SOA record become, in their order.
var soaFields = []string{"serial", "refresh", "retry", "expire", "negativeResponseCache"}

// takeSOA reads the SOA record.
func (p *parser) takeSOA(l line) *Problem {
	if p.hasSOA {
		return p.sameSOA(l)
	}
	p.hasSOA = true
	return p.readSOA(l)
}

// sameSOA reads an SOA record after the first one: the answer to a transfer ends in the one that it starts with (RFC 5936 section 2.2).
func (p *parser) sameSOA(l line) *Problem {
	first, origin := p.zone.SOA, p.zone.Origin
	problem := p.readSOA(l)
	second, same := p.zone.SOA, p.zone.Origin == origin
	p.zone.SOA, p.zone.Origin = first, origin
	second.Line = first.Line
	if problem != nil || !same || second != first {
		return &Problem{Detail: "there is a second SOA record, which is not the same: a zone has one"}
	}
	return nil
}

func (p *parser) readSOA(l line) *Problem {
	origin, err := dnsname.Parse(l.owner)
	if err != nil {
		return &Problem{Field: fieldName, Value: l.owner, Detail: err.Error(), Rule: record.NameRule(err)}
	}
	if !p.given.IsZero() && origin != p.given {
		return &Problem{Field: fieldName, Value: origin.FQDN(), Detail: fmt.Sprintf("the SOA record is not that of the zone %s", p.given.FQDN())}
	}
	if len(l.rdata) != 2+len(soaFields) {
		return &Problem{Field: fieldRData, Detail: "an SOA record holds a name server, a mailbox and five numbers: serial, refresh, retry, expire and the TTL of negative answers"}
	}
	soa := SOA{Line: l.number}
	p.zone.Origin = origin
	if problem := p.soaNames(&soa, l.rdata[0], l.rdata[1]); problem != nil {
		return problem
	}
	if problem := soa.numbers(l.rdata[2:]); problem != nil {
		return problem
	}
	if l.ttl == nil && p.ttl == nil {
		p.ttl = &soa.Minimum
	}
	ttl, problem := p.resolveTTL(l.ttl)
	soa.TTL = ttl
	p.zone.SOA = soa
	return problem
}

func (p *parser) soaNames(soa *SOA, nameServer, mailbox string) *Problem {
	whole, err := p.absolute(nameServer)
	if err != nil {
		return &Problem{Field: "nameServer", Value: nameServer, Detail: err.Error()}
	}
	if soa.NameServer, err = dnsname.Parse(whole); err != nil {
		return &Problem{Field: "nameServer", Value: whole, Detail: err.Error(), Rule: record.NameRule(err)}
	}
	if whole, err = p.absolute(mailbox); err != nil {
		return &Problem{Field: "contact", Value: mailbox, Detail: err.Error()}
	}
	soa.Contact = contactOf(whole)
	if _, err := zone.ParseContact(soa.Contact); err != nil {
		return &Problem{Field: "contact", Value: whole, Detail: err.Error(), Rule: rules.SOAContact}
	}
	return nil
}

// contactOf writes the mailbox of an SOA record as a mail address (RFC 1035 section 8): the first label, in which a backslash may stand
// before a dot, is the part before the @. One that has no such form is left as it is.
func contactOf(mailbox string) string {
	local, rest := "", mailbox
	for rest != "" && rest[0] != '.' {
		if rest[0] == '\\' && len(rest) > 1 {
			rest = rest[1:]
		}
		local, rest = local+rest[:1], rest[1:]
	}
	if len(rest) < 2 {
		return mailbox
	}
	address := local + "@" + strings.TrimSuffix(rest[1:], ".")
	if parsed, err := zone.ParseContact(address); err != nil || !strings.EqualFold(parsed, mailbox) {
		return mailbox
	}
	return address
}

// numbers reads what follows the names, and holds it against the rules of a Zone.
func (soa *SOA) numbers(tokens []string) *Problem {
	for i, into := range []*uint32{&soa.Serial, &soa.Refresh, &soa.Retry, &soa.Expire, &soa.Minimum} {
		if i == 0 {
			serial, err := strconv.ParseUint(tokens[i], 10, 32)
			if err != nil {
				return &Problem{Field: soaFields[i], Value: tokens[i], Detail: "a serial is a number of 32 bits"}
			}
			*into = uint32(serial)
			continue
		}
		value, err := parseTTL(tokens[i])
		if err != nil {
			return &Problem{Field: soaFields[i], Value: tokens[i], Detail: err.Error(), Rule: rules.SchemaValue}
		}
		*into = value
	}
	return soa.checkTimers()
}

// checkTimers holds the timers against the rules that the schema of Zones has.
func (soa *SOA) checkTimers() *Problem {
	for i, value := range []uint32{soa.Refresh, soa.Retry, soa.Expire} {
		if value == 0 {
			return &Problem{Field: soaFields[1+i], Value: value, Detail: "give a time of at least one second", Rule: rules.SchemaValue}
		}
	}
	if soa.Retry >= soa.Refresh {
		return &Problem{Field: "retry", Value: soa.Retry, Rule: rules.SOARetry,
			Detail: fmt.Sprintf("give a time that is less than refresh (%d)", soa.Refresh)}
	}
	if sum := uint64(soa.Refresh) + uint64(soa.Retry); uint64(soa.Expire) <= sum {
		return &Problem{Field: "expire", Value: soa.Expire, Rule: rules.SOAExpire,
			Detail: fmt.Sprintf("give a time that is more than refresh and retry together (%d)", sum)}
	}
	return nil
}

// rrset is what one name and type have together.
type rrset struct {
	name dnsname.Name
	typ  record.Type
}

// checkTogether holds what only the whole file shows, and leaves out the records that it finds a problem with.
func (p *parser) checkTogether() {
	first := map[rrset]Record{}
	lines := map[zone.Entry]int{}
	var good []Record
	for _, r := range p.zone.Records {
		set, entry := rrset{r.Name, r.Type}, r.Entry
		entry.TTL = 0
		if _, known := first[set]; !known {
			first[set] = r
		}
		if lines[entry] > 0 && first[set].TTL == r.TTL {
			p.zone.Repeated++
			continue
		}
		if problem := p.beside(r, first[set], lines[entry]); problem != nil {
			problem.Line = r.Line
			p.add(*problem)
			continue
		}
		lines[entry] = r.Line
		good = append(good, r)
	}
	p.zone.Records = good
}

// beside holds a record against the first of its RRset, which may be itself, and the line of an equal one, 0 where there is none.
func (p *parser) beside(r, first Record, equal int) *Problem {
	switch {
	case !r.Name.IsAtOrBelow(p.zone.Origin):
		return &Problem{Field: fieldName, Value: r.Name.FQDN(), Detail: "this name is not in the zone " + p.zone.Origin.FQDN()}
	case equal > 0:
		return &Problem{Field: fieldRData, Value: r.RData, Detail: fmt.Sprintf("line %d has the same record", equal), Rule: rules.RecordDuplicate}
	case first.TTL != r.TTL:
		return &Problem{Field: fieldTTL, Value: r.TTL, Rule: rules.TTLDiffers,
			Detail: fmt.Sprintf("line %d gives records of this name and type the TTL %d", first.Line, first.TTL)}
	}
	return nil
}
