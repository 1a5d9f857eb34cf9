package zones

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
)

// expectRefused holds what a refused request has to say: one line of bounded length, with the field and the rules.
func expectRefused(err error, field string, rules ...string) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred(), "the gate let it through")
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "want a 422, got %v", err)
	for _, rule := range rules {
		Expect(err.Error()).To(ContainSubstring("(rule " + rule + ")"))
	}
	Expect(err.Error()).To(ContainSubstring(field))
	Expect(err.Error()).NotTo(ContainSubstring("\n"))
	Expect(len(err.Error())).To(BeNumerically("<", 2000))
}

// soonRefused is for what rests on objects that the gate may not have heard of yet. It tries without creating anything, and returns what
// the gate says.
func soonRefused(ctx context.Context, obj client.Object, field string, rules ...string) string {
	GinkgoHelper()
	var err error
	Eventually(func() error {
		try, _ := obj.DeepCopyObject().(client.Object)
		err = admin.Create(ctx, try, client.DryRunAll)
		return err
	}).Should(HaveOccurred())
	expectRefused(err, field, rules...)
	return err.Error()
}

// soonAllowed is the same for what is allowed then, and creates it.
func soonAllowed(ctx context.Context, obj client.Object) {
	GinkgoHelper()
	Eventually(func() error {
		try, _ := obj.DeepCopyObject().(client.Object)
		return admin.Create(ctx, try, client.DryRunAll)
	}).Should(Succeed())
	Expect(admin.Create(ctx, obj)).To(Succeed())
}

// heard collects what the API server warns of.
type heard struct{ texts []string }

// HandleWarningHeader implements rest.WarningHandler.
func (h *heard) HandleWarningHeader(_ int, _ string, text string) { h.texts = append(h.texts, text) }

// dryRun returns what the API server warns of when it is given an object.
func dryRun(ctx context.Context, obj client.Object) []string {
	GinkgoHelper()
	h := &heard{}
	cfg := control.Admin()
	cfg.WarningHandler = h
	c, err := client.New(cfg, client.Options{Scheme: admin.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	Expect(c.Create(ctx, obj, client.DryRunAll)).To(Succeed())
	return h.texts
}

// originOf is the name of a zone that no other spec has.
func originOf(ns string) string { return ns + ".example." }

// change reads an object, changes it and writes it back, while the controller may be changing it too.
func change[T client.Object](ctx context.Context, c client.Client, obj T, f func(T)) error {
	for {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		f(obj)
		if err := c.Update(ctx, obj); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// asUser is an administrator of another name: whatever a user may do, it is not the operator.
func asUser(name string) client.Client {
	GinkgoHelper()
	cfg := control.Admin()
	cfg.Impersonate.UserName, cfg.Impersonate.Groups = name, []string{"system:masters"}
	c, err := client.New(cfg, client.Options{Scheme: admin.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

var _ = Describe("The gate for Zone", func() {
	var ns, origin string
	BeforeEach(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		origin = originOf(ns)
	})
	zone := func() *builder.ZoneBuilder { return builder.Zone(ns, "zone").Domain(origin).DelegateAll() }

	It("defaults what is absent and nothing else", func(ctx SpecContext) {
		z := zone().TTL(7).Obj()
		Expect(admin.Create(ctx, z)).To(Succeed())
		Expect(z.Spec.TTL).To(HaveValue(Equal(int32(7))))
		Expect(z.Spec.Refresh).To(HaveValue(Equal(int32(86400))))
		Expect(z.Spec.Retry).To(HaveValue(Equal(int32(7200))))
		Expect(z.Spec.Expire).To(HaveValue(Equal(int32(3600000))))
		Expect(z.Spec.NegativeResponseCache).To(HaveValue(Equal(int32(360))))
		Expect(z.Spec.NameServer + z.Spec.Contact).To(BeEmpty())
	})

	DescribeTable("refuses at once and says why", func(ctx SpecContext, field, rule string, change func(*zonev1alpha1.Zone)) {
		z := zone().Obj()
		change(z)
		expectRefused(admin.Create(ctx, z), field, rule)
	},
		Entry("a relative name without a zoneRef", "spec", "zone-ref-or-fqdn", func(z *zonev1alpha1.Zone) { z.Spec.DomainName = "dev" }),
		Entry("a whole name with a zoneRef", "spec", "zone-ref-or-fqdn", func(z *zonev1alpha1.Zone) { z.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: "a"} }),
		Entry("a retry that is no less than refresh", "less than refresh", "soa-retry", func(z *zonev1alpha1.Zone) { z.Spec.Refresh, z.Spec.Retry = ptr.To[int32](300), ptr.To[int32](300) }),
		Entry("an expire that is no more than both", "more than refresh and retry together", "soa-expire", func(z *zonev1alpha1.Zone) { z.Spec.Expire = ptr.To[int32](93600) }),
		Entry("two dots in a row", "spec.domainName", "name-label-empty", func(z *zonev1alpha1.Zone) { z.Spec.DomainName = "example..org." }),
		Entry("a wildcard", "spec.domainName", "name-wildcard", func(z *zonev1alpha1.Zone) { z.Spec.DomainName = "*." + z.Spec.DomainName }),
		Entry("a name that is not ASCII", "spec.domainName", "name-not-ascii", func(z *zonev1alpha1.Zone) { z.Spec.DomainName = "bücher.example." }),
		Entry("a relative name of the parent itself", "spec.domainName", "name-character", func(z *zonev1alpha1.Zone) {
			z.Spec.DomainName, z.Spec.ZoneRef = "@", &zonev1alpha1.ZoneReference{Name: "a"}
		}),
		Entry("a zoneRef of a name that is none", "spec.zoneRef.name", "zone-ref-name", func(z *zonev1alpha1.Zone) {
			z.Spec.DomainName, z.Spec.ZoneRef = "dev", &zonev1alpha1.ZoneReference{Name: "A/b"}
		}),
		Entry("a delegation to a pattern of namespaces", "spec.delegations[0].namespaces[0]", "delegation-namespace", func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Namespaces = []string{"team-*"} }),
		Entry("a delegation of sub-zones by what is no pattern", "spec.delegations[0].zones[0]", "delegation-pattern", func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Zones = []string{"dev."} }),
		Entry("a delegation of records by what is no pattern", "spec.delegations[0].records[1].pattern", "delegation-pattern", func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Records[1].Pattern = "(a|b)" }),
		Entry("a delegation of types in lower case", "spec.delegations[0].records[0].types[0]", "delegation-type", func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Records[0].Types = []string{"a"} }),
		Entry("a name server that is an address", "spec.nameServer", "name-is-ip", func(z *zonev1alpha1.Zone) { z.Spec.NameServer = "192.0.2.1" }),
		Entry("a contact that is none", "spec.contact", "soa-contact", func(z *zonev1alpha1.Zone) { z.Spec.Contact = "a b@example.org" }),
		Entry("a name that no label can hold", "metadata.name", "zone-label-length", func(z *zonev1alpha1.Zone) { z.Name = strings.Repeat("z", 63) }),
		Entry("a generated name that no label can hold", "metadata.name", "zone-label-length", func(z *zonev1alpha1.Zone) { z.Name, z.GenerateName = "", strings.Repeat("z", 50) }),
		Entry("a zoneRef to itself", "spec.zoneRef", "zone-ref-cycle", func(z *zonev1alpha1.Zone) {
			z.Spec.DomainName, z.Spec.ZoneRef = "dev", &zonev1alpha1.ZoneReference{Name: z.Name}
		}),
	)

	It("lists all findings at once", func(ctx SpecContext) {
		z := zone().Domain("exa mple.").NameServer("-").Contact("@").Obj()
		expectRefused(admin.Create(ctx, z), "spec.domainName", "name-character", "name-label-hyphen", "soa-contact")
	})

	DescribeTable("leaves what is not of its form to the schema, which names field and reason", func(ctx SpecContext, change func(map[string]any), want string) {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": zonev1alpha1.GroupVersion.String(), "kind": "Zone",
			"metadata": map[string]any{"name": "form", "namespace": ns},
			"spec":     map[string]any{"domainName": origin},
		}}
		spec, _ := obj.Object["spec"].(map[string]any)
		change(spec)
		expectRefused(admin.Create(ctx, obj), want)
	},
		Entry("no name", func(s map[string]any) { delete(s, "domainName") }, "spec.domainName: Required value"),
		Entry("a text for a list", func(s map[string]any) { s["delegations"] = "all" }, "spec.delegations: Invalid value: \"string\""),
		Entry("a text for a number", func(s map[string]any) { s["ttl"] = "300" }, "spec.ttl: Invalid value: \"string\""),
		Entry("a number out of range", func(s map[string]any) { s["refresh"] = int64(0) }, "spec.refresh: Invalid value"),
	)

	It("keeps what identifies a zone", func(ctx SpecContext) {
		whole, relative := zone().Obj(), builder.Zone(ns, "relative").Domain("dev").ZoneRef("zone", "").DelegateAll().Obj()
		Expect(admin.Create(ctx, whole)).To(Succeed())
		soonAllowed(ctx, relative)
		for what, try := range map[string]struct {
			zone   *zonev1alpha1.Zone
			change func(*zonev1alpha1.Zone)
		}{
			"domainName":             {whole, func(z *zonev1alpha1.Zone) { z.Spec.DomainName = "other." + origin }},
			"zoneRef, another":       {relative, func(z *zonev1alpha1.Zone) { z.Spec.ZoneRef.Name = "other" }},
			"zoneRef, its namespace": {relative, func(z *zonev1alpha1.Zone) { z.Spec.ZoneRef.Namespace = "other" }},
			"zoneRef, taken away":    {relative, func(z *zonev1alpha1.Zone) { z.Spec.ZoneRef = nil; z.Spec.DomainName = "dev." + origin }},
			"zoneRef, where was none": {whole, func(z *zonev1alpha1.Zone) {
				z.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: "a"}
				z.Spec.DomainName = "dev"
			}},
		} {
			By(what)
			expectRefused(change(ctx, admin, try.zone.DeepCopy(), try.change), "spec", "identity-immutable")
		}
	})

	It("gives a name to one zone, and names nobody", func(ctx SpecContext) {
		Expect(admin.Create(ctx, zone().Obj())).To(Succeed())
		other := newNamespace(ctx)
		text := soonRefused(ctx, builder.Zone(other, "mine").Domain(strings.ToUpper(origin)).DelegateAll().Obj(), "spec.domainName", "zone-taken")
		Expect(text).NotTo(Or(ContainSubstring(`"`+ns+`"`), ContainSubstring(ns+"/")))
	})

	It("wants the parent's delegation for a sub-zone", func(ctx SpecContext) {
		tenant, stranger := newNamespace(ctx), newNamespace(ctx)
		parent := builder.Zone(ns, "zone").Domain(origin).DelegateZones([]string{tenant}, "dev", "*.dev").Obj()
		Expect(admin.Create(ctx, parent)).To(Succeed())
		sub := func(namespace, name string) *zonev1alpha1.Zone {
			return builder.Zone(namespace, "sub").Domain(name + "." + origin).DelegateAll().Obj()
		}

		By("to this namespace")
		text := soonRefused(ctx, sub(stranger, "dev"), "spec.domainName", "zone-not-delegated")
		Expect(text).To(And(ContainSubstring(origin), ContainSubstring(stranger), Not(ContainSubstring(tenant))))
		By("of this name")
		soonRefused(ctx, sub(tenant, "prod"), "spec.domainName", "zone-not-delegated")
		By("also to its own namespace")
		soonRefused(ctx, sub(ns, "dev"), "spec.domainName", "zone-not-delegated")
		By("by zoneRef too")
		soonRefused(ctx, builder.Zone(tenant, "sub").Domain("prod").ZoneRef("zone", ns).DelegateAll().Obj(), "spec.domainName", "zone-not-delegated")
		By("and lets in what is delegated")
		soonAllowed(ctx, builder.Zone(tenant, "dev").Domain("dev").ZoneRef("zone", ns).DelegateAll().Obj())

		By("knowing at once what the parent delegates by now")
		Expect(change(ctx, admin, parent, func(z *zonev1alpha1.Zone) { z.Spec.Delegations[0].Zones = []string{"dev", "*.dev", "prod"} })).To(Succeed())
		Expect(admin.Create(ctx, sub(tenant, "prod"))).To(Succeed())
	})

	It("takes nothing from others by a sub-zone", func(ctx SpecContext) {
		tenant := newNamespace(ctx)
		Expect(admin.Create(ctx, zone().Obj())).To(Succeed())
		soonAllowed(ctx, builder.Record(ns, "www").Domain("www.dev."+origin).Obj())
		sub := func(namespace string) *builder.ZoneBuilder {
			return builder.Zone(namespace, "dev").Domain("dev." + origin)
		}
		soonRefused(ctx, sub(tenant).Obj(), "spec.domainName", "zone-takes-names")
		Expect(dryRun(ctx, sub(ns).Obj())).To(ContainElement(ContainSubstring("zone-drops-names")))
		Expect(admin.Create(ctx, sub(tenant).Delegate([]string{ns}, "www").Obj())).To(Succeed())
	})

	It("refuses a circle of zoneRefs", func(ctx SpecContext) {
		Expect(admin.Create(ctx, builder.Zone(ns, "a").Domain("a").ZoneRef("b", "").DelegateAll().Obj())).To(Succeed())
		Expect(admin.Create(ctx, builder.Zone(ns, "b").Domain("b").ZoneRef("c", "").DelegateAll().Obj())).To(Succeed())
		soonRefused(ctx, builder.Zone(ns, "c").Domain("c").ZoneRef("a", "").DelegateAll().Obj(), "spec.zoneRef", "zone-ref-cycle")
	})

	It("refuses a name that is too long when composed", func(ctx SpecContext) {
		long := strings.Repeat("a.", 100)
		Expect(admin.Create(ctx, zone().Domain(long+origin).Obj())).To(Succeed())
		soonRefused(ctx, builder.Zone(ns, "sub").Domain(strings.Repeat("b", 50)).ZoneRef("zone", "").DelegateAll().Obj(), "spec.domainName", "name-too-long")
	})

	It("warns of what is allowed and unwise", func(ctx SpecContext) {
		Expect(dryRun(ctx, zone().NoDelegations().Obj())).To(ContainElements(ContainSubstring("delegation-empty"), ContainSubstring("apex-ns-absent")))
		Expect(dryRun(ctx, builder.Zone(ns, "sub").Domain("dev").ZoneRef("no-such-zone", "").DelegateAll().Obj())).To(ConsistOf(ContainSubstring("zone-absent")))
		Expect(dryRun(ctx, zone().Label(zonev1alpha1.ParentZoneLabel, "forged.zone").Obj())).To(ContainElement(ContainSubstring("parent-label-ignored")))
		Expect(dryRun(ctx, zone().NoDelegations().Delegation(zonev1alpha1.Delegation{}).Delegation(zonev1alpha1.Delegation{}).Delegation(zonev1alpha1.Delegation{}).
			Delegation(zonev1alpha1.Delegation{}).Delegation(zonev1alpha1.Delegation{}).Delegation(zonev1alpha1.Delegation{}).Obj())).To(HaveLen(6), "few warnings")
	})

	It("lets the operator alone write the label that names the parent", func(ctx SpecContext) {
		Expect(admin.Create(ctx, zone().Obj())).To(Succeed())
		sub := builder.Zone(ns, "sub").Domain("dev").ZoneRef("zone", "").DelegateAll().Obj()
		soonAllowed(ctx, sub)
		checkLabel(ctx, sub, "zone."+ns)
	})

	Context("an object from before the gate", func() {
		var z *zonev1alpha1.Zone
		BeforeEach(func(ctx SpecContext) {
			z = zone().Contact("no contact").Finalizers("example.com/held").Obj()
			withoutGate(ctx, func() { Expect(admin.Create(ctx, z)).To(Succeed()) })
			DeferCleanup(func(ctx SpecContext) {
				Expect(client.IgnoreNotFound(admin.Delete(ctx, z))).To(Succeed())
				Expect(client.IgnoreNotFound(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Finalizers = nil }))).To(Succeed())
			})
		})

		It("can be changed without becoming worse", func(ctx SpecContext) {
			Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.TTL, z.Labels = ptr.To[int32](9), map[string]string{"a": "b"} })).To(Succeed())
			expectRefused(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.NameServer = "-" }), "spec.nameServer", "name-label-hyphen")
			expectRefused(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.Contact = "nor this" }), "spec.contact", "soa-contact")
		})

		It("loses its finalizers while it is deleted, but is no way around the gate", func(ctx SpecContext) {
			Expect(admin.Delete(ctx, z)).To(Succeed())
			expectRefused(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.NameServer = "-" }), "spec.nameServer", "name-label-hyphen")
			Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Finalizers = nil })).To(Succeed())
			Eventually(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(z), z) }).Should(Satisfy(apierrors.IsNotFound))
		})
	})
})

// checkLabel holds who may write the label of an object that the controller has given this value.
func checkLabel(ctx context.Context, obj client.Object, want string) {
	GinkgoHelper()
	label := func() string {
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
		return obj.GetLabels()[zonev1alpha1.ParentZoneLabel]
	}
	Eventually(label).Should(Equal(want))
	set := func(value string) func(client.Object) {
		return func(obj client.Object) {
			obj.SetLabels(map[string]string{zonev1alpha1.ParentZoneLabel: value, "mine": "kept"})
		}
	}
	const path = "metadata.labels[kubi.zone/parent-zone]"

	By("refusing another value, whoever writes it")
	for _, c := range []client.Client{admin, asUser("jane"), asUser("system:serviceaccount:" + obj.GetNamespace() + ":namegate-controller")} {
		expectRefused(change(ctx, c, obj, set("other.zone")), path, "parent-label-changed")
		expectRefused(change(ctx, c, obj, set("")), path, "parent-label-changed")
	}

	By("giving it back to who leaves it out")
	Expect(change(ctx, admin, obj, func(obj client.Object) { obj.SetLabels(map[string]string{"mine": "kept"}) })).To(Succeed())
	Expect(obj.GetLabels()).To(Equal(map[string]string{zonev1alpha1.ParentZoneLabel: want, "mine": "kept"}))
	Expect(admin.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"kubi.zone/parent-zone":null}}}`)))).To(Succeed())
	Expect(obj.GetLabels()).To(HaveKeyWithValue(zonev1alpha1.ParentZoneLabel, want))

	By("leaving other labels to their users")
	Expect(change(ctx, admin, obj, func(obj client.Object) { obj.SetLabels(map[string]string{zonev1alpha1.ParentZoneLabel: want}) })).To(Succeed())
	Expect(obj.GetLabels()).To(Equal(map[string]string{zonev1alpha1.ParentZoneLabel: want}))

	By("letting the operator write it, who then puts it right")
	for _, account := range []string{"namegate", "namegate-controller"} {
		c := asUser(fmt.Sprintf("system:serviceaccount:%s:%s", operatorNamespace, account))
		Expect(change(ctx, c, obj, set("other.zone"))).To(Succeed())
		Expect(obj.GetLabels()).To(HaveKeyWithValue(zonev1alpha1.ParentZoneLabel, "other.zone"))
		Eventually(label).Should(Equal(want))
	}
}
