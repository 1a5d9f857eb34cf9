package zone

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// TestCacheLagsBehindOwnWrites: while the cache has not seen the last status, no serial is computed from the one before, and nothing is tried in
// vain.
func TestCacheLagsBehindOwnWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		thaw := w.now.freeze("Zone")
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		serial, writes := read(w, z).Status.Serial, w.now.writes.Load()
		for i := range 5 {
			edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = fmt.Sprintf("192.0.2.%d", 10+i) })
			w.pass(time.Second)
		}
		if got := read(w, z).Status.Serial; got != serial {
			t.Errorf("serial %d was written over %d by a cache that had not seen it", got, serial)
		}
		if n := w.now.writes.Load() - writes; n != 5 { // the status of the record
			t.Errorf("%d writes", n)
		}
		thaw()
		w.pass(time.Minute)
		if got := w.entries(z); z.Status.Serial != serial+1 || got[1] != "www.example.org 360 A 192.0.2.14" {
			t.Errorf("serial %d after %d, %q", z.Status.Serial, serial, got)
		}
		w.quiet()
	})
}

// TestCacheOfSlicesLags: what was just created is not created once more, and what was just deleted is not deleted once more.
func TestCacheOfSlicesLags(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		thaw := w.now.freeze("ZoneSlice")
		requests := map[string]int{}
		w.touched = func(what string, before bool) {
			if before {
				requests[what]++
			}
		}
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Second)
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Labels = map[string]string{"looked": "at"} })
		w.pass(time.Second)
		if requests["create"] != 1 || requests["delete"] != 1 || requests["patch status"] != 3 { // two of them for the generations
			t.Errorf("requests: %v", requests)
		}
		thaw()
		w.pass(time.Minute)
		if len(w.entries(z)) != 2 || len(w.parts(z)) != 1 {
			t.Errorf("slices: %v", w.parts(z))
		}
		w.quiet()
	})
}

// TestContentComesBackWhileTheCacheLags: a slice that was deleted is created once more, and none is left behind, although the cache shows neither.
func TestContentComesBackWhileTheCacheLags(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		thaw := w.now.freeze("ZoneSlice")
		for i := range 4 {
			edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = fmt.Sprintf("192.0.2.%d", 2-i%2) })
			w.pass(time.Second)
			if got := w.entries(z); len(w.parts(z)) != 1 || got[1] != fmt.Sprintf("www.example.org 360 A 192.0.2.%d", 2-i%2) {
				t.Fatalf("after %d edits: %d slices, %q", i+1, len(w.parts(z)), got)
			}
		}
		thaw()
		w.pass(time.Minute)
		if len(w.parts(z)) != 1 {
			t.Errorf("%d slices", len(w.parts(z)))
		}
		w.quiet()
	})
}

// TestSliceIsThereAlready: a slice that somebody has made before is used, and goes when it is not listed any more, although the cache does not
// show it.
func TestSliceIsThereAlready(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		first := w.parts(z)[0]
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Minute)
		thaw := w.now.freeze("ZoneSlice")
		w.create(&first)
		for _, address := range []string{"192.0.2.1", "192.0.2.3"} {
			edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = address })
			w.pass(time.Second)
		}
		thaw()
		w.pass(time.Minute)
		if len(w.parts(z)) != 1 {
			t.Errorf("%d slices", len(w.parts(z)))
		}
		w.quiet()
	})
}

// TestTwoLeaders: two processes with caches that lag write the same zone. One serial never stands for two contents, and none falls; the world
// sees to that. Slices may go missing for as long as they do not see what the other does. When both have seen everything, they agree.
func TestTwoLeaders(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		old := w.now
		defer old.stop()
		w.spoilt = true
		w.boot()
		for i := range 20 {
			thaw := old.freeze([][]string{{"Zone"}, {"Record"}, {"ZoneSlice"}, {"Zone", "Record", "ZoneSlice"}}[i%4]...)
			edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = fmt.Sprintf("192.0.2.%d", 10+i) })
			w.pass(3 * time.Second)
			thaw()
			w.pass(3 * time.Second)
		}
		w.pass(time.Minute)
		if got := w.entries(z); got[1] != "www.example.org 360 A 192.0.2.29" {
			t.Errorf("entries: %q", got)
		}
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.29")
		w.quiet()
	})
}

// TestSlicesOfAnotherLeaderStay: a process whose cache of Zones is older than its cache of ZoneSlices does nothing on the word of an old status:
// it does not restore the slice that its status lists, and does not delete the one that it does not list.
func TestSlicesOfAnotherLeaderStay(t *testing.T) {
	for name, killed := range map[string]bool{"both run": false, "the other died before it had deleted anything": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				z, rec := anyZone(), address("team", "www", "192.0.2.1")
				w.create(z, rec)
				w.pass(time.Minute)
				old := w.now
				defer old.stop()
				thaw := old.freeze("Zone", "Record")
				w.boot()
				if killed {
					w.touched = func(what string, before bool) {
						if what == "patch status" && !before && read(w, z).Status.EntryCount == 4 {
							w.now.kill()
						}
					}
				}
				writes := old.writes.Load()
				w.create(address("team", "other", "192.0.2.2"))
				w.pass(time.Minute)
				stale := &zonev1alpha1.Zone{}
				must(t, old.cache.get(client.ObjectKeyFromObject(z), stale))
				if stale.Status.EntryCount != 3 || read(w, z).Status.EntryCount != 4 || w.now.dead.Load() != killed {
					t.Fatalf("the cache has %d entries, the API server %d, the other process is dead: %v", stale.Status.EntryCount, z.Status.EntryCount, w.now.dead.Load())
				}
				if _, err := old.zones.Reconcile(t.Context(), stale); err != nil {
					t.Fatal(err)
				}
				w.pass(time.Second)
				if n := old.writes.Load() - writes; n != 0 {
					t.Errorf("%d writes on the word of an old status", n)
				}
				w.touched, w.spoilt = nil, !killed // two that lead at once may take a slice from each other, for a moment
				thaw()
				w.revive()
				w.expectEntries(z, "example.org 360 NS ns.example.org.", "other.example.org 360 A 192.0.2.2", "www.example.org 360 A 192.0.2.1")
				w.quiet()
				w.spoilt = false
				w.check()
			})
		})
	}
}

// TestConflict: a status that was written by somebody else meanwhile is not written over.
func TestConflict(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		stale := read(w, z).DeepCopy()
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Annotations = map[string]string{"a": "b"} })
		p := &pass{obj: stale, now: time.Now()}
		want := stale.Status.DeepCopy()
		want.Serial++
		if err := w.now.zones.patchStatus(t.Context(), p, want); err == nil || p.wrote {
			t.Errorf("error %v", err)
		}
		if got := read(w, z).Status.Serial; got != stale.Status.Serial {
			t.Errorf("serial %d", got)
		}
	})
}

// TestTampered: slices and statuses that somebody has changed or deleted by hand are restored.
func TestTampered(t *testing.T) {
	for name, tamper := range map[string]func(*world, *zonev1alpha1.Zone, *zonev1alpha1.ZoneSlice){
		"slice deleted": func(w *world, _ *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) {
			must(w.t, w.api.Delete(w.t.Context(), s))
		},
		"entry changed": change(func(s *zonev1alpha1.ZoneSlice) { s.Entries[0].RData = "198.51.100.66" }),
		"no entries":    change(func(s *zonev1alpha1.ZoneSlice) { s.Entries = []zonev1alpha1.SliceEntry{} }),
		"digest changed with the entries": change(func(s *zonev1alpha1.ZoneSlice) {
			s.Entries[0].RData = "198.51.100.66"
			s.Digest = zone.DigestOf(s.Shard, s.Entries)
		}),
		"label taken away": change(func(s *zonev1alpha1.ZoneSlice) { s.Labels = nil }),
		"owner taken away": change(func(s *zonev1alpha1.ZoneSlice) { s.OwnerReferences = nil }),
		"zone renamed":     change(func(s *zonev1alpha1.ZoneSlice) { s.Zone = "other" }),
		"one slice too many": func(w *world, _ *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) {
			extra := s.DeepCopy()
			extra.Name, extra.ResourceVersion = "example-extra", ""
			w.birth(extra)
			must(w.t, w.api.Create(w.t.Context(), extra))
			w.settle()
			edit(w, anyZone(), func(z *zonev1alpha1.Zone) { z.Annotations = map[string]string{"look": "again"} })
		},
		"slices of the status": status(func(s *zonev1alpha1.ZoneStatus) { s.Slices = []string{"none"} }),
		"SOA of the status":    status(func(s *zonev1alpha1.ZoneStatus) { s.Entries[0].RData = "ns.example.com. noc.example.com. 1 2 3 4 5" }),
		"entries of the status": status(func(s *zonev1alpha1.ZoneStatus) {
			s.Entries[1], s.Entries[2] = s.Entries[2], s.Entries[1]
		}),
		"whole status": status(func(s *zonev1alpha1.ZoneStatus) { *s = zonev1alpha1.ZoneStatus{Serial: s.Serial} }),
		"condition": status(func(s *zonev1alpha1.ZoneStatus) {
			conditions.Set(&s.Conditions, zonev1alpha1.ConditionReady, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "no", 1)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				z, rec := anyZone(), address("team", "www", "192.0.2.1")
				w.create(z, rec)
				w.pass(time.Minute)
				before := read(w, z).DeepCopy()
				w.spoilt = true
				tamper(w, z, &w.parts(z)[0])
				w.pass(time.Minute)
				w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
				w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1")
				part := w.parts(z)[0]
				if !sound(z, &part) || part.Zone != z.Name {
					t.Errorf("slice: %+v", part)
				}
				if len(z.Status.Entries) != 3 || z.Status.Entries[1].Type != "NS" {
					t.Errorf("status: %+v", z.Status)
				}
				// What secondaries and those who serve the zone may have taken in gets a new serial, and nothing else does.
				announced := name == "slices of the status" || name == "SOA of the status" || name == "whole status"
				if rises := z.Status.Serial > before.Status.Serial; rises != announced {
					t.Errorf("serial %d after %d", z.Status.Serial, before.Status.Serial)
				}
				w.quiet()
			})
		})
	}
}

func change(how func(*zonev1alpha1.ZoneSlice)) func(*world, *zonev1alpha1.Zone, *zonev1alpha1.ZoneSlice) {
	return func(w *world, _ *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) {
		before := s.DeepCopy()
		how(s)
		if s.Zone != before.Zone || s.Digest != before.Digest || !slices.Equal(s.Entries, before.Entries) {
			s.Generation++ // as the API server does
		}
		must(w.t, w.api.Update(w.t.Context(), s))
	}
}

func status(how func(*zonev1alpha1.ZoneStatus)) func(*world, *zonev1alpha1.Zone, *zonev1alpha1.ZoneSlice) {
	return func(w *world, z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) {
		how(&read(w, z).Status)
		must(w.t, w.api.Status().Update(w.t.Context(), z))
	}
}

// TestErrorsAreTriedAgain: nothing is lost when the API server is away for a while.
func TestErrorsAreTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		down.Store(true)
		failing := interceptor.NewClient(w.now.client, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				if down.Load() {
					return context.DeadlineExceeded
				}
				return c.Create(ctx, obj, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
				if down.Load() {
					return context.DeadlineExceeded
				}
				return c.Delete(ctx, obj, opts...)
			},
		})
		w.now.zones.client = failing
		z := anyZone()
		w.create(z)
		w.pass(time.Minute)
		if len(read(w, z).Status.Conditions) != 0 {
			t.Fatalf("published without slices: %+v", z.Status)
		}
		down.Store(false)
		w.pass(time.Minute)
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		if n := w.serials(z); n != 1 {
			t.Errorf("%d serials", n)
		}
		w.quiet()
		down.Store(true)
		rec := address("team", "www", "192.0.2.1")
		w.create(rec) // of this content nothing is ever written
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Minute)
		down.Store(false)
		w.touching.Lock() // a request may be under way
		w.touched = func(what string, before bool) {
			if what == "patch status" && !before {
				down.Store(true) // the slices that are not listed any more cannot be deleted at first
				w.touched = nil
			}
		}
		w.touching.Unlock()
		w.pass(time.Minute)
		if !down.Load() || len(w.parts(z)) != 2 {
			t.Fatalf("%d slices", len(w.parts(z)))
		}
		down.Store(false)
		w.pass(time.Minute)
		w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.2")
		if len(w.parts(z)) != 1 {
			t.Errorf("%d slices", len(w.parts(z)))
		}
		w.quiet()
	})
}

// TestCacheOfRecordsLags: nothing is tried in vain on a Record that the cache has not seen since it was written.
func TestCacheOfRecordsLags(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		thaw := w.now.freeze("Record")
		w.now.patches = nil
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
		w.remove(z)
		w.pass(10 * time.Second)
		merges := slices.DeleteFunc(slices.Clone(w.now.patches), func(body string) bool { return body[0] == '[' }) // those are of zones
		if len(merges) != 2 {
			t.Errorf("writes to the record: %q; want its label and its status", merges)
		}
		thaw()
		w.pass(time.Minute)
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		w.quiet()
	})
}

// TestForeignFinalizer: a slice that somebody holds back when it is deleted does not hold up its zone, also when its content comes back. When it goes
// at last, another takes its place.
func TestForeignFinalizer(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		held := w.parts(z)[0]
		controllerutil.AddFinalizer(&held, "example.com/keep")
		must(t, w.api.Update(t.Context(), &held))
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Second)
		if parts, serial := w.parts(z), read(w, z).Status.Serial; len(parts) != 2 || z.Status.EntryCount != 3 {
			t.Errorf("%d slices, serial %d", len(parts), serial)
		}
		writes := w.now.writes.Load()
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Annotations = map[string]string{"look": "again"} })
		w.pass(time.Second)
		if n := w.now.writes.Load() - writes; n != 1 { // the status, for the generation
			t.Errorf("%d writes; what is deleted is not deleted once more", n)
		}
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.1" })
		w.pass(time.Second)
		if parts := w.parts(z); len(parts) != 1 || parts[0].UID != held.UID || !slices.Equal(read(w, z).Status.Slices, []string{held.Digest}) {
			t.Errorf("slices %v, status %v", parts, z.Status.Slices)
		}
		must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(&held), &held))
		controllerutil.RemoveFinalizer(&held, "example.com/keep")
		w.spoilt = true
		must(t, w.api.Update(t.Context(), &held))
		w.pass(time.Minute)
		w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1")
		w.quiet()
	})
}

// TestSliceGoesUnheard: a slice of which no event has told is taken away, and no event tells of that either. It comes back all the same.
func TestSliceGoesUnheard(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		mended := make(chan struct{})
		w.now.broken["ZoneSlice"] <- mended
		w.settle()
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Second)
		w.spoilt = true
		must(t, w.api.Delete(t.Context(), &w.parts(z)[0]))
		close(mended)
		serial := read(w, z).Status.Serial
		w.pass(common.StaleLimit + time.Second)
		w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.2")
		if z.Status.Serial != serial {
			t.Errorf("serial %d after %d", z.Status.Serial, serial)
		}
		w.quiet()
	})
}

// TestLostAnswer: a slice that was created by a request whose answer got lost, and that is not needed any more, goes, however late it is seen.
func TestLostAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		thaw := w.now.freeze("ZoneSlice")
		var lost atomic.Bool
		w.fate = func(_ *process, what string) (f fate) {
			if what == "create" && lost.CompareAndSwap(false, true) {
				f.err, f.done = context.DeadlineExceeded, true
			}
			return f
		}
		w.touched = func(what string, before bool) {
			if what == "create" && !before {
				w.touched = nil
				w.writing.Lock() // the status of the record is being written
				defer w.writing.Unlock()
				now := read(w, address("team", "www", ""))
				now.Spec.RData = "192.0.2.1"
				now.Generation++
				must(t, w.api.Update(t.Context(), now))
			}
		}
		edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = "192.0.2.2" })
		w.pass(time.Minute)
		if n := len(w.parts(z)); n != 2 {
			t.Fatalf("%d slices", n)
		}
		thaw()
		w.pass(time.Minute)
		w.expectEntries(z, "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1")
		w.quiet()
	})
}
