package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOnlyAnExecutableCountsAsCached(t *testing.T) {
	c := &cache{dir: t.TempDir()}
	etcd := named(t, "etcd")
	unusable := map[string]func(path string) error{
		"absent":         func(string) error { return nil },
		"not executable": func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) },
		"empty":          func(path string) error { return os.WriteFile(path, nil, 0o755) },
		"a directory":    func(path string) error { return os.Mkdir(path, 0o755) },
		"dangling link":  func(path string) error { return os.Symlink("/nonexistent/etcd", path) },
	}
	for name, put := range unusable {
		if err := put(c.path(etcd)); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.lookup(etcd); ok {
			t.Errorf("%s counts as cached", name)
		}
		os.Remove(c.path(etcd))
	}
	executable(t, c.path(etcd))
	if path, ok := c.lookup(etcd); !ok || path != c.path(etcd) {
		t.Errorf("lookup = %s, %v; want the binary", path, ok)
	}
}

func TestConcurrentFillsBuildOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	etcd := named(t, "etcd")
	var builds, running atomic.Int32
	var group sync.WaitGroup
	for range 5 {
		// A cache of its own for each: flock is between open files, so this
		// is what separate processes see.
		c := &cache{dir: dir, log: &progress{out: io.Discard}}
		group.Go(func() {
			_, err := c.fill(t.Context(), etcd, func(out string) error {
				builds.Add(1)
				if running.Add(1) > 1 {
					t.Error("two builds at the same time")
				}
				defer running.Add(-1)
				<-time.After(50 * time.Millisecond) // long enough for the others to come
				return os.WriteFile(out, []byte("x"), 0o755)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times, want once", builds.Load())
	}
}

func TestBinaryAppearsOnlyWhenComplete(t *testing.T) {
	c := &cache{dir: t.TempDir(), log: &progress{out: io.Discard}}
	etcd := named(t, "etcd")
	path, err := c.fill(t.Context(), etcd, func(out string) error {
		executable(t, out)
		if _, ok := c.lookup(etcd); ok {
			t.Error("the binary is in the cache while it is being written")
		}
		return nil
	})
	if err != nil || !isExecutable(path) {
		t.Errorf("fill = %s, %v", path, err)
	}
	wantNoEntries(t, c.dir, scratchPrefix+"*")
}

func TestFillRefusesABuildWithoutResult(t *testing.T) {
	c := &cache{dir: t.TempDir(), log: &progress{out: io.Discard}}
	for what, build := range map[string]func(out string) error{
		"nothing":       func(string) error { return nil },
		"an empty file": func(out string) error { return os.WriteFile(out, nil, 0o755) },
	} {
		if _, err := c.fill(t.Context(), named(t, "etcd"), build); err == nil {
			t.Errorf("a build that wrote %s passes", what)
		}
	}
}

func TestFillRemovesWhatAKilledProcessLeft(t *testing.T) {
	c := &cache{dir: t.TempDir(), log: &progress{out: io.Discard}}
	executable(t, filepath.Join(c.dir, scratchPrefix+"123", "etcd"))
	_, err := c.fill(t.Context(), named(t, "etcd"), func(out string) error {
		return os.WriteFile(out, []byte("x"), 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	wantNoEntries(t, c.dir, scratchPrefix+"*")
}

func TestWaitingForTheLockSaysWhyAndCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	holder := &cache{dir: dir, log: &progress{out: io.Discard}}
	unlock, err := holder.lock(t.Context(), "kube-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()

	var out syncBuffer
	waiter := &cache{dir: dir, log: &progress{out: &out}}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := waiter.lock(ctx, "kube-apiserver"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("lock = %v, want %v", err, context.DeadlineExceeded)
	}
	want := fmt.Sprintf("building kube-apiserver (process %d)", os.Getpid())
	if !strings.Contains(out.String(), want) {
		t.Errorf("the waiting process says %q, want %q in it", out.String(), want)
	}
}

// lockedDir is set in the child of the next test: the directory to lock.
const lockedDir = "CONTROLPLANE_TEST_LOCKED_DIR"

func TestLockHoldsAcrossProcessesAndEndsWithTheProcess(t *testing.T) {
	if dir := os.Getenv(lockedDir); dir != "" {
		holdLock(t, dir)
		return
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), lockedDir+"="+dir)
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	if _, err := io.ReadFull(stdout, make([]byte, len("locked"))); err != nil {
		t.Fatal(err)
	}

	c := &cache{dir: dir, log: &progress{out: io.Discard}}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.lock(ctx, "etcd"); err == nil {
		t.Fatal("got a lock that another process holds")
	}
	// A kill leaves it no chance to clean up.
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	unlock, err := c.lock(ctx, "etcd")
	if err != nil {
		t.Fatalf("the lock outlives its process: %v", err)
	}
	unlock()
}

func holdLock(t *testing.T, dir string) {
	c := &cache{dir: dir, log: &progress{out: io.Discard}}
	if _, err := c.lock(t.Context(), "etcd"); err != nil {
		t.Fatal(err)
	}
	fmt.Print("locked")
	<-time.After(time.Minute) // the parent kills it much sooner
}

func TestCacheDirectoryErrorsNameThePathAndAWayOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "in the way", 0o644)
	c := &cache{dir: filepath.Join(file, "cache"), log: &progress{out: io.Discard}}
	_, err := c.fill(t.Context(), named(t, "etcd"), func(string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("got %v, want the path and XDG_CACHE_HOME in it", err)
	}
}

func TestReplaceLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "etcd")
	// New, changed, unchanged, and pointing to nothing: the link must follow.
	for _, target := range []string{"/old/etcd", "/new/etcd", "/new/etcd", "/gone/etcd"} {
		if err := replaceLink(link, target); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.Readlink(link); got != target {
			t.Errorf("link points to %s, want %s", got, target)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v (%v), want the link alone", entries, err)
	}
}

func TestReplaceLinkSparesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd")
	writeFile(t, path, "precious", 0o755)
	if err := replaceLink(path, "/new/etcd"); err == nil {
		t.Error("no error")
	}
	if content, _ := os.ReadFile(path); !slices.Equal(content, []byte("precious")) {
		t.Errorf("the file now has %q", content)
	}
}

func TestReplaceLinkLeavesAnUnchangedLinkAlone(t *testing.T) {
	link := filepath.Join(t.TempDir(), "etcd")
	if err := replaceLink(link, "/new/etcd"); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceLink(link, "/new/etcd"); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(link)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the link was made anew (%v)", err)
	}
}
