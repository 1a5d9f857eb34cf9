package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/support"
)

// Provider is this control plane as a cluster provider of e2e-framework.
type Provider struct {
	opts    Options
	cluster *Cluster
}

var _ support.E2EClusterProvider = (*Provider)(nil)

// NewProvider returns a provider whose Create starts a control plane with these options.
func NewProvider(opts Options) *Provider { return &Provider{opts: opts} }

// Cluster is the control plane that Create started; nil before.
func (p *Provider) Cluster() *Cluster { return p.cluster }

// WithName does nothing: a control plane has no name, only a directory and ports of its own.
func (p *Provider) WithName(string) support.E2EClusterProvider { return p }

// WithVersion does nothing: test/controlplane decides the version.
func (p *Provider) WithVersion(string) support.E2EClusterProvider { return p }

// WithPath sets the directory of the binaries.
func (p *Provider) WithPath(path string) support.E2EClusterProvider {
	p.opts.Assets = path
	return p
}

// WithOpts applies options of the framework.
func (p *Provider) WithOpts(opts ...support.ClusterOpts) support.E2EClusterProvider {
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// SetDefaults does nothing: the zero value of Options is usable.
func (p *Provider) SetDefaults() support.E2EClusterProvider { return p }

// Create starts the control plane and returns the path of the administrator's kubeconfig. It takes no arguments.
func (p *Provider) Create(ctx context.Context, _ ...string) (string, error) {
	if p.cluster != nil {
		return p.GetKubeconfig(), nil
	}
	c, err := Start(ctx, p.opts)
	if err != nil {
		return "", err
	}
	p.cluster = c
	return p.GetKubeconfig(), nil
}

// CreateWithConfig is Create: there is no configuration file.
func (p *Provider) CreateWithConfig(ctx context.Context, _ string) (string, error) {
	return p.Create(ctx)
}

// GetKubeconfig is the path of the administrator's kubeconfig; empty before Create.
func (p *Provider) GetKubeconfig() string {
	if p.cluster == nil {
		return ""
	}
	return p.cluster.AdminKubeconfig()
}

// GenerateKubeconfig returns what GetKubeconfig does.
func (p *Provider) GenerateKubeconfig(...string) (string, error) {
	if p.cluster == nil {
		return "", errors.New("the control plane was not created")
	}
	return p.GetKubeconfig(), nil
}

// GetKubectlContext is the context in the kubeconfig.
func (p *Provider) GetKubectlContext() string { return Context }

// ExportLogs copies the logs of the control plane's processes into dest.
func (p *Provider) ExportLogs(_ context.Context, dest string) error {
	if p.cluster == nil {
		return errors.New("the control plane was not created")
	}
	for _, child := range p.cluster.Processes() {
		log, err := child.Log()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dest, child.Name()+".log"), []byte(log), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Destroy stops the control plane and removes its data.
func (p *Provider) Destroy(context.Context) error {
	if p.cluster == nil {
		return nil
	}
	err := p.cluster.Stop()
	p.cluster = nil
	return err
}

// WaitForControlPlane does nothing: Create returns when the API server is ready.
func (p *Provider) WaitForControlPlane(context.Context, klient.Client) error { return nil }

// KubernetesRestConfig is the administrator's configuration; nil before Create.
func (p *Provider) KubernetesRestConfig() *rest.Config {
	if p.cluster == nil {
		return nil
	}
	return p.cluster.Admin()
}
