// Package away is about the time in which no API server answers.
package away

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The time between two attempts to reach an API server that nobody answers for: half as much again at most. An attempt costs a server that is coming
// back next to nothing.
const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = time.Second
)

// settling is how long a server that has come back is given to know its own rules and kinds: until then it may refuse what it will allow.
const settling = 15 * time.Second

// Patient has watches wait while no API server takes a connection, and go on from where they were about a second after one does. A reflector by
// itself waits for twice as long after each attempt, up to a minute, and so is still waiting for a long time when the server is back. Where a
// server does answer, however badly, the reflector's own delays hold. What it waits for is told once, when the waiting begins.
func Patient(lw cache.ListerWatcher, told func(error)) cache.ListerWatcher {
	of := cache.ToListerWatcherWithContext(lw)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: of.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return await(ctx, told, func() (watch.Interface, error) { return of.WatchWithContext(ctx, options) })
		},
	}, lw)
}

func await(ctx context.Context, told func(error), begin func() (watch.Interface, error)) (watch.Interface, error) {
	delays := wait.Backoff{Duration: firstDelay, Cap: maxDelay, Steps: 10, Factor: 2, Jitter: 0.5}
	var last time.Time // when nobody answered
	for {
		w, err := begin()
		switch {
		case unreachable(err):
			if last.IsZero() {
				told(err)
			}
			last = time.Now()
		case !starting(err) || time.Since(last) > settling:
			return w, err
		}
		timer := time.NewTimer(delays.Step())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// unreachable says whether there was no connection at all.
func unreachable(err error) bool {
	return slices.ContainsFunc([]error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNRESET},
		func(why error) bool { return errors.Is(err, why) })
}

// starting says whether an error may be one of a server that has just begun to answer: who may do what, and which kinds there are, it has to read
// itself first.
func starting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsInternalError(err)
}
