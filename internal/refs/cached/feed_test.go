package cached_test

import (
	"context"
	"fmt"
	"testing"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/test/builder"
)

// informers hands out one informer for each type, which tests feed by hand.
type informers struct {
	cache.Informers
	byType map[string]*informer
	err    error
}

func (i *informers) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	if i.err != nil {
		return nil, i.err
	}
	made := &informer{}
	i.byType[fmt.Sprintf("%T", obj)] = made
	return made, nil
}

type informer struct {
	cache.Informer
	handler toolscache.ResourceEventHandler
	synced  bool
	err     error
}

func (i *informer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.handler = handler
	return registration{i: i}, i.err
}

type registration struct {
	toolscache.ResourceEventHandlerRegistration
	i *informer
}

func (r registration) HasSynced() bool { return r.i.synced }

func TestFeedDNS(t *testing.T) {
	fakes := &informers{byType: map[string]*informer{}}
	store := claims.NewStore()
	feed := claims.NewDNSFeed(store)
	synced, err := cached.FeedDNS(t.Context(), fakes, feed)
	if err != nil {
		t.Fatal(err)
	}
	classes, records := fakes.byType["*v1alpha1.DNSClass"], fakes.byType["*v1alpha1.DNSRecord"]

	class, rec := builder.DNSClass("reference").Obj(), builder.DNSRecord("default", "a").Obj()
	expect := func(step string, n int) {
		t.Helper()
		if got := store.Len(); got != n {
			t.Errorf("%s: %d claims; want %d", step, got, n)
		}
	}
	records.handler.OnAdd(rec, true)
	expect("a record without its class", 0)
	classes.handler.OnAdd(class, true)
	expect("with its class", 1)
	changed := builder.DNSRecord("default", "a").Subdomain("bro ken").Obj()
	records.handler.OnUpdate(rec, changed)
	expect("a record that makes no sense any more", 0)
	records.handler.OnUpdate(changed, rec)
	records.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "default/a", Obj: rec})
	expect("a record whose deletion was missed", 0)
	records.handler.OnAdd(rec, false)
	classes.handler.OnDelete(class)
	expect("a class that is gone", 0)
	records.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "default/a", Obj: "no record"})

	for _, tt := range []struct{ classes, records, want bool }{{false, false, false}, {true, false, false}, {false, true, false}, {true, true, true}} {
		classes.synced, records.synced = tt.classes, tt.records
		if got := synced(); got != tt.want {
			t.Errorf("classes %v, records %v: synced is %v", tt.classes, tt.records, got)
		}
	}
}

func TestFeedDNSWithoutInformers(t *testing.T) {
	fakes := &informers{byType: map[string]*informer{}, err: errDown}
	if _, err := cached.FeedDNS(t.Context(), fakes, claims.NewDNSFeed(claims.NewStore())); err == nil {
		t.Error("no error where there is no informer")
	}
}
