package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tryIt is what the README's section of this name has a person type. It is read from there, so that what `make run` prints,
// what `make smoke` checks and what the README says are the same.
type tryIt struct {
	// export sets KUBECONFIG and PATH.
	export string
	// refused applies a bad record, and refusal is what kubectl then says.
	refused, refusal string
	// accepted applies a good one, waits for it and asks for it with dig.
	accepted string
	// query asks for it without dig.
	query string
}

// Where the README's commands expect what `make run` starts.
const (
	readmeDNS        = "127.0.0.1:1054"
	readmeKubeconfig = "$PWD/bin/run/kubeconfig"
	readmeAssets     = "$PWD/bin/controlplane"
	readmeBin        = "$PWD/bin"
)

func readTryIt(root string) (tryIt, error) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return tryIt{}, err
	}
	return parseTryIt(string(readme))
}

var (
	fenced      = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?\n)```$")
	withoutDig  = regexp.MustCompile("Without `dig`: `([^`]+)`")
	nextSection = regexp.MustCompile(`(?m)^## `)
)

// parseTryIt finds the commands by their order: export, refused, refusal, accepted.
func parseTryIt(readme string) (tryIt, error) {
	_, section, found := strings.Cut(readme, "\n## Try it\n")
	if !found {
		return tryIt{}, errors.New(`README.md has no section "Try it"`)
	}
	if end := nextSection.FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	blocks := fenced.FindAllStringSubmatch(section, -1)
	var languages []string
	for _, block := range blocks {
		languages = append(languages, block[1])
	}
	if got := strings.Join(languages, ","); got != "sh,sh,,sh" {
		return tryIt{}, fmt.Errorf(`README.md, section "Try it": the code blocks are %q, want sh (export), sh (refused), one without a language (its output), sh (accepted)`, got)
	}
	query := withoutDig.FindStringSubmatch(section)
	if query == nil {
		return tryIt{}, errors.New("README.md, section \"Try it\": no line \"Without `dig`: `…`\"")
	}
	return tryIt{export: blocks[0][2], refused: blocks[1][2], refusal: blocks[2][2], accepted: blocks[3][2], query: query[1]}, nil
}

// at returns the commands for where things really are.
func (t tryIt) at(kubeconfig, bin, assets, dns string) tryIt {
	t.export = strings.NewReplacer(readmeKubeconfig, kubeconfig, readmeAssets, assets, readmeBin, bin).Replace(t.export)
	t.accepted = strings.ReplaceAll(t.accepted, digAt(readmeDNS), digAt(dns))
	t.query = strings.ReplaceAll(t.query, readmeDNS, dns)
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
	lines := strings.Split(t.accepted, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "dig ") {
			lines[i] = t.query
		}
	}
	t.accepted = strings.Join(lines, "\n")
	return t
}

func hasDig() bool {
	_, err := exec.LookPath("dig")
	return err == nil
}
