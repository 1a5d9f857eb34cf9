package e2e

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/namegate/namegate/test/cluster/secondary"
	"github.com/namegate/namegate/test/cluster/stack"
)

// transferKey is the key of the secondaries; it is of these tests only.
var transferKey = stack.TSIGKey{Name: "namegate-e2e", Secret: tsigSecret}

// TestZoneSecondaryBIND has a BIND 9 follow random edits by NOTIFY and transfers.
func TestZoneSecondaryBIND(t *testing.T) {
	testSecondary(t, secondary.BIND, "zones-bind", 200)
}

// TestZoneSecondaryKnot has a Knot follow a few.
func TestZoneSecondaryKnot(t *testing.T) {
	testSecondary(t, secondary.Knot, "zones-knot", 30)
}

func testSecondary(t *testing.T, kind secondary.Kind, name string, edits int) {
	var (
		run    *editRun
		dns    *stack.CoreDNS
		second *secondary.Server
	)
	testenv.Test(t, features.New(kind.Name+" as a secondary of CoreDNS").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			var err error
			if second, err = secondary.New(kind); err != nil {
				t.Skip(err)
			}
			run = newEditRun(ctx, t, name, edits)
			dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{Transfers: []string{second.Address}, Keys: []stack.TSIGKey{transferKey}})
			err = second.Start(ctx, secondary.Options{
				Primary: dns.Address, Zones: run.origins(), Key: transferKey, Dir: t.TempDir(),
				LogFile: filepath.Join(workDir(), name+"-secondary.log"),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(second.Kill)
			run.awaitZones(ctx, t, second.Address, &transferKey)
			return ctx
		}).
		Assess("follows random edits, and no serial falls", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			watch := run.watchSerials(ctx, t, &transferKey, dns.Address, second.Address)
			run.run(within(ctx, t, 10*time.Minute), t, done())
			run.awaitZones(ctx, t, dns.Address, &transferKey)
			run.awaitZones(ctx, t, second.Address, &transferKey)
			watch.end()
			watch.report()
			return ctx
		}).
		Assess("and nobody else may transfer a zone", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			refusesStrangers(ctx, t, dns.Address, run.origins()[0])
			return ctx
		}).Feature())
}

// refusesStrangers asks for a zone as those do who may not have it: each lacks one thing.
func refusesStrangers(ctx context.Context, t *testing.T, server, zone string) {
	t.Helper()
	const otherSecret = "b3RoZXItdHNpZy1rZXktb3RoZXItdHNpZy1rZXk="
	if _, err := stack.Transfer(ctx, server, zone, stack.TransferOptions{Key: &transferKey}); err != nil {
		t.Fatalf("who has the key and the address does not get the zone: %v", err)
	}
	for name, opts := range map[string]stack.TransferOptions{
		"without a key":                {},
		"with the name of the key":     {Key: &stack.TSIGKey{Name: transferKey.Name, Secret: otherSecret}},
		"with another key":             {Key: &stack.TSIGKey{Name: "stranger", Secret: otherSecret}},
		"from an address not listed":   {Key: &transferKey, From: "127.0.0.2"},
		"with neither key nor address": {From: "127.0.0.2"},
	} {
		if data, err := stack.Transfer(ctx, server, zone, opts); err == nil {
			t.Errorf("%s: a stranger gets %d records", name, len(data.Records))
		}
	}
}
