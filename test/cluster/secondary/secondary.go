// Package secondary runs stock DNS servers as secondaries of a primary on this machine: BIND 9 and Knot, as processes of their own, on
// free ports of 127.0.0.1, with TSIG. They never ask by themselves whether a zone has changed, within the time of a test: a NOTIFY that
// was not sent, or got lost, is a change that they miss.
package secondary

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/stack"
)

// Kind is a DNS server that can be a secondary.
type Kind struct {
	// Name for people.
	Name string
	// Program that runs it, and its Debian package.
	Program, Package string

	args   func(dir string) []string
	config func(c config) string
}

// The kinds of secondaries.
var (
	BIND = Kind{
		Name: "BIND 9", Program: "named", Package: "bind9", config: config.named,
		args: func(dir string) []string {
			return []string{"-g", "-4", "-n", "1", "-c", filepath.Join(dir, configFile)}
		},
	}
	Knot = Kind{
		Name: "Knot DNS", Program: "knotd", Package: "knot", config: config.knot,
		args: func(dir string) []string { return []string{"-c", filepath.Join(dir, configFile)} },
	}
)

const configFile = "server.conf"

// Find returns the path of the program. The error names the package to install.
func (k Kind) Find() (string, error) {
	for _, dir := range []string{"", "/usr/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, k.Program)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is missing: install Debian's %s", k.Program, k.Package)
}

// Options of a secondary.
type Options struct {
	// Primary is where the zones are transferred from (host:port).
	Primary string
	// Zones to transfer, whole names.
	Zones []string
	// Key signs the transfers, and whoever has it may transfer the zones on from the secondary.
	Key stack.TSIGKey
	// Dir gets the configuration and the data. It is empty.
	Dir string
	// LogFile gets the log.
	LogFile string
}

// Server is one secondary.
type Server struct {
	// Address is where it answers ("127.0.0.1:20053"). It is known before the start, because the primary has to know it too.
	Address string

	kind    Kind
	program string
	process *process.Process
}

// New chooses the address of a secondary. The error says what is missing on this machine.
func New(kind Kind) (*Server, error) {
	program, err := kind.Find()
	if err != nil {
		return nil, err
	}
	port, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	return &Server{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), kind: kind, program: program}, nil
}

// startTimeout bounds the start, with the first transfer of each zone.
const startTimeout = 30 * time.Second

// Start starts the server and returns when it has all zones once.
func (s *Server) Start(ctx context.Context, opts Options) error {
	c := config{Options: opts, address: s.Address}
	if err := os.WriteFile(filepath.Join(opts.Dir, configFile), []byte(s.kind.config(c)), 0o600); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: s.kind.Program, Path: s.program, Args: s.kind.args(opts.Dir), Dir: opts.Dir, LogFile: opts.LogFile,
	})
	if err != nil {
		return err
	}
	s.process = p
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, zone := range opts.Zones {
		if err := s.awaitZone(ctx, zone); err != nil {
			p.Kill()
			return fmt.Errorf("%s: %w; the end of its log:\n%s", s.kind.Name, err, p.LogTail(20))
		}
	}
	return nil
}

func (s *Server) awaitZone(ctx context.Context, zone string) error {
	return cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		if err := s.process.Err(); err != nil {
			return cluster.Permanent(err)
		}
		_, err := stack.Serial(ctx, s.Address, zone)
		return err
	})
}

// Process is the running process.
func (s *Server) Process() *process.Process { return s.process }

// Kill ends the server.
func (s *Server) Kill() { s.process.Kill() }

// config is what a configuration is made of.
type config struct {
	Options
	address string
}

// never is an interval, in seconds, that no test sees the end of.
const never = 86400

// named is the configuration of BIND 9. It takes a NOTIFY from the address of a primary without being told.
func (c config) named() string {
	_, port, _ := net.SplitHostPort(c.address)
	primaryHost, primaryPort, _ := net.SplitHostPort(c.Primary)
	var b strings.Builder
	fmt.Fprintf(&b, `key %[1]q { algorithm hmac-sha256; secret %[2]q; };
options {
	directory %[3]q;
	listen-on port %[4]s { 127.0.0.1; };
	listen-on-v6 { none; };
	pid-file none;
	session-keyfile none;
	recursion no;
	notify no;
	dnssec-validation no;
	allow-transfer { key %[1]q; };
	min-refresh-time %[5]d; max-refresh-time %[5]d;
	min-retry-time %[5]d; max-retry-time %[5]d;
};
controls { };
`, c.Key.Name, c.Key.Secret, c.Dir, port, never)
	for _, zone := range c.Zones {
		fmt.Fprintf(&b, "zone %q { type secondary; file %q; primaries { %s port %s key %q; }; };\n",
			zone, zone+"db", primaryHost, primaryPort, c.Key.Name)
	}
	return b.String()
}

// knot is the configuration of Knot DNS.
func (c config) knot() string {
	host, port, _ := net.SplitHostPort(c.address)
	primaryHost, primaryPort, _ := net.SplitHostPort(c.Primary)
	var b strings.Builder
	fmt.Fprintf(&b, `server:
    rundir: %[1]q
    listen: %[2]s@%[3]s
log:
  - target: stderr
    any: info
database:
    storage: %[1]q
key:
  - id: %[4]q
    algorithm: hmac-sha256
    secret: %[5]q
remote:
  - id: primary
    address: %[6]s@%[7]s
    key: %[4]q
acl:
  - id: notify
    address: %[6]s
    action: notify
  - id: transfer
    key: %[4]q
    action: transfer
template:
  - id: default
    storage: %[1]q
    master: primary
    acl: [notify, transfer]
    refresh-min-interval: %[8]d
    retry-min-interval: %[8]d
zone:
`, c.Dir, host, port, c.Key.Name, c.Key.Secret, primaryHost, primaryPort, never)
	for _, zone := range c.Zones {
		fmt.Fprintf(&b, "  - domain: %q\n", zone)
	}
	return b.String()
}
