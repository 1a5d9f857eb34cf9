package lint_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

const samples = "../../config/samples"

func fileInput(path string) lint.Input {
	return lint.Input{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// manifests returns the samples of a directory, by name.
func manifests(t *testing.T, pattern string) []lint.Input {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(samples, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples %s: %v", pattern, err)
	}
	var out []lint.Input
	for _, path := range paths {
		if filepath.Base(path) != "kustomization.yaml" {
			out = append(out, fileInput(path))
		}
	}
	return out
}

// installed is how the shipped installation is set.
var installed = lint.Options{SecretNamespaces: []string{lint.DefaultOperatorNamespace}}

func TestGoodSamples(t *testing.T) {
	for _, pattern := range []string{"*.yaml", "hmac/*.yaml"} {
		got, err := lint.Run(manifests(t, pattern), installed)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Findings {
			if f.Severity == rules.Deny {
				t.Errorf("a good sample is refused: %s", f)
			}
		}
	}
}

// docs/lint.md lists the rules that only a cluster can decide, and no finding of the whole corpus of samples is of one of them.
func TestClusterOnly(t *testing.T) {
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules.All() {
		listed := strings.Contains(string(page), "| `"+rule.ID+"` |")
		if only := lint.ClusterOnly(rule) != ""; listed != only {
			t.Errorf("%s: listed in docs/lint.md %v, for a cluster only %v", rule.ID, listed, only)
		}
	}
	got, err := lint.Run(slices.Concat(manifests(t, "*.yaml"), manifests(t, "refused/*.yaml")), installed)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		if rule, _ := rules.Lookup(f.Rule); lint.ClusterOnly(rule) != "" {
			t.Errorf("only a cluster could know: %s", f)
		}
	}
}

// Each refused sample says at its top which rule refuses it, beside the good samples.
func TestRefusedSamples(t *testing.T) {
	good := manifests(t, "*.yaml")
	for _, sample := range manifests(t, "refused/*.yaml") {
		t.Run(filepath.Base(sample.Name), func(t *testing.T) {
			text, err := os.ReadFile(sample.Name)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			id, named := strings.CutPrefix(first, "# refused by: ")
			if _, known := rules.Lookup(id); !named || !known {
				t.Fatalf("the first line names no rule: %s", first)
			}
			got, err := lint.Run(append(slices.Clone(good), sample), installed)
			if err != nil {
				t.Fatal(err)
			}
			var denied []string // but not for changing a good sample, which the linter takes for writing it twice
			for _, f := range got.Findings {
				if f.Severity == rules.Deny && f.File == sample.Name && f.Rule != rules.ManifestDuplicate.ID {
					denied = append(denied, f.Rule)
				}
			}
			if rule, _ := rules.Lookup(id); lint.ClusterOnly(rule) != "" {
				if len(denied) > 0 {
					t.Errorf("denied by %v, which a cluster alone could know", denied)
				}
				return
			}
			if !slices.Contains(denied, id) {
				t.Errorf("denied by %v; want %s", denied, id)
			}
		})
	}
}
