package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script writes a shell script that stands in for a tool.
func script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, "#!/bin/sh\n"+body, 0o755)
	return path
}

func fakeGo(t *testing.T, body string) (*goBuilder, *syncBuffer) {
	t.Helper()
	out := &syncBuffer{}
	return &goBuilder{
		goTool:    script(t, "go", body),
		moduleDir: t.TempDir(),
		versions:  versions{kubernetes: "v1.37.0", etcd: "v3.7.0", goVersion: "go1.26.8"},
		log:       &progress{out: out},
	}, out
}

func TestBuildCallsGoWithWhatTheKeyPromises(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	b, log := fakeGo(t, `{ for a in "$@"; do echo "arg:$a"; done; env; echo "dir:$(pwd -P)"; } >`+record+"\necho k8s.io/one; echo k8s.io/two")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOARCH", "mips")
	t.Setenv("GOWORK", "/some/go.work")
	t.Setenv("GOTOOLCHAIN", "go1.99.0")
	out := filepath.Join(t.TempDir(), "kubectl")
	if err := b.build(t.Context(), job{named(t, "kubectl"), 2, 3}, out); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := readVersions(goMod)
	goarch := v.platform[strings.Index(v.platform, "-")+1:]
	module, _ := filepath.EvalSymlinks(b.moduleDir)
	for _, want := range []string{
		"arg:build", "arg:-mod=readonly", "arg:-trimpath", "arg:" + out, "arg:k8s.io/kubernetes/cmd/kubectl",
		"CGO_ENABLED=0", "GOARCH=" + goarch, "GOWORK=off", "GOTOOLCHAIN=go1.26.8", "dir:" + module,
	} {
		if !strings.Contains("\n"+string(content), "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, content)
		}
	}
	if want := "kubectl (2 of 3): done in 0s, 2 packages compiled"; !strings.Contains(log.String(), want) {
		t.Errorf("no %q in\n%s", want, log)
	}
}

func TestLdflagsSetTheVersionInBothPlaces(t *testing.T) {
	b := &goBuilder{versions: versions{kubernetes: "v1.37.2"}}
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
	got := b.ldflags(at) + " "
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, value := range []string{
			"gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37", "gitTreeState=clean", "buildDate=2026-09-01T10:00:00Z",
		} {
			if want := fmt.Sprintf(" -X %s.%s ", pkg, value); !strings.Contains(got, want) {
				t.Errorf("no %q in %q", want, got)
			}
		}
	}
}

func TestAFailedBuildShowsTheEndOfItsOutput(t *testing.T) {
	b, _ := fakeGo(t, `
echo "go: downloading k8s.io/api v0.37.0" >&2
echo k8s.io/api/core/v1 >&2
echo "# k8s.io/api/core/v1" >&2
i=0; while [ $i -lt 50 ]; do echo "types.go:$i: undefined: x" >&2; i=$((i+1)); done
printf "no newline at the end" >&2
exit 3`)
	err := b.build(t.Context(), job{named(t, "etcd"), 1, 1}, filepath.Join(t.TempDir(), "etcd"))
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	for _, want := range []string{"exit status 3", "types.go:49: undefined: x", "no newline at the end"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"types.go:5:", "downloading"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is in\n%s", unwanted, text)
		}
	}
}

func TestAFullDiskIsNamedAsSuch(t *testing.T) {
	b, _ := fakeGo(t, `echo "write /tmp/x: no space left on device" >&2; exit 1`)
	err := b.build(t.Context(), job{named(t, "etcd"), 1, 1}, filepath.Join(t.TempDir(), "etcd"))
	if err == nil || !strings.Contains(err.Error(), diskNeeds) {
		t.Errorf("got %v, want the hint %q", err, diskNeeds)
	}
}

func TestAMissingGoIsExplained(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b, _ := fakeGo(t, "")
	b.goTool = "go"
	err := b.build(t.Context(), job{named(t, "etcd"), 1, 1}, filepath.Join(t.TempDir(), "etcd"))
	if err == nil || !strings.Contains(err.Error(), "is Go installed") {
		t.Errorf("got %v", err)
	}
}

func TestBuildReportsWhileItRuns(t *testing.T) {
	defer func(every time.Duration) { reportEvery = every }(reportEvery)
	reportEvery = 20 * time.Millisecond
	b, log := fakeGo(t, "echo k8s.io/one; echo 'go: downloading k8s.io/api v0.37.0'; sleep 0.5")
	if err := b.build(t.Context(), job{named(t, "etcd"), 1, 4}, filepath.Join(t.TempDir(), "etcd")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "etcd (1 of 4): 0s, 1 modules downloaded, 1 packages compiled"); n < 2 {
		t.Errorf("%d reports in\n%s", n, log)
	}
}

func TestQuietSaysNothing(t *testing.T) {
	b, log := fakeGo(t, "echo k8s.io/one")
	b.log.quiet = true
	if err := b.build(t.Context(), job{named(t, "etcd"), 1, 1}, filepath.Join(t.TempDir(), "etcd")); err != nil {
		t.Fatal(err)
	}
	if log.String() != "" {
		t.Errorf("it said %q", log)
	}
}

// An interrupted build must end its compilers too, and leave the cache as it was.
func TestInterruptEndsTheWholeBuild(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	// The child ignores the interrupt, as a stuck compiler would.
	b, _ := fakeGo(t, `sh -c 'trap "" INT; echo $$ >`+pidFile+`.new; mv `+pidFile+`.new `+pidFile+`; while :; do sleep 0.1; done' >/dev/null 2>&1 &
while [ "$1" != -o ]; do shift; done
echo half >"$2"
wait`)
	c := &cache{dir: t.TempDir(), log: b.log}
	etcd := named(t, "etcd")
	stopped := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		poll(t.Context(), func() bool { return exists(pidFile) })
		cancel(stopped)
	}()
	_, err := c.fill(ctx, etcd, func(out string) error { return b.build(ctx, job{etcd, 1, 1}, out) })
	if !errors.Is(err, stopped) {
		t.Errorf("got %v, want %v", err, stopped)
	}
	if _, ok := c.lookup(etcd); ok {
		t.Error("an interrupted build is in the cache")
	}
	wantNoEntries(t, c.dir, scratchPrefix+"*")
	wantEnded(t, pidFile)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func wantEnded(t *testing.T, pidFile string) {
	t.Helper()
	content, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	deadline, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if poll(deadline, func() bool { return !running(pid) }) {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d still runs", pid)
}

// running is false for a zombie too: in a container nobody may reap it.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
