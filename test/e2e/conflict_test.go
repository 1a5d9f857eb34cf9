package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/cluster"
)

// TestConflict creates many records of one name at the same time. Admission is not serialised, so more than one may pass; in
// the end one holds the name, and when it goes, another takes over.
func TestConflict(t *testing.T) {
	var (
		p        *place
		name     string
		admitted []*dnsv1alpha1.DNSRecord
	)
	testenv.Test(t, features.New("many records of one name, at the same time").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "conflict")
			for round := 0; len(admitted) < 2; round++ {
				if round == 100 {
					t.Fatal("in 100 rounds, no two creations were fast enough to pass the gate together")
				}
				name = fmt.Sprintf("round%d", round)
				admitted = createAtOnce(ctx, t, p, name)
			}
			t.Logf("%d records passed the gate together, as %s", len(admitted), name)
			return ctx
		}).
		Assess("end with one holder, and another when that is gone", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for len(admitted) > 0 {
				holder := awaitOneHolder(ctx, t, admitted)
				p.answers(ctx, t, name+".example.com", "A", holder.Spec.Values...)
				remove(ctx, t, holder)
				awaitGone(ctx, t, holder)
				admitted = without(admitted, holder.Name)
			}
			p.answers(ctx, t, name+".example.com", "A")
			return ctx
		}).Feature())
}

// createAtOnce creates records of the same FQDN at the same time, and returns those that were admitted.
func createAtOnce(ctx context.Context, t *testing.T, p *place, name string) []*dnsv1alpha1.DNSRecord {
	t.Helper()
	const many = 16
	var (
		mu       sync.Mutex
		admitted []*dnsv1alpha1.DNSRecord
		wg       sync.WaitGroup
		start    = make(chan struct{})
	)
	for i := range many {
		record := p.record(fmt.Sprintf("%s-%d", name, i)).Subdomain(name).Values(fmt.Sprintf("192.0.2.%d", 10+i)).Obj()
		wg.Go(func() {
			<-start
			err := admin.Create(ctx, record)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				admitted = append(admitted, record)
			case !strings.Contains(err.Error(), "(rule name-taken)"):
				t.Errorf("it was refused, but not because the name is taken: %v", err)
			}
		})
	}
	close(start)
	wg.Wait()
	return admitted
}

// awaitOneHolder polls until one record is Ready and all others wait for its name.
func awaitOneHolder(ctx context.Context, t *testing.T, records []*dnsv1alpha1.DNSRecord) *dnsv1alpha1.DNSRecord {
	t.Helper()
	var holder *dnsv1alpha1.DNSRecord
	err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
		holder = nil
		for _, record := range records {
			if err := admin.Get(ctx, client.ObjectKeyFromObject(record), record); err != nil {
				return err
			}
			ready := meta.FindStatusCondition(record.Status.Conditions, dnsv1alpha1.ConditionReady)
			switch {
			case ready == nil:
				return fmt.Errorf("%s has no condition", record.Name)
			case ready.Status == metav1.ConditionTrue && holder != nil:
				return cluster.Permanent(fmt.Errorf("%s and %s both hold the name", holder.Name, record.Name))
			case ready.Status == metav1.ConditionTrue:
				holder = record
			case ready.Reason != dnsv1alpha1.ReasonNameConflict:
				return fmt.Errorf("%s: Ready is %s, reason %s", record.Name, ready.Status, ready.Reason)
			}
		}
		if holder == nil {
			return fmt.Errorf("none of %d records holds the name", len(records))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return holder
}

func without(records []*dnsv1alpha1.DNSRecord, name string) []*dnsv1alpha1.DNSRecord {
	var rest []*dnsv1alpha1.DNSRecord
	for _, record := range records {
		if record.Name != name {
			rest = append(rest, record)
		}
	}
	return rest
}
