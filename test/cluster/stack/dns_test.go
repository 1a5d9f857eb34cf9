package stack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestRead(t *testing.T) {
	const (
		www   = "www.example.com. 60 IN A 192.0.2.2"
		shout = "WWW.example.com. 61 IN A 192.0.2.1"
		alias = "alias.example.com. 60 IN CNAME www.example.com."
		cut   = "lab.example.com. 60 IN NS ns.example.net."
		soa   = "example.com. 60 IN SOA ns.example.com. h.example.com. 1 2 3 4 5"
	)
	tests := map[string]struct {
		name       string
		recordType uint16
		rcode      int
		answer, ns []string
		want       Answer
	}{
		"values are sorted, names compared without case": {
			name: "www.example.com.", recordType: dns.TypeA, answer: []string{www, shout},
			want: Answer{Rcode: "NOERROR", TTL: 60, Values: []string{"192.0.2.1", "192.0.2.2"}},
		},
		"what an alias leads to is not the name's own": {
			name: "alias.example.com.", recordType: dns.TypeA, answer: []string{alias, www},
			want: Answer{Rcode: "NOERROR"},
		},
		"a referral answers for NS": {
			name: "lab.example.com.", recordType: dns.TypeNS, ns: []string{cut},
			want: Answer{Rcode: "NOERROR", TTL: 60, Values: []string{"ns.example.net."}},
		},
		"and for nothing else": {
			name: "lab.example.com.", recordType: dns.TypeA, ns: []string{cut},
			want: Answer{Rcode: "NOERROR"},
		},
		"nothing": {
			name: "lab.example.com.", recordType: dns.TypeNS, rcode: dns.RcodeNameError, ns: []string{soa},
			want: Answer{Rcode: "NXDOMAIN"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			msg := &dns.Msg{MsgHdr: dns.MsgHdr{Rcode: test.rcode}, Answer: records(t, test.answer), Ns: records(t, test.ns)}
			if diff := cmp.Diff(test.want, read(msg, test.name, test.recordType)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func records(t *testing.T, lines []string) []dns.RR {
	t.Helper()
	var rrs []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		rrs = append(rrs, rr)
	}
	return rrs
}
