package masterfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Bounds of what is read.
const (
	// MaxSize of a file, and of what its $GENERATE directives make, each in bytes.
	MaxSize = 64 << 20
	// MaxRecords in a file, the generated ones included.
	MaxRecords = 500_000
	// MaxGenerated is how many records all $GENERATE directives of a file make together.
	MaxGenerated = 65_536
	// maxProblems are reported; what comes after so many is not looked at.
	maxProblems = 1000
)

const maxTTL = record.MaxTTL

// Zone is what a master file holds.
type Zone struct {
	// Origin is the owner of the SOA record.
	Origin dnsname.Name
	SOA    SOA
	// Records are all others, in the order of the file.
	Records []Record
	// LeftOut counts, by type, the records that are made anew by whoever signs the zone, and its digests (RFC 8976), which hold for the
	// serial of the file only.
	LeftOut map[record.Type]int
	// Repeated counts the records that are there already, with the same TTL: a zone holds each once (RFC 2181 section 5).
	Repeated int
}

// Signed says whether the file held signatures.
func (z *Zone) Signed() bool { return z.LeftOut["RRSIG"] > 0 }

// SOA is a zone's SOA record (RFC 1035 section 3.3.13). Times are in seconds.
type SOA struct {
	// Line of the file, from 1.
	Line       int
	TTL        uint32
	NameServer dnsname.Name
	// Contact is the mailbox as a Zone's contact gives it (zone.ParseContact).
	Contact                         string
	Serial                          uint32
	Refresh, Retry, Expire, Minimum uint32
}

// Record is one record of a master file.
type Record struct {
	// Line of the file, from 1.
	Line int
	zone.Entry
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	// Line of the file, from 1; 0 where it is the file as a whole.
	Line int
	// Field of the Zone or Record that cannot be made; empty where the file cannot be read.
	Field string
	// Value is what was written; nil where there is nothing to show.
	Value any
	// Detail says what would be accepted.
	Detail string
	// Rule of the gate that refuses it; nil where the file cannot be read.
	Rule *rules.Rule
}

// String is the problem on one line, as compilers write theirs after the name of the file.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		_, _ = fmt.Fprintf(&b, "%d: ", p.Line) // a Builder takes everything
	} else {
		b.WriteByte(' ')
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	if text, isText := p.Value.(string); isText {
		_, _ = fmt.Fprintf(&b, "%q: ", rules.Clip(text))
	} else if p.Value != nil {
		_, _ = fmt.Fprintf(&b, "%v: ", p.Value)
	}
	b.WriteString(p.Detail)
	if p.Rule != nil {
		b.WriteString(" (rule " + p.Rule.ID + ")")
	}
	return b.String()
}

// Parse reads a master file. Relative names are below the origin until an $ORIGIN directive says otherwise; the zero Name stands for none.
// Where one is given it is the zone's name. The Zone is nil where there are problems; all are found in one pass, up to a bound, and are
// sorted by line. The error is one of reading.
func Parse(r io.Reader, origin dnsname.Name) (*Zone, []Problem, error) {
	p, err := parse(r, origin)
	if err != nil {
		return nil, nil, err
	}
	if len(p.problems) > 0 {
		return nil, byLine(p.problems), nil
	}
	return p.zone, nil, nil
}

// Import reads a master file as Parse does, and makes the Manifests of it. Among the problems are those for which the gate would refuse an
// object beside the others.
func Import(r io.Reader, origin dnsname.Name, namespace, name string) (*Zone, *Manifests, []Problem, error) {
	p, err := parse(r, origin)
	if err != nil {
		return nil, nil, nil, err
	}
	if p.zone.SOA.Line == 0 { // without it, there is nothing to hold the others against
		return nil, nil, byLine(p.problems), nil
	}
	m := p.zone.Manifests(namespace, name)
	p.problems = append(p.problems, m.check()...)
	if len(p.problems) > 0 {
		return nil, nil, byLine(p.problems), nil
	}
	return p.zone, m, nil, nil
}

func byLine(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems[:min(len(problems), maxProblems+1)]
}

// byteOrderMark is what some editors put before all texts, and no part of them (RFC 3629 section 6).
const byteOrderMark = "\ufeff"

// parse reads all that can be read.
func parse(r io.Reader, origin dnsname.Name) (*parser, error) {
	p := &parser{origin: origin.FQDN(), given: origin, zone: &Zone{LeftOut: map[record.Type]int{}}}
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		p.add(Problem{Detail: fmt.Sprintf("the file is too large: at most %d MiB are read", MaxSize>>20)})
		return p, nil
	}
	if p.read(strings.TrimPrefix(string(text), byteOrderMark)) && !p.sawSOA {
		p.add(Problem{Detail: "there is no SOA record: a master file has one, of the zone's own name"})
	}
	p.takeKeys()
	if !p.zone.Origin.IsZero() {
		p.checkTogether()
	}
	return p, nil
}

// parser carries what one line of a file says about those that follow.
type parser struct {
	// given is the zone's name if it was; zero if not.
	given dnsname.Name
	// origin of relative names with its trailing dot; empty while there is none.
	origin string
	// owner of the last record, as an absolute text; empty before the first.
	owner string
	// ttl of records without one; nil while it is not known. byDirective says that $TTL has set it, so that records do not.
	ttl         *uint32
	byDirective bool

	generated, generatedBytes int

	// keys are read when it is known whether the zone is signed.
	keys []line

	// hasSOA after the first SOA record; sawSOA also after one that could not be read.
	hasSOA, sawSOA bool

	count    int
	zone     *Zone
	problems []Problem
}

// errStop ends the reading: what follows would be misread, or is too much. The problem has been added.
var errStop = errors.New("stop")

// read reads statement by statement, and returns whether it came to the end.
func (p *parser) read(text string) bool {
	s := newScanner(text)
	for {
		st, ok, err := s.next()
		var syntax *syntaxError
		if errors.As(err, &syntax) {
			p.add(Problem{Line: syntax.line, Detail: syntax.detail})
		}
		switch {
		case !ok:
			return err == nil
		case p.statement(st) != nil:
			return false
		case len(p.problems) >= maxProblems:
			p.add(Problem{Line: st.line, Detail: fmt.Sprintf("there are %d problems up to here; the rest was not looked at", maxProblems)})
			return false
		}
	}
}

func (p *parser) add(problem Problem) { p.problems = append(p.problems, problem) }

// stop adds a problem after which nothing more is read.
func (p *parser) stop(line int, format string, args ...any) error {
	p.add(Problem{Line: line, Detail: fmt.Sprintf(format, args...)})
	return errStop
}

func (p *parser) statement(st statement) error {
	if !st.blank && strings.HasPrefix(st.tokens[0], "$") {
		return p.directive(st)
	}
	return p.record(st)
}

// directive obeys one. One that is wrong ends the reading, because what follows it would be misread.
func (p *parser) directive(st statement) error {
	args := st.tokens[1:]
	switch name := strings.ToUpper(st.tokens[0]); name {
	case "$ORIGIN":
		return p.setOrigin(st.line, args)
	case "$TTL":
		return p.setTTL(st.line, args)
	case "$GENERATE":
		return p.generate(st.line, args)
	case "$INCLUDE":
		return p.stop(st.line, "$INCLUDE is not followed: no other file is read. Put its content here")
	default:
		return p.stop(st.line, "%q is no directive: $ORIGIN, $TTL and $GENERATE are", rules.Clip(name))
	}
}

func (p *parser) setOrigin(line int, args []string) error {
	if len(args) != 1 {
		return p.stop(line, "write one name after $ORIGIN")
	}
	if args[0] == "." {
		p.origin = "."
		return nil
	}
	text, err := p.absolute(args[0])
	if err != nil {
		return p.stop(line, "$ORIGIN %q: %v", rules.Clip(args[0]), err)
	}
	name, err := dnsname.ParseOwner(text)
	if err != nil {
		return p.stop(line, "$ORIGIN %q: %v", rules.Clip(args[0]), err)
	}
	p.origin = name.FQDN()
	return nil
}

func (p *parser) setTTL(line int, args []string) error {
	if len(args) != 1 {
		return p.stop(line, "write one time after $TTL")
	}
	ttl, err := parseTTL(args[0])
	if err != nil {
		return p.stop(line, "$TTL %q: %v", rules.Clip(args[0]), err)
	}
	p.ttl, p.byDirective = &ttl, true
	return nil
}

// absolute makes a whole name of one that may be relative. It is not looked at any further.
func (p *parser) absolute(text string) (string, error) {
	if strings.Contains(text, `\`) {
		text = plain(text)
	}
	switch {
	case text != "@" && dns.IsFqdn(text):
		return text, nil
	case p.origin == "":
		return "", errors.New("this name is relative, and the file has not said to what: end it with a dot, or give the origin")
	case text == "@":
		return p.origin, nil
	case p.origin == ".":
		return text + ".", nil
	}
	return text + "." + p.origin, nil
}

// plain writes the characters of a name that need no escape without one (RFC 1035 section 5.1): \119ww is www. All other escapes stay, for
// the gate to judge.
func plain(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		length, c := 1, text[at]
		if c == '\\' && at+1 < len(text) {
			length, c = 2, text[at+1]
			if at+4 <= len(text) && isNumbered(text[at+1:at+4], "") {
				code, _ := strconv.ParseUint(text[at+1:at+4], 10, 16) // three digits
				length, c = 4, byte(min(code, 0xff))
			}
		}
		if length > 1 && !isPlain(c) {
			b.WriteString(text[at : at+length])
		} else {
			b.WriteByte(c)
		}
		at += length
	}
	return b.String()
}

// isPlain says whether a character is itself in a name, escaped or not.
func isPlain(c byte) bool {
	return c == '-' || c == '_' || c == '*' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// line is one record before its data are looked at.
type line struct {
	number int
	// owner as an absolute text.
	owner string
	// ttl is nil where none was written.
	ttl *uint32
	typ record.Type
	// rdata as it was written, at least one token.
	rdata []string
}

// record reads one record. Its own faults are no reason to stop.
func (p *parser) record(st statement) error {
	if p.count++; p.count > MaxRecords {
		return p.stop(st.line, "these are more records than are read: at most %d", MaxRecords)
	}
	p.sawSOA = p.sawSOA || slices.ContainsFunc(st.tokens, func(token string) bool { return strings.EqualFold(token, string(zone.TypeSOA)) })
	l, problem := p.split(st)
	if problem == nil {
		problem = p.take(l)
	}
	if problem != nil {
		problem.Line = st.line
		p.add(*problem)
	}
	return nil
}

// split finds owner, TTL, class, type and rdata (RFC 1035 section 5.1).
func (p *parser) split(st statement) (line, *Problem) {
	l := line{number: st.line, owner: p.owner}
	rest := st.tokens
	if !st.blank {
		owner, err := p.absolute(rest[0])
		if err != nil {
			p.owner = ""
			return l, &Problem{Field: fieldName, Value: rest[0], Detail: err.Error()}
		}
		p.owner, l.owner, rest = owner, owner, rest[1:]
	}
	if l.owner == "" {
		return l, &Problem{Detail: "the line starts with a space, which stands for the name of the record before it, and that has none"}
	}
	rest, problem := l.leading(rest)
	if problem != nil {
		return l, problem
	}
	if len(rest) < 2 {
		return l, &Problem{Detail: "a record has a name, a type and data; there is less in this line"}
	}
	l.typ, l.rdata = typeOf(rest[0]), rest[1:]
	return l, nil
}

// leading reads TTL and class, in any order.
func (l *line) leading(rest []string) ([]string, *Problem) {
	hasClass := false
	for len(rest) > 0 {
		isClass, isIN := classOf(rest[0])
		switch {
		case isClass && !hasClass:
			if !isIN {
				return nil, &Problem{Field: "class", Value: rest[0], Detail: "records of class IN are published, and no others"}
			}
			hasClass = true
		case l.ttl == nil && rest[0][0] >= '0' && rest[0][0] <= '9':
			ttl, err := parseTTL(rest[0])
			if err != nil {
				return nil, &Problem{Field: fieldTTL, Value: rest[0], Detail: err.Error(), Rule: rules.TTLRange}
			}
			l.ttl = &ttl
		default:
			return rest, nil
		}
		rest = rest[1:]
	}
	return rest, nil
}

// classOf says whether a token is a class, and whether it is that of the Internet (RFC 3597 section 5).
func classOf(token string) (isClass, isIN bool) {
	upper := strings.ToUpper(token)
	if _, known := dns.StringToClass[upper]; known && upper != "ANY" {
		return true, upper == "IN"
	}
	code, err := strconv.ParseUint(strings.TrimPrefix(upper, "CLASS"), 10, 16)
	return isNumbered(upper, "CLASS"), err == nil && code == dns.ClassINET
}

func isNumbered(text, prefix string) bool {
	digits, found := strings.CutPrefix(text, prefix)
	return found && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// typeOf returns the type that a token names, in upper case, or by its mnemonic where it is written as a number.
func typeOf(token string) record.Type {
	upper := strings.ToUpper(token)
	if isNumbered(upper, "TYPE") {
		if code, err := strconv.ParseUint(upper[len("TYPE"):], 10, 16); err == nil {
			return record.Type(dns.Type(code).String())
		}
	}
	return record.Type(upper)
}

// Fields of the objects that problems speak of.
const (
	fieldName  = "domainName"
	fieldTTL   = "ttl"
	fieldRData = "rdata"
)

// take resolves the TTL of a record, and puts it where it belongs.
func (p *parser) take(l line) *Problem {
	if ttl, problem := p.resolveTTL(l.ttl); problem == nil && l.typ != zone.TypeSOA {
		l.ttl = &ttl
	}
	switch string(l.typ) {
	case "SOA":
		return p.takeSOA(l)
	case "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "SIG", "NXT", typeZONEMD:
		p.zone.LeftOut[l.typ]++
		return nil
	case "DNSKEY", "CDS", "CDNSKEY":
		p.keys = append(p.keys, l)
		return nil
	}
	return p.takeRecord(l)
}

// typeZONEMD is the digest of a zone with one serial (RFC 8976 section 2), which is not the serial that the zone gets here.
const typeZONEMD = "ZONEMD"

// takeKeys takes what a signer publishes of its keys (RFC 4034 section 2, RFC 7344). Beside signatures it belongs to them, and goes where they
// go. Without any, the zone is signed by another hand than wrote the file, which wants them there.
func (p *parser) takeKeys() {
	for _, l := range p.keys {
		if p.zone.Signed() {
			p.zone.LeftOut[l.typ]++
		} else if problem := p.takeRecord(l); problem != nil {
			problem.Line = l.number
			p.add(*problem)
		}
	}
}

// takeRecord takes a record that is to be published.
func (p *parser) takeRecord(l line) *Problem {
	owner, err := dnsname.ParseOwner(l.owner)
	if err != nil {
		return &Problem{Field: fieldName, Value: l.owner, Detail: err.Error(), Rule: record.NameRule(err)}
	}
	ttl, problem := p.resolveTTL(l.ttl)
	if problem != nil {
		return problem
	}
	rdata, problem := p.rdata(l)
	if problem != nil {
		return problem
	}
	if rule, detail := record.CheckOwner(l.typ, owner); rule != nil && rule.Severity == rules.Deny {
		return &Problem{Field: fieldName, Value: owner.FQDN(), Detail: detail, Rule: rule}
	}
	p.zone.Records = append(p.zone.Records, Record{Line: l.number, Entry: zone.Entry{Name: owner, Type: l.typ, TTL: ttl, RData: rdata}})
	return nil
}

// resolveTTL returns the TTL of a record: its own, that of $TTL (RFC 2308 section 4), or the last one that was written.
func (p *parser) resolveTTL(written *uint32) (uint32, *Problem) {
	if written != nil && !p.byDirective {
		p.ttl = written
	}
	switch {
	case written != nil:
		return *written, nil
	case p.ttl != nil:
		return *p.ttl, nil
	}
	return 0, &Problem{Field: fieldTTL, Detail: "the record has no TTL, and none came before it: write $TTL and a time at the top of the file"}
}

// parseTTL reads a time in seconds, or with units as BIND writes them: 1w2d3h4m5s.
func parseTTL(text string) (uint32, error) {
	const accepts = "give a time from 0 to 2147483647 seconds, such as 3600, 1h or 1w2d"
	var sum, number uint64
	digits, unit := 0, false
	for _, c := range strings.ToLower(text) {
		if c >= '0' && c <= '9' {
			number = number*10 + uint64(c-'0')
			digits++
		} else {
			factor, known := map[rune]uint64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}[c]
			if !known || digits == 0 {
				return 0, errors.New(accepts)
			}
			sum, number, digits, unit = sum+number*factor, 0, 0, true
		}
		if number > maxTTL || sum > maxTTL {
			return 0, errors.New(accepts)
		}
	}
	if (digits == 0) != unit || sum+number > maxTTL { // 1h30 says not what the 30 are
		return 0, errors.New(accepts)
	}
	return uint32(sum + number), nil
}
