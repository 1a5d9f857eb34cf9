package libdns

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/libdns/libdns"
	"github.com/libdns/rfc2136"
	"github.com/miekg/dns"
	"github.com/spf13/pflag"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

func init() {
	var c rfc2136Config
	Register(Provider{Name: "rfc2136", Flags: c.flags, Open: c.open})
}

// rfc2136Config is what the flags say.
type rfc2136Config struct {
	server, keyName, keyAlgorithm, keyFile string
}

// keyAlgorithms are the TSIG algorithms of RFC 8945 section 6 that may still be used.
var keyAlgorithms = []string{"hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"}

func (c *rfc2136Config) flags(f *pflag.FlagSet) {
	f.StringVar(&c.server, "rfc2136-server", "", "rfc2136: `host:port` of the primary name server, which takes the updates over TCP")
	f.StringVar(&c.keyName, "tsig-key-name", "", "rfc2136: `name` of the TSIG key")
	f.StringVar(&c.keyAlgorithm, "tsig-algorithm", "hmac-sha256", "rfc2136: `algorithm` of the TSIG key: "+strings.Join(keyAlgorithms, ", "))
	f.StringVar(&c.keyFile, "tsig-secret-file", "", "rfc2136: `file` with the secret of the TSIG key in base64, as tsig-keygen prints it; white space around it is ignored")
}

func (c *rfc2136Config) open([]dnsname.Name) (Client, error) {
	if _, port, err := net.SplitHostPort(c.server); err != nil || port == "" {
		return nil, errors.New("--rfc2136-server: give host:port of the primary name server, such as 192.0.2.53:53")
	}
	keyName, err := dnsname.Parse(c.keyName)
	if err != nil {
		return nil, fmt.Errorf("--tsig-key-name: %w", err)
	}
	if !slices.Contains(keyAlgorithms, c.keyAlgorithm) {
		return nil, fmt.Errorf("--tsig-algorithm: give one of %s", strings.Join(keyAlgorithms, ", "))
	}
	secret, err := os.ReadFile(c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--tsig-secret-file: %w", err)
	}
	key := strings.TrimSpace(string(secret))
	if raw, err := base64.StdEncoding.DecodeString(key); err != nil || len(raw) == 0 {
		// The decoder's error would show where in the secret it stopped.
		return nil, errors.New("--tsig-secret-file: the file does not hold a key in base64")
	}
	return &rfc2136Client{Provider: rfc2136.Provider{
		KeyName: keyName.FQDN(), KeyAlg: c.keyAlgorithm, Key: key, Server: c.server,
	}}, nil
}

// rfc2136Client sends dynamic updates (RFC 2136) signed with TSIG. The changes are those of the embedded provider: SetRecords
// is one UPDATE message, so an RRset is replaced at once or not at all. Around it, this type does what the provider leaves out:
//
//   - it writes rdata as text for a zone file parser, and the texts of TXT records not byte for byte. It is given the
//     generic form of RFC 3597 instead, which is hexadecimal, so nothing that a user wrote is ever parsed as a zone file.
//   - a server skips, without a word, a record that cannot stand beside a CNAME (RFC 2136 section 3.4.2.2), and the provider takes
//     a response without a signature for an answer, so every change is read back.
//   - its GetRecords transfers the whole zone, fails if any record in it is of a form that libdns does not know, and returns
//     the texts of TXT records with escapes.
type rfc2136Client struct {
	rfc2136.Provider
}

var (
	_ Client = (*rfc2136Client)(nil)
	_ Looker = (*rfc2136Client)(nil)
	_ Prober = (*rfc2136Client)(nil)
)

// SetRecords makes the records, which are of one RRset, the only ones of their name and type. The error is backend.ErrConflict where the
// server keeps something else at the name.
func (c *rfc2136Client) SetRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	if len(records) == 0 {
		return nil, nil
	}
	first := records[0].RR()
	id, err := idIn(zone, first.Name, first.Type)
	if err != nil {
		return nil, err
	}
	want, err := fromRecords(id, records)
	if err != nil {
		return nil, err
	}
	generic, err := genericRecords(want, first.Name)
	if err != nil {
		return nil, err
	}
	if _, err := c.Provider.SetRecords(ctx, zone, generic); err != nil {
		return nil, err
	}
	there, err := c.LookupRecords(ctx, zone, first.Name, first.Type)
	if err != nil {
		return nil, fmt.Errorf("reading back: %w", err)
	}
	if got, err := fromRecords(id, there); err != nil || !got.Equal(want) {
		return nil, backend.ErrConflict
	}
	return records, nil
}

// idIn names an RRset of a zone, the zone as its domain.
func idIn(zone, name, typ string) (backend.ID, error) {
	domain, err := dnsname.Parse(zone)
	if err != nil {
		return backend.ID{}, err
	}
	subdomain, err := dnsname.ParseSubdomain(name)
	if err != nil {
		return backend.ID{}, err
	}
	owner, err := dnsname.Join(subdomain, domain)
	return backend.ID{Owner: owner, Domain: domain, Subdomain: subdomain, Type: record.Type(typ)}, err
}

// genericRecords writes an RRset in the form of RFC 3597 section 5: TYPE16 \# 3 026869.
func genericRecords(set *record.RRset, name string) ([]libdns.Record, error) {
	var records []libdns.Record
	for _, rr := range set.RRs() {
		var g dns.RFC3597
		if err := g.ToRFC3597(rr); err != nil {
			return nil, err
		}
		records = append(records, libdns.RR{
			Name: name,
			TTL:  time.Duration(set.TTL) * time.Second,
			Type: fmt.Sprintf("TYPE%d", set.Type.Code()),
			Data: fmt.Sprintf(`\# %d %s`, len(g.Rdata)/2, g.Rdata),
		})
	}
	return records, nil
}

// DeleteRecords deletes the whole RRsets that the records are of, each once.
func (c *rfc2136Client) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	var sets []libdns.Record
	for _, rec := range records {
		rr := rec.RR()
		if set := (libdns.RR{Name: rr.Name, Type: rr.Type}); !slices.Contains(sets, libdns.Record(set)) {
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return nil, nil
	}
	if _, err := c.Provider.DeleteRecords(ctx, zone, sets); err != nil {
		return nil, err
	}
	for _, set := range sets {
		rr := set.RR()
		there, err := c.LookupRecords(ctx, zone, rr.Name, rr.Type)
		if err != nil {
			return nil, fmt.Errorf("reading back: %w", err)
		}
		if len(there) > 0 {
			return nil, errors.New("the server took the deletion and kept the records")
		}
	}
	return records, nil
}

// GetRecords transfers the zone (AXFR, RFC 5936), which the server has to allow for the key, and returns the records of the types
// that the protocol knows.
func (c *rfc2136Client) GetRecords(ctx context.Context, zone string) ([]libdns.Record, error) {
	conn, err := c.client().DialContext(ctx, c.Server)
	if err != nil {
		return nil, err
	}
	// The transfer itself knows no context.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	transfer := dns.Transfer{Conn: conn, TsigSecret: c.secrets()}
	m := new(dns.Msg).SetAxfr(zone)
	c.sign(m)
	envelopes, err := transfer.In(m, c.Server)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	var records []libdns.Record
	for envelope := range envelopes { // to its end: the sender waits for it
		if err = errors.Join(err, envelope.Error); err == nil {
			records = append(records, fromRRs(envelope.RR, zone)...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("transfer of the zone: %w", err)
	}
	return records, nil
}

// LookupRecords asks for one RRset instead of the whole zone, and so needs no transfer. Where the name lies below a delegation, the server
// does not answer for it, and the zone is transferred.
func (c *rfc2136Client) LookupRecords(ctx context.Context, zone, name, typ string) ([]libdns.Record, error) {
	owner, code := absolute(name, zone), dns.StringToType[typ]
	m := new(dns.Msg).SetQuestion(owner, code)
	m.RecursionDesired = false
	r, err := c.exchange(ctx, m)
	if err != nil {
		return nil, err
	}
	if r.Rcode != dns.RcodeSuccess && r.Rcode != dns.RcodeNameError {
		return nil, rcodeError("query", r.Rcode)
	}
	found := of(r.Answer, owner, code)
	if len(found) == 0 && !r.Authoritative {
		// A referral. The NS records of the delegation itself are in it.
		if found = of(r.Ns, owner, code); len(found) == 0 {
			return c.lookupByTransfer(ctx, zone, owner, typ)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	// An answer may also have been made from a wildcard.
	exists, err := c.exists(ctx, zone, found[0])
	if err != nil || !exists {
		return nil, err
	}
	return fromRRs(found, zone), nil
}

// of returns the records of one RRset.
func of(rrs []dns.RR, owner string, code uint16) []dns.RR {
	return slices.DeleteFunc(slices.Clone(rrs), func(rr dns.RR) bool {
		return rr.Header().Rrtype != code || dns.CanonicalName(rr.Header().Name) != owner
	})
}

func (c *rfc2136Client) lookupByTransfer(ctx context.Context, zone, owner, typ string) ([]libdns.Record, error) {
	all, err := c.GetRecords(ctx, zone)
	return slices.DeleteFunc(all, func(rec libdns.Record) bool {
		rr := rec.RR()
		return rr.Type != typ || absolute(rr.Name, zone) != owner
	}), err
}

// exists asks whether the RRset is in the zone under its own name, with an UPDATE that has a prerequisite (RFC 2136 section 2.4.1) and
// changes nothing.
func (c *rfc2136Client) exists(ctx context.Context, zone string, rr dns.RR) (bool, error) {
	m := new(dns.Msg).SetUpdate(zone)
	m.RRsetUsed([]dns.RR{rr})
	r, err := c.exchange(ctx, m)
	if err != nil {
		return false, err
	}
	switch r.Rcode {
	case dns.RcodeSuccess:
		return true, nil
	case dns.RcodeNXRrset, dns.RcodeNameError:
		return false, nil
	}
	return false, rcodeError("update", r.Rcode)
}

// Probe asks, with an UPDATE that changes nothing, whether the server takes updates of the zone with this key.
func (c *rfc2136Client) Probe(ctx context.Context, zone string) error {
	exists, err := c.exists(ctx, zone, &dns.ANY{Hdr: dns.RR_Header{Name: zone, Rrtype: dns.TypeSOA}})
	if err == nil && !exists {
		err = errors.New("the zone has no SOA record")
	}
	return err
}

// exchange signs a message, sends it over TCP and returns the response, whose signature has been verified.
func (c *rfc2136Client) exchange(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	c.sign(m)
	r, _, err := c.client().ExchangeContext(ctx, m, c.Server)
	if err != nil {
		if r != nil && r.Rcode != dns.RcodeSuccess {
			err = errors.Join(err, rcodeError("exchange", r.Rcode))
		}
		return nil, err
	}
	if r.IsTsig() == nil {
		return nil, errors.Join(errUnsigned, rcodeError("exchange", r.Rcode))
	}
	return r, nil
}

var errUnsigned = errors.New("the response is not signed")

func rcodeError(what string, rcode int) error {
	return fmt.Errorf("%s: the server answered %s", what, dns.RcodeToString[rcode])
}

func (c *rfc2136Client) client() *dns.Client {
	return &dns.Client{Net: "tcp", TsigSecret: c.secrets()}
}

func (c *rfc2136Client) secrets() map[string]string { return map[string]string{c.KeyName: c.Key} }

// tsigFudge is how far the clocks may be apart, in seconds (RFC 8945 section 10).
const tsigFudge = 300

func (c *rfc2136Client) sign(m *dns.Msg) {
	m.SetTsig(c.KeyName, dns.Fqdn(c.KeyAlg), tsigFudge, time.Now().Unix())
}

// fromRRs converts what a server sent; records of types that the protocol does not know are left out.
func fromRRs(rrs []dns.RR, zone string) []libdns.Record {
	var records []libdns.Record
	for _, rr := range rrs {
		h := rr.Header()
		if text, known := rdata(rr); known {
			records = append(records, libdns.RR{
				Name: libdns.RelativeName(dns.CanonicalName(h.Name), zone),
				TTL:  time.Duration(h.Ttl) * time.Second,
				Type: dns.TypeToString[h.Rrtype],
				Data: text,
			})
		}
	}
	return records
}

func rdata(rr dns.RR) (text string, known bool) {
	switch rr := rr.(type) {
	case *dns.A:
		return rr.A.String(), true
	case *dns.AAAA:
		return rr.AAAA.String(), true
	case *dns.CNAME:
		return rr.Target, true
	case *dns.TXT:
		return joined(rr)
	case *dns.MX:
		return fmt.Sprintf("%d %s", rr.Preference, rr.Mx), true
	case *dns.SRV:
		return fmt.Sprintf("%d %d %d %s", rr.Priority, rr.Weight, rr.Port, rr.Target), true
	case *dns.NS:
		return rr.Ns, true
	}
	return "", false
}

// joined returns the text of a TXT record as it is on the wire: its character-strings joined, every byte as it is.
func joined(txt *dns.TXT) (text string, known bool) {
	var g dns.RFC3597
	if err := g.ToRFC3597(txt); err != nil {
		return "", false
	}
	wire, err := hex.DecodeString(g.Rdata)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for len(wire) > 0 {
		end := min(1+int(wire[0]), len(wire))
		b.Write(wire[1:end])
		wire = wire[end:]
	}
	return b.String(), true
}
