package dns

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
)

func TestChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*dnsv1alpha1.DNSRecord)
		want   bool
	}{
		"status":             {func(rec *dnsv1alpha1.DNSRecord) { rec.Status.State, rec.ResourceVersion = "Created", "2" }, false},
		"a label":            {func(rec *dnsv1alpha1.DNSRecord) { rec.Labels = map[string]string{"a": "b"} }, false},
		"another annotation": {func(rec *dnsv1alpha1.DNSRecord) { rec.Annotations = map[string]string{"a": "b"} }, false},
		"generation":         {func(rec *dnsv1alpha1.DNSRecord) { rec.Generation++ }, true},
		"deletion":           {func(rec *dnsv1alpha1.DNSRecord) { rec.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, true},
		"finalizers":         {func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil }, true},
		"release": {func(rec *dnsv1alpha1.DNSRecord) {
			rec.Annotations = map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"}
		}, true},
		"another object": {func(rec *dnsv1alpha1.DNSRecord) { rec.UID = "2" }, true},
	} {
		before := aRecord("web", "main", "192.0.2.1")
		before.UID, before.Generation, before.Finalizers = "1", 1, []string{"f"}
		now := before.DeepCopy()
		tt.change(now)
		if got := changed.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !changed.Create(event.CreateEvent{}) || changed.Delete(event.DeleteEvent{}) {
		t.Error("a new object has to be looked at, and one that is gone cannot be")
	}
}

func TestWakesRecords(t *testing.T) {
	healthy := func(c *dnsv1alpha1.DNSClass, status metav1.ConditionStatus) {
		conditions.Set(&c.Status.Conditions, dnsv1alpha1.ConditionReady, status, "R", "m", 1)
	}
	for name, tt := range map[string]struct {
		before, now func(*dnsv1alpha1.DNSClass)
		want        bool
	}{
		"spec":           {func(*dnsv1alpha1.DNSClass) {}, func(c *dnsv1alpha1.DNSClass) { c.Generation++ }, true},
		"first healthy":  {func(*dnsv1alpha1.DNSClass) {}, func(c *dnsv1alpha1.DNSClass) { healthy(c, "True") }, true},
		"turned healthy": {func(c *dnsv1alpha1.DNSClass) { healthy(c, "False") }, func(c *dnsv1alpha1.DNSClass) { healthy(c, "True") }, true},
		"still healthy":  {func(c *dnsv1alpha1.DNSClass) { healthy(c, "True") }, func(c *dnsv1alpha1.DNSClass) { healthy(c, "True") }, false},
		"turned ill":     {func(c *dnsv1alpha1.DNSClass) { healthy(c, "True") }, func(c *dnsv1alpha1.DNSClass) { healthy(c, "False") }, false},
		"still ill":      {func(c *dnsv1alpha1.DNSClass) { healthy(c, "False") }, func(c *dnsv1alpha1.DNSClass) { healthy(c, "False") }, false},
		"deletion":       {func(*dnsv1alpha1.DNSClass) {}, func(c *dnsv1alpha1.DNSClass) { c.Finalizers = nil }, false},
		"another":        {func(*dnsv1alpha1.DNSClass) {}, func(c *dnsv1alpha1.DNSClass) { c.UID = "2" }, true},
	} {
		before, now := class("main", serverURL), class("main", serverURL)
		tt.before(before)
		tt.now(now)
		if got := wakesRecords.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !wakesRecords.Create(event.CreateEvent{}) || !wakesRecords.Delete(event.DeleteEvent{}) {
		t.Error("records have to hear that their class comes and goes")
	}
	if wakesRecords.Update(event.UpdateEvent{ObjectOld: aRecord("a", "", ""), ObjectNew: aRecord("a", "", "")}) {
		t.Error("what is no class wakes nobody")
	}
}

func TestListedNamespace(t *testing.T) {
	m := &mapping{targets: &targets{namespaces: []string{"listed"}}}
	for namespace, want := range map[string]bool{"listed": true, "other": false} {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		if got := m.listedNamespace().Create(event.CreateEvent{Object: obj}); got != want {
			t.Errorf("%s: %v", namespace, got)
		}
	}
}

// TestAlarm: nobody is woken before the controller runs, and only DNSRecords take over names of DNSRecords.
func TestAlarm(t *testing.T) {
	bell := &common.Alarm{}
	bell.Ring(types.NamespacedName{Name: "early"})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	must(t, common.SideDoor{Bell: bell}.Start(t.Context(), queue))
	wake := ringOwner(bell)
	wake(claims.Owner{Kind: "Zone", NamespacedName: types.NamespacedName{Name: "zone"}})
	wake(claims.DNSRecordOwner("default", "web"))
	if queue.Len() != 1 {
		t.Fatalf("%d woken", queue.Len())
	}
	if got, _ := queue.Get(); got.NamespacedName != (types.NamespacedName{Namespace: "default", Name: "web"}) {
		t.Errorf("woken: %v", got)
	}
}

func TestClassOf(t *testing.T) {
	if got := classOf(aRecord("web", "main", "")); len(got) != 1 || got[0] != "main" {
		t.Errorf("%q", got)
	}
	var other client.Object = class("main", serverURL)
	if got := classOf(other); got != nil {
		t.Errorf("%q", got)
	}
}
