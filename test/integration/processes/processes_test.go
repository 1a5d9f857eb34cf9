// Package processes tests Namegate as a cluster runs it: the gate and the controllers as two processes, each with the ServiceAccount
// and the rights that config/ ships for it, and one of two controllers leading.
package processes

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	dnsserver "github.com/namegate/namegate/cmd/dnsserver/server"
	"github.com/namegate/namegate/cmd/manager/app"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

func TestTwoProcesses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := startCluster(ctx, t)
	port, err := cluster.FreePort()
	must(t, err)
	certDir, err := c.InstallWebhooks(ctx, "127.0.0.1", port)
	must(t, err)

	start(ctx, t, c, "namegate-webhook", app.Roles{Gate: true}, func(cfg *app.Config) {
		cfg.WebhookHost, cfg.WebhookPort, cfg.WebhookCertDir = "127.0.0.1", port, certDir
	})
	lead := func(cfg *app.Config) {
		cfg.LeaderElect = true
		// Nobody has bound a Role there, which must not hold up anything else.
		cfg.SecretNamespaces = []string{stack.Namespace, "kube-system"}
	}
	first := start(ctx, t, c, "namegate-controller", app.Roles{Controllers: true}, lead)

	store, err := memory.New(memory.Options{})
	must(t, err)
	dns := httptest.NewServer(dnsserver.New(dnsserver.Options{Backend: store, Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(dns.Close)
	must(t, c.Client().Create(ctx, builder.DNSClass("reference").Server(dns.URL).Obj()))
	publish(ctx, t, c, "first")

	t.Run("the leader holds the lease", func(t *testing.T) {
		lease := &coordinationv1.Lease{}
		must(t, c.Client().Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: "controller.namegate.dev"}, lease))
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			t.Error("nobody holds the lease")
		}
	})
	second := start(ctx, t, c, "namegate-controller", app.Roles{Controllers: true}, lead)
	t.Run("another leads as soon as the first has stopped", func(t *testing.T) {
		first()
		publish(ctx, t, c, "second")
	})
	t.Run("the gate refuses while no controller runs", func(t *testing.T) {
		second()
		err := c.Client().Create(ctx, builder.DNSRecord("default", "bad").Subdomain("bad").Values("no address").Obj())
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "(rule value-ipv4)") {
			t.Errorf("want a refusal by value-ipv4, got %v", err)
		}
		err = c.Client().Create(ctx, builder.DNSRecord("default", "taken").Subdomain("first").Obj())
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "(rule name-taken)") {
			t.Errorf("want a refusal by name-taken, got %v", err)
		}
		must(t, c.Client().Create(ctx, builder.DNSRecord("default", "good").Subdomain("good").Obj()))
	})
}

func startCluster(ctx context.Context, t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(ctx, cluster.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	must(t, c.InstallCRDs(ctx))
	must(t, c.InstallRBAC(ctx, stack.Namespace))
	return c
}

// start runs one process of Namegate in this one and waits until it is ready. The function it returns stops it.
func start(ctx context.Context, t *testing.T, c *cluster.Cluster, account string, roles app.Roles, configure func(*app.Config)) func() {
	t.Helper()
	cfg, err := app.ConfigFromEnvironment()
	must(t, err)
	probe, err := cluster.FreePort()
	must(t, err)
	cfg.Version, cfg.LogTo, cfg.MetricsAddress = "test", io.Discard, "0"
	cfg.HealthAddress, cfg.OperatorNamespace = net.JoinHostPort("127.0.0.1", strconv.Itoa(probe)), stack.Namespace
	configure(cfg)
	rest, _, err := c.ServiceAccountConfig(ctx, stack.Namespace, account)
	must(t, err)
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(running, rest, cfg, roles) }()
	var stopped bool
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			must(t, <-ended)
		}
	}
	t.Cleanup(stop)
	must(t, cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		select {
		case err := <-ended:
			ended <- err
			return cluster.Permanent(err)
		default:
			return ready(ctx, cfg.HealthAddress)
		}
	}))
	return stop
}

func ready(ctx context.Context, addr string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return apierrors.NewServiceUnavailable(res.Status)
	}
	return nil
}

// publish creates a record and waits until it is on the server.
func publish(ctx context.Context, t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	rec := builder.DNSRecord("default", name).Subdomain(name).Obj()
	must(t, c.Client().Create(ctx, rec))
	must(t, stack.AwaitReady(ctx, c.Client(), rec))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
