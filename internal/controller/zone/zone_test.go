package zone

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

func anyZone() *zonev1alpha1.Zone {
	return builder.Zone("dns", "example").DelegateAll().Obj()
}

// address is an A record of a name below example.org.
func address(namespace, name, data string) *zonev1alpha1.Record {
	return builder.Record(namespace, name).Domain(name + ".example.org.").RData(data).Obj()
}

func TestPublish(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z)
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		first := z.Status.Serial
		w.create(rec)
		w.expectReady(rec, metav1.ConditionTrue, zonev1alpha1.ReasonAdopted, "example.dns")
		if rec.Status.FQDN != "www.example.org." {
			t.Errorf("record: %+v", rec.Status)
		}
		want := []string{"example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1"}
		if diff := cmp.Diff(want, w.entries(z)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		if z.Status.Serial != first+1 || z.Status.FQDN != "example.org." || z.Status.EntryCount != 3 || z.Status.EntriesTruncated || len(z.Status.Entries) != 3 {
			t.Errorf("status: %+v", z.Status)
		}
		soa := zonev1alpha1.ZoneEntry{FQDN: "example.org.", Type: "SOA", Class: "IN", TTL: 360,
			RData: fmt.Sprintf("ns.example.org. noc.example.org. %d 86400 7200 3600000 360", z.Status.Serial)}
		if diff := cmp.Diff(soa, z.Status.Entries[0]); diff != "" {
			t.Errorf("SOA (-want +got):\n%s", diff)
		}
		if c := conditions.Find(z.Status.Conditions, zonev1alpha1.ConditionComplete); c.Reason != zonev1alpha1.ReasonNoNameServer || c.Status != metav1.ConditionFalse {
			t.Errorf("complete: %+v", c)
		}
		part := w.parts(z)[0]
		if !metav1.IsControlledBy(&part, z) || !*part.OwnerReferences[0].BlockOwnerDeletion || part.Zone != "example" {
			t.Errorf("slice: %+v", part)
		}
		w.quiet()
		if w.now.reads.Load() != 0 {
			t.Errorf("%d live reads where the cache knew everything", w.now.reads.Load())
		}
	})
}

// TestSOAChanges: the fields of the SOA are content.
func TestSOAChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		before := read(w, z).Status.Serial
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Spec.Contact = "hostmaster@example.net" })
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		if z.Status.Serial != before+1 || !strings.Contains(z.Status.Entries[0].RData, "hostmaster.example.net.") {
			t.Errorf("serial %d after %d, %s", z.Status.Serial, before, z.Status.Entries[0].RData)
		}
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		if z.Status.Serial != before+1 {
			t.Errorf("a delegation alone made serial %d", z.Status.Serial)
		}
	})
}

// TestReasons reaches every reason of both kinds, and what follows when it goes.
func TestReasons(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := address("team", "www", "192.0.2.1")
		w.create(rec)
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		z := builder.Zone("dns", "example").Obj()
		w.create(z)
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
		edit(w, z, func(z *zonev1alpha1.Zone) { z.Spec = anyZone().Spec })
		w.expectReady(rec, metav1.ConditionTrue, zonev1alpha1.ReasonAdopted, "example.dns")

		alias := builder.Record("team", "alias").Type("CNAME").RData("other.example.org.").Obj()
		w.create(alias)
		w.expectReady(alias, metav1.ConditionFalse, zonev1alpha1.ReasonQuarantined, "example.dns")
		other := address("other-team", "www", "192.0.2.9")
		w.create(other)
		w.expectReady(other, metav1.ConditionFalse, zonev1alpha1.ReasonNameConflict, "example.dns")
		bad := builder.Record("team", "bad").RData("1.2.3").Obj()
		w.create(bad)
		w.expectReady(bad, metav1.ConditionFalse, zonev1alpha1.ReasonInvalidConfiguration, "")
		complete := conditions.Find(read(w, z).Status.Conditions, zonev1alpha1.ConditionComplete)
		if complete.Reason != zonev1alpha1.ReasonRecordsLeftOut || !strings.HasPrefix(complete.Message, "2 Records are left out") {
			t.Errorf("complete: %+v", complete)
		}
		w.remove(rec)
		w.pass(time.Minute)
		w.remove(alias)
		w.pass(time.Minute)
		w.expectReady(other, metav1.ConditionTrue, zonev1alpha1.ReasonAdopted, "example.dns")
		ns := builder.Record("dns", "ns").Domain("example.org.").Type("NS").RData("ns.example.net.").Obj()
		w.create(ns)
		w.pass(time.Minute)
		complete = conditions.Find(read(w, z).Status.Conditions, zonev1alpha1.ConditionComplete)
		if complete.Reason != zonev1alpha1.ReasonAllPublished || complete.Status != metav1.ConditionTrue {
			t.Errorf("complete: %+v", complete)
		}

		edit(w, z, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })
		w.expectReady(other, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
		w.pass(time.Minute)
		if got := w.entries(z); len(got) != 1 {
			t.Errorf("entries without delegations: %q", got)
		}
		w.quiet()
	})
}

func TestZoneReasons(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		second := builder.Zone("other", "second").Obj()
		w.create(second)
		w.expectReady(second, metav1.ConditionFalse, zonev1alpha1.ReasonNameConflict, "")
		sub := builder.Zone("team", "sub").Domain("dev").ZoneRef("parent", "dns").Obj()
		w.create(sub)
		w.expectReady(sub, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		parent := builder.Zone("dns", "parent").Domain("example.net.").Obj()
		w.create(parent)
		w.expectReady(sub, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
		edit(w, parent, func(z *zonev1alpha1.Zone) { z.Spec = *anyZone().Spec.DeepCopy(); z.Spec.DomainName = "example.net." })
		w.expectReady(sub, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "parent.dns")
		bad := builder.Zone("team", "bad").Domain("not a name.").Obj()
		w.create(bad)
		w.expectReady(bad, metav1.ConditionFalse, zonev1alpha1.ReasonInvalidConfiguration, "")
		long := builder.Zone("team", strings.Repeat("x", 240)).Domain("example.com.").Obj()
		w.create(long)
		w.expectReady(long, metav1.ConditionFalse, zonev1alpha1.ReasonInvalidConfiguration, "")
		w.remove(z)
		w.pass(time.Second)
		w.expectReady(second, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		w.quiet()
	})
}

// TestWithdraw: a zone that loses its delegation keeps its serial, and nothing else; when it comes back, the serial goes on.
func TestWithdraw(t *testing.T) {
	inWorld(t, func(w *world) {
		parent := anyZone()
		sub := builder.Zone("team", "sub").Domain("dev").ZoneRef("example", "dns").DelegateAll().Obj()
		server := builder.Record("team", "ns").Domain("@").ZoneRef("sub", "team").Type("NS").RData("ns1.dev.example.org.").Obj()
		glue := builder.Record("team", "glue").Domain("ns1").ZoneRef("sub", "team").RData("192.0.2.53").Obj()
		w.create(parent, sub, server, glue)
		w.pass(time.Minute)
		w.expectReady(sub, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "example.dns")
		want := []string{"dev.example.org 360 NS ns1.dev.example.org.", "example.org 360 NS ns.example.org.", "ns1.dev.example.org 360 A 192.0.2.53"}
		if diff := cmp.Diff(want, w.entries(parent)); diff != "" {
			t.Errorf("entries of the parent (-want +got):\n%s", diff)
		}
		serial := sub.Status.Serial
		edit(w, parent, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })
		w.pass(time.Minute)
		w.expectReady(sub, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "")
		got := sub.Status
		if got.Serial != serial || got.Hash != "" || got.Slices != nil || got.Entries != nil || got.EntryCount != 0 || len(got.Conditions) != 1 || len(w.parts(sub)) != 0 {
			t.Errorf("withdrawn: %+v, %d slices", got, len(w.parts(sub)))
		}
		if got := w.entries(parent); len(got) != 1 {
			t.Errorf("the parent still has %q", got)
		}
		edit(w, parent, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = anyZone().Spec.Delegations })
		w.pass(time.Minute)
		w.expectReady(sub, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "example.dns")
		if sub.Status.Serial <= serial || len(w.entries(sub)) != 2 {
			t.Errorf("serial %d after %d, %q", sub.Status.Serial, serial, w.entries(sub))
		}
		w.quiet()
	})
}

// TestForgedLabels: what users write is not believed, and set right.
func TestForgedLabels(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		rec := address("team", "www", "192.0.2.1")
		lost := builder.Record("team", "lost").Domain("www.example.com.").Label(zonev1alpha1.ParentZoneLabel, "example.dns").Label("app", "web").Obj()
		w.create(rec, lost)
		w.expectReady(lost, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		if read(w, lost).Labels["app"] != "web" {
			t.Error("another label went, too")
		}
		for _, forged := range []string{"forged.default", ""} {
			for _, obj := range []client.Object{rec, z, lost} {
				must(t, w.api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
				obj.SetLabels(map[string]string{zonev1alpha1.ParentZoneLabel: forged})
				must(t, w.api.Update(t.Context(), obj))
				w.settle()
			}
		}
		w.expectReady(lost, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		w.expectReady(rec, metav1.ConditionTrue, zonev1alpha1.ReasonAdopted, "example.dns")
		w.expectReady(z, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		w.quiet()
	})
}

// TestBurst: the first change goes out at once, and a thousand in a row are folded into a few.
func TestBurst(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		rec := address("team", "www", "192.0.2.1")
		w.create(rec)
		if n := w.serials(z); n != 2 {
			t.Errorf("%d serials: the first change was not published at once", n)
		}
		w.pass(time.Minute)
		before := w.serials(z)
		for i := range 1000 {
			edit(w, rec, func(rec *zonev1alpha1.Record) { rec.Spec.RData = fmt.Sprintf("192.0.2.%d", 1+(i+1)%250) })
			w.pass(10 * time.Millisecond)
		}
		w.pass(3 * time.Second)
		if n := w.serials(z) - before; n < 8 || n > 20 {
			t.Errorf("%d serials for 1,000 edits in ten seconds; want 8 to 20", n)
		}
		if got := w.entries(z); got[1] != "www.example.org 360 A 192.0.2.1" {
			t.Errorf("the last edit is missing: %q", got)
		}
		w.quiet()
		w.remove(z)
		if len(w.now.zones.pace.zones) != 0 || w.now.zones.written.Len() != 0 || len(w.now.zones.shelf.zones) != 0 || w.now.records.written.Len() != 0 {
			t.Errorf("remembered of what is gone: %v, %+v", w.now.zones.pace.zones, w.now.zones)
		}
	})
}

// TestRecreated: a Zone of the same name is another one, with slices of its own.
func TestRecreated(t *testing.T) {
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		parts := w.parts(z)
		w.pass(16 * time.Minute)
		old := read(w, z).Status.Serial
		w.remove(z) // nobody collects garbage here
		again := anyZone()
		w.create(again)
		w.pass(time.Second)
		w.expectReady(again, metav1.ConditionTrue, zonev1alpha1.ReasonPublished, "")
		if got := w.parts(again); len(got) != 1 || !metav1.IsControlledBy(&got[0], again) || got[0].UID == parts[0].UID {
			t.Errorf("slices: %+v", got)
		}
		if again.Status.Serial <= old {
			t.Errorf("serial %d after %d", again.Status.Serial, old)
		}
		w.quiet()
	})
}

// TestLeaving: nothing is written to a Zone that is being deleted, whoever holds it back.
func TestLeaving(t *testing.T) {
	inWorld(t, func(w *world) {
		z := builder.Zone("dns", "example").DelegateAll().Finalizers("theirs.example.com/f").Obj()
		w.create(z)
		w.remove(z)
		before := w.now.writes.Load()
		for _, part := range w.parts(z) {
			w.spoilt = true
			must(t, w.api.Delete(t.Context(), &part))
		}
		w.create(address("team", "www", "192.0.2.1"))
		w.pass(time.Minute)
		if n := w.now.writes.Load() - before; n != 1 { // the status of the record
			t.Errorf("%d writes", n)
		}
		if len(w.parts(z)) != 0 {
			t.Error("slices of a Zone that is going were restored")
		}
	})
}

func TestNameTooLongForALabel(t *testing.T) {
	name := strings.Repeat("x", 100)
	if got := zoneLabel(name); len(got) > 63 || got == zoneLabel(name+"y") {
		t.Errorf("label %q", got)
	}
	if got := labelOf(zone.Key{Namespace: "default", Name: name}); got != "" {
		t.Errorf("parent label %q", got)
	}
}

// TestOneChangeOfMany: what one change of a large zone costs does not grow with the zone, and a burst of slices is created at once.
func TestOneChangeOfMany(t *testing.T) {
	inWorld(t, func(w *world) {
		w.t.Helper()
		many := func(i int, data string) zone.RecordObject {
			rec := builder.Record("team", fmt.Sprintf("r%d", i)).Domain(fmt.Sprintf("r%d.example.org.", i)).RData(data).Obj()
			rec.UID = types.UID(rec.Name)
			return zone.RecordOf(rec)
		}
		for i := range 2000 {
			w.now.model.SetRecord(many(i, "192.0.2.1"))
		}
		z := anyZone()
		w.create(z)
		w.pass(time.Minute)
		if n := len(w.parts(z)); n < 16 || n != len(read(w, z).Status.Slices) || z.Status.EntryCount != 2002 || !z.Status.EntriesTruncated {
			t.Fatalf("%d slices, status of %d entries, truncated %v", n, z.Status.EntryCount, z.Status.EntriesTruncated)
		}
		requests := map[string]int{}
		w.touched = func(what string, before bool) {
			if before {
				requests[what]++
			}
		}
		w.now.patches = nil
		w.now.model.SetRecord(many(1000, "192.0.2.2"))
		w.pass(time.Minute)
		if want := map[string]int{"create": 1, "delete": 1, "patch status": 1}; !cmp.Equal(want, requests) {
			t.Errorf("requests: %v", requests)
		}
		if got := w.now.patches; len(got) != 1 || len(got[0]) > 1000 {
			t.Errorf("patches: %q", got)
		}
		w.quiet()
	})
}
