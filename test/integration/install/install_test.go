// Package install holds that what config/ ships is accepted by a real API server, cert-manager's kinds included, and that its parts fit
// together: names that refer to one another, and flags that the program knows.
package install

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/cmd/manager/app"
	"github.com/namegate/namegate/test/cluster"
)

const namespace = "namegate-system"

func TestDefaultInstallation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute) // CoreDNS is built in it
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	installCertManagerCRDs(ctx, t, c)
	out, err := c.Kubectl(ctx, nil, "apply", "--validate=strict", "-k", "config/default")
	if err != nil {
		t.Fatalf("config/default is not accepted: %v\n%s", err, out)
	}
	if strings.Contains(out, "Warning") {
		t.Errorf("the API server warns:\n%s", out)
	}
	cl := certManagerClient(t, c)
	t.Run("the certificate is for the webhook's Service", func(t *testing.T) { checkCertificate(ctx, t, cl) })
	t.Run("the webhook configurations get its CA and name the Service", func(t *testing.T) { checkWebhooks(ctx, t, cl) })
	t.Run("the Deployments fit the program", func(t *testing.T) { checkDeployments(ctx, t, cl) })
	t.Run("CoreDNS finds its Corefile, and is asked where it answers", func(t *testing.T) { checkCoreDNS(ctx, t, cl) })
	t.Run("CoreDNS gets ready with its Corefile and its rights", func(t *testing.T) { checkCorefile(ctx, t, c, cl) })
	t.Run("CoreDNS reads zones, and nobody but the controller writes slices", func(t *testing.T) { checkZoneRights(ctx, t, cl) })
}

// installCertManagerCRDs applies the CRDs that cert-manager's module ships.
func installCertManagerCRDs(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	t.Helper()
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Kubectl(ctx, nil, "apply", "--server-side", "-f", filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = c.Kubectl(ctx, nil, "wait", "--for=condition=Established", "crd/certificates.cert-manager.io", "crd/issuers.cert-manager.io", "--timeout=60s")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func certManagerClient(t *testing.T, c *cluster.Cluster) client.Client {
	t.Helper()
	scheme := c.Client().Scheme()
	if err := certmanagerv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cl, err := client.New(c.Admin(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func checkCertificate(ctx context.Context, t *testing.T, cl client.Client) {
	certificate := onlyOne(ctx, t, cl, &certmanagerv1.CertificateList{}, func(l *certmanagerv1.CertificateList) []certmanagerv1.Certificate { return l.Items })
	service := webhookService(ctx, t, cl)
	want := service + "." + namespace + ".svc"
	if !slices.Contains(certificate.Spec.DNSNames, want) {
		t.Errorf("the certificate is for %v, not for %s", certificate.Spec.DNSNames, want)
	}
	issuer := &certmanagerv1.Issuer{}
	key := client.ObjectKey{Namespace: namespace, Name: certificate.Spec.IssuerRef.Name}
	if err := cl.Get(ctx, key, issuer); err != nil {
		t.Errorf("the certificate's issuer: %v", err)
	}
	deployment := &appsv1.Deployment{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "namegate-webhook"}, deployment); err != nil {
		t.Fatal(err)
	}
	mounted := slices.ContainsFunc(deployment.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == certificate.Spec.SecretName
	})
	if !mounted {
		t.Errorf("the webhook's Deployment does not mount the Secret %s", certificate.Spec.SecretName)
	}
}

// webhookService is the name of the one Service that selects the webhook's Pods on its port.
func webhookService(ctx context.Context, t *testing.T, cl client.Client) string {
	t.Helper()
	configuration := onlyOne(ctx, t, cl, &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		func(l *admissionregistrationv1.ValidatingWebhookConfigurationList) []admissionregistrationv1.ValidatingWebhookConfiguration {
			return l.Items
		})
	ref := configuration.Webhooks[0].ClientConfig.Service
	service := &corev1.Service{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, service); err != nil {
		t.Fatalf("the Service of the webhook configuration: %v", err)
	}
	return service.Name
}

func checkWebhooks(ctx context.Context, t *testing.T, cl client.Client) {
	certificate := onlyOne(ctx, t, cl, &certmanagerv1.CertificateList{}, func(l *certmanagerv1.CertificateList) []certmanagerv1.Certificate { return l.Items })
	want := certificate.Namespace + "/" + certificate.Name
	validating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	mutating := &admissionregistrationv1.MutatingWebhookConfigurationList{}
	for _, list := range []client.ObjectList{validating, mutating} {
		if err := cl.List(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, v := range validating.Items {
		got[v.Name] = v.Annotations["cert-manager.io/inject-ca-from"]
	}
	for _, m := range mutating.Items {
		got[m.Name] = m.Annotations["cert-manager.io/inject-ca-from"]
	}
	if len(got) != 2 {
		t.Errorf("want one validating and one mutating configuration under names of their own, got %v", got)
	}
	for name, from := range got {
		if from != want {
			t.Errorf("%s gets its CA from %q, want %q", name, from, want)
		}
	}
}

// checkDeployments holds that each container's command and flags are those of the program, and that its ServiceAccount exists.
func checkDeployments(ctx context.Context, t *testing.T, cl client.Client) {
	list := &appsv1.DeploymentList{}
	if err := cl.List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, d := range list.Items {
		pod := d.Spec.Template.Spec
		if err := cl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: pod.ServiceAccountName}, &corev1.ServiceAccount{}); err != nil {
			t.Errorf("%s: its ServiceAccount: %v", d.Name, err)
		}
		if len(pod.Containers[0].Command) > 0 {
			continue // another program of the image
		}
		root := app.NewCommand("test")
		command, flags, err := root.Find(pod.Containers[0].Args)
		if err != nil || command == root {
			t.Errorf("%s: %v is no command of the program: %v", d.Name, pod.Containers[0].Args, err)
			continue
		}
		if err := command.ParseFlags(flags); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		commands = append(commands, command.Name())
	}
	slices.Sort(commands)
	if diff := cmp.Diff([]string{"controller", "webhook"}, commands); diff != "" {
		t.Errorf("commands of the Deployments (-want +got):\n%s", diff)
	}
}

// checkCoreDNS holds that the Corefile is mounted where the program is told to look for it, and that the probes, the metrics and the Service
// reach the ports that it opens.
func checkCoreDNS(ctx context.Context, t *testing.T, cl client.Client) {
	const name = "namegate-coredns"
	key := client.ObjectKey{Namespace: namespace, Name: name}
	deployment, corefile, service := &appsv1.Deployment{}, &corev1.ConfigMap{}, &corev1.Service{}
	for _, obj := range []client.Object{deployment, corefile, service} {
		if err := cl.Get(ctx, key, obj); err != nil {
			t.Fatal(err)
		}
	}
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]
	if diff := cmp.Diff([]string{"/coredns", "-conf", container.VolumeMounts[0].MountPath + "/Corefile"}, slices.Concat(container.Command, container.Args)); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	if mounted := pod.Volumes[0].ConfigMap; pod.Volumes[0].Name != container.VolumeMounts[0].Name || mounted == nil || mounted.Name != corefile.Name {
		t.Errorf("the Corefile of %s is not what is mounted: %+v", corefile.Name, pod.Volumes)
	}
	ports := map[string]int32{}
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	opens := func(port, pattern string) {
		if text := fmt.Sprintf(pattern, ports[port]); ports[port] == 0 || !strings.Contains(corefile.Data["Corefile"], text) {
			t.Errorf("the Corefile does not open the port %s: %q is not in\n%s", port, text, corefile.Data["Corefile"])
		}
	}
	opens("dns", ".:%d {")
	opens("dns-tcp", ".:%d {")
	opens("metrics", "prometheus :%d\n")
	opens(container.LivenessProbe.HTTPGet.Port.String(), "health :%d\n")
	opens(container.ReadinessProbe.HTTPGet.Port.String(), "ready :%d\n")
	for _, port := range service.Spec.Ports {
		if port.Port != 53 || ports[port.TargetPort.String()] == 0 {
			t.Errorf("the Service has the port %+v", port)
		}
	}
	if !maps.Equal(service.Spec.Selector, deployment.Spec.Template.Labels) {
		t.Errorf("the Service selects %v, and the Pods have %v", service.Spec.Selector, deployment.Spec.Template.Labels)
	}
}

// checkZoneRights asks the API server what the ServiceAccounts may do with the kinds of zones.
func checkZoneRights(ctx context.Context, t *testing.T, cl client.Client) {
	tests := []struct {
		account, verb, resource string
		want                    bool
	}{
		{"namegate-coredns", "list", "zones", true},
		{"namegate-coredns", "watch", "zoneslices", true},
		{"namegate-coredns", "create", "zoneslices", false},
		{"namegate-coredns", "patch", "zones", false},
		{"namegate-coredns", "list", "records", false},
		{"namegate-webhook", "create", "zoneslices", false},
		{"default", "list", "zones", false},
	}
	for _, tt := range tests {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + namespace + ":" + tt.account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "kubi.zone", Verb: tt.verb, Resource: tt.resource},
		}}
		if err := cl.Create(ctx, review); err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != tt.want {
			t.Errorf("%s may %s %s: %t, want %t", tt.account, tt.verb, tt.resource, review.Status.Allowed, tt.want)
		}
	}
}

// onlyOne lists a kind and expects one object of it.
func onlyOne[L client.ObjectList, T any](ctx context.Context, t *testing.T, cl client.Client, list L, items func(L) []T) T {
	t.Helper()
	if err := cl.List(ctx, list); err != nil {
		t.Fatal(err)
	}
	all := items(list)
	if len(all) != 1 {
		t.Fatalf("want one %T, got %d", list, len(all))
	}
	return all[0]
}
