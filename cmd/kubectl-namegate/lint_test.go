package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	tests := []struct {
		name string
		args string
		file string // given as standard input
		code int
	}{
		{"good", "-f testdata/lint/good.yaml", "", 0},
		{"warn", "-f testdata/lint/warn.yaml", "", 0},
		{"warn-denied", "-f testdata/lint/warn.yaml --rule-severity name-repeats-domain=Deny --rule-severity address-special=Off,hmac-plain-http=Off", "", 1},
		{"bad", "-f testdata/lint/bad.yaml", "", 1},
		{"bad-json", "-f testdata/lint/bad.yaml -o json", "", 1},
		{"good-json", "-f testdata/lint/good.yaml --output=json", "", 0},
		{"zones", "-f testdata/lint/zones.yaml", "", 0},
		{"zones-bad", "-f testdata/lint/zones-bad.yaml", "", 1},
		{"zones-bad-json", "-f testdata/lint/zones-bad.yaml -o json --rule-severity delegation-empty=Deny,parent-label-ignored=Off", "", 1},
		{"stdin", "-f -", "testdata/lint/bad.yaml", 1},
		{"tree", "-f testdata/lint/tree", "", 1},
		{"tree-flat", "-f testdata/lint/tree --recursive=false", "", 0},
		{"tree-order", "-f testdata/lint/tree/sub/second.yaml -f ./testdata/lint/tree/sub/../sub/second.yaml -f testdata/lint/tree/", "", 1},
		{"namespace", "-f testdata/lint/warn.yaml -n dns -R", "", 0},
		{"secret-namespaces", "-f testdata/lint/good.yaml --operator-namespace dns --secret-namespaces dns,infra", "", 0},
		{"secret-namespaces-denied", "-f testdata/lint/good.yaml --secret-namespaces dns,infra", "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdin []byte
			if tt.file != "" {
				var err error
				if stdin, err = os.ReadFile(tt.file); err != nil {
					t.Fatal(err)
				}
			}
			got := runBinary(t, string(stdin), append([]string{"lint"}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || got.stderr != "" {
				t.Errorf("exit code %d, want %d; stderr %s", got.code, tt.code, got.stderr)
			}
			if strings.Contains(got.stdout, "hunter2") {
				t.Error("a secret is shown")
			}
			golden(t, tt.name+".txt", got.stdout)
		})
	}
}

func TestLintSARIF(t *testing.T) {
	asJSON := runBinary(t, "", "lint", "-f", "testdata/lint/bad.yaml", "-o", "json")
	var findings struct{ Findings []struct{ Rule string } }
	if err := json.Unmarshal([]byte(asJSON.stdout), &findings); err != nil || len(findings.Findings) == 0 {
		t.Fatalf("%v, %d findings", err, len(findings.Findings))
	}
	got := runBinary(t, "", "lint", "-f", "testdata/lint/bad.yaml", "-o", "sarif")
	var log struct {
		Runs []struct {
			Tool    struct{ Driver struct{ Version string } }
			Results []struct{ RuleID string }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &log); err != nil || got.code != 1 || len(log.Runs) != 1 {
		t.Fatalf("exit code %d, %v, %d runs", got.code, err, len(log.Runs))
	}
	if v := log.Runs[0].Tool.Driver.Version; v != "v0.0.0-test" {
		t.Errorf("version %q", v)
	}
	for i, f := range findings.Findings {
		if len(log.Runs[0].Results) != len(findings.Findings) || log.Runs[0].Results[i].RuleID != f.Rule {
			t.Fatalf("results %v; want the findings %v", log.Runs[0].Results, findings.Findings)
		}
	}
}

// A directory that cannot be read to its end is an error: what was not seen is not good.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.YML", "c.json", "d.txt", ".e.yaml", "sub/f.yaml", ".git/g.yaml"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link.yaml": "b.yaml", "dangling.yaml": "absent", "loop": ".", "dir.yaml": "sub"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name      string
		paths     []string
		recursive bool
		want      string
	}{
		{"recursive", []string{dir}, true, "a.YML b.yaml c.json link.yaml sub/f.yaml"},
		{"flat", []string{dir}, false, "a.YML b.yaml c.json link.yaml"},
		{"a hidden directory that is named", []string{filepath.Join(dir, ".git")}, true, ".git/g.yaml"},
		{"a file that is named, whatever it is called", []string{filepath.Join(dir, "d.txt"), filepath.Join(dir, ".e.yaml")}, true, "d.txt .e.yaml"},
		{"the order given, each once", []string{filepath.Join(dir, "c.json"), dir + "/./c.json", dir, "-", "-"}, false, "c.json a.YML b.yaml link.yaml stdin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inputs, err := collect(tt.paths, tt.recursive, &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range inputs {
				got = append(got, strings.TrimPrefix(in.Name, dir+"/"))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %v; want %s", got, tt.want)
			}
		})
	}
}
