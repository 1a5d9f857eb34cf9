package zones

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

// newZone creates a Zone of its own name in a new namespace, which lets in everything.
func newZone(ctx context.Context) *zonev1alpha1.Zone {
	GinkgoHelper()
	ns := newNamespace(ctx)
	z := builder.Zone(ns, "main").Domain(originOf(ns)).DelegateAll().Obj()
	Expect(admin.Create(ctx, z)).To(Succeed())
	awaitZone(ctx, z, zonev1alpha1.ReasonPublished)
	return z
}

// inZone is an A record below a zone, in the namespace of the zone.
func inZone(z *zonev1alpha1.Zone, name, address string) *zonev1alpha1.Record {
	return builder.Record(z.Namespace, name).Domain(name + "." + originOf(z.Namespace)).RData(address).Obj()
}

// awaitZone waits until the Ready condition of a Zone speaks of its spec, with this reason, and its label names the parent.
func awaitZone(ctx context.Context, z *zonev1alpha1.Zone, reason string, parent ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
		expectReady(g, z, z.Status.Conditions, reason, reason == zonev1alpha1.ReasonPublished, parent)
		g.Expect(z.Status.ObservedGeneration).To(Equal(z.Generation))
	}).Should(Succeed())
}

// awaitRecord does the same for a Record.
func awaitRecord(ctx context.Context, rec *zonev1alpha1.Record, reason string, parent ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(rec), rec)).To(Succeed())
		expectReady(g, rec, rec.Status.Conditions, reason, reason == zonev1alpha1.ReasonAdopted, parent)
		g.Expect(rec.Status.ObservedGeneration).To(Equal(rec.Generation))
	}).Should(Succeed())
}

func expectReady(g Gomega, obj client.Object, list []metav1.Condition, reason string, ready bool, parent []string) {
	c := conditions.Find(list, zonev1alpha1.ConditionReady)
	g.Expect(c.Reason).To(Equal(reason), c.Message)
	want := metav1.ConditionFalse
	if ready {
		want = metav1.ConditionTrue
	}
	g.Expect(c.Status).To(Equal(want))
	g.Expect(c.ObservedGeneration).To(Equal(obj.GetGeneration()))
	g.Expect(c.Message).NotTo(BeEmpty())
	if len(parent) == 0 {
		g.Expect(obj.GetLabels()).NotTo(HaveKey(zonev1alpha1.ParentZoneLabel))
	} else {
		g.Expect(obj.GetLabels()).To(HaveKeyWithValue(zonev1alpha1.ParentZoneLabel, parent[0]))
	}
}

// slicesOf lists the ZoneSlices that name a zone.
func slicesOf(ctx context.Context, z *zonev1alpha1.Zone) []zonev1alpha1.ZoneSlice {
	GinkgoHelper()
	list := &zonev1alpha1.ZoneSliceList{}
	Expect(admin.List(ctx, list, client.InNamespace(z.Namespace), client.MatchingLabels{zonev1alpha1.ZoneLabel: z.Name})).To(Succeed())
	return list.Items
}

// awaitEntries waits until a zone publishes just these records besides the SOA, and checks all that belongs together.
func awaitEntries(ctx context.Context, z *zonev1alpha1.Zone, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
		digests, got := []string{}, []string{}
		for _, s := range slicesOf(ctx, z) {
			g.Expect(zone.DigestOf(s.Shard, s.Entries)).To(Equal(s.Digest))
			g.Expect(s.Zone).To(Equal(z.Name))
			g.Expect(metav1.IsControlledBy(&s, z)).To(BeTrue())
			digests = append(digests, s.Digest)
			for _, e := range s.Entries {
				got = append(got, fmt.Sprintf("%s %s %s", e.Name, e.Type, e.RData))
			}
		}
		slices.Sort(got)
		g.Expect(got).To(HaveExactElements(want))
		g.Expect(z.Status.Slices).To(ConsistOf(digests))
		g.Expect(z.Status.EntryCount).To(BeEquivalentTo(len(want) + 1))
		g.Expect(z.Status.Entries).To(HaveLen(len(want) + 1))
		g.Expect(z.Status.Entries[0].Type).To(Equal("SOA"))
		g.Expect(z.Status.Entries[0].RData).To(ContainSubstring(fmt.Sprintf(" %d ", z.Status.Serial)))
	}).Should(Succeed())
}

// versions of everything in a namespace that the controllers write.
func versions(ctx context.Context, ns string) map[types.UID]string {
	GinkgoHelper()
	out := map[types.UID]string{}
	for _, list := range []client.ObjectList{&zonev1alpha1.ZoneList{}, &zonev1alpha1.RecordList{}, &zonev1alpha1.ZoneSliceList{}} {
		Expect(admin.List(ctx, list, client.InNamespace(ns))).To(Succeed())
		switch l := list.(type) {
		case *zonev1alpha1.ZoneList:
			for i := range l.Items {
				out[l.Items[i].UID] = l.Items[i].ResourceVersion
			}
		case *zonev1alpha1.RecordList:
			for i := range l.Items {
				out[l.Items[i].UID] = l.Items[i].ResourceVersion
			}
		case *zonev1alpha1.ZoneSliceList:
			for i := range l.Items {
				out[l.Items[i].UID] = l.Items[i].ResourceVersion
			}
		}
	}
	return out
}

// expectQuiet holds that nothing in a namespace is written.
func expectQuiet(ctx context.Context, ns string) {
	GinkgoHelper()
	before := versions(ctx, ns)
	Consistently(func() bool { return maps.Equal(before, versions(ctx, ns)) }).WithTimeout(3 * time.Second).WithPolling(200 * time.Millisecond).Should(BeTrue())
}

var _ = Describe("The controllers", func() {
	It("publish what a zone adopts, and write nothing more, also after a restart", func(ctx SpecContext) {
		z := newZone(ctx)
		origin, first := z.Namespace+".example", z.Status.Serial
		rec := inZone(z, "www", "192.0.2.1")
		Expect(admin.Create(ctx, rec)).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonAdopted, "main."+z.Namespace)
		Expect(rec.Status.FQDN).To(Equal("www." + originOf(z.Namespace)))
		awaitEntries(ctx, z, origin+" NS ns."+origin+".", "www."+origin+" A 192.0.2.1")
		Expect(z.Status.Serial).To(BeNumerically(">", first))
		expectQuiet(ctx, z.Namespace)
		before := versions(ctx, z.Namespace)
		operator.stop()
		operator = startOperator(ctx)
		expectQuiet(ctx, z.Namespace)
		Expect(versions(ctx, z.Namespace)).To(Equal(before))
	})

	It("take a record out that loses its delegation, with its label", func(ctx SpecContext) {
		z := newZone(ctx)
		rec := inZone(z, "www", "192.0.2.1")
		Expect(admin.Create(ctx, rec)).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonAdopted, "main."+z.Namespace)
		Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Spec.Delegations = nil })).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonNotDelegated)
		awaitEntries(ctx, z, z.Namespace+".example NS ns."+originOf(z.Namespace))
		Expect(admin.Delete(ctx, z)).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonZoneNotFound)
		Eventually(func() []zonev1alpha1.ZoneSlice { return slicesOf(ctx, z) }).WithTimeout(time.Minute).Should(BeEmpty(), "the garbage collector takes them")
	})

	It("do not believe a label that came with the object", func(ctx SpecContext) {
		z := newZone(ctx)
		rec := inZone(z, "www", "192.0.2.1")
		rec.Labels = map[string]string{zonev1alpha1.ParentZoneLabel: "forged.default", "app": "web"}
		Expect(admin.Create(ctx, rec)).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonAdopted, "main."+z.Namespace)
		Expect(rec.Labels).To(HaveKeyWithValue("app", "web"))
		lost := builder.Record(z.Namespace, "lost").Domain("www.nowhere.invalid.").Label(zonev1alpha1.ParentZoneLabel, "main."+z.Namespace).Obj()
		Expect(admin.Create(ctx, lost)).To(Succeed())
		awaitRecord(ctx, lost, zonev1alpha1.ReasonZoneNotFound)
	})

	It("copy the name servers of a sub-zone and their addresses up, and follow the parent", func(ctx SpecContext) {
		parent := newZone(ctx)
		ns, origin := parent.Namespace, parent.Namespace+".example"
		sub := builder.Zone(ns, "sub").Domain("dev").ZoneRef("main", "").DelegateAll().Obj()
		soonAllowed(ctx, sub)
		awaitZone(ctx, sub, zonev1alpha1.ReasonPublished, "main."+ns)
		Expect(sub.Status.FQDN).To(Equal("dev." + origin + "."))
		soonAllowed(ctx, builder.Record(ns, "dev-ns").Domain("@").ZoneRef("sub", "").Type("NS").RData("ns1.dev."+origin+".").Obj())
		soonAllowed(ctx, builder.Record(ns, "dev-glue").Domain("ns1").ZoneRef("sub", "").RData("192.0.2.53").Obj())
		awaitEntries(ctx, parent, "dev."+origin+" NS ns1.dev."+origin+".", "ns1.dev."+origin+" A 192.0.2.53", origin+" NS ns."+origin+".")
		serial := sub.Status.Serial
		Expect(admin.Delete(ctx, parent)).To(Succeed())
		awaitZone(ctx, sub, zonev1alpha1.ReasonZoneNotFound)
		Expect(sub.Status.Serial).To(BeNumerically(">=", serial))
		Expect(sub.Status.Slices).To(BeEmpty())
		Expect(sub.Status.Entries).To(BeEmpty())
		Eventually(func() []zonev1alpha1.ZoneSlice { return slicesOf(ctx, sub) }).Should(BeEmpty())
	})

	It("publish nothing of what bypassed the gate, and say why", func(ctx SpecContext) {
		z := newZone(ctx)
		other := newNamespace(ctx)
		rec := inZone(z, "www", "192.0.2.1")
		Expect(admin.Create(ctx, rec)).To(Succeed())
		awaitRecord(ctx, rec, zonev1alpha1.ReasonAdopted, "main."+z.Namespace)
		sub := builder.Zone(other, "sub").Domain("sub." + originOf(z.Namespace)).Obj()
		Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) {
			z.Spec.Delegations = builder.Zone("", "").Delegate(nil, "www").Delegate([]string{z.Namespace}, "*").Obj().Spec.Delegations
		})).To(Succeed())
		awaitZone(ctx, z, zonev1alpha1.ReasonPublished)
		at := func(ns, name, domain string) *builder.RecordBuilder {
			return builder.Record(ns, name).Domain(domain + originOf(z.Namespace))
		}
		want := map[client.Object]string{
			at(z.Namespace, "alias", "www.").Type("CNAME").RData("other.example.org.").Obj(): zonev1alpha1.ReasonQuarantined,
			at(other, "www", "www.").RData("192.0.2.9").Obj():                                zonev1alpha1.ReasonNameConflict,
			at(z.Namespace, "bad", "bad.").RData("1.2.3").Obj():                              zonev1alpha1.ReasonInvalidConfiguration,
			at(other, "refused", "refused.").Obj():                                           zonev1alpha1.ReasonNotDelegated,
			builder.Record(other, "orphan").Domain("www.nowhere.invalid.").Obj():             zonev1alpha1.ReasonZoneNotFound,
			builder.Zone(other, "second").Domain(originOf(z.Namespace)).Obj():                zonev1alpha1.ReasonNameConflict,
			sub: zonev1alpha1.ReasonNotDelegated,
			builder.Zone(other, "bad").Domain("not a name.").Obj():                zonev1alpha1.ReasonInvalidConfiguration,
			builder.Zone(other, "lost").Domain("dev").ZoneRef("nobody", "").Obj(): zonev1alpha1.ReasonZoneNotFound,
		}
		withoutGate(ctx, func() {
			for obj := range want {
				Expect(admin.Create(ctx, obj)).To(Succeed())
			}
		})
		for obj, reason := range want {
			switch o := obj.(type) {
			case *zonev1alpha1.Zone:
				awaitZone(ctx, o, reason)
			case *zonev1alpha1.Record:
				if reason == zonev1alpha1.ReasonQuarantined || reason == zonev1alpha1.ReasonNameConflict {
					awaitRecord(ctx, o, reason, "main."+z.Namespace)
				} else {
					awaitRecord(ctx, o, reason)
				}
			}
		}
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
			g.Expect(conditions.Find(z.Status.Conditions, zonev1alpha1.ConditionComplete).Reason).To(Equal(zonev1alpha1.ReasonRecordsLeftOut))
		}).Should(Succeed())
		awaitEntries(ctx, z, z.Namespace+".example NS ns."+originOf(z.Namespace), "www."+z.Namespace+".example A 192.0.2.1")
	})

	It("fold a burst of 1,000 edits into at most 20 serials", func(ctx SpecContext) {
		z := newZone(ctx)
		const records, edits, writers = 20, 50, 10
		for i := range records {
			Expect(admin.Create(ctx, inZone(z, fmt.Sprintf("r%d", i), "192.0.2.1"))).To(Succeed())
		}
		settled := func() int64 {
			GinkgoHelper()
			before := int64(0)
			Eventually(func(g Gomega) {
				g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
				g.Expect(z.Status.EntryCount).To(BeEquivalentTo(records + 2))
				same := before == z.Status.Serial
				before = z.Status.Serial
				g.Expect(same).To(BeTrue())
			}).WithPolling(5 * time.Second).WithTimeout(time.Minute).Should(Succeed())
			return z.Status.Serial
		}
		start, day := settled(), time.Now().UTC().YearDay()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				defer GinkgoRecover()
				for i := range edits {
					for r := w; r < records; r += writers {
						rec := inZone(z, fmt.Sprintf("r%d", r), "")
						body := fmt.Sprintf(`{"spec":{"rdata":"192.0.2.%d"}}`, 2+i)
						Expect(admin.Patch(ctx, rec, client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
					}
				}
			})
		}
		wg.Wait()
		end := settled()
		for _, e := range z.Status.Entries[2:] {
			Expect(e.RData).To(Equal(fmt.Sprintf("192.0.2.%d", 1+edits)))
		}
		if time.Now().UTC().YearDay() == day { // else the serial has moved to the next day
			Expect(end - start).To(And(BeNumerically(">", 0), BeNumerically("<=", 20)))
		}
	}, NodeTimeout(5*time.Minute))

	It("restore slices that somebody has changed or deleted", func(ctx SpecContext) {
		z := newZone(ctx)
		Expect(admin.Create(ctx, inZone(z, "www", "192.0.2.1"))).To(Succeed())
		want := []string{z.Namespace + ".example NS ns." + originOf(z.Namespace), "www." + z.Namespace + ".example A 192.0.2.1"}
		awaitEntries(ctx, z, want...)
		serial := z.Status.Serial
		s := slicesOf(ctx, z)[0]
		s.Entries[0].RData = "ns.evil.example."
		Expect(admin.Update(ctx, &s)).To(Succeed())
		uid := s.UID
		Eventually(func() types.UID {
			if parts := slicesOf(ctx, z); len(parts) == 1 {
				return parts[0].UID
			}
			return uid
		}).ShouldNot(Equal(uid))
		awaitEntries(ctx, z, want...)
		s = slicesOf(ctx, z)[0]
		Expect(admin.Delete(ctx, &s)).To(Succeed())
		awaitEntries(ctx, z, want...)
		Expect(z.Status.Serial).To(Equal(serial), "the content has not changed")
		z.Status.Slices, z.Status.Entries = []string{"none"}, nil
		Expect(admin.Status().Update(ctx, z)).To(Succeed())
		awaitEntries(ctx, z, want...)
		Expect(z.Status.Serial).To(BeNumerically(">", serial))
		expectQuiet(ctx, z.Namespace)
	})
})

// What the controller's patches of the status rest on, asked of the real API server.
var _ = Describe("A JSON patch of the status", func() {
	patch := func(ctx context.Context, z *zonev1alpha1.Zone, body string) (*metav1.PartialObjectMetadata, error) {
		meta := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: z.Name}}
		meta.SetGroupVersionKind(zonev1alpha1.GroupVersion.WithKind("Zone"))
		return meta, admin.Status().Patch(ctx, meta, client.RawPatch(types.JSONPatchType, []byte(body)))
	}

	It("is written over the version that it names and no other, and answered with metadata alone", func(ctx SpecContext) {
		z := newZone(ctx)
		old := z.ResourceVersion
		guard := func(op, version string) string {
			return fmt.Sprintf(`{"op":%q,"path":"/metadata/resourceVersion","value":%q}`, op, version)
		}
		Expect(change(ctx, admin, z, func(z *zonev1alpha1.Zone) { z.Annotations = map[string]string{"a": "b"} })).To(Succeed())
		_, err := patch(ctx, z, `[`+guard("replace", old)+`,{"op":"add","path":"/status/serial","value":7}]`)
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "replace of an old version: %v", err)
		_, err = patch(ctx, z, `[`+guard("test", old)+`,{"op":"add","path":"/status/serial","value":7}]`)
		Expect(apierrors.ReasonForError(err)).NotTo(Equal(metav1.StatusReasonConflict), "a failed test is no conflict: %v", err)
		status := apierrors.APIStatus(nil)
		_, err = patch(ctx, z, `[`+guard("replace", old)+`,{"op":"remove","path":"/status/entries/500"}]`)
		Expect(err).To(BeAssignableToTypeOf(&apierrors.StatusError{}))
		status, _ = err.(apierrors.APIStatus)
		Expect(status.Status().Code).To(BeEquivalentTo(http.StatusUnprocessableEntity), "a path that is not there: %v", err)
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
			meta, err := patch(ctx, z, `[`+guard("replace", z.ResourceVersion)+`,{"op":"add","path":"/status/observedGeneration","value":0}]`)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(meta.ResourceVersion).NotTo(Or(BeEmpty(), Equal(z.ResourceVersion)))
		}).Should(Succeed())
		awaitZone(ctx, z, zonev1alpha1.ReasonPublished)
	})
})
