package record_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/record"
)

// between parts the values in a fuzz input.
const between = "\x00"

// seed makes the arguments of FuzzRecordParse from a Spec.
func seed(f *testing.F, s record.Spec) {
	var given byte
	numbers := [3]int64{}
	for i, n := range []*int64{s.Priority, s.Weight, s.Port} {
		if n != nil {
			given |= 1 << i
			numbers[i] = *n
		}
	}
	f.Add(s.Type, s.Domain, s.Subdomain, strings.Join(s.Values, between), s.TTL, given, numbers[0], numbers[1], numbers[2])
}

func FuzzRecordParse(f *testing.F) {
	const maxSeed = 10_000 // the engine mutates short inputs better
	for _, c := range allCases() {
		for _, b := range c.breaks {
			if len(strings.Join(b.spec.Values, between)) < maxSeed {
				seed(f, b.spec)
			}
		}
		for _, near := range c.keeps {
			if len(strings.Join(near.Values, between)) < maxSeed {
				seed(f, near)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind, domain, subdomain, values string, ttl int64, given byte, priority, weight, port int64) {
		s := record.Spec{Type: kind, Domain: domain, Subdomain: subdomain, Values: strings.Split(values, between), TTL: ttl}
		for i, n := range []struct {
			field **int64
			value int64
		}{{&s.Priority, priority}, {&s.Weight, weight}, {&s.Port, port}} {
			if given&(1<<i) != 0 {
				*n.field = &n.value
			}
		}
		set, problems := record.Parse(s)
		checkProblems(t, s, set, problems)
		if set == nil {
			return
		}
		checkReparse(t, set)
		checkMessage(t, set)
		for i, rr := range set.RRs() {
			checkWire(t, set, set.Values()[i], rr)
			checkZoneText(t, rr)
		}
	})
}

// checkReparse wants the canonical form to mean the same, and to be its own canonical form.
func checkReparse(t *testing.T, set *record.RRset) {
	t.Helper()
	priority, weight, port := int64(set.Priority), int64(set.Weight), int64(set.Port)
	again, problems := record.Parse(record.Spec{Type: string(set.Type), Domain: set.Domain.String(), Subdomain: set.Subdomain, Values: set.Values(),
		TTL: int64(set.TTL), Priority: &priority, Weight: &weight, Port: &port})
	if again == nil {
		t.Fatalf("%q is accepted, and its canonical form is not: %v", set.Values(), problems)
	}
	if !again.Equal(set) || !slices.Equal(again.Values(), set.Values()) {
		t.Errorf("%+v parses to %+v", set, again)
	}
}

// checkMessage wants the whole RRset to fit into one message.
func checkMessage(t *testing.T, set *record.RRset) {
	t.Helper()
	msg := new(dns.Msg)
	msg.SetQuestion(set.Owner.FQDN(), set.Type.Code())
	msg.Answer = set.RRs()
	msg.Compress = true
	packed, err := msg.Pack()
	if err != nil || len(packed) > dns.MaxMsgSize {
		t.Errorf("the RRset makes a message of %d bytes, %v", len(packed), err)
	}
}

// checkWire wants a record to come back from the wire as it is, and its rdata to be the value.
func checkWire(t *testing.T, set *record.RRset, value string, rr dns.RR) {
	t.Helper()
	rdata := wire(t, rr)
	if set.Type == record.TXT && text(t, rdata) != value {
		t.Errorf("text %q has rdata %q", value, rdata)
	}
	if set.Type == record.A || set.Type == record.AAAA {
		addr, ok := record.ParseIPv4(value)
		if set.Type == record.AAAA {
			addr, ok = record.ParseIPv6(value)
		}
		if !ok || !bytes.Equal(addr.AsSlice(), rdata) {
			t.Errorf("address %s has rdata %x", value, rdata)
		}
	}
	buffer := make([]byte, 2*dns.MaxMsgSize)
	end, err := dns.PackRR(rr, buffer, 0, nil, false)
	if err != nil {
		t.Fatalf("%v cannot be packed: %v", rr, err)
	}
	back, _, err := dns.UnpackRR(buffer[:end], 0)
	if err != nil {
		t.Fatalf("%v cannot be unpacked: %v", rr, err)
	}
	if back.Header().Name != set.Owner.FQDN() || back.Header().Ttl != set.TTL || back.Header().Rrtype != set.Type.Code() || back.String() != rr.String() {
		t.Errorf("%v comes back as %v", rr, back)
	}
	if again := wire(t, back); !bytes.Equal(again, rdata) {
		t.Errorf("rdata %x comes back as %x", rdata, again)
	}
}

// checkZoneText wants a record that is written into a zone file to be read from it as the one record that it is: nothing that a
// user writes can end the line, start a comment or be a directive.
func checkZoneText(t *testing.T, rr dns.RR) {
	t.Helper()
	parser := dns.NewZoneParser(strings.NewReader(rr.String()+"\n"), ".", "zone")
	read, more := parser.Next()
	if !more || parser.Err() != nil {
		t.Fatalf("%q is no zone file line: %v", rr.String(), parser.Err())
	}
	if extra, more := parser.Next(); more || parser.Err() != nil {
		t.Fatalf("%q holds more than one record: %v, %v", rr.String(), extra, parser.Err())
	}
	if *read.Header() != headerOf(rr, read) || !bytes.Equal(wire(t, read), wire(t, rr)) {
		t.Errorf("%q is read as %q", rr.String(), read.String())
	}
}

// headerOf is a record's header with the length that the other one has: a parser leaves it out.
func headerOf(rr, other dns.RR) dns.RR_Header {
	h := *rr.Header()
	h.Rdlength = other.Header().Rdlength
	return h
}
