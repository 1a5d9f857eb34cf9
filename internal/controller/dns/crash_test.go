package dns

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

// TestKilledAnywhere kills the process before and after each of its effects in the life of a record, one at a time, and starts it again. Nothing
// may be lost, and nothing may be left that nobody was told of.
func TestKilledAnywhere(t *testing.T) {
	for name, life := range map[string]func(*world){"published, changed, repaired, deleted": plainLife, "moved to another server": movedLife,
		"waiting for a name": waitingLife} {
		effects := countEffects(t, life)
		if effects < 10 {
			t.Fatalf("%s: only %d effects", name, effects)
		}
		for victim := range effects {
			for _, before := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, effect %d, before %v", name, victim, before), func(t *testing.T) {
					inWorld(t, func(w *world) {
						seen := 0
						w.touched = func(_ string, isBefore bool) {
							if isBefore != before {
								return
							}
							if seen == victim {
								w.now.kill()
							}
							seen++
						}
						life(w)
						if seen <= victim {
							w.t.Errorf("there was no effect %d", victim)
						}
					})
				})
			}
		}
	}
}

func countEffects(t *testing.T, life func(*world)) int {
	effects := 0
	inWorld(t, func(w *world) {
		w.touched = func(_ string, before bool) {
			if before {
				effects++
			}
		}
		life(w)
	})
	return effects
}

// plainLife takes a record through its life. Whenever the process has died, another is started.
func plainLife(w *world) {
	server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
	server.seen = func(operation string, id httpdns.ID) { w.intended(serverURL, operation, id) }
	w.create(class("main", serverURL))
	w.revive()
	w.create(rec)
	w.revive()
	expectOnServer(w, rec, "192.0.2.1")
	edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
	w.revive()
	expectOnServer(w, rec, "192.0.2.2")
	server.set(func(s *fakeServer) { clear(s.has) })
	w.pass(11 * time.Minute)
	w.revive()
	expectOnServer(w, rec, "192.0.2.2")
	w.remove(rec)
	w.revive()
	if w.exists(rec) || len(server.has) != 0 || len(w.events) != 0 {
		w.t.Errorf("after the deletion: object %v, server %v, events %q", w.exists(rec), server.has, w.events)
	}
	if got := []int{server.count("upsert"), server.count("delete")}; got[0] > 4 || got[1] > 2 {
		w.t.Errorf("%d upserts and %d deletes; one death may double one request", got[0], got[1])
	}
}

// movedLife moves the class to another server, and then deletes the record.
func movedLife(w *world) {
	const other = "http://other.example.org"
	c, rec := class("main", other), aRecord("web", "main", "192.0.2.1")
	for _, url := range []string{serverURL, other} {
		w.server(url).seen = func(operation string, id httpdns.ID) { w.intended(url, operation, id) }
	}
	w.create(c, rec)
	w.revive()
	edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = serverURL })
	w.revive()
	expectOnServer(w, rec, "192.0.2.1")
	w.expectEvent("LeftBehind", other)
	w.remove(rec)
	w.revive()
	if w.exists(rec) || len(w.server(serverURL).has) != 0 || w.server(other).count("delete") != 0 {
		w.t.Errorf("after the deletion: object %v, server %v, the old one %q", w.exists(rec), w.server(serverURL).has, w.server(other).log)
	}
}

// waitingLife has the record wait for a name that another holds.
func waitingLife(w *world) {
	holder, rec := aRecord("holder", "main", "192.0.2.9"), aRecord("web", "main", "192.0.2.1")
	w.create(class("main", serverURL))
	w.create(holder)
	w.revive()
	w.create(rec)
	w.revive()
	w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
	w.expectReady(holder, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	w.remove(holder)
	w.revive()
	expectOnServer(w, rec, "192.0.2.1")
	w.remove(rec)
	w.revive()
	if w.exists(rec) || w.exists(holder) || len(w.server(serverURL).has) != 0 {
		w.t.Errorf("after the deletion: objects %v, %v, server %v", w.exists(rec), w.exists(holder), w.server(serverURL).has)
	}
}

// revive starts a process in the place of a dead one, and lets it catch up.
func (w *world) revive() {
	w.t.Helper()
	if w.now.dead.Load() {
		w.restart()
	}
	w.pass(time.Second)
}

// intended checks that the API server knows of what is on its way to a server.
func (w *world) intended(url, operation string, id httpdns.ID) {
	if operation == "health" {
		return
	}
	rec := aRecord("web", "", "")
	if err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(rec), rec); err != nil {
		w.t.Errorf("%s: %v", operation, err)
		return
	}
	applied := rec.Status.Applied
	if applied == nil || applied.Server != url || id.Subdomain+"."+id.Domain.String() != appliedName(applied) ||
		!slices.Contains(rec.Finalizers, dnsv1alpha1.DNSRecordFinalizer) {
		w.t.Errorf("%s of %+v, while the object says %+v, with finalizers %q", operation, id, applied, rec.Finalizers)
	}
}

func expectOnServer(w *world, rec *dnsv1alpha1.DNSRecord, value string) {
	w.t.Helper()
	if !w.exists(rec) || len(rec.Status.Conditions) == 0 || rec.Status.Conditions[0].Status != metav1.ConditionTrue {
		w.t.Errorf("the object says %+v", rec.Status)
	}
	if got := w.server(serverURL).values("www.example.com"); !slices.Equal(got, []string{value}) {
		w.t.Errorf("the server has %q, want %s", got, value)
	}
}
