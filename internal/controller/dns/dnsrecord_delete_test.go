package dns

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

// TestDeletion is the table of what a deletion meets. Each case starts from a record that is on the server, signed with a Secret.
func TestDeletion(t *testing.T) {
	forceClass := func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
		w.remove(c)
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Finalizers = nil })
	}
	// aWhile is longer than it takes to replace a class or a Secret.
	aWhile := func(w *world, _ *dnsv1alpha1.DNSRecord) { w.pass(2 * time.Minute) }
	for name, tt := range map[string]struct {
		// before happens between the publication and the deletion.
		before func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord)
		// err fails the requests to delete.
		err error
		// stays: the object is kept, for this reason, in this state, and is gone once cure happened.
		stays  string
		state  dnsv1alpha1.RecordState
		cure   func(*world, *dnsv1alpha1.DNSRecord)
		event  bool
		onward bool // the record is left on the server
	}{
		"plain": {},
		"the object has become invalid": {before: func(w *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values, rec.Spec.Type = nil, "BOGUS" })
		}},
		"somebody deleted it on the server":   {before: func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { clear(w.server(serverURL).has) }},
		"the server's class is being deleted": {before: func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { w.remove(c) }},
		"the server is unreachable": {err: unreachable(), stays: dnsv1alpha1.ReasonServerUnreachable, state: dnsv1alpha1.RecordStatePending,
			cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.server(serverURL).set(func(s *fakeServer) { s.err = nil }) }},
		"the server fails": {err: &httpdns.Error{Kind: httpdns.Server, Status: 500}, stays: dnsv1alpha1.ReasonServerError, state: dnsv1alpha1.RecordStatePending,
			cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.server(serverURL).set(func(s *fakeServer) { s.err = nil }) }},
		"the signature is refused": {err: &httpdns.Error{Kind: httpdns.Auth, Status: 401}, stays: dnsv1alpha1.ReasonAuthenticationFailed, state: dnsv1alpha1.RecordStatePending,
			cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.server(serverURL).set(func(s *fakeServer) { s.err = nil }) }},
		"the server refuses": {err: &httpdns.Error{Kind: httpdns.Invalid, Status: 400}, stays: dnsv1alpha1.ReasonValidationFailed, state: dnsv1alpha1.RecordStateError,
			cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.server(serverURL).set(func(s *fakeServer) { s.err = nil }) }},
		"the server is unreachable, and a person lets go": {err: unreachable(), stays: dnsv1alpha1.ReasonServerUnreachable, state: dnsv1alpha1.RecordStatePending,
			cure: func(w *world, rec *dnsv1alpha1.DNSRecord) { annotate(w, rec) }, event: true, onward: true},
		"the class is gone": {before: forceClass, stays: dnsv1alpha1.ReasonDNSClassNotFound, state: dnsv1alpha1.RecordStatePending, cure: aWhile, event: true, onward: true},
		"the Secret is gone": {before: func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { w.remove(secret("key", "")) },
			stays: dnsv1alpha1.ReasonSecretNotFound, state: dnsv1alpha1.RecordStatePending, cure: aWhile, event: true, onward: true},
		"the Secret is being replaced": {before: func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { w.remove(secret("key", "")) },
			stays: dnsv1alpha1.ReasonSecretNotFound, state: dnsv1alpha1.RecordStatePending, cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.create(secret("key", "s")) }},
		"the key in the Secret is gone": {before: emptySecret(nil), stays: dnsv1alpha1.ReasonSecretNotFound, state: dnsv1alpha1.RecordStatePending, cure: aWhile, event: true, onward: true},
		"the key in the Secret is empty": {before: emptySecret(map[string][]byte{dnsv1alpha1.DefaultHMACKey: {}}),
			stays: dnsv1alpha1.ReasonSecretNotFound, state: dnsv1alpha1.RecordStatePending,
			cure: func(w *world, _ *dnsv1alpha1.DNSRecord) {
				edit(w, secret("key", ""), func(s *corev1.Secret) { s.Data[dnsv1alpha1.DefaultHMACKey] = []byte("s") })
			}},
		"the Secret is forbidden": {before: func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			w.breakReads(func(obj client.Object) error {
				if _, isSecret := obj.(*corev1.Secret); isSecret {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "key", nil)
				}
				return nil
			})
		}, stays: dnsv1alpha1.ReasonSecretNotFound, state: dnsv1alpha1.RecordStatePending, cure: func(w *world, _ *dnsv1alpha1.DNSRecord) { w.breakReads(nil) }},
		"status.applied makes no sense": {before: func(w *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			w.exists(rec)
			rec.Status.Applied.Server = "nowhere"
			must(w.t, w.api.Status().Update(w.t.Context(), rec))
		}, event: true, onward: true},
		"state Deleted was written before": {before: func(w *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			w.exists(rec)
			rec.Status.State = dnsv1alpha1.RecordStateDeleted
			must(w.t, w.api.Status().Update(w.t.Context(), rec))
		}, err: unreachable(), onward: true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c, rec, server := signing(class("main", serverURL), "key"), aRecord("web", "main", "192.0.2.1"), w.server(serverURL)
				w.create(secret("key", "s"), c, rec)
				w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
				if tt.before != nil {
					tt.before(w, c, rec)
				}
				server.set(func(s *fakeServer) { s.err = failing(tt.err, "delete") })
				w.remove(rec)
				if tt.stays != "" {
					w.expectReady(rec, metav1.ConditionFalse, tt.stays)
					if rec.Status.State != tt.state {
						w.t.Errorf("state is %s, want %s", rec.Status.State, tt.state)
					}
					tt.cure(w, rec)
					w.pass(time.Minute)
				}
				if w.exists(rec) {
					w.t.Fatalf("the object is still there: %+v", rec.Status)
				}
				if left := server.values("www.example.com") != nil; left != tt.onward {
					w.t.Errorf("left on the server: %v, want %v", left, tt.onward)
				}
				if tt.event {
					w.expectEvent("Warning LeftBehind Release web", "www.example.com", "A record", "server ")
				} else if len(w.events) != 0 {
					w.t.Errorf("events: %q", w.events)
				}
			})
		})
	}
}

func emptySecret(data map[string][]byte) func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord) {
	return func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
		edit(w, secret("key", ""), func(s *corev1.Secret) { s.Data = data })
	}
}

// TestDeletedIsWrittenBeforeTheFinalizerGoes, for those who watch.
func TestDeletedIsWrittenBeforeTheFinalizerGoes(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		var last dnsv1alpha1.DNSRecordStatus
		w.touched = func(what string, before bool) {
			if what == "patch metadata" && before {
				w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonRecordDeleted)
				last = rec.Status
			}
		}
		must(w.t, w.api.Get(w.t.Context(), client.ObjectKeyFromObject(rec), rec))
		rec.Generation++ // as the API server does
		must(w.t, w.api.Update(w.t.Context(), rec))
		w.remove(rec)
		if last.State != dnsv1alpha1.RecordStateDeleted || w.exists(rec) {
			w.t.Errorf("the last status seen was %+v", last)
		}
	})
}

// TestDeletionIsRetriedForEver, at the capped delay.
func TestDeletionIsRetriedForEver(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL))
		w.create(rec)
		server.err = failing(unreachable(), "delete")
		start := time.Now()
		var tries []time.Duration
		server.seen = func(operation string, _ httpdns.ID) {
			if operation == "delete" {
				tries = append(tries, time.Since(start))
			}
		}
		w.remove(rec)
		w.pass(50 * time.Second)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Description = "no reason to try sooner" })
		w.pass(250 * time.Second)
		want := []time.Duration{0, 5, 15, 35, 75, 135, 195, 255}
		for i := range want {
			want[i] *= time.Second
		}
		if diff := cmp.Diff(want, tries); diff != "" {
			w.t.Errorf("tries (-want +got):\n%s", diff)
		}
		w.expectState(rec, dnsv1alpha1.RecordStateError, "SERVER_ERROR")
		before := rec.ResourceVersion
		w.pass(5 * time.Minute)
		if w.exists(rec); rec.ResourceVersion != before {
			w.t.Error("the same failure was written again")
		}
	})
}

// TestDeletionWhileACallIsInFlight: the record is not written after it was deleted.
func TestDeletionWhileACallIsInFlight(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		block := make(chan struct{})
		server.block = block
		w.create(class("main", serverURL), rec)
		w.remove(rec)
		if !w.exists(rec) || server.count("delete") != 0 {
			w.t.Fatalf("exists %v, calls %v", w.exists(rec), server.log)
		}
		server.set(func(s *fakeServer) { s.block = nil })
		close(block)
		w.settle()
		if w.exists(rec) || server.values("www.example.com") != nil {
			w.t.Errorf("exists %v, calls %v", w.exists(rec), server.log)
		}
	})
}

// TestDeletionOfWhatWasNeverSent asks no server, and none has to exist.
func TestDeletionOfWhatWasNeverSent(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "absent", "192.0.2.1")
		rec.Finalizers = []string{dnsv1alpha1.DNSRecordFinalizer, "somebody.example.com/else"}
		rec.Annotations = map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"} // nothing is left behind
		w.create(rec)
		w.remove(rec)
		if !w.exists(rec) || len(rec.Finalizers) != 1 || len(w.events) != 0 {
			w.t.Fatalf("finalizers %q, events %q", rec.Finalizers, w.events)
		}
		if got := w.now.records.notes.Len(); got != 0 {
			w.t.Errorf("%d objects are remembered", got)
		}
		writes := w.now.writes.Load()
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Description = "it stays a while" })
		if got := w.now.writes.Load() - writes; got != 0 {
			w.t.Errorf("%d writes to an object that is not ours any more", got)
		}
	})
}

// TestDeletionLeavesWhatAnotherHolds: two objects say that they applied the same RRset, and one of them goes.
func TestDeletionLeavesWhatAnotherHolds(t *testing.T) {
	for name, tt := range map[string]struct {
		stale func(*claims.Claim)
		// holds says whether the rival holds by now.
		holds bool
		calls int
	}{
		"it holds":                         {func(*claims.Claim) {}, true, 0},
		"another of its name holds by now": {func(c *claims.Claim) { c.UID = "uid-before" }, true, 0},
		"it holds no more":                 {func(*claims.Claim) {}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			byHand(t, func(w *world, p *process) {
				rec, rival := aRecord("web", "main", "192.0.2.1"), aRecord("rival", "main", "192.0.2.1")
				rec.Finalizers = []string{dnsv1alpha1.DNSRecordFinalizer}
				w.create(class("main", serverURL), rec, rival)
				p.feed.ClassChanged(class("main", serverURL))
				for _, obj := range []*dnsv1alpha1.DNSRecord{rec, rival} {
					obj.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www"}
					must(w.t, w.api.Status().Update(w.t.Context(), obj))
				}
				claim := claims.OfDNSRecord(rival, serverURL)[0]
				tt.stale(&claim)
				p.store.Set(claim.Owner, claim)
				if !tt.holds {
					rival.Status.Applied = nil
					must(w.t, w.api.Status().Update(w.t.Context(), rival))
				}
				w.remove(rec)
				for range 2 {
					if w.exists(rec) {
						_, err := p.records.Reconcile(w.t.Context(), rec)
						must(w.t, err)
						w.settle()
					}
				}
				if got := w.server(serverURL).count("delete"); w.exists(rec) || got != tt.calls {
					w.t.Errorf("exists %v, %d requests to delete; want %d", w.exists(rec), got, tt.calls)
				}
			})
		})
	}
}

// TestClassIsLookedForLive before a record is left behind for want of it.
func TestClassIsLookedForLive(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		rec := aRecord("web", "main", "192.0.2.1")
		rec.Finalizers = []string{dnsv1alpha1.DNSRecordFinalizer}
		w.create(class("main", serverURL), rec)
		rec.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www"}
		must(w.t, w.api.Status().Update(w.t.Context(), rec))
		w.remove(rec)
		p.records.client = interceptor.NewClient(p.client, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if _, isClass := obj.(*dnsv1alpha1.DNSClass); isClass { // the cache has not heard of it yet
					return apierrors.NewNotFound(schema.GroupResource{Resource: "dnsclasses"}, key.Name)
				}
				return c.Get(ctx, key, obj, opts...)
			}})
		for range 2 {
			if w.exists(rec) {
				_, err := p.records.Reconcile(w.t.Context(), rec)
				must(w.t, err)
				w.settle()
			}
		}
		if got := w.server(serverURL).count("delete"); w.exists(rec) || got != 1 || len(w.events) != 0 {
			w.t.Errorf("exists %v, %d requests to delete, events %q", w.exists(rec), got, w.events)
		}
	})
}

// TestRecordAgainUnderTheSameName: nothing of the first one sticks to the second.
func TestRecordAgainUnderTheSameName(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(class("main", serverURL), aRecord("web", "main", "192.0.2.1"))
		w.remove(aRecord("web", "", ""))
		again := aRecord("web", "main", "192.0.2.1")
		w.create(again)
		w.expectReady(again, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		if got := w.server(serverURL).count("upsert"); got != 2 {
			w.t.Errorf("%d upserts, want 2", got)
		}
	})
}

// TestFinalizerIsRestored: whoever replaces an object with one from a file takes off the finalizer, and the record would stay on its server
// for ever when the object goes.
func TestFinalizerIsRestored(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.exists(rec)
		rec.Finalizers = nil
		must(w.t, w.api.Update(w.t.Context(), rec)) // of the metadata only: the generation stays
		w.settle()
		w.remove(rec)
		if w.exists(rec) || len(w.server(serverURL).has) != 0 {
			w.t.Errorf("exists %v, left on the server: %v", w.exists(rec), w.server(serverURL).has)
		}
	})
}

// TestNothingIsSentForWhatIsGone: a process whose cache lags behind a deletion, which another process has seen to, sends nothing.
func TestNothingIsSentForWhatIsGone(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		main := class("main", serverURL)
		w.create(main)
		p.feed.ClassChanged(main)
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(rec)
		for range 3 {
			_, err := p.records.Reconcile(w.t.Context(), rec)
			must(w.t, err)
			w.settle()
			w.exists(rec)
		}
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		stale := rec.DeepCopy()
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil })
		w.remove(rec)
		clear(w.server(serverURL).has)
		p.records.Gone(rec) // as in a new process
		for range 3 {
			_, err := p.records.Reconcile(w.t.Context(), stale.DeepCopy())
			must(w.t, err)
			w.settle()
		}
		if len(w.server(serverURL).has) != 0 {
			w.t.Errorf("published for nobody: %v", w.server(serverURL).has)
		}
	})
}

// TestDeletionLeavesAServerThatNeverTookIt: a class is pointed at nobody by mistake, a record is deleted meanwhile, and the class is mended.
func TestDeletionLeavesAServerThatNeverTookIt(t *testing.T) {
	inWorld(t, func(w *world) {
		const typo = "https://typo.example.com"
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.server(typo).set(func(s *fakeServer) { s.err = failing(unreachable(), "upsert", "get", "delete") })
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = typo })
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonServerUnreachable)
		w.remove(rec)
		w.pass(time.Hour)
		if !w.exists(rec) {
			w.t.Fatal("let go of while the class still names the server")
		}
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = serverURL })
		w.pass(2 * time.Minute)
		if w.exists(rec) {
			w.t.Errorf("the object is still there: %+v", rec.Status)
		}
		w.expectEvent("LeftBehind", typo)
	})
}

// TestFinalizerIsRestoredWhileBlocked: also a record that cannot be published for now may be on a server.
func TestFinalizerIsRestoredWhileBlocked(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.remove(c)
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Finalizers = nil })
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonDNSClassNotFound)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil })
		if w.exists(rec); len(rec.Finalizers) != 1 {
			w.t.Errorf("finalizers %q", rec.Finalizers)
		}
	})
}
