package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// exampleOrg is a cluster with one Zone of a few records of two namespaces, and one of many.
func exampleOrg() *standIn {
	objects := []*zonev1alpha1.Record{
		makeRecord("dns", "example.org.", "NS", "ns.example.org."), makeRecord("dns", "ns.example.org.", "A", "192.0.2.1"),
		makeRecord("team-a", "www.example.org.", "CNAME", "ns.example.org."), makeRecord("dns", "example.org.", "TXT", `"v=spf1 -all" "$INCLUDE /etc/passwd"`),
		makeRecord("dns", "_sip._tcp.example.org.", "SRV", "1 2 5060 ns.example.org."), makeRecord("dns", "*.example.org.", "AAAA", "2001:db8::1"),
	}
	ttl := int32(60)
	objects[1].Spec.TTL = &ttl
	for i := range 1000 {
		objects = append(objects, makeRecord("dns", fmt.Sprintf("h%d.large.example.net.", i), "A", fmt.Sprintf("192.0.2.%d", i%256)))
	}
	return newStandIn([]*zonev1alpha1.Zone{
		makeZone("dns", "example-org", "example.org.", everything()), makeZone("dns", "large", "large.example.net.", everything()),
		makeZone("dns", "second", "example.org.", everything()), {ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "relative"}, Spec: zonev1alpha1.ZoneSpec{
			DomainName: "sub", ZoneRef: &zonev1alpha1.ZoneReference{Name: "absent"}}},
	}, objects)
}

func TestExport(t *testing.T) {
	cluster := exampleOrg()
	cluster.objects[zones] = append(cluster.objects[zones], makeZone("dns", "new", "new.example.org."))
	config := cluster.serve(t)
	tests := []struct {
		name   string
		args   string
		code   int
		stderr string
	}{
		{"export", "example-org", 0, ""},
		{"export", "example-org -n dns --context it", 0, ""},
		{"", "absent", 1, "kubectl namegate: there is no Zone absent in the namespace dns\n"},
		{"", "example-org -n team-a", 1, "kubectl namegate: there is no Zone example-org in the namespace team-a\n"},
		{"", "new", 1, "kubectl namegate: the Zone new is not published yet: no controller has looked at it\n"},
		{"", "second", 1, "kubectl namegate: the Zone second is not published: NameConflict: "},
		{"", "relative", 1, "kubectl namegate: the Zone relative is not published: ZoneNotFound: "},
		{"", "example-org --context gone", 2, "connection refused"},
		{"", "example-org --context none", 2, "none"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got := runBinary(t, "", append([]string{"zone", "export", "--kubeconfig", config}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.stderr) || tt.code == 0 && got.stderr != "" {
				t.Errorf("exit code %d, stderr %s", got.code, got.stderr)
			}
			if tt.name == "" {
				if got.stdout != "" {
					t.Errorf("stdout %s", got.stdout)
				}
				return
			}
			golden(t, tt.name+".zone", got.stdout)
		})
	}
}

// What is exported passes the checkers of other servers, and what is imported of it exports the same.
func TestExportImport(t *testing.T) {
	config := exampleOrg().serve(t)
	for name, origin := range map[string]string{"example-org": "example.org", "large": "large.example.net"} {
		exported := runBinary(t, "", "zone", "export", name, "--kubeconfig", config)
		if exported.code != 0 || exported.stderr != "" {
			t.Fatalf("exit code %d\n%s", exported.code, exported.stderr)
		}
		path := filepath.Join(t.TempDir(), "zone")
		if err := os.WriteFile(path, []byte(exported.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, checker := range [][]string{{"named-checkzone", "-i", "local"}, {"nsd-checkzone"}} {
			program, err := exec.LookPath(checker[0])
			if err != nil {
				t.Logf("%s is not installed", checker[0])
				continue
			}
			if out, err := exec.CommandContext(t.Context(), program, append(checker[1:], origin, path)...).CombinedOutput(); err != nil && name != "large" {
				t.Errorf("%v: %v\n%s", checker, err, out)
			}
		}
		imported := runBinary(t, exported.stdout, "zone", "import", "-", "-n", "staging")
		if imported.code != 0 || imported.stderr != "" {
			t.Fatalf("exit code %d\n%s", imported.code, imported.stderr)
		}
		again := exportOf(t, imported.stdout)
		if again != exported.stdout {
			t.Errorf("%s is exported again as\n%.3000s\nwant\n%.3000s", name, again, exported.stdout)
		}
	}
}

// exportOf applies manifests to a cluster, and exports the Zone among them.
func exportOf(t *testing.T, manifests string) string {
	t.Helper()
	zoneObjects, recordObjects := decodeManifests(t, manifests)
	got := runBinary(t, "", "zone", "export", zoneObjects[0].Name, "-n", zoneObjects[0].Namespace, "--kubeconfig", newStandIn(zoneObjects, recordObjects).serve(t))
	if got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	return got.stdout
}

// A zone that changes while it is read is read again; one whose ZoneSlices are wrong is not exported.
func TestExportRace(t *testing.T) {
	cluster := exampleOrg()
	config := cluster.serve(t)
	want := runBinary(t, "", "zone", "export", "example-org", "--kubeconfig", config).stdout
	var slices []client.Object
	var asked atomic.Int32
	cluster.change(func() {
		slices, cluster.objects[zoneSlices] = cluster.objects[zoneSlices], nil
		cluster.before = func(resource string) {
			if resource == zoneSlices && asked.Add(1) == 3 {
				cluster.objects[zoneSlices] = slices
			}
		}
	})
	if got := runBinary(t, "", "zone", "export", "example-org", "--kubeconfig", config); got.code != 0 || got.stdout != want || asked.Load() < 3 {
		t.Errorf("after %d attempts: exit code %d, stderr %s", asked.Load(), got.code, got.stderr)
	}
	cluster.change(func() {
		cluster.before = nil
		for _, o := range slices {
			if slice, isSlice := o.(*zonev1alpha1.ZoneSlice); isSlice && slice.Zone == "example-org" {
				slice.Entries[0].RData = "192.0.2.66"
			}
		}
	})
	got := runBinary(t, "", "zone", "export", "example-org", "--kubeconfig", config)
	if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "does not have the content that the Zone lists") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// What went around the gate is not printed.
func TestExportOfPoison(t *testing.T) {
	cluster := exampleOrg()
	z := makeZone("dns", "poison", "poison.example.")
	z.TypeMeta = metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindZone}
	slice := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Labels: map[string]string{zonev1alpha1.ZoneLabel: "poison"}}, Zone: "poison", Shard: "s",
		Entries: []zonev1alpha1.SliceEntry{{Name: "a.poison.example", Type: "TXT", TTL: 1, RData: "\"x\"\n$INCLUDE /etc/passwd"}}}
	slice.TypeMeta = metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: "ZoneSlice"}
	slice.Digest = zone.DigestOf("s", slice.Entries)
	slice.Name = zone.SliceName("poison", slice.Digest)
	z.Status = zonev1alpha1.ZoneStatus{Slices: []string{slice.Digest}, Entries: []zonev1alpha1.ZoneEntry{{FQDN: "poison.example.", Type: "SOA", Class: "IN", RData: "a. b. 1 2 3 4 5"}}}
	cluster.objects[zones] = append(cluster.objects[zones], z)
	cluster.objects[zoneSlices] = append(cluster.objects[zoneSlices], slice)
	got := runBinary(t, "", "zone", "export", "poison", "--kubeconfig", cluster.serve(t))
	if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "its rdata holds the byte 0x0a") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestWithoutCRDs(t *testing.T) {
	config := (&standIn{}).serve(t)
	for _, args := range [][]string{{"zone", "export", "x"}, {"explain", "www.example.org"}} {
		if got := runBinary(t, "", append(args, "--kubeconfig", config)...); got.code != 2 || !strings.Contains(got.stderr, "CRDs are not installed") {
			t.Errorf("%v: exit code %d, %s", args, got.code, got.stderr)
		}
	}
}
