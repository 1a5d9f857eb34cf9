package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockPoll is how often a waiting process looks whether the lock is free.
// Polling, unlike a blocking flock, lets Ctrl-C end the wait.
const lockPoll = 200 * time.Millisecond

// cache is the directory of one version key. All clones share it.
type cache struct {
	dir string
	log *progress
}

func newCache(v versions, log *progress) (*cache, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no place for the binaries: %w", err)
	}
	return &cache{dir: filepath.Join(base, "namegate", "controlplane", v.key()), log: log}, nil
}

func (c *cache) path(comp component) string { return filepath.Join(c.dir, comp.name) }

// lookup returns the cached binary, if there is a usable one.
func (c *cache) lookup(comp component) (string, bool) {
	path := c.path(comp)
	return path, isExecutable(path)
}

// isExecutable follows links, so a dangling link counts as absent.
func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 && info.Size() > 0
}

// prepare makes the directory, with an error that says what to do.
func (c *cache) prepare() error {
	err := os.MkdirAll(c.dir, 0o755)
	if err != nil {
		return fmt.Errorf("cannot create the cache directory: %w (XDG_CACHE_HOME selects another place)", err)
	}
	return nil
}

// fill builds one component into the cache. Under the lock it looks again:
// another process may have built it while this one waited.
func (c *cache) fill(ctx context.Context, comp component, build func(out string) error) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	unlock, err := c.lock(ctx, comp.name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if path, ok := c.lookup(comp); ok {
		c.log.printf("%s was built by another process meanwhile", comp.name)
		return path, nil
	}
	return c.path(comp), c.buildAside(comp, build)
}

// buildAside has the component built in a scratch directory and moves it in
// place in one step, so that the cache never holds half a binary.
func (c *cache) buildAside(comp component, build func(out string) error) error {
	c.removeScratch()
	scratch, err := os.MkdirTemp(c.dir, scratchPrefix)
	if err != nil {
		return fmt.Errorf("cannot write to the cache directory: %w", err)
	}
	defer os.RemoveAll(scratch)
	out := filepath.Join(scratch, comp.name)
	if err := build(out); err != nil {
		return err
	}
	if !isExecutable(out) {
		return fmt.Errorf("building %s reported success, but left no executable", comp.name)
	}
	return os.Rename(out, c.path(comp))
}

const scratchPrefix = ".scratch-"

// removeScratch clears what a killed process left. Only call it under the lock.
func (c *cache) removeScratch() {
	leftovers, _ := filepath.Glob(filepath.Join(c.dir, scratchPrefix+"*"))
	for _, dir := range leftovers {
		os.RemoveAll(dir)
	}
}

// adopt records a binary that lives elsewhere (setup-envtest's store) as a
// link, so that the next run needs no setup-envtest. If it disappears there,
// the link dangles and counts as absent.
func (c *cache) adopt(comp component, path string) error {
	if err := c.prepare(); err != nil {
		return err
	}
	return replaceLink(c.path(comp), path)
}

// lock takes the directory's lock across processes. The kernel frees it when
// the process ends, however it ends.
func (c *cache) lock(ctx context.Context, purpose string) (func(), error) {
	file, err := os.OpenFile(filepath.Join(c.dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write to the cache directory: %w", err)
	}
	if err := c.waitForLock(ctx, file); err != nil {
		file.Close()
		return nil, err
	}
	// For those who wait: who holds it, and what for. Nothing depends on it.
	_ = file.Truncate(0)
	_, _ = file.WriteAt(fmt.Appendf(nil, "%s (process %d)", purpose, os.Getpid()), 0)
	return func() { file.Close() }, nil
}

func (c *cache) waitForLock(ctx context.Context, file *os.File) error {
	started := time.Now()
	nextReport := time.Duration(0)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("cannot lock %s: %w", file.Name(), err)
		}
		if waited := time.Since(started); waited >= nextReport {
			c.log.printf("another process is building %s; waiting, %s so far", holder(file), seconds(waited))
			nextReport = waited + reportEvery
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

func holder(file *os.File) string {
	content, err := os.ReadFile(file.Name())
	if text := strings.TrimSpace(string(content)); err == nil && text != "" {
		return text
	}
	return "a component"
}

// replaceLink makes link a symbolic link to target, in one step. It never
// replaces anything but a link: a real file there is somebody's own.
func replaceLink(link, target string) error {
	info, err := os.Lstat(link)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is not a link; move it away first", link)
	case err == nil:
		if now, err := os.Readlink(link); err == nil && now == target {
			return nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	aside := fmt.Sprintf("%s.new-%d", link, os.Getpid())
	os.Remove(aside)
	if err := os.Symlink(target, aside); err != nil {
		return fmt.Errorf("cannot link %s: %w", link, err)
	}
	if err := os.Rename(aside, link); err != nil {
		os.Remove(aside)
		return fmt.Errorf("cannot link %s: %w", link, err)
	}
	return nil
}
