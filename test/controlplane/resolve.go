package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// resolver finds a binary for each component, the cheapest way first.
type resolver struct {
	// assets is KUBEBUILDER_ASSETS, or "": what the user set, wins.
	assets string
	cache  *cache
	// download asks setup-envtest for a directory; nil where there is none.
	download func(context.Context) (string, error)
	build    buildFunc
	log      *progress
}

// buildFunc writes the binary of a component to out.
type buildFunc func(ctx context.Context, job job, out string) error

// job is one of the builds of a run: step is 1 of total, and so on.
type job struct {
	component
	step, total int
}

// binary is a resolved component.
type binary struct {
	component
	path string
	from string
}

// resolve returns a binary for each wanted component, in the order given.
func (r *resolver) resolve(ctx context.Context, wanted []component) ([]binary, error) {
	found := map[string]binary{}
	missing := r.fromAssets(wanted, found)
	missing = r.fromCache(missing, found)
	missing, err := r.fromDownload(ctx, missing, found)
	if err != nil {
		return nil, err
	}
	if err := r.fromBuild(ctx, missing, found); err != nil {
		return nil, err
	}
	binaries := make([]binary, len(wanted))
	for i, c := range wanted {
		binaries[i] = found[c.name]
	}
	return binaries, nil
}

// pick records what find has of the wanted components and returns the rest.
func pick(wanted []component, found map[string]binary, from string, find func(component) (string, bool)) []component {
	var missing []component
	for _, c := range wanted {
		if path, ok := find(c); ok {
			found[c.name] = binary{component: c, path: path, from: from}
		} else {
			missing = append(missing, c)
		}
	}
	return missing
}

// inDirectory finds components by name. It does not resolve links: a program
// may look at the name it is called by.
func inDirectory(dir string) func(component) (string, bool) {
	return func(c component) (string, bool) {
		path := filepath.Join(dir, c.name)
		return path, isExecutable(path)
	}
}

func (r *resolver) fromAssets(wanted []component, found map[string]binary) []component {
	if r.assets == "" {
		return wanted
	}
	missing := pick(wanted, found, "KUBEBUILDER_ASSETS", inDirectory(r.assets))
	if len(missing) == len(wanted) {
		r.log.printf("KUBEBUILDER_ASSETS=%s has none of the binaries; going on without it", r.assets)
	}
	return missing
}

func (r *resolver) fromCache(wanted []component, found map[string]binary) []component {
	return pick(wanted, found, "cache", r.cache.lookup)
}

// fromDownload tries setup-envtest. That it fails (no network, no release for
// this version yet) is no error: everything can be built.
func (r *resolver) fromDownload(ctx context.Context, wanted []component, found map[string]binary) ([]component, error) {
	if r.download == nil || !anyInEnvtest(wanted) {
		return wanted, nil
	}
	dir, err := r.download(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		r.log.printf("setup-envtest: %v; building instead", err)
		return wanted, nil
	}
	missing := pick(wanted, found, "setup-envtest", inDirectory(dir))
	for _, b := range found {
		if b.from != "setup-envtest" {
			continue
		}
		if err := r.cache.adopt(b.component, b.path); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

func anyInEnvtest(list []component) bool {
	for _, c := range list {
		if c.envtest {
			return true
		}
	}
	return false
}

func (r *resolver) fromBuild(ctx context.Context, wanted []component, found map[string]binary) error {
	if len(wanted) == 0 {
		return nil
	}
	started := time.Now()
	r.log.printf("%d to build, once for this version and machine; all four take minutes", len(wanted))
	for i, c := range wanted {
		j := job{component: c, step: i + 1, total: len(wanted)}
		path, err := r.cache.fill(ctx, c, func(out string) error { return r.build(ctx, j, out) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		found[c.name] = binary{component: c, path: path, from: "build"}
	}
	r.log.printf("%d ready after %s, kept in %s", len(wanted), seconds(time.Since(started)), r.cache.dir)
	return nil
}
