package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// binary is the built command.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kubectl-namegate")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "kubectl-namegate")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=v0.0.0-test", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// result is what a run of the binary came to.
type result struct {
	stdout, stderr string
	code           int
}

// runBinary runs the built command with the arguments, and stdin as its standard input.
func runBinary(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// golden compares a text with a file of testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

// TestUsage: what is asked wrongly is answered on standard error, with exit code 2.
func TestUsage(t *testing.T) {
	empty := t.TempDir()
	tests := []struct {
		args string
		want string
	}{
		{"nonsense", "unknown command"},
		{"--nonsense", "unknown flag"},
		{"lint", "give a file, a directory or - with -f"},
		{"lint testdata/lint/good.yaml", "give files and directories with -f: -f testdata/lint/good.yaml"},
		{"lint -f", "flag needs an argument"},
		{"lint --nonsense", "unknown flag"},
		{"lint -f absent.yaml", "no such file"},
		{"lint -f testdata/lint/good.yaml -f absent", "no such file"},
		{"lint -f " + empty, "no .yaml, .yml or .json file"},
		{"lint -f /dev/null", "the input holds no manifest"},
		{"lint -f testdata/lint/good.yaml -o xml", "give text, json or sarif"},
		{"lint -f testdata/lint/good.yaml --rule-severity x=Deny", `there is no rule "x"`},
		{"lint -f testdata/lint/good.yaml --rule-severity value-ipv4=warn", "give Deny, Warn or Off"},
		{"lint -f testdata/lint/good.yaml --rule-severity schema-type=Warn", "cannot be set"},
		{"lint -f testdata/lint/good.yaml -n A", "--namespace"},
		{"lint -f testdata/lint/good.yaml --operator-namespace a.b", "--operator-namespace"},
		{"lint -f testdata/lint/good.yaml --secret-namespaces a,B", `--secret-namespaces "B"`},
		{"rules value-ip", "did you mean value-ipv4, value-ipv6?"},
		{"rules nonsense", "kubectl namegate rules lists them"},
		{"rules a b", "give one rule, or none for all: kubectl namegate rules"},
		{"query", "give a name, and a type if it is not A: kubectl namegate query"},
		{"query example.com", "--server"},
		{"query exa..mple --server 127.0.0.1:1", "a label is empty"},
		{"query example.com NONE --server 127.0.0.1:1", "give the type of a record"},
		{"query example.com axfr --server 127.0.0.1:1", "give the type of a record"},
		{"query example.com --server ::1:53:x", "give HOST:PORT"},
		{"query example.com --server 127.0.0.1 --timeout 0s", "give a time above 0"},
		{"zone nonsense", "unknown command"},
		{"zone export", "give the name of one Zone: kubectl namegate zone export NAME"},
		{"zone export A", `name "A": give a Kubernetes object name`},
		{"zone export a -n A", `--namespace "A"`},
		{"zone export a --kubeconfig absent", "absent"},
		{"zone import", "give one master file, or - for standard input: kubectl namegate zone import FILE|-"},
		{"zone import absent.zone", "no such file"},
		{"zone import - --name A", `--name "A"`},
		{"zone import - --origin a..b", `--origin "a..b": a label is empty`},
		{"zone import - -n A", `--namespace "A"`},
		{"zone import " + empty, "is a directory"},
		{"explain", "give one name: kubectl namegate explain"},
		{"explain a..b", `name "a..b": a label is empty`},
		{"explain www.example.org --type SOA", `--type "SOA"`},
		{"explain www.example.org --type x", `--type "X"`},
		{"explain www.example.org --zone-namespace A", `--zone-namespace "A"`},
		{"explain www.example.org --kubeconfig absent", "absent"},
		{"version x", "unknown command"},
		{"conformance --server nonsense", "--server"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got := runBinary(t, "", strings.Fields(tt.args)...)
			if got.code != 2 || got.stdout != "" || !strings.HasPrefix(got.stderr, "kubectl namegate: ") || !strings.Contains(got.stderr, tt.want) {
				t.Errorf("exit code %d\nstdout: %s\nstderr: %s\nwant code 2 and %q", got.code, got.stdout, got.stderr, tt.want)
			}
		})
	}
}

// Every command has help that names its flags, an example or a reason to do without, and its exit codes.
func TestHelp(t *testing.T) {
	root := newCommand()
	for _, args := range [][]string{nil, {"--help"}, {"help"}} {
		got := runBinary(t, "", args...)
		if got.code != 0 || !strings.Contains(got.stdout, "kubectl namegate [command]") {
			t.Errorf("%v: exit code %d\n%s", args, got.code, got.stdout)
		}
		for _, cmd := range root.Commands() {
			if !strings.Contains(got.stdout, cmd.Name()) {
				t.Errorf("%v does not name %s", args, cmd.Name())
			}
		}
	}
	for _, name := range []string{"lint", "zone", "zone export", "zone import", "explain", "query", "rules", "conformance"} {
		got := runBinary(t, "", append(strings.Fields(name), "--help")...)
		if got.code != 0 || !strings.Contains(got.stdout, "kubectl namegate "+name) || !strings.Contains(got.stdout, "Examples:") || !strings.Contains(got.stdout, "Flags:") {
			t.Errorf("%s: exit code %d\n%s", name, got.code, got.stdout)
		}
		if name != "rules" && name != "zone" && !strings.Contains(got.stdout, "Exit code 0") {
			t.Errorf("%s does not tell its exit codes", name)
		}
	}
}

func TestVersion(t *testing.T) {
	if got := runBinary(t, "", "version"); got.code != 0 || !strings.HasPrefix(got.stdout, "kubectl-namegate v0.0.0-test (go") {
		t.Errorf("%+v", got)
	}
}

func TestRules(t *testing.T) {
	all := runBinary(t, "", "rules")
	if all.code != 0 || strings.Count(all.stdout, "\n") != len(rules.All())+1 {
		t.Errorf("%+v", all)
	}
	for _, rule := range rules.All() {
		if !strings.Contains(all.stdout, "\n"+rule.ID+" ") {
			t.Errorf("%s is not listed", rule.ID)
		}
	}
	for _, rule := range []*rules.Rule{rules.CNAMEAtApex, rules.NameTaken, rules.IdentityImmutable} {
		got := runBinary(t, "", "rules", rule.ID)
		for _, part := range []string{rule.ID, rule.Summary, rule.Source, string(rule.Severity), string(rule.Layer)} {
			if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, part) {
				t.Errorf("%s: exit code %d, without %q\n%s%s", rule.ID, got.code, part, got.stdout, got.stderr)
			}
		}
		if said := !strings.Contains(got.stdout, "the linter never says it"); said != (lint.ClusterOnly(rule) == "") {
			t.Errorf("%s is said by the linter: %v", rule.ID, said)
		}
		if settable := strings.Contains(got.stdout, "--rule-severity "+rule.ID); settable == (rule.Layer == rules.Schema) {
			t.Errorf("%s can be set: %v", rule.ID, settable)
		}
	}
}

// A writer that is full is an error, not a panic and not a success.
func TestOutputFails(t *testing.T) {
	for _, args := range [][]string{{"rules"}, {"rules", "cname-at-apex"}, {"version"}, {"lint", "-f", "testdata/lint/good.yaml"},
		{"zone", "import", "testdata/zone/example.org.zone"}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), full{}, &stderr); code != exitNotRun || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A command that computes, or waits for its input, ends when it is interrupted.
func TestInterrupt(t *testing.T) {
	for _, args := range [][]string{{"zone", "import", "-"}, {"lint", "-f", "-"}} {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		stdin, err := cmd.StdinPipe() // which stays open
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil { // more than fits between us, so it reads
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // what it says of the end is not asked
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Errorf("%v goes on", args)
			_ = cmd.Process.Kill()
		}
		_ = stdin.Close()
	}
}
