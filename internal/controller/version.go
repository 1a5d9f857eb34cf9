package controller

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the field manager of everything that the controllers write.
const FieldOwner = client.FieldOwner("namegate-controller")

// ConflictDelay is the time until an object is looked at again whose version was not the newest, or whose rival is just going: the
// cache needs about that long.
const ConflictDelay = 200 * time.Millisecond

// ErrStale says that the object has changed, or is gone, since it was read: nothing of this reconciliation counts.
var ErrStale = errors.New("the object has changed meanwhile")

// Version is the newest one of an object that this process knows, and since when.
type Version struct {
	text  string
	since time.Time
}

// StaleLimit is how long a cache is waited for. Versions that are smaller after that are those of an API server which was restored
// from a backup.
const StaleLimit = 30 * time.Second

// Ahead says whether the cache that obj was read from has not seen yet what this process knows: to act on it would be to do the
// same again.
func (v Version) Ahead(obj client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), v.text)
	return err == nil && order < 0 && time.Since(v.since) < StaleLimit
}

// VersionOf is the version of an object that was just written, or found to need no write.
func VersionOf(obj client.Object) Version {
	return Version{text: obj.GetResourceVersion(), since: time.Now()}
}
