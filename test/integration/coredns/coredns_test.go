package coredns

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// The specs stop the API server, so they run one after the other.
var _ = Describe("CoreDNS with the plugin namegate", Serial, Ordered, func() {
	const www = "www.example.org."

	It("answers a change as soon as it is published, and keeps no zone whose Zone is gone", func(ctx SpecContext) {
		s := startCoreDNS()
		Eventually(func() bool { return s.isReady(ctx) }).Should(BeTrue())
		Expect(s.ask(ctx, www)).To(Equal("REFUSED"))
		publish(ctx, "org", "example.org.", 10, "192.0.2.1")
		Eventually(func() string { return s.ask(ctx, www) }).Should(Equal("NOERROR 192.0.2.1"))
		begin := time.Now()
		publish(ctx, "org", "example.org.", 11, "192.0.2.2")
		Eventually(func() string { return s.ask(ctx, www) }).Should(Equal("NOERROR 192.0.2.2"))
		AddReportEntry("published and answered", time.Since(begin).String())
		z := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: zoneNamespace, Name: "org"}}
		Expect(admin.Delete(ctx, z)).To(Succeed())
		Eventually(func() string { return s.ask(ctx, www) }).Should(Equal("REFUSED"))
	}, SpecTimeout(time.Minute))

	It("goes on answering while the API server is away, over a reload too, and catches up", func(ctx SpecContext) {
		publish(ctx, "org", "example.org.", 20, "192.0.2.1")
		s := startCoreDNS()
		Eventually(func() bool { return s.isReady(ctx) }).Should(BeTrue())
		Expect(s.ask(ctx, www)).To(Equal("NOERROR 192.0.2.1"))
		control.KillAPIServer()
		Consistently(func() string { return s.ask(ctx, www) }).WithTimeout(2 * time.Second).Should(Equal("NOERROR 192.0.2.1"))
		next, err := s.instance.Restart(s.corefile())
		Expect(err).NotTo(HaveOccurred())
		s.instance = next
		Expect(s.ask(ctx, www)).To(Equal("NOERROR 192.0.2.1"))
		Expect(s.isReady(ctx)).To(BeTrue())
		Expect(control.RestartAPIServer(ctx)).To(Succeed())
		publish(ctx, "org", "example.org.", 21, "192.0.2.2")
		Eventually(func() string { return s.ask(ctx, www) }).Should(Equal("NOERROR 192.0.2.2"))
	}, SpecTimeout(2*time.Minute))

	It("is not ready before it has read the Zones, and fails questions about them until then", func(ctx SpecContext) {
		publish(ctx, "org", "example.org.", 30, "192.0.2.3")
		control.KillAPIServer()
		s := startCoreDNS()
		Expect(s.isReady(ctx)).To(BeFalse())
		Expect(s.ask(ctx, www)).To(Equal("SERVFAIL"))
		Expect(s.ask(ctx, "www.example.com.")).To(Equal("REFUSED"))
		Expect(control.RestartAPIServer(ctx)).To(Succeed())
		Eventually(func() bool { return s.isReady(ctx) }).Should(BeTrue())
		Expect(s.ask(ctx, www)).To(Equal("NOERROR 192.0.2.3"))
	}, SpecTimeout(2*time.Minute))
})
