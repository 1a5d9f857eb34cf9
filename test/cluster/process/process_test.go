package process

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Spec{Name: "child", Path: "/bin/sh", Args: []string{"-c", script}, LogFile: filepath.Join(t.TempDir(), "child.log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func awaitLog(t *testing.T, p *Process, want string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		log, err := p.Log()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log, want) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the log never held %q: %q", want, log)
		case <-tick.C:
		}
	}
}

func TestErrTellsHowAndWhatItSaidLast(t *testing.T) {
	p := start(t, "echo first; echo last words >&2; exit 3")
	<-p.Done()
	err := p.Err()
	if err == nil || !strings.Contains(err.Error(), "child has ended (exit status 3)") || !strings.Contains(err.Error(), "  last words") {
		t.Errorf("got %v", err)
	}
}

func TestStopEndsTheGroup(t *testing.T) {
	p := start(t, "trap 'echo bye; exit 0' TERM; sleep 1000 & echo up; wait")
	awaitLog(t, p, "up")
	if err := p.Err(); err != nil {
		t.Fatalf("it runs, and yet: %v", err)
	}
	if err := p.Stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	awaitLog(t, p, "bye")
	if err := p.Stop(time.Second); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestStopKillsWhatWillNotEnd(t *testing.T) {
	p := start(t, "trap '' TERM; echo up; while :; do sleep 1000; done")
	awaitLog(t, p, "up")
	if err := p.Stop(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("want an error that says that it was killed, got %v", err)
	}
	if !p.Exited() {
		t.Error("it still runs")
	}
}

func TestStartOfNothing(t *testing.T) {
	if _, err := Start(Spec{Path: "/nonexistent/program"}); err == nil || !strings.Contains(err.Error(), "start program") {
		t.Errorf("got %v", err)
	}
}

func TestLastLines(t *testing.T) {
	tests := map[string]struct {
		content string
		lines   int
		want    string
	}{
		"fewer than asked for": {"a\nb\n", 5, "  a\n  b"},
		"more than asked for":  {"a\nb\nc", 2, "  b\n  c"},
		"a line too wide":      {strings.Repeat("x", 400), 1, "  " + strings.Repeat("x", 300) + " …"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lastLines([]byte(test.content), test.lines); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
