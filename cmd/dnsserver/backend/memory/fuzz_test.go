package memory

import (
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/record"
)

// FuzzRespond: whatever message comes in, the response can be packed, fits, and belongs to the message.
func FuzzRespond(f *testing.F) {
	s := &Store{tree: newTree(nil, firstSerial(time.Now()))}
	for _, spec := range []record.Spec{
		{Type: "A", Domain: "example.com", Subdomain: "*", Values: []string{"192.0.2.1", "192.0.2.2"}},
		{Type: "CNAME", Domain: "example.com", Subdomain: "loop", Values: []string{"loop2.example.com"}},
		{Type: "CNAME", Domain: "example.com", Subdomain: "loop2", Values: []string{"loop.example.com"}},
		{Type: "NS", Domain: "example.com", Subdomain: "cut", Values: []string{"ns.cut.example.com"}},
		{Type: "TXT", Domain: "example.com", Subdomain: "a.b.c", Values: []string{"text"}},
	} {
		set, problems := record.Parse(spec)
		if set == nil {
			f.Fatal(problems)
		}
		s.tree.put(set)
	}
	for _, qname := range []string{"example.com.", "x.example.com.", "loop.example.com.", "y.cut.example.com.", "b.c.example.com.", ".", `\000.example.com.`} {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeANY, dns.TypeDS, dns.TypeAXFR} {
			m := new(dns.Msg).SetQuestion(qname, qtype)
			m.SetEdns0(512, true)
			data, err := m.Pack()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, false)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, stream bool) {
		query := new(dns.Msg)
		if query.Unpack(data) != nil {
			return // miekg/dns answers these itself
		}
		r := s.respond(query, stream)
		packed, err := r.Pack()
		if err != nil {
			t.Fatalf("%v\n%v", err, r)
		}
		limit := udpSize
		if stream {
			limit = dns.MaxMsgSize
		}
		if len(packed) > limit {
			t.Errorf("%d bytes, want at most %d", len(packed), limit)
		}
		if r.Id != query.Id || !r.Response {
			t.Error("no response to this message")
		}
	})
}
