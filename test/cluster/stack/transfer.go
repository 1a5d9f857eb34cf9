package stack

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// TransferOptions say who asks for a zone.
type TransferOptions struct {
	// Key signs the request; nil: it is not signed.
	Key *TSIGKey
	// From is the address that it comes from ("127.0.0.2"); empty: the system's choice.
	From string
}

// ZoneData is a whole zone as a server gives it away.
type ZoneData struct {
	// Serial of its SOA record.
	Serial uint32
	// Records are all but the SOA, each as a line of a zone file ("www.example.org.\t300\tIN\tA\t192.0.2.1"), sorted.
	Records []string
	// SOA is the SOA record as a line of a zone file, with 0 for the serial.
	SOA string
}

// transferTimeout bounds a transfer.
const transferTimeout = 30 * time.Second

// Transfer asks a DNS server for a whole zone (AXFR, RFC 5936).
func Transfer(ctx context.Context, server, zone string, opts TransferOptions) (*ZoneData, error) {
	question := new(dns.Msg).SetAxfr(dns.Fqdn(zone))
	dialer := &net.Dialer{Timeout: askTimeout}
	if opts.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(opts.From)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	transfer := &dns.Transfer{Conn: &dns.Conn{Conn: conn}, ReadTimeout: transferTimeout}
	if opts.Key != nil {
		name := dns.Fqdn(opts.Key.Name)
		question.SetTsig(name, dns.HmacSHA256, 300, time.Now().Unix())
		transfer.TsigSecret = map[string]string{name: opts.Key.Secret}
	}
	envelopes, err := transfer.In(question, server)
	if err != nil {
		return nil, err
	}
	var records []dns.RR
	for envelope := range envelopes { // to its end, or its sender would wait for ever
		records = append(records, envelope.RR...)
		if envelope.Error != nil {
			err = envelope.Error
		}
	}
	if err != nil {
		return nil, fmt.Errorf("transfer of %s from %s: %w", zone, server, err)
	}
	return dataOf(zone, records)
}

// dataOf reads the answer: an SOA record, everything else, and the SOA record again.
func dataOf(zone string, records []dns.RR) (*ZoneData, error) {
	if len(records) < 2 {
		return nil, fmt.Errorf("the transfer of %s has %d records", zone, len(records))
	}
	first, isFirst := records[0].(*dns.SOA)
	last, isLast := records[len(records)-1].(*dns.SOA)
	if !isFirst || !isLast || first.Serial != last.Serial {
		return nil, fmt.Errorf("the transfer of %s begins with %s and ends with %s", zone, records[0], records[len(records)-1])
	}
	data := &ZoneData{Serial: first.Serial}
	for _, rr := range records[1 : len(records)-1] {
		data.Records = append(data.Records, Line(rr))
	}
	slices.Sort(data.Records)
	first.Serial = 0
	data.SOA = Line(first)
	return data, nil
}

// Line writes a record as a line of a zone file, its owner in lower case.
func Line(rr dns.RR) string {
	header := rr.Header()
	header.Name = strings.ToLower(header.Name)
	return rr.String()
}

// Serial asks a DNS server for the serial of a zone.
func Serial(ctx context.Context, server, zone string) (uint32, error) {
	question := new(dns.Msg).SetQuestion(dns.Fqdn(zone), dns.TypeSOA)
	answer, err := exchange(ctx, "udp", question, server)
	if err != nil {
		return 0, err
	}
	for _, rr := range answer.Answer {
		if soa, ok := rr.(*dns.SOA); ok && strings.EqualFold(soa.Hdr.Name, dns.Fqdn(zone)) {
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s answers %s without the SOA record of %s", server, dns.RcodeToString[answer.Rcode], zone)
}
