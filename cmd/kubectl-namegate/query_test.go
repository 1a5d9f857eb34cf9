package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// dnsServer answers as the handler does, over UDP and TCP, until the test ends. It returns its address.
func dnsServer(t *testing.T, handler dns.HandlerFunc) string {
	t.Helper()
	packets, listener := samePort(t)
	address := packets.LocalAddr().String()
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		stopped := make(chan error, 1)
		go func() { stopped <- server.ActivateAndServe() }()
		select {
		case <-started:
		case err := <-stopped:
			t.Fatal(err)
		case <-time.After(10 * time.Second):
			t.Fatal("the DNS server does not start")
		}
		t.Cleanup(func() {
			if err := server.Shutdown(); err != nil {
				t.Error(err)
			}
			if err := <-stopped; err != nil {
				t.Error(err)
			}
		})
	}
	return address
}

// samePort listens on one port over UDP and TCP. A port that is free for the one may be taken for the other.
func samePort(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var last error
	for range 20 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, listener
		}
		last = errors.Join(err, packets.Close())
	}
	t.Fatal(last)
	return nil, nil
}

// transports remembers how a server was asked.
type transports struct {
	mu   sync.Mutex
	list []string
}

func (a *transports) add(transport string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, transport)
}

// taken returns them and forgets them.
func (a *transports) taken() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := strings.Join(a.list, " ")
	a.list = nil
	return out
}

func mustRR(t *testing.T, text string) dns.RR {
	t.Helper()
	rr, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return rr
}

func TestQuery(t *testing.T) {
	records := map[string][]string{
		"www.example.com. A":          {"www.example.com. 60 IN A 192.0.2.1", "www.example.com. 60 IN A 192.0.2.2"},
		"alias.example.com. A":        {"alias.example.com. 60 IN CNAME www.example.com.", "www.example.com. 60 IN A 192.0.2.1"},
		"example.com. MX":             {"example.com. 60 IN MX 10 mx.example.com."},
		"example.com. TXT":            {`example.com. 60 IN TXT "v=spf1 -all" "\027[31m"`},
		"_sip._tcp.example.com. SRV":  {"_sip._tcp.example.com. 60 IN SRV 1 2 5060 sip.example.com."},
		"*.example.com. AAAA":         {"*.example.com. 60 IN AAAA 2001:db8::1"},
		"1.2.0.192.in-addr.arpa. PTR": {"1.2.0.192.in-addr.arpa. 60 IN PTR www.example.com."},
	}
	for i := range 200 {
		records["large.example.com. A"] = append(records["large.example.com. A"], fmt.Sprintf("large.example.com. 60 IN A 192.0.2.%d", i))
	}
	var asked transports
	address := dnsServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		asked.add(w.LocalAddr().Network())
		answer := new(dns.Msg)
		answer.SetReply(q)
		question := q.Question[0].Name + " " + dns.TypeToString[q.Question[0].Qtype]
		switch {
		case strings.HasPrefix(question, "absent."):
			answer.Rcode = dns.RcodeNameError
		case strings.HasPrefix(question, "refused."):
			answer.Rcode = dns.RcodeRefused
		}
		for _, text := range records[question] {
			answer.Answer = append(answer.Answer, mustRR(t, text))
		}
		if w.LocalAddr().Network() == "udp" {
			answer.Truncate(maxUDPSize)
		}
		if err := w.WriteMsg(answer); err != nil {
			t.Error(err)
		}
	})
	large := ""
	for i := range 200 {
		large += fmt.Sprintf("192.0.2.%d\n", i)
	}
	tests := []struct {
		args       string
		code       int
		stdout     string
		transports string
	}{
		{"www.example.com", 0, "192.0.2.1\n192.0.2.2\n", "udp"},
		{"WWW.Example.com. a", 0, "192.0.2.1\n192.0.2.2\n", "udp"},
		{"www.example.com A --tcp", 0, "192.0.2.1\n192.0.2.2\n", "tcp"},
		{"alias.example.com", 0, "www.example.com.\n192.0.2.1\n", "udp"},
		{"example.com mx", 0, "10 mx.example.com.\n", "udp"},
		{"example.com TXT", 0, `"v=spf1 -all" "\027[31m"` + "\n", "udp"},
		{"_sip._tcp.example.com SRV", 0, "1 2 5060 sip.example.com.\n", "udp"},
		{"*.example.com AAAA", 0, "2001:db8::1\n", "udp"},
		{"1.2.0.192.in-addr.arpa PTR", 0, "www.example.com.\n", "udp"},
		{"large.example.com", 0, large, "udp tcp"},
		{"www.example.com AAAA", 1, "NODATA\n", "udp"},
		{"absent.example.com", 1, "NXDOMAIN\n", "udp"},
		{"refused.example.com", 2, "", "udp"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			asked.taken() // those of the test before
			got := runBinary(t, "", append([]string{"query", "--server", address}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || got.stdout != tt.stdout || (got.stderr != "") != (tt.code == 2) {
				t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if over := asked.taken(); over != tt.transports {
				t.Errorf("asked over %s; want %s", over, tt.transports)
			}
		})
	}
}

// A server that is not there, or says nothing, is told apart from one that has no such name.
func TestQueryWithoutAnswer(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	address := silent.LocalAddr().String()
	for _, args := range [][]string{{"--timeout", "20ms"}, {"--timeout", "2s", "--tcp"}} {
		got := runBinary(t, "", append([]string{"query", "example.com", "--server", address}, args...)...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "ask "+address) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	asked := 0
	buffer := make([]byte, 512)
	if err := silent.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for ; asked < attempts; asked++ {
		if _, _, err := silent.ReadFrom(buffer); err != nil {
			t.Fatalf("asked %d times; want %d: %v", asked, attempts, err)
		}
	}
}

func TestWithPort(t *testing.T) {
	tests := []struct{ in, want string }{
		{"127.0.0.1:5353", "127.0.0.1:5353"}, {"127.0.0.1", "127.0.0.1:53"}, {"ns.example.com", "ns.example.com:53"},
		{"::1", "[::1]:53"}, {"[::1]", "[::1]:53"}, {"[::1]:5353", "[::1]:5353"}, {"", ""}, {"a:b:c", ""}, {"a:", ""}, {":53", ""},
	}
	for _, tt := range tests {
		got, err := withPort(tt.in)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("withPort(%q) is %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}
