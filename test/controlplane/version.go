package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// go.mod is the only place that names versions; a bump is an edit there.
//
//go:embed go.mod
var goMod string

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// recipe is part of the cache key. Raise it when the way of building changes
// (tags, flags) while the versions stay, or old binaries would stay in use.
const recipe = "r1"

type versions struct {
	kubernetes string // v1.37.0
	etcd       string // v3.7.0
	goVersion  string // go1.26.8
	platform   string // linux-amd64
}

// readVersions takes the module versions from go.mod and the toolchain from
// the running program: `go run` compiles it with the toolchain that will
// compile the components, and asking costs no `go` call.
func readVersions(mod string) (versions, error) {
	v := versions{
		kubernetes: requiredVersion(mod, kubernetesModule),
		etcd:       requiredVersion(mod, etcdModule),
		goVersion:  runtime.Version(),
		platform:   runtime.GOOS + "-" + runtime.GOARCH,
	}
	if v.kubernetes == "" || v.etcd == "" {
		return v, fmt.Errorf("go.mod does not require both %s and %s", kubernetesModule, etcdModule)
	}
	if !kubernetesPattern.MatchString(v.kubernetes) {
		return v, fmt.Errorf("go.mod: cannot read %s version %q", kubernetesModule, v.kubernetes)
	}
	return v, nil
}

// requiredVersion finds "module vX" in the require lines of a go.mod, or
// returns "". Replace lines contain "=>" and tool lines have no version, so
// neither matches.
func requiredVersion(mod, module string) string {
	for line := range strings.Lines(mod) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) == 2 && fields[0] == module {
			return fields[1]
		}
	}
	return ""
}

var (
	kubernetesPattern = regexp.MustCompile(`^v(\d+)\.(\d+)\.\d+`)
	unsafeInKey       = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)
)

// key names the cache directory. Everything that changes the bytes of a
// binary in a way we care about is in it.
func (v versions) key() string {
	parts := []string{"k8s-" + v.kubernetes, "etcd-" + v.etcd, v.goVersion, v.platform, recipe}
	for i, part := range parts {
		// A toolchain built with experiments has spaces in its version.
		parts[i] = unsafeInKey.ReplaceAllString(part, "-")
	}
	return strings.Join(parts, "_")
}

// majorMinor returns "1", "37" for v1.37.0.
func (v versions) majorMinor() (string, string) {
	m := kubernetesPattern.FindStringSubmatch(v.kubernetes)
	return m[1], m[2]
}
