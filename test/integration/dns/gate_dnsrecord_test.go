package dns

import (
	"context"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

// refusal is what a refused request has to say.
func expectRefused(err error, field string, rules ...string) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred(), "the gate let it through")
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "want a 422, got %v", err)
	for _, rule := range rules {
		Expect(err.Error()).To(ContainSubstring("(rule " + rule + ")"))
	}
	Expect(err.Error()).To(ContainSubstring(field))
}

var _ = Describe("The gate for DNSRecord", func() {
	var ns string
	var class *dnsv1alpha1.DNSClass
	BeforeEach(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		class = newClass(ctx, silentServer+"/"+strings.ReplaceAll(ns, "-", "/"))
	})

	It("defaults what is absent and nothing else", func(ctx SpecContext) {
		rec := newRecord(ns, class.Name, named("apex", ""))
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Expect(rec.Spec.Subdomain).To(Equal("@"))
		Expect(rec.Spec.TTL).To(HaveValue(Equal(int32(300))))

		By("taking the TTL of the class")
		slow := newClass(ctx, silentServer+"/slow", func(c *dnsv1alpha1.DNSClass) { c.Spec.DefaultTTL = ptr.To[int32](77) })
		rec = newRecord(ns, slow.Name, named("slow", "slow"))
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Expect(rec.Spec.TTL).To(HaveValue(Equal(int32(77))))

		By("keeping it on an update without one, also when the class has another by then")
		slow.Spec.DefaultTTL = ptr.To[int32](88)
		Eventually(func() error {
			if err := admin.Get(ctx, client.ObjectKeyFromObject(slow), slow); err != nil {
				return err
			}
			slow.Spec.DefaultTTL = ptr.To[int32](88)
			return admin.Update(ctx, slow)
		}).Should(Succeed())
		update(ctx, rec, func() { rec.Spec.TTL = nil; rec.Spec.Values = []string{"192.0.2.9"} })
		Expect(rec.Spec.TTL).To(HaveValue(Equal(int32(77))))
	})

	DescribeTable("refuses at once and says why", func(ctx SpecContext, field, rule string, change func(*dnsv1alpha1.DNSRecord)) {
		expectRefused(admin.Create(ctx, newRecord(ns, class.Name, change)), field, rule)
	},
		Entry("a bad IPv4 address", "spec.values[0]", "value-ipv4", func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{"192.168.1.999"} }),
		Entry("an IPv4 address with leading zeros", "spec.values[0]", "value-ipv4", func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{"192.168.01.1"} }),
		Entry("an IPv4 address in an AAAA record", "spec.values[0]", "value-ipv6", func(r *dnsv1alpha1.DNSRecord) { r.Spec.Type = "AAAA" }),
		Entry("a CNAME at the apex", "spec.subdomain", "cname-at-apex", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Subdomain, r.Spec.Values = "CNAME", "@", []string{"other.example.net"}
		}),
		Entry("a CNAME to an IP address", "spec.values[0]", "name-is-ip", func(r *dnsv1alpha1.DNSRecord) { r.Spec.Type = "CNAME" }),
		Entry("a CNAME with two targets", "spec.values", "cname-single", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "CNAME", []string{"a.example.net", "b.example.net"}
		}),
		Entry("an MX record without a priority", "spec.metadata.priority", "mx-priority", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "MX", []string{"mail.example.com"}
		}),
		Entry("an SRV record without weight and port", "spec.metadata.weight", "srv-metadata", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Subdomain, r.Spec.Values = "SRV", "_sip._tcp", []string{"sip.example.com"}
			r.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: ptr.To[int32](1)}
		}),
		Entry("a text with a newline", "spec.values[0]", "txt-character", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "TXT", []string{"a\n$INCLUDE /etc/passwd"}
		}),
		Entry("equal values", "spec.values[1]", "value-duplicate", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "AAAA", []string{"2001:db8::1", "2001:DB8:0::1"}
		}),
		Entry("two dots in a row", "spec.domain", "name-label-empty", func(r *dnsv1alpha1.DNSRecord) { r.Spec.Domain = "example..com" }),
		Entry("a name that is too long when composed", "spec.subdomain", "name-too-long", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Subdomain = strings.Repeat("a.", 122) + "a"
		}),
		Entry("a class name that is none", "spec.dnsClassRef.name", "dnsclass-name", func(r *dnsv1alpha1.DNSRecord) { r.Spec.DNSClassRef.Name = "default/reference" }),
		Entry("a class that does not exist", "spec.dnsClassRef.name", "dnsclass-exists", func(r *dnsv1alpha1.DNSRecord) { r.Spec.DNSClassRef.Name = "no-such-class" }),
	)

	It("lists all findings at once", func(ctx SpecContext) {
		err := admin.Create(ctx, newRecord(ns, "no-such-class", func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Domain, r.Spec.Values = "exa mple.com", []string{"1.2.3", "::1"}
		}))
		expectRefused(err, "spec.domain", "name-character", "value-ipv4", "dnsclass-exists")
		Expect(err.Error()).To(And(ContainSubstring("spec.values[0]"), ContainSubstring("spec.values[1]")))
	})

	DescribeTable("leaves what is not of its form to the schema, which names field and reason", func(ctx SpecContext, change func(map[string]any), want string) {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": dnsv1alpha1.GroupVersion.String(), "kind": "DNSRecord",
			"metadata": map[string]any{"name": "form", "namespace": ns},
			"spec": map[string]any{"type": "A", "domain": "example.com", "subdomain": "www", "values": []any{"192.0.2.1"},
				"dnsClassRef": map[string]any{"name": class.Name}},
		}}
		spec, _ := obj.Object["spec"].(map[string]any)
		change(spec)
		expectRefused(admin.Create(ctx, obj), want)
	},
		Entry("a text for a list", func(s map[string]any) { s["values"] = "192.0.2.1" }, "spec.values: Invalid value: \"string\""),
		Entry("a text for a number", func(s map[string]any) { s["ttl"] = "300" }, "spec.ttl: Invalid value: \"string\""),
		Entry("a number out of range", func(s map[string]any) { s["ttl"] = int64(3000000000) }, "spec.ttl: Invalid value"),
		Entry("no values", func(s map[string]any) { delete(s, "values") }, "spec.values: Required value"),
		Entry("no class", func(s map[string]any) { delete(s, "dnsClassRef") }, "spec.dnsClassRef: Required value"),
	)

	It("answers hostile text with a message of one line and bounded length", func(ctx SpecContext) {
		err := admin.Create(ctx, newRecord(ns, class.Name, func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type = "TXT"
			r.Spec.Values = []string{strings.Repeat("\n\"$INCLUDE ../..", 250)}
		}))
		expectRefused(err, "spec.values[0]", "txt-character")
		Expect(len(err.Error())).To(BeNumerically("<", 1000))
		Expect(err.Error()).NotTo(ContainSubstring("\n"))
	})

	It("keeps what identifies a record", func(ctx SpecContext) {
		rec := newRecord(ns, class.Name)
		Expect(admin.Create(ctx, rec)).To(Succeed())
		for field, change := range map[string]func(*dnsv1alpha1.DNSRecord){
			"spec.type":        func(r *dnsv1alpha1.DNSRecord) { r.Spec.Type, r.Spec.Values = "TXT", []string{"x"} },
			"spec.domain":      func(r *dnsv1alpha1.DNSRecord) { r.Spec.Domain = "example.org" },
			"spec.subdomain":   func(r *dnsv1alpha1.DNSRecord) { r.Spec.Subdomain = "web" },
			"spec.dnsClassRef": func(r *dnsv1alpha1.DNSRecord) { r.Spec.DNSClassRef.Name = "another" },
		} {
			other := fetch(ctx, rec)
			before := other.DeepCopy()
			change(other)
			expectRefused(admin.Patch(ctx, other, client.MergeFrom(before)), field, "identity-immutable")
		}
	})

	It("gives a name to one owner and a CNAME the name alone", func(ctx SpecContext) {
		Expect(admin.Create(ctx, newRecord(ns, class.Name))).To(Succeed())
		other := newNamespace(ctx)

		By("refusing the same RRset, however it is spelt, without a word about who has it")
		var err error
		Eventually(func() error {
			err = admin.Create(ctx, newRecord(other, class.Name, func(r *dnsv1alpha1.DNSRecord) {
				r.Spec.Domain, r.Spec.Subdomain = "WWW.Example.com.", "@"
			}), client.DryRunAll)
			return err
		}).Should(HaveOccurred())
		expectRefused(err, "spec.subdomain", "name-taken")
		Expect(err.Error()).NotTo(ContainSubstring(ns))

		By("refusing a CNAME beside it")
		expectRefused(admin.Create(ctx, newRecord(other, class.Name, func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "CNAME", []string{"x.example.net"}
		})), "spec.subdomain", "cname-alone")

		By("allowing another type, and the same name on another server")
		Expect(admin.Create(ctx, newRecord(other, class.Name, func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Type, r.Spec.Values = "AAAA", []string{"2001:db8::1"}
		}))).To(Succeed())
		elsewhere := newClass(ctx, silentServer+"/elsewhere")
		Expect(admin.Create(ctx, newRecord(other, elsewhere.Name, named("elsewhere", "www")))).To(Succeed())
	})

	It("lets one of many that come at the same time keep the name", func(ctx SpecContext) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer GinkgoRecover()
				err := admin.Create(ctx, newRecord(ns, class.Name, named("racer-"+string(rune('a'+i)), "race")))
				if err != nil {
					expectRefused(err, "spec.subdomain", "name-taken")
				}
			}()
		}
		wg.Wait()
		Eventually(func(g Gomega) {
			list := &dnsv1alpha1.DNSRecordList{}
			g.Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			holders := 0
			for i := range list.Items {
				if list.Items[i].Status.Applied != nil {
					holders++
				} else {
					g.Expect(reason(&list.Items[i])).To(Equal(dnsv1alpha1.ReasonNameConflict))
				}
			}
			g.Expect(holders).To(Equal(1))
		}).Should(Succeed())
	})

	Context("an object from before the gate", func() {
		var rec *dnsv1alpha1.DNSRecord
		BeforeEach(func(ctx SpecContext) {
			rec = newRecord(ns, class.Name, func(r *dnsv1alpha1.DNSRecord) {
				r.Spec.Values = []string{"not an address", "192.0.2.1"}
				r.Finalizers = []string{"example.com/held"}
			})
			withoutGate(ctx, func() { Expect(admin.Create(ctx, rec)).To(Succeed()) })
			DeferCleanup(func(ctx SpecContext) {
				Expect(admin.Delete(ctx, rec)).To(Or(Succeed(), Satisfy(apierrors.IsNotFound)))
				release(ctx, rec)
			})
		})

		It("can be changed without becoming worse", func(ctx SpecContext) {
			update(ctx, rec, func() {
				rec.Spec.Values = []string{"192.0.2.2", "not an address"}
				rec.Labels = map[string]string{"a": "b"}
			})
			worse := fetch(ctx, rec)
			before := worse.DeepCopy()
			worse.Spec.Values = append(worse.Spec.Values, "nor this")
			expectRefused(admin.Patch(ctx, worse, client.MergeFrom(before)), "spec.values[2]", "value-ipv4")
		})

		It("says that it bypassed the gate", func(ctx SpecContext) {
			Eventually(func() string { return reason(fetch(ctx, rec)) }).Should(Equal(dnsv1alpha1.ReasonInvalidConfiguration))
		})

		It("loses its finalizers while it is deleted, but is no way around the gate", func(ctx SpecContext) {
			Expect(admin.Delete(ctx, rec)).To(Succeed())
			worse := fetch(ctx, rec)
			before := worse.DeepCopy()
			worse.Spec.Values = []string{"evil"}
			expectRefused(admin.Patch(ctx, worse, client.MergeFrom(before)), "spec.values[0]", "value-ipv4")
			release(ctx, rec)
			Eventually(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(rec), rec) }).Should(Satisfy(apierrors.IsNotFound))
		})
	})
})

// fetch reads an object anew.
func fetch(ctx context.Context, rec *dnsv1alpha1.DNSRecord) *dnsv1alpha1.DNSRecord {
	GinkgoHelper()
	out := &dnsv1alpha1.DNSRecord{}
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(rec), out)).To(Succeed())
	return out
}

// update changes an object that the controller may be changing too.
func update(ctx context.Context, rec *dnsv1alpha1.DNSRecord, change func()) {
	GinkgoHelper()
	Eventually(func() error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(rec), rec); err != nil {
			return err
		}
		change()
		err := admin.Update(ctx, rec)
		if err != nil && !apierrors.IsConflict(err) {
			StopTrying("the update was refused").Wrap(err).Now()
		}
		return err
	}).Should(Succeed())
}

// release takes the test's finalizer off.
func release(ctx context.Context, rec *dnsv1alpha1.DNSRecord) {
	GinkgoHelper()
	Eventually(func() error {
		now := &dnsv1alpha1.DNSRecord{}
		if err := admin.Get(ctx, client.ObjectKeyFromObject(rec), now); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !controllerutil.RemoveFinalizer(now, "example.com/held") {
			return nil
		}
		return admin.Update(ctx, now)
	}).Should(Succeed())
}

// reason is that of the Ready condition.
func reason(rec *dnsv1alpha1.DNSRecord) string {
	for _, c := range rec.Status.Conditions {
		if c.Type == dnsv1alpha1.ConditionReady {
			return c.Reason
		}
	}
	return ""
}
