package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tryIt is what the README's section of this name has a person type. It is read from there, so that what `make run` prints,
// what `make smoke` checks and what the README says are the same.
type tryIt struct {
	// export sets KUBECONFIG and PATH.
	export string
	// examples are one for each front door.
	examples []example
}

// example is a mistake, and then how to do it right.
type example struct {
	// before is applied first; it may be empty.
	before string
	// refused applies a bad object, and refusal is what kubectl then says.
	refused, refusal string
	// accepted applies a good one, waits for it and, in the last line, asks for it with dig.
	accepted string
	// query asks for it without dig.
	query string
}

// Where the README's commands expect what `make run` starts.
const (
	readmeDNS        = "127.0.0.1:1054"
	readmeCoreDNS    = "127.0.0.1:1053"
	readmeKubeconfig = "$PWD/bin/run/kubeconfig"
	readmeAssets     = "$PWD/bin/controlplane"
	readmeBin        = "$PWD/bin"
)

// places are where things really are.
type places struct{ kubeconfig, bin, assets, dns, coredns string }

func readTryIt(root string) (tryIt, error) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return tryIt{}, err
	}
	return parseTryIt(string(readme))
}

var (
	fenced      = regexp.MustCompile("(?ms)^```([A-Za-z]*)\n(.*?\n)```$")
	withoutDig  = regexp.MustCompile("Without `dig`: `([^`]+)`")
	nextSection = regexp.MustCompile(`(?m)^## `)
)

// parseTryIt finds the commands by their order: export, and then for each example what is applied before, if there is such, refused,
// refusal, accepted.
func parseTryIt(readme string) (tryIt, error) {
	_, section, found := strings.Cut(readme, "\n## Try it\n")
	if !found {
		return tryIt{}, errors.New(`README.md has no section "Try it"`)
	}
	if end := nextSection.FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	blocks := fenced.FindAllStringSubmatch(section, -1)
	if len(blocks) == 0 || blocks[0][1] != "sh" {
		return tryIt{}, errors.New(`README.md, section "Try it": the first code block is not sh (export)`)
	}
	t := tryIt{export: blocks[0][2]}
	for rest := blocks[1:]; len(rest) > 0; {
		var e example
		if e, rest = nextExample(rest); e.accepted == "" {
			return tryIt{}, errors.New(`README.md, section "Try it": after export, want code blocks sh (before, if there is such), sh (refused), ` +
				`one without a language (its output), sh (accepted), and the same again`)
		}
		t.examples = append(t.examples, e)
	}
	queries := withoutDig.FindAllStringSubmatch(section, -1)
	if len(queries) != len(t.examples) || len(queries) == 0 {
		return tryIt{}, fmt.Errorf("README.md, section \"Try it\": %d lines \"Without `dig`: `…`\" for %d examples", len(queries), len(t.examples))
	}
	for i := range t.examples {
		t.examples[i].query = queries[i][1]
	}
	return t, nil
}

// nextExample takes the code blocks of one example from the front. It has no accepted one where they are others than wanted.
func nextExample(blocks [][]string) (example, [][]string) {
	output := slices.IndexFunc(blocks, func(block []string) bool { return block[1] != "sh" })
	if output < 1 || output > 2 || blocks[output][1] != "" || len(blocks) == output+1 || blocks[output+1][1] != "sh" {
		return example{}, nil
	}
	e := example{refused: blocks[output-1][2], refusal: blocks[output][2], accepted: blocks[output+1][2]}
	if output == 2 {
		e.before = blocks[0][2]
	}
	return e, blocks[output+2:]
}

// at returns the commands for where things really are.
func (t tryIt) at(p places) tryIt {
	moved := strings.NewReplacer(readmeKubeconfig, p.kubeconfig, readmeAssets, p.assets, readmeBin, p.bin,
		digAt(readmeDNS), digAt(p.dns), digAt(readmeCoreDNS), digAt(p.coredns), readmeDNS, p.dns, readmeCoreDNS, p.coredns)
	t.export = moved.Replace(t.export)
	t.examples = slices.Clone(t.examples)
	for i := range t.examples {
		e := &t.examples[i]
		e.accepted, e.query = moved.Replace(e.accepted), moved.Replace(e.query)
	}
	return t
}

// digAt returns dig's arguments for a server.
func digAt(server string) string {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return "@" + server
	}
	return "@" + host + " -p " + port
}

// withQuery returns the commands with the kubectl plugin in the place of dig.
func (t tryIt) withQuery() tryIt {
	t.examples = slices.Clone(t.examples)
	for i := range t.examples {
		e := &t.examples[i]
		apply, _ := splitAsk(e.accepted)
		e.accepted = apply + e.query + "\n"
	}
	return t
}

func hasDig() bool {
	_, err := exec.LookPath("dig")
	return err == nil
}
