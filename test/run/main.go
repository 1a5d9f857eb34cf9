// Command run brings up a real control plane with Namegate in it on this machine, for a person (`make run`) or, with
// --smoke, for CI (`make smoke`): then it checks each step by itself and stops.
//
// The control plane comes from test/controlplane, the rest is built from this repository. All of it listens on 127.0.0.1
// only, and runs until Ctrl-C. Logs and the kubeconfig are in bin/run (bin/smoke).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	smoke := flag.Bool("smoke", false, "check every step without a person, on free ports, and stop")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "run: no arguments are taken:", flag.Args())
		os.Exit(2)
	}
	os.Exit(run(*smoke, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 after Ctrl-C, or when every check of the smoke test passed; 1 otherwise.
func run(smoke bool, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends this program at once, and with it all that it started
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go watchParent(ctx, cancel)

	err := runIn(ctx, smoke, stdout)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && !smoke:
		fmt.Fprintln(stderr, "run: stopped:", context.Cause(ctx))
		return 130
	default:
		fmt.Fprintln(stderr, "run:", err)
		return 1
	}
}

func runIn(ctx context.Context, smoke bool, stdout io.Writer) (err error) {
	r, err := newRunner(smoke, stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.up(ctx); err != nil {
		return err
	}
	if smoke {
		return r.check(ctx)
	}
	guide, err := r.guide()
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, guide)
	return r.stay(ctx)
}

// parentPoll is how soon the end of the parent is noticed.
const parentPoll = time.Second

// watchParent cancels when the program that started this one is gone: `go run` and make die of a SIGTERM without
// passing it on.
func watchParent(ctx context.Context, cancel context.CancelCauseFunc) {
	parent := os.Getppid()
	ticker := time.NewTicker(parentPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if os.Getppid() != parent {
				cancel(errors.New("the program that started this one has ended"))
				return
			}
		}
	}
}
