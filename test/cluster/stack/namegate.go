package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
)

// Namespace of the operator.
const Namespace = "namegate-system"

// readyTimeout bounds the start of a process of the stack.
const readyTimeout = 60 * time.Second

// stopGrace is how long a process of the stack may take to stop.
const stopGrace = 15 * time.Second

// NamegateOptions say how `namegate all` runs.
type NamegateOptions struct {
	// Binary is the path of namegate.
	Binary string
	// LogFile gets its log, also that of later starts.
	LogFile string
	// Env is added to its environment ("DNS_CLASS_HEALTH_CHECK_INTERVAL=1s").
	Env []string
}

// Namegate is `namegate all` as a process, with the rights of its ServiceAccount.
type Namegate struct {
	spec    process.Spec
	ready   string
	process *process.Process
}

// StartNamegate points the shipped webhooks at a free port, starts `namegate all` there, and returns when it is ready. The
// CRDs and the RBAC are installed before.
func StartNamegate(ctx context.Context, c *cluster.Cluster, opts NamegateOptions) (*Namegate, error) {
	_, kubeconfig, err := c.ServiceAccountConfig(ctx, Namespace, cluster.OperatorServiceAccount)
	if err != nil {
		return nil, err
	}
	webhookPort, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	healthPort, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	certDir, err := c.InstallWebhooks(ctx, "127.0.0.1", webhookPort)
	if err != nil {
		return nil, err
	}
	health := "127.0.0.1:" + strconv.Itoa(healthPort)
	n := &Namegate{
		ready: "http://" + health + "/readyz",
		spec: process.Spec{
			Name: "namegate all",
			Path: opts.Binary,
			Args: []string{"all",
				"--webhook-host", "127.0.0.1",
				"--webhook-port", strconv.Itoa(webhookPort),
				"--webhook-cert-dir", certDir,
				"--metrics-bind-address", "0",
				"--health-probe-bind-address", health,
				"--operator-namespace", Namespace,
				"--secret-namespaces", Namespace,
				"--log-level", "info",
			},
			Env:     append([]string{"KUBECONFIG=" + kubeconfig}, opts.Env...),
			LogFile: opts.LogFile,
		},
	}
	return n, n.Start(ctx)
}

// Start starts the process, also again after Kill or Stop, and returns when it is ready.
func (n *Namegate) Start(ctx context.Context) error {
	p, err := process.Start(n.spec)
	if err != nil {
		return err
	}
	n.process = p
	if err := awaitHTTP(ctx, p, n.ready); err != nil {
		p.Kill()
		return err
	}
	return nil
}

// Process is the running process.
func (n *Namegate) Process() *process.Process { return n.process }

// Kill kills it at once (SIGKILL).
func (n *Namegate) Kill() { n.process.Kill() }

// Stop asks it to stop; an error says that it had to be killed.
func (n *Namegate) Stop() error { return n.process.Stop(stopGrace) }

// awaitHTTP polls url until it answers 200, the process ends, or readyTimeout is over.
func awaitHTTP(ctx context.Context, p *process.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		if err := p.Err(); err != nil {
			return cluster.Permanent(err)
		}
		return getOK(ctx, url)
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w; the end of its log:\n%s", p.Name(), err, p.LogTail(20))
	}
	return nil
}

func getOK(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, resp.Status, body)
	}
	return nil
}
