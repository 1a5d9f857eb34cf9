package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResolveBuildsAllOnceAndThenUsesTheCache(t *testing.T) {
	f := newFixture(t)
	want := "etcd=build kube-apiserver=build kube-controller-manager=build kubectl=build"
	if got := f.origins(t); got != want {
		t.Errorf("first run: %s, want %s", got, want)
	}
	want = strings.ReplaceAll(want, "build", "cache")
	if got := f.origins(t); got != want {
		t.Errorf("second run: %s, want %s", got, want)
	}
	f.wantBuilt(t, "etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
}

func TestResolveLooksInTheRightOrder(t *testing.T) {
	envtest := []string{"etcd", "kube-apiserver", "kubectl"}
	all := append([]string{"kube-controller-manager"}, envtest...)
	tests := []struct {
		name      string
		assets    []string // nil: not set
		cached    []string
		download  []string // nil: fails
		want      string
		downloads int
	}{
		{
			name: "assets win over everything", assets: all, cached: all, download: all,
			want: "etcd=KUBEBUILDER_ASSETS kube-apiserver=KUBEBUILDER_ASSETS kube-controller-manager=KUBEBUILDER_ASSETS kubectl=KUBEBUILDER_ASSETS",
		},
		{
			name: "what assets lack comes from the cache", assets: envtest, cached: all, download: all,
			want: "etcd=KUBEBUILDER_ASSETS kube-apiserver=KUBEBUILDER_ASSETS kube-controller-manager=cache kubectl=KUBEBUILDER_ASSETS",
		},
		{
			name: "what assets and cache lack is built, not asked of setup-envtest", assets: envtest, download: envtest,
			want: "etcd=KUBEBUILDER_ASSETS kube-apiserver=KUBEBUILDER_ASSETS kube-controller-manager=build kubectl=KUBEBUILDER_ASSETS",
		},
		{
			name: "the cache wins over setup-envtest", cached: all, download: all,
			want: "etcd=cache kube-apiserver=cache kube-controller-manager=cache kubectl=cache",
		},
		{
			name: "setup-envtest wins over a build", download: envtest, downloads: 1,
			want: "etcd=setup-envtest kube-apiserver=setup-envtest kube-controller-manager=build kubectl=setup-envtest",
		},
		{
			name: "setup-envtest does not replace what is cached", cached: []string{"etcd"}, download: envtest, downloads: 1,
			want: "etcd=cache kube-apiserver=setup-envtest kube-controller-manager=build kubectl=setup-envtest",
		},
		{
			name: "a failing setup-envtest is no obstacle", cached: []string{"etcd"}, downloads: 1,
			want: "etcd=cache kube-apiserver=build kube-controller-manager=build kubectl=build",
		},
		{
			name: "assets without binaries count for nothing", assets: []string{"README"}, cached: all,
			want: "etcd=cache kube-apiserver=cache kube-controller-manager=cache kubectl=cache",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			if test.assets != nil {
				f.assets = directory(t, test.assets...)
			}
			for _, name := range test.cached {
				executable(t, filepath.Join(f.cache.dir, name))
			}
			f.downloadFrom("")
			if test.download != nil {
				f.downloadFrom(directory(t, test.download...))
			}
			if got := f.origins(t); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if f.downloads != test.downloads {
				t.Errorf("setup-envtest was asked %d times, want %d", f.downloads, test.downloads)
			}
		})
	}
}

func TestResolveRemembersWhatSetupEnvtestGave(t *testing.T) {
	f := newFixture(t)
	store := directory(t, "etcd", "kube-apiserver", "kubectl")
	f.downloadFrom(store)
	f.origins(t)
	if got, want := f.origins(t), "etcd=cache kube-apiserver=cache kube-controller-manager=cache kubectl=cache"; got != want {
		t.Errorf("second run: %s, want %s", got, want)
	}
	if f.downloads != 1 {
		t.Errorf("setup-envtest was asked %d times, want once", f.downloads)
	}

	// Once the store is cleaned up, the links dangle and must not be used.
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	f.downloadFrom("")
	if got, want := f.origins(t), "etcd=build kube-apiserver=build kube-controller-manager=cache kubectl=build"; got != want {
		t.Errorf("after the store is gone: %s, want %s", got, want)
	}
}

func TestResolveReportsAFailedDownloadInOneLine(t *testing.T) {
	f := newFixture(t)
	f.downloadFrom("")
	f.origins(t)
	if n := strings.Count(f.out.String(), "no network"); n != 1 {
		t.Errorf("the failure is reported %d times, want once:\n%s", n, f.out)
	}
}

func TestResolveStopsWhenInterruptedInTheDownload(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.download = func(context.Context) (string, error) {
		cancel()
		return "", errors.New("killed")
	}
	if _, err := f.resolve(ctx, components); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	f.wantBuilt(t)
}

func TestResolveNamesTheComponentThatFails(t *testing.T) {
	f := newFixture(t)
	broken := errors.New("it does not compile")
	f.build = func(_ context.Context, j job, out string) error {
		if j.name == "kube-apiserver" {
			// As a compiler that dies half-way would.
			if err := os.WriteFile(out, []byte("half"), 0o755); err != nil {
				return err
			}
			return broken
		}
		return f.fakeBuild(t.Context(), j, out)
	}
	_, err := f.resolve(t.Context(), components)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "kube-apiserver: ") {
		t.Errorf("got %v, want kube-apiserver: %v", err, broken)
	}
	if _, ok := f.cache.lookup(named(t, "kube-apiserver")); ok {
		t.Error("the failed build is in the cache")
	}
	if _, ok := f.cache.lookup(named(t, "etcd")); !ok {
		t.Error("etcd, which was built before, is not in the cache")
	}
	wantNoEntries(t, f.cache.dir, scratchPrefix+"*")
}

func TestResolveGivesOnlyWhatIsWanted(t *testing.T) {
	f := newFixture(t)
	binaries, err := f.resolve(t.Context(), []component{named(t, "kubectl")})
	if err != nil {
		t.Fatal(err)
	}
	if len(binaries) != 1 || binaries[0].name != "kubectl" {
		t.Errorf("got %v, want kubectl alone", binaries)
	}
	f.wantBuilt(t, "kubectl")
}
