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
		findings, err := lint.Run(manifests(t, pattern), installed)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Severity == rules.Deny {
				t.Errorf("a good sample is refused: %s", f)
			}
		}
	}
}

// inClusterOnly are rules that only a cluster can break: here, what is not in the input is unknown, every object is new, and every Zone is
// there before the first Record.
var inClusterOnly = []string{rules.DNSClassExists.ID, rules.SecretAccess.ID, rules.IdentityImmutable.ID, rules.ParentLabelChanged.ID,
	rules.ZoneTakesNames.ID}

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
			findings, err := lint.Run(append(slices.Clone(good), sample), installed)
			if err != nil {
				t.Fatal(err)
			}
			var denied []string // but not for changing a good sample, which the linter takes for writing it twice
			for _, f := range findings {
				if f.Severity == rules.Deny && f.File == sample.Name && f.Rule != rules.ManifestDuplicate.ID {
					denied = append(denied, f.Rule)
				}
			}
			if slices.Contains(inClusterOnly, id) {
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
