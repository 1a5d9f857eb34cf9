package claims

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/test/builder"
)

// A store that was filled and emptied holds nothing, so that names which come and go cost no memory for ever.
func TestNothingIsLeft(t *testing.T) {
	store := NewStore()
	var all []Claim
	for i, text := range []string{"com", "example.com", "a.b.c.example.com", "b.c.example.com", "*.example.com", "a.b.c.example.com"} {
		name, err := dnsname.ParseOwner(text)
		if err != nil {
			t.Fatal(err)
		}
		c := Claim{Plane: Plane(fmt.Sprint(i % 2)), Name: name, Type: record.A, Owner: DNSRecordOwner("default", fmt.Sprint(i))}
		c.UID = types.UID(c.Owner.Name)
		all = append(all, c)
		store.Set(c.Owner, c)
		if _, acquired := store.Acquire(c); !acquired {
			t.Fatalf("%v is not free", c)
		}
	}
	for _, c := range all {
		store.Remove(c.Owner)
	}
	if len(store.byName)+len(store.byOwner)+len(store.below)+len(store.held) > 0 {
		t.Errorf("left: %v, %v, %v, %v", store.byName, store.byOwner, store.below, store.held)
	}
}

func TestNothingIsLeftInTheFeed(t *testing.T) {
	store := NewStore()
	feed := NewDNSFeed(store)
	class := builder.DNSClass("reference").Obj()
	for i := range 3 {
		feed.RecordChanged(builder.DNSRecord("default", fmt.Sprint(i)).Class([]string{"reference", "absent"}[i%2]).Obj())
	}
	feed.ClassChanged(class)
	feed.RecordChanged(builder.DNSRecord("default", "1").Class("reference").Obj())
	feed.ClassGone(class)
	for i := range 3 {
		feed.RecordGone(builder.DNSRecord("default", fmt.Sprint(i)).Obj())
	}
	if len(feed.records)+len(feed.ofClass)+len(feed.servers)+store.Len() > 0 {
		t.Errorf("left: %v, %v, %v and %d claims", feed.records, feed.ofClass, feed.servers, store.Len())
	}
}

// TestForget holds that only the object that is gone is forgotten, and not one that has taken its place.
func TestForget(t *testing.T) {
	store := NewStore()
	name, err := dnsname.Parse("www.example.com")
	if err != nil {
		t.Fatal(err)
	}
	c := Claim{Plane: "p", Name: name, Type: record.A, Owner: DNSRecordOwner("default", "a"), UID: "new"}
	store.Set(c.Owner, c)
	if store.Forget(c.Owner, "old"); store.Len() != 1 {
		t.Error("the claim of an object that is there was forgotten")
	}
	if store.Forget(c.Owner, "new"); store.Len() != 0 {
		t.Error("the claim of an object that is gone was kept")
	}
}

// TestForeignFinalizerHoldsNoName: once our own finalizer is off a deleted object, its record is gone from the server, whatever the object
// still waits for.
func TestForeignFinalizerHoldsNoName(t *testing.T) {
	rec := builder.DNSRecord("default", "web").Finalizers("example.com/backup", dnsv1alpha1.DNSRecordFinalizer).Deleting().Obj()
	if got := OfDNSRecord(rec, "https://dns.example.com"); len(got) != 1 {
		t.Errorf("while it is on the server it claims %v", got)
	}
	rec.Finalizers = rec.Finalizers[:1]
	if got := OfDNSRecord(rec, "https://dns.example.com"); len(got) != 0 {
		t.Errorf("when it is off the server it claims %v", got)
	}
}
