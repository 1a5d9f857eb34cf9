// Package stack runs Namegate and the reference DNS server against a control plane, each as a process of its own, as a
// user does, and asks what is published.
package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Program is one that the repository builds.
type Program struct {
	// Name of the binary.
	Name string
	// Package, from the root of the repository.
	Package string
}

// The programs that a stack is made of, and the kubectl plugin.
var (
	NamegateProgram  = Program{Name: "namegate", Package: "./cmd/manager"}
	DNSServerProgram = Program{Name: "dnsserver", Package: "./cmd/dnsserver"}
	CoreDNSProgram   = Program{Name: "coredns", Package: "./cmd/coredns"}
	KubectlProgram   = Program{Name: "kubectl-namegate", Package: "./cmd/kubectl-namegate"}
)

// BuildOptions say how programs are built.
type BuildOptions struct {
	// Root of the repository.
	Root string
	// Dir gets the binaries.
	Dir string
	// Race builds in the race detector, which needs a C compiler.
	Race bool
	// Log gets what the compiler says, and that it is still at work.
	Log io.Writer
}

// heartbeat is how often a build says that it is still at work.
const heartbeat = 10 * time.Second

// Build builds programs. Go itself knows what has changed, so it is cheap where nothing has.
func Build(ctx context.Context, opts BuildOptions, programs ...Program) error {
	for _, program := range programs {
		if err := build(ctx, opts, program); err != nil {
			return fmt.Errorf("build %s: %w", program.Name, err)
		}
	}
	return nil
}

func build(ctx context.Context, opts BuildOptions, program Program) error {
	args := []string{"build", "-o", filepath.Join(opts.Dir, program.Name)}
	if opts.Race {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, program.Package)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = opts.Root, opts.Log, opts.Log
	if opts.Race {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return reportUntil(done, opts.Log, program.Name)
}

func reportUntil(done <-chan error, log io.Writer, name string) error {
	begin := time.Now()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			fmt.Fprintf(log, "still building %s (%.0f s)\n", name, time.Since(begin).Seconds())
		}
	}
}
