package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// reportEvery is the longest silence while something goes on. Tests shorten it.
var reportEvery = 15 * time.Second

// progress writes to stderr what is going on, one line at a time. Standard
// output is for the result alone.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	quiet bool
}

func (p *progress) printf(format string, args ...any) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "controlplane: "+format+"\n", args...)
}

// during prints report's line every reportEvery until the returned function
// is called. After that call it prints nothing more.
func (p *progress) during(report func() string) func() {
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(reportEvery)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				p.printf("%s", report())
			}
		}
	})
	return func() {
		close(stop)
		done.Wait()
	}
}

// seconds formats a duration for people: 4m31s.
func seconds(d time.Duration) string { return d.Round(time.Second).String() }
