package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// TestZonesWithoutAPIServer has a control plane of its own, whose API server dies and comes back.
func TestZonesWithoutAPIServer(t *testing.T) {
	const name, domain = "away", "away.test."
	var (
		c     *cluster.Cluster
		admin client.Client
		dns   *stack.CoreDNS
	)
	answers := func(ctx context.Context, t *testing.T, label, want string) {
		t.Helper()
		if _, err := stack.AwaitAnswer(within(ctx, t, settle), dns.Address, label+"."+domain, "A", want); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Test(t, features.New("zones without an API server").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			c = startPlane(ctx, t, name)
			admin = c.Client()
			dns = startCoreDNSOf(ctx, t, c, name, stack.CoreDNSOptions{})
			for _, obj := range []client.Object{
				builder.Zone("default", "away").Domain(domain).DelegateAll().Obj(),
				builder.Record("default", "www").Domain("www." + domain).Obj(),
			} {
				if err := errors.Join(admin.Create(ctx, obj), stack.AwaitReady(within(ctx, t, soon), admin, obj)); err != nil {
					t.Fatal(err)
				}
			}
			answers(ctx, t, "www", "192.0.2.1")
			return ctx
		}).
		Assess("are answered on", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			c.KillAPIServer()
			begin := time.Now()
			err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
				answer, err := stack.Ask(ctx, dns.Address, "www."+domain, "A")
				switch {
				case err != nil || len(answer.Values) != 1:
					return cluster.Permanent(fmt.Errorf("without the API server, there is no answer: %s %w", answer.Rcode, err))
				case time.Since(begin) < watchesFail:
					return errors.New("not long enough")
				}
				return dns.Ready(ctx)
			})
			if err != nil {
				t.Error(err)
			}
			return ctx
		}).
		Assess("but not by a CoreDNS that has never seen them", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			dns.Kill()
			if err := dns.Launch(); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
				err := dns.Process().Err()
				switch {
				case err != nil:
					return cluster.Permanent(err)
				case dns.Ready(ctx) == nil:
					return cluster.Permanent(errors.New("it is ready and has no zone"))
				case saysSomething(ctx, dns.Address, "www."+domain):
					return cluster.Permanent(errors.New("it answers and has no zone"))
				case time.Since(begin) < watchesFail:
					return errors.New("not long enough")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return ctx
		}).
		Assess("until the API server is back, with all that changes then", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if err := c.RestartAPIServer(ctx); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := dns.AwaitReady(ctx); err != nil {
				t.Fatal(err)
			}
			t.Logf("CoreDNS is ready %.1f s after the API server", time.Since(begin).Seconds())
			answers(ctx, t, "www", "192.0.2.1")
			record := builder.Record("default", "late").Domain("late." + domain).RData("192.0.2.2").Obj()
			if err := admin.Create(ctx, record); err != nil {
				t.Fatal(err)
			}
			answers(ctx, t, "late", "192.0.2.2")
			t.Logf("what is new is answered %.1f s after the API server", time.Since(begin).Seconds())
			return ctx
		}).Feature())
}

// saysSomething says whether a server claims to know about a name, be it that it does not exist.
func saysSomething(ctx context.Context, server, name string) bool {
	answer, err := stack.Ask(ctx, server, name, "A")
	return err == nil && answer.Rcode != "SERVFAIL" && answer.Rcode != "REFUSED"
}

// watchesFail is how long a client needs to notice, more than once, that the API server is away.
const watchesFail = 1500 * time.Millisecond

// startPlane starts a control plane with Namegate, both of which end with the feature.
func startPlane(ctx context.Context, t *testing.T, name string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(c.InstallCRDs(ctx), c.InstallRBAC(ctx, stack.Namespace)); err != nil {
		t.Fatal(err)
	}
	n, err := stack.StartNamegate(ctx, c, stack.NamegateOptions{
		Binary:  filepath.Join(workDir(), stack.NamegateProgram.Name),
		LogFile: filepath.Join(workDir(), "namegate-"+name+".log"),
		Env:     namegateEnv,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(n.Process().Err(), n.Stop()); err != nil {
			t.Error(err)
		}
	})
	return c
}
