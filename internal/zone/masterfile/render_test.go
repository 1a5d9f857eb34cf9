package masterfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

func entry(t testing.TB, owner string, ttl uint32, typ record.Type, rdata string) zone.Entry {
	t.Helper()
	name, err := dnsname.ParseOwner(owner)
	if err != nil {
		t.Fatal(err)
	}
	return zone.Entry{Name: name, TTL: ttl, Type: typ, RData: rdata}
}

func exampleSOA(t testing.TB) zone.Entry {
	return zone.SOA{TTL: 360, Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 360}.Entry(mustName(t, "example.org"), 2026112001)
}

const rendered = `$ORIGIN example.org.
$TTL 360
example.org. 360 IN SOA ns.example.org. noc.example.org. 2026112001 86400 7200 3600000 360
example.org. 360 IN NS ns.example.org.
example.org. 60 IN TXT "a;b" "(" "\"\\" "\010"
*.example.org. 360 IN A 192.0.2.9
ns.example.org. 360 IN A 192.0.2.1
ns.example.org. 360 IN AAAA 2001:db8::1
x.ns.example.org. 0 IN TYPE65280 \# 1 ab
`

func renderedEntries(t testing.TB) []zone.Entry {
	return []zone.Entry{
		entry(t, "x.ns.example.org", 0, "TYPE65280", `\# 1 ab`),
		entry(t, "example.org", 60, "TXT", `"a;b" "(" "\"\\" "\010"`),
		entry(t, "*.example.org", 360, "A", "192.0.2.9"),
		entry(t, "ns.example.org", 360, "AAAA", "2001:db8::1"),
		entry(t, "example.org", 360, "NS", "ns.example.org."),
		entry(t, "ns.example.org", 360, "A", "192.0.2.1"),
	}
}

func TestRender(t *testing.T) {
	var out bytes.Buffer
	if err := masterfile.Render(&out, exampleSOA(t), renderedEntries(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rendered, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, checker := range checkers {
		t.Run(checker.name, func(t *testing.T) { checker.run(t, "example.org", out.Bytes()) })
	}
}

// What is not one record on one line is not written, and nothing else of the zone is.
func TestRenderRefuses(t *testing.T) {
	for _, rdata := range []string{
		"", " ", " x", "a\nb", "a\rb", "a\tb", "a\x00b", "a\x7fb", "é", `"`, `"a`, `a" b`, `"\"`, `\`, `a\`, `"a\`, "a\\\nb", "a;b", "a (", "a )", `"a" ; b`, `"a"; b`, "x\n$INCLUDE /etc/passwd",
	} {
		bad := entry(t, "a.example.org", 1, "TXT", rdata)
		checkRefused(t, exampleSOA(t), bad)
		soa := exampleSOA(t)
		soa.RData = rdata
		checkRefused(t, soa)
	}
	for _, typ := range []record.Type{"", "a", "A B", "A\n", "A;", "1A", "SOA", "$INCLUDE", "Ä"} {
		checkRefused(t, exampleSOA(t), entry(t, "a.example.org", 1, typ, "x"))
	}
	checkRefused(t, exampleSOA(t), entry(t, "a.example.org", 1<<31, "A", "192.0.2.1"))
	checkRefused(t, exampleSOA(t), entry(t, "example.net", 1, "A", "192.0.2.1"))
	checkRefused(t, exampleSOA(t), zone.Entry{Type: "A", RData: "192.0.2.1"})
	checkRefused(t, entry(t, "example.org", 1, "A", "192.0.2.1"))
	checkRefused(t, zone.Entry{Type: zone.TypeSOA, RData: "x"})
}

func checkRefused(t *testing.T, soa zone.Entry, entries ...zone.Entry) {
	t.Helper()
	var out bytes.Buffer
	if err := masterfile.Render(&out, soa, entries); err == nil || out.Len() > 0 {
		t.Errorf("%+v %+v is rendered: %v\n%s", soa, entries, err, out.String())
	}
}

func TestRenderToFullDisk(t *testing.T) {
	full := errors.New("disk full")
	if err := masterfile.Render(failingWriter{full}, exampleSOA(t), renderedEntries(t)); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// checkers are programs of others that read master files.
var checkers = []checker{
	{"named-checkzone", func(origin string) []string { return []string{"-q", origin, "/dev/stdin"} }},
	{"nsd-checkzone", func(origin string) []string { return []string{origin, "-"} }},
}

type checker struct {
	name string
	args func(origin string) []string
}

// checkerDeadline is how long a program has for one file.
const checkerDeadline = 30 * time.Second

// run has the program read a master file, where it is installed.
func (c checker) run(t testing.TB, origin string, file []byte) {
	t.Helper()
	path, err := exec.LookPath(c.name)
	if err != nil {
		t.Skip(c.name, "is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), checkerDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, c.args(origin)...)
	cmd.Stdin = bytes.NewReader(file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s%s", c.name, err, out, clip(file))
	}
}

func clip(file []byte) string { return fmt.Sprintf("%.4000s", strings.ToValidUTF8(string(file), "?")) }
