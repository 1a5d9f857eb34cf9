package cached_test

import (
	"testing"

	toolscache "k8s.io/client-go/tools/cache"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

func TestFeedZones(t *testing.T) {
	fakes := &informers{byType: map[string]*informer{}}
	model := zone.NewModel()
	synced, err := cached.FeedZones(t.Context(), fakes, model)
	if err != nil {
		t.Fatal(err)
	}
	zones, records := fakes.byType["*v1alpha1.Zone"], fakes.byType["*v1alpha1.Record"]

	z, rec := builder.Zone("dns", "example").DelegateAll().Obj(), builder.Record("team", "www").Obj()
	z.UID, rec.UID = "zone-1", "record-1"
	expect := func(step, reason string) {
		t.Helper()
		verdict, _ := model.Record(zone.Key{Namespace: "team", Name: "www"})
		if verdict.Reason != reason {
			t.Errorf("%s: %q; want %q", step, verdict.Reason, reason)
		}
	}
	records.handler.OnAdd(rec, true)
	expect("a record without its zone", zonev1alpha1.ReasonZoneNotFound)
	zones.handler.OnAdd(z, true)
	expect("with its zone", zonev1alpha1.ReasonAdopted)
	closed := builder.Zone("dns", "example").Obj()
	closed.UID = z.UID
	zones.handler.OnUpdate(z, closed)
	expect("without its delegation", zonev1alpha1.ReasonNotDelegated)
	zones.handler.OnUpdate(closed, z)

	again := z.DeepCopy()
	again.UID = "zone-2"
	zones.handler.OnUpdate(z, again) // deleted and created anew while nobody watched
	expect("a zone of the same name", zonev1alpha1.ReasonAdopted)
	zones.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "dns/example", Obj: z})
	expect("the deletion of the one before", zonev1alpha1.ReasonAdopted)
	zones.handler.OnDelete(again)
	expect("its own deletion", zonev1alpha1.ReasonZoneNotFound)

	other := rec.DeepCopy()
	other.UID = "record-2"
	records.handler.OnUpdate(rec, other)
	records.handler.OnDelete(rec)
	expect("the deletion of an earlier record", zonev1alpha1.ReasonZoneNotFound)
	records.handler.OnDelete(other)
	expect("a record that is gone", "")

	for _, tt := range []struct{ zones, records, want bool }{{false, false, false}, {true, false, false}, {false, true, false}, {true, true, true}} {
		zones.synced, records.synced = tt.zones, tt.records
		if got := synced(); got != tt.want {
			t.Errorf("zones %v, records %v: synced is %v", tt.zones, tt.records, got)
		}
	}
}

// TestFeedZonesGoneFirst: what takes the place of a deleted object does not inherit from it.
func TestFeedZonesGoneFirst(t *testing.T) {
	fakes := &informers{byType: map[string]*informer{}}
	model := zone.NewModel()
	if _, err := cached.FeedZones(t.Context(), fakes, model); err != nil {
		t.Fatal(err)
	}
	old, now := builder.Zone("dns", "example").Obj(), builder.Zone("dns", "example").Obj()
	old.UID, old.ResourceVersion = "zone-1", "9"
	now.UID, now.ResourceVersion, now.Spec.DomainName = "zone-2", "5", "example.com." // of an API server that was restored
	zones := fakes.byType["*v1alpha1.Zone"]
	zones.handler.OnAdd(old, true)
	zones.handler.OnUpdate(old, now)
	if verdict, _ := model.Zone(zone.Key{Namespace: "dns", Name: "example"}); verdict.FQDN.FQDN() != "example.com." {
		t.Errorf("%+v", verdict)
	}
}

func TestFeedZonesWithoutInformers(t *testing.T) {
	fakes := &informers{byType: map[string]*informer{}, err: errDown}
	if _, err := cached.FeedZones(t.Context(), fakes, zone.NewModel()); err == nil {
		t.Error("no error where there is no informer")
	}
}
