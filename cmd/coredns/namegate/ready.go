package namegate

import (
	"context"
	"strings"
	"time"
)

// patience is how long after the first list a zone that is published and cannot be served holds up readiness. It has to end: one zone whose
// slices never come would keep all others from being answered.
var patience = 10 * time.Second

// glance is how often a feed that is not whole yet is looked at.
const glance = 10 * time.Millisecond

// Ready says whether every zone that is published can be answered, for the plugin ready. It asks for all watches, because that plugin keeps
// one answer for all server blocks with a plugin of this name. A watch that was ready stays so: what it has is served while the API server
// is away.
func (n *Namegate) Ready() bool {
	for _, f := range feeds.all() {
		if !f.isWhole() {
			return false
		}
	}
	return true
}

// isWhole says whether the feed serves what is there.
func (f *feed) isWhole() bool {
	select {
	case <-f.whole:
		return true
	default:
		return false
	}
}

// awaitWhole waits for the first list, and then for its zones to be served.
func (f *feed) awaitWhole(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-f.listed:
	}
	tick, late := time.NewTicker(glance), time.NewTimer(patience)
	defer tick.Stop()
	defer late.Stop()
	for pending := f.keeper.pending(); len(pending) > 0; pending = f.keeper.pending() {
		incompleteZones.Set(float64(len(pending)))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-late.C:
			log.Errorf("Ready without %d zones that are published, because slices of theirs are missing or wrong: %s", len(pending), firstOf(pending))
			close(f.whole)
			return
		}
	}
	incompleteZones.Set(0)
	close(f.whole)
}

// maxListed is how many names a log line lists.
const maxListed = 10

func firstOf(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], " ") + " …"
	}
	return strings.Join(names, " ")
}
