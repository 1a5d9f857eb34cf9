package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// buildTags are those of Kubernetes' own release builds (hack/lib/golang.sh).
// etcd gets them too: grpcnotrace would otherwise have grpc compiled twice.
const buildTags = "selinux,notest,grpcnotrace"

// goBuilder builds components from this module with the go command.
type goBuilder struct {
	goTool    string
	moduleDir string
	versions  versions
	log       *progress
}

// build is a buildFunc.
func (b *goBuilder) build(ctx context.Context, j job, out string) error {
	started := time.Now()
	output := &buildOutput{}
	label := fmt.Sprintf("%s (%d of %d)", j.name, j.step, j.total)
	b.log.printf("%s: building %s", label, b.origin(j.component))

	stop := b.log.during(func() string {
		return fmt.Sprintf("%s: %s, %s", label, seconds(time.Since(started)), output.summary())
	})
	err := runGroup(ctx, b.command(ctx, j.component, out, output))
	stop()

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go build: %w%s", err, output.explain())
	}
	b.log.printf("%s: done in %s, %s", label, seconds(time.Since(started)), output.summary())
	return nil
}

// origin names the module and version a component comes from.
func (b *goBuilder) origin(c component) string {
	if c.pkg == etcdModule {
		return etcdModule + "@" + b.versions.etcd
	}
	return c.pkg + "@" + b.versions.kubernetes
}

func (b *goBuilder) command(ctx context.Context, c component, out string, output *buildOutput) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.goTool, "build",
		"-v", // a line per compiled package: that is what progress counts
		"-mod=readonly", "-trimpath", "-buildvcs=false",
		"-tags="+buildTags,
		"-ldflags="+b.ldflags(time.Now()),
		"-o", out, c.pkg)
	cmd.Dir = b.moduleDir
	// The go command does not always get to empty its work directory when it
	// is interrupted; beside out, the cache removes it with the scratch.
	cmd.Env = append(os.Environ(), append(b.environment(), "GOTMPDIR="+filepath.Dir(out))...)
	cmd.Stdout = output
	cmd.Stderr = output
	return cmd
}

var releasedGo = regexp.MustCompile(`^go1\.\d+(\.\d+)?(rc\d+)?$`)

// environment shields the build from what would make it differ from its key:
// a workspace, a cross-compiling or cgo environment, another toolchain.
func (b *goBuilder) environment() []string {
	env := []string{"CGO_ENABLED=0", "GOWORK=off", "GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}
	if releasedGo.MatchString(b.versions.goVersion) {
		env = append(env, "GOTOOLCHAIN="+b.versions.goVersion)
	}
	return env
}

// ldflags sets the version that Kubernetes' release scripts would set. A
// module carries no git commit, so it says "unknown".
func (b *goBuilder) ldflags(at time.Time) string {
	major, minor := b.versions.majorMinor()
	values := []string{
		"gitVersion=" + b.versions.kubernetes,
		"gitMajor=" + major,
		"gitMinor=" + minor,
		"gitCommit=unknown",
		"gitTreeState=clean",
		"buildDate=" + at.UTC().Format(time.RFC3339),
	}
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, value := range values {
			flags = append(flags, "-X", pkg+"."+value)
		}
	}
	return strings.Join(flags, " ")
}

// runGroup runs a command in a process group of its own and, when ctx ends,
// interrupts the whole group: the go command's compilers and linkers too.
func runGroup(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		// Whatever of the group did not listen.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w; is Go installed?", err)
	}
	return err
}
