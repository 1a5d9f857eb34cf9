package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/test/cluster"
)

const readme = "# X\n\n```sh\nmake run\n```\n\n## Try it\n\nText.\n\n```sh\nexport KUBECONFIG=$PWD/bin/run/kubeconfig PATH=$PWD/bin:$PWD/bin/controlplane:$PATH\n```\n" +
	"```sh\nkubectl apply -f bad.yaml\n```\n\n```\nno: (rule x)\n```\n\n```sh\nkubectl apply -f good.yaml\ndig @127.0.0.1 -p 1054 shop.example.com +short\n```\n\n" +
	"Without `dig`: `kubectl namegate query shop.example.com A --server 127.0.0.1:1054`.\n\n## Next\n\n```sh\nother\n```\n"

func TestParseTryIt(t *testing.T) {
	got, err := parseTryIt(readme)
	if err != nil {
		t.Fatal(err)
	}
	got = got.at("/k", "/b", "/a", "127.0.0.1:2000")
	want := tryIt{
		export:   "export KUBECONFIG=/k PATH=/b:/a:$PATH\n",
		refused:  "kubectl apply -f bad.yaml\n",
		refusal:  "no: (rule x)\n",
		accepted: "kubectl apply -f good.yaml\ndig @127.0.0.1 -p 2000 shop.example.com +short\n",
		query:    "kubectl namegate query shop.example.com A --server 127.0.0.1:2000",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tryIt{})); diff != "" {
		t.Error(diff)
	}
	want.accepted = "kubectl apply -f good.yaml\nkubectl namegate query shop.example.com A --server 127.0.0.1:2000\n"
	if diff := cmp.Diff(want, got.withQuery(), cmp.AllowUnexported(tryIt{})); diff != "" {
		t.Errorf("without dig: %s", diff)
	}
}

func TestParseTryItRefusesAnotherShape(t *testing.T) {
	tests := map[string]string{
		"no section":                  "# X\n",
		"a block less":                strings.Replace(readme, "```\nno: (rule x)\n```\n", "", 1),
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
	moved := commands.at("/k", "/b", "/a", "127.0.0.1:2000")
	for _, text := range []string{moved.export, moved.accepted, moved.query} {
		if strings.Contains(text, "$PWD") || strings.Contains(text, "1054") {
			t.Errorf("this is not for where things are: %s", text)
		}
	}
	for _, text := range []string{shopName, shopValue} {
		if !strings.Contains(moved.accepted+moved.query, text) {
			t.Errorf("%q, which the smoke test looks for, is not in %s", text, moved.accepted)
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
