package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/stack"
)

// Where the reference DNS server and CoreDNS listen if nobody else does; the sample DNSClass has the first.
const httpPort, dnsPort, corednsPort = 7100, 1054, 1053

// settled bounds the wait for what takes a moment.
const settled = 60 * time.Second

// runner holds what runs.
type runner struct {
	smoke     bool
	out       io.Writer
	root, dir string
	lock      *os.File
	begin     time.Time

	assets   string
	cluster  *cluster.Cluster
	namegate *stack.Namegate
	coredns  *stack.CoreDNS
	dns      *stack.DNSServer
}

func newRunner(smoke bool, out io.Writer) (*runner, error) {
	root, err := cluster.RepoRoot()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "bin", "run")
	if smoke {
		dir = filepath.Join(root, "bin", "smoke")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return &runner{smoke: smoke, out: out, root: root, dir: dir, lock: lock, begin: time.Now()}, removeLogs(dir)
}

// lockDir makes sure that only one run uses the directory. The lock goes with the process, however that ends.
func lockDir(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another run of this clone is up (%s is locked)", lock.Name()), lock.Close())
	}
	return lock, nil
}

func removeLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, log := range logs {
		err = errors.Join(err, os.Remove(log))
	}
	return err
}

// step does one thing and says in one line whether it worked, and how long it took.
func (r *runner) step(name string, do func() error) error {
	begin := time.Now()
	err := do()
	took := time.Since(begin).Seconds()
	if err != nil {
		fmt.Fprintf(r.out, "FAIL %6.1f s  %s\n", took, name)
		return fmt.Errorf("%s: %w", name, errors.Join(err, r.childErrors()))
	}
	fmt.Fprintf(r.out, "ok   %6.1f s  %s\n", took, name)
	return nil
}

// up starts everything, in the order in which one thing needs another.
func (r *runner) up(ctx context.Context) error {
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"the binaries of the control plane are in bin/controlplane", r.provideControlPlane},
		{"namegate, coredns, dnsserver and kubectl-namegate are built into bin", r.build},
		{"etcd, kube-apiserver and kube-controller-manager run", r.startCluster},
		{"the CRDs are served", func(ctx context.Context) error { return r.cluster.InstallCRDs(ctx) }},
		{"the RBAC is installed", func(ctx context.Context) error { return r.cluster.InstallRBAC(ctx, stack.Namespace) }},
		{"namegate all is ready, as its own ServiceAccount, behind the webhooks", r.startNamegate},
		{"the reference DNS server is ready", r.startDNSServer},
		{"CoreDNS is ready, as its own ServiceAccount, with the plugin that answers for Zones", r.startCoreDNS},
		{"the samples are applied and Ready", r.applySamples},
	}
	for _, step := range steps {
		if err := r.step(step.name, func() error { return step.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) provideControlPlane(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "-C", "test/controlplane", ".", "--print-assets", "--link", filepath.Join(r.root, "bin", "controlplane"))
	cmd.Dir, cmd.Stderr = r.root, r.out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	dir, err := cmd.Output()
	r.assets = strings.TrimSpace(string(dir))
	return err
}

func (r *runner) build(ctx context.Context) error {
	return stack.Build(ctx, stack.BuildOptions{Root: r.root, Dir: r.bin(""), Log: r.out},
		stack.NamegateProgram, stack.CoreDNSProgram, stack.DNSServerProgram, stack.KubectlProgram)
}

func (r *runner) startCluster(ctx context.Context) error {
	var err error
	r.cluster, err = cluster.Start(ctx, cluster.Options{Assets: r.assets, ControllerManager: true, LogDir: r.dir})
	if err != nil {
		return err
	}
	return r.cluster.WriteAdminKubeconfig(r.kubeconfig())
}

func (r *runner) startNamegate(ctx context.Context) error {
	var err error
	r.namegate, err = stack.StartNamegate(ctx, r.cluster, stack.NamegateOptions{
		Binary:  r.bin("namegate"),
		LogFile: filepath.Join(r.dir, "namegate.log"),
		// Shorter than in production: a person waits.
		Env: []string{"DNS_CLASS_HEALTH_CHECK_INTERVAL=30s", "DNS_RECORD_RETRY_BASE_DELAY=1s", "DNS_RECORD_RETRY_MAX_DELAY=10s"},
	})
	return err
}

func (r *runner) startDNSServer(ctx context.Context) error {
	opts := stack.DNSServerOptions{Binary: r.bin("dnsserver"), LogFile: filepath.Join(r.dir, "dnsserver.log")}
	if !r.smoke {
		opts.Port, opts.DNSPort = ifFree(httpPort), ifFree(dnsPort)
	}
	var err error
	r.dns, err = stack.StartDNSServer(ctx, opts)
	return err
}

func (r *runner) startCoreDNS(ctx context.Context) error {
	opts := stack.CoreDNSOptions{Binary: r.bin("coredns"), LogFile: filepath.Join(r.dir, "coredns.log")}
	if !r.smoke {
		opts.Port = ifFree(corednsPort)
	}
	var err error
	r.coredns, err = stack.StartCoreDNS(ctx, r.cluster, opts)
	return err
}

// ifFree returns the port, or 0, which takes another one, if it is taken.
func ifFree(port int) int {
	if cluster.PortIsFree(port) {
		return port
	}
	return 0
}

func (r *runner) applySamples(ctx context.Context) error {
	samples, err := cluster.ReadManifests(filepath.Join(r.root, "config", "samples"))
	if err != nil {
		return err
	}
	zonesFirst(samples)
	if err := serveFrom(samples, r.dns.URL); err != nil {
		return err
	}
	manifest, err := encode(samples)
	if err != nil {
		return err
	}
	// With kubectl, as a user applies them: a later apply of the same files then finds its own marks.
	if _, err := r.cluster.Kubectl(ctx, bytes.NewReader(manifest), "apply", "-f", "-"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	for _, sample := range samples {
		if err := stack.AwaitReady(ctx, r.cluster.Client(), sample); err != nil {
			return err
		}
	}
	return nil
}

// zonesFirst moves Zones before all else, as config/samples/kustomization.yaml has them: a Record that comes before its Zone is admitted
// with a warning.
func zonesFirst(samples []*unstructured.Unstructured) {
	slices.SortStableFunc(samples, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(rank(a), rank(b))
	})
}

func rank(sample *unstructured.Unstructured) int {
	if sample.GetKind() == "Zone" {
		return 0
	}
	return 1
}

// serveFrom points every DNSClass of the samples at the DNS server that runs.
func serveFrom(samples []*unstructured.Unstructured, url string) error {
	for _, sample := range samples {
		if sample.GetKind() != "DNSClass" {
			continue
		}
		if err := unstructured.SetNestedField(sample.Object, url, "spec", "server"); err != nil {
			return err
		}
	}
	return nil
}

func encode(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(document)
	}
	return out.Bytes(), nil
}

// stay returns nil when ctx ends, and an error when a process ends before.
func (r *runner) stay(ctx context.Context) error {
	ended := make(chan struct{}, len(r.children()))
	for _, child := range r.children() {
		go func() {
			<-child.Done()
			ended <- struct{}{}
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-ended:
		return r.childErrors()
	}
}

// children are the processes that run, in the order in which they are stopped.
func (r *runner) children() []*process.Process {
	var all []*process.Process
	if r.namegate != nil && r.namegate.Process() != nil {
		all = append(all, r.namegate.Process())
	}
	if r.coredns != nil && r.coredns.Process() != nil {
		all = append(all, r.coredns.Process())
	}
	if r.dns != nil && r.dns.Process() != nil {
		all = append(all, r.dns.Process())
	}
	if r.cluster != nil {
		all = append(all, r.cluster.Processes()...)
	}
	return all
}

// childErrors tells of every process that has ended by itself.
func (r *runner) childErrors() error {
	var errs []error
	for _, child := range r.children() {
		errs = append(errs, child.Err())
	}
	return errors.Join(errs...)
}

// stopAll stops every process and makes sure that none is left.
func (r *runner) stopAll() error {
	children := r.children()
	var errs []error
	if r.namegate != nil && r.namegate.Process() != nil {
		errs = append(errs, r.namegate.Stop())
	}
	if r.coredns != nil && r.coredns.Process() != nil {
		errs = append(errs, r.coredns.Stop())
	}
	if r.dns != nil && r.dns.Process() != nil {
		errs = append(errs, r.dns.Stop())
	}
	if r.cluster != nil {
		errs = append(errs, r.cluster.Stop())
	}
	for _, child := range children {
		if groupExists(child.Pid()) {
			errs = append(errs, fmt.Errorf("%s (process group %d) is still there", child.Name(), child.Pid()))
		}
	}
	r.namegate, r.coredns, r.dns, r.cluster = nil, nil, nil, nil
	return errors.Join(errs...)
}

// groupExists says whether any process of a group exists. Each child leads a group, so this finds its children too.
func groupExists(pgid int) bool { return !errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) }

// close stops everything, and removes the kubeconfig, which leads nowhere any more. The logs stay.
func (r *runner) close() error {
	err := r.stopAll()
	if removed := os.Remove(r.kubeconfig()); !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return errors.Join(err, r.lock.Close())
}

func (r *runner) bin(name string) string { return filepath.Join(r.root, "bin", name) }

func (r *runner) kubeconfig() string { return filepath.Join(r.dir, "kubeconfig") }
