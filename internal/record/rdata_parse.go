package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// MaxRDataText is the longest text of rdata, in bytes.
const MaxRDataText = 65535

// ParseRData checks the rdata of one record in a zone, which is on one line and in zone file syntax (RFC 1035 section 5.1), or in the form
// of RFC 3597 section 5. The RData is the zero value where a rule that refuses is broken; the problems may hold warnings besides.
func ParseRData(typ Type, text string) (RData, Problems) { return parseRData(typ, text, readers[typ]) }

// parseRData parses with a reader of the type, or with the zone file parser where it is nil.
func parseRData(typ Type, text string, read reader) (RData, Problems) {
	p := rdataParser{typ: typ, text: text}
	data := p.parse(read)
	if len(p.problems.Denied()) > 0 {
		return RData{}, p.problems
	}
	return data, p.problems
}

// rdataParser carries one rdata through the checks.
type rdataParser struct {
	typ      Type
	code     uint16
	text     string
	words    []word
	targets  []dnsname.Name
	problems Problems
}

func (p *rdataParser) add(rule *rules.Rule, detail string) {
	p.problems = append(p.problems, Problem{Rule: rule, Field: FieldRData, Index: -1, Value: p.text, Detail: detail})
}

// syntax says that the text is not the rdata of one record of the type, and what would be. An empty flaw is searched for.
func (p *rdataParser) syntax(flaw string) {
	detail := "write the rdata of one record of type " + string(p.typ) + " as zone files do, on one line" + p.typ.example()
	if flaw == "" {
		flaw = p.flawOfFields()
	}
	if flaw != "" {
		detail = flaw + "; " + detail
	}
	p.add(rules.RDataSyntax, detail)
}

func (p *rdataParser) parse(read reader) RData {
	if !p.checkType() || !p.checkText() {
		return RData{}
	}
	verified := read != nil
	if p.isGeneric() {
		read = (*rdataParser).readGeneric
	} else if read == nil {
		read = (*rdataParser).readZoneFile
	}
	rr := read(p)
	if rr == nil || !p.checkNames(rr) {
		return RData{}
	}
	return p.publish(rr, verified)
}

func (p *rdataParser) checkType() bool {
	code, ok := p.typ.zoneCode()
	if !ok {
		p.problems = append(p.problems, Problem{Rule: rules.RDataType, Field: FieldType, Index: -1, Value: string(p.typ), Detail: cmp.Or(p.typ.Instead(),
			"give a type such as A, AAAA, CAA, CNAME, MX, NS, PTR, SRV or TXT; the SOA and the records of DNSSEC's signer are the zone's own")})
	}
	p.code = code
	return ok
}

// checkText splits the text into words, and refuses what could be more than that for a zone file parser.
func (p *rdataParser) checkText() bool {
	if len(p.text) > MaxRDataText {
		p.syntax(fmt.Sprintf("the text has %d bytes, and may have %d", len(p.text), MaxRDataText))
		return false
	}
	if !isPrintable(p.text) {
		p.refuseInvisible()
		return false
	}
	s := scanner{text: p.text, pairs: p.typ.hasPairs()}
	flaw := s.scan()
	p.words = s.words
	if p.typ.isText() && !p.isGeneric() && p.wantsQuotes(flaw) {
		p.add(rules.TXTUnquoted, `put the text in quotes, and a backslash before each quote that is part of it: "v=spf1 mx -all"`)
		return false
	}
	if flaw == "" {
		flaw = p.flawOfWords()
	}
	if flaw != "" {
		p.syntax(flaw)
	}
	return flaw == ""
}

// wantsQuotes says whether a text is not, or not wholly, in quotes and has to be: several words, or what has a meaning of its own without.
func (p *rdataParser) wantsQuotes(flaw string) bool {
	switch flaw {
	case "":
		return len(p.words) > 1 && slices.ContainsFunc(p.words, func(w word) bool { return !w.quoted })
	case flawComment, flawParenthesis, flawQuote:
		return true
	}
	return false
}

// flawOfWords returns what is wrong with words that zone files could hold, for rdata.
func (p *rdataParser) flawOfWords() (flaw string) {
	switch {
	case len(p.words) == 0:
		return "there is no rdata"
	case p.words[0].text != "" && p.words[0].text[0] == '$' && !p.words[0].quoted:
		return "a $ starts a directive in a zone file"
	case !p.typ.hasStrings() && slices.ContainsFunc(p.words, func(w word) bool { return w.quoted }):
		return "the type has no text: leave out the quotes"
	}
	return ""
}

func (p *rdataParser) refuseInvisible() {
	detail := `leave out newlines, tabs and other control or invisible characters; a byte of a text that has to be there is written \DDD, its value in three decimal digits`
	if p.typ.isText() {
		p.add(rules.TXTCharacter, detail)
		return
	}
	p.add(rules.RDataSyntax, detail)
}

// isPrintable says whether a text is valid UTF-8 without a character that is not seen.
func isPrintable(text string) bool {
	ascii := true
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f {
			return false
		} else if c >= utf8.RuneSelf {
			ascii = false
		}
	}
	return ascii || utf8.ValidString(text) && !strings.ContainsFunc(text, invisible)
}

// isGeneric says whether the words are in the form of RFC 3597, which every type may have.
func (p *rdataParser) isGeneric() bool {
	return len(p.words) > 0 && !p.words[0].quoted && p.words[0].text == genericMark
}

func (p *rdataParser) readGeneric() dns.RR {
	wire, ok := parseGeneric(p.words)
	_, known := zoneTypes[p.typ]
	if !ok || known && wire == "" {
		p.syntax(`after \# stand the number of bytes, and as many bytes as pairs of hexadecimal digits`)
		return nil
	}
	rr, err := unpackRData(rootHeader(p.code), wire)
	if err == nil {
		var again string
		// Bytes that are left over, or a compressed name (RFC 3597 section 4), do not come back.
		if again, err = packRData(rr); err == nil && again != wire {
			err = errUnstable
		}
	}
	if err != nil || !hasGateway(rr) {
		p.syntax(`the bytes after \# are not the rdata of one record`)
		return nil
	}
	return rr
}

// readZoneFile has the zone file parser read the rdata, behind a header that is ours. What has passed checkText cannot end the line, start
// a comment or be a directive.
func (p *rdataParser) readZoneFile() dns.RR {
	line := ". 0 IN " + string(p.typ) + " " + p.text + "\n"
	parser := dns.NewZoneParser(strings.NewReader(line), relative, "") //nolint:forbidigo // The text is words only, and includes are off.
	parser.SetIncludeAllowed(false)
	rr, ok := parser.Next()
	if !ok || parser.Err() != nil {
		p.syntax("")
		return nil
	}
	if _, more := parser.Next(); more || parser.Err() != nil || *rr.Header() != headerOf(rr, p.code) {
		p.syntax("")
		return nil
	}
	if !p.keptAll(rr) {
		p.syntax("")
		return nil
	}
	return rr
}

// headerOf is the header that rdata behind our own header has, whatever the parser makes of its length.
func headerOf(rr dns.RR, code uint16) dns.RR_Header {
	h := rootHeader(code)
	h.Rdlength = rr.Header().Rdlength
	return h
}

// publish makes the canonical form of a record, the names of which are canonical already. It is read back and compared, but where that was
// proven for the type.
func (p *rdataParser) publish(rr dns.RR, proven bool) RData {
	wire, back, err := throughWire(rr)
	if size := max(len(wire), dns.Len(rr)-minRecordSize); (err != nil || len(wire) > maxRData) && size > maxRData {
		p.add(rules.RRsetTooLarge, fmt.Sprintf("give less: together with a name of any length a DNS message has room for %d bytes of rdata, and not for %d", maxRData, size))
		return RData{}
	}
	if err != nil || !proven && !p.cameBack(rr, back, wire) {
		p.syntax("")
		return RData{}
	}
	p.checkContent(back)
	text := presentation(back)
	if cut := strings.TrimRight(text, " "); cut != text && cut != "" && p.typ != "IPSECKEY" && !strings.HasSuffix(cut, `\`) {
		p.syntax("the last field is missing")
		return RData{}
	}
	text = strings.TrimRight(text, " ")
	if !proven && !p.readsBack(text, wire) {
		text = generic(wire)
	}
	if len(text) > MaxRDataText {
		p.add(rules.RRsetTooLarge, fmt.Sprintf("give less: in canonical form, where a byte that is no printable ASCII takes four characters, the rdata has %d, and may have %d",
			len(text), MaxRDataText))
		return RData{}
	}
	return RData{Type: p.typ, wire: wire, text: text, targets: p.targets}
}

// cameBack says whether the record has come back from the wire as it was read; the parser lets through what has another meaning on the
// wire, such as a length that is too large for its byte.
func (p *rdataParser) cameBack(rr, back dns.RR, wire string) bool {
	if _, known := zoneTypes[p.typ]; known && wire == "" {
		return false
	}
	return p.typ.hasPairs() || strings.EqualFold(presentation(rr), presentation(back)) // pairs are sorted on the wire
}

// readsBack says whether the text is read as the same rdata.
func (p *rdataParser) readsBack(text, wire string) bool {
	if text == "" || len(text) > MaxRDataText {
		return false
	}
	again := rdataParser{typ: p.typ, text: text}
	if !again.checkType() || !again.checkText() {
		return false
	}
	rr := again.readZoneFile()
	if rr == nil || !again.checkNames(rr) {
		return false
	}
	packed, err := packRData(rr)
	return err == nil && packed == wire
}
