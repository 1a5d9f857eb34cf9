package cached_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

// zones is a cache, or an API server, that holds Zones and Records.
type zones struct {
	client.Reader
	held  map[zone.Rest]client.Object
	err   error
	asked int
	// meanwhile happens while it is asked, once.
	meanwhile func()
}

func holdingZones(objects ...client.Object) *zones {
	z := &zones{held: map[zone.Rest]client.Object{}}
	for _, obj := range objects {
		z.held[restOf(obj)] = obj
	}
	return z
}

func restOf(obj client.Object) zone.Rest {
	kind := zone.KindRecord
	if _, is := obj.(*zonev1alpha1.Zone); is {
		kind = zone.KindZone
	}
	return zone.Rest{Kind: kind, Key: client.ObjectKeyFromObject(obj)}
}

func (z *zones) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	z.asked++
	if f := z.meanwhile; f != nil {
		z.meanwhile = nil
		defer f()
	}
	if z.err != nil {
		return z.err
	}
	into.SetNamespace(key.Namespace)
	into.SetName(key.Name)
	switch held := z.held[restOf(into)].(type) {
	case *zonev1alpha1.Zone:
		held.DeepCopyInto(into.(*zonev1alpha1.Zone))
	case *zonev1alpha1.Record:
		held.DeepCopyInto(into.(*zonev1alpha1.Record))
	default:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

// stored is an object as it is read at a resourceVersion, created in that order.
func stored[T client.Object](obj T, uid string, version int) T {
	obj.SetUID(types.UID(uid))
	obj.SetResourceVersion(strconv.Itoa(version))
	obj.SetCreationTimestamp(metav1.Unix(int64(version), 0))
	return obj
}

func modelOf(objects ...client.Object) *zone.Model {
	m := zone.NewModel()
	for _, obj := range objects {
		switch obj := obj.(type) {
		case *zonev1alpha1.Zone:
			m.SetZone(zone.ZoneOf(obj))
		case *zonev1alpha1.Record:
			m.SetRecord(zone.RecordOf(obj))
		}
	}
	return m
}

// found names the rules of problems.
func found(problems []zone.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Rule.ID)
	}
	return out
}

// A refusal never rests on a cache that lags, and what refuses nothing makes no API call.
func TestRecordIsConfirmed(t *testing.T) {
	open := stored(builder.Zone("dns", "example").DelegateAll().Obj(), "zone", 1)
	closed := stored(builder.Zone("dns", "example").Obj(), "zone", 1)
	opened := stored(builder.Zone("dns", "example").DelegateAll().Obj(), "zone", 9)
	rival := stored(builder.Record("tenant", "www").Obj(), "rival", 2)
	moved := stored(builder.Record("tenant", "www").Domain("other.example.org.").Obj(), "moved", 9)
	again := stored(builder.Record("tenant", "www").Obj(), "again", 9)
	mine := func() *builder.RecordBuilder { return builder.Record("default", "new") }
	tests := []struct {
		name      string
		known     []client.Object // by the cache and the picture
		live      *zones
		record    *zonev1alpha1.Record
		want      []string
		askedLive int
		fails     bool
	}{
		{"free: no API call", []client.Object{open}, &zones{err: errDown}, mine().Obj(), nil, 0, false},
		{"a warning: no API call", nil, &zones{err: errDown}, mine().Obj(), []string{"zone-absent"}, 0, false},
		{"a warning about a zone that is named: no API call", nil, &zones{err: errDown}, mine().Domain("www").ZoneRef("x", "").Obj(), []string{"zone-absent"}, 0, false},
		{"taken", []client.Object{open, rival}, holdingZones(open, rival), mine().Obj(), []string{"rrset-taken"}, 2, false},
		{"taken by one that is gone", []client.Object{open, rival}, holdingZones(open), mine().Obj(), nil, 2, false},
		{"taken in a zone that is gone", []client.Object{open, rival}, holdingZones(rival), mine().Obj(), []string{"zone-absent"}, 2, false},
		{"taken by one of another name by now", []client.Object{open, rival}, holdingZones(open, moved), mine().Obj(), nil, 2, false},
		{"taken by one that is gone and came again", []client.Object{open, rival}, holdingZones(open, again), mine().Obj(), []string{"rrset-taken"}, 2, false},
		{"not delegated", []client.Object{closed}, holdingZones(closed), mine().Obj(), []string{"record-not-delegated"}, 1, false},
		{"delegated by now", []client.Object{closed}, holdingZones(opened), mine().Obj(), nil, 1, false},
		{"not delegated by a zone that is gone", []client.Object{closed}, holdingZones(), mine().Obj(), []string{"zone-absent"}, 1, false},
		{"delegated by now, and taken", []client.Object{closed, rival}, holdingZones(opened, rival), mine().Obj(), []string{"rrset-taken"}, 2, false},
		{"delegated by now, and free by now", []client.Object{closed, rival}, holdingZones(opened), mine().Obj(), nil, 2, false},
		{"the API server fails", []client.Object{open, rival}, &zones{err: errDown}, mine().Obj(), nil, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := &cached.Source{Cache: holdingZones(tt.known...), Live: tt.live, Zones: modelOf(tt.known...)}
			_, problems, err := source.Record(t.Context(), tt.record)
			if diff := cmp.Diff(tt.want, found(problems)); diff != "" || errors.Is(err, errDown) != tt.fails || tt.live.asked != tt.askedLive {
				t.Errorf("%v after %d live reads; want %d (-want +got)\n%s", err, tt.live.asked, tt.askedLive, diff)
			}
		})
	}
}

// What refuses is what the installation says.
func TestPolicySaysWhatIsConfirmed(t *testing.T) {
	open := stored(builder.Zone("dns", "example").DelegateAll().Obj(), "zone", 1)
	rival := stored(builder.Record("tenant", "www").Obj(), "rival", 2)
	record := builder.Record("default", "new").Domain("www").ZoneRef("example", "dns").Obj()
	tests := []struct {
		name, policy string
		known        []client.Object
		live         *zones
		want         []string
		askedLive    int
	}{
		{"a warning that refuses here, of a zone that lags", "zone-absent=Deny", nil, holdingZones(open), nil, 1},
		{"a warning that refuses here", "zone-absent=Deny", nil, holdingZones(), []string{"zone-absent"}, 1},
		{"a rule that only warns here", "rrset-taken=Warn", []client.Object{open, rival}, holdingZones(open), []string{"rrset-taken"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy, err := rules.ParsePolicy(tt.policy)
			if err != nil {
				t.Fatal(err)
			}
			source := &cached.Source{Cache: holdingZones(tt.known...), Live: tt.live, Zones: modelOf(tt.known...), Policy: policy}
			_, problems, err := source.Record(t.Context(), record)
			if diff := cmp.Diff(tt.want, found(problems)); diff != "" || err != nil || tt.live.asked != tt.askedLive {
				t.Errorf("%v after %d live reads; want %d (-want +got)\n%s", err, tt.live.asked, tt.askedLive, diff)
			}
		})
	}
}

func TestZoneIsConfirmed(t *testing.T) {
	rival := stored(builder.Zone("tenant", "example").Obj(), "rival", 2)
	above := stored(builder.Zone("dns", "org").Domain("org.").Obj(), "above", 1)
	delegating := stored(builder.Zone("dns", "org").Domain("org.").DelegateZones(nil, "*").Obj(), "above", 9)
	tests := []struct {
		name      string
		known     []client.Object
		live      *zones
		want      []string
		askedLive int
		fails     bool
	}{
		{"free: no API call", nil, &zones{err: errDown}, []string{"apex-ns-absent"}, 0, false},
		{"taken", []client.Object{rival}, holdingZones(rival), []string{"zone-taken"}, 1, false},
		{"taken by one that is gone", []client.Object{rival}, holdingZones(), []string{"apex-ns-absent"}, 1, false},
		{"not delegated", []client.Object{above}, holdingZones(above), []string{"zone-not-delegated"}, 1, false},
		{"delegated by now", []client.Object{above}, holdingZones(delegating), []string{"apex-ns-absent"}, 1, false},
		{"the API server fails", []client.Object{rival}, &zones{err: errDown}, nil, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := &cached.Source{Cache: holdingZones(tt.known...), Live: tt.live, Zones: modelOf(tt.known...)}
			_, problems, err := source.Zone(t.Context(), builder.Zone("dns", "new").DelegateAll().Obj())
			if diff := cmp.Diff(tt.want, found(problems)); diff != "" || errors.Is(err, errDown) != tt.fails || tt.live.asked != tt.askedLive {
				t.Errorf("%v after %d live reads; want %d (-want +got)\n%s", err, tt.live.asked, tt.askedLive, diff)
			}
		})
	}
}

// What the picture lost because it was gone is not what came in its place while the API server was asked.
func TestWhatCameMeanwhileStays(t *testing.T) {
	open := stored(builder.Zone("dns", "example").DelegateAll().Obj(), "zone", 1)
	gone := stored(builder.Record("tenant", "www").Obj(), "gone", 2)
	next := stored(builder.Record("tenant", "www").Obj(), "next", 9)
	model := modelOf(open, gone)
	live := holdingZones(open)
	live.meanwhile = func() { model.SetRecord(zone.RecordOf(next)) }
	source := &cached.Source{Cache: holdingZones(open, gone), Live: live, Zones: model}
	if _, _, err := source.Record(t.Context(), builder.Record("default", "new").Obj()); err != nil {
		t.Fatal(err)
	}
	if _, known := model.Record(client.ObjectKeyFromObject(next)); !known {
		t.Error("the new object is gone from the picture")
	}
}

// However many objects a refusal rests on one after the other, each is read once, and not more than some.
func TestReadsAreBounded(t *testing.T) {
	for _, tt := range []struct{ lagging, reads, refused int }{{10, 11, 0}, {100, 16, 1}} {
		known := []client.Object{stored(builder.Zone("dns", "example").DelegateAll().Obj(), "zone", 1)}
		for i := range tt.lagging {
			known = append(known, stored(builder.Record("tenant-"+strconv.Itoa(i), "www").Obj(), fmt.Sprintf("uid-%d", i), i+2))
		}
		live := holdingZones(known[0])
		source := &cached.Source{Cache: holdingZones(known...), Live: live, Zones: modelOf(known...)}
		_, problems, err := source.Record(t.Context(), builder.Record("default", "new").Obj())
		if err != nil || len(problems) != tt.refused || live.asked != tt.reads {
			t.Errorf("%d that are gone: %v, %v after %d live reads; want %d problems and %d reads", tt.lagging, found(problems), err, live.asked, tt.refused, tt.reads)
		}
	}
}

func TestWithoutPicture(t *testing.T) {
	source := &cached.Source{}
	if _, problems, err := source.Zone(t.Context(), builder.Zone("a", "b").Obj()); len(problems) > 0 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
	if _, problems, err := source.Record(t.Context(), builder.Record("a", "b").Obj()); len(problems) > 0 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
}
