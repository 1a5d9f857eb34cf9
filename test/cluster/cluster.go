// Package cluster runs a real Kubernetes control plane for tests and for `make run`: etcd, kube-apiserver and
// kube-controller-manager as child processes, with RBAC on, on free ports of 127.0.0.1, with its data in a temporary
// directory. It installs what Namegate ships (CRDs, RBAC, webhook configurations) and hands out the credentials of
// Namegate's ServiceAccount, because the operator runs with those and never as admin.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/cluster/process"
)

// Options of a control plane. The zero value is usable.
type Options struct {
	// Assets is the directory of the binaries; see FindAssets for what an empty one means.
	Assets string
	// ControllerManager runs kube-controller-manager too, without which no garbage is collected and no namespace
	// ever finishes its deletion.
	ControllerManager bool
	// AuditWrites has the API server log each write request, without its body, to the file AuditLog.
	AuditWrites bool
	// LogDir gets etcd.log, kube-apiserver.log and kube-controller-manager.log. Default: the data directory, which
	// Stop removes.
	LogDir string
	// Log gets a line per stage. Default: nothing is logged.
	Log io.Writer
}

// Cluster is a control plane that runs.
type Cluster struct {
	root, assets, dir, logDir string
	url                       string
	ca                        *authority
	admin                     *rest.Config
	client                    client.Client
	children                  []*process.Process // in the order in which they are stopped
	apiServer                 *process.Process
	apiServerArgs             []string
	log                       io.Writer
}

// startTimeout bounds the start of each process. A loaded machine with two cores needs a fraction of it.
const startTimeout = 60 * time.Second

// startAttempts is how often a start is tried again with other ports: another program may take a port between its
// choice and its use.
const startAttempts = 3

// Start starts a control plane and returns when the API server is ready. On an error, nothing keeps running.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	root, err := RepoRoot()
	if err != nil {
		return nil, err
	}
	assets, err := FindAssets(opts.Assets, root)
	if err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	for attempt := 1; ; attempt++ {
		c, err := startOnce(ctx, root, assets, opts)
		if err == nil {
			return c, nil
		}
		if attempt == startAttempts || !strings.Contains(err.Error(), "address already in use") {
			return nil, err
		}
	}
}

func startOnce(ctx context.Context, root, assets string, opts Options) (_ *Cluster, err error) {
	removeStaleData(os.TempDir())
	c := &Cluster{root: root, assets: assets, logDir: opts.LogDir, log: opts.Log}
	if c.dir, err = os.MkdirTemp("", dataPrefix+strconv.Itoa(os.Getpid())+"-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if c.logDir == "" {
		c.logDir = c.dir
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	if err := c.makeCredentials(ports[2]); err != nil {
		return nil, err
	}
	if err := c.startEtcd(ctx, ports[0], ports[1]); err != nil {
		return nil, err
	}
	if err := c.startAPIServer(ctx, ports[0], ports[2], opts.AuditWrites); err != nil {
		return nil, err
	}
	if opts.ControllerManager {
		return c, c.startControllerManager()
	}
	return c, nil
}

// dataPrefix, then the process id of its owner, begins the name of a data directory.
const dataPrefix = "namegate-cluster-"

// removeStaleData removes from tmp the data of programs that died without removing theirs. It is a courtesy to the disk,
// so its errors are nobody's business.
func removeStaleData(tmp string) {
	dirs, _ := filepath.Glob(filepath.Join(tmp, dataPrefix+"*-*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dataPrefix), "-")
		if n, err := strconv.Atoi(pid); err == nil && !processExists(n) {
			_ = os.RemoveAll(dir)
		}
	}
}

func (c *Cluster) makeCredentials(port int) error {
	c.url = "https://127.0.0.1:" + strconv.Itoa(port)
	var err error
	if c.ca, err = newAuthority("namegate-test"); err != nil {
		return err
	}
	if err := os.WriteFile(c.file("ca.crt"), c.ca.pem(), 0o600); err != nil {
		return err
	}
	tokens, err := signingKey()
	if err != nil {
		return err
	}
	if _, _, err := tokens.write(c.dir, "tokens"); err != nil {
		return err
	}
	serving, err := c.ca.serving("127.0.0.1", "localhost", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	if _, _, err := serving.write(c.dir, "apiserver"); err != nil {
		return err
	}
	return c.makeAdmin()
}

func (c *Cluster) makeAdmin() error {
	var err error
	if c.admin, err = c.certConfig("admin", "system:masters"); err != nil {
		return err
	}
	return writeKubeconfig(c.AdminKubeconfig(), c.admin, "")
}

// certConfig returns a configuration with a client certificate for user.
func (c *Cluster) certConfig(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.ca.client(user, groups...)
	if err != nil {
		return nil, err
	}
	cfg := c.clientConfig()
	cfg.CertData, cfg.KeyData = pair.cert, pair.key
	return cfg, nil
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// run starts one process of the control plane. The last one started is the first one stopped.
func (c *Cluster) run(name string, args ...string) (*process.Process, error) {
	p, err := process.Start(process.Spec{
		Path:    filepath.Join(c.assets, name),
		Args:    args,
		Dir:     c.dir,
		LogFile: filepath.Join(c.logDir, name+".log"),
	})
	if err != nil {
		return nil, err
	}
	c.children = append([]*process.Process{p}, c.children...)
	return p, nil
}

func (c *Cluster) startEtcd(ctx context.Context, port, peerPort int) error {
	begin := time.Now()
	address := "http://127.0.0.1:" + strconv.Itoa(port)
	p, err := c.run("etcd",
		"--data-dir="+c.file("etcd"),
		"--listen-client-urls="+address,
		"--advertise-client-urls="+address,
		"--listen-peer-urls=http://127.0.0.1:"+strconv.Itoa(peerPort),
		"--unsafe-no-fsync=true", // the data does not outlive the run
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	return c.awaitReady(ctx, p, begin, http.DefaultClient, address+"/health")
}

func (c *Cluster) startAPIServer(ctx context.Context, etcdPort, port int, audit bool) error {
	args := []string{
		"--etcd-servers=http://127.0.0.1:" + strconv.Itoa(etcdPort),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + c.dir,
		"--tls-cert-file=" + c.file("apiserver.crt"),
		"--tls-private-key-file=" + c.file("apiserver.key"),
		"--client-ca-file=" + c.file("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("tokens.crt"),
		"--service-account-signing-key-file=" + c.file("tokens.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--enable-admission-plugins=NamespaceLifecycle,ServiceAccount,MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
		"--endpoint-reconciler-type=none", // a loopback address is no valid endpoint
		"--enable-priority-and-fairness=false",
		"--profiling=false",
	}
	if audit {
		if err := os.WriteFile(c.file("audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
			return err
		}
		args = append(args, "--audit-policy-file="+c.file("audit-policy.yaml"), "--audit-log-path="+c.AuditLog())
	}
	c.apiServerArgs = args
	if err := c.RestartAPIServer(ctx); err != nil {
		return err
	}
	var err error
	c.client, err = NewClient(c.admin)
	return err
}

// KillAPIServer kills the API server at once (SIGKILL), for tests of what goes on without it. All other processes stay.
func (c *Cluster) KillAPIServer() {
	c.apiServer.Kill()
	c.children = slices.DeleteFunc(c.children, func(p *process.Process) bool { return p == c.apiServer })
}

// RestartAPIServer starts the API server again after KillAPIServer, with its data and on its port, and returns when it is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	begin := time.Now()
	var err error
	if c.apiServer, err = c.run("kube-apiserver", c.apiServerArgs...); err != nil {
		return err
	}
	readyClient, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return err
	}
	return c.awaitReady(ctx, c.apiServer, begin, readyClient, c.url+"/readyz")
}

// NewClient returns a client for the kinds of Kubernetes and of Namegate, and for unstructured objects of every kind. It
// caches nothing.
func NewClient(cfg *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dnsv1alpha1.AddToScheme(scheme), zonev1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(cfg, client.Options{Scheme: scheme})
}

// auditPolicy logs writes only, once they are answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: Metadata
`

// controllers are those that tests see the work of; the rest would only slow the start down.
const controllers = "namespace-controller,garbage-collector-controller,serviceaccount-controller," +
	"clusterrole-aggregation-controller,root-ca-certificate-publisher-controller"

func (c *Cluster) startControllerManager() error {
	cfg, err := c.certConfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	kubeconfig := c.file("controller-manager.kubeconfig")
	if err := writeKubeconfig(kubeconfig, cfg, ""); err != nil {
		return err
	}
	_, err = c.run("kube-controller-manager",
		"--kubeconfig="+kubeconfig,
		"--controllers="+controllers,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.file("tokens.key"),
		"--root-ca-file="+c.file("ca.crt"),
		"--leader-elect=false",
		"--secure-port=0", // nobody asks for its health: a test sees its work, and Err its end
		"--kube-api-qps=200", "--kube-api-burst=400",
		"--profiling=false",
	)
	if err == nil {
		fmt.Fprintln(c.log, "kube-controller-manager started")
	}
	return err
}

// awaitReady polls url until it answers 200, the process ends, or startTimeout is over.
func (c *Cluster) awaitReady(ctx context.Context, p *process.Process, begin time.Time, httpClient *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		if err := p.Err(); err != nil {
			return Permanent(err)
		}
		return answersOK(ctx, httpClient, url)
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w; the end of its log:\n%s", p.Name(), err, p.LogTail(20))
	}
	fmt.Fprintf(c.log, "%s ready after %.1f s\n", p.Name(), time.Since(begin).Seconds())
	return nil
}

func answersOK(ctx context.Context, httpClient *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// Stop kills all processes and removes the data directory. The data is worth nothing afterwards, so no process is asked
// politely, which saves seconds. Stop can be called twice.
func (c *Cluster) Stop() error {
	for _, p := range c.children {
		p.Kill()
	}
	c.children = nil
	return os.RemoveAll(c.dir)
}

// Err reports a process of the control plane that has ended by itself; nil while all run.
func (c *Cluster) Err() error {
	var errs []error
	for _, p := range c.children {
		errs = append(errs, p.Err())
	}
	return errors.Join(errs...)
}

// Processes are the running processes of the control plane.
func (c *Cluster) Processes() []*process.Process { return c.children }

// Admin returns the configuration of a cluster administrator. It is a copy.
func (c *Cluster) Admin() *rest.Config { return rest.CopyConfig(c.admin) }

// AdminKubeconfig is the path of the administrator's kubeconfig; Stop removes it.
func (c *Cluster) AdminKubeconfig() string { return c.file("admin.kubeconfig") }

// WriteAdminKubeconfig writes the administrator's kubeconfig to another place, readable by its owner only.
func (c *Cluster) WriteAdminKubeconfig(path string) error {
	return writeKubeconfig(path, c.admin, "default")
}

// Client returns the administrator's client; see NewClient.
func (c *Cluster) Client() client.Client { return c.client }

// AuditLog is the path of the API server's audit log: one audit.k8s.io/v1 Event, in JSON, per line.
func (c *Cluster) AuditLog() string { return c.file("audit.log") }

// MkdirTemp makes a directory for files of those who use the control plane; Stop removes it.
func (c *Cluster) MkdirTemp(prefix string) (string, error) { return os.MkdirTemp(c.dir, prefix) }

// Root is the root of the repository.
func (c *Cluster) Root() string { return c.root }

// Assets is the directory of the control plane's binaries.
func (c *Cluster) Assets() string { return c.assets }

// Kubectl runs kubectl as the administrator and returns what it wrote to stdout and stderr together; an error
// includes it too. Paths in args are relative to the root of the repository.
func (c *Cluster) Kubectl(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.assets, "kubectl"), args...)
	cmd.Dir, cmd.Stdin = c.root, stdin
	cmd.Env = append(os.Environ(), c.KubectlEnv()...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// KubectlEnv is the environment in which kubectl acts as the administrator, and keeps what it learns of this cluster out
// of the home directory: Stop removes it.
func (c *Cluster) KubectlEnv() []string {
	return []string{"KUBECONFIG=" + c.AdminKubeconfig(), "KUBECACHEDIR=" + c.file("kubectl-cache")}
}
