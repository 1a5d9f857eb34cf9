package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	tests := []struct {
		name, in, out, summary, verdict string
	}{
		{
			name: "what passes is one line",
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"output","Package":"p","Output":"ok  p\n"}
{"Action":"pass","Package":"p","Elapsed":1.25}
`,
			out:     "ok    p  1.2s\n",
			summary: "1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		{
			name: "what fails shows its output",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"want 1\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":2}
`,
			out:     "want 1\nFAIL\nFAIL  p  2.0s\n",
			summary: "1 passed, 1 failed, 0 skipped in 1 packages\n  FAILED: p\n",
			verdict: "1 tests failed, in 1 packages",
		},
		{
			name: "a test that never ended shows its output",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: timed out\n"}
{"Action":"fail","Package":"p","Elapsed":3}
`,
			out:     "panic: timed out\nFAIL  p  3.0s\n",
			summary: "0 passed, 0 failed, 0 skipped in 1 packages\n  FAILED: p\n",
			verdict: "0 tests failed, in 1 packages",
		},
		{
			name: "a package that does not build fails",
			in: `{"ImportPath":"p","Action":"build-output","Output":"p/x.go:1: syntax error\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p"}
`,
			out:     "p/x.go:1: syntax error\nFAIL  p  0.0s\n",
			summary: "0 passed, 0 failed, 0 skipped in 1 packages\n  FAILED: p\n",
			verdict: "0 tests failed, in 1 packages",
		},
		{
			name: "what is skipped is counted with its reason",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:9: named is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestC"}
{"Action":"pass","Package":"p","Elapsed":0}
{"Action":"skip","Package":"without/tests"}
`,
			out: "ok    p  0.0s\n",
			summary: "1 passed, 0 failed, 2 skipped in 1 packages\n" +
				"  skipped: p TestA: a_test.go:9: named is not installed\n  skipped: p TestB: no reason given\n",
		},
		{
			name: "the specs of a suite are shown",
			in: `{"Action":"output","Package":"p","Test":"TestSuite","Output":"Ran 11 of 12 Specs in 3.141 seconds\n"}
{"Action":"pass","Package":"p","Test":"TestSuite"}
{"Action":"pass","Package":"p","Elapsed":3.2}
`,
			out:     "ok    p  3.2s\n        Ran 11 of 12 Specs in 3.141 seconds\n",
			summary: "1 passed, 0 failed, 0 skipped in 1 packages\n",
		},
		{
			name:    "what is no event is passed on, and nothing is no success",
			in:      "ld: warning\n{}\nlast line",
			out:     "ld: warning\n{}\nlast line",
			summary: "0 passed, 0 failed, 0 skipped in 0 packages\n",
			verdict: "no test ran",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.summary, r.summary()); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			verdict := ""
			if err := r.verdict(); err != nil {
				verdict = err.Error()
			}
			if verdict != tt.verdict {
				t.Errorf("verdict() = %q, want %q", verdict, tt.verdict)
			}
		})
	}
}
