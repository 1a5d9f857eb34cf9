package stack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/test/cluster"
)

// Answer is what a DNS server says about one type at one name.
type Answer struct {
	// Rcode is the response code: NOERROR, NXDOMAIN, …
	Rcode string
	// TTL in seconds, of the first record.
	TTL uint32
	// Values are the records as a zone file writes them ("10 mx1.example.com."), without name, TTL and type, sorted. Those
	// of a referral count as the answer to a question for NS.
	Values []string
}

// askTimeout bounds one question.
const askTimeout = 2 * time.Second

// Ask asks a DNS server (host:port) over UDP, and over TCP where the answer was cut off.
func Ask(ctx context.Context, server, name, recordType string) (Answer, error) {
	rrtype, known := dns.StringToType[recordType]
	if !known {
		return Answer{}, fmt.Errorf("%q is no record type", recordType)
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), rrtype)
	question.RecursionDesired = false
	answer, err := exchange(ctx, "udp", question, server)
	if err == nil && answer.Truncated {
		answer, err = exchange(ctx, "tcp", question, server)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("ask %s for %s %s: %w", server, name, recordType, err)
	}
	return read(answer, dns.Fqdn(name), rrtype), nil
}

func exchange(ctx context.Context, network string, question *dns.Msg, server string) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, _, err := (&dns.Client{Net: network}).ExchangeContext(ctx, question, server)
	return answer, err
}

func read(msg *dns.Msg, name string, rrtype uint16) Answer {
	answer := Answer{Rcode: dns.RcodeToString[msg.Rcode]}
	records := msg.Answer
	if rrtype == dns.TypeNS && len(records) == 0 {
		records = msg.Ns
	}
	for _, rr := range records {
		header := rr.Header()
		if header.Rrtype != rrtype || !strings.EqualFold(header.Name, name) {
			continue
		}
		if len(answer.Values) == 0 {
			answer.TTL = header.Ttl
		}
		answer.Values = append(answer.Values, strings.TrimPrefix(rr.String(), header.String()))
	}
	slices.Sort(answer.Values)
	return answer
}

// AwaitAnswer asks until the values are exactly those wanted, in any order; none wanted means that there is no such
// record. It gives up when ctx ends.
func AwaitAnswer(ctx context.Context, server, name, recordType string, want ...string) (Answer, error) {
	want = slices.Sorted(slices.Values(want))
	var answer Answer
	err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		var err error
		if answer, err = Ask(ctx, server, name, recordType); err != nil {
			return err
		}
		if !slices.Equal(answer.Values, want) {
			return fmt.Errorf("%s %s: the answer is %s %q, want %q", name, recordType, answer.Rcode, answer.Values, want)
		}
		return nil
	})
	return answer, err
}
