package bench

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// How many times as much as something else a change may cost at most.
const (
	// changeToRebuild is for a change in a zone of 10,000 records, against the publication of all of it.
	changeToRebuild = 1. / 50
	// largeToSmall is for a change in a zone of 50,000 records, against one in a zone of 1,000.
	largeToSmall = 1.5
)

// BenchmarkZoneChange is what it costs the controllers, against a real API server, to make and publish a zone of 10,000 records from nothing, and to
// publish one changed record in zones of several sizes. (publish is that of 10,000 records of which the model has made a zone before.) An operation takes from the event until nothing is left to do: slices and status
// are written, what is not used any more is deleted, and the caches have seen it all.
//
// cpu-ns is the processor time of the controllers, their caches and their client; ns is what passed, most of which is the API server's. api-B are
// the bytes of all requests and their answers, watch-B those of the watch events by which the caches see what was written. It fails only
// for api-B above its bounds, which no load of the machine changes.
func BenchmarkZoneChange(b *testing.B) {
	c := startCluster(b)
	var rebuild, publish, small spending
	b.Run("rebuild=10000", func(b *testing.B) { rebuild, publish = rebuildZone(b, c, 10_000) })
	for _, n := range []int{1_000, 10_000, 50_000} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			cost := changeZone(b, c, n)
			switch {
			case n == 1_000:
				small = cost
			case n == 10_000 && rebuild.cpu > 0:
				cost.compare(b, rebuild, "rebuild")
				cost.compare(b, publish, "publish")
				bounded(b, cost, rebuild, changeToRebuild)
			case n == 50_000 && small.cpu > 0:
				cost.compare(b, small, "1000")
				bounded(b, cost, small, largeToSmall)
			}
		})
	}
}

func bounded(b *testing.B, cost, other spending, bound float64) {
	b.Helper()
	if ratio := cost.requests / other.requests; ratio > bound {
		b.Errorf("a change takes %.0f bytes of requests and answers, which is %.3f times %.0f; at most %.3f are all right", cost.requests, ratio, other.requests, bound)
	}
}

// startCluster starts a control plane with CRDs and RBAC, where no gate is installed.
func startCluster(b *testing.B) *cluster.Cluster {
	b.Helper()
	c, err := cluster.Start(b.Context(), cluster.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, c.Stop()) })
	must(b, c.InstallCRDs(b.Context()))
	must(b, c.InstallRBAC(b.Context(), stack.Namespace))
	return c
}

// rebuilds is how often a zone is published from nothing.
const rebuilds = 3

// publishTimeout bounds one publication of a whole zone.
const publishTimeout = 2 * time.Minute

// rebuildZone has controllers that have just started make and publish zones of which nothing is written yet.
func rebuildZone(b *testing.B, c *cluster.Cluster, n int) (rebuild, publish spending) {
	b.Helper()
	times := 0
	for b.Loop() { // once: it takes longer than a benchmark lasts
		for range rebuilds {
			p := startZoneOf(b, c, fmt.Sprintf("rebuild-%d", time.Now().UnixNano()), n)
			publish = publish.add(p.begun, p.spent())
			rebuild = rebuild.add(spending{}, p.fed)
			p.stop()
			times++
		}
	}
	publish = publish.each(times)
	rebuild = rebuild.each(times).add(spending{}, publish)
	rebuild.report(b)
	return rebuild, publish
}

// startZoneOf returns when a zone of n records is published, in a namespace of its own name.
func startZoneOf(b *testing.B, c *cluster.Cluster, name string, n int) *publisher {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), publishTimeout)
	b.Cleanup(cancel)
	p := startPublisher(b.Context(), b, c, []*zonev1alpha1.Zone{benchZone(name, name)}, func(yield func(*zonev1alpha1.Record) bool) {
		for i := range n {
			if !yield(inBenchZone(name, name, i, 0)) {
				return
			}
		}
	})
	p.await(ctx, b, name, 0)
	return p
}

// shown is how many of the first records may be in the view that the status of a Zone gives. A small zone is shown to a greater part than a large
// one, so that only changes of other records are comparable.
const shown = 350

// changesMeasured is how many changes are measured: so many that the garbage collector runs a few times, whose work is theirs too.
const changesMeasured = 1000

// changeZone changes one record after the other, here and there in the zone.
func changeZone(b *testing.B, c *cluster.Cluster, n int) spending {
	b.Helper()
	name := fmt.Sprintf("change-%d-%d", n, time.Now().UnixNano())
	p := startZoneOf(b, c, name, n)
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	changes, serial := 0, p.await(ctx, b, name, 0)
	change := func() {
		changes++
		p.model.SetRecord(zone.RecordOf(inBenchZone(name, name, shown+changes*37%(n-shown), changes)))
		serial = p.await(ctx, b, name, serial)
	}
	for range 3 { // connections, caches and pools are warm after that
		change()
	}
	runtime.GC() // what startZoneOf has left is not theirs
	before, first := p.spent(), changes
	for b.Loop() { // once: it takes longer than a benchmark lasts
		for range changesMeasured {
			change()
		}
	}
	cost := spending{}.add(before, p.spent()).each(changes - first)
	cost.report(b)
	return cost
}
