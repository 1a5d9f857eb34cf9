// Command dnsserver is the reference server of the DNS server webhook protocol. It keeps records in memory and answers DNS about
// them itself, or passes them on to a DNS provider. docs/dns-server-guide.md tells how to run it, and how to write another.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it serves until the context ends, and returns the exit code. 0: stopped as asked;
// 1: could not start, or could not go on.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	if err := cmd.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "dnsserver: %v\n", err)
		return 1
	}
	return 0
}
