package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.FromSlogHandler(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// bench is a Lanes with what it woke.
type bench struct {
	*Lanes
	t      *testing.T
	cancel context.CancelFunc
	mu     sync.Mutex
	woken  []string
}

func inLanes(t *testing.T, width int, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t}
		b.Lanes = NewLanes(width, func(n types.NamespacedName) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.woken = append(b.woken, n.Name)
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		b.cancel = cancel
		b.Start(ctx)
		test(b)
		cancel()
		b.Wait()
	})
}

// heard returns the objects that were woken so far.
func (b *bench) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.woken)
}

func ticket(server, object, fingerprint string) Ticket {
	return Ticket{Server: server, Object: types.NamespacedName{Name: object}, UID: types.UID(object), Fingerprint: fingerprint}
}

// answers returns a call that ends in this error, after the gate opens if there is one.
func answers(err error, gate <-chan struct{}) func(context.Context) Outcome {
	return func(ctx context.Context) Outcome {
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return Outcome{Err: ctx.Err()}
			}
		}
		return Outcome{Err: err}
	}
}

func TestLanesOutcome(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		failed := errors.New("failed")
		call := answers(failed, nil)
		if _, done := b.Do(ticket("s", "a", "1"), call); done {
			b.t.Fatal("done before it was made")
		}
		synctest.Wait()
		for range 2 { // it stays until it is forgotten
			if outcome, done := b.Do(ticket("s", "a", "1"), call); !done || !errors.Is(outcome.Err, failed) || !outcome.Ended.Equal(time.Now()) {
				b.t.Fatalf("outcome %+v, done %v", outcome, done)
			}
		}
		b.Forget(ticket("s", "a", "0"))
		if _, done := b.Do(ticket("s", "a", "1"), call); !done {
			b.t.Fatal("forgotten by another ticket")
		}
		b.Forget(ticket("s", "a", "1"))
		if _, done := b.Do(ticket("s", "a", "1"), call); done {
			b.t.Fatal("not forgotten")
		}
		synctest.Wait()
		if !slices.Equal(b.heard(), []string{"a", "a"}) {
			b.t.Errorf("woken: %q", b.heard())
		}
	})
}

func TestLanesBoundTheCallsToOneServer(t *testing.T) {
	inLanes(t, 3, func(b *bench) {
		gate := make(chan struct{})
		var now, most atomic.Int64
		var order []string
		for i := range 10 {
			name := fmt.Sprint(i)
			b.Do(ticket("slow", name, ""), func(ctx context.Context) Outcome {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				b.mu.Lock()
				order = append(order, name)
				b.mu.Unlock()
				return answers(nil, gate)(ctx)
			})
		}
		b.Do(ticket("fast", "other", ""), answers(nil, nil))
		synctest.Wait()
		if now.Load() != 3 || !slices.Equal(b.heard(), []string{"other"}) {
			b.t.Fatalf("%d in flight to the slow server; woken: %q", now.Load(), b.heard())
		}
		close(gate)
		synctest.Wait()
		if most.Load() != 3 || len(b.heard()) != 11 {
			b.t.Errorf("at most %d in flight; woken: %q", most.Load(), b.heard())
		}
		if len(b.lanes) != 0 {
			b.t.Errorf("%d idle lanes are left", len(b.lanes))
		}
		slices.Sort(order[:3])
		if !slices.Equal(order[:3], []string{"0", "1", "2"}) {
			b.t.Errorf("the first three were %q", order[:3])
		}
	})
}

// TestLanesKeepTheOrderOfOneObject: however wide the lane, the second call starts when the first has ended, and only the last one counts.
func TestLanesKeepTheOrderOfOneObject(t *testing.T) {
	inLanes(t, 4, func(b *bench) {
		gate := make(chan struct{})
		var calls []string
		call := func(name string, gate <-chan struct{}) func(context.Context) Outcome {
			return func(ctx context.Context) Outcome {
				calls = append(calls, name)
				return answers(errors.New(name), gate)(ctx)
			}
		}
		b.Do(ticket("s", "a", "1"), call("1", gate))
		synctest.Wait()
		for _, name := range []string{"2", "3"} {
			if _, done := b.Do(ticket("s", "a", name), call(name, nil)); done {
				b.t.Fatal("done while another call is in flight")
			}
		}
		synctest.Wait()
		if !slices.Equal(calls, []string{"1"}) {
			b.t.Fatalf("calls: %q", calls)
		}
		close(gate)
		synctest.Wait()
		if _, done := b.Do(ticket("s", "a", "3"), call("3", nil)); done {
			b.t.Fatal("the outcome of another call counts")
		}
		synctest.Wait()
		if outcome, done := b.Do(ticket("s", "a", "3"), nil); !done || outcome.Err.Error() != "3" || !slices.Equal(calls, []string{"1", "3"}) {
			b.t.Errorf("outcome %+v, done %v, calls %q", outcome, done, calls)
		}
	})
}

func TestLanesReplaceWhatWaits(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		gate := make(chan struct{})
		b.Do(ticket("s", "first", ""), answers(nil, gate))
		never := func(context.Context) Outcome { b.t.Error("made"); return Outcome{} }
		b.Do(ticket("s", "a", "1"), never)
		b.Do(ticket("s", "b", "1"), never)
		b.Do(ticket("s", "a", "2"), answers(nil, nil))
		b.Drop("b")
		close(gate)
		synctest.Wait()
		if outcome, done := b.Do(ticket("s", "a", "2"), nil); !done || outcome.Err != nil {
			b.t.Errorf("outcome %+v, done %v", outcome, done)
		}
		if !slices.Equal(b.heard(), []string{"first", "a"}) {
			b.t.Errorf("woken: %q", b.heard())
		}
	})
}

// TestLanesLetGoOfAnotherServer: a dead server does not hold an object that has moved on.
func TestLanesLetGoOfAnotherServer(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		gate := make(chan struct{})
		b.Do(ticket("dead", "a", "1"), answers(errors.New("late"), gate))
		synctest.Wait()
		b.Do(ticket("alive", "a", "1"), answers(nil, nil))
		synctest.Wait()
		if outcome, done := b.Do(ticket("alive", "a", "1"), nil); !done || outcome.Err != nil {
			b.t.Fatalf("outcome %+v, done %v", outcome, done)
		}
		close(gate)
		synctest.Wait()
		if outcome, done := b.Do(ticket("alive", "a", "1"), nil); !done || outcome.Err != nil || !slices.Equal(b.heard(), []string{"a"}) {
			b.t.Errorf("outcome %+v, done %v, woken %q", outcome, done, b.heard())
		}
	})
}

func TestLanesDropWhatIsInFlight(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		gate := make(chan struct{})
		b.Do(ticket("s", "a", "1"), answers(nil, gate))
		synctest.Wait()
		b.Forget(ticket("s", "a", "1")) // has not ended: no effect
		if len(b.calls) != 1 {
			b.t.Fatal("a call in flight was forgotten")
		}
		b.Drop("a")
		close(gate)
		synctest.Wait()
		if len(b.heard()) != 0 || len(b.calls) != 0 {
			b.t.Errorf("woken %q, kept %d", b.heard(), len(b.calls))
		}
	})
}

// TestLanesKeepTheOrderAcrossADrop, and across a move to another server and back.
func TestLanesKeepTheOrderAcrossADrop(t *testing.T) {
	for name, between := range map[string]func(*bench){
		"a drop": func(b *bench) { b.Drop("a") },
		"a move": func(b *bench) { b.Do(ticket("other", "a", "1"), answers(nil, nil)); synctest.Wait() },
	} {
		t.Run(name, func(t *testing.T) {
			inLanes(t, 4, func(b *bench) {
				gate := make(chan struct{})
				b.Do(ticket("s", "a", "1"), answers(nil, gate))
				synctest.Wait()
				between(b)
				early := true
				call := func(context.Context) Outcome {
					if early {
						b.t.Error("the first call is still in flight")
					}
					return Outcome{}
				}
				b.Do(ticket("s", "a", "2"), call)
				synctest.Wait()
				early = false
				before := len(b.heard())
				close(gate)
				synctest.Wait()
				if got := b.heard()[before:]; !slices.Equal(got, []string{"a"}) {
					b.t.Fatalf("woken %q", got)
				}
				if _, done := b.Do(ticket("s", "a", "2"), call); done {
					b.t.Fatal("the outcome of the first call counts")
				}
				synctest.Wait()
				if _, done := b.Do(ticket("s", "a", "2"), call); !done {
					b.t.Error("not done")
				}
			})
		})
	}
}

func TestLanesSurviveAPanic(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		b.Do(ticket("s", "a", "1"), func(context.Context) Outcome { panic("a fault") })
		b.Do(ticket("s", "b", "1"), answers(nil, nil))
		synctest.Wait()
		if outcome, done := b.Do(ticket("s", "a", "1"), nil); !done || !errors.Is(outcome.Err, errPanic) {
			b.t.Errorf("outcome %+v, done %v", outcome, done)
		}
		if outcome, done := b.Do(ticket("s", "b", "1"), nil); !done || outcome.Err != nil {
			b.t.Errorf("the call after it: %+v, done %v", outcome, done)
		}
	})
}

// TestLanesEnd: calls in flight are cancelled, those that wait are not made, nobody is woken, and no goroutine stays (TestMain).
func TestLanesEnd(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		made := false
		b.Do(ticket("s", "a", "1"), answers(nil, make(chan struct{})))
		b.Do(ticket("s", "b", "1"), func(context.Context) Outcome { made = true; return Outcome{} })
		synctest.Wait()
		b.cancel()
		b.Wait()
		if _, done := b.Do(ticket("s", "c", "1"), func(context.Context) Outcome { made = true; return Outcome{} }); done {
			b.t.Error("done after the end")
		}
		synctest.Wait()
		if made || len(b.heard()) != 0 {
			b.t.Errorf("made %v, woken %q", made, b.heard())
		}
	})
}

func TestLanesDoNothingBeforeTheStart(t *testing.T) {
	l := NewLanes(1, func(types.NamespacedName) { t.Error("woken") }, slog.New(slog.DiscardHandler))
	if _, done := l.Do(ticket("s", "a", "1"), func(context.Context) Outcome { t.Error("made"); return Outcome{} }); done {
		t.Error("done")
	}
	l.Wait()
}

// TestLanesUnderLoad lets many goroutines do everything at once, for the race detector, and checks that no object ever has two
// calls at a time at one server, and that each asked-for outcome comes in the end.
func TestLanesUnderLoad(t *testing.T) {
	const objects, servers, rounds = 20, 3, 50
	var inFlight [objects][servers]atomic.Int64
	var wake [objects]chan struct{}
	for i := range wake {
		wake[i] = make(chan struct{}, 1)
	}
	names := map[string]int{}
	for i := range objects {
		names[fmt.Sprint(i)] = i
	}
	l := NewLanes(2, func(n types.NamespacedName) {
		select {
		case wake[names[n.Name]] <- struct{}{}:
		default:
		}
	}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l.Start(ctx)
	var all sync.WaitGroup
	for i := range objects {
		all.Go(func() {
			for round := range rounds {
				server := rand.IntN(servers)
				ask := ticket(fmt.Sprint(server), fmt.Sprint(i), fmt.Sprint(round))
				call := func(context.Context) Outcome {
					if inFlight[i][server].Add(1) > 1 {
						t.Errorf("object %d has two calls at once", i)
					}
					runtime.Gosched()
					inFlight[i][server].Add(-1)
					return Outcome{Err: fmt.Errorf("round %d", round)}
				}
				if round%7 == 0 {
					l.Drop(ask.UID)
				}
				for {
					outcome, done := l.Do(ask, call)
					if done {
						if got := outcome.Err.Error(); got != fmt.Sprintf("round %d", round) {
							t.Errorf("object %d: outcome of %s in round %d", i, got, round)
						}
						break
					}
					select {
					case <-wake[i]:
					case <-ctx.Done():
						t.Errorf("object %d was not woken in round %d", i, round)
						return
					}
				}
				if round%2 == 0 {
					l.Forget(ask)
				}
			}
		})
	}
	all.Wait()
	cancel()
	l.Wait()
}
