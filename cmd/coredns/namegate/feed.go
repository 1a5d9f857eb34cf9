package namegate

import (
	"context"
	"slices"
	"sync"
)

// source tells of the Zones and ZoneSlices of a cluster, until the context ends. It never ends by itself.
type source interface {
	run(ctx context.Context, to *feed)
	// parts is how many times feed.synced is called before everything that is there has been told.
	parts() int
}

// feed is a watch and what came of it. Server blocks share it, and it outlives the Corefile that asked for it for as long as the next one
// asks for it too: a reload loses nothing.
type feed struct {
	book   *book
	keeper *keeper
	stop   context.CancelFunc

	mu      sync.Mutex
	users   []*Namegate
	waitFor int
	// listed is closed when everything that is there has been told, and whole when all of it that can be is served, too.
	listed, whole chan struct{}
}

func newFeed(parts int) *feed {
	f := &feed{book: newBook(), waitFor: parts, listed: make(chan struct{}), whole: make(chan struct{})}
	f.keeper = newKeeper(f.book, f.announce)
	return f
}

// announce tells the server blocks that a zone has changed.
func (f *feed) announce(origin string) {
	f.mu.Lock()
	users := slices.Clone(f.users)
	f.mu.Unlock()
	for _, user := range users {
		user.notify(origin)
	}
}

// synced says that one part of the source has told everything that is there.
func (f *feed) synced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waitFor--
	if f.waitFor == 0 {
		close(f.listed)
	}
}

// feeds are the watches of this process.
var feeds = &registry{open: openCluster, feeds: map[string]*feed{}}

// registry holds watches for as long as they have users.
type registry struct {
	mu    sync.Mutex
	open  func(watchOptions) (source, error)
	feeds map[string]*feed
	// starting are the users from a Corefile of which it is not known yet whether it will be put to use.
	starting []*Namegate
}

// acquire returns the watch with these options, and starts it if it does not run yet.
func (r *registry) acquire(opts watchOptions, user *Namegate) (*feed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feeds[opts.key()]
	if f == nil {
		src, err := r.open(opts)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		f = newFeed(src.parts())
		f.stop = func() { cancel(); f.keeper.pace.stop() }
		r.feeds[opts.key()] = f
		go src.run(ctx, f)
		go f.awaitWhole(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users = append(f.users, user)
	r.starting = append(r.starting, user)
	return f, nil
}

// started says that the Corefile which was read last is in use.
func (r *registry) started() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting = nil
}

// failed says that a Corefile was refused after its plugins had started: nobody else tells them that they are not needed. The user is one
// that it would have taken the place of; where that one has stopped, the servers of the new Corefile are the ones that there are.
func (r *registry) failed(user *Namegate) {
	r.mu.Lock()
	f, spare := r.feeds[user.watch.key()], r.starting
	inUse := f != nil && f.has(user)
	r.mu.Unlock()
	if !inUse {
		return
	}
	r.started()
	for _, n := range spare {
		n.stop()
	}
}

// has says whether somebody uses the watch.
func (f *feed) has(user *Namegate) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.users, user)
}

// release gives a watch back; the last user ends it.
func (r *registry) release(opts watchOptions, user *Namegate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feeds[opts.key()]
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users = slices.DeleteFunc(f.users, func(u *Namegate) bool { return u == user })
	if len(f.users) == 0 {
		delete(r.feeds, opts.key())
		f.stop()
		f.keeper.forget()
	}
}

// all lists the watches that run.
func (r *registry) all() []*feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*feed, 0, len(r.feeds))
	for _, f := range r.feeds {
		out = append(out, f)
	}
	return out
}
