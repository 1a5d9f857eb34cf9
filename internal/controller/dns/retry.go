package dns

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// schedule says when a failed call is made again.
type schedule struct {
	// base and most bound the delay of the exponential part: min(base*2^attempt, most), with attempt from 0.
	base, most time.Duration
	// attempts is how many retries a record has before it is in state Error.
	attempts int
	// idle is the delay after that.
	idle time.Duration
}

// delay before the retry with this number; the first is 0.
func (s schedule) delay(retry int) time.Duration {
	d := s.base
	for range retry {
		if d > s.most/2 {
			return s.most
		}
		d *= 2
	}
	return min(d, s.most)
}

// usedUp says whether a record that failed so often in a row has had all its retries: the first failure was no retry.
func (s schedule) usedUp(failures int) bool { return failures > s.attempts }

// publishAgain is the time until the next attempt to publish after so many failures in a row (1 or more). A refused record is not
// tried sooner than an idle one. What the server asked for is honoured, as far as the idle delay.
func (s schedule) publishAgain(failures int, refused bool, asked time.Duration) time.Duration {
	if refused || s.usedUp(failures) {
		return s.idle
	}
	return max(s.delay(failures-1), min(asked, s.idle))
}

// deleteAgain is the time until the next attempt to delete: the exponential part, and then its most for ever, so that a deletion ends
// soon after the server is back.
func (s schedule) deleteAgain(failures int, asked time.Duration) time.Duration {
	return max(s.delay(failures-1), min(asked, s.idle))
}

// note is what is remembered of a record besides its status. Nothing is lost with it but the count of failures.
type note struct {
	// failures in a row of what is called subject: the operation, the generation, the server and the credentials. Another
	// subject starts anew.
	failures int
	subject  string
	// healthySince is since when the class was healthy when the last attempt failed; "" if it was not.
	healthySince string
	// notBefore is when the next attempt is due.
	notBefore time.Time
	// checkAt is when the server is asked next whether it still has the record; zero for at once.
	checkAt time.Time
}

// due is the time until the next attempt. Where the subject is another, or the class has turned healthy since the last failure, that
// is now, and failures are counted from none.
func (n *note) due(subject, healthySince string, now time.Time) (wait time.Duration) {
	if n.subject != subject || (healthySince != "" && healthySince != n.healthySince) {
		n.failures, n.notBefore = 0, time.Time{}
	}
	n.subject, n.healthySince = subject, healthySince
	return max(0, n.notBefore.Sub(now))
}

// notes holds what is remembered of each object, by UID. It is safe for concurrent use.
type notes[T any] struct {
	mu   sync.Mutex
	held map[types.UID]T
}

func (n *notes[T]) of(uid types.UID) T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[uid]
}

func (n *notes[T]) keep(uid types.UID, value T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil {
		n.held = map[types.UID]T{}
	}
	n.held[uid] = value
}

func (n *notes[T]) drop(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.held, uid)
}

// len is how many objects are remembered.
func (n *notes[T]) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.held)
}
