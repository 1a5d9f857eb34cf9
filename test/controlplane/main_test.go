package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRunLinksWhatKubebuilderAssetsHolds(t *testing.T) {
	assets := directory(t, "etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	link := filepath.Join(t.TempDir(), "bin", "controlplane")
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"--link", link, "--print-assets"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != link+"\n" || stderr.String() != "" {
		t.Errorf("it printed %q and %q, want the directory alone", &stdout, &stderr)
	}
	for _, c := range components {
		if got, _ := os.Readlink(filepath.Join(link, c.name)); got != filepath.Join(assets, c.name) {
			t.Errorf("%s is linked to %q", c.name, got)
		}
	}
}

func TestRunSaysWhereEachBinaryIsFrom(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", directory(t, "etcd", "kubectl"))
	link := t.TempDir()
	for _, quiet := range []bool{false, true} {
		args := []string{"--link", link, "--component", "kubectl,etcd"}
		if quiet {
			args = append(args, "--quiet")
		}
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, &stdout, &stderr); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(stderr.String(), "KUBEBUILDER_ASSETS"); said == quiet {
			t.Errorf("quiet=%v, and it said %q", quiet, &stderr)
		}
	}
	if _, err := os.Lstat(filepath.Join(link, "kube-apiserver")); err == nil {
		t.Error("kube-apiserver was not wanted")
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		args string
		want string // component names, or "error: " and a part of it
	}{
		{"", "etcd kube-apiserver kube-controller-manager kubectl"},
		{"--component kubectl,etcd,kubectl", "etcd kubectl"},
		{"--component kubelet", `error: unknown component "kubelet"`},
		{"--nonsense", "error: see --help"},
		{"stray", `error: unexpected argument "stray"`},
	}
	for _, test := range tests {
		opts, err := parse(strings.Fields(test.args), "/cache", io.Discard)
		if part, wantErr := strings.CutPrefix(test.want, "error: "); wantErr {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, want %q", test.args, err, part)
			}
			continue
		}
		var names []string
		for _, c := range opts.components {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); err != nil || got != test.want {
			t.Errorf("%q: got %q (%v), want %q", test.args, got, err, test.want)
		}
	}
}

func TestHelpNamesEveryFlagAndTheCache(t *testing.T) {
	var out bytes.Buffer
	_, err := parse([]string{"--help"}, "/the/cache", &out)
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"--link", "--component", "--print-assets", "--quiet", "/the/cache", "kube-controller-manager"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestAssetsDirIgnoresItsOwnOutput(t *testing.T) {
	link := t.TempDir()
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(link, alias); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	for assets, want := range map[string]string{
		"": "", link: "", link + "/.": "", alias: "", other: other, "/nonexistent": "/nonexistent",
	} {
		t.Setenv("KUBEBUILDER_ASSETS", assets)
		if got := assetsDir(link); got != want {
			t.Errorf("KUBEBUILDER_ASSETS=%s: %q, want %q", assets, got, want)
		}
	}
}

func TestLinkDirDefaultsToTheRepository(t *testing.T) {
	if got, _ := linkDir("", "/repo/test/controlplane"); got != "/repo/bin/controlplane" {
		t.Errorf("default %s", got)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := linkDir("x", "/repo/test/controlplane"); got != filepath.Join(wd, "x") {
		t.Errorf("relative: %s", got)
	}
}

func TestModuleDirFindsTheSourcesFromAnywhere(t *testing.T) {
	if _, file, _, _ := runtime.Caller(0); !filepath.IsAbs(file) {
		t.Skip("-trimpath removes where the sources are")
	}
	want, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if got, err := moduleDir(); err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
