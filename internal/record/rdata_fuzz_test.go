package record_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// FuzzRData: whatever is accepted is what is published, however it is written down.
func FuzzRData(f *testing.F) {
	const maxSeed = 2000 // the engine mutates short inputs better
	for typ, forms := range rdataForms {
		for _, form := range forms {
			f.Add(string(typ), form[0])
		}
	}
	for _, c := range rdataCases {
		for _, s := range slices.Concat(c.breaks, c.keeps) {
			if len(s.text) < maxSeed && len(s.typ) < maxSeed {
				f.Add(string(s.typ), s.text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		typ := record.Type(kind)
		data, problems := record.ParseRData(typ, text)
		checkRDataProblems(t, rdataCase{typ, text}, data, problems)
		slow, refused := record.ParseRDataSlowly(typ, text)
		checkRDataProblems(t, rdataCase{typ, text}, slow, refused)
		if !data.IsZero() && !slow.IsZero() && (!data.Equal(slow) || data.String() != slow.String()) {
			t.Errorf("%s %q is %q, and %q to the zone file parser", kind, text, data, slow)
		}
		for _, d := range []record.RData{data, slow} {
			if !d.IsZero() {
				checkRData(t, typ, d)
			}
		}
	})
}

// checkRData holds what is true of any rdata that is accepted.
func checkRData(t *testing.T, typ record.Type, data record.RData) {
	t.Helper()
	again, problems := record.ParseRData(typ, data.String())
	if !again.Equal(data) || again.String() != data.String() || data.Type != typ || !slices.Equal(again.Targets(), data.Targets()) {
		t.Errorf("%q is read again as %q: %v", data, again, problems)
	}
	checkOneLine(t, data.String())
	owner, err := dnsname.ParseOwner(name253)
	if err != nil {
		t.Fatal(err)
	}
	rr := data.RR(owner, 300)
	if rr == nil || rr.Header().Name != owner.FQDN() || rr.Header().Rrtype != typ.Code() || rr.Header().Class != dns.ClassINET || rr.Header().Ttl != 300 {
		t.Fatalf("%q makes the record %v", data, rr)
	}
	checkAnswer(t, rr)
	checkZoneLine(t, typ, data, rr)
	for _, target := range data.Targets() {
		if parsed, err := dnsname.Parse(target.String()); err != nil || parsed != target || target == dnsname.Root {
			t.Errorf("target %q: %v", target, err)
		}
	}
}

// checkOneLine wants printable ASCII, which no zone file takes for more than fields.
func checkOneLine(t *testing.T, text string) {
	t.Helper()
	if text == "" || text[0] == '$' || len(text) > record.MaxRDataText || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%.200q is no line", text)
	}
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("();", c) >= 0:
			t.Errorf("%.200q has a %c", text, c)
		case !quoted && c == ' ' && (i == 0 || i == len(text)-1 || text[i+1] == ' '):
			t.Errorf("%.200q has spaces that part nothing", text)
		}
	}
	if quoted {
		t.Errorf("%.200q has an open quote", text)
	}
}

// checkAnswer wants an answer with the record to be a message, with and without compression.
func checkAnswer(t *testing.T, rr dns.RR) {
	t.Helper()
	for _, compress := range []bool{false, true} {
		msg := new(dns.Msg)
		msg.SetQuestion(rr.Header().Name, rr.Header().Rrtype)
		msg.Answer, msg.Compress = []dns.RR{rr}, compress
		packed, err := msg.Pack()
		if err != nil || len(packed) > dns.MaxMsgSize {
			t.Fatalf("%.200q makes a message of %d bytes: %v", rr.String(), len(packed), err)
		}
		back := new(dns.Msg)
		if err := back.Unpack(packed); err != nil || len(back.Answer) != 1 || !bytes.Equal(wire(t, back.Answer[0]), wire(t, rr)) {
			t.Errorf("%.200q comes back as %v: %v", rr.String(), back.Answer, err)
		}
	}
}

// checkZoneLine wants the rdata behind an owner to be the same record in a zone file, and no more than that.
func checkZoneLine(t *testing.T, typ record.Type, data record.RData, rr dns.RR) {
	t.Helper()
	line := rr.Header().Name + " 300 IN " + string(typ) + " " + data.String() + "\n"
	parser := dns.NewZoneParser(strings.NewReader(line), "wrong.example.", "zone")
	read, ok := parser.Next()
	if !ok || parser.Err() != nil {
		t.Fatalf("%.200q is no zone file line: %v", line, parser.Err())
	}
	if extra, more := parser.Next(); more || parser.Err() != nil || parser.Comment() != "" {
		t.Fatalf("%.200q holds more than one record: %v, %v", line, extra, parser.Err())
	}
	if *read.Header() != headerOf(rr, read) || !bytes.Equal(wire(t, read), wire(t, rr)) {
		t.Errorf("%.200q is read as %.200q", line, read.String())
	}
}
