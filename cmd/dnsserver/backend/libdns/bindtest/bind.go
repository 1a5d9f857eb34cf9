// Package bindtest runs a real BIND 9 for tests.
package bindtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// The key that may update the zones and transfer them.
const (
	KeyName   = "namegate-test"
	KeySecret = "c2VjcmV0IGZvciB0ZXN0cyBvbmx5LCBub3QgYSBzZWNyZXQ="
)

// Server is a running BIND.
type Server struct {
	// Addr is host:port, for UDP and TCP.
	Addr string
}

// startTries is how often another port is tried where somebody took the first one.
const startTries = 3

// Start runs BIND with these zones, each dynamic, until the test ends. A machine without BIND skips the test.
func Start(t testing.TB, zones ...string) *Server {
	t.Helper()
	named, err := exec.LookPath("named")
	if err != nil {
		if named, err = exec.LookPath("/usr/sbin/named"); err != nil {
			t.Skip("BIND 9 is not installed (Debian package bind9)")
		}
	}
	var log string
	for range startTries {
		dir := t.TempDir()
		addr := freeAddr(t)
		configure(t, dir, addr, zones)
		p := start(t, named, dir)
		if p.ready(addr, zones) {
			t.Cleanup(func() { p.stop(t) })
			return &Server{Addr: addr}
		}
		p.stop(t)
		log = p.log()
	}
	t.Fatalf("BIND does not start:\n%s", log)
	return nil
}

// freeAddr returns an address whose port is free for UDP and TCP.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 10 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := tcp.Addr().String()
		udp, err := net.ListenPacket("udp", addr)
		_ = tcp.Close()
		if err == nil {
			_ = udp.Close()
			return addr
		}
	}
	t.Fatal("no port is free for both UDP and TCP")
	return ""
}

func configure(t testing.TB, dir, addr string, zones []string) {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, `options {
	directory %q;
	listen-on port %s { 127.0.0.1; };
	listen-on-v6 { none; };
	pid-file none;
	session-keyfile none;
	recursion no;
	allow-transfer { key %q; };
};
controls { };
key %q { algorithm hmac-sha256; secret %q; };
key "stranger" { algorithm hmac-sha256; secret %q; };
`, dir, port, KeyName, KeyName, KeySecret, KeySecret)
	for _, zone := range zones {
		fmt.Fprintf(&conf, "zone %q { type primary; file \"%s.zone\"; allow-update { key %q; }; check-integrity no; };\n", zone, zone, KeyName)
		text := "$TTL 300\n@ IN SOA ns hostmaster 1 3600 600 86400 60\n@ IN NS ns\nns IN A 192.0.2.53\n"
		writeFile(t, filepath.Join(dir, zone+".zone"), text)
	}
	writeFile(t, filepath.Join(dir, "named.conf"), conf.String())
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// process is one run of named.
type process struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	stderr lockedBuffer
}

func start(t testing.TB, named, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(named, "-g", "-n", "1", "-c", filepath.Join(dir, "named.conf")), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // a process that was stopped has an exit status of its own
		close(p.ended)
	}()
	return p
}

// startTime is how long BIND may take to answer.
const startTime = 30 * time.Second

// ready waits until every zone answers, or until the process ends.
func (p *process) ready(addr string, zones []string) bool {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(startTime)
	for {
		if answers(addr, zones) {
			return true
		}
		select {
		case <-p.ended:
			return false
		case <-deadline:
			return false
		case <-poll.C:
		}
	}
}

func answers(addr string, zones []string) bool {
	for _, zone := range zones {
		r, err := dns.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(zone), dns.TypeSOA), addr)
		if err != nil || r.Rcode != dns.RcodeSuccess || !r.Authoritative {
			return false
		}
	}
	return true
}

func (p *process) stop(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case <-p.ended:
	case <-time.After(startTime):
		t.Error("BIND does not stop")
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	if t.Failed() {
		t.Logf("BIND said:\n%s", p.log())
	}
}

func (p *process) log() string { return p.stderr.String() }

// lockedBuffer is written by the process and read by the test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to the buffer.
func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
