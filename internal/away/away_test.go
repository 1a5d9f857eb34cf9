package away_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/namegate/namegate/internal/away"
)

// failure is an error as an HTTP client returns it.
func failure(why error) error {
	return &url.Error{Op: "Get", URL: "https://10.0.0.1", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", why)}}
}

// server is one that fails for a while, and then in another way for another while.
type server struct {
	until    time.Time
	err      error
	attempts []time.Time
	// then is what it answers from until on, for as long as after.
	then  error
	after time.Duration
}

func (s *server) watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.attempts = append(s.attempts, time.Now())
	if time.Now().Before(s.until) {
		return nil, s.err
	}
	if time.Now().Before(s.until.Add(s.after)) {
		return nil, s.then
	}
	return watch.NewFake(), nil
}

func patient(s *server, told *int) cache.ListerWatcherWithContext {
	return cache.ToListerWatcherWithContext(away.Patient(&cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, s.err },
		WatchFuncWithContext: s.watch,
	}, func(error) { *told++ }))
}

// TestWaits: however long the server was away, a watch goes on soon after it is back, and asks no more than about once a second until then.
func TestWaits(t *testing.T) {
	for _, outage := range []time.Duration{time.Second, time.Minute, time.Hour} {
		for name, why := range map[string]error{"refused": syscall.ECONNREFUSED, "reset": syscall.ECONNRESET, "no route": syscall.EHOSTUNREACH, "no network": syscall.ENETUNREACH} {
			t.Run(outage.String()+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					told, s := 0, &server{until: time.Now().Add(outage), err: failure(why)}
					w, err := patient(s, &told).WatchWithContext(t.Context(), metav1.ListOptions{})
					if w == nil || err != nil {
						t.Fatalf("watch %v, error %v", w, err)
					}
					if late := time.Since(s.until); late > 1500*time.Millisecond {
						t.Errorf("%s after the server", late)
					}
					if most := 5 + int(outage/time.Second); len(s.attempts) > most {
						t.Errorf("%d attempts in %s, want %d at most", len(s.attempts), outage, most)
					}
					if told != 1 {
						t.Errorf("told %d times", told)
					}
				})
			})
		}
	}
}

// TestAnswersAreTaken: what a server answers, and what is no matter of time, goes to the reflector, which has its own delays for it.
func TestAnswersAreTaken(t *testing.T) {
	for name, err := range map[string]error{
		"too many requests":   apierrors.NewTooManyRequests("later", 1),
		"internal error":      apierrors.NewInternalError(errors.New("etcd is away")),
		"too old":             apierrors.NewResourceExpired("too old"),
		"forbidden":           apierrors.NewForbidden(metav1.SchemeGroupVersion.WithResource("zones").GroupResource(), "", nil),
		"unknown certificate": &url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("x509: unknown authority")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, s := 0, &server{until: time.Now().Add(time.Hour), err: err}
				if _, got := patient(s, &told).WatchWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(got, err) || len(s.attempts) != 1 || told != 0 {
					t.Errorf("error %v after %d attempts, told %d times", got, len(s.attempts), told)
				}
			})
		})
	}
}

// TestSettling: a server that is just back refuses for a while what it allows; one that goes on refusing means it, and one that has too much to do is
// left to the reflector.
func TestSettling(t *testing.T) {
	forbidden := apierrors.NewForbidden(metav1.SchemeGroupVersion.WithResource("zones").GroupResource(), "", nil)
	for name, tc := range map[string]struct {
		then    error
		after   time.Duration
		longest time.Duration // 0: the error comes at once
	}{
		"roles not read yet":     {forbidden, 5 * time.Second, 7 * time.Second},
		"kinds not read yet":     {apierrors.NewNotFound(metav1.SchemeGroupVersion.WithResource("zones").GroupResource(), ""), 5 * time.Second, 7 * time.Second},
		"not ready":              {apierrors.NewServiceUnavailable("soon"), 5 * time.Second, 7 * time.Second},
		"storage not ready":      {apierrors.NewInternalError(errors.New("no leader")), 5 * time.Second, 7 * time.Second},
		"not known who asks":     {apierrors.NewUnauthorized("who are you"), 5 * time.Second, 7 * time.Second},
		"forbidden":              {forbidden, time.Hour, 0},
		"too much to do":         {apierrors.NewTooManyRequests("later", 1), 5 * time.Second, 0},
		"changes not kept":       {apierrors.NewResourceExpired("too old"), 5 * time.Second, 0},
		"nothing but connection": {nil, 0, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, s := 0, &server{until: time.Now().Add(time.Minute), err: failure(syscall.ECONNREFUSED), then: tc.then, after: tc.after}
				_, err := patient(s, &told).WatchWithContext(t.Context(), metav1.ListOptions{})
				if (err == nil) != (tc.longest > 0) || tc.longest == 0 && !errors.Is(err, tc.then) {
					t.Fatalf("error %v", err)
				}
				if late := time.Since(s.until); late > max(tc.longest, 18*time.Second) || tc.longest > 0 && late > tc.longest {
					t.Errorf("%s after the server", late)
				}
			})
		})
	}
}

// TestListsDoNotWait: nobody could end one, because reflectors give them no context.
func TestListsDoNotWait(t *testing.T) {
	told, s := 0, &server{err: failure(syscall.ECONNREFUSED)}
	if _, err := patient(s, &told).ListWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

// TestWaitingEnds with the context.
func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		told, s := 0, &server{until: time.Now().Add(time.Hour), err: failure(syscall.ECONNREFUSED)}
		begin := time.Now()
		if _, err := patient(s, &told).WatchWithContext(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 10*time.Second {
			t.Errorf("error %v after %s", err, time.Since(begin))
		}
	})
}

// TestStreamingLists stay off where a client cannot do them.
func TestStreamingLists(t *testing.T) {
	type flagged interface{ IsWatchListSemanticsUnSupported() bool }
	plain, ok := away.Patient(&cache.ListWatch{}, nil).(flagged)
	if !ok || plain.IsWatchListSemanticsUnSupported() {
		t.Error("streaming lists are off")
	}
	off, ok := away.Patient(unable{&cache.ListWatch{}}, nil).(flagged)
	if !ok || !off.IsWatchListSemanticsUnSupported() {
		t.Error("streaming lists are on")
	}
}

// unable is a client without streaming lists.
type unable struct{ *cache.ListWatch }

func (unable) IsWatchListSemanticsUnSupported() bool { return true }
