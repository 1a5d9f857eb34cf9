package zone

import (
	"context"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=zoneslices,verbs=get;list;watch;create;delete

// carry sees to it that the slices with these digests are there. It returns how many it created, and false if one is of a content that
// is not the zone's any more. Where the content has not changed, it restores what somebody has taken away, unless that was another process
// which has published another content: there is nobody to take away again what was restored.
func (r *Zones) carry(ctx context.Context, p *pass, digests []string, changed bool) (created int, whole bool, err error) {
	missing := r.shelf.lacks(p.obj, digests)
	if len(missing) == 0 {
		return 0, true, nil
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

// untouched says whether the metadata of a slice are as this controller wrote them, and tell that the rest is so: its generation rises with each change
// of it. A deletion that somebody's finalizer holds back is one, and takes nothing away yet.
func untouched(s client.Object) bool {
	owner, first := metav1.GetControllerOf(s), int64(1)
	if s.GetDeletionTimestamp() != nil {
		first++
	}
	return owner != nil && s.GetGeneration() <= first && s.GetLabels()[zonev1alpha1.ZoneLabel] == zoneLabel(owner.Name)
}

// sound says whether a slice is as this controller wrote it for a Zone.
func sound(z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) bool {
	return untouched(s) && metav1.IsControlledBy(s, z) && s.Zone == z.Name && zone.DigestOf(s.Shard, s.Entries) == s.Digest
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
	s := sliceOf(z, shard)
	if r.shelf.creating(keyOf(z), s.Name) {
		return nil
	}
	err := r.client.Create(ctx, s, common.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		s = sliceOf(z, shard)
		err = r.replace(ctx, z, s)
	}
	if err != nil {
		r.shelf.notCreated(keyOf(z), s.Name)
		return staleOr(err)
	}
	r.shelf.created(keyOf(z), s)
	slicesWritten.Inc()
	return nil
}

// replace looks at what has the name of a slice, and puts the slice in its place where it is something else: one that somebody has changed, or one
// of an earlier Zone of the same name.
func (r *Zones) replace(ctx context.Context, z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) error {
	there := &zonev1alpha1.ZoneSlice{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(s), there)
	switch {
	case err == nil && sound(z, there) && there.Digest == s.Digest:
		there.DeepCopyInto(s)
		return nil
	case err == nil:
		r.log.Warn("zone slice is not as it was written", "namespace", s.Namespace, "zone", s.Zone, "slice", s.Name)
		err = r.client.Delete(ctx, there, client.Preconditions{UID: &there.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return r.client.Create(ctx, s, common.FieldOwner)
}

// sweep deletes the slices of the zone that its status does not list. The status that says so has to be the newest, or else a slice that
// another process has just put to use would go.
func (r *Zones) sweep(ctx context.Context, p *pass) error {
	unlisted := r.shelf.unlisted(p.obj)
	if len(unlisted) == 0 {
		return nil
	}
	if err := r.mustBeNewest(ctx, p); err != nil {
		return err
	}
	return inParallel(slices.Sorted(maps.Keys(unlisted)), func(name string) error { return r.delete(ctx, p.obj, name, unlisted[name]) })
}

// delete deletes the slice that has this name and this UID; another one that has its name by now stays.
func (r *Zones) delete(ctx context.Context, z *zonev1alpha1.Zone, name string, uid types.UID) error {
	r.shelf.deleting(keyOf(z), uid)
	s := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: name}}
	err := r.client.Delete(ctx, s, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.shelf.notDeleted(keyOf(z), uid)
		return err
	}
	return nil
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
