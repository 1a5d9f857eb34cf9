package zone

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// shelved is a shelf with the one Zone of a test, which lists the digest "a".
type shelved struct {
	shelf
	z *zonev1alpha1.Zone
}

func newShelved() *shelved {
	z := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "example", UID: "zone"}}
	z.Status.Slices = []string{digestA}
	return &shelved{z: z}
}

// Two digests, and what their slices are called.
const (
	digestA, nameA = "aaaaaaaaaaaaaaaaaaaa0000", "example-aaaaaaaaaaaaaaaaaaaa"
	digestB, nameB = "bbbbbbbbbbbbbbbbbbbb0000", "example-bbbbbbbbbbbbbbbbbbbb"
)

// slice is one of this Zone as the API server has it.
func (s *shelved) slice(name string, uid types.UID, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "dns", Name: name, UID: uid, ResourceVersion: version, Generation: 1, Labels: map[string]string{zonev1alpha1.ZoneLabel: "example"},
		OwnerReferences: []metav1.OwnerReference{{Kind: zone.KindZone, Name: "example", UID: "zone", Controller: ptr.To(true)}},
	}}
}

// The steps that events and writes take.
func (s *shelved) event(name string, uid types.UID, version string) {
	s.seen(keyOf(s.z), s.slice(name, uid, version))
}
func (s *shelved) end(name string, uid types.UID) bool {
	return s.ended(keyOf(s.z), s.slice(name, uid, "99"))
}
func (s *shelved) create(name string) { s.creating(keyOf(s.z), name) }
func (s *shelved) answer(name string, uid types.UID, version string) {
	s.created(keyOf(s.z), s.slice(name, uid, version))
}
func (s *shelved) remove(uid types.UID) {
	s.deleting(keyOf(s.z), uid)
}

func TestShelf(t *testing.T) {
	b := map[string]types.UID{nameB: "2"}
	for name, test := range map[string]struct {
		steps    func(*testing.T, *shelved)
		lacks    bool // a
		unlisted map[string]types.UID
	}{
		"nothing there":               {steps: func(*testing.T, *shelved) {}, lacks: true},
		"shown":                       {steps: func(_ *testing.T, s *shelved) { s.event(nameA, "1", "5") }},
		"two, of which one is listed": {steps: func(_ *testing.T, s *shelved) { s.event(nameA, "1", "5"); s.event(nameB, "2", "6") }, unlisted: b},
		"changed by somebody": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			touched := s.slice(nameA, "1", "6")
			touched.Generation = 2
			s.event(nameA, "1", "5")
			s.seen(keyOf(s.z), touched)
		}},
		"without its label": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			touched := s.slice(nameA, "1", "6")
			touched.Labels = nil
			s.seen(keyOf(s.z), touched)
		}},
		"taken away by somebody": {lacks: true, steps: func(t *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			if s.end(nameA, "1") {
				t.Error("taken for an own deletion")
			}
		}},
		"created, not shown yet":      {steps: func(_ *testing.T, s *shelved) { s.create(nameA); s.answer(nameA, "1", "5") }},
		"created, no answer yet":      {lacks: true, steps: func(_ *testing.T, s *shelved) { s.create(nameB); s.create(nameA) }},
		"created, in vain":            {lacks: true, steps: func(_ *testing.T, s *shelved) { s.create(nameA); s.notCreated(keyOf(s.z), nameA) }},
		"created, the event is first": {steps: func(_ *testing.T, s *shelved) { s.create(nameA); s.event(nameA, "1", "5"); s.answer(nameA, "1", "5") }},
		"created, the event is first, and time goes by": {steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.event(nameA, "1", "5")
			s.answer(nameA, "1", "5")
			<-time.After(common.StaleLimit)
		}},
		"created, shown, the answer is lost": {steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.event(nameA, "1", "5")
			s.notCreated(keyOf(s.z), nameA)
		}},
		"created, and gone before the answer": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.event(nameA, "1", "5")
			s.end(nameA, "1")
			s.answer(nameA, "1", "5")
		}},
		"created, and never shown": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.answer(nameA, "1", "5")
			<-time.After(common.StaleLimit)
		}},
		"created, and shown late": {steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.answer(nameA, "1", "5")
			s.event(nameA, "1", "5")
			<-time.After(common.StaleLimit)
		}},
		"created in the place of one that is shown still": {steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.answer(nameA, "2", "7")
			s.event(nameA, "1", "5")
			s.end(nameA, "1")
		}},
		"shown after another one": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			s.create(nameA)
			s.answer(nameA, "1", "5")
			s.event(nameA, "2", "7")
			s.end(nameA, "2")
		}},
		"shown just before it is created": {steps: func(t *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			if !s.creating(keyOf(s.z), nameA) {
				t.Error("to be created although it is there")
			}
		}},
		"created in the place of a changed one": {steps: func(t *testing.T, s *shelved) {
			touched := s.slice(nameA, "1", "6")
			touched.Generation = 2
			s.seen(keyOf(s.z), touched)
			if s.creating(keyOf(s.z), nameA) {
				t.Error("not to be created although it is changed")
			}
			s.end(nameA, "1")
			s.answer(nameA, "2", "8")
		}},
		"not created in the place of a changed one": {lacks: true, unlisted: b, steps: func(_ *testing.T, s *shelved) {
			touched := s.slice(nameB, "2", "6")
			touched.Generation = 2
			s.seen(keyOf(s.z), touched)
			s.create(nameB)
			s.notCreated(keyOf(s.z), nameB)
		}},
		"deleted, shown still": {lacks: true, unlisted: b, steps: func(_ *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			s.event(nameB, "2", "6")
			s.remove("1")
			s.event(nameA, "1", "5")
		}},
		"being deleted": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			s.event(nameB, "2", "6")
			s.deleting(keyOf(s.z), "1")
			s.deleting(keyOf(s.z), "2")
		}},
		"deleted, in vain": {unlisted: b, steps: func(_ *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			s.event(nameB, "2", "6")
			s.deleting(keyOf(s.z), "2")
			s.notDeleted(keyOf(s.z), "2")
		}},
		"deleted, and created once more": {steps: func(t *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			s.remove("1")
			s.create(nameA)
			s.answer(nameA, "2", "7")
			if !s.end(nameA, "1") {
				t.Error("not taken for an own deletion")
			}
		}},
		"deleted, and held back by somebody's finalizer": {unlisted: b, steps: func(_ *testing.T, s *shelved) {
			s.event(nameA, "1", "5")
			s.event(nameB, "2", "6")
			s.remove("2")
			<-time.After(common.StaleLimit)
			s.event(nameB, "2", "8")
		}},
		"of another Zone of the name": {lacks: true, steps: func(_ *testing.T, s *shelved) {
			other := ownerKey{"dns", "earlier"}
			s.seen(other, s.slice(nameA, "1", "5"))
			s.seen(ownerKey{"elsewhere", "zone"}, s.slice(nameA, "1", "5"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelved()
				test.steps(t, s)
				if _, lacks := s.shelf.lacks(s.z, []string{digestA})[digestA]; lacks != test.lacks {
					t.Errorf("the slice is missing: %v; want %v", lacks, test.lacks)
				}
				if test.unlisted == nil {
					test.unlisted = map[string]types.UID{}
				}
				if diff := cmp.Diff(test.unlisted, s.shelf.unlisted(s.z)); diff != "" {
					t.Errorf("unlisted (-want +got):\n%s", diff)
				}
				s.forget(keyOf(s.z))
				s.forget(ownerKey{"dns", "earlier"})
				s.forget(ownerKey{"elsewhere", "zone"})
				if len(s.zones) != 0 {
					t.Errorf("remembered of what is gone: %v", s.zones)
				}
			})
		})
	}
}

// TestShelfForgets what no event has told of for too long.
func TestShelfForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelved()
		s.event(nameA, "1", "5")
		for i := range 10 {
			s.deleting(keyOf(s.z), types.UID(time.Now().String()))
			s.create(nameB)
			s.answer(nameB, types.UID(fmt.Sprint("made ", i)), fmt.Sprint(10+i))
			if n := len(s.unlisted(s.z)); n != 1 {
				t.Errorf("%d slices that are not listed", n)
			}
			<-time.After(common.StaleLimit)
		}
		if n := len(s.unlisted(s.z)); n != 0 {
			t.Errorf("%d slices that are not listed, of which nothing is known", n)
		}
		if b := s.zones[keyOf(s.z)]; len(b.gone) != 0 || len(b.held) != 1 {
			t.Errorf("remembered of what is gone: %v", b)
		}
		s.deleting(keyOf(s.z), "1")
		s.end(nameA, "1")
		s.deleting(keyOf(s.z), "x")
		s.end(nameB, "x")
		if len(s.zones) != 0 {
			t.Errorf("remembered of what is gone: %v", s.zones)
		}
	})
}

// TestShelfDoubts what it knows by an answer alone.
func TestShelfDoubts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelved()
		expect := func(when string, want time.Duration) {
			t.Helper()
			if got := s.doubted(keyOf(s.z)); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		expect("nothing there", 0)
		s.create(nameA)
		expect("being created", 0)
		s.answer(nameA, "1", "5")
		<-time.After(time.Second)
		s.create(nameB)
		s.answer(nameB, "2", "6")
		expect("two created", common.StaleLimit-time.Second)
		s.event(nameA, "1", "5")
		expect("one shown", common.StaleLimit)
		s.remove("2")
		expect("the other deleted", 0)
		s.create(nameB)
		s.answer(nameB, "3", "7")
		<-time.After(common.StaleLimit)
		expect("too late", 0)
	})
}
