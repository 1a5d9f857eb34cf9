package stack

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
)

// TSIGKey signs transfers, with hmac-sha256.
type TSIGKey struct {
	// Name of the key, without the trailing dot.
	Name string
	// Secret in base64.
	Secret string
}

// CoreDNSOptions say how CoreDNS runs.
type CoreDNSOptions struct {
	// Binary is the path of coredns.
	Binary string
	// LogFile gets its log, also that of later starts.
	LogFile string
	// Port where it answers, on 127.0.0.1. 0: a free one.
	Port int
	// Transfers are the addresses (host:port) of the secondaries, which are told of changes and may transfer zones. None: nobody may.
	Transfers []string
	// Keys are those of which a transfer needs one. None: the address is enough.
	Keys []TSIGKey
}

// CoreDNS is our CoreDNS as a process, with the rights of its ServiceAccount.
type CoreDNS struct {
	// Address is where it answers DNS ("127.0.0.1:1053").
	Address string

	ready   string
	spec    process.Spec
	process *process.Process
}

// StartCoreDNS starts CoreDNS with the plugin namegate and returns when it is ready: it has all zones by then. The CRDs and the RBAC
// are installed before.
func StartCoreDNS(ctx context.Context, c *cluster.Cluster, opts CoreDNSOptions) (*CoreDNS, error) {
	_, kubeconfig, err := c.ServiceAccountConfig(ctx, Namespace, cluster.CoreDNSServiceAccount)
	if err != nil {
		return nil, err
	}
	address, err := localAddress(opts.Port)
	if err != nil {
		return nil, err
	}
	ready, err := localAddress(0)
	if err != nil {
		return nil, err
	}
	dir, err := c.MkdirTemp("coredns-")
	if err != nil {
		return nil, err
	}
	corefile := filepath.Join(dir, "Corefile")
	if err := os.WriteFile(corefile, []byte(opts.corefile(address, ready, kubeconfig)), 0o600); err != nil {
		return nil, err
	}
	s := &CoreDNS{
		Address: address,
		ready:   "http://" + ready + "/ready",
		spec:    process.Spec{Name: "coredns", Path: opts.Binary, Args: []string{"-conf", corefile}, Dir: dir, LogFile: opts.LogFile},
	}
	return s, s.Start(ctx)
}

func (o CoreDNSOptions) corefile(address, ready, kubeconfig string) string {
	host, port, _ := net.SplitHostPort(address) // it was joined a moment ago
	var b strings.Builder
	fmt.Fprintf(&b, ".:%s {\n\tbind %s\n\terrors\n\tready %s\n", port, host, ready)
	if len(o.Keys) > 0 {
		b.WriteString("\ttsig {\n")
		for _, key := range o.Keys {
			fmt.Fprintf(&b, "\t\tsecret %s. %s\n", key.Name, key.Secret)
		}
		b.WriteString("\t\trequire AXFR IXFR\n\t}\n")
	}
	if len(o.Transfers) > 0 {
		fmt.Fprintf(&b, "\ttransfer {\n\t\tto %s\n\t}\n", strings.Join(o.Transfers, " "))
	}
	fmt.Fprintf(&b, "\tnamegate {\n\t\tkubeconfig %s\n\t}\n}\n", strconv.Quote(kubeconfig))
	return b.String()
}

// Start starts the process, also again after Kill or Stop, and returns when it is ready.
func (s *CoreDNS) Start(ctx context.Context) error {
	if err := s.Launch(); err != nil {
		return err
	}
	if err := s.AwaitReady(ctx); err != nil {
		s.process.Kill()
		return err
	}
	return nil
}

// Launch starts the process and does not wait for it.
func (s *CoreDNS) Launch() error {
	p, err := process.Start(s.spec)
	if err == nil {
		s.process = p
	}
	return err
}

// AwaitReady returns when CoreDNS is ready.
func (s *CoreDNS) AwaitReady(ctx context.Context) error { return awaitHTTP(ctx, s.process, s.ready) }

// Ready asks once whether CoreDNS is ready; the error says why not.
func (s *CoreDNS) Ready(ctx context.Context) error { return getOK(ctx, s.ready) }

// Process is the running process.
func (s *CoreDNS) Process() *process.Process { return s.process }

// Kill kills it at once (SIGKILL).
func (s *CoreDNS) Kill() { s.process.Kill() }

// Stop asks it to stop; an error says that it had to be killed.
func (s *CoreDNS) Stop() error { return s.process.Stop(stopGrace) }
