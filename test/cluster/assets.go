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

// FindAssets returns the directory of the control plane's binaries: dir if it is not empty, else the first that has all
// of them of $KUBEBUILDER_ASSETS and bin/controlplane of the repository (into which test/controlplane links what
// $KUBEBUILDER_ASSETS has, and what it lacks). The error names what is missing and how to get it.
func FindAssets(dir, root string) (string, error) {
	var candidates []string
	switch env := os.Getenv("KUBEBUILDER_ASSETS"); {
	case dir != "":
		candidates = []string{dir}
	case env != "":
		candidates = []string{env, filepath.Join(root, "bin", "controlplane")}
	default:
		candidates = []string{filepath.Join(root, "bin", "controlplane")}
	}
	var errs []error
	for _, candidate := range candidates {
		err := hasAll(candidate)
		if err == nil {
			return filepath.Abs(candidate)
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no control plane to run (make controlplane provides it): %w", errors.Join(errs...))
}

func hasAll(dir string) error {
	var missing []error
	for _, name := range binaries {
		if path := filepath.Join(dir, name); !isFile(path) {
			missing = append(missing, fmt.Errorf("%s is missing", path))
		}
	}
	return errors.Join(missing...)
}
