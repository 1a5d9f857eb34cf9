package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// What of a zone of any size an object of the API may hold at most.
const (
	maxSliceEntries = 200
	maxStatusBytes  = 256 << 10
)

// TestBigZone takes a large zone through the API to a transfer. TestSoakBigZone has fifty times the records.
func TestBigZone(t *testing.T) {
	testBigZone(t, "zones-big", 1000)
}

func testBigZone(t *testing.T, name string, size int) {
	domain := name + ".test."
	var (
		dns *stack.CoreDNS
		z   *zonev1alpha1.Zone
	)
	testenv.Test(t, features.New(fmt.Sprintf("a zone of %d records", size)).
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			(&place{name: name}).addNamespace(ctx, t)
			dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{Transfers: []string{"127.0.0.1:9"}})
			z = builder.Zone(name, "big").Domain(domain).DelegateAll().Obj()
			create(ctx, t, z)
			awaitReady(ctx, t, z)
			return ctx
		}).
		Assess("is transferred whole", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			begin := time.Now()
			createMany(ctx, t, name, domain, size)
			t.Logf("%d records were created in %.1f s", size, time.Since(begin).Seconds())
			want := []string{line(t, domain, zonev1alpha1.DefaultTTL, "NS", "ns."+domain)}
			for i := range size {
				want = append(want, line(t, bigName(i, domain), zonev1alpha1.DefaultTTL, "A", bigAddress(i)))
			}
			begin = time.Now()
			awaitTransfer(ctx, t, dns.Address, domain, want)
			t.Logf("and served %.1f s later", time.Since(begin).Seconds())
			return ctx
		}).
		Assess("is in small objects", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			checkSlices(ctx, t, z, size+1)
			return ctx
		}).
		Assess("and one change of it is a small one", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			before := z.Status
			change(ctx, t, bigRecord(name, 7, domain), func(r *zonev1alpha1.Record) { r.Spec.RData = "192.0.2.77" })
			if _, err := stack.AwaitAnswer(within(ctx, t, soon), dns.Address, bigName(7, domain), "A", "192.0.2.77"); err != nil {
				t.Fatal(err)
			}
			get(ctx, t, z)
			changed := 0
			for _, digest := range z.Status.Slices {
				if !slices.Contains(before.Slices, digest) {
					changed++
				}
			}
			if changed != 1 || z.Status.Serial != before.Serial+1 {
				t.Errorf("one record made %d of %d slices anew, and took the serial from %d to %d", changed, len(z.Status.Slices), before.Serial, z.Status.Serial)
			}
			return ctx
		}).Feature())
}

func bigName(i int, domain string) string { return fmt.Sprintf("h%05d.%s", i, domain) }

func bigAddress(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }

func bigRecord(namespace string, i int, domain string) *zonev1alpha1.Record {
	return builder.Record(namespace, fmt.Sprintf("h%05d", i)).Domain(bigName(i, domain)).RData(bigAddress(i)).Obj()
}

func createMany(ctx context.Context, t *testing.T, namespace, domain string, size int) {
	t.Helper()
	const many = 16
	var wg sync.WaitGroup
	for w := range many {
		wg.Go(func() {
			for i := w; i < size && !t.Failed(); i += many {
				if err := admin.Create(ctx, bigRecord(namespace, i, domain)); err != nil {
					t.Errorf("record %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// awaitTransfer polls until a zone is transferred with these records.
func awaitTransfer(ctx context.Context, t *testing.T, server, domain string, want []string) {
	t.Helper()
	slices.Sort(want)
	err := cluster.Poll(within(ctx, t, 4*settle), 200*time.Millisecond, func(ctx context.Context) error {
		data, err := stack.Transfer(ctx, server, domain, stack.TransferOptions{})
		if err != nil {
			return err
		}
		if len(data.Records) != len(want) {
			return fmt.Errorf("%d records are transferred, want %d", len(data.Records), len(want))
		}
		if diff := cmp.Diff(want, data.Records); diff != "" {
			return fmt.Errorf("the records are not those written (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSlices holds that the content of a zone is in its slices, and that no object is large. z is the zone as read afterwards.
func checkSlices(ctx context.Context, t *testing.T, z *zonev1alpha1.Zone, entries int) {
	t.Helper()
	list := &zonev1alpha1.ZoneSliceList{}
	err := cluster.Poll(within(ctx, t, soon), 100*time.Millisecond, func(ctx context.Context) error {
		err := errors.Join(admin.Get(ctx, client.ObjectKeyFromObject(z), z),
			admin.List(ctx, list, client.InNamespace(z.Namespace), client.MatchingLabels{zonev1alpha1.ZoneLabel: z.Name}))
		if err == nil && len(list.Items) != len(z.Status.Slices) {
			err = fmt.Errorf("there are %d slices, and the zone lists %d", len(list.Items), len(z.Status.Slices))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for i := range list.Items {
		slice := &list.Items[i]
		total += len(slice.Entries)
		if len(slice.Entries) > maxSliceEntries || !slices.Contains(z.Status.Slices, slice.Digest) {
			t.Errorf("slice %s has %d entries; the zone lists its digest %s: %v", slice.Name, len(slice.Entries), slice.Digest, slices.Contains(z.Status.Slices, slice.Digest))
		}
	}
	status, err := json.Marshal(z.Status)
	if err != nil {
		t.Fatal(err)
	}
	if total != entries || int(z.Status.EntryCount) != entries+1 || !z.Status.EntriesTruncated || len(status) > maxStatusBytes {
		t.Errorf("%d entries are in %d slices, want %d; the status says %d, truncated %v, and has %d bytes", total, len(list.Items), entries,
			z.Status.EntryCount, z.Status.EntriesTruncated, len(status))
	}
	t.Logf("%d entries are in %d slices; the status has %d bytes", total, len(list.Items), len(status))
}
