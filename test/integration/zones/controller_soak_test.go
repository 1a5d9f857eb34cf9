//go:build soak

package zones

import (
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// TestSoakZones runs the specs of this file alone. Ginkgo runs once in a process: TestZones and this one each in its own.
func TestSoakZones(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(soon)
	SetDefaultEventuallyPollingInterval(often)
	suite, report := GinkgoConfiguration()
	suite.LabelFilter, suite.Timeout = soak, 2*time.Hour
	RunSpecs(t, "Zone and Record, for long", suite, report)
}

const soak = "soak"

var _ = Describe("A zone of 50,000 records", Label(soak), func() {
	It("is published whole, in small slices, and changes one of them for one change", func(ctx SpecContext) {
		z := newZone(ctx)
		const records, writers = 50_000, 16
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				defer GinkgoRecover()
				for r := w; r < records; r += writers {
					Expect(admin.Create(ctx, inZone(z, fmt.Sprintf("r%d", r), fmt.Sprintf("10.%d.%d.1", r/256, r%256)))).To(Succeed())
				}
			})
		}
		wg.Wait()
		whole := func(g Gomega) map[string]zonev1alpha1.ZoneSlice {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(z), z)).To(Succeed())
			g.Expect(z.Status.EntryCount).To(BeEquivalentTo(records + 2))
			parts, entries := map[string]zonev1alpha1.ZoneSlice{}, 0
			for _, s := range slicesOf(ctx, z) {
				g.Expect(len(s.Entries)).To(BeNumerically("<=", 200))
				g.Expect(z.Status.Slices).To(ContainElement(zone.DigestOf(s.Shard, s.Entries)))
				parts[s.Shard] = s
				entries += len(s.Entries)
			}
			g.Expect(parts).To(HaveLen(len(z.Status.Slices)))
			g.Expect(entries).To(Equal(records + 1))
			return parts
		}
		var before, after map[string]zonev1alpha1.ZoneSlice
		Eventually(func(g Gomega) { before = whole(g) }).WithPolling(5 * time.Second).WithTimeout(30 * time.Minute).Should(Succeed())
		serial := z.Status.Serial
		rec := inZone(z, "r777", "")
		Eventually(func(g Gomega) { // every record is told, and then nothing is left to be done
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(rec), rec)).To(Succeed())
			g.Expect(rec.Status.Conditions).NotTo(BeEmpty())
		}).WithTimeout(30 * time.Minute).Should(Succeed())
		Expect(admin.Patch(ctx, rec, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rdata":"192.0.2.99"}}`)))).To(Succeed())
		Eventually(func(g Gomega) {
			after = whole(g)
			g.Expect(z.Status.Serial).To(Equal(serial + 1))
		}).WithPolling(time.Second).WithTimeout(time.Minute).Should(Succeed())
		changed := 0
		for shard, s := range after {
			if before[shard].UID != s.UID {
				changed++
			}
		}
		Expect(changed).To(Equal(1))
	}, NodeTimeout(90*time.Minute))
})
