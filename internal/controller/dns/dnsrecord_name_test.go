package dns

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/conditions"
)

// tenant moves a record into another namespace, and its creation into the past.
func tenant(rec *dnsv1alpha1.DNSRecord, namespace string, age time.Duration) *dnsv1alpha1.DNSRecord {
	rec.Namespace = namespace
	rec.CreationTimestamp = metav1.NewTime(time.Now().Add(-age).Truncate(time.Second))
	return rec
}

func TestNameConflict(t *testing.T) {
	for name, rival := range map[string]func(*dnsv1alpha1.DNSRecord){
		"the same RRset":                  func(*dnsv1alpha1.DNSRecord) {},
		"in other letters":                func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Domain = "EXAMPLE.com." },
		"another class, the same server":  func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.DNSClassRef.Name = "twin" },
		"a CNAME beside another":          func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Type, rec.Spec.Values = "CNAME", []string{"a.example.net"} },
		"older, but it has nothing to do": func(rec *dnsv1alpha1.DNSRecord) { tenant(rec, "late", time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				server := w.server(serverURL)
				holder := tenant(aRecord("holder-of-it", "main", "192.0.2.1"), "team-of-holder", 0)
				loser := tenant(aRecord("web", "main", "192.0.2.2"), "late", 0)
				rival(loser)
				w.create(class("main", serverURL), class("twin", serverURL+"/"), holder)
				w.create(loser)
				w.expectReady(loser, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
				w.expectState(loser, dnsv1alpha1.RecordStatePending, "")
				message := conditions.Find(loser.Status.Conditions, dnsv1alpha1.ConditionReady).Message
				if strings.Contains(message, "holder") || strings.Contains(message, "192.0.2.1") || !strings.Contains(message, "www.example.com") {
					w.t.Errorf("message: %s", message)
				}
				writes := w.now.writes.Load()
				w.pass(25 * time.Minute)
				w.expectReady(loser, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
				if got := w.now.writes.Load() - writes; got != 4 {
					w.t.Errorf("%d writes in 25 minutes, want 4 for the health of two classes", got)
				}

				server.set(func(s *fakeServer) { s.err = failing(unreachable(), "delete") })
				w.remove(holder)
				w.expectReady(loser, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict) // held until the finalizer is gone
				server.set(func(s *fakeServer) { s.err = nil })
				w.pass(10 * time.Second)
				if w.exists(holder) {
					w.t.Fatal("the holder is still there")
				}
				w.expectReady(loser, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
				w.remove(loser)
				if w.exists(loser) || len(server.has) != 0 {
					w.t.Errorf("left: object %v, server %v", w.exists(loser), server.has)
				}
			})
		})
	}
}

// TestLoserLeavesNothingAndDeletesNothing: its deletion does not touch what another holds.
func TestLoserLeavesNothingAndDeletesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		holder, loser := aRecord("a", "main", "192.0.2.1"), aRecord("b", "main", "192.0.2.2")
		w.create(class("main", serverURL), holder, loser)
		w.remove(loser)
		if w.exists(loser) || w.server(serverURL).count("delete") != 0 || w.server(serverURL).values("www.example.com") == nil {
			w.t.Errorf("exists %v, calls %v", w.exists(loser), w.server(serverURL).log)
		}
	})
}

// TestOneOfManyGetsTheName: all at once, and the same one after any restart.
func TestOneOfManyGetsTheName(t *testing.T) {
	inWorld(t, func(w *world) {
		var all []*dnsv1alpha1.DNSRecord
		for i := range 20 {
			all = append(all, tenant(aRecord("web", "main", fmt.Sprintf("192.0.2.%d", i+1)), fmt.Sprintf("team-%02d", 19-i), 0))
		}
		for _, rec := range all {
			w.create(rec)
		}
		w.create(class("main", serverURL)) // wakes them all
		for round := range 3 {
			var ready []string
			for _, rec := range all {
				if w.exists(rec); conditions.IsTrue(rec.Status.Conditions, dnsv1alpha1.ConditionReady) {
					ready = append(ready, rec.Namespace)
				}
			}
			if !slices.Equal(ready, []string{"team-00"}) || w.server(serverURL).count("upsert") != 1 {
				w.t.Fatalf("round %d: ready are %q after %d upserts", round, ready, w.server(serverURL).count("upsert"))
			}
			w.restart()
			w.settle()
		}
		w.remove(all[19])
		w.expectReady(all[18], metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

// TestServerOfTheClassMovesToATakenName: the record keeps what it has, says so, and still deletes it.
func TestServerOfTheClassMovesToATakenName(t *testing.T) {
	const other = "http://other.example.org"
	inWorld(t, func(w *world) {
		moves := class("moves", other)
		holder, rec := tenant(aRecord("holder", "main", "192.0.2.1"), "team", time.Hour), aRecord("web", "moves", "192.0.2.2")
		w.create(class("main", serverURL), moves, holder, rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		edit(w, moves, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = serverURL })
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
		w.expectReady(holder, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		if rec.Status.Applied == nil || rec.Status.Applied.Server != other {
			w.t.Errorf("applied: %+v", rec.Status.Applied)
		}
		w.remove(rec)
		if w.exists(rec) || len(w.server(other).has) != 0 || len(w.server(serverURL).has) != 1 {
			w.t.Errorf("exists %v, left %v and %v", w.exists(rec), w.server(other).has, w.server(serverURL).has)
		}
	})
}

// TestRivalIsReadLive: what the store says about a rival is older than what the API server has.
func TestRivalIsReadLive(t *testing.T) {
	type sight struct{ reason, state string }
	for name, tt := range map[string]struct {
		// stale is what the store believes of the rival.
		stale func(claims.Claim) claims.Claim
		// live is what became of the rival meanwhile.
		live func(w *world, rival *dnsv1alpha1.DNSRecord)
		want sight
	}{
		"it holds by now, though it is younger": {
			func(c claims.Claim) claims.Claim { c.Created = time.Now().Add(time.Hour); return c },
			func(w *world, rival *dnsv1alpha1.DNSRecord) {
				rival.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www"}
				must(w.t, w.api.Status().Update(w.t.Context(), rival))
			}, sight{dnsv1alpha1.ReasonNameConflict, "Pending"}},
		"it is younger and holds nothing": {
			func(c claims.Claim) claims.Claim { return c },
			func(*world, *dnsv1alpha1.DNSRecord) {}, sight{dnsv1alpha1.ReasonPublishing, "Pending"}},
		"it is gone": {
			func(c claims.Claim) claims.Claim { c.Holds = true; return c },
			func(w *world, rival *dnsv1alpha1.DNSRecord) { must(w.t, w.api.Delete(w.t.Context(), rival)) }, sight{dnsv1alpha1.ReasonPublishing, "Pending"}},
		"another has its name": {
			func(c claims.Claim) claims.Claim { c.Holds, c.UID = true, "uid-before"; return c },
			func(*world, *dnsv1alpha1.DNSRecord) {}, sight{dnsv1alpha1.ReasonPublishing, "Pending"}},
		"another has its name, and holds": {
			func(c claims.Claim) claims.Claim { c.Holds, c.UID = true, "uid-before"; return c },
			func(w *world, rival *dnsv1alpha1.DNSRecord) {
				rival.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www"}
				must(w.t, w.api.Status().Update(w.t.Context(), rival))
			}, sight{dnsv1alpha1.ReasonNameConflict, "Pending"}},
		"it holds": {
			func(c claims.Claim) claims.Claim { c.Holds = true; return c },
			func(*world, *dnsv1alpha1.DNSRecord) {}, sight{dnsv1alpha1.ReasonNameConflict, "Pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			byHand(t, func(w *world, p *process) {
				rec, rival := tenant(aRecord("web", "main", "192.0.2.1"), "default", time.Minute), aRecord("rival", "main", "192.0.2.2")
				w.create(class("main", serverURL), rec, rival)
				p.feed.ClassChanged(class("main", serverURL))
				claim := claims.OfDNSRecord(rival, serverURL)[0]
				p.store.Set(claim.Owner, tt.stale(claim))
				tt.live(w, rival)
				_, err := p.records.Reconcile(w.t.Context(), rec)
				must(w.t, err)
				w.exists(rec)
				if got := (sight{conditions.Find(rec.Status.Conditions, dnsv1alpha1.ConditionReady).Reason, string(rec.Status.State)}); got != tt.want {
					w.t.Errorf("got %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

// TestBothSayThatTheyHold, which takes a person with a text editor: the older keeps the name, and the other forgets what it said and what
// it was about to send.
func TestBothSayThatTheyHold(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		block := make(chan struct{})
		w.server(serverURL).block = block
		rec := aRecord("web", "main", "192.0.2.1")
		busy := []*dnsv1alpha1.DNSRecord{named(aRecord("b1", "main", "192.0.2.1"), "b1"), named(aRecord("b2", "main", "192.0.2.1"), "b2")}
		w.create(class("main", serverURL), busy[0], busy[1], rec)
		for _, obj := range append(busy, rec) { // the first two fill the lane, so the third waits
			_, err := p.records.Reconcile(w.t.Context(), obj)
			must(w.t, err)
			w.settle()
		}
		rival := tenant(aRecord("rival", "main", "192.0.2.2"), "team", time.Hour)
		w.create(rival)
		rival.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www"}
		must(w.t, w.api.Status().Update(w.t.Context(), rival))
		p.feed.ClassChanged(class("main", serverURL))
		p.feed.RecordChanged(rival)
		w.exists(rec)
		p.feed.RecordChanged(rec)
		_, err := p.records.Reconcile(w.t.Context(), rec)
		must(w.t, err)
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
		if rec.Status.Applied != nil {
			w.t.Errorf("applied: %+v", rec.Status.Applied)
		}
		p.feed.RecordChanged(rec)
		for _, claim := range p.store.Of(claims.DNSRecordOwner(rec.Namespace, rec.Name)) {
			if claim.Holds {
				w.t.Errorf("the loser still holds %+v", claim)
			}
		}
		close(block)
		w.settle()
		if got := w.server(serverURL).count("upsert"); got != 2 {
			w.t.Errorf("%d upserts; want those of the other two", got)
		}
	})
}

// TestAcquiredIsHeld: who has a name keeps it against an older rival, although nothing could be sent yet.
func TestAcquiredIsHeld(t *testing.T) {
	inWorld(t, func(w *world) {
		first, older := aRecord("first", "main", "192.0.2.1"), tenant(aRecord("older", "other", "192.0.2.2"), "team", time.Hour)
		w.create(signing(class("main", serverURL), "key"), class("other", serverURL), first)
		w.expectReady(first, metav1.ConditionFalse, dnsv1alpha1.ReasonSecretNotFound)
		w.create(older)
		w.expectReady(older, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
		w.create(secret("key", "s"))
		w.expectReady(first, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.expectReady(older, metav1.ConditionFalse, dnsv1alpha1.ReasonNameConflict)
	})
}

// TestRivalThatCannotBeRead is an error, and no decision.
func TestRivalThatCannotBeRead(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		rec, rival := aRecord("web", "main", "192.0.2.1"), aRecord("rival", "main", "192.0.2.2")
		w.create(class("main", serverURL), rival, rec)
		claim := claims.OfDNSRecord(rival, serverURL)[0]
		p.store.Set(claim.Owner, claim)
		away := errors.New("etcd is away")
		w.breakReads(func(obj client.Object) error {
			if _, isRecord := obj.(*dnsv1alpha1.DNSRecord); isRecord {
				return away
			}
			return nil
		})
		if _, err := p.records.Reconcile(w.t.Context(), rec); !errors.Is(err, away) {
			w.t.Errorf("error is %v", err)
		}
		if w.exists(rec); len(rec.Status.Conditions) != 0 || len(rec.Finalizers) != 0 {
			w.t.Errorf("decided: %+v", rec.Status)
		}
	})
}
