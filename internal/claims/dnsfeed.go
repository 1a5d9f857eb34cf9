package claims

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// DNSFeed keeps a Store up to date with DNSRecords and DNSClasses, in whatever order their events come. It is safe for
// concurrent use.
type DNSFeed struct {
	store *Store

	mu sync.Mutex
	// servers holds the server of each known class.
	servers map[string]string
	// records holds what a claim needs of each record, by the class that it refers to.
	records map[string]map[Owner]*dnsv1alpha1.DNSRecord
}

// NewDNSFeed returns a feed into the store.
func NewDNSFeed(store *Store) *DNSFeed {
	return &DNSFeed{store: store, servers: map[string]string{}, records: map[string]map[Owner]*dnsv1alpha1.DNSRecord{}}
}

// RecordChanged takes in a DNSRecord that was added or changed.
func (f *DNSFeed) RecordChanged(rec *dnsv1alpha1.DNSRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner, class := DNSRecordOwner(rec.Namespace, rec.Name), rec.Spec.DNSClassRef.Name
	if f.records[class] == nil {
		f.records[class] = map[Owner]*dnsv1alpha1.DNSRecord{}
	}
	f.records[class][owner] = slim(rec)
	f.store.Set(owner, OfDNSRecord(rec, f.servers[class])...)
}

// RecordGone takes out a DNSRecord that was deleted, its finalizers gone.
func (f *DNSFeed) RecordGone(rec *dnsv1alpha1.DNSRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner, class := DNSRecordOwner(rec.Namespace, rec.Name), rec.Spec.DNSClassRef.Name
	delete(f.records[class], owner)
	if len(f.records[class]) == 0 {
		delete(f.records, class)
	}
	f.store.Remove(owner)
}

// ClassChanged takes in a DNSClass that was added or changed; its records move with its server.
func (f *DNSFeed) ClassChanged(class *dnsv1alpha1.DNSClass) {
	f.setServer(class.Name, class.Spec.Server)
}

// ClassGone takes out a DNSClass that was deleted.
func (f *DNSFeed) ClassGone(class *dnsv1alpha1.DNSClass) { f.setServer(class.Name, "") }

func (f *DNSFeed) setServer(class, server string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.servers[class] == server {
		return
	}
	if server == "" {
		delete(f.servers, class)
	} else {
		f.servers[class] = server
	}
	for owner, rec := range f.records[class] {
		f.store.Set(owner, OfDNSRecord(rec, server)...)
	}
}

// Server returns the server of a known class, "" where there is none.
func (f *DNSFeed) Server(class string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[class]
}

// slim keeps what a claim needs, so that the feed does not hold a second copy of every object.
func slim(rec *dnsv1alpha1.DNSRecord) *dnsv1alpha1.DNSRecord {
	out := &dnsv1alpha1.DNSRecord{ObjectMeta: v1.ObjectMeta{Namespace: rec.Namespace, Name: rec.Name, UID: rec.UID,
		CreationTimestamp: rec.CreationTimestamp}}
	out.Spec.Type, out.Spec.Domain, out.Spec.Subdomain = rec.Spec.Type, rec.Spec.Domain, rec.Spec.Subdomain
	out.Spec.DNSClassRef = rec.Spec.DNSClassRef
	if rec.Status.Applied != nil {
		out.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: rec.Status.Applied.Server}
	}
	return out
}
