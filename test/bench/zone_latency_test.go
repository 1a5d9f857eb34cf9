package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// Sizes of the zones whose changes are timed.
const smallZone, largeZone = 100, 10_000

// BenchmarkZoneProcesses runs `namegate all` and CoreDNS as a user does, and fills them through the API: with the resident memory, in MiB, of
// both beside a zone of 1,000 and of 10,000 Records, and then with the time from a changed Record to the changed answer, in zones of 100
// and of 10,000 Records. That is taken from the moment when the request to the API server begins, gate and all; "stored" is taken from its answer. The
// aim is at most 50 ms in the zone of 100.
func BenchmarkZoneProcesses(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
	defer cancel()
	p := startZoneProcesses(ctx, b)
	for _, n := range []int{1_000, largeZone} {
		b.Run(fmt.Sprintf("memory/records=%d", n), func(b *testing.B) {
			began := time.Now()
			for b.Loop() {
				p.fill(ctx, b, "large", n)
			}
			b.ReportMetric(time.Since(began).Seconds(), "s/filled")
			for name, pid := range map[string]int{"namegate": p.namegate.Process().Pid(), "coredns": p.coredns.Process().Pid()} {
				b.ReportMetric(residentMiB(b, pid, "VmRSS"), name+"-MiB")
				b.ReportMetric(residentMiB(b, pid, "VmHWM"), name+"-MiB-peak")
			}
		})
	}
	b.Run("latency", func(b *testing.B) {
		p.fill(ctx, b, "small", smallZone)
		p.fill(ctx, b, "large", largeZone)
		for b.Loop() {
			small, large := p.changeBoth(ctx, b)
			small.report(b, smallZone)
			large.report(b, largeZone)
		}
	})
}

// zoneProcesses are the processes of one installation, and how many Records each zone has.
type zoneProcesses struct {
	c        *cluster.Cluster
	namegate *stack.Namegate
	coredns  *stack.CoreDNS
	filled   map[string]int
}

const zoneNamespace = "default"

func startZoneProcesses(ctx context.Context, b *testing.B) *zoneProcesses {
	b.Helper()
	p := &zoneProcesses{c: startCluster(b), filled: map[string]int{}}
	dir := b.TempDir()
	must(b, stack.Build(ctx, stack.BuildOptions{Root: p.c.Root(), Dir: dir, Log: os.Stderr}, stack.NamegateProgram, stack.CoreDNSProgram))
	var err error
	p.namegate, err = stack.StartNamegate(ctx, p.c, stack.NamegateOptions{Binary: filepath.Join(dir, "namegate"), LogFile: filepath.Join(dir, "namegate.log")})
	must(b, err)
	b.Cleanup(func() { must(b, p.namegate.Stop()) })
	p.coredns, err = stack.StartCoreDNS(ctx, p.c, stack.CoreDNSOptions{Binary: filepath.Join(dir, "coredns"), LogFile: filepath.Join(dir, "coredns.log")})
	must(b, err)
	b.Cleanup(func() { must(b, p.coredns.Stop()) })
	for _, name := range []string{"small", "large"} {
		z := benchZone(zoneNamespace, name)
		must(b, p.c.Client().Create(ctx, z))
		must(b, stack.AwaitReady(ctx, p.c.Client(), z))
	}
	return p
}

// creators is how many Records are created at the same time.
const creators = 8

// fill adds Records to a zone until it has n, and returns when all of them are published and labelled.
func (p *zoneProcesses) fill(ctx context.Context, b *testing.B, name string, n int) {
	b.Helper()
	var (
		wg   sync.WaitGroup
		errs [creators]error
	)
	for w := range creators {
		wg.Go(func() {
			for i := p.filled[name] + w; i < n && errs[w] == nil; i += creators {
				errs[w] = p.c.Client().Create(ctx, inBenchZone(zoneNamespace, name, i, 0))
			}
		})
	}
	wg.Wait()
	must(b, errors.Join(errs[:]...))
	p.filled[name] = n
	z := benchZone(zoneNamespace, name)
	must(b, cluster.Poll(ctx, 200*time.Millisecond, func(ctx context.Context) error {
		if err := p.c.Client().Get(ctx, client.ObjectKeyFromObject(z), z); err != nil {
			return err
		}
		if want := n + 2; int(z.Status.EntryCount) != want { // SOA and NS
			return fmt.Errorf("zone %s has %d entries, want %d", name, z.Status.EntryCount, want)
		}
		return p.allLabelled(ctx)
	}))
}

// allLabelled says whether the controller has looked at every Record. That costs the API server little to answer.
func (p *zoneProcesses) allLabelled(ctx context.Context) error {
	left := &metav1.PartialObjectMetadataList{}
	left.SetGroupVersionKind(zonev1alpha1.GroupVersion.WithKind("RecordList"))
	selected := client.MatchingLabelsSelector{}
	var err error
	if selected.Selector, err = metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: zonev1alpha1.ParentZoneLabel, Operator: metav1.LabelSelectorOpDoesNotExist}}}); err != nil {
		return err
	}
	if err := p.c.Client().List(ctx, left, client.InNamespace(zoneNamespace), selected, client.Limit(1)); err != nil {
		return err
	}
	if len(left.Items) > 0 {
		return fmt.Errorf("record %s has no label of its zone", left.Items[0].Name)
	}
	return nil
}

const (
	// rounds is how many changes are made of each zone.
	rounds = 30
	// roundTime is longer than the time in which a zone that has used up its burst may be published once (ZONE_PUBLISH_INTERVAL), so that none waits.
	roundTime = 2200 * time.Millisecond
)

// changeBoth changes a record of the one zone and then one of the other, in turns, so that both meet the same load.
func (p *zoneProcesses) changeBoth(ctx context.Context, b *testing.B) (small, large *latencies) {
	b.Helper()
	small, large = &latencies{}, &latencies{}
	ticker := time.NewTicker(roundTime)
	defer ticker.Stop()
	for round := 1; round <= rounds; round++ {
		<-ticker.C
		p.changeOne(ctx, b, "small", round*37%smallZone, round, small)
		p.changeOne(ctx, b, "large", round*331%largeZone, round, large)
	}
	return small, large
}

func (p *zoneProcesses) changeOne(ctx context.Context, b *testing.B, name string, i, round int, into *latencies) {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	rec := inBenchZone(zoneNamespace, name, i, 0)
	must(b, p.c.Client().Get(ctx, client.ObjectKeyFromObject(rec), rec))
	before := rec.DeepCopy()
	rec.Spec.RData = inBenchZone(zoneNamespace, name, i, round).Spec.RData
	answered := make(chan time.Time, 1)
	failed := make(chan error, 1)
	go func() {
		at, err := probe(ctx, p.coredns.Address, rec.Spec.DomainName, rec.Spec.RData)
		failed <- err
		answered <- at
	}()
	begin := time.Now()
	must(b, p.c.Client().Patch(ctx, rec, client.MergeFrom(before)))
	stored := time.Now()
	must(b, <-failed)
	at := <-answered
	into.whole, into.stored = append(into.whole, at.Sub(begin)), append(into.stored, at.Sub(stored))
}

// probeInterval is how often the prober asks: that is how exact it is.
const probeInterval = time.Millisecond

// probe asks for the address of a name, over UDP, and returns when it first was this one.
func probe(ctx context.Context, server, name, want string) (time.Time, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", server)
	if err != nil {
		return time.Time{}, err
	}
	defer conn.Close()
	asker, question := &dns.Conn{Conn: conn}, new(dns.Msg).SetQuestion(name, dns.TypeA)
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
			return time.Time{}, err
		}
		if err := asker.WriteMsg(question); err != nil {
			return time.Time{}, err
		}
		answer, err := asker.ReadMsg()
		if err == nil && len(answer.Answer) == 1 {
			if a, ok := answer.Answer[0].(*dns.A); ok && a.A.String() == want {
				return time.Now(), nil
			}
		}
		<-ticker.C
	}
	return time.Time{}, fmt.Errorf("%s has not become %s: %w", name, want, ctx.Err())
}

// latencies are those of some changes.
type latencies struct{ whole, stored []time.Duration }

func (l *latencies) report(b *testing.B, records int) {
	b.Helper()
	for _, p := range []float64{50, 99} {
		b.ReportMetric(percentile(l.whole, p), fmt.Sprintf("p%.0f-ms/%d", p, records))
		b.ReportMetric(percentile(l.stored, p), fmt.Sprintf("p%.0f-stored-ms/%d", p, records))
	}
}

// percentile returns the smallest of the times that so many of a hundred do not exceed, in milliseconds.
func percentile(times []time.Duration, p float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[int(math.Ceil(p/100*float64(len(sorted))))-1].Microseconds()) / 1000
}
