package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/namegate/namegate/test/cluster/stack"
)

// The record of the README, which the checks look for in DNS.
const (
	shopName  = "shop.example.com"
	shopValue = "192.0.2.7"
)

// check does by itself what a person would, a line per step. A step that fails does not stop the others.
func (r *runner) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*settled)
	defer cancel()
	commands, err := r.commands()
	if err != nil {
		return err
	}
	samples, err := refusedSamples(r.root)
	if err != nil {
		return err
	}
	var errs []error
	step := func(name string, do func() error) { errs = append(errs, r.step(name, do)) }

	for _, sample := range samples {
		step("refused by "+sample.rule+": "+sample.path, func() error { return r.checkRefused(ctx, sample) })
	}
	step("the sample www.example.com answers", func() error {
		_, err := stack.AwaitAnswer(ctx, r.dns.DNS, "www.example.com", "A", "192.0.2.10", "192.0.2.11")
		return err
	})
	step("the README's bad record is refused as it says", func() error { return r.checkRefusal(ctx, commands) })
	step("the README's good record is Ready and answers", func() error { return r.checkAccepted(ctx, commands) })
	step("the kubectl plugin answers as the README says", func() error {
		return r.checkOutput(ctx, commands.export+commands.query, shopValue)
	})
	step("a deleted record is gone from DNS", func() error { return r.checkDeleted(ctx, commands) })
	step("every process still runs", r.childErrors)
	step("all stop, and no process is left", r.stopAll)

	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the smoke test failed; logs are in %s\n%w", r.dir, err)
	}
	fmt.Fprintln(r.out, "all checks passed")
	return nil
}

// refusedSample is a manifest that no gate lets pass.
type refusedSample struct{ path, rule string }

// refusedBy begins the first line of such a manifest.
const refusedBy = "# refused by: "

// refusedSamples are all of config/samples/refused, each with the rule that its first line names.
func refusedSamples(root string) ([]refusedSample, error) {
	paths, err := filepath.Glob(filepath.Join(root, "config/samples/refused/*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("config/samples/refused is empty")
	}
	var samples []refusedSample
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		first, err := bufio.NewReader(bytes.NewReader(content)).ReadString('\n')
		rule, found := strings.CutPrefix(strings.TrimSpace(first), refusedBy)
		if err != nil || !found {
			return nil, fmt.Errorf("%s does not begin with %q", path, refusedBy+"<rule>")
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		samples = append(samples, refusedSample{path: relative, rule: rule})
	}
	return samples, nil
}

func (r *runner) checkRefused(ctx context.Context, sample refusedSample) error {
	out, err := r.cluster.Kubectl(ctx, nil, "apply", "-f", sample.path)
	if err == nil {
		return fmt.Errorf("it was admitted: %s", out)
	}
	if want := "(rule " + sample.rule + ")"; !strings.Contains(out, want) {
		return fmt.Errorf("it was refused without %q: %s", want, out)
	}
	return nil
}

// checkRefusal runs the README's bad apply and compares what it says with what the README says it does.
func (r *runner) checkRefusal(ctx context.Context, t tryIt) error {
	out, err := r.shell(ctx, t.export+t.refused)
	if err == nil {
		return fmt.Errorf("it was admitted: %s", out)
	}
	if got, want := trimLines(out), trimLines(t.refusal); got != want {
		return fmt.Errorf("kubectl says\n%s\nand the README\n%s", got, want)
	}
	return nil
}

// trimLines removes the blanks that kubectl leaves at the end of lines.
func trimLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// checkAccepted runs the README's good apply, and asks once more without dig or plugin.
func (r *runner) checkAccepted(ctx context.Context, t tryIt) error {
	if err := r.checkOutput(ctx, t.export+t.accepted, shopValue); err != nil {
		return err
	}
	_, err := stack.AwaitAnswer(ctx, r.dns.DNS, shopName, "A", shopValue)
	return err
}

func (r *runner) checkDeleted(ctx context.Context, t tryIt) error {
	if out, err := r.shell(ctx, t.export+"kubectl delete dnsrecord/shop --timeout=30s"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	_, err := stack.AwaitAnswer(ctx, r.dns.DNS, shopName, "A")
	return err
}

// checkOutput runs commands, of which the last one has to write a line with a value in it.
func (r *runner) checkOutput(ctx context.Context, script, value string) error {
	out, err := r.shell(ctx, script)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, value) {
		return fmt.Errorf("want %s in the last line of\n%s", value, out)
	}
	return nil
}

// shell runs a script in the root of the repository; it ends at the first command that fails. What it wrote is returned
// also then.
func (r *runner) shell(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), r.cluster.KubectlEnv()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
