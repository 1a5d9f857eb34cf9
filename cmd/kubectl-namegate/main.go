// Command kubectl-namegate is the kubectl plugin: what can be asked of Namegate without changing a cluster. kubectl runs it as
// "kubectl namegate".
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/namegate/namegate/cmd/kubectl-namegate/conformance"
)

// version is set at build time.
var version = "dev"

// Exit codes of every subcommand.
const (
	exitOK       = 0
	exitNegative = 1
	exitNotRun   = 2
)

// errNegative ends a command that did what was asked, with an answer that is not good: something is denied, nothing is found. What there is to
// say has been printed.
var errNegative = errors.New("negative answer")

// grace is how long a command has to end after it was interrupted: to leave nothing behind on a server, to say how far it came. Those that only
// compute do not listen, and have no more to say.
const grace = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { os.Exit(exitNotRun) }) })
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNegative), errors.Is(err, conformance.ErrChecksFailed):
		return exitNegative
	}
	_, _ = fmt.Fprintf(stderr, "kubectl namegate: %v\n", err)
	return exitNotRun
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-namegate",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl namegate"},
		Short:       "Check DNS names before a cluster sees them, and ask what became of them",
		Long: `kubectl namegate checks manifests with the rules that Namegate's webhooks enforce, explains those
rules, moves zones in and out as master files, says which Zone would adopt a name, asks DNS servers
for names, and checks servers against the protocol of a DNSClass.

Every subcommand exits with 0 if all is well, 1 if the answer is no (something is denied, no such
name, a check failed), and 2 if it could not do what was asked.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newLintCommand(), newZoneCommand(), newExplainCommand(), newQueryCommand(), newRulesCommand(), newVersionCommand(), conformance.Command())
	return root
}
