package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/stack"
)

// What is served: zones of so many records each.
const servedZones, servedRecords = 10, 1_000

// BenchmarkZoneServe asks CoreDNS with the plugin namegate, and the same CoreDNS with its plugin file and the same zones, in turns: answers per
// second by dnsperf, and resident memory in MiB. ratio is the median of what each pair of turns gives; the aim is at least 0.9.
func BenchmarkZoneServe(b *testing.B) {
	if _, err := exec.LookPath("dnsperf"); err != nil {
		b.Skip("dnsperf is missing: install Debian's dnsperf")
	}
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	c := startCluster(b)
	dir := b.TempDir()
	must(b, stack.Build(ctx, stack.BuildOptions{Root: c.Root(), Dir: dir, Log: os.Stderr}, stack.CoreDNSProgram))
	binary := filepath.Join(dir, "coredns")
	names := publishServed(ctx, b, c)
	ours, err := stack.StartCoreDNS(ctx, c, stack.CoreDNSOptions{Binary: binary, LogFile: filepath.Join(dir, "namegate.log"), Transfers: []string{nobody}})
	must(b, err)
	b.Cleanup(func() { must(b, ours.Stop()) })
	address, stock := startStock(ctx, b, binary, exportZones(ctx, b, ours.Address, names, dir), dir)
	questions := filepath.Join(dir, "questions")
	must(b, os.WriteFile(questions, servedQuestions(names), 0o600))
	for _, server := range []string{ours.Address, address} { // both are warm after that
		ask(ctx, b, server, questions)
	}
	for b.Loop() {
		measureTurns(ctx, b, ours.Address, address, questions)
	}
	b.ReportMetric(residentMiB(b, ours.Process().Pid(), "VmRSS"), "namegate-MiB")
	b.ReportMetric(residentMiB(b, stock.Pid(), "VmRSS"), "file-MiB")
}

// nobody is told of changes there, but transfers are switched on by it.
const nobody = "127.0.0.1:9"

// turns is how often each server is asked.
const turns = 5

func measureTurns(ctx context.Context, b *testing.B, ours, stock, questions string) {
	b.Helper()
	var namegate, file, ratios []float64
	for turn := range turns {
		first, second := ours, stock
		if turn%2 == 1 {
			first, second = stock, ours
		}
		rates := map[string]float64{first: ask(ctx, b, first, questions)}
		rates[second] = ask(ctx, b, second, questions)
		namegate, file, ratios = append(namegate, rates[ours]), append(file, rates[stock]), append(ratios, rates[ours]/rates[stock])
	}
	b.ReportMetric(median(namegate), "namegate-qps")
	b.ReportMetric(median(file), "file-qps")
	b.ReportMetric(median(ratios), "ratio")
}

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// publishServed publishes the zones, without Records in the API, and returns their names. Nothing of the controllers runs afterwards.
func publishServed(ctx context.Context, b *testing.B, c *cluster.Cluster) []string {
	b.Helper()
	const namespace = "serve"
	var names []string
	var zones []*zonev1alpha1.Zone
	for i := range servedZones {
		names = append(names, fmt.Sprintf("zone%d", i))
		zones = append(zones, benchZone(namespace, names[i]))
	}
	p := startPublisher(b.Context(), b, c, zones, func(yield func(*zonev1alpha1.Record) bool) {
		for _, name := range names {
			for i := range servedRecords {
				if !yield(inBenchZone(namespace, name, i, 0)) {
					return
				}
			}
		}
	})
	for _, name := range names {
		p.await(ctx, b, name, 0)
	}
	p.stop()
	return names
}

// exportZones writes a master file of each zone, and returns the lines of a Corefile that serve them.
func exportZones(ctx context.Context, b *testing.B, server string, names []string, dir string) string {
	b.Helper()
	var lines strings.Builder
	for _, name := range names {
		data, err := stack.Transfer(ctx, server, name+".test.", stack.TransferOptions{})
		must(b, err)
		if want := servedRecords + 1; len(data.Records) != want {
			b.Fatalf("%s has %d records, want %d", name, len(data.Records), want)
		}
		path := filepath.Join(dir, name+".zone")
		must(b, os.WriteFile(path, []byte(soaOf(data)+"\n"+strings.Join(data.Records, "\n")+"\n"), 0o600))
		fmt.Fprintf(&lines, "\tfile %s %s.test.\n", path, name)
	}
	return lines.String()
}

// soaOf is the SOA record with its serial: file takes one with 0 for no change of what it has, which is nothing.
func soaOf(data *stack.ZoneData) string {
	fields := strings.Fields(data.SOA)
	fields[6] = strconv.FormatUint(uint64(data.Serial), 10)
	return strings.Join(fields, " ")
}

// startStock starts CoreDNS with the plugin file in the place of namegate, and all else as stack.StartCoreDNS has it.
func startStock(ctx context.Context, b *testing.B, binary, files, dir string) (address string, p *process.Process) {
	b.Helper()
	port, err := cluster.FreePort()
	must(b, err)
	ready, err := cluster.FreePort()
	must(b, err)
	corefile := filepath.Join(dir, "Corefile")
	text := fmt.Sprintf(".:%d {\n\tbind 127.0.0.1\n\terrors\n\tready 127.0.0.1:%d\n\ttransfer {\n\t\tto %s\n\t}\n%s}\n", port, ready, nobody, files)
	must(b, os.WriteFile(corefile, []byte(text), 0o600))
	p, err = process.Start(process.Spec{Name: "stock coredns", Path: binary, Args: []string{"-conf", corefile}, LogFile: filepath.Join(dir, "stock.log")})
	must(b, err)
	b.Cleanup(func() { must(b, p.Stop(15*time.Second)) })
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, err = stack.AwaitAnswer(ctx, address, "h00000.zone0.test.", "A", "10.0.0.0")
	if err != nil {
		b.Fatalf("%v; the end of its log:\n%s", err, p.LogTail(20))
	}
	return address, p
}

// servedQuestions are eight of ten for addresses that are there, one for a type that is not, and one for a name that is not.
func servedQuestions(names []string) []byte {
	random := rand.New(rand.NewPCG(1, 2)) // the same questions each time
	var out []byte
	for i := range 20_000 {
		host, rtype := random.IntN(servedRecords), "A"
		switch i % 10 {
		case 8:
			rtype = "AAAA"
		case 9:
			host += servedRecords
		}
		out = fmt.Appendf(out, "h%05d.%s.test. %s\n", host, names[random.IntN(len(names))], rtype)
	}
	return out
}

var (
	rateLine = regexp.MustCompile(`(?m)^\s*Queries per second:\s+([0-9.]+)`)
	codeLine = regexp.MustCompile(`(?m)^\s*Response codes:\s+(.+)`)
)

// turnSeconds is how long a server is asked in one turn.
const turnSeconds = 3

// ask returns how many questions a server answers in a second.
func ask(ctx context.Context, b *testing.B, server, questions string) float64 {
	b.Helper()
	host, port, err := net.SplitHostPort(server)
	must(b, err)
	cmd := exec.CommandContext(ctx, "dnsperf", "-s", host, "-p", port, "-d", questions, "-l", strconv.Itoa(turnSeconds), "-c", "4", "-q", "100")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("dnsperf: %v: %s", err, out)
	}
	rate, codes := rateLine.FindSubmatch(out), codeLine.FindSubmatch(out)
	if rate == nil || codes == nil || strings.Contains(string(codes[1]), "SERVFAIL") || strings.Contains(string(codes[1]), "REFUSED") {
		b.Fatalf("%s does not answer as it should: %s", server, out)
	}
	perSecond, err := strconv.ParseFloat(string(rate[1]), 64)
	must(b, err)
	return perSecond
}
