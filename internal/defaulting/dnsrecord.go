package defaulting

import (
	"context"

	"k8s.io/utils/ptr"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/refs"
)

// DNSRecord defaults a DNSRecord: the subdomain, and the TTL, which a new record gets from its class and an old one (old
// is nil on create) keeps. An error is one of looking up the class.
func DNSRecord(ctx context.Context, source refs.Source, rec, old *dnsv1alpha1.DNSRecord) error {
	if rec.Spec.Subdomain == "" {
		rec.Spec.Subdomain = dnsv1alpha1.DefaultSubdomain
	}
	switch {
	case rec.Spec.TTL != nil:
		return nil
	case old != nil:
		rec.Spec.TTL = copied(old.Spec.TTL)
		return nil
	}
	ttl, err := classTTL(ctx, source, rec.Spec.DNSClassRef.Name)
	rec.Spec.TTL = ttl
	return err
}

// classTTL is the TTL of new records of a class. A record whose class is not there stays without: it is refused, or the
// class is not known here.
func classTTL(ctx context.Context, source refs.Source, name string) (*int32, error) {
	if name == "" {
		return nil, nil
	}
	class, state, err := source.DNSClass(ctx, name)
	if err != nil || state != refs.Found {
		return nil, err
	}
	if class.Spec.DefaultTTL == nil {
		return ptr.To[int32](dnsv1alpha1.DefaultTTL), nil
	}
	return copied(class.Spec.DefaultTTL), nil
}

// copied is the same TTL in a place of its own: where it is from may be a cache.
func copied(ttl *int32) *int32 {
	if ttl == nil {
		return nil
	}
	return ptr.To(*ttl)
}
