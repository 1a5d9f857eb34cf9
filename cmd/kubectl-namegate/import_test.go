package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

func TestImport(t *testing.T) {
	tests := []struct {
		name  string
		args  string
		stdin string // a file
		code  int
	}{
		{"import", "testdata/zone/example.org.zone -n dns", "", 0},
		{"import", "- -n dns", "testdata/zone/example.org.zone", 0},
		{"import-named", "testdata/zone/relative.zone -n dns --origin Example.COM. --name shop", "", 0},
		{"import-signed", "testdata/zone/signed.zone -n dns", "", 0},
		{"import-bad", "testdata/zone/bad.zone -n dns", "", 1},
		{"import-beside", "testdata/zone/beside.zone -n dns", "", 1},
		{"import-include", "- -n dns", "testdata/zone/include.zone", 1},
		{"import-no-origin", "testdata/zone/relative.zone -n dns", "", 1},
		{"import-long-name", "testdata/zone/example.org.zone -n dns --name " + strings.Repeat("x", 60), "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdin []byte
			if tt.stdin != "" {
				var err error
				if stdin, err = os.ReadFile(tt.stdin); err != nil {
					t.Fatal(err)
				}
			}
			got := runBinary(t, string(stdin), append([]string{"zone", "import"}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || (got.stdout == "") != (tt.code != 0) {
				t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if tt.code == 0 {
				golden(t, tt.name+".yaml", got.stdout)
			}
			if tt.name == "import-signed" || tt.code != 0 {
				golden(t, tt.name+".txt", got.stderr)
			} else if got.stderr != "" {
				t.Errorf("stderr %s", got.stderr)
			}
		})
	}
}

// The namespace is that of the kubeconfig's context where none is given, as with kubectl.
func TestImportNamespace(t *testing.T) {
	file := "testdata/zone/example.org.zone"
	config := kubeconfig(t, "http://127.0.0.1:1")
	for want, args := range map[string][]string{"dns": {"--kubeconfig", config}, "default": {"--kubeconfig", config, "--context", "gone"}, "team-a": {"--kubeconfig", config, "-n", "team-a"}} {
		got := runBinary(t, "", append([]string{"zone", "import", file}, args...)...)
		if got.code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, got.code, got.stderr)
		}
		zoneObjects, recordObjects := decodeManifests(t, got.stdout)
		if len(zoneObjects) != 1 || len(recordObjects) == 0 {
			t.Fatalf("%d Zones and %d Records", len(zoneObjects), len(recordObjects))
		}
		names := map[string]bool{}
		for _, r := range recordObjects {
			names[r.Name] = true
			if r.Namespace != want || r.Spec.ZoneRef == nil || r.Spec.ZoneRef.Name != zoneObjects[0].Name || r.Spec.ZoneRef.Namespace != "" {
				t.Errorf("%v: Record %s/%s of the Zone %v; want the namespace %s", args, r.Namespace, r.Name, r.Spec.ZoneRef, want)
			}
		}
		if d := zoneObjects[0].Spec.Delegations; zoneObjects[0].Namespace != want || len(d) != 1 || len(d[0].Namespaces) != 1 || d[0].Namespaces[0] != want || len(d[0].Zones) > 0 {
			t.Errorf("%v: Zone of the namespace %s with delegations %v; want %s", args, zoneObjects[0].Namespace, d, want)
		}
		if len(names) != len(recordObjects) {
			t.Errorf("%d names for %d Records", len(names), len(recordObjects))
		}
	}
}

// What is imported is what lint finds nothing to deny in.
func TestImportPassesLint(t *testing.T) {
	for _, file := range []string{"example.org.zone", "signed.zone"} {
		manifests := runBinary(t, "", "zone", "import", filepath.Join("testdata/zone", file), "-n", "dns").stdout
		if got := runBinary(t, manifests, "lint", "-f", "-", "-n", "dns"); got.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", file, got.code, got.stdout, got.stderr)
		}
	}
}

// decodeManifests reads Zones and Records, which stand in this order.
func decodeManifests(t *testing.T, text string) (zoneObjects []*zonev1alpha1.Zone, recordObjects []*zonev1alpha1.Record) {
	t.Helper()
	for _, document := range strings.Split(strings.TrimPrefix(text, "---\n"), "\n---\n") {
		if strings.Contains(document, "kind: Zone\n") {
			z := &zonev1alpha1.Zone{}
			if err := yaml.UnmarshalStrict([]byte(document), z); err != nil || len(recordObjects) > 0 {
				t.Fatal(err, len(recordObjects))
			}
			zoneObjects = append(zoneObjects, z)
			continue
		}
		r := &zonev1alpha1.Record{}
		if err := yaml.UnmarshalStrict([]byte(document), r); err != nil {
			t.Fatal(err)
		}
		recordObjects = append(recordObjects, r)
	}
	return zoneObjects, recordObjects
}
