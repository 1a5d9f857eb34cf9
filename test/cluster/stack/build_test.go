package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuildSaysWhatIsWrong(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module broken\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { undefined() }\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	err := Build(t.Context(), BuildOptions{Root: root, Dir: t.TempDir(), Log: &log}, Program{Name: "broken", Package: "."})
	if err == nil || !strings.Contains(err.Error(), "build broken") {
		t.Errorf("want an error that names the program, got %v", err)
	}
	if !strings.Contains(log.String(), "undefined") {
		t.Errorf("the log does not have what the compiler says: %q", log.String())
	}
}
