package cluster

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestParentKilled holds that nothing outlives a program that had no chance to stop what it started.
func TestParentKilled(t *testing.T) {
	holder := exec.Command(os.Args[0])
	tmp := t.TempDir() // its own, because every start of a cluster cleans up in the common one
	holder.Env = append(os.Environ(), holderEnv+"=1", "TMPDIR="+tmp)
	holder.Stderr = os.Stderr
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error") {
		t.Fatalf("the holder says %q (%v)", line, err)
	}
	var pids []int
	for _, field := range strings.Fields(line) {
		var pid int
		if _, err := fmt.Sscan(field, &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 3 {
		t.Fatalf("want three processes, got %v", pids)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	awaitGone(t, pids)

	data, err := filepath.Glob(filepath.Join(tmp, fmt.Sprintf("%s%d-*", dataPrefix, holder.Process.Pid)))
	if err != nil || len(data) != 1 {
		t.Fatalf("want the data that the holder left behind, got %v (%v)", data, err)
	}
	removeStaleData(tmp)
	if _, err := os.Stat(data[0]); !os.IsNotExist(err) {
		t.Errorf("the data of a dead program was not removed: %v", err)
	}
}
