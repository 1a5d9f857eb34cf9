package cluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the field manager of what is applied here.
const FieldOwner = client.FieldOwner("namegate-test")

// Names of ServiceAccounts, as shipped.
const (
	// OperatorServiceAccount is that of `namegate all`.
	OperatorServiceAccount = "namegate"
	// CoreDNSServiceAccount is that of CoreDNS.
	CoreDNSServiceAccount = "namegate-coredns"
)

// tokenLife is the life of a ServiceAccount's token: longer than anybody leaves `make run` up.
const tokenLife = 30 * 24 * time.Hour

// Apply creates or changes objects, in their order, by server-side apply as the administrator.
func (c *Cluster) Apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), FieldOwner, client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// InstallCRDs applies the shipped CRDs and returns when the API server serves them.
func (c *Cluster) InstallCRDs(ctx context.Context) error {
	crds, err := ReadManifests(filepath.Join(c.root, "config/crd/bases"))
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, crds...); err != nil {
		return err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(c.admin)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, crd := range crds {
		if err := Poll(ctx, 50*time.Millisecond, func(context.Context) error { return served(disco, crd) }); err != nil {
			return err
		}
	}
	return nil
}

// served says whether discovery, from which clients learn what they may ask for, lists the versions of a CRD.
func served(disco discovery.DiscoveryInterface, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, version := range versions {
		name, _, _ := unstructured.NestedString(version.(map[string]any), "name")
		resources, err := disco.ServerResourcesForGroupVersion(group + "/" + name)
		if err != nil {
			return fmt.Errorf("CRD %s is not served: %w", crd.GetName(), err)
		}
		if !lists(resources, plural) {
			return fmt.Errorf("CRD %s is not served in version %s", crd.GetName(), name)
		}
	}
	return nil
}

func lists(resources *metav1.APIResourceList, plural string) bool {
	for _, resource := range resources.APIResources {
		if resource.Name == plural {
			return true
		}
	}
	return false
}

// InstallRBAC creates the namespace and applies the ServiceAccounts, roles and bindings of config/rbac, as kustomize
// renders them for that namespace.
func (c *Cluster) InstallRBAC(ctx context.Context, namespace string) error {
	rendered, err := c.render(ctx, "config/rbac", namespace)
	if err != nil {
		return err
	}
	if err := c.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	return c.Apply(ctx, rendered...)
}

// CreateNamespace creates a namespace if it is absent.
func (c *Cluster) CreateNamespace(ctx context.Context, name string) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(name)
	return c.Apply(ctx, namespace)
}

// render runs `kubectl kustomize` on a directory of the repository, moved to namespace by an overlay.
func (c *Cluster) render(ctx context.Context, dir, namespace string) ([]*unstructured.Unstructured, error) {
	overlay, err := os.MkdirTemp(c.dir, "kustomize-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(overlay)
	base, err := relativeTo(overlay, filepath.Join(c.root, dir))
	if err != nil {
		return nil, err
	}
	kustomization := fmt.Sprintf("namespace: %s\nresources:\n- %s\n", namespace, base)
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		return nil, err
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, filepath.Join(c.assets, "kubectl"), "kustomize", overlay)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl kustomize %s: %w: %s", dir, err, strings.TrimSpace(stderr.String()))
	}
	return parseManifests(out)
}

// relativeTo returns target relative to dir, through no symbolic link, because kustomize takes only such paths.
func relativeTo(dir, target string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if target, err = filepath.EvalSymlinks(target); err != nil {
		return "", err
	}
	return filepath.Rel(dir, target)
}

// ServiceAccountConfig returns a configuration with a token of a ServiceAccount that is valid for 30 days, and the path
// of a kubeconfig with it, which Stop removes.
func (c *Cluster) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	seconds := int64(tokenLife.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := c.client.SubResource("token").Create(ctx, account, request); err != nil {
		return nil, "", fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	cfg := c.clientConfig()
	cfg.BearerToken = request.Status.Token
	path := c.file(fmt.Sprintf("serviceaccount-%s-%s.kubeconfig", namespace, name))
	return cfg, path, writeKubeconfig(path, cfg, namespace)
}

// InstallWebhooks applies the shipped webhook configurations, pointed at a webhook server on host and port, and
// returns a directory with tls.crt and tls.key for that server. While they are installed and no server listens, the
// API server refuses writes of Namegate's kinds, as in production.
func (c *Cluster) InstallWebhooks(ctx context.Context, host string, port int) (certDir string, err error) {
	objects, err := ReadManifests(filepath.Join(c.root, "config/webhook/manifests.yaml"))
	if err != nil {
		return "", err
	}
	ca, err := newAuthority("namegate-test-webhooks")
	if err != nil {
		return "", err
	}
	pair, err := ca.serving(host)
	if err != nil {
		return "", err
	}
	if certDir, err = os.MkdirTemp(c.dir, "webhook-"); err != nil {
		return "", err
	}
	if _, _, err := pair.write(certDir, "tls"); err != nil {
		return "", err
	}
	base := "https://" + net.JoinHostPort(host, strconv.Itoa(port))
	if err := pointWebhooks(objects, base, ca.pem()); err != nil {
		return "", err
	}
	return certDir, c.Apply(ctx, objects...)
}

func encodeBase64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
