package cached

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
)

// FeedDNS keeps a feed up to date from the informers of DNSClass and DNSRecord. The function it returns says whether
// the feed has seen everything that was there at the start.
func FeedDNS(ctx context.Context, informers cache.Informers, feed *claims.DNSFeed) (synced func() bool, err error) {
	classes, err := handle(ctx, informers, &dnsv1alpha1.DNSClass{}, feed.ClassChanged, feed.ClassGone)
	if err != nil {
		return nil, err
	}
	records, err := handle(ctx, informers, &dnsv1alpha1.DNSRecord{}, feed.RecordChanged, feed.RecordGone)
	if err != nil {
		return nil, err
	}
	return func() bool { return classes() && records() }, nil
}

// handle calls changed and gone with every event of one kind. An object that was deleted and created anew while nobody watched comes as
// one that has changed, and is both.
func handle[T client.Object](ctx context.Context, informers cache.Informers, kind T, changed, gone func(T)) (func() bool, error) {
	informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch %T: %w", kind, err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { call(obj, changed) },
		UpdateFunc: func(old, obj any) {
			if isAnother(old, obj) {
				call(old, gone)
			}
			call(obj, changed)
		},
		DeleteFunc: func(obj any) { call(obj, gone) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch %T: %w", kind, err)
	}
	return registration.HasSynced, nil
}

// isAnother says whether an object has taken the place of one that had its name.
func isAnother(old, obj any) bool {
	before, known := old.(client.Object)
	now, ok := obj.(client.Object)
	return known && ok && before.GetUID() != now.GetUID()
}

func call[T client.Object](obj any, f func(T)) {
	if last, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	if typed, ok := obj.(T); ok {
		f(typed)
	}
}
