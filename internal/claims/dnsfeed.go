package claims

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// DNSFeed keeps a Store up to date with DNSRecords and DNSClasses, in whatever order their events come. It is safe for
// concurrent use.
type DNSFeed struct {
	store *Store

	mu sync.Mutex
	// servers holds the server of each known class.
	servers map[string]string
	// records holds what a claim needs of each record.
	records map[Owner]*dnsv1alpha1.DNSRecord
	// ofClass holds the records that refer to each class, known or not.
	ofClass map[string]map[Owner]struct{}
}

// NewDNSFeed returns a feed into the store.
func NewDNSFeed(store *Store) *DNSFeed {
	return &DNSFeed{store: store, servers: map[string]string{}, records: map[Owner]*dnsv1alpha1.DNSRecord{},
		ofClass: map[string]map[Owner]struct{}{}}
}

// RecordChanged takes in a DNSRecord that was added or changed. It may refer to another class than before: a watch that
// was interrupted shows an object that was deleted and created anew as a change.
func (f *DNSFeed) RecordChanged(rec *dnsv1alpha1.DNSRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner, class := DNSRecordOwner(rec.Namespace, rec.Name), rec.Spec.DNSClassRef.Name
	f.forget(owner)
	if f.ofClass[class] == nil {
		f.ofClass[class] = map[Owner]struct{}{}
	}
	f.ofClass[class][owner] = struct{}{}
	f.records[owner] = slim(rec)
	f.store.Set(owner, OfDNSRecord(rec, f.servers[class])...)
}

// RecordGone takes out a DNSRecord that was deleted, its finalizers gone.
func (f *DNSFeed) RecordGone(rec *dnsv1alpha1.DNSRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner := DNSRecordOwner(rec.Namespace, rec.Name)
	f.forget(owner)
	f.store.Remove(owner)
}

func (f *DNSFeed) forget(owner Owner) {
	rec, known := f.records[owner]
	if !known {
		return
	}
	delete(f.records, owner)
	class := rec.Spec.DNSClassRef.Name
	delete(f.ofClass[class], owner)
	if len(f.ofClass[class]) == 0 {
		delete(f.ofClass, class)
	}
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
	for owner := range f.ofClass[class] {
		f.store.Set(owner, OfDNSRecord(f.records[owner], server)...)
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
	out := &dnsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: rec.Namespace, Name: rec.Name, UID: rec.UID,
		CreationTimestamp: rec.CreationTimestamp, DeletionTimestamp: rec.DeletionTimestamp, Finalizers: rec.Finalizers}}
	out.Spec.Type, out.Spec.Domain, out.Spec.Subdomain = rec.Spec.Type, rec.Spec.Domain, rec.Spec.Subdomain
	out.Spec.DNSClassRef = rec.Spec.DNSClassRef
	if applied := rec.Status.Applied; applied != nil {
		out.Status.Applied = &dnsv1alpha1.AppliedRecord{Server: applied.Server, Type: applied.Type, Domain: applied.Domain,
			Subdomain: applied.Subdomain}
	}
	return out
}
