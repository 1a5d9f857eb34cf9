// Command controlplane provides the control plane the tests run against:
// etcd, kube-apiserver, kube-controller-manager and kubectl, built once per
// version and machine from their Go modules. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const usage = `Usage: controlplane [--link DIR] [--component X,...] [--print-assets] [--quiet]

Provides the binaries of a Kubernetes control plane, links them into a
directory and prints that directory. A binary comes from the first of

  1. $KUBEBUILDER_ASSETS
  2. the cache: %s
  3. setup-envtest, if it is on PATH and can download this version
  4. a build from the Go modules named in go.mod (the first takes minutes)

Flags:
  --link DIR          link into DIR (default: bin/controlplane of the repository);
                      a relative DIR starts at the working directory, which
                      "go run -C" sets to test/controlplane
  --component X,...   only these of %s
  --print-assets      print the directory and nothing else, unless something
                      has to be built: for KUBEBUILDER_ASSETS=$(...)
  --quiet             no progress: only errors and the directory
  --help              this text
`

type options struct {
	link        string
	components  []component
	printAssets bool
	quiet       bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// After the first signal, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "controlplane: stopped:", err)
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	v, err := readVersions(goMod)
	if err != nil {
		return err
	}
	log := &progress{out: stderr}
	cache, err := newCache(v, log)
	if err != nil {
		return err
	}
	opts, err := parse(args, cache.dir, stdout)
	if err != nil {
		return err
	}
	log.quiet = opts.quiet
	dir, err := moduleDir()
	if err != nil {
		return err
	}
	link, err := linkDir(opts.link, dir)
	if err != nil {
		return err
	}
	r := &resolver{
		assets:   assetsDir(link),
		cache:    cache,
		download: envtestDownload(v, downloadLimit, log),
		build:    (&goBuilder{goTool: "go", moduleDir: dir, versions: v, log: log}).build,
		log:      log,
	}
	binaries, err := r.resolve(ctx, opts.components)
	if err != nil {
		return err
	}
	if err := linkAll(link, binaries); err != nil {
		return err
	}
	if !opts.printAssets {
		describe(log, binaries)
	}
	_, err = fmt.Fprintln(stdout, link)
	return err
}

func parse(args []string, cacheDir string, stdout io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("controlplane", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error, once
	flags.StringVar(&opts.link, "link", "", "")
	list := flags.String("component", "", "")
	flags.BoolVar(&opts.printAssets, "print-assets", false, "")
	flags.BoolVar(&opts.quiet, "quiet", false, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, usage, cacheDir, componentNames())
		return opts, err
	}
	if err != nil {
		return opts, fmt.Errorf("%w; see --help", err)
	}
	if flags.NArg() > 0 {
		return opts, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	opts.components, err = selectComponents(*list)
	return opts, err
}

// moduleDir finds this module's sources. `go run -C` makes them the working
// directory; a program built before and called from elsewhere remembers them.
func moduleDir() (string, error) {
	var candidates []string
	if dir, err := os.Getwd(); err == nil {
		candidates = append(candidates, dir)
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		candidates = append(candidates, filepath.Dir(file))
	}
	for _, dir := range candidates {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && string(content) == goMod {
			return dir, nil
		}
	}
	return "", fmt.Errorf("cannot find the sources this program was built from (looked in %s); call it with go run -C test/controlplane . there", strings.Join(candidates, ", "))
}

// linkDir returns the directory for the links, absolute.
func linkDir(flagValue, module string) (string, error) {
	if flagValue == "" {
		return filepath.Join(module, "..", "..", "bin", "controlplane"), nil
	}
	return filepath.Abs(flagValue)
}

// assetsDir returns KUBEBUILDER_ASSETS, unless it is the very directory this
// program links into: its own earlier output must not pin an old version.
func assetsDir(link string) string {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return ""
	}
	if absolute, err := filepath.Abs(assets); err == nil {
		assets = absolute
	}
	a, errA := os.Stat(assets)
	l, errL := os.Stat(link)
	if assets == link || errA == nil && errL == nil && os.SameFile(a, l) {
		return ""
	}
	return assets
}

func linkAll(dir string, binaries []binary) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot create the directory for the links: %w", err)
	}
	for _, b := range binaries {
		if err := replaceLink(filepath.Join(dir, b.name), b.path); err != nil {
			return err
		}
	}
	return nil
}

func describe(log *progress, binaries []binary) {
	for _, b := range binaries {
		log.printf("%-23s %s (%s)", b.name, b.path, b.from)
	}
}
