// Package config_test holds what is written by hand in config/ and PROJECT to what is generated from the code.
package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/namegate/namegate/config/crd"
	"github.com/namegate/namegate/internal/rules"
)

// kind is what PROJECT says, and what the generated manifests say, about one kind.
type kind struct {
	Group, Version, Kind   string
	Namespaced             bool
	Defaulting, Validation bool
}

func TestProjectIsTrueToTheCode(t *testing.T) {
	if diff := cmp.Diff(generated(t), project(t)); diff != "" {
		t.Errorf("PROJECT differs from config/crd/bases and config/webhook/manifests.yaml (-generated +PROJECT):\n%s", diff)
	}
}

// project reads PROJECT.
func project(t *testing.T) map[string]kind {
	t.Helper()
	var file struct {
		Resources []struct {
			API struct {
				Namespaced bool `json:"namespaced"`
			} `json:"api"`
			Domain, Group, Kind, Version string
			Webhooks                     struct{ Defaulting, Validation bool }
		} `json:"resources"`
	}
	parse(t, read(t, "../PROJECT"), &file)
	kinds := map[string]kind{}
	for _, r := range file.Resources {
		group := r.Group + "." + r.Domain
		kinds[group+" "+r.Kind] = kind{Group: group, Version: r.Version, Kind: r.Kind, Namespaced: r.API.Namespaced,
			Defaulting: r.Webhooks.Defaulting, Validation: r.Webhooks.Validation}
	}
	return kinds
}

// generated reads the CRDs, and for each which webhooks there are.
func generated(t *testing.T) map[string]kind {
	t.Helper()
	defaulting, validation := webhooks(t)
	kinds := map[string]kind{}
	for _, name := range crdFiles(t) {
		content, err := fs.ReadFile(crd.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Spec struct {
				Group, Scope string
				Names        struct{ Kind, Plural string }
				Versions     []struct{ Name string }
			}
		}
		parse(t, content, &manifest)
		spec := manifest.Spec
		resource := spec.Group + "/" + spec.Names.Plural
		kinds[spec.Group+" "+spec.Names.Kind] = kind{Group: spec.Group, Version: spec.Versions[0].Name, Kind: spec.Names.Kind,
			Namespaced: spec.Scope == "Namespaced", Defaulting: defaulting[resource], Validation: validation[resource]}
	}
	return kinds
}

// webhooks returns the resources, group/plural, that have a mutating and a validating webhook.
func webhooks(t *testing.T) (mutated, validated map[string]bool) {
	t.Helper()
	mutated, validated = map[string]bool{}, map[string]bool{}
	for doc := range strings.SplitSeq(string(read(t, "webhook/manifests.yaml")), "\n---\n") {
		var mutating admissionregistrationv1.MutatingWebhookConfiguration
		parse(t, []byte(doc), &mutating)
		for _, hook := range mutating.Webhooks {
			into := validated
			if mutating.Kind == "MutatingWebhookConfiguration" {
				into = mutated
			}
			for _, rule := range hook.Rules {
				into[rule.APIGroups[0]+"/"+rule.Resources[0]] = true
			}
		}
	}
	return mutated, validated
}

func TestKustomizationListsEveryCRD(t *testing.T) {
	var kustomization struct{ Resources []string }
	parse(t, read(t, "crd/kustomization.yaml"), &kustomization)
	if diff := cmp.Diff(crdFiles(t), slices.Sorted(slices.Values(kustomization.Resources))); diff != "" {
		t.Errorf("config/crd/kustomization.yaml (-bases +listed):\n%s", diff)
	}
}

func TestKustomizationsListEveryFile(t *testing.T) {
	for _, dir := range []string{"rbac", "webhook", "certmanager", "manager", "coredns", "samples"} {
		var kustomization struct{ Resources []string }
		parse(t, read(t, dir+"/kustomization.yaml"), &kustomization)
		paths, err := filepath.Glob(dir + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, path := range paths {
			if name := filepath.Base(path); name != "kustomization.yaml" {
				files = append(files, name)
			}
		}
		if diff := cmp.Diff(files, slices.Sorted(slices.Values(kustomization.Resources))); diff != "" {
			t.Errorf("config/%s (-files +listed):\n%s", dir, diff)
		}
	}
}

// The operator reads Secrets by Roles, each in one namespace. A ClusterRole would reach all of them.
func TestNoClusterRoleReachesSecrets(t *testing.T) {
	paths, err := filepath.Glob("rbac/*role.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no roles found: %v", err)
	}
	for _, path := range paths {
		for doc := range strings.SplitSeq(string(read(t, path)), "\n---\n") {
			var role rbacv1.ClusterRole
			parse(t, []byte(doc), &role)
			if role.Kind == "ClusterRole" {
				checkRole(t, path, role.Rules)
			}
		}
	}
}

// A ZoneSlice is what CoreDNS answers from, so whoever could write one would be past the gate, and past every delegation.
func TestOnlyTheControllerWritesZoneSlices(t *testing.T) {
	paths, err := filepath.Glob("rbac/*role.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no roles found: %v", err)
	}
	readers := 0
	for _, path := range paths {
		if path == "rbac/controller_role.yaml" {
			continue
		}
		for doc := range strings.SplitSeq(string(read(t, path)), "\n---\n") {
			var role rbacv1.ClusterRole
			parse(t, []byte(doc), &role)
			for _, rule := range role.Rules {
				if !slices.Contains(rule.Resources, "zoneslices") {
					continue
				}
				readers++
				if diff := cmp.Diff([]string{"get", "list", "watch"}, rule.Verbs); diff != "" {
					t.Errorf("%s grants more than reading ZoneSlices (-want +got):\n%s", path, diff)
				}
			}
		}
	}
	if readers == 0 {
		t.Error("no role reads ZoneSlices")
	}
}

func checkRole(t *testing.T, path string, granted []rbacv1.PolicyRule) {
	t.Helper()
	for _, rule := range granted {
		all := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs)
		if slices.Contains(rule.Resources, "secrets") || slices.Contains(all, "*") {
			t.Errorf("%s grants Secrets, or everything: %+v", path, rule)
		}
	}
}

// Each sample of a mistake says in its first line which rule refuses it; `make smoke` shows that it does.
func TestRefusedSamplesNameTheirRule(t *testing.T) {
	paths, err := filepath.Glob("samples/refused/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples found: %v", err)
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if first, _, _ := strings.Cut(string(read(t, path)), "\n"); first != "# refused by: "+id {
			t.Errorf("%s begins with %q", path, first)
		}
		if rule, known := rules.Lookup(id); !known || rule.Severity != rules.Deny {
			t.Errorf("%s: %s is no rule that refuses", path, id)
		}
	}
}

func crdFiles(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(crd.FS(), "bases/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no CRDs found: %v", err)
	}
	return names
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v; run make generate", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parse(t *testing.T, content []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}
