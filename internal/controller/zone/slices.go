package zone

import (
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=zoneslices,verbs=get;list;watch;create;delete

// LeanSlice is the cache's transform of ZoneSlices. The controllers need to know which ones there are, and that they are whole, but not
// the entries, which the model has: a digest that is not that of the entries is dropped, and so are the entries. It may be called twice.
func LeanSlice(s *zonev1alpha1.ZoneSlice) {
	if s.Entries == nil {
		return // an API server has no slice without entries: this one was here before
	}
	if zone.DigestOf(s.Shard, s.Entries) != s.Digest {
		s.Digest = ""
	}
	s.Entries = nil
}

// carry sees to it that the slices with these digests are there. It returns how many it created, and false if one is of a content that
// is not the zone's any more. Where the content has not changed, it restores what somebody has taken away, unless that was another process
// which has published another content: there is nobody to take away again what was restored.
func (r *Zones) carry(ctx context.Context, p *pass, digests map[string]string, changed bool) (created int, whole bool, err error) {
	missing, err := r.missing(ctx, p, digests)
	if err != nil || len(missing) == 0 {
		return 0, err == nil, err
	}
	if !changed {
		if err := r.mustBeNewest(ctx, p); err != nil {
			return 0, false, err
		}
	}
	shards := r.model.Shards(client.ObjectKeyFromObject(p.obj), missing)
	err = inParallel(shards, func(shard zone.Shard) error { return r.create(ctx, p.obj, shard) })
	return len(shards), len(shards) == len(missing), err
}

// missing returns the digests that no slice of the zone has.
func (r *Zones) missing(ctx context.Context, p *pass, digests map[string]string) (map[string]struct{}, error) {
	z := p.obj
	there, err := r.slicesOf(ctx, z)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(there))
	for i := range there {
		if sound(z, &there[i]) {
			has[there[i].Digest] = true
		}
	}
	missing := map[string]struct{}{}
	for _, digest := range digests {
		if !has[digest] && !r.recent.created(z, zone.SliceName(z.Name, digest)) {
			missing[digest] = struct{}{}
		}
	}
	p.there = r.lasting(there)
	return missing, nil
}

// slicesOf lists the slices that were made for this very Zone, as the cache has them.
func (r *Zones) slicesOf(ctx context.Context, z *zonev1alpha1.Zone) ([]zonev1alpha1.ZoneSlice, error) {
	list := &zonev1alpha1.ZoneSliceList{}
	err := r.client.List(ctx, list, client.InNamespace(z.Namespace), client.MatchingFields{ownerField: string(z.UID)}, client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// sound says whether a slice is as this controller wrote it.
func sound(z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) bool {
	return s.Digest != "" && (s.Entries == nil || zone.DigestOf(s.Shard, s.Entries) == s.Digest) && s.Name == zone.SliceName(z.Name, s.Digest) &&
		s.Zone == z.Name && s.Labels[zonev1alpha1.ZoneLabel] == zoneLabel(z.Name) && metav1.IsControlledBy(s, z)
}

func sliceOf(z *zonev1alpha1.Zone, shard zone.Shard) *zonev1alpha1.ZoneSlice {
	s := &zonev1alpha1.ZoneSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: z.Namespace, Name: zone.SliceName(z.Name, shard.Digest),
			Labels: map[string]string{zonev1alpha1.ZoneLabel: zoneLabel(z.Name)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindZone, Name: z.Name, UID: z.UID,
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Zone: z.Name, Shard: shard.ID, Digest: shard.Digest, Entries: make([]zonev1alpha1.SliceEntry, 0, len(shard.Entries)),
	}
	for _, entry := range shard.Entries {
		s.Entries = append(s.Entries, entry.Slice())
	}
	return s
}

// create makes a slice. What has its name already is kept if it is the same, which the cache has not shown yet; else it is replaced.
func (r *Zones) create(ctx context.Context, z *zonev1alpha1.Zone, shard zone.Shard) error {
	want := sliceOf(z, shard)
	r.recent.creates(z, want.Name)
	err := r.client.Create(ctx, want, common.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		err = r.replace(ctx, z, sliceOf(z, shard))
	}
	if err != nil {
		r.recent.settled(want)
		return staleOr(err)
	}
	slicesWritten.Inc()
	return nil
}

// replace looks at what has the name of a slice, and puts the slice in its place where it is something else: one that somebody has changed, or one
// of an earlier Zone of the same name.
func (r *Zones) replace(ctx context.Context, z *zonev1alpha1.Zone, want *zonev1alpha1.ZoneSlice) error {
	there := &zonev1alpha1.ZoneSlice{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(want), there)
	switch {
	case err == nil && sound(z, there) && there.Digest == want.Digest:
		return nil
	case err == nil:
		r.log.Warn("zone slice is not as it was written", "namespace", want.Namespace, "zone", want.Zone, "slice", want.Name)
		err = r.client.Delete(ctx, there, client.Preconditions{UID: &there.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return r.client.Create(ctx, want, common.FieldOwner)
}

// sweep deletes the slices of the zone that its status does not list. The status that says so has to be the newest, or else a slice that
// another process has just put to use would go.
func (r *Zones) sweep(ctx context.Context, p *pass) error {
	there := p.there
	if there == nil {
		var err error
		if there, err = r.slicesOf(ctx, p.obj); err != nil {
			return err
		}
		there = r.lasting(there)
	}
	there = unlisted(p.obj, there)
	if len(there) == 0 {
		return nil
	}
	if err := r.mustBeNewest(ctx, p); err != nil {
		return err
	}
	return inParallel(there, func(s zonev1alpha1.ZoneSlice) error { return r.delete(ctx, &s) })
}

// lasting returns, in the place of slices that the cache has just shown, those that are not being deleted.
func (r *Zones) lasting(there []zonev1alpha1.ZoneSlice) []zonev1alpha1.ZoneSlice {
	return slices.DeleteFunc(there, func(s zonev1alpha1.ZoneSlice) bool { return r.recent.deleted(&s) })
}

// unlisted returns the slices that the status of a zone does not list.
func unlisted(z *zonev1alpha1.Zone, there []zonev1alpha1.ZoneSlice) (out []zonev1alpha1.ZoneSlice) {
	listed := make(map[string]struct{}, len(z.Status.Slices)) // by the part of the digest that is in the name
	for _, digest := range z.Status.Slices {
		listed[zone.SliceName("", digest)[1:]] = struct{}{}
	}
	for i := range there {
		end, _ := strings.CutPrefix(there[i].Name, z.Name+"-")
		if _, stays := listed[end]; !stays {
			out = append(out, there[i])
		}
	}
	return out
}

func (r *Zones) delete(ctx context.Context, s *zonev1alpha1.ZoneSlice) error {
	r.recent.deletes(s)
	err := r.client.Delete(ctx, s.DeepCopy(), client.Preconditions{UID: &s.UID})
	if err != nil {
		r.recent.settled(s)
	}
	if apierrors.IsConflict(err) {
		return nil // another one has its name by now
	}
	return client.IgnoreNotFound(err)
}

// atOnce is how many requests of one zone are under way at the same time.
const atOnce = 8

// inParallel calls do with each item, some at a time, and returns the first error. After one it begins no more.
func inParallel[T any](items []T, do func(T) error) error {
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	next, failed := make(chan T), make(chan struct{})
	for range min(atOnce, len(items)) {
		wg.Go(func() {
			for item := range next {
				if err := do(item); err != nil {
					once.Do(func() { first = err; close(failed) })
				}
			}
		})
	}
	hand(items, next, failed)
	wg.Wait()
	return first
}

// hand sends the items until one has failed.
func hand[T any](items []T, next chan<- T, failed <-chan struct{}) {
	defer close(next)
	for _, item := range items {
		select {
		case next <- item:
		case <-failed:
			return
		}
	}
}
