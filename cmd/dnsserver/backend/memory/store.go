// Package memory keeps records in memory, and optionally in a file, and answers DNS questions about them itself.
package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Options of a Store. The zero value keeps any number of records in memory only.
type Options struct {
	// Zones that the store holds. None: the domain of each record is a zone for as long as it has a record.
	Zones []dnsname.Name
	// MaxRecords is how many RRsets there may be; no limit if not positive.
	MaxRecords int
	// File keeps the records between restarts; none if empty. It belongs to one process only.
	File string
}

// Store is a backend.Backend that answers DNS itself (see Listen).
type Store struct {
	options Options

	// change is held by the one change that is under way, the writing of the file included, so that what is in the file is
	// always what is published or about to be. saveErr is guarded by it.
	change  sync.Mutex
	saveErr error

	// read guards the tree. It is never held while the file is written: DNS answers do not wait for a disk.
	read sync.RWMutex
	tree *tree
}

var _ backend.Backend = (*Store)(nil)

// New returns a store with the records of its file, which need not exist. A file that cannot be understood is an error,
// and left as it is.
func New(options Options) (*Store, error) {
	zones := make([]string, len(options.Zones))
	for i, zone := range options.Zones {
		zones[i] = zone.FQDN()
	}
	s := &Store{options: options, tree: newTree(zones, firstSerial(time.Now()))}
	sets, err := load(options.File)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if err := s.admits(set); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", options.File, set.Type, set.Owner, err)
		}
		s.tree.put(set)
	}
	return s, nil
}

// firstSerial starts with the clock, so that serials grow over a restart too.
func firstSerial(now time.Time) uint32 { return uint32(now.Unix() & math.MaxUint32) }

// Upsert is described by backend.Backend. An RRset that is there already is not written again.
func (s *Store) Upsert(ctx context.Context, set *record.RRset) error {
	s.change.Lock()
	defer s.change.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	old := s.tree.find(backend.IDOf(set))
	if old != nil && old.Equal(set) && old.Domain == set.Domain {
		return nil
	}
	if err := s.admits(set); err != nil {
		return err
	}
	if err := s.save(old, set); err != nil {
		return err
	}
	s.publish(func(t *tree) { t.put(set) })
	return nil
}

// admits says why an RRset has no place here, or nil.
func (s *Store) admits(set *record.RRset) error {
	if _, held := backend.ZoneOf(s.options.Zones, set.Owner); !held && len(s.options.Zones) > 0 {
		return backend.ErrNotServed
	}
	if s.tree.conflicts(set) {
		return backend.ErrConflict
	}
	if full := s.options.MaxRecords > 0 && s.tree.count >= s.options.MaxRecords; full && s.tree.find(backend.IDOf(set)) == nil {
		return backend.ErrQuota
	}
	return nil
}

// Delete is described by backend.Backend.
func (s *Store) Delete(ctx context.Context, id backend.ID) (bool, error) {
	s.change.Lock()
	defer s.change.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	old := s.tree.find(id)
	if old == nil {
		return false, nil
	}
	if err := s.save(old, nil); err != nil {
		return false, err
	}
	s.publish(func(t *tree) { t.remove(old) })
	return true, nil
}

// Get is described by backend.Backend.
func (s *Store) Get(_ context.Context, id backend.ID) (*record.RRset, bool, error) {
	s.read.RLock()
	defer s.read.RUnlock()
	set := s.tree.find(id)
	return set, set != nil, nil
}

// Healthy returns the error of the last change, if it could not be written to the file.
func (s *Store) Healthy(context.Context) error {
	s.change.Lock()
	defer s.change.Unlock()
	return s.saveErr
}

// save writes the file, if there is one, before anything is published: what is in the tree, without old and with set, either of which
// may be nil. The caller holds change.
func (s *Store) save(old, set *record.RRset) error {
	if s.options.File == "" {
		return nil
	}
	sets := slices.DeleteFunc(s.tree.all(), func(other *record.RRset) bool { return other == old })
	if set != nil {
		sets = append(sets, set)
	}
	slices.SortFunc(sets, compare)
	s.saveErr = write(s.options.File, sets)
	return s.saveErr
}

// publish changes the tree. The caller holds change.
func (s *Store) publish(apply func(*tree)) {
	s.read.Lock()
	defer s.read.Unlock()
	apply(s.tree)
	s.tree.serial++
}
