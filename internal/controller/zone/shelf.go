package zone

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// shelf knows which ZoneSlices there are of each Zone: by their events, and, until those come, by what this process has written itself. So a
// question about one Zone costs no list of its slices, and a cache that lags has nothing written twice, left behind, or taken for there.
// It is safe for concurrent use, but the slices of one Zone are written by one at a time.
type shelf struct {
	mu    sync.Mutex
	zones map[ownerKey]*board
}

// ownerKey is the Zone that controls a slice of this namespace.
type ownerKey struct {
	namespace string
	uid       types.UID
}

func keyOf(z *zonev1alpha1.Zone) ownerKey { return ownerKey{z.Namespace, z.UID} }

// board has the slices of one Zone.
type board struct {
	held map[string]held // by name
	// making are the names of slices that are being created, and the UIDs of those whose end events have told of meanwhile.
	making map[string][]types.UID
	// gone is since when this process is deleting, or has deleted, slices of whose end no event has told yet.
	gone map[types.UID]time.Time
}

// held is a slice that is there.
type held struct {
	uid     types.UID
	version string
	// sound says that it is as this controller wrote it.
	sound bool
	// going says that it is deleted already, and held back by somebody's finalizer.
	going bool
	// unseen is since when the slice is known by the answer to a write alone; zero where an event has shown it.
	unseen time.Time
}

func heldOf(s client.Object, unseen time.Time) held {
	return held{uid: s.GetUID(), version: s.GetResourceVersion(), sound: untouched(s), going: s.GetDeletionTimestamp() != nil, unseen: unseen}
}

// pending says whether the time since when no event has come is short enough to go on waiting. After that, there is something else to it.
func pending(since time.Time) bool { return time.Since(since) < common.StaleLimit }

// supersedes says whether a slice of the same name was there later than another.
func (h held) supersedes(other held) bool {
	order, err := resourceversion.CompareResourceVersion(h.version, other.version)
	return err == nil && order > 0
}

// on calls do with the board of a Zone, and forgets a board with nothing on it.
func (s *shelf) on(of ownerKey, do func(*board)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.zones[of]
	if b == nil {
		b = &board{held: map[string]held{}, making: map[string][]types.UID{}, gone: map[types.UID]time.Time{}}
	}
	do(b)
	switch empty := len(b.held)+len(b.making)+len(b.gone) == 0; {
	case empty:
		delete(s.zones, of)
	case s.zones == nil:
		s.zones = map[ownerKey]*board{of: b}
	default:
		s.zones[of] = b
	}
}

// forget is for a Zone that is gone.
func (s *shelf) forget(of ownerKey) {
	s.on(of, func(b *board) { clear(b.held); clear(b.making); clear(b.gone) })
}

// seen takes in that an event shows a slice. It may be older than what is known by an answer. It says whether this process knows of it already.
func (s *shelf) seen(of ownerKey, slice client.Object) (known bool) {
	s.on(of, func(b *board) {
		there, now := b.held[slice.GetName()], heldOf(slice, time.Time{})
		_, making := b.making[slice.GetName()]
		known = making || there.uid == now.uid
		older := there.uid != now.uid && pending(there.unseen) && there.supersedes(now)
		if !older {
			b.held[slice.GetName()] = now
		}
	})
	return known
}

// ended takes in that an event tells of the end of a slice. It says whether this process has deleted it.
func (s *shelf) ended(of ownerKey, slice client.Object) (own bool) {
	s.on(of, func(b *board) {
		if b.held[slice.GetName()].uid == slice.GetUID() {
			delete(b.held, slice.GetName())
		}
		if ended, making := b.making[slice.GetName()]; making {
			b.making[slice.GetName()] = append(ended, slice.GetUID())
		}
		_, own = b.gone[slice.GetUID()]
		delete(b.gone, slice.GetUID())
	})
	return own
}

// creating notes that a slice is about to be created: events may tell of it, and of its end, before the answer comes. It says whether that is
// needless, because an event has shown the slice meanwhile.
func (s *shelf) creating(of ownerKey, name string) (needless bool) {
	s.on(of, func(b *board) {
		h := b.held[name]
		if needless = h.sound && b.here(h); !needless {
			b.making[name] = nil
		}
	})
	return needless
}

// created takes in the slice that a request has made or found, unless events have told more of it already.
func (s *shelf) created(of ownerKey, slice client.Object) {
	s.on(of, func(b *board) {
		name, now := slice.GetName(), heldOf(slice, time.Now())
		ended := b.making[name]
		delete(b.making, name)
		if slices.Contains(ended, now.uid) {
			return
		}
		delete(b.gone, now.uid) // it is in use again, and its end would be one more change
		there, known := b.held[name]
		shown := there.uid == now.uid && there.unseen.IsZero()
		if !known || !shown && !there.supersedes(now) {
			b.held[name] = now
		}
	})
}

// notCreated takes in that the request has failed.
func (s *shelf) notCreated(of ownerKey, name string) {
	s.on(of, func(b *board) { delete(b.making, name) })
}

// deleting notes that a slice is about to be deleted: it counts as gone, although events may show it for a while yet.
func (s *shelf) deleting(of ownerKey, uid types.UID) {
	s.on(of, func(b *board) {
		b.gone[uid] = time.Now()
	})
}

// notDeleted takes in that the request has failed: nobody knows whether the slice is there.
func (s *shelf) notDeleted(of ownerKey, uid types.UID) {
	s.on(of, func(b *board) { delete(b.gone, uid) })
}

// tidy forgets what no event has told of for too long: it came and went while nothing was heard.
func (b *board) tidy() {
	maps.DeleteFunc(b.gone, func(_ types.UID, since time.Time) bool { return !pending(since) })
	maps.DeleteFunc(b.held, func(_ string, h held) bool { return !h.unseen.IsZero() && !pending(h.unseen) })
}

// doubted returns in how long a slice of a Zone that is known by an answer alone does not count as there any more, unless an event shows it; 0 for
// never. One that is taken away while no events come is never told of.
func (s *shelf) doubted(of ownerKey) (in time.Duration) {
	s.on(of, func(b *board) {
		for _, h := range b.held {
			if left := common.StaleLimit - time.Since(h.unseen); !h.unseen.IsZero() && b.here(h) && (in == 0 || left < in) {
				in = left
			}
		}
	})
	return in
}

// here says whether a slice is there.
func (b *board) here(h held) bool {
	return !pending(b.gone[h.uid]) && (h.unseen.IsZero() || pending(h.unseen))
}

// lacks returns the digests of which a Zone has no slice.
func (s *shelf) lacks(z *zonev1alpha1.Zone, digests []string) map[string]struct{} {
	lacking := map[string]struct{}{}
	s.on(keyOf(z), func(b *board) {
		var name []byte // not a string for each: there may be hundreds
		for _, digest := range digests {
			name = zone.AppendSliceName(name[:0], z.Name, digest)
			if h := b.held[string(name)]; !h.sound || !b.here(h) {
				lacking[digest] = struct{}{}
			}
		}
	})
	return lacking
}

// unlisted returns the names and UIDs of the slices of a Zone that its status does not list, and that are not deleted yet. What has the name of
// one that is listed, and is not as it was made, is not among them: it is replaced.
func (s *shelf) unlisted(z *zonev1alpha1.Zone) map[string]types.UID {
	listed := make(map[string]struct{}, len(z.Status.Slices)) // by the part of the digest that is in the name
	for _, digest := range z.Status.Slices {
		listed[zone.SliceNameEnd(digest)] = struct{}{}
	}
	out := map[string]types.UID{}
	s.on(keyOf(z), func(b *board) {
		b.tidy()
		for name, h := range b.held {
			end, _ := strings.CutPrefix(name, z.Name+"-")
			if _, stays := listed[end]; !stays && !h.going && b.here(h) {
				out[name] = h.uid
			}
		}
	})
	return out
}
