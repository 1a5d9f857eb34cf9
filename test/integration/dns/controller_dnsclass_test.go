package dns

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

var _ = Describe("The controller of DNSClass", func() {
	It("says that a server is healthy, and when it looked", func(ctx SpecContext) {
		class := newClass(ctx, newDNSServer(nil).URL)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonServerHealthy))
		now := fetchClass(ctx, class)
		Expect(now.Status.Health.Status).To(Equal(dnsv1alpha1.Healthy))
		Expect(now.Status.Health.LastCheck).NotTo(BeNil())
		Expect(now.Status.LastHealthCheck).NotTo(BeNil())
		Expect(now.Status.ObservedGeneration).To(Equal(now.Generation))

		By("looking again at the interval")
		first := now.Status.LastHealthCheck
		Eventually(func() bool { return fetchClass(ctx, class).Status.LastHealthCheck.After(first.Time) }).Should(BeTrue())
	})

	DescribeTable("says why it is not", func(ctx SpecContext, handler http.HandlerFunc, want string) {
		class := newClass(ctx, server(handler).URL)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(want))
		now := fetchClass(ctx, class)
		Expect(now.Status.Health.Status).To(Equal(dnsv1alpha1.Unhealthy))
		Expect(now.Status.Health.Message).NotTo(Or(BeEmpty(), ContainSubstring("hunter2")))
	},
		Entry("503", status(503, `{"status":"unhealthy","message":"hunter2"}`), dnsv1alpha1.ReasonServerError),
		Entry("200 that says unhealthy", status(200, `{"status":"unhealthy","message":"hunter2"}`), dnsv1alpha1.ReasonServerError),
		Entry("401", status(401, `{}`), dnsv1alpha1.ReasonAuthenticationFailed),
	)

	It("says that nobody answers", func(ctx SpecContext) {
		class := newClass(ctx, "http://127.0.0.1:4", func(c *dnsv1alpha1.DNSClass) { c.Spec.TimeoutSeconds = ptr.To[int32](1) })
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonServerUnreachable))
	})

	It("says that it bypassed the gate, and restores a missing finalizer", func(ctx SpecContext) {
		var class *dnsv1alpha1.DNSClass
		withoutGate(ctx, func() { class = newClass(ctx, "ftp://dns.example.com") })
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonInvalidConfiguration))
		Eventually(func() []string { return fetchClass(ctx, class).Finalizers }).Should(ContainElement(dnsv1alpha1.DNSClassInUseFinalizer))
	})

	It("can be listed by the class that a record refers to", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		class := newClass(ctx, silentServer+"/selectable")
		Expect(admin.Create(ctx, newRecord(ns, class.Name))).To(Succeed())
		list := &dnsv1alpha1.DNSRecordList{}
		Expect(admin.List(ctx, list, client.MatchingFields{"spec.dnsClassRef.name": class.Name})).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
		freeNow(ctx, &list.Items[0])
	})
})

func fetchClass(ctx context.Context, class *dnsv1alpha1.DNSClass) *dnsv1alpha1.DNSClass {
	GinkgoHelper()
	out := &dnsv1alpha1.DNSClass{}
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(class), out)).To(Succeed())
	return out
}

func classReason(class *dnsv1alpha1.DNSClass) string {
	for _, c := range class.Status.Conditions {
		if c.Type == dnsv1alpha1.ConditionReady {
			return c.Reason
		}
	}
	return ""
}

func objectNamed(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func objectIn(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
