package dns

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
)

var _ = Describe("The controller of DNSRecord", func() {
	var ns string
	BeforeEach(func(ctx SpecContext) { ns = newNamespace(ctx) })

	It("publishes, changes and removes a record", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name, ttl(600))
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		now := fetch(ctx, rec)
		Expect(now.Status.State).To(Equal(dnsv1alpha1.RecordStateCreated))
		Expect(now.Status.FQDN).To(Equal("www.example.com"))
		Expect(now.Status.ObservedGeneration).To(Equal(now.Generation))
		Expect(now.Status.LastSyncTime).NotTo(BeNil())
		Expect(now.Status.Error).To(BeNil())
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.1"))

		update(ctx, rec, func() { rec.Spec.Values = []string{"192.0.2.3", "192.0.2.2"} })
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordUpdated)
		Expect(fetch(ctx, rec).Status.State).To(Equal(dnsv1alpha1.RecordStateUpdated))
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.2", "192.0.2.3"))

		By("saying Deleted before the object goes")
		update(ctx, rec, func() { controllerutil.AddFinalizer(rec, "example.com/held") })
		Expect(admin.Delete(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordDeleted)
		Expect(fetch(ctx, rec).Status.State).To(Equal(dnsv1alpha1.RecordStateDeleted))
		Expect(dns.values("A", "example.com", "www")).To(BeEmpty())
		release(ctx, rec)
		expectGone(ctx, rec)
	})

	It("sends priority, weight and port", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name, func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Subdomain, r.Spec.Values = "SRV", "_sip._tcp", []string{"sip.example.com"}
			r.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: ptr.To[int32](1), Weight: ptr.To[int32](2), Port: ptr.To[int32](5060)}
		})
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		set := dns.get("SRV", "example.com", "_sip._tcp")
		Expect([]uint16{set.Priority, set.Weight, set.Port}).To(Equal([]uint16{1, 2, 5060}))
	})

	DescribeTable("says why a record is not published", func(ctx SpecContext, handler http.HandlerFunc, want string, code dnsserverv1.ErrorCode) {
		class := newClass(ctx, server(handler).URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, want)
		Eventually(func(g Gomega) {
			status := fetch(ctx, rec).Status
			g.Expect(status.State).To(Equal(dnsv1alpha1.RecordStateError))
			g.Expect(status.Error).NotTo(BeNil())
			g.Expect(status.Error.Code).To(BeEquivalentTo(code))
			g.Expect(status.Error.Message).NotTo(Or(BeEmpty(), ContainSubstring("hunter2")))
		}).Should(Succeed())
		freeNow(ctx, rec)
	},
		Entry("500", status(500, `{"success":false,"error":{"code":"SERVER_ERROR","message":"hunter2"}}`), dnsv1alpha1.ReasonServerError, dnsserverv1.CodeServerError),
		Entry("429", status(429, `{"success":false,"error":{"code":"RATE_LIMITED","message":"hunter2"}}`), dnsv1alpha1.ReasonServerError, dnsserverv1.CodeRateLimited),
		Entry("400", status(400, `{"success":false,"error":{"code":"INVALID_VALUE","message":"hunter2"}}`), dnsv1alpha1.ReasonValidationFailed, dnsserverv1.CodeInvalidValue),
		Entry("401", status(401, `{"success":false,"error":{"code":"TIMESTAMP_STALE","message":"hunter2"}}`), dnsv1alpha1.ReasonAuthenticationFailed, dnsserverv1.CodeTimestampStale),
		Entry("garbage", status(200, "hunter2"), dnsv1alpha1.ReasonServerError, dnsserverv1.CodeServerError),
		Entry("a redirect to another host", redirect("http://127.0.0.1:2/"), dnsv1alpha1.ReasonServerError, dnsserverv1.CodeServerError),
	)

	It("says that a server cannot be reached, and goes on when it can", func(ctx SpecContext) {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		addr := listener.Addr().String()
		Expect(listener.Close()).To(Succeed())
		class := newClass(ctx, "http://"+addr)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonServerUnreachable)

		By("starting the server: the class turns healthy, and the record follows")
		dns := newDNSServer(func(s *httptest.Server) {
			s.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr)
			Expect(err).NotTo(HaveOccurred())
		})
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.1"))
	})

	It("says Publishing while the first request is under way, and delays no other class meanwhile", func(ctx SpecContext) {
		entered, leave := make(chan struct{}, 100), make(chan struct{})
		blocked := server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case entered <- struct{}{}:
			default:
			}
			select {
			case <-leave:
			case <-r.Context().Done():
			}
		}))
		DeferCleanup(func() { close(leave) })
		slow := newClass(ctx, blocked.URL, func(c *dnsv1alpha1.DNSClass) { c.Spec.TimeoutSeconds = ptr.To[int32](300) })
		var stuck []*dnsv1alpha1.DNSRecord
		for i := range 30 {
			rec := newRecord(ns, slow.Name, named("slow-"+string(rune('a'+i%26))+string(rune('a'+i/26)), "slow"+string(rune('a'+i%26))+string(rune('a'+i/26))))
			Expect(admin.Create(ctx, rec)).To(Succeed())
			stuck = append(stuck, rec)
		}
		Eventually(entered).Should(Receive())
		expectReason(ctx, stuck[29], dnsv1alpha1.ReasonPublishing)
		class := &dnsv1alpha1.DNSClass{}
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(slow), class)).To(Succeed())
		Expect(classReason(class)).To(Equal(dnsv1alpha1.ReasonHealthCheckPending))

		fast := newClass(ctx, newDNSServer(nil).URL)
		rec := newRecord(ns, fast.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Eventually(func() string { return reason(fetch(ctx, rec)) }).WithTimeout(5 * time.Second).Should(Equal(dnsv1alpha1.ReasonRecordCreated))
		for _, rec := range stuck {
			freeNow(ctx, rec)
		}
	})

	It("sends records to a server that says it is not healthy", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		dns.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == dnsserverv1.PathHealth {
				status(503, `{"status":"unhealthy"}`)(w, r)
			}
			return r.URL.Path == dnsserverv1.PathHealth
		}
		class := newClass(ctx, dns.URL)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonServerError))
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.1"))
	})

	It("retries with backoff until the attempts are used up, and then at the health check", func(ctx SpecContext) {
		var failures atomic.Int32
		failures.Store(1000)
		dns := newDNSServer(nil)
		dns.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || failures.Add(-1) < 0 {
				return false
			}
			status(503, "{}")(w, r)
			return true
		}
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Eventually(func() dnsv1alpha1.RecordState { return fetch(ctx, rec).Status.State }).Should(Equal(dnsv1alpha1.RecordStateError))
		first := fetch(ctx, rec).Status.Error.Timestamp
		failures.Store(0)
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		Expect(first).NotTo(BeNil())
		Expect(fetch(ctx, rec).Status.Error).To(BeNil())
	})

	It("waits for the Secret, signs with it, and follows its rotation", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		dns.secret("first")
		class := newClass(ctx, dns.URL, func(c *dnsv1alpha1.DNSClass) {
			c.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "rotating", Namespace: secretNamespace}}
		})
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonSecretNotFound)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonSecretNotFound))

		secret := newSecret(ctx, secretNamespace, "rotating", "first")
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)

		By("changing the server's secret first")
		dns.secret("second")
		update(ctx, rec, func() { rec.Spec.Values = []string{"192.0.2.8"} })
		expectReason(ctx, rec, dnsv1alpha1.ReasonAuthenticationFailed)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonAuthenticationFailed))

		secret.Data["hmac-secret"] = []byte("second")
		Expect(admin.Update(ctx, secret)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordUpdated)
		Eventually(func() string { return classReason(fetchClass(ctx, class)) }).Should(Equal(dnsv1alpha1.ReasonServerHealthy))
	})

	It("finds drift at the resync and repairs it", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		dns.put("A", "example.com", "www", "203.0.113.66")
		Eventually(func() []string { return dns.values("A", "example.com", "www") }).Should(ConsistOf("192.0.2.1"))
		dns.drop("A", "example.com", "www")
		Eventually(func() []string { return dns.values("A", "example.com", "www") }).Should(ConsistOf("192.0.2.1"))
	})

	It("says that its class is gone, and goes on when there is one again", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)

		By("holding the class while the record refers to it")
		Expect(admin.Delete(ctx, class)).To(Succeed())
		Consistently(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(class), class) }).WithTimeout(time.Second).Should(Succeed())
		expectRefused(admin.Create(ctx, newRecord(ns, class.Name, named("late", "late"))), "spec.dnsClassRef.name", "dnsclass-exists")

		By("letting go of it on demand")
		Expect(admin.Patch(ctx, class, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"`+dnsv1alpha1.ReleaseAnnotation+`":"true"}}}`)))).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonDNSClassNotFound)
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.1"), "nothing is deleted because an input is missing")

		again := class.DeepCopy()
		again.ObjectMeta.ResourceVersion, again.UID, again.Annotations, again.Finalizers = "", "", nil, nil
		Expect(admin.Create(ctx, again)).To(Succeed())
		Eventually(func() string { return reason(fetch(ctx, rec)) }).Should(Or(Equal(dnsv1alpha1.ReasonRecordCreated), Equal(dnsv1alpha1.ReasonRecordUpdated)))
		Expect(admin.Delete(ctx, rec)).To(Succeed())
		expectGone(ctx, rec)
		Expect(dns.values("A", "example.com", "www")).To(BeEmpty())
	})

	It("holds the name until the object is gone", func(ctx SpecContext) {
		var down atomic.Bool
		dns := newDNSServer(nil)
		dns.before = func(w http.ResponseWriter, r *http.Request) bool {
			if down.Load() {
				status(500, "{}")(w, r)
			}
			return down.Load()
		}
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		down.Store(true)
		Expect(admin.Delete(ctx, rec)).To(Succeed())
		heir := func() *dnsv1alpha1.DNSRecord { return newRecord(ns, class.Name, named("heir", "www")) }
		expectRefused(admin.Create(ctx, heir()), "spec.subdomain", "name-taken")
		expectReason(ctx, rec, dnsv1alpha1.ReasonServerError)
		down.Store(false)
		expectGone(ctx, rec)
		Expect(admin.Create(ctx, heir())).To(Succeed())
	})

	It("lets the loser of a race take over when the holder goes", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		holder := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, holder)).To(Succeed())
		expectReason(ctx, holder, dnsv1alpha1.ReasonRecordCreated)
		loser := newRecord(ns, class.Name, named("loser", "www"), func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{"198.51.100.1"} })
		withoutGate(ctx, func() { Expect(admin.Create(ctx, loser)).To(Succeed()) })
		expectReason(ctx, loser, dnsv1alpha1.ReasonNameConflict)
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("192.0.2.1"))
		Expect(admin.Delete(ctx, holder)).To(Succeed())
		expectReason(ctx, loser, dnsv1alpha1.ReasonRecordCreated)
		Expect(dns.values("A", "example.com", "www")).To(ConsistOf("198.51.100.1"))
	})

	DescribeTable("never holds a deletion for ever", func(ctx SpecContext, change func(context.Context, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord)) {
		dns := newDNSServer(nil)
		dns.secret("first")
		secret := newSecret(ctx, secretNamespace, "gone-"+ns, "first")
		class := newClass(ctx, dns.URL, func(c *dnsv1alpha1.DNSClass) {
			c.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: secret.Name, Namespace: secretNamespace}}
		})
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		change(ctx, class, rec)
		Expect(admin.Delete(ctx, rec)).To(Succeed())
		expectGone(ctx, rec)
		Eventually(func() string {
			out, err := control.Kubectl(ctx, nil, "get", "events.events.k8s.io", "-n", ns, "-o", "jsonpath={.items[*].reason}")
			Expect(err).NotTo(HaveOccurred())
			return out
		}).Should(ContainSubstring("LeftBehind"))
	},
		Entry("the Secret is gone", func(ctx context.Context, class *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			Expect(admin.Delete(ctx, secretOf(ctx, class))).To(Succeed())
		}),
		Entry("the class is gone", func(ctx context.Context, class *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			Expect(admin.Delete(ctx, class)).To(Succeed())
			Expect(admin.Patch(ctx, class, client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"annotations":{"`+dnsv1alpha1.ReleaseAnnotation+`":"true"}}}`)))).To(Succeed())
			Eventually(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(class), class) }).Should(Satisfy(apierrors.IsNotFound))
		}),
		Entry("a person lets go of it", func(ctx context.Context, class *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			Eventually(func() error {
				now := fetchClass(ctx, class)
				now.Spec.Server = "http://127.0.0.1:3"
				return admin.Update(ctx, now)
			}).Should(Succeed())
			update(ctx, rec, func() { rec.Annotations = map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"} })
		}),
	)

	It("goes with its namespace", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		Expect(admin.Delete(ctx, &corev1.Namespace{ObjectMeta: objectNamed(ns)})).To(Succeed())
		Eventually(func() error { return admin.Get(ctx, client.ObjectKey{Name: ns}, &corev1.Namespace{}) }).WithTimeout(time.Minute).Should(Satisfy(apierrors.IsNotFound))
		Expect(dns.values("A", "example.com", "www")).To(BeEmpty())
	})

	It("sends nothing anew after a restart", func(ctx SpecContext) {
		dns := newDNSServer(nil)
		var posts atomic.Int32
		dns.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				posts.Add(1)
			}
			return false
		}
		class := newClass(ctx, dns.URL)
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		expectReason(ctx, rec, dnsv1alpha1.ReasonRecordCreated)
		before := fetch(ctx, rec)
		operator.stop()
		operator = startOperator(ctx)
		another := newRecord(ns, class.Name, named("another", "another"))
		Expect(admin.Create(ctx, another)).To(Succeed())
		expectReason(ctx, another, dnsv1alpha1.ReasonRecordCreated)
		Expect(posts.Load()).To(Equal(int32(2)))
		Expect(fetch(ctx, rec).ResourceVersion).To(Equal(before.ResourceVersion))
	})
})

// expectReason waits for a reason of the Ready condition that speaks of the current spec.
func expectReason(ctx context.Context, rec *dnsv1alpha1.DNSRecord, want string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := fetch(ctx, rec)
		g.Expect(reason(now)).To(Equal(want))
		g.Expect(now.Status.ObservedGeneration).To(Equal(now.Generation))
	}).Should(Succeed())
}

func expectGone(ctx context.Context, rec *dnsv1alpha1.DNSRecord) {
	GinkgoHelper()
	Eventually(func() error {
		return admin.Get(ctx, client.ObjectKeyFromObject(rec), &dnsv1alpha1.DNSRecord{})
	}).Should(Satisfy(apierrors.IsNotFound))
}

// freeNow deletes a record whose server never answers.
func freeNow(ctx context.Context, rec *dnsv1alpha1.DNSRecord) {
	GinkgoHelper()
	update(ctx, rec, func() { rec.Annotations = map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"} })
	Expect(admin.Delete(ctx, rec)).To(Succeed())
	expectGone(ctx, rec)
}

func secretOf(ctx context.Context, class *dnsv1alpha1.DNSClass) *corev1.Secret {
	ref := fetchClass(ctx, class).Spec.HMACAuth.SecretRef
	return &corev1.Secret{ObjectMeta: objectIn(ref.Namespace, ref.Name)}
}
