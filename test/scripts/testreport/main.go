// Command testreport reads `go test -json` and prints what a person wants of it: a line for each package, the output of
// what failed, and in the end how much ran and what was skipped, with the reasons. It fails if a test failed, and if
// nothing ran at all, so that no mistake in a package pattern passes for success.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	summary := flag.String("summary", "", "also write the last lines to this file")
	flag.Parse()
	if err := run(*summary); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

func run(summaryFile string) error {
	r := newReport(os.Stdout)
	if err := r.read(os.Stdin); err != nil {
		return err
	}
	fmt.Print(r.summary())
	if summaryFile != "" {
		if err := os.WriteFile(summaryFile, []byte(r.summary()), 0o644); err != nil {
			return err
		}
	}
	return r.verdict()
}
