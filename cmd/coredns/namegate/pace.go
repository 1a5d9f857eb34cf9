package namegate

import (
	"sync"
	"time"
)

// pacer does work for names: for one name at most once at a time, and after that it rests for as long as the work took. What is asked for
// meanwhile is done once, afterwards; so a storm of changes takes half a processor at most, and a single small one no time.
type pacer struct {
	work func(name string)
	// slots bound how much is done at once for all names.
	slots chan struct{}
	// hurry leaves out the rest.
	hurry bool
	done  chan struct{}

	mu    sync.Mutex
	lanes map[string]*lane
}

// lane is a name with work under way.
type lane struct{ again bool }

func newPacer(atOnce int, work func(name string)) *pacer {
	return &pacer{work: work, slots: make(chan struct{}, atOnce), done: make(chan struct{}), lanes: map[string]*lane{}}
}

// do asks for the work for a name. It does not wait.
func (p *pacer) do(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return
	default:
	}
	if l := p.lanes[name]; l != nil {
		l.again = true
		return
	}
	l := &lane{}
	p.lanes[name] = l
	go p.run(name, l)
}

// stop ends it; work that is under way is finished.
func (p *pacer) stop() { close(p.done) }

func (p *pacer) run(name string, l *lane) {
	for {
		took, stopped := p.once(name)
		if stopped || !p.rest(took) {
			return
		}
		p.mu.Lock()
		if !l.again {
			delete(p.lanes, name)
			p.mu.Unlock()
			return
		}
		l.again = false
		p.mu.Unlock()
	}
}

func (p *pacer) once(name string) (took time.Duration, stopped bool) {
	select {
	case <-p.done:
		return 0, true
	case p.slots <- struct{}{}:
	}
	defer func() { <-p.slots }()
	start := time.Now()
	p.work(name)
	return time.Since(start), false
}

// noRest is what is too short to wait for.
const noRest = time.Millisecond

// rest says whether to go on.
func (p *pacer) rest(took time.Duration) bool {
	if p.hurry || took < noRest {
		return true
	}
	timer := time.NewTimer(took)
	defer timer.Stop()
	select {
	case <-p.done:
		return false
	case <-timer.C:
		return true
	}
}
