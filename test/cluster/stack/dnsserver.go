package stack

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
)

// DNSServerOptions say how the reference DNS server runs.
type DNSServerOptions struct {
	// Binary is the path of dnsserver.
	Binary string
	// LogFile gets its log, also that of later starts.
	LogFile string
	// Port of the protocol, over HTTP. 0: a free one.
	Port int
	// DNSPort, where the memory back end answers DNS. 0: a free one.
	DNSPort int
	// Args are added to its flags. Where they name a back end, no DNS port is listened on.
	Args []string
}

// DNSServer is the reference DNS server as a process.
type DNSServer struct {
	// URL for spec.server of a DNSClass.
	URL string
	// DNS is where it answers DNS itself ("127.0.0.1:1054"); empty where it does not.
	DNS string

	spec    process.Spec
	process *process.Process
}

// StartDNSServer starts a DNS server and returns when it is ready.
func StartDNSServer(ctx context.Context, opts DNSServerOptions) (*DNSServer, error) {
	address, err := localAddress(opts.Port)
	if err != nil {
		return nil, err
	}
	s := &DNSServer{URL: "http://" + address}
	args := []string{"--listen", address}
	if !strings.Contains(strings.Join(opts.Args, " "), "--backend") {
		if s.DNS, err = localAddress(opts.DNSPort); err != nil {
			return nil, err
		}
		args = append(args, "--backend", "memory", "--dns-listen", s.DNS)
	}
	s.spec = process.Spec{Name: "dnsserver", Path: opts.Binary, Args: append(args, opts.Args...), LogFile: opts.LogFile}
	return s, s.Start(ctx)
}

func localAddress(port int) (string, error) {
	if port == 0 {
		var err error
		if port, err = cluster.FreePort(); err != nil {
			return "", err
		}
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// Start starts the process, also again after Stop, and returns when it takes connections.
func (s *DNSServer) Start(ctx context.Context) error {
	p, err := process.Start(s.spec)
	if err != nil {
		return err
	}
	s.process = p
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err = cluster.Poll(ctx, 20*time.Millisecond, func(ctx context.Context) error {
		if err := p.Err(); err != nil {
			return cluster.Permanent(err)
		}
		return takesConnections(ctx, strings.TrimPrefix(s.URL, "http://"))
	})
	if err != nil {
		p.Kill()
		return fmt.Errorf("dnsserver is not ready: %w; the end of its log:\n%s", err, p.LogTail(20))
	}
	return nil
}

func takesConnections(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Process is the running process.
func (s *DNSServer) Process() *process.Process { return s.process }

// Stop asks it to stop; an error says that it had to be killed.
func (s *DNSServer) Stop() error { return s.process.Stop(stopGrace) }
