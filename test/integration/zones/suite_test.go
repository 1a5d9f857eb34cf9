// Package zones tests the front door of Zone and Record against a real API server: the operator runs in this process, as its
// own ServiceAccount with the shipped RBAC, behind the shipped webhook configuration.
package zones

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/cmd/manager/app"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
)

const (
	operatorNamespace = "namegate-system"
	soon              = 20 * time.Second
	often             = 50 * time.Millisecond
)

var (
	control *cluster.Cluster
	admin   client.Client
	// operator can be stopped and started anew, as a crash and a restart would.
	operator *runningOperator
)

func TestZones(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(soon)
	SetDefaultEventuallyPollingInterval(often)
	RunSpecs(t, "Zone and Record")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	control, err = cluster.Start(ctx, cluster.Options{ControllerManager: true, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(control.Stop()).To(Succeed()) })
	admin = control.Client()
	Expect(control.InstallCRDs(ctx)).To(Succeed())
	Expect(control.InstallRBAC(ctx, operatorNamespace)).To(Succeed())
	operator = startOperator(ctx)
	DeferCleanup(func() { operator.stop() })
}, NodeTimeout(2*time.Minute))

// runningOperator is `namegate all` in this process.
type runningOperator struct {
	cancel context.CancelFunc
	done   chan error
}

func operatorConfig(ctx context.Context) (*app.Config, *rest.Config) {
	cfg, err := app.ConfigFromEnvironment()
	Expect(err).NotTo(HaveOccurred())
	port, err := cluster.FreePort()
	Expect(err).NotTo(HaveOccurred())
	probe, err := cluster.FreePort()
	Expect(err).NotTo(HaveOccurred())
	certDir, err := control.InstallWebhooks(ctx, "127.0.0.1", port)
	Expect(err).NotTo(HaveOccurred())
	cfg.Version, cfg.LogTo, cfg.LogLevel = "test", GinkgoWriter, "debug"
	cfg.WebhookHost, cfg.WebhookPort, cfg.WebhookCertDir = "127.0.0.1", port, certDir
	cfg.MetricsAddress, cfg.HealthAddress = "0", net.JoinHostPort("127.0.0.1", strconv.Itoa(probe))
	cfg.OperatorNamespace, cfg.Doors = operatorNamespace, []string{"zones"}
	account, _, err := control.ServiceAccountConfig(ctx, operatorNamespace, cluster.OperatorServiceAccount)
	Expect(err).NotTo(HaveOccurred())
	return cfg, account
}

func startOperator(ctx context.Context) *runningOperator {
	cfg, account := operatorConfig(ctx)
	run, cancel := context.WithCancel(context.Background())
	o := &runningOperator{cancel: cancel, done: make(chan error, 1)}
	go func() { o.done <- app.Run(run, account, cfg, app.Roles{Gate: true, Controllers: true}) }()
	Eventually(func(g Gomega) {
		select {
		case err := <-o.done:
			StopTrying("the operator ended").Wrap(err).Now()
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cfg.HealthAddress+"/readyz", nil)
		g.Expect(err).NotTo(HaveOccurred())
		res, err := http.DefaultClient.Do(req)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(res.Body.Close()).To(Succeed())
		g.Expect(res.StatusCode).To(Equal(http.StatusOK))
	}).WithTimeout(time.Minute).Should(Succeed())
	return o
}

func (o *runningOperator) stop() {
	o.cancel()
	Eventually(o.done).WithTimeout(time.Minute).Should(Receive(BeNil()))
	o.done <- nil
}

// withoutGate runs a function while no webhook is installed, as objects from before the gate were created.
func withoutGate(ctx context.Context, f func()) {
	mutating := &admissionregistrationv1.MutatingWebhookConfigurationList{}
	validating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	Expect(admin.List(ctx, mutating)).To(Succeed())
	Expect(admin.List(ctx, validating)).To(Succeed())
	for i := range mutating.Items {
		Expect(admin.Delete(ctx, &mutating.Items[i])).To(Succeed())
	}
	for i := range validating.Items {
		Expect(admin.Delete(ctx, &validating.Items[i])).To(Succeed())
	}
	defer func() {
		for i := range mutating.Items {
			mutating.Items[i].ResourceVersion = ""
			Expect(admin.Create(ctx, &mutating.Items[i])).To(Succeed())
		}
		for i := range validating.Items {
			validating.Items[i].ResourceVersion = ""
			Expect(admin.Create(ctx, &validating.Items[i])).To(Succeed())
		}
		waitForGate(ctx, true)
	}()
	waitForGate(ctx, false)
	f()
}

// waitForGate polls until the API server acts on the webhook configuration as it is now.
func waitForGate(ctx context.Context, closed bool) {
	Eventually(func(g Gomega) {
		probe := builder.Record("default", "probe").RData("no address").Obj()
		err := admin.Create(ctx, probe, client.DryRunAll)
		if closed {
			g.Expect(err).To(HaveOccurred())
		} else {
			g.Expect(err).NotTo(HaveOccurred())
		}
	}).Should(Succeed())
}

// newNamespace makes a namespace for one spec and deletes it afterwards.
func newNamespace(ctx context.Context) string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, ns))).To(Succeed()) })
	return ns.Name
}
