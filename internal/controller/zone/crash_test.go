package zone

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
)

// TestKilledAnywhere kills the process after each of its writes in the life of two zones, one at a time, and starts it again with
// nothing but what the API server has. It ends up with the same content. What has to hold in between is held by world.check.
func TestKilledAnywhere(t *testing.T) {
	writes := 0
	inWorld(t, func(w *world) {
		w.touched = func(_ string, before bool) {
			if before {
				writes++
			}
		}
		life(w)
	})
	if writes < 20 {
		t.Fatalf("only %d writes", writes)
	}
	for victim := range writes {
		t.Run(fmt.Sprintf("write %d", victim), func(t *testing.T) {
			inWorld(t, func(w *world) {
				seen := 0
				w.touched = func(_ string, before bool) {
					if before {
						return
					}
					if seen == victim {
						w.now.kill()
					}
					seen++
				}
				life(w)
				if seen <= victim {
					w.t.Errorf("there was no write %d", victim)
				}
			})
		})
	}
}

// life takes a zone and its sub-zone through most of what can happen to them. Whenever the process has died, another is started.
func life(w *world) {
	parent, www := anyZone(), address("team", "www", "192.0.2.1")
	sub := builder.Zone("team", "sub").Domain("dev").ZoneRef("example", "dns").DelegateAll().Obj()
	server := builder.Record("team", "ns").Domain("@").ZoneRef("sub", "").Type("NS").RData("ns1.dev.example.org.").Obj()
	glue := builder.Record("team", "glue").Domain("ns1").ZoneRef("sub", "").RData("192.0.2.53").Obj()
	for _, obj := range []client.Object{parent, www, sub, server, glue} {
		w.create(obj)
		w.revive()
	}
	w.expectEntries(parent, "dev.example.org 360 NS ns1.dev.example.org.", "example.org 360 NS ns.example.org.", "ns1.dev.example.org 360 A 192.0.2.53",
		"www.example.org 360 A 192.0.2.1")
	edit(w, www, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
	w.revive()
	edit(w, parent, func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Zones = nil })
	w.revive()
	w.expectReady(sub, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
	w.expectReady(glue, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
	w.expectEntries(parent, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.2")
	w.expectEntries(sub)
	edit(w, parent, func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Zones = []string{"*"} })
	w.revive()
	w.expectEntries(sub, "dev.example.org 360 NS ns1.dev.example.org.", "ns1.dev.example.org 360 A 192.0.2.53")
	w.remove(glue)
	w.revive()
	w.expectEntries(parent, "dev.example.org 360 NS ns1.dev.example.org.", "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.2")
	w.expectReady(sub, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "example.dns")
	w.quiet()
}

// revive starts a process in the place of a dead one, and lets it catch up.
func (w *world) revive() {
	w.t.Helper()
	if w.now.dead.Load() {
		w.now.stop()
		w.boot()
	}
	w.pass(time.Minute)
}

// expectEntries checks what a zone publishes, and that there are no slices besides.
func (w *world) expectEntries(z *zonev1alpha1.Zone, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.entries(z)); diff != "" {
		w.t.Errorf("entries of %s (-want +got):\n%s", z.Name, diff)
	}
	if got := len(w.parts(z)); got != len(z.Status.Slices) {
		w.t.Errorf("%s: %d slices, %d of them listed", z.Name, got, len(z.Status.Slices))
	}
}
