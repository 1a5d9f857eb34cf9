package cluster

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const twoWebhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gate}
webhooks:
- name: a.namegate.dev
  clientConfig: {service: {name: webhook-service, namespace: system, path: /a}}
- name: b.namegate.dev
  clientConfig: {service: {name: webhook-service, namespace: system, path: /b}}
---
# a document of comments only
---
kind: Kustomization
`

func TestPointWebhooks(t *testing.T) {
	objects, err := parseManifests([]byte(twoWebhooks))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 {
		t.Fatalf("want one object, got %d", len(objects))
	}
	if err := pointWebhooks(objects, "https://127.0.0.1:9443", []byte("CA")); err != nil {
		t.Fatal(err)
	}
	got, _, err := unstructured.NestedSlice(objects[0].Object, "webhooks")
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"name": "a.namegate.dev", "clientConfig": map[string]any{"url": "https://127.0.0.1:9443/a", "caBundle": "Q0E="}},
		map[string]any{"name": "b.namegate.dev", "clientConfig": map[string]any{"url": "https://127.0.0.1:9443/b", "caBundle": "Q0E="}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPointWebhooksRefusesWhatItCannotRewrite(t *testing.T) {
	tests := map[string]string{
		"no webhooks":      "{kind: ValidatingWebhookConfiguration}",
		"no service":       "{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {url: 'https://x'}}]}",
		"webhook is text":  "{kind: ValidatingWebhookConfiguration, webhooks: [a]}",
		"webhooks is text": "{kind: ValidatingWebhookConfiguration, webhooks: a}",
	}
	for name, manifest := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := parseManifests([]byte(manifest))
			if err != nil {
				t.Fatal(err)
			}
			if err := pointWebhooks(objects, "https://127.0.0.1:9443", nil); err == nil {
				t.Error("want an error")
			}
		})
	}
}

func TestReadManifestsOfAnEmptyDirectory(t *testing.T) {
	if _, err := ReadManifests(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no *.yaml") {
		t.Errorf("want an error that says that there is nothing, got %v", err)
	}
}

func TestRootAbove(t *testing.T) {
	root, err := RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	got, err := rootAbove(filepath.Join(root, "test", "controlplane")) // which has a go.mod of its own
	if err != nil || got != root {
		t.Errorf("rootAbove = %q, %v; want %q", got, err, root)
	}
	if _, err := rootAbove(t.TempDir()); err == nil {
		t.Error("want an error outside of the repository")
	}
}

func TestFreePortIsNotHandedOutTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] || port < lowestPort || port >= highestPort {
			t.Fatalf("port %d: seen before (%t) or out of range", port, seen[port])
		}
		seen[port] = true
	}
}
