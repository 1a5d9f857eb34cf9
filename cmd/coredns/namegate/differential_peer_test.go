package namegate

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/zone/masterfile"
)

// peer is an authoritative server of others, which answers for the same zones from master files.
type peer struct {
	// program that it is, and its Debian package.
	program, debian string
	args            func(dir string) []string
	config          func(dir, port string, origins []string) string
	// oneZone says that it follows an alias only as far as its own zone goes. Whoever asked then asks for the rest.
	oneZone bool
	// glueOnly says that its referrals have only the addresses that nobody could find otherwise (RFC 9471 section 2), and not all that it knows.
	glueOnly bool
}

const peerConfig = "server.conf"

// NSD answers less than it could by default: responses are made minimal over UDP only where they would not fit, but many of one kind from
// one address are withheld (rrl).
var nsd = peer{
	program: "nsd", debian: "nsd",
	args: func(dir string) []string { return []string{"-d", "-c", filepath.Join(dir, peerConfig)} },
	config: func(dir, port string, origins []string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "server:\n\tip-address: 127.0.0.1@%[2]s\n\tserver-count: 1\n\tusername: \"\"\n\tchroot: \"\"\n\tzonesdir: %[1]q\n\tdatabase: \"\"\n"+
			"\tpidfile: \"\"\n\txfrdfile: \"%[1]s/xfrd\"\n\tzonelistfile: \"%[1]s/zones\"\n\txfrdir: %[1]q\n\tcookie-secret-file: \"\"\n"+
			"\tipv4-edns-size: 4096\n\trrl-ratelimit: 0\n\trrl-whitelist-ratelimit: 0\n\trefuse-any: yes\nremote-control:\n\tcontrol-enable: no\n", dir, port)
		for _, origin := range origins {
			fmt.Fprintf(&b, "zone:\n\tname: %q\n\tzonefile: %q\n\tprovide-xfr: 127.0.0.1 NOKEY\n", origin, masterOf(origin))
		}
		return b.String()
	},
}

var bind = peer{
	program: "named", debian: "bind9", oneZone: true, glueOnly: true,
	args: func(dir string) []string {
		return []string{"-g", "-4", "-n", "1", "-c", filepath.Join(dir, peerConfig)}
	},
	config: func(dir, port string, origins []string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "options {\n\tdirectory %q;\n\tlisten-on port %s { 127.0.0.1; };\n\tlisten-on-v6 { none; };\n\tpid-file none;\n\tsession-keyfile none;\n"+
			"\tmax-udp-size 4096;\n\tedns-udp-size 4096;\n\trecursion no;\n\tnotify no;\n\tdnssec-validation no;\n\tminimal-responses no;\n\tminimal-any yes;\n\tempty-zones-enable no;\n\tzero-no-soa-ttl no;\n\tcheck-names primary ignore;\n"+
			"\tallow-transfer { 127.0.0.1; };\n};\ncontrols { };\n", dir, port)
		for _, origin := range origins {
			fmt.Fprintf(&b, "zone %q { type primary; file %q; };\n", origin, masterOf(origin))
		}
		return b.String()
	},
}

func masterOf(origin string) string { return origin + "zone" }

// start runs the server with the zones of a world, and returns its address once it answers for all of them.
func (p peer) start(t *testing.T, w *world) string {
	t.Helper()
	path := p.find(t)
	dir := t.TempDir()
	for _, z := range w.zones {
		var file bytes.Buffer
		if err := masterfile.Render(&file, z.soa, z.entries); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, masterOf(z.origin())), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Somebody else may take a port that was free; then there is another.
	const attempts = 3
	var log string
	for range attempts {
		addr := freeAddress(t)
		var ready bool
		if ready, log = p.run(t, path, dir, addr, w); ready {
			return addr
		}
	}
	t.Fatalf("%s does not answer for the zones:\n%s", p.program, log)
	return ""
}

// find returns the path of the program, or skips the test.
func (p peer) find(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, p.program)); err == nil {
			return path
		}
	}
	t.Skipf("%s is missing: install Debian's %s", p.program, p.debian)
	return ""
}

// run starts the server, and says whether it came to answer before it ended. It runs until the test ends.
func (p peer) run(t *testing.T, path, dir, addr string, w *world) (ready bool, log string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(addr)
	var origins []string
	for _, z := range w.zones {
		origins = append(origins, z.origin())
	}
	if err := os.WriteFile(filepath.Join(dir, peerConfig), []byte(p.config(dir, port, origins)), 0o600); err != nil {
		t.Fatal(err)
	}
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, p.args(dir)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, logFile, logFile
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // whatever it says, it ended
		logFile.Close()
		close(ended)
	}()
	stop := func() {
		_ = cmd.Process.Signal(os.Interrupt) // NSD has processes of its own, which it ends
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	t.Cleanup(stop)
	if ready = answersAll(addr, origins, ended); ready {
		return true, ""
	}
	stop()
	text, _ := os.ReadFile(filepath.Join(dir, "log"))
	return false, string(text)
}

// answersAll waits until a server answers for all zones; false: it ended, or took too long.
func answersAll(addr string, origins []string, ended <-chan struct{}) bool {
	client := &dns.Client{Timeout: time.Second}
	rest := slices.Clone(origins)
	tick, deadline := time.NewTicker(5*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for len(rest) > 0 {
		select {
		case <-ended:
			return false
		case <-deadline:
			return false
		case <-tick.C:
		}
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion(rest[0], dns.TypeSOA), addr)
		if err == nil && m.Rcode == dns.RcodeSuccess && m.Authoritative && len(m.Answer) == 1 {
			rest = rest[1:]
		}
	}
	return true
}
