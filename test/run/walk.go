package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/namegate/namegate/test/cluster"
)

// zonesGuide is the page whose commands are run as they stand there.
const zonesGuide = "docs/zones.md"

// walkStep is a code block of commands, and what it prints.
type walkStep struct {
	// line of the page where the commands begin.
	line   int
	script string
	// output is what the commands print, with … for any characters of a line, or for any lines; nil where the page does not say.
	// Commands whose output the page shows may fail, with this output.
	output *string
}

// page is what a page of documentation has people type.
type page struct {
	steps []walkStep
	// files are the code blocks of the other languages, each of which stands once: configuration, by its language.
	files map[string]string
}

func readPage(root, path string) (page, error) {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return page{}, err
	}
	p, err := parsePage(string(text))
	if err != nil {
		return page{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// parsePage finds commands in the code blocks of sh, and in the block without a language after one what it prints.
func parsePage(text string) (page, error) {
	p := page{files: map[string]string{}}
	afterCommands := false
	for _, at := range fenced.FindAllStringSubmatchIndex(text, -1) {
		language, content := text[at[2]:at[3]], text[at[4]:at[5]]
		line := strings.Count(text[:at[4]], "\n") + 1
		switch {
		case language == "sh":
			p.steps = append(p.steps, walkStep{line: line, script: content})
		case language == "" && afterCommands:
			p.steps[len(p.steps)-1].output = &content
		case language == "":
			return page{}, fmt.Errorf("line %d: what commands print does not stand after them", line)
		case p.files[language] != "" && language != "yaml":
			return page{}, fmt.Errorf("line %d: a second code block of the language %s", line, language)
		default:
			p.files[language] = content
		}
		afterCommands = language == "sh"
	}
	return p, nil
}

// walk runs the commands of a page one after another, for where things really are.
func (r *runner) walk(ctx context.Context, p page, commands tryIt) error {
	at := strings.NewReplacer(digAt(readmeCoreDNS), digAt(r.coredns.Address), readmeCoreDNS, r.coredns.Address)
	for _, step := range p.steps {
		expect := func(string) error { return nil }
		if step.output != nil {
			expect = func(out string) error { return matchOutput(out, *step.output) }
		}
		if err := r.script(ctx, commands.export, at.Replace(step.script), step.output != nil, expect); err != nil {
			return fmt.Errorf("%s line %d: %w", zonesGuide, step.line, err)
		}
	}
	return nil
}

// script runs commands. Where the last one only asks, it is repeated until the output of all is as expected: what was applied needs a
// moment to be answered.
func (r *runner) script(ctx context.Context, export, script string, mayFail bool, expect func(out string) error) error {
	apply, ask := splitAsk(script)
	out, err := r.shell(ctx, export+apply)
	if err != nil && !mayFail {
		return fmt.Errorf("%w: %s", err, out)
	}
	if ask == "" {
		return expect(out)
	}
	ctx, cancel := context.WithTimeout(ctx, settled/2)
	defer cancel()
	return cluster.Poll(ctx, 200*time.Millisecond, func(ctx context.Context) error {
		answer, err := r.shell(ctx, export+ask)
		if err != nil && !mayFail {
			return fmt.Errorf("%w: %s", err, answer)
		}
		return expect(out + answer)
	})
}

// asks begins the commands that only ask.
var asks = regexp.MustCompile(`^(dig|kubectl get|kubectl namegate (query|explain|zone export)) `)

// splitAsk cuts off the last command if it only asks.
func splitAsk(script string) (apply, ask string) {
	text := strings.TrimSuffix(script, "\n")
	last := strings.LastIndex(text, "\n") + 1
	if !asks.MatchString(text[last:]) {
		return script, ""
	}
	return text[:last], text[last:] + "\n"
}

// matchOutput compares what commands print with what a page says that they do. The number of blanks in a row is the same to it, because
// kubectl makes columns as wide as they have to be.
func matchOutput(got, want string) error {
	got, want = squeeze(got), squeeze(want)
	var pattern strings.Builder
	for line := range strings.Lines(want) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	whole, err := regexp.Compile("^" + pattern.String() + "$")
	if err != nil {
		return err
	}
	if !whole.MatchString(got) {
		return fmt.Errorf("the commands print\n%s\nand the page says\n%s", got, want)
	}
	return nil
}

var blanks = regexp.MustCompile(`[ \t]+`)

func squeeze(text string) string {
	return trimLines(blanks.ReplaceAllString(text, " ")) + "\n"
}
