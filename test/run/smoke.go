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

// promise is what the README's good record of one example comes to.
type promise struct {
	// object is what kubectl deletes.
	object string
	// name and value of the A record.
	name, value string
	// server answers it.
	server func(*runner) string
}

// promises are those of the README's examples, in their order.
var promises = []promise{
	{object: "dnsrecord/shop", name: "shop.example.com", value: "192.0.2.7", server: func(r *runner) string { return r.dns.DNS }},
	{object: "record/web", name: "web.apps.acme.example", value: "192.0.2.8", server: func(r *runner) string { return r.coredns.Address }},
}

// check does by itself what a person would, a line per step. A step that fails does not stop the others.
func (r *runner) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*settled)
	defer cancel()
	commands, err := r.commands()
	if err != nil {
		return err
	}
	if len(commands.examples) != len(promises) {
		return fmt.Errorf("README.md has %d examples, and this test knows what %d come to", len(commands.examples), len(promises))
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
	step("the sample zone answers, with its sub-zone", func() error { return r.checkSampleZone(ctx) })
	for i, e := range commands.examples {
		promised := promises[i]
		step("the README's bad record is refused as it says: "+promised.object, func() error { return r.checkRefusal(ctx, commands.export, e) })
		step("the README's good record is Ready and answers: "+promised.object, func() error { return r.checkAccepted(ctx, commands.export, e, promised) })
		step("the kubectl plugin answers as the README says: "+promised.object, func() error {
			return r.script(ctx, commands.export, e.query+"\n", false, lastLine(promised.value))
		})
		step("a deleted record is gone from DNS: "+promised.object, func() error { return r.checkDeleted(ctx, commands.export, promised) })
	}
	errs = append(errs, r.checkGuide(ctx, commands))
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

// checkSampleZone asks for what the samples publish in example.org, of which lab.example.org is a sub-zone, and for what they do not.
func (r *runner) checkSampleZone(ctx context.Context) error {
	for _, want := range []struct {
		name, recordType string
		values           []string
	}{
		{"www.example.org", "A", []string{"192.0.2.80"}},
		{"anything.preview.example.org", "CNAME", []string{"www.example.org."}},
		{"ns1.lab.example.org", "A", []string{"192.0.2.54"}},
		{"nothing.example.org", "A", nil},
	} {
		if _, err := stack.AwaitAnswer(ctx, r.coredns.Address, want.name, want.recordType, want.values...); err != nil {
			return err
		}
	}
	return nil
}

// checkRefusal runs the README's bad apply and compares what it says with what the README says it does.
func (r *runner) checkRefusal(ctx context.Context, export string, e example) error {
	if out, err := r.shell(ctx, export+e.before); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	out, err := r.shell(ctx, export+e.refused)
	if err == nil {
		return fmt.Errorf("it was admitted: %s", out)
	}
	if got, want := trimLines(out), trimLines(e.refusal); got != want {
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
func (r *runner) checkAccepted(ctx context.Context, export string, e example, want promise) error {
	if err := r.script(ctx, export, e.accepted, false, lastLine(want.value)); err != nil {
		return err
	}
	_, err := stack.AwaitAnswer(ctx, want.server(r), want.name, "A", want.value)
	return err
}

func (r *runner) checkDeleted(ctx context.Context, export string, gone promise) error {
	if out, err := r.shell(ctx, export+"kubectl delete "+gone.object+" --timeout=30s"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	_, err := stack.AwaitAnswer(ctx, gone.server(r), gone.name, "A")
	return err
}

// lastLine expects a value in the last line of an output.
func lastLine(value string) func(out string) error {
	return func(out string) error {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, value) {
			return fmt.Errorf("want %s in the last line of\n%s", value, out)
		}
		return nil
	}
}

// checkGuide does what docs/zones.md says.
func (r *runner) checkGuide(ctx context.Context, commands tryIt) error {
	guide, err := readPage(r.root, zonesGuide)
	if err != nil {
		return err
	}
	if !hasDig() {
		fmt.Fprintf(r.out, "skip           the commands of %s: dig is missing: install Debian's bind9-dnsutils\n", zonesGuide)
		return nil
	}
	return errors.Join(
		r.step("the commands of "+zonesGuide+" do what it says", func() error { return r.walk(ctx, guide, commands) }),
		r.checkSecondaries(ctx, guide),
	)
}

// shell runs a script in the root of the repository; it ends at the first command that fails. What it wrote is returned
// also then.
func (r *runner) shell(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), r.cluster.KubectlEnv()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
