package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Lanes makes calls to servers while the reconcilers go on: no worker ever waits for a network. Each server has a lane with a
// bounded number of calls in flight, so however many servers are slow or dead, the others' calls are not delayed. An object
// has one call at a time, so two writes of the same record never overtake one another on their way to a server.
type Lanes struct {
	width int
	wake  func(types.NamespacedName)
	log   *slog.Logger

	mu    sync.Mutex
	ctx   context.Context // of the calls; nil until Start
	lanes map[string]*lane
	// calls holds those of each object, by server.
	calls map[types.UID]map[string]*call
	// workers is only added to while mu is held and the lanes are open, so that Wait misses none.
	workers sync.WaitGroup
}

// Ticket says what is asked, for whom, and of which server.
type Ticket struct {
	// Server is the canonical URL of the server: the lane.
	Server string
	// Object is woken when the call has ended; UID tells it from one of the same name before it.
	Object types.NamespacedName
	UID    types.UID
	// Fingerprint stands for everything that the call depends on. An outcome answers this fingerprint only.
	Fingerprint string
}

// Outcome is how a call ended.
type Outcome struct {
	Err error
	// Wrote says that the call wrote to the server, or tried to.
	Wrote bool
	// Ended is when the call ended.
	Ended time.Time
}

type lane struct {
	waiting []*call
	workers int
}

type call struct {
	Ticket
	run     func(context.Context) Outcome
	state   callState
	outcome Outcome
	// dropped: nobody wants the outcome.
	dropped bool
}

type callState int

const (
	waiting callState = iota
	running
	ended
)

// errPanic is the outcome of a call that panicked: a fault of this program, which one record or server must not turn into the end
// of all others.
var errPanic = errors.New("the call failed inside Namegate")

// NewLanes returns lanes with at most width calls in flight to each server. The function wake is told the object of each call that has
// ended; it must not block. Nothing runs before Start.
func NewLanes(width int, wake func(types.NamespacedName), log *slog.Logger) *Lanes {
	return &Lanes{width: width, wake: wake, log: log, lanes: map[string]*lane{}, calls: map[types.UID]map[string]*call{}}
}

// Start opens the lanes until ctx is done; then calls in flight are cancelled and those that wait are never made.
func (l *Lanes) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// Wait returns when no call is in flight any more. Call it after the context of Start is done.
func (l *Lanes) Wait() {
	l.mu.Lock()
	l.lanes, l.calls = map[string]*lane{}, map[types.UID]map[string]*call{}
	l.mu.Unlock()
	l.workers.Wait()
}

// Do returns the outcome of the call with this ticket, if it has ended. Otherwise it has the call made, once, and the object
// woken then. Other calls of the same object give way: one that waits is replaced, and the outcome of one in flight is discarded
// when it has ended, and only then is the new one made. One in flight to another server is not waited for: there is no order to keep, and
// that server may be dead. An outcome stays until Forget.
func (l *Lanes) Do(t Ticket, run func(context.Context) Outcome) (outcome Outcome, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open() {
		return Outcome{}, false
	}
	l.abandon(t.UID, t.Server)
	c := l.calls[t.UID][t.Server]
	switch {
	case c == nil || c.state == ended && c.Fingerprint != t.Fingerprint:
		l.enqueue(&call{Ticket: t, run: run})
	case c.state == ended:
		return c.outcome, true
	case c.state == waiting:
		c.Ticket, c.run = t, run // keeps its place
	case c.state == running:
		c.dropped = false // somebody waits for its end, if not for its outcome
	}
	return Outcome{}, false
}

// Forget drops an outcome that has been made use of. A call that has not ended is left alone.
func (l *Lanes) Forget(t Ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[t.UID][t.Server]; c != nil && c.state == ended && c.Ticket == t {
		l.remove(c)
	}
}

// Drop drops whatever there is of an object that wants nothing any more. A call in flight goes on, and nobody hears of it.
func (l *Lanes) Drop(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandon(uid, "")
}

// abandon drops the calls of an object to all servers but one.
func (l *Lanes) abandon(uid types.UID, but string) {
	for server, c := range l.calls[uid] {
		if server == but {
			continue
		}
		c.dropped = true
		if c.state != running {
			l.remove(c)
		}
	}
}

func (l *Lanes) remove(c *call) {
	of := l.calls[c.UID]
	delete(of, c.Server)
	if len(of) == 0 {
		delete(l.calls, c.UID)
	}
}

func (l *Lanes) open() bool { return l.ctx != nil && l.ctx.Err() == nil }

// enqueue puts a call at the end of its lane and sees to it that somebody makes it.
func (l *Lanes) enqueue(c *call) {
	if l.calls[c.UID] == nil {
		l.calls[c.UID] = map[string]*call{}
	}
	l.calls[c.UID][c.Server] = c
	on := l.lanes[c.Server]
	if on == nil {
		on = &lane{}
		l.lanes[c.Server] = on
	}
	on.waiting = append(on.waiting, c)
	if on.workers < l.width {
		on.workers++
		ctx, server := l.ctx, c.Server // read while mu is held
		l.workers.Go(func() { l.work(ctx, server, on) })
	}
}

// work makes the calls of a lane until none waits.
func (l *Lanes) work(ctx context.Context, server string, on *lane) {
	for c := l.next(server, on); c != nil; c = l.next(server, on) {
		outcome := l.make(ctx, c)
		if l.end(c, outcome) {
			l.wake(c.Object)
		}
	}
}

// next takes the next call of a lane. Where there is none the worker is done, and the lane with its last worker.
func (l *Lanes) next(server string, on *lane) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(on.waiting) > 0 && l.open() {
		c := on.waiting[0]
		on.waiting = on.waiting[1:]
		if !c.dropped {
			c.state = running
			return c
		}
	}
	if on.workers--; on.workers == 0 && l.lanes[server] == on {
		delete(l.lanes, server)
	}
	return nil
}

func (l *Lanes) make(ctx context.Context, c *call) (outcome Outcome) {
	defer func() {
		if reason := recover(); reason != nil {
			l.log.Error("a call to a DNS server panicked", "server", c.Server, "object", c.Object.String(), "panic", fmt.Sprint(reason),
				"stack", string(debug.Stack()))
			outcome = Outcome{Err: errPanic, Wrote: true}
		}
		outcome.Ended = time.Now()
	}()
	return c.run(ctx)
}

// end keeps the outcome, unless nobody wants it, and says whether somebody does.
func (l *Lanes) end(c *call, outcome Outcome) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.dropped || !l.open() {
		l.remove(c)
		return false
	}
	c.state, c.outcome, c.run = ended, outcome, nil
	return true
}
