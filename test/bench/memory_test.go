package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// BenchmarkManagerMemory reports the resident memory, in MiB, of `namegate all` that has published 100 records, and how long it took to
// publish them all. The aim is at most 64 MiB.
func BenchmarkManagerMemory(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	c, server, namegate := start(ctx, b)
	if err := c.Client().Create(ctx, builder.DNSClass("bench").Server(server.URL).Obj()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		began := time.Now()
		publish(ctx, b, c, 100)
		b.ReportMetric(time.Since(began).Seconds(), "s/100-records")
		b.ReportMetric(residentMiB(b, namegate.Process().Pid(), "VmRSS"), "MiB-resident")
		b.ReportMetric(residentMiB(b, namegate.Process().Pid(), "VmHWM"), "MiB-resident-peak")
	}
}

func start(ctx context.Context, b *testing.B) (*cluster.Cluster, *stack.DNSServer, *stack.Namegate) {
	b.Helper()
	root, err := cluster.RepoRoot()
	must(b, err)
	dir := b.TempDir()
	must(b, stack.Build(ctx, stack.BuildOptions{Root: root, Dir: dir, Log: os.Stderr}, stack.NamegateProgram, stack.DNSServerProgram))
	c, err := cluster.Start(ctx, cluster.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, c.Stop()) })
	must(b, c.InstallCRDs(ctx))
	must(b, c.InstallRBAC(ctx, stack.Namespace))
	server, err := stack.StartDNSServer(ctx, stack.DNSServerOptions{Binary: filepath.Join(dir, "dnsserver"), LogFile: filepath.Join(dir, "dnsserver.log")})
	must(b, err)
	b.Cleanup(func() { must(b, server.Stop()) })
	namegate, err := stack.StartNamegate(ctx, c, stack.NamegateOptions{Binary: filepath.Join(dir, "namegate"), LogFile: filepath.Join(dir, "namegate.log")})
	must(b, err)
	b.Cleanup(func() { must(b, namegate.Stop()) })
	return c, server, namegate
}

func publish(ctx context.Context, b *testing.B, c *cluster.Cluster, n int) {
	b.Helper()
	for i := range n {
		rec := builder.DNSRecord("default", fmt.Sprintf("bench-%d", i)).Class("bench").Subdomain(fmt.Sprintf("host-%d", i)).Obj()
		must(b, c.Client().Create(ctx, rec))
	}
	for i := range n {
		rec := builder.DNSRecord("default", fmt.Sprintf("bench-%d", i)).Obj()
		must(b, stack.AwaitReady(ctx, c.Client(), rec))
	}
}

// residentMiB reads one of the kernel's figures for a process.
func residentMiB(b *testing.B, pid int, figure string) float64 {
	b.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	must(b, err)
	defer func() { must(b, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), figure+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			must(b, err)
			return kib / 1024
		}
	}
	b.Fatalf("no %s of process %d: %v", figure, pid, lines.Err())
	return 0
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
