package namegate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
)

// inquiry is one question, and how it is asked.
type inquiry struct {
	name   string
	qtype  uint16
	tcp    bool
	edns   bool
	do     bool
	buffer uint16
}

func (q inquiry) String() string {
	return fmt.Sprintf("%s %s tcp=%t edns=%t do=%t buffer=%d", q.name, dns.Type(q.qtype), q.tcp, q.edns, q.do, q.buffer)
}

func (q inquiry) message() *dns.Msg {
	m := new(dns.Msg).SetQuestion(q.name, q.qtype)
	m.RecursionDesired = false
	if q.edns {
		m.SetEdns0(q.buffer, q.do)
	}
	return m
}

// asker asks one server over connections that stay open.
type asker struct {
	addr     string
	udp, tcp *dns.Conn
}

func newAsker(t *testing.T, addr string) *asker {
	t.Helper()
	a := &asker{addr: addr}
	t.Cleanup(a.close)
	return a
}

func (a *asker) close() {
	for _, c := range []*dns.Conn{a.udp, a.tcp} {
		if c != nil {
			c.Close()
		}
	}
	a.udp, a.tcp = nil, nil
}

// ask asks once more, over another connection, where no answer comes: a datagram may get lost, and servers close idle connections.
func (a *asker) ask(q inquiry) (*dns.Msg, error) {
	var m *dns.Msg
	var err error
	for range 4 {
		if m, err = a.once(q); err == nil {
			return m, nil
		}
		a.close()
	}
	return nil, fmt.Errorf("%v: %w", q, err)
}

func (a *asker) once(q inquiry) (*dns.Msg, error) {
	conn, network := &a.udp, "udp"
	if q.tcp {
		conn, network = &a.tcp, "tcp"
	}
	if *conn == nil {
		c, err := net.DialTimeout(network, a.addr, 5*time.Second)
		if err != nil {
			return nil, err
		}
		*conn = &dns.Conn{Conn: c, UDPSize: dns.MaxMsgSize - 1}
	}
	m, _, err := (&dns.Client{Net: network, Timeout: 5 * time.Second, UDPSize: dns.MaxMsgSize - 1}).ExchangeWithConn(q.message(), *conn)
	return m, err
}

// said is what an answer says, in a form in which two answers that say the same are equal.
type said struct {
	Rcode                              string
	Authoritative, Recursive, EDNS, DO bool
	// Answer is in the order of the chain of aliases; the others are sorted.
	Answer, Authority, Additional []string
}

// say reads an answer.
func say(m *dns.Msg) said {
	s := said{Rcode: dns.RcodeToString[m.Rcode], Authoritative: m.Authoritative, Recursive: m.RecursionAvailable,
		Answer: inOrder(m.Answer), Authority: sets(m.Ns), Additional: sets(m.Extra)}
	if opt := m.IsEdns0(); opt != nil {
		s.EDNS, s.DO = true, opt.Do()
	}
	return s
}

// inOrder writes records in their order, but those of one set, which are in no order, sorted.
func inOrder(rrs []dns.RR) []string {
	var out []string
	for start := 0; start < len(rrs); {
		end := start + 1
		for end < len(rrs) && sameSet(rrs[start], rrs[end]) {
			end++
		}
		out = append(out, sets(rrs[start:end])...)
		start = end
	}
	return out
}

func sameSet(a, b dns.RR) bool {
	return strings.EqualFold(a.Header().Name, b.Header().Name) && a.Header().Rrtype == b.Header().Rrtype
}

// namesOnly are the types with names and numbers alone, which servers may compress (RFC 3597 section 4) so that they end in what was asked.
var namesOnly = []uint16{dns.TypeNS, dns.TypeCNAME, dns.TypeDNAME, dns.TypeSOA, dns.TypeMX, dns.TypePTR, dns.TypeSRV, dns.TypeRP, dns.TypeAFSDB}

// sets writes records sorted. Names are compared without regard to case: whether one is written as it was asked for or as it stands in the
// zone is left open (RFC 4343 section 4.1).
func sets(rrs []dns.RR) []string {
	var out []string
	for _, rr := range rrs {
		if rr.Header().Rrtype == dns.TypeOPT {
			continue
		}
		c := dns.Copy(rr)
		c.Header().Name = dns.CanonicalName(c.Header().Name)
		line := short(c)
		if slices.Contains(namesOnly, c.Header().Rrtype) {
			name, rest, _ := strings.Cut(strings.ToLower(line), " "+strings.ToLower(dns.Type(c.Header().Rrtype).String())+" ")
			line = name + " " + dns.Type(c.Header().Rrtype).String() + " " + rest
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// duel is our server and one of others, with the same zones.
type duel struct {
	*testing.T
	w            *world
	peer         peer
	ours, theirs *asker
	// known are all records of the world, as they are written in answers.
	known         map[string]struct{}
	asked, failed int
}

func newDuel(t *testing.T, p peer, w *world) *duel {
	t.Helper()
	d := &duel{T: t, w: w, peer: p, known: w.known(t)}
	d.theirs = newAsker(t, p.start(t, w))
	(&memory{begin: func(f *feed) { f.lists(t, w.published()...) }}).install(t)
	// The path is no file, but tells the watches of two servers apart.
	s := serve(t, "{addr} {\nbind 127.0.0.1\ntransfer {\nto *\n}\nnamegate {\nkubeconfig "+strings.ReplaceAll(t.Name(), "/", "-")+"\n}\n}")
	d.ours = newAsker(t, s.addr)
	for _, z := range w.zones {
		eventually(t, "all zones are served", func() bool {
			m, err := d.ours.ask(inquiry{name: z.origin(), qtype: dns.TypeSOA, tcp: true})
			return err == nil && m.Authoritative && len(m.Answer) == 1
		})
	}
	return d
}

// maxShown is how many differences are shown.
const maxShown = 5

// ask asks both, and compares what they say.
func (d *duel) ask(q inquiry) {
	d.Helper()
	d.asked++
	ours, err := d.ours.ask(q)
	if err != nil {
		d.Fatal(err)
	}
	theirs, err := d.theirs.ask(q)
	if err != nil {
		d.Fatal(err)
	}
	diff := d.compare(q, ours, theirs)
	if diff == "" {
		return
	}
	if d.failed++; d.failed <= maxShown {
		d.Errorf("%v (-theirs +ours):\n%s", q, diff)
	}
}

// compare returns what is different; empty: nothing.
func (d *duel) compare(q inquiry, ours, theirs *dns.Msg) string {
	isReferral := len(theirs.Answer) == 0 && !theirs.Authoritative
	switch {
	case q.tcp && (ours.Truncated || theirs.Truncated):
		return fmt.Sprintf("truncated over TCP: %t, theirs %t", ours.Truncated, theirs.Truncated)
	case ours.Truncated && isReferral:
		theirs.Truncated = true // since RFC 9471 (section 3.1) it is, if it has not all of the glue; it used to have as much as there was room for
	case ours.Truncated && !theirs.Truncated:
		return fmt.Sprintf("truncated, and theirs is not:\n%v\n%v", ours, theirs)
	}
	// What is truncated is whole over TCP. When that happens depends on how names are compressed.
	ours, theirs = d.whole(d.ours, q, ours), d.whole(d.theirs, q, theirs)
	a, b := say(ours), say(theirs)
	for _, record := range slices.Concat(a.Authority, a.Additional) {
		if _, isKnown := d.known[record]; !isKnown {
			return "what is in no zone: " + record
		}
	}
	switch n := d.firstZone(ours); {
	case q.qtype == dns.TypeANY && len(a.Answer)+len(b.Answer) > 0:
		all := ours
		if !q.tcp {
			all = d.whole(d.ours, q, &dns.Msg{MsgHdr: dns.MsgHdr{Truncated: true}})
		}
		return compareANY(a, b, say(all))
	case d.peer.oneZone && n <= len(ours.Answer):
		a.Rcode, a.Answer = "NOERROR", inOrder(ours.Answer[:n])
		a.Authority, a.Additional, b.Authority, b.Additional = nil, nil, nil, nil
	default:
		d.normalise(&a, &b)
	}
	return cmp.Diff(b, a, cmpopts.EquateEmpty())
}

// whole returns an answer, or the whole of it over TCP.
func (d *duel) whole(a *asker, q inquiry, m *dns.Msg) *dns.Msg {
	if !m.Truncated {
		return m
	}
	q.tcp = true
	m, err := a.ask(q)
	if err != nil {
		d.Fatal(err)
	}
	return m
}

// firstZone returns how many records of an answer there are until an alias leads into another zone. DS records at an apex are in the one above.
func (d *duel) firstZone(m *dns.Msg) int {
	isDS := m.Question[0].Qtype == dns.TypeDS
	for i, rr := range m.Answer {
		alias, ok := rr.(*dns.CNAME)
		if !ok {
			continue
		}
		if zone := d.zoneOf(alias.Target); zone != d.zoneOf(alias.Hdr.Name) || isDS && zone == alias.Target {
			return i + 1
		}
	}
	return math.MaxInt
}

// zoneOf returns the origin of the zone that a name is in; empty: none.
func (d *duel) zoneOf(name string) string {
	longest := ""
	for _, z := range d.w.zones {
		if dns.IsSubDomain(z.origin(), name) && len(z.origin()) > len(longest) {
			longest = z.origin()
		}
	}
	return longest
}

// compareANY compares what is said to ANY, where something is. A server may give one set of those that there are (RFC 8482 section 4.1), or
// say that it is to be asked over TCP (section 4.4): NSD does one over TCP and the other over UDP, BIND and we give one set over UDP and all
// over TCP.
func compareANY(a, b, all said) string {
	if slices.ContainsFunc(all.Answer, func(line string) bool { return strings.Fields(line)[2] == "CNAME" }) {
		// An alias is among what was asked for. We give it and stop there (RFC 1034 section 4.3.2, step 3a); some go on from one that a
		// DNAME makes.
		a.Rcode, b.Rcode = "", ""
		b.Answer = b.Answer[:min(len(all.Answer), len(b.Answer))]
	}
	for _, record := range slices.Concat(a.Answer, b.Answer) {
		if !slices.Contains(all.Answer, record) {
			return "not among all records: " + record
		}
	}
	if len(a.Answer) == 0 || len(b.Answer) == 0 {
		return cmp.Diff(b, a)
	}
	b.Answer, b.Authority, b.Additional = a.Answer, a.Authority, a.Additional
	return cmp.Diff(b, a)
}

// normalise makes two answers equal where servers may differ.
func (d *duel) normalise(ours, theirs *said) {
	if len(theirs.Answer) > 0 && len(withoutType(theirs.Authority, "NS")) == 0 && theirs.Rcode == "NOERROR" && !d.refers(theirs) {
		// With an answer, NS records and addresses are optional (RFC 1034 section 3.7, RFC 2181 section 9); what we give was found to be in
		// the zone. An SOA record is not: it says that the end of an alias has no such data (RFC 2308 section 2.2).
		ours.Authority, theirs.Authority = withoutType(ours.Authority, "NS"), nil
		ours.Additional, theirs.Additional = nil, nil
	}
	// DS records in a referral tell where a chain of trust goes on, which cannot start in zones without signatures: only for those that
	// have some it is said that they are to be given (RFC 4035 section 3.1.4.1).
	ours.Authority, theirs.Authority = withoutType(ours.Authority, "DS"), withoutType(theirs.Authority, "DS")
	// NSD looks up the addresses of name servers as if it was asked for them, and so gives what a wildcard has. They are no glue, for
	// whoever needs them can ask (RFC 9471 section 2.1).
	theirs.Additional = slices.DeleteFunc(theirs.Additional, func(record string) bool { _, isKnown := d.known[record]; return !isKnown })
	if d.peer.glueOnly {
		ours.Additional = slices.DeleteFunc(ours.Additional, func(record string) bool { return !slices.Contains(theirs.Additional, record) })
	}
}

// refers says whether an answer leads to another server: its NS records are not those of a zone of the world.
func (d *duel) refers(s *said) bool {
	for _, line := range s.Authority {
		owner, _, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(d.w.zones, func(z worldZone) bool { return z.origin() == owner }) {
			return false
		}
	}
	return len(s.Authority) > 0
}

func withoutType(lines []string, rrtype string) []string {
	var out []string
	for _, line := range lines {
		if strings.Fields(line)[2] != rrtype {
			out = append(out, line)
		}
	}
	return out
}

// questionsOf is how many questions are asked about a random world.
const questionsOf = 1500

// worlds is how many there are at random for each server.
const worlds = 4

// askAtRandom asks for names at random, each with some types.
func (d *duel) askAtRandom(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	names, types := d.w.names(), d.w.types()
	for range questionsOf {
		d.ask(inquiry{name: inCases(r, names[r.IntN(len(names))]), qtype: types[r.IntN(len(types))]}.somehow(r))
	}
}

// somehow asks over UDP or TCP, with and without EDNS.
func (q inquiry) somehow(r *rand.Rand) inquiry {
	q.tcp = r.IntN(5) == 0
	if q.edns = r.IntN(3) > 0; q.edns {
		q.do, q.buffer = r.IntN(2) == 0, []uint16{512, 1232, 4000}[r.IntN(3)]
	}
	return q
}

// inCases writes some names with upper case.
func inCases(r *rand.Rand, name string) string {
	if r.IntN(4) > 0 {
		return name
	}
	return strings.Map(func(c rune) rune {
		if r.IntN(2) == 0 {
			return unicode.ToUpper(c)
		}
		return c
	}, name)
}

// TestLikeOtherServers compares our answers with those of servers that have long been right, for zones made at random.
func TestLikeOtherServers(t *testing.T) {
	for _, p := range []peer{nsd, bind} {
		t.Run(p.program, func(t *testing.T) {
			p.find(t)
			for seed := range uint64(worlds) {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					d := newDuel(t, p, randomWorld(t, seed, 120))
					d.askAtRandom(seed)
					d.transfers()
					t.Logf("%d questions, %d differences", d.asked, d.failed)
				})
			}
			t.Run("by hand", func(t *testing.T) {
				d := newDuel(t, p, byHand(t))
				r := rand.New(rand.NewPCG(1, 3))
				for _, name := range d.w.names() {
					for _, qtype := range d.w.types() {
						if r.IntN(3) == 0 {
							d.ask(inquiry{name: inCases(r, name), qtype: qtype}.somehow(r))
						}
					}
				}
				for name := range d.w.owners() {
					for _, qtype := range []uint16{dns.TypeA, dns.TypeMX, dns.TypeNS} {
						d.ask(inquiry{name: name, qtype: qtype})
						d.ask(inquiry{name: name, qtype: qtype, edns: true, do: true, buffer: 1232})
					}
				}
				d.transfers()
				t.Logf("%d questions, %d differences", d.asked, d.failed)
			})
		})
	}
}

// transfers compares transfers of all zones with what was put in.
func (d *duel) transfers() {
	for _, z := range d.w.zones {
		want := []string{recordOf(z.soa), recordOf(z.soa)}
		for _, e := range z.entries {
			want = append(want, recordOf(e))
		}
		slices.Sort(want)
		for whose, a := range map[string]*asker{"ours": d.ours, "theirs": d.theirs} {
			got, err := (&server{addr: a.addr}).transfer(z.origin(), 0, "")
			if err != nil {
				d.Fatalf("%s: %v", whose, err)
			}
			if first, last := got[0], got[len(got)-1]; first.Header().Rrtype != dns.TypeSOA || last.Header().Rrtype != dns.TypeSOA {
				d.Errorf("%s of %s is not between two SOAs", whose, z.origin())
			}
			if diff := cmp.Diff(want, sets(got)); diff != "" {
				d.Errorf("%s of %s (-zone +transfer):\n%s", whose, z.origin(), diff)
			}
		}
	}
}
