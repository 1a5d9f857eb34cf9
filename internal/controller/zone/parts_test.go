package zone

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// TestSetupWithManager adds the controllers to a manager that never starts: that they run is seen on a real API server.
func TestSetupWithManager(t *testing.T) {
	scheme := kruntime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme), zonev1alpha1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller:     config.Controller{SkipNameValidation: ptr.To(true)}, // the names are unique in a process, and tests can run twice in one
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }})
	must(t, err)
	o := settings
	o.Logger, o.Model, o.Fed = slog.New(slog.DiscardHandler), zone.NewModel(), func() bool { return true }
	must(t, SetupWithManager(mgr, o))
	if got := options(Options{}).MaxConcurrentReconciles; got != defaultConcurrency {
		t.Errorf("%d at once", got)
	}
	if got := options(Options{MaxConcurrentReconciles: 3}).MaxConcurrentReconciles; got != 3 {
		t.Errorf("%d at once", got)
	}
}

func TestPace(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newPace(2, 10*time.Second)
	expect := func(step string, want time.Duration) {
		t.Helper()
		if got := p.wait("a", now).Round(time.Millisecond); got != want {
			t.Errorf("%s: wait %v; want %v", step, got, want)
		}
	}
	expect("first", 0)
	expect("not published yet: it is paid for", 0)
	p.published("a")
	expect("second", 0)
	p.published("a")
	expect("third", 10*time.Second)
	expect("asking costs nothing", 10*time.Second)
	if got := p.waits("a", now).Round(time.Millisecond); got != 10*time.Second {
		t.Errorf("told to wait %v", got)
	}
	if got := p.waits("b", now); got != 0 {
		t.Errorf("another zone is told to wait %v", got)
	}
	now = now.Add(4 * time.Second)
	expect("later", 6*time.Second)
	if got := p.wait("b", now); got != 0 {
		t.Errorf("another zone waits %v", got)
	}
	now = now.Add(6 * time.Second)
	if got := p.waits("a", now); got > time.Microsecond {
		t.Errorf("told to wait %v in its turn", got)
	}
	expect("its turn", 0)
	p.published("a")
	expect("the one after", 10*time.Second)
	p.forget("a")
	p.published("a")
	expect("forgotten", 0)
}

// TestSliceEvents: a Zone is woken by what somebody else has done to its slices, and not by what this process has done.
func TestSliceEvents(t *testing.T) {
	s := newShelved()
	r := &Zones{}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	events := r.sliceEvents()
	expect := func(step string, woken int) {
		t.Helper()
		if queue.Len() != woken {
			t.Errorf("%s: %d woken; want %d", step, queue.Len(), woken)
		}
		for queue.Len() > 0 {
			key, _ := queue.Get()
			if key.NamespacedName.String() != "dns/example" {
				t.Errorf("%s: %s is woken", step, key)
			}
			queue.Done(key)
		}
	}
	one, two := s.slice(nameA, "1", "5"), s.slice(nameB, "2", "6")
	events.Create(t.Context(), event.CreateEvent{Object: one}, queue)
	events.Create(t.Context(), event.CreateEvent{Object: two}, queue)
	expect("created", 0)
	r.shelf.deleting(keyOf(s.z), "1")
	events.Delete(t.Context(), event.DeleteEvent{Object: one}, queue)
	expect("deleted by this process", 0)
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: two, ObjectNew: two}, queue)
	expect("changed", 1)
	events.Delete(t.Context(), event.DeleteEvent{Object: two}, queue)
	expect("deleted by somebody else", 1)
	two.OwnerReferences = nil
	events.Delete(t.Context(), event.DeleteEvent{Object: two}, queue)
	expect("of nobody", 0)
}

// TestInParallel: all items are handled, some at once, and after an error no more begin.
func TestInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]int, 100)
		var done, running, most atomic.Int64
		err := inParallel(items, func(int) error {
			most.Store(max(most.Load(), running.Add(1)))
			<-time.After(time.Second)
			running.Add(-1)
			done.Add(1)
			return nil
		})
		if err != nil || done.Load() != 100 || most.Load() != atOnce {
			t.Errorf("%v, %d done, %d at once", err, done.Load(), most.Load())
		}
		done.Store(0)
		failure := errors.New("away")
		err = inParallel(items, func(int) error { done.Add(1); return failure })
		if !errors.Is(err, failure) || done.Load() > 2*atOnce {
			t.Errorf("%v, %d done", err, done.Load())
		}
		if err := inParallel(nil, func(int) error { return failure }); err != nil {
			t.Error(err)
		}
	})
}

func TestMetrics(t *testing.T) {
	inWorld(t, func(w *world) {
		objects.serve(w.now.ctx, w.now.client)
		before := testutil.ToFloat64(publications.WithLabelValues("success"))
		z := anyZone()
		w.create(z, address("team", "www", "192.0.2.1"), address("other", "www", "192.0.2.2"))
		want := `# HELP namegate_zone_records Records by the reason of their Ready condition (empty: not looked at yet); all but Adopted are left out of every zone.
# TYPE namegate_zone_records gauge
namegate_zone_records{reason="Adopted"} 1
namegate_zone_records{reason="NameConflict"} 1
# HELP namegate_zones Zones by the reason of their Ready condition (empty: not looked at yet); Published are served.
# TYPE namegate_zones gauge
namegate_zones{reason="Published"} 1
`
		must(t, testutil.CollectAndCompare(objects, strings.NewReader(want)))
		if got := testutil.ToFloat64(publications.WithLabelValues("success")) - before; got != 2 {
			t.Errorf("%v publications", got)
		}
		w.now.cancel()
		w.settle()
		if n := testutil.CollectAndCount(objects); n != 0 {
			t.Errorf("%d metrics of a controller that has stopped", n)
		}
	})
	before := testutil.ToFloat64(publications.WithLabelValues("conflict"))
	countPublication(true, common.ErrStale)
	countPublication(true, errors.New("away"))
	countPublication(false, common.ErrStale)
	if got := testutil.ToFloat64(publications.WithLabelValues("conflict")) - before; got != 1 {
		t.Errorf("%v conflicts", got)
	}
}

// TestOwnEventsAreKnown: what this process has written does not wake the Zone, and what anybody else has written does.
func TestOwnEventsAreKnown(t *testing.T) {
	r, from := newZones(nil, nil, Options{}), func(uid, version string) *zonev1alpha1.Zone {
		return &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}}
	}
	wakes := func(z *zonev1alpha1.Zone) bool {
		return r.fromElsewhere().Update(event.UpdateEvent{ObjectOld: from("a", "1"), ObjectNew: z})
	}
	if !wakes(from("a", "2")) {
		t.Error("a version of somebody else does not wake")
	}
	r.wrote(&pass{obj: from("a", "2")}, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "3"}})
	if wakes(from("a", "3")) {
		t.Error("its own version wakes")
	}
	if !wakes(from("a", "4")) || !wakes(from("b", "3")) {
		t.Error("what somebody else has written does not wake")
	}
	r.Gone(from("a", "3"))
	if r.own.Len() != 0 {
		t.Error("a Zone that is gone is still remembered")
	}
}
