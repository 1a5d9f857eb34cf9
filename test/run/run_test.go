package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/cluster"
)

const readme = "# X\n\n```sh\nmake run\n```\n\n## Try it\n\nText.\n\n```sh\nexport KUBECONFIG=$PWD/bin/run/kubeconfig PATH=$PWD/bin:$PWD/bin/controlplane:$PATH\n```\n" +
	"```sh\nkubectl apply -f bad.yaml\n```\n\n```\nno: (rule x)\n```\n\n```sh\nkubectl apply -f good.yaml\ndig @127.0.0.1 -p 1054 shop.example.com +short\n```\n\n" +
	"Without `dig`: `kubectl namegate query shop.example.com A --server 127.0.0.1:1054`.\n\n" +
	"```sh\nkubectl apply -f zone.yaml\n```\n\n```sh\nkubectl apply -f bad.yaml\n```\n\n```\nno: (rule y)\n```\n\n" +
	"```sh\nkubectl apply -f good.yaml\ndig @127.0.0.1 -p 1053 web.example +short\n```\n\n" +
	"Without `dig`: `kubectl namegate query web.example A --server 127.0.0.1:1053`.\n\n## Next\n\n```sh\nother\n```\n"

var moved = places{kubeconfig: "/k", bin: "/b", assets: "/a", dns: "127.0.0.1:2000", coredns: "127.0.0.1:3000"}

func TestParseTryIt(t *testing.T) {
	got, err := parseTryIt(readme)
	if err != nil {
		t.Fatal(err)
	}
	got = got.at(moved)
	want := tryIt{
		export: "export KUBECONFIG=/k PATH=/b:/a:$PATH\n",
		examples: []example{{
			refused:  "kubectl apply -f bad.yaml\n",
			refusal:  "no: (rule x)\n",
			accepted: "kubectl apply -f good.yaml\ndig @127.0.0.1 -p 2000 shop.example.com +short\n",
			query:    "kubectl namegate query shop.example.com A --server 127.0.0.1:2000",
		}, {
			before:   "kubectl apply -f zone.yaml\n",
			refused:  "kubectl apply -f bad.yaml\n",
			refusal:  "no: (rule y)\n",
			accepted: "kubectl apply -f good.yaml\ndig @127.0.0.1 -p 3000 web.example +short\n",
			query:    "kubectl namegate query web.example A --server 127.0.0.1:3000",
		}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tryIt{}, example{})); diff != "" {
		t.Error(diff)
	}
	want.examples[0].accepted = "kubectl apply -f good.yaml\nkubectl namegate query shop.example.com A --server 127.0.0.1:2000\n"
	want.examples[1].accepted = "kubectl apply -f good.yaml\nkubectl namegate query web.example A --server 127.0.0.1:3000\n"
	if diff := cmp.Diff(want, got.withQuery(), cmp.AllowUnexported(tryIt{}, example{})); diff != "" {
		t.Errorf("without dig: %s", diff)
	}
}

func TestParseTryItRefusesAnotherShape(t *testing.T) {
	tests := map[string]string{
		"no section":                  "# X\n",
		"no export":                   "## X\n\n## Try it\n\nText.\n",
		"no output":                   strings.Replace(readme, "```\nno: (rule x)\n```\n", "", 1),
		"too much before":             strings.Replace(readme, "```sh\nkubectl apply -f zone.yaml\n```\n", "```sh\none\n```\n```sh\ntwo\n```\n", 1),
		"nothing after":               strings.Replace(readme, "```sh\nkubectl apply -f good.yaml\ndig @127.0.0.1 -p 1053 web.example +short\n```\n", "", 1),
		"no way to do it without dig": strings.Replace(readme, "Without `dig`", "Otherwise", 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parseTryIt(text); err == nil {
				t.Error("want an error")
			}
		})
	}
}

// TestREADME holds that this repository's README can be followed: make run prints its commands.
func TestREADME(t *testing.T) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	commands, err := readTryIt(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(commands.examples) != len(promises) {
		t.Fatalf("%d examples, and the smoke test knows what %d come to", len(commands.examples), len(promises))
	}
	commands = commands.at(moved)
	for i, e := range commands.examples {
		for _, text := range []string{commands.export, e.accepted, e.query} {
			if strings.Contains(text, "$PWD") || strings.Contains(text, "1054") || strings.Contains(text, "1053") {
				t.Errorf("this is not for where things are: %s", text)
			}
		}
		if apply, ask := splitAsk(e.accepted); apply == "" || !strings.HasPrefix(ask, "dig ") {
			t.Errorf("the good record is not asked for with dig in the last line of %s", e.accepted)
		}
		for _, text := range []string{promises[i].name, promises[i].value} {
			if !strings.Contains(e.accepted+e.query, text) {
				t.Errorf("%q, which the smoke test looks for, is not in %s", text, e.accepted)
			}
		}
	}
}

func TestRefusedSamples(t *testing.T) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := refusedSamples(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		if sample.rule == "" || strings.ContainsAny(sample.rule, " ()") {
			t.Errorf("%s: %q is no rule ID", sample.path, sample.rule)
		}
	}
	if _, err := refusedSamples(t.TempDir()); err == nil {
		t.Error("want an error where there are none")
	}
}

func TestServeFrom(t *testing.T) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := cluster.ReadManifests(root + "/config/samples")
	if err != nil {
		t.Fatal(err)
	}
	before, err := encode(samples)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(before), "server: "+sampleServer+"\n") {
		t.Errorf("the sample DNSClass is not at %s, where the DNS server of make run is", sampleServer)
	}
	if err := serveFrom(samples, "http://127.0.0.1:2000"); err != nil {
		t.Fatal(err)
	}
	after, err := encode(samples)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(string(before), sampleServer, "http://127.0.0.1:2000"); string(after) != want {
		t.Error(cmp.Diff(want, string(after)))
	}
}

func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := lockDir(dir); err == nil {
		t.Error("two runs share a directory", second.Close())
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := lockDir(dir)
	if err != nil {
		t.Fatalf("the lock outlives its owner: %v", err)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

func TestParsePage(t *testing.T) {
	const text = "# X\n\n```sh\nkubectl get x\n```\n\nsays:\n\n```\nNAME …\n```\n\n```yaml\na: 1\n```\n```yaml\na: 2\n```\n```named\nkey\n```\n```sh\nmore\n```\n"
	got, err := parsePage(text)
	if err != nil {
		t.Fatal(err)
	}
	output := "NAME …\n"
	want := page{
		steps: []walkStep{{line: 4, script: "kubectl get x\n", output: &output}, {line: 23, script: "more\n"}},
		files: map[string]string{"yaml": "a: 2\n", "named": "key\n"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(page{}, walkStep{})); diff != "" {
		t.Error(diff)
	}
	for name, text := range map[string]string{
		"an output of nothing":   "```\nx\n```\n",
		"an output of a file":    "```sh\na\n```\n```yaml\nb: 1\n```\n```\nx\n```\n",
		"a file that is twofold": "```named\na\n```\n```named\nb\n```\n",
	} {
		if _, err := parsePage(text); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestMatchOutput(t *testing.T) {
	tests := map[string]struct {
		got, want string
		matches   bool
	}{
		"the same":                     {"a b\n", "a b\n", true},
		"wider columns":                {"a     b   \n", "a b\n", true},
		"something else":               {"a b\n", "a c\n", false},
		"more":                         {"a b\nc\n", "a b\n", false},
		"characters that vary":         {"serial 2026112001 5s\n", "serial … …\n", true},
		"they do not span lines":       {"serial 1\nx\n", "serial …\n", false},
		"lines that vary":              {"a\nb\nc\nd\n", "a\n…\nd\n", true},
		"and may be none":              {"a\nd\n", "a\n…\nd\n", true},
		"what patterns give a meaning": {"rule x\n", "rule .\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := matchOutput(test.got, test.want); (err == nil) != test.matches {
				t.Errorf("got %v, want a match: %t", err, test.matches)
			}
		})
	}
}

func TestSplitAsk(t *testing.T) {
	tests := map[string]struct{ script, apply, ask string }{
		"a question after something":  {"kubectl apply -f x\ndig a +short\n", "kubectl apply -f x\n", "dig a +short\n"},
		"a question alone":            {"kubectl get x\n", "", "kubectl get x\n"},
		"no question":                 {"kubectl apply -f x\n", "kubectl apply -f x\n", ""},
		"a question that comes first": {"dig a\nkubectl delete x\n", "dig a\nkubectl delete x\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if apply, ask := splitAsk(test.script); apply != test.apply || ask != test.ask {
				t.Errorf("got %q and %q", apply, ask)
			}
		})
	}
}

func TestZonesFirst(t *testing.T) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := cluster.ReadManifests(root + "/config/samples")
	if err != nil {
		t.Fatal(err)
	}
	zonesFirst(samples)
	others := false
	for _, sample := range samples {
		if sample.GetKind() == "Zone" && others {
			t.Errorf("the Zone %s is not before the others", sample.GetName())
		}
		others = others || sample.GetKind() != "Zone"
	}
}

// TestPatternsOfZonesGuide holds that the patterns in the table of docs/zones.md match what it says, and nothing that it says they do not.
func TestPatternsOfZonesGuide(t *testing.T) {
	root, err := cluster.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, zonesGuide))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| pattern | matches, in the zone `corp.example.` | but not |\n|---|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("no table of patterns")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	checked := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		pattern, err := zone.ParsePattern(quoted.FindStringSubmatch(cells[1])[1])
		if err != nil {
			t.Fatal(err)
		}
		for i, cell := range cells[2:4] {
			for _, name := range quoted.FindAllStringSubmatch(cell, -1) {
				if got, want := pattern.Matches(relativeLabels(t, name[1])), i == 0; got != want {
					t.Errorf("%s and %s: got %t", pattern, name[1], got)
				}
				checked++
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d names were checked", checked)
	}
}

// relativeLabels returns the labels of a name before corp.example.
func relativeLabels(t *testing.T, name string) []string {
	t.Helper()
	rest, isBelow := strings.CutSuffix("."+name, ".corp.example")
	if !isBelow {
		t.Fatalf("%s is not in the zone", name)
	}
	return strings.Split(rest, ".")[1:]
}
