package app

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	zonecontroller "github.com/namegate/namegate/internal/controller/zone"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/webhooks"
)

// zoneDoor is the front door of Zone and Record.
var zoneDoor = door{
	name: "zones",
	needs: []schema.GroupVersionKind{
		zonev1alpha1.GroupVersion.WithKind("Zone"), zonev1alpha1.GroupVersion.WithKind("Record"), zonev1alpha1.GroupVersion.WithKind("ZoneSlice"),
	},
	addToScheme: zonev1alpha1.AddToScheme,
	open:        openZones,
}

func openZones(ctx context.Context, p *process) (func() bool, error) {
	model := zone.NewModel()
	var fed atomic.Pointer[func() bool]
	if p.roles.Controllers {
		options := zonecontroller.Options{
			PublishBurst:    p.cfg.ZonePublishBurst,
			PublishInterval: p.cfg.ZonePublishInterval,
			Logger:          p.log,
			Model:           model,
			Fed:             func() bool { synced := fed.Load(); return synced != nil && (*synced)() },
		}
		if err := zonecontroller.SetupWithManager(p.mgr, options); err != nil {
			return nil, err
		}
	}
	// The feed comes after the controllers: they want to hear of what it changes.
	synced, err := cached.FeedZones(ctx, p.mgr.GetCache(), model)
	if err != nil {
		return nil, err
	}
	fed.Store(&synced)
	if !p.roles.Gate {
		return synced, nil
	}
	source := &cached.Source{Cache: p.mgr.GetClient(), Live: p.mgr.GetAPIReader(), Creator: p.mgr.GetClient(), Zones: model, Policy: p.policy}
	return p.guard(synced, webhooks.SetupZones, source)
}
