package namegate

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// Work for one name is done once at a time, rests for as long as it took, and folds what is asked for meanwhile.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Duration
		begin := time.Now()
		p := newPacer(2, func(string) {
			starts = append(starts, time.Since(begin))
			<-time.After(100 * time.Millisecond)
		})
		for range 50 {
			p.do("a")
			<-time.After(10 * time.Millisecond)
		}
		<-time.After(time.Second)
		if len(starts) < 2 || len(starts) > 4 {
			t.Fatalf("it started at %v", starts)
		}
		for i := 1; i < len(starts); i++ {
			if gap := starts[i] - starts[i-1]; gap < 200*time.Millisecond {
				t.Errorf("%s after the last one began, which took 100 ms", gap)
			}
		}
		if last := starts[len(starts)-1]; last < 490*time.Millisecond {
			t.Errorf("the last change was not seen: the last start was after %s", last)
		}
	})
}

// Short work is not held up, and names do not wait for each other but for the bound.
func TestPacerBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, done atomic.Int32
		p := newPacer(3, func(string) {
			now := running.Add(1)
			most.Store(max(most.Load(), now)) // nothing else runs in a bubble while this does
			<-time.After(time.Second)
			running.Add(-1)
			done.Add(1)
		})
		for i := range 9 {
			p.do(fmt.Sprint(i))
		}
		<-time.After(3500 * time.Millisecond)
		p.stop()
		if most.Load() != 3 || done.Load() != 9 {
			t.Errorf("%d at once and %d done, want 3 and 9", most.Load(), done.Load())
		}
		<-time.After(time.Minute)
	})
}

// Zones change while they are asked for. The race detector watches; each answer is of one version.
func TestChangesUnderQuestions(t *testing.T) {
	lines := []string{ns, "@ 300 NS b.net.", "@ 300 NS c.net.", "sub 300 NS a.net.", "sub 300 NS b.net.", "sub 300 NS c.net.", "sub 300 DS " + ds, "alias 300 CNAME www.example.org."}
	version := func(i int) published {
		return publish(t, "dns/org", "u1", org, uint32(10+i), append(lines, fmt.Sprintf("www 300 A 192.0.2.%d", i), fmt.Sprintf("www 300 A 198.51.100.%d", i))...)
	}
	n := pluginWith(t, version(0))
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n.asked(t, "x.sub.example.org.", dns.TypeA, false, true)
				m := n.asked(t, "alias.example.org.", dns.TypeA, false, true)
				if len(m.Answer) != 3 || lastByte(m.Answer[1]) != lastByte(m.Answer[2]) {
					t.Errorf("answer %v", m.Answer)
					return
				}
			}
		})
	}
	for i := 1; i < 100; i++ {
		n.feed.tells(t, version(i))
	}
	n.feed.settled(t)
	close(stop)
	group.Wait()
	if m := n.asked(t, "www.example.org.", dns.TypeA, false, false); lastByte(m.Answer[0]) != 99 {
		t.Errorf("the last answer is %v", m.Answer)
	}
}

func lastByte(rr dns.RR) byte { ip := rr.(*dns.A).A; return ip[len(ip)-1] }
