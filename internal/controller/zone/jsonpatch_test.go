package zone

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/test/builder"
)

func line(i int) zonev1alpha1.ZoneEntry {
	return zonev1alpha1.ZoneEntry{FQDN: fmt.Sprintf("n%04d.example.org.", i), Type: "A", Class: "IN", TTL: 360, RData: "192.0.2.1"}
}

// randomStatus is one that a zone could have, or that somebody has made of it.
func randomStatus(r *rand.Rand) *zonev1alpha1.ZoneStatus {
	s := &zonev1alpha1.ZoneStatus{}
	if r.IntN(8) == 0 {
		return s
	}
	s.Serial, s.ObservedGeneration = int64(r.IntN(3)), int64(r.IntN(3))
	s.FQDN, s.Hash = []string{"", "example.org."}[r.IntN(2)], []string{"", "a", "b"}[r.IntN(3)]
	s.EntriesTruncated = r.IntN(2) == 0
	conditions.Set(&s.Conditions, "Ready", "True", []string{"One", "Two"}[r.IntN(2)], "because", 1)
	s.Conditions[0].LastTransitionTime = metav1.Unix(0, 0)
	for i := range []int{0, 3, 200}[r.IntN(3)] {
		if r.IntN(10) > 0 {
			s.Entries = append(s.Entries, line(i))
		}
	}
	s.EntryCount = int32(len(s.Entries))
	if len(s.Entries) > 2 && r.IntN(4) == 0 {
		s.Entries[0], s.Entries[1] = s.Entries[1], s.Entries[0]
		s.Entries = append(s.Entries, s.Entries[0])
	}
	for i := range []int{0, 3, 100}[r.IntN(3)] {
		if r.IntN(10) > 0 {
			s.Slices = append(s.Slices, fmt.Sprintf("%d-%d", i, r.IntN(4)))
		}
	}
	return s
}

// TestStatusChanges makes one status of another by the patch, as an API server applies it.
func TestStatusChanges(t *testing.T) {
	scheme := runtime.NewScheme()
	must(t, zonev1alpha1.AddToScheme(scheme))
	random := rand.New(rand.NewPCG(1, 2)) // the same on every run
	for i := range 100 {
		from, to := randomStatus(random), randomStatus(random)
		z := builder.Zone("dns", "example").Obj()
		z.Status = *from
		c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(z).WithObjects(z).Build()
		changes := statusChanges(from, to)
		if len(changes) == 0 {
			if diff := cmp.Diff(from, to); diff != "" {
				t.Fatalf("%d: no change (-from +to):\n%s", i, diff)
			}
			continue
		}
		body, err := json.Marshal(changes)
		must(t, err, c.Status().Patch(t.Context(), z, client.RawPatch(types.JSONPatchType, body)),
			c.Get(t.Context(), client.ObjectKeyFromObject(z), z))
		if diff := cmp.Diff(to, &z.Status); diff != "" {
			t.Fatalf("%d: %s (-want +got):\n%s", i, body, diff)
		}
	}
}

// TestStatusChangesAreSmall: a patch is as large as the change, not as the zone.
func TestStatusChangesAreSmall(t *testing.T) {
	from := &zonev1alpha1.ZoneStatus{Serial: 1, Hash: strings.Repeat("a", 64)}
	for i := range 700 {
		from.Entries = append(from.Entries, line(i))
		from.Slices = append(from.Slices, fmt.Sprintf("%032x", i))
	}
	to := from.DeepCopy()
	to.Serial, to.Hash = 2, strings.Repeat("b", 64)
	to.Slices[5] = strings.Repeat("e", 32)
	to.Entries[0].RData = "another serial"
	to.Entries[30].RData = "192.0.2.9"
	to.Entries = slices.Insert(slices.Delete(to.Entries, 100, 101), 300, line(99999))
	changes := statusChanges(from, to)
	body, err := json.Marshal(changes)
	must(t, err)
	if len(changes) != 7 || len(body) > 1000 {
		t.Errorf("%d operations in %d bytes: %s", len(changes), len(body), body)
	}
	many := from.DeepCopy()
	for i := range many.Entries {
		if i%3 == 0 {
			many.Entries[i].TTL = 5
		}
	}
	if changes := statusChanges(from, many); len(changes) != 1 || changes[0].Path != "/status/entries" {
		t.Errorf("%d operations for most of the list", len(changes))
	}
}
