package cached

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// maxReads is how many objects a refusal is confirmed with. One that stands after that stands on enough.
const maxReads = 16

// Zone implements refs.Source.
func (s *Source) Zone(ctx context.Context, z *zonev1alpha1.Zone) (verdict zone.ZoneVerdict, problems []zone.Problem, err error) {
	if s.Zones == nil {
		return verdict, nil, nil
	}
	problems, err = s.confirmed(ctx, func() (found []zone.Problem) {
		verdict, found = s.Zones.TryZone(zone.ZoneOf(z))
		return found
	})
	return verdict, problems, err
}

// Record implements refs.Source.
func (s *Source) Record(ctx context.Context, rec *zonev1alpha1.Record) (verdict zone.RecordVerdict, problems []zone.Problem, err error) {
	if s.Zones == nil {
		return verdict, nil, nil
	}
	problems, err = s.confirmed(ctx, func() (found []zone.Problem) {
		verdict, found = s.Zones.TryRecord(zone.RecordOf(rec))
		return found
	})
	return verdict, problems, err
}

// confirmed judges, and judges anew while a refusal rests on objects that were not read from the API server yet: what takes the place of one
// that is gone may have lagged too.
func (s *Source) confirmed(ctx context.Context, judge func() []zone.Problem) ([]zone.Problem, error) {
	read := map[zone.Rest]bool{}
	for {
		problems := judge()
		rests := s.unread(problems, read)
		if len(rests) == 0 {
			return problems, nil
		}
		for _, rest := range rests {
			if err := s.refresh(ctx, rest); err != nil {
				return nil, fmt.Errorf("look up what is there: %w", err)
			}
			read[rest] = true
		}
	}
}

// unread returns the objects that refusals rest on and that were not read yet, as many as may still be.
func (s *Source) unread(problems []zone.Problem, read map[zone.Rest]bool) []zone.Rest {
	var out []zone.Rest
	listed := map[zone.Rest]bool{}
	for _, p := range problems {
		if s.Policy.Severity(&field.Error{Origin: p.Rule.ID}) != rules.Deny {
			continue
		}
		for _, rest := range p.Rests {
			if !read[rest] && !listed[rest] && len(read)+len(out) < maxReads {
				listed[rest] = true
				out = append(out, rest)
			}
		}
	}
	return out
}

// refresh brings one object in the picture to its state at the API server.
func (s *Source) refresh(ctx context.Context, rest zone.Rest) error {
	if rest.Kind == zone.KindZone {
		return refresh(ctx, s, rest.Key, func(z *zonev1alpha1.Zone) { s.Zones.SetZone(zone.ZoneOf(z)) }, s.Zones.RemoveZone)
	}
	return refresh(ctx, s, rest.Key, func(rec *zonev1alpha1.Record) { s.Zones.SetRecord(zone.RecordOf(rec)) }, s.Zones.RemoveRecord)
}

// refresh reads an object of one kind. What it removes is the one that the cache held before it asked, and not one that takes its place
// meanwhile.
func refresh[T any, P interface {
	*T
	client.Object
}](ctx context.Context, s *Source, key zone.Key, set func(P), remove func(zone.Key, types.UID)) error {
	known := P(new(T))
	if err := client.IgnoreNotFound(s.Cache.Get(ctx, key, known)); err != nil {
		return err
	}
	live := P(new(T))
	err := s.Live.Get(ctx, key, live)
	switch {
	case apierrors.IsNotFound(err):
		remove(key, known.GetUID())
	case err != nil:
		return err
	default:
		set(live)
	}
	return nil
}
