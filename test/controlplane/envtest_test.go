package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// installEnvtest puts a fake setup-envtest on PATH and returns its question.
func installEnvtest(t *testing.T, body string, limit time.Duration) (string, error) {
	t.Helper()
	tool := script(t, "setup-envtest", body)
	t.Setenv("PATH", filepath.Dir(tool)+":"+os.Getenv("PATH"))
	var out syncBuffer
	ask := envtestDownload(versions{kubernetes: "v1.37.0"}, limit, &progress{out: &out})
	if ask == nil {
		t.Fatal("setup-envtest on PATH is not found")
	}
	return ask(t.Context())
}

func TestWithoutSetupEnvtestThereIsNothingToAsk(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if envtestDownload(versions{kubernetes: "v1.37.0"}, time.Second, &progress{}) != nil {
		t.Error("found one in an empty directory")
	}
}

func TestSetupEnvtestIsAskedForTheMinorRelease(t *testing.T) {
	dir, err := installEnvtest(t, `[ "$*" = "use -p path 1.37.x" ] || exit 9; printf /the/store`, time.Minute)
	if err != nil || dir != "/the/store" {
		t.Errorf("got %q, %v", dir, err)
	}
}

func TestAFailingSetupEnvtestGivesOneLine(t *testing.T) {
	_, err := installEnvtest(t, "echo usage >&2; echo unable to list versions >&2; exit 2", time.Minute)
	if err == nil || !strings.Contains(err.Error(), "unable to list versions") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestASilentSetupEnvtestIsAFailure(t *testing.T) {
	if dir, err := installEnvtest(t, "exit 0", time.Minute); err == nil {
		t.Errorf("got %q", dir)
	}
}

func TestAHangingSetupEnvtestIsCutOff(t *testing.T) {
	started := time.Now()
	_, err := installEnvtest(t, "sleep 60", 100*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "no result in 100ms") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
