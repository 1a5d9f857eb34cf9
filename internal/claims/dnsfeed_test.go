package claims_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/test/builder"
)

// history is what happens to one object, in order: each step is one event of its informer.
type history []func(*claims.DNSFeed)

// TestDNSFeedOrder: the events of each object come in order, those of different objects in any. Whatever the order, the store ends up
// with what the last state of all objects claims.
func TestDNSFeedOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, records := map[string]string{}, map[string]*dnsv1alpha1.DNSRecord{}
		histories := map[string]history{}
		for _, class := range []string{"a", "b"} {
			histories["class "+class] = drawClassHistory(t, class, servers)
		}
		for _, name := range owners[:3] {
			histories["record "+name] = drawRecordHistory(t, name, records)
		}
		store := claims.NewStore()
		feed := claims.NewDNSFeed(store)
		for len(histories) > 0 {
			next := rapid.SampledFrom(slices.Sorted(maps.Keys(histories))).Draw(t, "next")
			events := histories[next]
			if len(events) == 0 {
				delete(histories, next)
				continue
			}
			events[0](feed)
			histories[next] = events[1:]
		}
		total := 0
		for _, name := range owners[:3] {
			var want []claims.Claim
			if rec := records[name]; rec != nil {
				want = claims.OfDNSRecord(rec, servers[rec.Spec.DNSClassRef.Name])
			}
			total += len(want)
			if diff := gocmp.Diff(want, store.Of(claims.DNSRecordOwner("default", name)), byValue); diff != "" {
				t.Fatalf("%s (-want +got)\n%s", name, diff)
			}
		}
		if store.Len() != total {
			t.Fatalf("%d claims; want %d", store.Len(), total)
		}
		for class, server := range servers {
			if got := feed.Server(class); got != server {
				t.Fatalf("Server(%s) is %q; want %q", class, got, server)
			}
		}
	})
}

// drawClassHistory draws what happens to a class, and leaves the server that it ends up with, "" where it is gone.
func drawClassHistory(t *rapid.T, name string, servers map[string]string) history {
	var out history
	for range rapid.IntRange(0, 4).Draw(t, "events of class "+name) {
		server := rapid.SampledFrom([]string{"", string(here), string(there), "broken"}).Draw(t, "server")
		class := builder.DNSClass(name).Server(server).Obj()
		servers[name] = server
		if server == "" {
			out = append(out, func(f *claims.DNSFeed) { f.ClassGone(class) })
			continue
		}
		out = append(out, func(f *claims.DNSFeed) { f.ClassChanged(class) })
	}
	return out
}

// drawRecordHistory draws what happens to a record: it is there, changes, goes; its deletion may be missed, so that another object of its
// name, of another class even, comes as a change.
func drawRecordHistory(t *rapid.T, name string, records map[string]*dnsv1alpha1.DNSRecord) history {
	var out history
	for i := range rapid.IntRange(0, 4).Draw(t, "events of record "+name) {
		rec := builder.DNSRecord("default", name).Class(rapid.SampledFrom([]string{"a", "b", "absent"}).Draw(t, "class")).
			Subdomain(rapid.SampledFrom([]string{"www", "@", "bro ken"}).Draw(t, "subdomain")).Obj()
		rec.UID, rec.CreationTimestamp.Time = types.UID(fmt.Sprint(i)), time.Unix(int64(i+1), 0)
		if rapid.Bool().Draw(t, "applied") {
			rec.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: string(here), Type: "A", Domain: "example.com",
				Subdomain: rapid.SampledFrom([]string{"www", "old"}).Draw(t, "applied subdomain")}
		}
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			records[name] = nil
			out = append(out, func(f *claims.DNSFeed) { f.RecordGone(rec) })
			continue
		}
		records[name] = rec
		out = append(out, func(f *claims.DNSFeed) { f.RecordChanged(rec) })
	}
	return out
}

// The feed keeps nothing of the objects that it is given: an informer's objects are shared.
func TestDNSFeedKeepsNoObject(t *testing.T) {
	store := claims.NewStore()
	feed := claims.NewDNSFeed(store)
	rec := builder.DNSRecord("default", "a").Class("a").Obj()
	rec.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: string(there), Type: "A", Domain: "example.com", Subdomain: "old"}
	feed.RecordChanged(rec)
	before := rec.DeepCopy()
	rec.Spec.Subdomain, rec.Status.Applied.Server = "changed", string(here)
	feed.ClassChanged(builder.DNSClass("a").Server(string(here)).Obj())
	want := claims.OfDNSRecord(before, string(here))
	if diff := gocmp.Diff(want, store.Of(claims.DNSRecordOwner("default", "a")), byValue); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDNSFeedConcurrently(t *testing.T) {
	store := claims.NewStore()
	feed := claims.NewDNSFeed(store)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint(i)
			for round := range 50 {
				feed.ClassChanged(builder.DNSClass("a").Server([]string{string(here), string(there)}[round%2]).Obj())
				feed.RecordChanged(builder.DNSRecord("default", name).Class("a").Subdomain(name).Obj())
				feed.Server("a")
				if round%5 == 0 {
					feed.RecordGone(builder.DNSRecord("default", name).Class("a").Obj())
				}
			}
		})
	}
	all.Wait()
	feed.ClassChanged(builder.DNSClass("a").Server(string(here)).Obj())
	for i := range 8 {
		got := store.Of(claims.DNSRecordOwner("default", fmt.Sprint(i)))
		if len(got) != 1 || got[0].Plane != here || got[0].Name != mustName(fmt.Sprintf("%d.example.com", i)) {
			t.Errorf("record %d ends with %v", i, got)
		}
	}
}
