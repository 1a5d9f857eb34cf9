package zone

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

// pace folds bursts of changes: some of one zone are published at once, and then one in each interval, with all that has changed since
// the last. It is safe for concurrent use.
type pace struct {
	burst    int
	interval time.Duration

	mu    sync.Mutex
	zones map[types.UID]*pacer
}

// pacer is the pace of one zone.
type pacer struct {
	limiter *rate.Limiter
	// paid says that a publication was let through, and has not come about yet. It does not wait a second time.
	paid bool
	// until is when the publication that waits has its turn.
	until time.Time
}

func newPace(burst int, interval time.Duration) *pace {
	return &pace{burst: burst, interval: interval, zones: map[types.UID]*pacer{}}
}

// wait returns how long a publication has to wait; 0 if it may go ahead.
func (p *pace) wait(uid types.UID, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zones[uid]
	if z == nil {
		z = &pacer{limiter: rate.NewLimiter(rate.Every(p.interval), p.burst)}
		p.zones[uid] = z
	}
	if z.paid {
		return 0
	}
	turn := z.limiter.ReserveN(now, 1)
	if delay := turn.DelayFrom(now); delay > 0 {
		turn.CancelAt(now)
		z.until = now.Add(delay)
		return delay
	}
	z.paid = true
	return 0
}

// waits returns how long a publication that has been told to wait has to do so still; 0 where none has been, or it may go ahead.
func (p *pace) waits(uid types.UID, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if z := p.zones[uid]; z != nil {
		return max(0, z.until.Sub(now))
	}
	return 0
}

// published ends the publication that was let through.
func (p *pace) published(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if z := p.zones[uid]; z != nil {
		z.paid = false
	}
}

// forget is for a zone that is gone.
func (p *pace) forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.zones, uid)
}
