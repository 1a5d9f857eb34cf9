package dns

import (
	"time"

	common "github.com/namegate/namegate/internal/controller"
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
// tried sooner than one whose retries are used up.
func (s schedule) publishAgain(failures int, refused bool) time.Duration {
	if refused || s.usedUp(failures) {
		return s.idle
	}
	return s.delay(failures - 1)
}

// deleteAgain is the time until the next attempt to delete: the exponential part, and then its most for ever, so that a deletion ends
// soon after the server is back.
func (s schedule) deleteAgain(failures int) time.Duration { return s.delay(failures - 1) }

// quiet is how long a server that asked for it is left alone: not longer than the idle delay.
func (s schedule) quiet(asked time.Duration) time.Duration { return min(asked, s.idle) }

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
	// quietUntil is how long a server wants to be left alone, whatever else changes.
	quietUntil  time.Time
	quietServer string
	// confirmed says that the API server itself has said what the object is, since this process knows of it.
	confirmed bool
	// goneSince is since when what a deletion needs does not exist; zero while it does.
	goneSince time.Time
	// version is that of the last reconciliation.
	version common.Version
	// checkAt is when the server is asked next whether it still has the record; zero for at once.
	checkAt time.Time
}

// about counts failures from none where they were about another subject, or the class has turned healthy since.
func (n *note) about(subject, healthySince string) {
	if n.subject != subject || (healthySince != "" && healthySince != n.healthySince) {
		n.failures, n.notBefore = 0, time.Time{}
	}
	n.subject, n.healthySince = subject, healthySince
}

// wait is the time until the next attempt with this server; 0 for now.
func (n *note) wait(server string, now time.Time) time.Duration {
	wait := max(0, n.notBefore.Sub(now))
	if n.quietServer == server {
		wait = max(wait, n.quietUntil.Sub(now))
	}
	return wait
}
