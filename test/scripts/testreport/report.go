package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64
	Output  string
}

// testID names a test; one without Test is the package itself.
type testID struct{ Package, Test string }

// report collects the events of one run.
type report struct {
	out io.Writer
	// output of what has not ended yet. That of a test that passes is dropped.
	output map[testID][]string
	// specs are the summaries of Ginkgo suites, by package.
	specs map[string][]string

	packages, passed, failed int
	skipped                  []string
	failedPackages           []string
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[testID][]string{}, specs: map[string][]string{}}
}

// read takes all events. Lines that are no event, such as those of a linker, are passed on.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(r.out, line)
		return
	}
	id := testID{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.keep(id, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(id, e)
		}
	}
}

// ranSpecs is the line that sums up a Ginkgo suite, which go test sees as one test.
var ranSpecs = regexp.MustCompile(`^Ran \d+ of \d+ Specs? in .* seconds`)

func (r *report) keep(id testID, output string) {
	r.output[id] = append(r.output[id], output)
	if text := strings.TrimSpace(output); ranSpecs.MatchString(text) {
		r.specs[id.Package] = append(r.specs[id.Package], text)
	}
}

func (r *report) endTest(id testID, e event) {
	output := r.output[id]
	delete(r.output, id)
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped = append(r.skipped, fmt.Sprintf("%s %s: %s", id.Package, id.Test, reason(output)))
	case "fail":
		r.failed++
		fmt.Fprint(r.out, strings.Join(output, ""))
	}
}

// reason is what a test said when it skipped itself.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

func (r *report) endPackage(e event) {
	if e.Action == "skip" {
		delete(r.output, testID{Package: e.Package})
		return // It has no tests.
	}
	r.packages++
	verdict := "ok  "
	if e.Action == "fail" {
		verdict = "FAIL"
		r.failedPackages = append(r.failedPackages, e.Package)
		r.printRest(e.Package)
	}
	fmt.Fprintf(r.out, "%s  %s  %.1fs\n", verdict, e.Package, e.Elapsed)
	for _, line := range r.specs[e.Package] {
		fmt.Fprintf(r.out, "        %s\n", line)
	}
	for id := range r.output {
		if id.Package == e.Package {
			delete(r.output, id)
		}
	}
}

// printRest prints what a package that failed said besides its tests, and what a test said that never ended.
func (r *report) printRest(pkg string) {
	ids := slices.SortedFunc(maps.Keys(r.output), func(a, b testID) int { return strings.Compare(a.Test, b.Test) })
	for _, id := range ids {
		if id.Package == pkg {
			fmt.Fprint(r.out, strings.Join(r.output[id], ""))
		}
	}
}

// summary returns the counts, and what was skipped and what failed.
func (r *report) summary() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d passed, %d failed, %d skipped in %d packages\n", r.passed, r.failed, len(r.skipped), r.packages)
	for _, s := range r.skipped {
		fmt.Fprintf(&out, "  skipped: %s\n", s)
	}
	for _, p := range r.failedPackages {
		fmt.Fprintf(&out, "  FAILED: %s\n", p)
	}
	return out.String()
}

// verdict is an error if something failed, or nothing ran.
func (r *report) verdict() error {
	switch {
	case r.failed > 0 || len(r.failedPackages) > 0:
		return fmt.Errorf("%d tests failed, in %d packages", r.failed, len(r.failedPackages))
	case r.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}
