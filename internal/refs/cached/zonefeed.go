package cached

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// FeedZones keeps a model up to date from the informers of Zone and Record. The function it returns says whether the model has seen
// everything that was there at the start.
func FeedZones(ctx context.Context, informers cache.Informers, model *zone.Model) (synced func() bool, err error) {
	zones, err := handle(ctx, informers, &zonev1alpha1.Zone{},
		func(z *zonev1alpha1.Zone) { model.SetZone(zone.ZoneOf(z)) },
		func(z *zonev1alpha1.Zone) { model.RemoveZone(client.ObjectKeyFromObject(z), z.UID) })
	if err != nil {
		return nil, err
	}
	records, err := handle(ctx, informers, &zonev1alpha1.Record{},
		func(r *zonev1alpha1.Record) { model.SetRecord(zone.RecordOf(r)) },
		func(r *zonev1alpha1.Record) { model.RemoveRecord(client.ObjectKeyFromObject(r), r.UID) })
	if err != nil {
		return nil, err
	}
	return func() bool { return zones() && records() }, nil
}
