package namegate

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

const (
	keyName   = "xfr.key."
	keySecret = "c2VjcmV0IHNlY3JldCBzZWNyZXQ="
)

// server is CoreDNS with a Corefile. The text {addr} in it is an address on which nobody listens yet.
type server struct {
	*caddy.Instance
	addr string
}

// corefile puts the address in.
func (s *server) corefile(text string) caddy.CaddyfileInput {
	port := s.addr[strings.LastIndexByte(s.addr, ':'):]
	return corefile(strings.NewReplacer("{addr}", "."+port, "{port}", port).Replace(text))
}

func corefile(text string) caddy.CaddyfileInput {
	return caddy.CaddyfileInput{Contents: []byte(text), Filepath: "Corefile", ServerTypeName: "dns"}
}

func serve(t *testing.T, text string) *server {
	t.Helper()
	s := &server{addr: freeAddress(t)}
	var err error
	if s.Instance, err = caddy.Start(s.corefile(text)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(t) })
	return s
}

func (s *server) end(t *testing.T) {
	if err := errors.Join(append([]error{s.Stop()}, s.ShutdownCallbacks()...)...); err != nil {
		t.Error(err)
	}
}

func (s *server) ask(t testing.TB, name string, qtype uint16) *dns.Msg {
	t.Helper()
	m, err := dns.ExchangeContext(t.Context(), new(dns.Msg).SetQuestion(name, qtype), s.addr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// transfer returns the records of a transfer, in the order in which they came.
func (s *server) transfer(name string, serial uint32, key string) ([]dns.RR, error) {
	m := new(dns.Msg).SetAxfr(name)
	if serial != 0 {
		m.SetIxfr(name, serial, "a.", "b.")
	}
	tr := new(dns.Transfer)
	if key != "" {
		tr.TsigSecret = map[string]string{keyName: key}
		m.SetTsig(keyName, dns.HmacSHA256, 300, time.Now().Unix())
	}
	envelopes, err := tr.In(m, s.addr)
	if err != nil {
		return nil, err
	}
	var out []dns.RR
	for e := range envelopes {
		if e.Error != nil {
			return nil, e.Error
		}
		out = append(out, e.RR...)
	}
	return out, nil
}

// transferred checks that a transfer has exactly the records of a zone, between two SOAs.
func transferred(t *testing.T, got []dns.RR, p published, origin string, serial int) {
	t.Helper()
	soa := strings.Replace(soaOf(origin, serial), " 60 ", " 600 ", 1)
	if len(got) < 2 || short(got[0]) != soa || short(got[len(got)-1]) != soa {
		t.Fatalf("%d records, not between two SOAs", len(got))
	}
	var want []string
	for _, slice := range p.slices {
		for _, e := range slice.Entries {
			want = append(want, fmt.Sprintf("%s. %d %s %s", e.Name, e.TTL, e.Type, e.RData))
		}
	}
	if diff := cmp.Diff(sorted(lines(want...)), sorted(shorts(got[1:len(got)-1]))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTransfer(t *testing.T) {
	all := internet(t)
	big := make([]string, 0, 5_001)
	for i := range cap(big) - 1 {
		big = append(big, fmt.Sprintf("host%d 300 A 192.0.2.1", i))
	}
	all = append(all, publish(t, "dns/big", "u9", "big.org.", 7, append(big, "@ 300 NS ns.big.org.")...))
	(&memory{begin: func(f *feed) { f.lists(t, all...) }}).install(t)

	const byAddress = "{addr} {\nbind 127.0.0.1\ntransfer {\nto 127.0.0.1\n}\nnamegate {\nkubeconfig a\n}\n}"
	const byKey = "{addr} {\nbind 127.0.0.1\ntsig {\nsecret " + keyName + " " + keySecret + "\nrequire AXFR IXFR\n}\ntransfer {\nto *\n}\nnamegate {\nkubeconfig b\n}\n}"
	const another = "YW5vdGhlciBhbm90aGVyIGFub3RoZXI="
	for _, tc := range []struct {
		name, corefile, zone string
		serial               uint32
		key                  string
		records              int // 0: refused
	}{
		{"by address", byAddress, "example.org.", 0, "", len(all[0].slices[0].Entries) + 2},
		{"many messages", byAddress, "big.org.", 0, "", 5_003},
		{"a sub-zone", byAddress, "dev.example.org.", 0, "", 5},
		{"not a zone", byAddress, "www.example.org.", 0, "", 0},
		{"not ours", byAddress, "example.com.", 0, "", 0},
		{"older serial", byAddress, "dev.example.org.", 19, "", 5},
		{"same serial", byAddress, "dev.example.org.", 20, "", 1},
		{"newer serial", byAddress, "dev.example.org.", 21, "", 1},
		{"another address", strings.Replace(byAddress, "to 127.0.0.1", "to 192.0.2.1", 1), "example.org.", 0, "", 0},
		{"no plugin transfer", strings.Replace(byAddress, "transfer {\nto 127.0.0.1\n}\n", "", 1), "example.org.", 0, "", 0},
		{"zone not listed", strings.Replace(byAddress, "namegate {", "namegate other.net {", 1), "example.org.", 0, "", 0},
		{"by key", byKey, "big.org.", 0, keySecret, 5_003},
		{"by key, same serial", byKey, "big.org.", 7, keySecret, 1},
		{"without the key", byKey, "example.org.", 0, "", 0},
		{"with another key", byKey, "example.org.", 0, another, 0},
		{"signed answers", strings.Replace(byAddress, "transfer {", "dnssec example.org {\nkey file {keys}\n}\ntransfer {", 1), "example.org.", 0, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, strings.ReplaceAll(tc.corefile, "{keys}", signingKey(t)))
			got, err := s.transfer(tc.zone, tc.serial, tc.key)
			if (err == nil) != (tc.records > 0) || len(got) != tc.records {
				t.Fatalf("%d records and error %v, want %d", len(got), err, tc.records)
			}
			if tc.zone == "example.org." && tc.records > 0 {
				transferred(t, got, all[0], tc.zone, 10)
			}
		})
	}
}

// signingKey makes a key for example.org and returns the path without its ending.
func signingKey(t *testing.T) string {
	t.Helper()
	key := &dns.DNSKEY{Hdr: dns.RR_Header{Name: "example.org.", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET}, Flags: 257, Protocol: 3, Algorithm: dns.ECDSAP256SHA256}
	private, err := key.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), fmt.Sprintf("Kexample.org.+%03d+%05d", key.Algorithm, key.KeyTag()))
	for ending, text := range map[string]string{".key": key.String(), ".private": key.PrivateKeyString(private)} {
		if err := os.WriteFile(base+ending, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// The plugin dnssec signs what we answer.
func TestDNSSEC(t *testing.T) {
	(&memory{begin: func(f *feed) { f.lists(t, internet(t)...) }}).install(t)
	s := serve(t, "{addr} {\nbind 127.0.0.1\ndnssec example.org {\nkey file "+signingKey(t)+"\n}\nnamegate {\nkubeconfig a\n}\n}")
	m := new(dns.Msg).SetQuestion("www.example.org.", dns.TypeA)
	m.SetEdns0(4096, true)
	got, err := dns.ExchangeContext(t.Context(), m, s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Answer) != 3 || got.Answer[2].Header().Rrtype != dns.TypeRRSIG {
		t.Errorf("answer %v", got.Answer)
	}
}

// secondary counts the NOTIFYs that it gets.
type secondary struct {
	addr string
	got  chan string
	// hold keeps answers back until it is closed.
	hold chan struct{}
	// failures is how many times it still fails.
	failures atomic.Int32
}

func newSecondary(t *testing.T) *secondary {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &secondary{addr: conn.LocalAddr().String(), got: make(chan string, 1000), hold: make(chan struct{})}
	srv := &dns.Server{PacketConn: conn, MsgAcceptFunc: func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
			if r.Opcode == dns.OpcodeNotify {
				s.got <- r.Question[0].Name
			}
			<-s.hold
			reply := new(dns.Msg).SetReply(r)
			if s.failures.Add(-1) >= 0 {
				reply.Rcode = dns.RcodeServerFailure
			}
			_ = w.WriteMsg(reply) // the sender asks again otherwise
		})}
	go func() { _ = srv.ActivateAndServe() }()
	t.Cleanup(func() { _ = srv.ShutdownContext(t.Context()) })
	return s
}

func (s *secondary) hears(t *testing.T, zone string) {
	t.Helper()
	select {
	case got := <-s.got:
		if got != zone {
			t.Fatalf("NOTIFY for %s, want %s", got, zone)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("no NOTIFY for %s", zone)
	}
}

// Each new version is announced; what changes while an announcement is under way is announced once.
func TestNotify(t *testing.T) {
	dev := func(serial uint32) published {
		return publish(t, "dns/dev", "u2", "dev.example.org.", serial, "@ 300 NS ns.dev.example.org.", fmt.Sprintf("www 300 A 192.0.2.%d", serial))
	}
	m := &memory{begin: func(f *feed) { f.lists(t, dev(20)) }}
	m.install(t)
	sec := newSecondary(t)
	serve(t, "{addr} {\nbind 127.0.0.1\ntransfer {\nto "+sec.addr+"\n}\nnamegate {\nkubeconfig a\n}\n}")
	sec.hears(t, "dev.example.org.")
	for serial := uint32(21); serial <= 60; serial++ {
		m.feed.tells(t, dev(serial))
	}
	m.feed.settled(t)
	close(sec.hold)
	sec.hears(t, "dev.example.org.")
	m.feed.tells(t, dev(61))
	sec.hears(t, "dev.example.org.")
	if more := len(sec.got); more > 1 {
		t.Errorf("%d more NOTIFYs", more)
	}
}

// A secondary that does not take a NOTIFY gets it again, with no other change.
func TestNotifyAgain(t *testing.T) {
	(&memory{begin: func(f *feed) { f.lists(t, internet(t)[1]) }}).install(t)
	sec := newSecondary(t)
	close(sec.hold)
	sec.failures.Store(12) // it is tried three times each time
	serve(t, "{addr} {\nbind 127.0.0.1\ntransfer {\nto "+sec.addr+"\n}\nnamegate {\nkubeconfig a\n}\n}")
	for range 13 {
		sec.hears(t, "dev.example.org.")
	}
}

// A reload keeps the watch and what came of it: no list is read again, and no question goes unanswered.
func TestReloadKeepsWatch(t *testing.T) {
	m := &memory{begin: func(f *feed) { f.lists(t, internet(t)...) }}
	m.install(t)
	text := "{addr} {\nbind 127.0.0.1\nready 127.0.0.1:0\nnamegate {\nkubeconfig a\n}\n}"
	s := serve(t, text)
	before := m.feed
	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- askUntil(stop, s.addr) }()
	for range 3 {
		next, err := s.Restart(s.corefile(strings.Replace(text, "namegate {", "namegate example.org {", 1)))
		if err != nil {
			t.Fatal(err)
		}
		s.Instance = next
	}
	close(stop)
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if opened, ended := m.counts(); opened != 1 || ended != 0 || m.feed != before {
		t.Errorf("%d watches were opened and %d ended, want one that goes on", opened, ended)
	}
	if len(before.users) != 1 {
		t.Errorf("the watch has %d users, want 1", len(before.users))
	}
	before.tells(t, publish(t, "dns/dev", "u2", "dev.example.org.", 21, "@ 300 NS ns.dev.example.org."))
	eventually(t, "a change arrives", func() bool {
		return s.ask(t, "www.dev.example.org.", dns.TypeA).Rcode == dns.RcodeNameError
	})
}

// askUntil asks over and over, and tells the first answer that is wrong.
func askUntil(stop chan struct{}, addr string) error {
	client := &dns.Client{Timeout: 2 * time.Second, Net: "udp"}
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion("www.example.org.", dns.TypeA), addr)
		var timeout net.Error
		if errors.As(err, &timeout) {
			continue // the kernel drops what waits on a socket that is closed; that is the same with every plugin
		}
		if err != nil || len(m.Answer) != 2 {
			return fmt.Errorf("answer %v, error %w", m, err)
		}
	}
}

// The last server block to go ends the watch; a Corefile that is refused does not touch it.
func TestWatchEnds(t *testing.T) {
	m := &memory{begin: func(f *feed) { f.lists(t, internet(t)...) }}
	m.install(t)
	instance, err := caddy.Start(corefile(".:0 {\nbind 127.0.0.1\nnamegate {\nkubeconfig a\n}\n}\nexample.org:0 {\nbind 127.0.0.1\nnamegate {\nkubeconfig a\n}\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if opened, _ := m.counts(); opened != 1 {
		t.Errorf("%d watches for two server blocks", opened)
	}
	if _, err := instance.Restart(corefile(".:0 {\nbind 127.0.0.1\nnamegate {\nnonsense\n}\n}")); err == nil || !strings.Contains(err.Error(), "Corefile:4") {
		t.Errorf("error %v, want one with the line", err)
	}
	if _, ended := m.counts(); ended != 0 {
		t.Error("a Corefile with an error ended the watch")
	}
	if err := errors.Join(append([]error{instance.Stop()}, instance.ShutdownCallbacks()...)...); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch ends", func() bool { _, ended := m.counts(); return ended == 1 })
}

// A Corefile that fails when its plugins have started leaves nothing behind: neither a user of the watch that goes on, nor one of its own.
func TestFailedReload(t *testing.T) {
	m := &memory{begin: func(f *feed) { f.lists(t, internet(t)...) }}
	m.install(t)
	const block = "bind 127.0.0.1\nnamegate {\nkubeconfig a\n}\n}\n"
	s := serve(t, "{addr} {\n"+block+"example.org{port} {\n"+block)
	before := m.feed
	elsewhere := "example.net:0 {\nbind 192.0.2.1\n}\n" // an address that this machine does not have
	for name, text := range map[string]string{
		"same watch":    "{addr} {\n" + block + "example.com{port} {\n" + block + elsewhere,
		"another watch": "{addr} {\n" + strings.Replace(block, "kubeconfig a", "kubeconfig b", 1) + elsewhere,
	} {
		if _, err := s.Restart(s.corefile(text)); err == nil {
			t.Fatalf("%s: no error", name)
		}
		if n := len(before.users); n != 2 {
			t.Errorf("%s: the watch has %d users, want 2", name, n)
		}
	}
	eventually(t, "the other watch ends", func() bool { opened, ended := m.counts(); return opened == 2 && ended == 1 })
	if n := len(feeds.all()); n != 1 {
		t.Errorf("%d watches", n)
	}
	if got := s.ask(t, "www.example.org.", dns.TypeA); len(got.Answer) != 2 {
		t.Errorf("answer %v", got)
	}
	next, err := s.Restart(s.corefile("{addr} {\n" + block))
	if err != nil {
		t.Fatal(err)
	}
	if s.Instance = next; len(before.users) != 1 {
		t.Errorf("the watch has %d users, want 1", len(before.users))
	}
}

// The plugin ready waits for the first list and for every zone of it, but not for ever for one whose slices are missing.
func TestReady(t *testing.T) {
	m := &memory{begin: func(*feed) {}}
	m.install(t)
	addr := freeAddress(t)
	shorten(t, &firstSync, time.Millisecond)
	shorten(t, &patience, time.Second)
	serve(t, "{addr} {\nbind 127.0.0.1\nready "+addr+"\nnamegate {\nkubeconfig a\n}\n}")
	eventually(t, "the source runs", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.feed != nil })
	status := func() string {
		res, err := http.Get("http://" + addr + "/ready")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return fmt.Sprint(res.StatusCode, " ", string(body))
	}
	if got := status(); got != "503 namegate" {
		t.Errorf("%s before the first list", got)
	}
	all := internet(t)
	lame := all[0]
	lame.slices = nil
	m.feed.lists(t, append(all[1:], lame)...)
	m.feed.settled(t)
	if got := status(); got != "503 namegate" {
		t.Errorf("%s while a zone has no slices", got)
	}
	eventually(t, "one zone without slices holds up readiness no longer", func() bool { return status() == "200 OK" })
	late := publish(t, "x/y", "u99", "late.net.", 1, "@ 300 NS ns.late.net.")
	late.slices = nil
	m.feed.tells(t, late)
	if got := status(); got != "200 OK" {
		t.Errorf("%s when a zone is being published", got)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// shorten makes a time shorter for one test.
func shorten(t *testing.T, d *time.Duration, to time.Duration) {
	before := *d
	*d = to
	t.Cleanup(func() { *d = before })
}

// The end of an alias may be known to another plugin of the server. What that says does not exist has no SOA of ours.
func TestAliasToAnotherPlugin(t *testing.T) {
	p := publish(t, "dns/org", "u1", org, 10, ns, "away 300 CNAME www.example.com.", "gone 300 CNAME none.example.com.", "empty 300 CNAME mail.example.com.")
	(&memory{begin: func(f *feed) { f.lists(t, p) }}).install(t)
	path := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(path, []byte("@ 300 SOA a. b. 1 2 3 4 5\n@ 300 NS a.\nwww 300 A 203.0.113.1\nmail 300 MX 1 a.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "{addr} {\nbind 127.0.0.1\nfile "+path+" example.com\nnamegate {\nkubeconfig a\n}\n}")
	for name, tc := range map[string]struct {
		rcode        int
		answer, auth string
	}{
		"away.":  {dns.RcodeSuccess, "away.example.org. 300 CNAME www.example.com.\nwww.example.com. 300 A 203.0.113.1", "example.org. 300 NS ns.example.org."},
		"gone.":  {dns.RcodeNameError, "gone.example.org. 300 CNAME none.example.com.", ""},
		"empty.": {dns.RcodeSuccess, "empty.example.org. 300 CNAME mail.example.com.", ""},
	} {
		m := s.ask(t, name+org, dns.TypeA)
		if m.Rcode != tc.rcode || shorts(m.Answer) != tc.answer || shorts(m.Ns) != tc.auth {
			t.Errorf("%s: %v", name, m)
		}
	}
}
