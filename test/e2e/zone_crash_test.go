package e2e

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/namegate/namegate/test/cluster/stack"
)

// TestZoneCrash kills Namegate and CoreDNS at random moments of random edits: in the end, everything is as it would be without that.
func TestZoneCrash(t *testing.T) {
	testZoneCrash(t, "zones-crash", 200, 6)
}

func testZoneCrash(t *testing.T, name string, edits, kills int) {
	var (
		run *editRun
		dns *stack.CoreDNS
	)
	testenv.Test(t, features.New("zones while Namegate and CoreDNS are killed").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			run = newEditRun(ctx, t, name, edits)
			run.stubborn, run.pause = true, 600*time.Millisecond
			// Nobody listens there, who would be told of a change; it lets the test itself transfer zones.
			dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{Transfers: []string{"127.0.0.1:9"}, Keys: []stack.TSIGKey{transferKey}})
			return ctx
		}).
		Assess("end as written, and no serial falls", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			ctx = within(ctx, t, 20*time.Minute)
			watch := run.watchSerials(ctx, t, &transferKey, dns.Address)
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				killAtRandom(ctx, t, run.seed, kills, namegate, dns)
			}()
			run.run(ctx, t, killed)
			<-killed
			run.awaitZones(ctx, t, dns.Address, &transferKey)
			watch.end()
			watch.report()
			return ctx
		}).Feature())
}

// mortal is a process that can be killed and started again.
type mortal interface {
	Kill()
	Start(ctx context.Context) error
}

func killAtRandom(ctx context.Context, t *testing.T, seed uint64, kills int, victims ...mortal) {
	random := rand.New(rand.NewPCG(seed, editWorkers))
	for i := range kills {
		select {
		case <-ctx.Done():
			t.Error(ctx.Err())
			return
		case <-time.After(time.Duration(random.Int64N(int64(1500 * time.Millisecond)))): // the random moment
		}
		victim := victims[i%len(victims)]
		victim.Kill()
		if err := victim.Start(ctx); err != nil {
			t.Error(err)
			return
		}
	}
}
