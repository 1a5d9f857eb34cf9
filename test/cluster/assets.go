package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// binaries are what a control plane is made of.
var binaries = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"}

// RepoRoot returns the root of the repository: the directory of go.mod, found from this source file, or, in a binary
// built with -trimpath, from the working directory upwards.
func RepoRoot() (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok {
		if root := filepath.Dir(filepath.Dir(filepath.Dir(file))); isRoot(root) {
			return root, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return rootAbove(dir)
}

func rootAbove(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not inside the repository", dir)
		}
	}
}

// isRoot tells the root from the nested modules under test/ by the CRDs, which a cluster needs anyhow.
func isRoot(dir string) bool {
	return isFile(filepath.Join(dir, "go.mod")) && isFile(filepath.Join(dir, "config/webhook/manifests.yaml"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// FindAssets returns the directory of the control plane's binaries: dir if it is not empty, else
// $KUBEBUILDER_ASSETS, else bin/controlplane of the repository. The error names what is missing and how to get it.
func FindAssets(dir, root string) (string, error) {
	if dir == "" {
		dir = os.Getenv("KUBEBUILDER_ASSETS")
	}
	if dir == "" {
		dir = filepath.Join(root, "bin", "controlplane")
	}
	var missing []error
	for _, name := range binaries {
		if path := filepath.Join(dir, name); !isFile(path) {
			missing = append(missing, fmt.Errorf("%s is missing", path))
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("no control plane to run (make controlplane provides it): %w", errors.Join(missing...))
	}
	return filepath.Abs(dir)
}
