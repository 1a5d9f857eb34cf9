// Package coredns tests the plugin namegate of CoreDNS against a real API server: CoreDNS runs in this process, with the rights of its
// ServiceAccount, and zones are published as the controller does it.
package coredns

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/ready"
	"github.com/miekg/dns"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/cmd/coredns/namegate"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/cluster"
)

const (
	operatorNamespace = "namegate-system"
	zoneNamespace     = "dns"
	soon              = 30 * time.Second
	often             = 10 * time.Millisecond
)

var (
	control    *cluster.Cluster
	admin      client.Client
	kubeconfig string
)

func TestCoreDNS(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(soon)
	SetDefaultEventuallyPollingInterval(often)
	RunSpecs(t, "CoreDNS")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	caddy.Quiet, dnsserver.Quiet = true, true
	dnsserver.Directives = slices.Insert(slices.Clone(dnsserver.Directives), slices.Index(dnsserver.Directives, "file"), namegate.Name)
	var err error
	control, err = cluster.Start(ctx, cluster.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(control.Stop()).To(Succeed()) })
	Expect(control.InstallCRDs(ctx)).To(Succeed())
	Expect(control.InstallRBAC(ctx, operatorNamespace)).To(Succeed())
	Expect(control.CreateNamespace(ctx, zoneNamespace)).To(Succeed())
	_, kubeconfig, err = control.ServiceAccountConfig(ctx, operatorNamespace, cluster.CoreDNSServiceAccount)
	Expect(err).NotTo(HaveOccurred())
	admin = control.Client()
}, NodeTimeout(2*time.Minute))

// server is CoreDNS in this process.
type server struct {
	instance    *caddy.Instance
	addr, ready string
}

func (s *server) corefile() caddy.CaddyfileInput {
	host, port, err := net.SplitHostPort(s.addr)
	Expect(err).NotTo(HaveOccurred())
	return caddy.CaddyfileInput{Filepath: "Corefile", ServerTypeName: "dns", Contents: fmt.Appendf(nil,
		"example.org:%s {\nbind %s\nready %s\nnamegate {\nkubeconfig %q\n}\n}\n", port, host, s.ready, kubeconfig)}
}

func startCoreDNS() *server {
	s := &server{}
	for _, address := range []*string{&s.addr, &s.ready} {
		port, err := cluster.FreePort()
		Expect(err).NotTo(HaveOccurred())
		*address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	var err error
	s.instance, err = caddy.Start(s.corefile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(s.instance.Stop()).To(Succeed())
		Expect(s.instance.ShutdownCallbacks()).To(BeEmpty())
	})
	return s
}

// isReady asks the plugin ready.
func (s *server) isReady(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.ready+"/ready", nil)
	Expect(err).NotTo(HaveOccurred())
	res, err := http.DefaultClient.Do(req)
	Expect(err).NotTo(HaveOccurred())
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	Expect(err).NotTo(HaveOccurred())
	return res.StatusCode == http.StatusOK
}

// ask returns the code of the answer, and the values of its A records.
func (s *server) ask(ctx context.Context, name string) string {
	m, err := dns.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, dns.TypeA), s.addr)
	if err != nil {
		return err.Error()
	}
	out := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		if a, ok := rr.(*dns.A); ok {
			out = append(out, a.A.String())
		}
	}
	return strings.Join(out, " ")
}

// publish does what the controller does: new slices, then the status, then the old slices go.
func publish(ctx context.Context, name, origin string, serial uint32, www string) {
	GinkgoHelper()
	z := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: zoneNamespace, Name: name}}
	if admin.Get(ctx, client.ObjectKeyFromObject(z), z) != nil {
		z.Spec.DomainName = origin
		Expect(admin.Create(ctx, z)).To(Succeed())
	}
	shards := zone.NewShards()
	shards.Change(nil, []zone.Entry{entry(origin, record.NS, "ns."+origin), entry("ns."+origin, record.A, "192.0.2.53"), entry("www."+origin, record.A, www)})
	for s := range shards.All {
		slice := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: zoneNamespace, Name: zone.SliceName(name, s.Digest)}, Zone: name, Shard: s.ID, Digest: s.Digest}
		for _, e := range s.Entries {
			slice.Entries = append(slice.Entries, e.Slice())
		}
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, slice))).To(Succeed())
	}
	base := z.DeepCopy()
	z.Status.FQDN, z.Status.Serial, z.Status.Slices = origin, int64(serial), shards.Digests()
	z.Status.Entries = []zonev1alpha1.ZoneEntry{{FQDN: origin, Type: "SOA", Class: "IN", TTL: 60, RData: fmt.Sprintf("ns.%s noc.%s %d 7200 3600 86400 60", origin, origin, serial)}}
	Expect(admin.Status().Patch(ctx, z, client.MergeFrom(base))).To(Succeed())
	all := &zonev1alpha1.ZoneSliceList{}
	Expect(admin.List(ctx, all, client.InNamespace(zoneNamespace))).To(Succeed())
	for i := range all.Items {
		if s := &all.Items[i]; s.Zone == name && !slices.Contains(z.Status.Slices, s.Digest) {
			Expect(admin.Delete(ctx, s)).To(Succeed())
		}
	}
}

func entry(name string, rrtype record.Type, rdata string) zone.Entry {
	owner, err := dnsname.Parse(name)
	Expect(err).NotTo(HaveOccurred())
	return zone.Entry{Name: owner, Type: rrtype, TTL: 60, RData: rdata}
}
