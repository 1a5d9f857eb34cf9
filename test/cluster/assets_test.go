package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindAssets(t *testing.T) {
	complete, partial, root := t.TempDir(), t.TempDir(), t.TempDir()
	linked := filepath.Join(root, "bin", "controlplane")
	if err := os.MkdirAll(linked, 0o700); err != nil {
		t.Fatal(err)
	}
	touch(t, complete, binaries...)
	touch(t, linked, binaries...)
	touch(t, partial, "etcd", "kube-apiserver", "kubectl")

	tests := map[string]struct {
		dir, env, root string
		want, wantErr  string
	}{
		"the directory that is asked for":     {dir: complete, env: partial, root: root, want: complete},
		"which must be complete":              {dir: partial, root: root, wantErr: "kube-controller-manager is missing"},
		"then the environment":                {env: complete, root: root, want: complete},
		"unless that is incomplete":           {env: partial, root: root, want: linked},
		"then what the repository has linked": {root: root, want: linked},
		"else how to get it":                  {root: t.TempDir(), wantErr: "make controlplane"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", test.env)
			got, err := FindAssets(test.dir, test.root)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("want an error with %q, got %v", test.wantErr, err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
