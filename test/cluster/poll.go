package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Poll calls check, at once and then at the interval, until it returns nil or a permanent error, or ctx ends. The error
// of a poll that ran out of time is the last one of check, so that it says what was still missing.
func Poll(ctx context.Context, interval time.Duration, check func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last error
	for {
		err := check(ctx)
		var permanent permanentError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &permanent):
			return permanent.error
		case ctx.Err() == nil || last == nil:
			last = err // an error of a check that ctx interrupted says less than the one before it
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", last, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

type permanentError struct{ error }

// Permanent marks an error that no waiting will cure: Poll returns it at once.
func Permanent(err error) error { return permanentError{err} }

// processExists says whether a process with this id exists, whoever owns it.
func processExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
