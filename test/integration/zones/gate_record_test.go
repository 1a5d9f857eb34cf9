package zones

import (
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
)

var _ = Describe("The gate for Record", func() {
	var ns, origin string
	BeforeEach(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		origin = originOf(ns)
	})
	// record is www in the zone of this spec: A 192.0.2.1.
	record := func(namespace, name string) *builder.RecordBuilder {
		return builder.Record(namespace, name).Domain("www." + origin)
	}
	newZone := func(ctx SpecContext) {
		GinkgoHelper()
		Expect(admin.Create(ctx, builder.Zone(ns, "zone").Domain(origin).DelegateAll().Obj())).To(Succeed())
	}

	It("defaults what is absent and nothing else", func(ctx SpecContext) {
		rec := record(ns, "www").Obj()
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Expect(rec.Spec).To(Equal(zonev1alpha1.RecordSpec{DomainName: "www." + origin, Type: "A", Class: "IN", RData: "192.0.2.1"}))
	})

	DescribeTable("refuses at once and says why", func(ctx SpecContext, field, rule string, change func(*zonev1alpha1.RecordSpec)) {
		rec := record(ns, "www").Obj()
		change(&rec.Spec)
		expectRefused(admin.Create(ctx, rec), field, rule)
	},
		Entry("a relative name without a zoneRef", "spec", "zone-ref-or-fqdn", func(s *zonev1alpha1.RecordSpec) { s.DomainName = "www" }),
		Entry("a whole name with a zoneRef", "spec", "zone-ref-or-fqdn", func(s *zonev1alpha1.RecordSpec) { s.ZoneRef = &zonev1alpha1.ZoneReference{Name: "a"} }),
		Entry("two dots in a row", "spec.domainName", "name-label-empty", func(s *zonev1alpha1.RecordSpec) { s.DomainName = "www..example.org." }),
		Entry("a wildcard that is not leftmost", "spec.domainName", "name-wildcard", func(s *zonev1alpha1.RecordSpec) { s.DomainName = "www.*.example.org." }),
		Entry("a zoneRef of a name that is none", "spec.zoneRef.name", "zone-ref-name", func(s *zonev1alpha1.RecordSpec) {
			s.DomainName, s.ZoneRef = "www", &zonev1alpha1.ZoneReference{Name: "A/b"}
		}),
		Entry("the zone's own type", "spec.type", "rdata-type", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "SOA", "a. b. 1 2 3 4 5" }),
		Entry("a type in lower case", "spec.type", "rdata-type", func(s *zonev1alpha1.RecordSpec) { s.Type = "a" }),
		Entry("a bad IPv4 address", "spec.rdata", "value-ipv4", func(s *zonev1alpha1.RecordSpec) { s.RData = "192.0.2.256" }),
		Entry("a second record on a line of its own", "spec.rdata", "rdata-syntax", func(s *zonev1alpha1.RecordSpec) { s.RData = "192.0.2.1\n@ IN NS ns.evil.example." }),
		Entry("a directive", "spec.rdata", "rdata-syntax", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "MX", "$INCLUDE /etc/passwd" }),
		Entry("a comment", "spec.rdata", "txt-unquoted", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "TXT", "a ; b" }),
		Entry("a text with a newline", "spec.rdata", "txt-character", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "TXT", "\"a\n$INCLUDE /etc/passwd\"" }),
		Entry("a target without its dot", "spec.rdata", "rdata-relative-name", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "CNAME", "web.example.net" }),
		Entry("a CNAME of itself", "spec.rdata", "cname-self", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "CNAME", strings.ToUpper(s.DomainName) }),
		Entry("a CNAME at the zone's own name", "spec.domainName", "cname-at-apex", func(s *zonev1alpha1.RecordSpec) {
			s.DomainName, s.ZoneRef, s.Type, s.RData = "@", &zonev1alpha1.ZoneReference{Name: "a"}, "CNAME", "web.example.net."
		}),
		Entry("an SRV record at a host", "spec.domainName", "srv-owner", func(s *zonev1alpha1.RecordSpec) { s.Type, s.RData = "SRV", "0 0 443 web.example.net." }),
		Entry("a delegation of a wildcard", "spec.domainName", "ns-wildcard", func(s *zonev1alpha1.RecordSpec) {
			s.DomainName, s.Type, s.RData = "*.example.org.", "NS", "ns.example.net."
		}),
	)

	It("lists all findings at once", func(ctx SpecContext) {
		expectRefused(admin.Create(ctx, record(ns, "www").Domain("w ww").ZoneRef("A/b", "").RData("1.2.3").Obj()), "spec.rdata", "name-character", "zone-ref-name", "value-ipv4")
	})

	DescribeTable("leaves what is not of its form to the schema, which names field and reason", func(ctx SpecContext, change func(map[string]any), want string) {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": zonev1alpha1.GroupVersion.String(), "kind": "Record",
			"metadata": map[string]any{"name": "form", "namespace": ns},
			"spec":     map[string]any{"domainName": "www.example.org.", "type": "A", "rdata": "192.0.2.1"},
		}}
		spec, _ := obj.Object["spec"].(map[string]any)
		change(spec)
		expectRefused(admin.Create(ctx, obj), want)
	},
		Entry("no rdata", func(s map[string]any) { delete(s, "rdata") }, "spec.rdata: Required value"),
		Entry("a list for a text", func(s map[string]any) { s["rdata"] = []any{"192.0.2.1"} }, "spec.rdata: Invalid value: \"array\""),
		Entry("a number out of range", func(s map[string]any) { s["ttl"] = int64(3000000000) }, "spec.ttl: Invalid value"),
		Entry("another class", func(s map[string]any) { s["class"] = "CH" }, "spec.class: Unsupported value: \"CH\""),
	)

	It("answers hostile text with a message of one line and bounded length", func(ctx SpecContext) {
		expectRefused(admin.Create(ctx, record(ns, "www").Type("TXT").RData(strings.Repeat("\n\"$INCLUDE ../..", 4000)).Obj()), "spec.rdata", "txt-character")
		huge := record(ns, "www").RData(strings.Repeat("x", 1<<20)).Obj()
		Expect(admin.Create(ctx, huge)).To(MatchError(ContainSubstring("spec.rdata: Too long")))
	})

	It("keeps what identifies a record", func(ctx SpecContext) {
		whole, relative := record(ns, "www").Obj(), builder.Record(ns, "relative").Domain("www").ZoneRef("zone", "").Obj()
		Expect(admin.Create(ctx, whole)).To(Succeed())
		Expect(admin.Create(ctx, relative)).To(Succeed())
		for what, try := range map[string]struct {
			record *zonev1alpha1.Record
			change func(*zonev1alpha1.Record)
		}{
			"domainName":          {whole, func(r *zonev1alpha1.Record) { r.Spec.DomainName = "web." + origin }},
			"type":                {whole, func(r *zonev1alpha1.Record) { r.Spec.Type, r.Spec.RData = "TXT", `"x"` }},
			"zoneRef, another":    {relative, func(r *zonev1alpha1.Record) { r.Spec.ZoneRef.Name = "other" }},
			"zoneRef, taken away": {relative, func(r *zonev1alpha1.Record) { r.Spec.ZoneRef = nil; r.Spec.DomainName = "www." + origin }},
			"zoneRef, where was none": {whole, func(r *zonev1alpha1.Record) {
				r.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: "a"}
				r.Spec.DomainName = "www"
			}},
		} {
			By(what)
			expectRefused(change(ctx, admin, try.record.DeepCopy(), try.change), "spec", "identity-immutable")
		}
	})

	It("says which suffix is not delegated for which type", func(ctx SpecContext) {
		tenant := newNamespace(ctx)
		Expect(admin.Create(ctx, builder.Zone(ns, "zone").Domain(origin).DelegateTypes([]string{tenant}, "*.dev", "A").Obj())).To(Succeed())
		in := func(namespace, name string) *builder.RecordBuilder {
			return builder.Record(namespace, "r").Domain(name + origin)
		}

		By("to this namespace")
		text := soonRefused(ctx, in(ns, "www.dev.").Obj(), "spec.domainName", "record-not-delegated")
		Expect(text).To(And(ContainSubstring(origin), ContainSubstring("type A"), ContainSubstring(`www.dev`), Not(ContainSubstring(tenant))))
		By("of this name")
		soonRefused(ctx, in(tenant, "www.").Obj(), "spec.domainName", "record-not-delegated")
		By("of this type")
		soonRefused(ctx, in(tenant, "www.dev.").Type("TXT").RData(`"x"`).Obj(), "spec.domainName", "record-not-delegated")
		By("at the apex")
		soonRefused(ctx, in(tenant, "").Obj(), "spec.domainName", "record-not-delegated")
		By("by zoneRef too")
		soonRefused(ctx, builder.Record(tenant, "r").Domain("www").ZoneRef("zone", ns).Obj(), "spec.domainName", "record-not-delegated")
		By("and lets in what is delegated")
		soonAllowed(ctx, in(tenant, "www.dev.").Obj())
	})

	It("holds what the records of a zone may not be beside one another", func(ctx SpecContext) {
		newZone(ctx)
		other := newNamespace(ctx)
		Expect(admin.Create(ctx, record(ns, "www").TTL(60).Obj())).To(Succeed())

		By("the RRset of another namespace")
		text := soonRefused(ctx, record(other, "www").RData("192.0.2.2").Obj(), "spec.domainName", "rrset-taken")
		Expect(text).NotTo(Or(ContainSubstring("192.0.2.1"), ContainSubstring(ns+"/")))
		By("the same rdata, however it is spelt")
		soonRefused(ctx, record(ns, "again").Domain(strings.ToUpper("www."+origin)).TTL(60).Obj(), "spec.rdata", "record-duplicate")
		By("another TTL")
		soonRefused(ctx, record(ns, "slow").RData("192.0.2.2").TTL(61).Obj(), "spec.ttl", "ttl-differs")
		By("a CNAME beside other data")
		soonRefused(ctx, record(ns, "alias").Type("CNAME").RData("web.example.net.").Obj(), "spec.domainName", "cname-alone")
		By("a CNAME at the apex")
		soonRefused(ctx, builder.Record(ns, "apex").Domain(origin).Type("CNAME").RData("web.example.net.").Obj(), "spec.domainName", "cname-at-apex")
		By("an SRV record that is no service once its name is whole")
		soonRefused(ctx, builder.Record(ns, "srv").Domain("sip").ZoneRef("zone", "").Type("SRV").RData("0 0 1 web.example.net.").Obj(), "spec.domainName", "srv-owner")
		By("another value of the same namespace, and another type of another one, are none of this")
		Expect(admin.Create(ctx, record(ns, "second").RData("192.0.2.2").Obj())).To(Succeed())
		Expect(admin.Create(ctx, record(other, "text").Type("TXT").RData(`"x"`).Obj())).To(Succeed())

		By("taking at once a name that is free by now")
		for _, name := range []string{"www", "second"} {
			Expect(admin.Delete(ctx, builder.Record(ns, name).Obj())).To(Succeed())
		}
		Expect(admin.Create(ctx, record(other, "www").RData("192.0.2.2").Obj())).To(Succeed())

		By("a circle of CNAMEs")
		Expect(admin.Create(ctx, builder.Record(ns, "a").Domain("a."+origin).Type("CNAME").RData("b."+origin).Obj())).To(Succeed())
		soonRefused(ctx, builder.Record(ns, "b").Domain("b."+origin).Type("CNAME").RData("a."+origin).Obj(), "spec.rdata", "cname-loop")
		By("a second target of a CNAME")
		soonRefused(ctx, builder.Record(ns, "a-2").Domain("a."+origin).Type("CNAME").RData("c.example.net.").Obj(), "spec.domainName", "cname-single")

		By("data below a delegation")
		Expect(admin.Create(ctx, builder.Record(ns, "sub").Domain("sub."+origin).Type("NS").RData("ns.sub."+origin).Obj())).To(Succeed())
		soonRefused(ctx, builder.Record(ns, "below").Domain("www.sub."+origin).Obj(), "spec.domainName", "record-occluded")
		Expect(admin.Create(ctx, builder.Record(ns, "glue").Domain("ns.sub."+origin).Obj())).To(Succeed())
	})

	It("judges an update by what it brings", func(ctx SpecContext) {
		newZone(ctx)
		rec := record(ns, "one").TTL(60).Obj()
		Expect(admin.Create(ctx, rec)).To(Succeed())
		Expect(admin.Create(ctx, record(ns, "two").RData("192.0.2.2").TTL(60).Obj())).To(Succeed())
		soonRefused(ctx, record(ns, "three").RData("192.0.2.2").Obj(), "spec.rdata", "record-duplicate")

		expectRefused(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData = "192.0.2.2" }), "spec.rdata", "record-duplicate")
		expectRefused(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.TTL = ptr.To[int32](61) }), "spec.ttl", "ttl-differs")
		Expect(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData, r.Spec.TTL = "192.0.2.3", nil })).To(Succeed())

		By("not asking again whether the zone lets it in")
		z := builder.Zone(ns, "zone").Obj()
		Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })).To(Succeed())
		soonRefused(ctx, record(ns, "new").RData("192.0.2.9").Obj(), "spec.domainName", "record-not-delegated")
		Expect(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData = "192.0.2.4" })).To(Succeed())
	})

	It("warns of what is absent, and admits it", func(ctx SpecContext) {
		Expect(dryRun(ctx, record(ns, "www").Obj())).To(ConsistOf(ContainSubstring("zone-absent")))
		Expect(dryRun(ctx, builder.Record(ns, "www").Domain("www").ZoneRef("no-such-zone", "").Obj())).To(ConsistOf(ContainSubstring("zone-absent")))
		newZone(ctx)
		Eventually(func() []string { return dryRun(ctx, record(ns, "www").Obj()) }).Should(BeEmpty())
		Expect(dryRun(ctx, record(ns, "www").Type("CNAME").RData("web."+origin).Obj())).To(ConsistOf(ContainSubstring("target-absent")))
		Expect(dryRun(ctx, record(ns, "www").Type("NS").RData("ns.www."+origin).Obj())).To(ConsistOf(ContainSubstring("glue-absent")))
		Expect(dryRun(ctx, record(ns, "www").RData("127.0.0.1").Obj())).To(ConsistOf(ContainSubstring("address-special")))
		Expect(dryRun(ctx, record(ns, "www").Domain("my_host."+origin).Obj())).To(ConsistOf(ContainSubstring("host-underscore")))
		Expect(dryRun(ctx, record(ns, "www").Label(zonev1alpha1.ParentZoneLabel, "forged.zone").Obj())).To(ConsistOf(ContainSubstring("parent-label-ignored")))
		Expect(admin.Create(ctx, builder.Record(ns, "mx").Domain("mx."+origin).Type("CNAME").RData("mail.example.net.").Obj())).To(Succeed())
		Eventually(func() []string { return dryRun(ctx, record(ns, "www").Type("MX").RData("10 mx."+origin).Obj()) }).Should(ConsistOf(ContainSubstring("target-alias")))
	})

	It("lets the operator alone write the label that names the parent", func(ctx SpecContext) {
		newZone(ctx)
		rec := record(ns, "www").Label(zonev1alpha1.ParentZoneLabel, "forged.zone").Obj()
		Expect(admin.Create(ctx, rec)).To(Succeed())
		checkLabel(ctx, rec, "zone."+ns)
	})

	It("fails at nothing when many come at the same time", func(ctx SpecContext) {
		newZone(ctx)
		soonAllowed(ctx, record(ns, "first").RData("192.0.2.99").Obj())
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer GinkgoRecover()
				if err := admin.Create(ctx, record(ns, "racer-"+string(rune('a'+i))).Obj()); err != nil {
					expectRefused(err, "spec.rdata", "record-duplicate")
				}
			}()
		}
		wg.Wait()
		Eventually(func(g Gomega) {
			list := &zonev1alpha1.RecordList{}
			g.Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
			published := 0
			for i := range list.Items {
				rec := &list.Items[i]
				switch {
				case rec.Spec.RData == "192.0.2.99":
				case readyReason(rec) == zonev1alpha1.ReasonAdopted:
					published++
				default:
					g.Expect(readyReason(rec)).To(Equal(zonev1alpha1.ReasonQuarantined))
				}
			}
			g.Expect(published).To(Equal(1))
		}).Should(Succeed())
	})

	Context("an object from before the gate", func() {
		var rec *zonev1alpha1.Record
		BeforeEach(func(ctx SpecContext) {
			rec = record(ns, "www").RData("not an address").Finalizers("example.com/held").Obj()
			withoutGate(ctx, func() { Expect(admin.Create(ctx, rec)).To(Succeed()) })
			DeferCleanup(func(ctx SpecContext) {
				Expect(client.IgnoreNotFound(admin.Delete(ctx, rec))).To(Succeed())
				Expect(client.IgnoreNotFound(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Finalizers = nil }))).To(Succeed())
			})
		})

		It("can be changed without becoming worse", func(ctx SpecContext) {
			Expect(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.TTL, r.Labels = ptr.To[int32](9), map[string]string{"a": "b"} })).To(Succeed())
			expectRefused(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData = "nor this" }), "spec.rdata", "value-ipv4")
			Expect(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData = "192.0.2.1" })).To(Succeed())
		})

		It("loses its finalizers while it is deleted, but is no way around the gate", func(ctx SpecContext) {
			Expect(admin.Delete(ctx, rec)).To(Succeed())
			expectRefused(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Spec.RData = "nor this" }), "spec.rdata", "value-ipv4")
			Expect(change(ctx, admin, rec, func(r *zonev1alpha1.Record) { r.Finalizers = nil })).To(Succeed())
			Eventually(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(rec), rec) }).Should(Satisfy(apierrors.IsNotFound))
		})
	})
})

// readyReason is that of the Ready condition.
func readyReason(rec *zonev1alpha1.Record) string {
	for _, c := range rec.Status.Conditions {
		if c.Type == zonev1alpha1.ConditionReady {
			return c.Reason
		}
	}
	return ""
}
