package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// syncBuffer is a log that several goroutines may write and a test may read.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// executable writes a file that counts as a binary.
func executable(t *testing.T, path string) {
	t.Helper()
	writeFile(t, path, "#!/bin/sh\n", 0o755)
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// directory makes a directory with the named binaries.
func directory(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		executable(t, filepath.Join(dir, name))
	}
	return dir
}

// fixture is a resolver whose build and download are recorded fakes.
type fixture struct {
	*resolver
	out       *syncBuffer
	mu        sync.Mutex
	built     []string
	downloads int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{out: &syncBuffer{}}
	log := &progress{out: f.out}
	f.resolver = &resolver{
		cache: &cache{dir: filepath.Join(t.TempDir(), "cache"), log: log},
		build: f.fakeBuild,
		log:   log,
	}
	return f
}

func (f *fixture) fakeBuild(_ context.Context, j job, out string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.built = append(f.built, j.name)
	return os.WriteFile(out, []byte("built "+j.name), 0o755)
}

// downloadFrom has the fake setup-envtest answer with dir, or fail if dir is "".
func (f *fixture) downloadFrom(dir string) {
	f.download = func(context.Context) (string, error) {
		f.downloads++
		if dir == "" {
			return "", errors.New("no network")
		}
		return dir, nil
	}
}

// origins resolves everything and returns "name=from" for each component.
func (f *fixture) origins(t *testing.T) string {
	t.Helper()
	binaries, err := f.resolve(t.Context(), components)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range binaries {
		if !isExecutable(b.path) {
			t.Errorf("%s resolved to %s, which is no executable", b.name, b.path)
		}
		got = append(got, b.name+"="+b.from)
	}
	return strings.Join(got, " ")
}

func (f *fixture) wantBuilt(t *testing.T, names ...string) {
	t.Helper()
	if !slices.Equal(f.built, names) {
		t.Errorf("built %q, want %q", f.built, names)
	}
}

func wantNoEntries(t *testing.T, dir, pattern string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func named(t *testing.T, name string) component {
	t.Helper()
	list, err := selectComponents(name)
	if err != nil || len(list) != 1 {
		t.Fatalf("no component %q: %v", name, err)
	}
	return list[0]
}

// poll asks again and again until the answer is yes, or ctx ends; it returns the last answer.
func poll(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return done()
		case <-tick.C:
		}
	}
	return true
}
