package main

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestRequiredVersion(t *testing.T) {
	mod := `module example.com/m

tool k8s.io/kubernetes/cmd/kubectl

require k8s.io/single v1.0.0
require (
	go.etcd.io/etcd/server/v3 v3.7.0 // indirect
	k8s.io/kubernetes v1.37.0
	// k8s.io/commented v1.2.3
)

replace k8s.io/api => k8s.io/api v0.37.0
`
	want := map[string]string{
		"k8s.io/kubernetes":         "v1.37.0",
		"go.etcd.io/etcd/server/v3": "v3.7.0",
		"k8s.io/single":             "v1.0.0",
		"k8s.io/api":                "",
		"k8s.io/commented":          "",
		"k8s.io/absent":             "",
	}
	for module, version := range want {
		if got := requiredVersion(mod, module); got != version {
			t.Errorf("%s: %q, want %q", module, got, version)
		}
	}
}

func TestReadVersionsRefusesAnIncompleteGoMod(t *testing.T) {
	for _, mod := range []string{
		"",
		"require k8s.io/kubernetes v1.37.0\n",
		"require go.etcd.io/etcd/server/v3 v3.7.0\n",
		"require go.etcd.io/etcd/server/v3 v3.7.0\nrequire k8s.io/kubernetes latest\n",
	} {
		if v, err := readVersions(mod); err == nil {
			t.Errorf("%q gives %+v", mod, v)
		}
	}
}

func TestKeyDependsOnEveryVersion(t *testing.T) {
	base := versions{kubernetes: "v1.37.0", etcd: "v3.7.0", goVersion: "go1.26.8", platform: "linux-amd64"}
	if got, want := base.key(), "k8s-v1.37.0_etcd-v3.7.0_go1.26.8_linux-amd64_"+recipe; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	changes := map[string]func(*versions){
		"Kubernetes": func(v *versions) { v.kubernetes = "v1.37.1" },
		"etcd":       func(v *versions) { v.etcd = "v3.7.1" },
		"Go":         func(v *versions) { v.goVersion = "go1.26.9" },
		"platform":   func(v *versions) { v.platform = "linux-arm64" },
	}
	for what, change := range changes {
		v := base
		change(&v)
		if v.key() == base.key() {
			t.Errorf("another version of %s has the same key", what)
		}
	}
}

func TestKeyIsOneDirectoryName(t *testing.T) {
	v := versions{kubernetes: "v1.37.0", etcd: "v3.7.0", goVersion: "devel go1.27-abc X:a/b", platform: "linux-amd64"}
	if !regexp.MustCompile(`^[A-Za-z0-9._+-]+$`).MatchString(v.key()) {
		t.Errorf("key %q", v.key())
	}
}

func TestNewCacheIsInTheUsersCacheDirectory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the place differs by system")
	}
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	c, err := newCache(versions{kubernetes: "v1.37.0"}, nil)
	if err != nil || !strings.HasPrefix(c.dir, "/somewhere/namegate/controlplane/k8s-v1.37.0_") {
		t.Errorf("got %+v, %v", c, err)
	}
}

// A bump that forgets a module builds a mixture of two releases, or fails
// only after minutes.
func TestGoModIsConsistent(t *testing.T) {
	v, err := readVersions(goMod)
	if err != nil {
		t.Fatal(err)
	}
	if v.goVersion != runtime.Version() || v.platform != runtime.GOOS+"-"+runtime.GOARCH {
		t.Errorf("the toolchain is %s on %s", v.goVersion, v.platform)
	}
	staging := "v0" + strings.TrimPrefix(v.kubernetes, "v1")
	replaced := regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) => (\S+) (\S+)$`).FindAllStringSubmatch(goMod, -1)
	if len(replaced) < 30 {
		t.Errorf("only %d staging modules are replaced", len(replaced))
	}
	for _, r := range replaced {
		if r[1] != r[2] || r[3] != staging {
			t.Errorf("%s is replaced by %s %s, want %s %s", r[1], r[2], r[3], r[1], staging)
		}
	}
	for _, module := range []string{"go.etcd.io/etcd/api/v3", "go.etcd.io/etcd/client/v3"} {
		if got := requiredVersion(goMod, module); got != v.etcd {
			t.Errorf("%s is at %s, the etcd server at %s", module, got, v.etcd)
		}
	}
	for _, c := range components {
		if !strings.Contains(goMod, "\t"+c.pkg+"\n") {
			t.Errorf("go.mod does not list the tool %s", c.pkg)
		}
	}
}
