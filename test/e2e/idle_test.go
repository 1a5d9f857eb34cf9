package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// operatorUser is who Namegate is to the API server.
const operatorUser = "system:serviceaccount:" + stack.Namespace + ":" + cluster.OperatorServiceAccount

// TestIdle counts, in the API server's audit log, what a converged Namegate writes while it checks health and looks for drift.
func TestIdle(t *testing.T) {
	const many, checks = 20, 8
	var p *place
	testenv.Test(t, features.New("a converged Namegate").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "idle")
			var records []*dnsv1alpha1.DNSRecord
			for i := range many {
				records = append(records, p.record(fmt.Sprintf("w%d", i)).Obj())
				create(ctx, t, records[i])
			}
			for _, record := range records {
				awaitReady(ctx, t, record)
			}
			newZones(ctx, t, p.name, many)
			return ctx
		}).
		Assess("writes nothing but the health of its classes", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			// From one health check to another: what the last record still had to say is said by then.
			awaitHealthChecks(ctx, t, auditSize(t), 2)
			looked := looks(t, p)
			writes := awaitHealthChecks(ctx, t, auditSize(t), checks)
			for _, write := range writes {
				if !write.isHealthCheck() {
					t.Errorf("a write of an idle Namegate: %s", write)
				}
			}
			if looked = looks(t, p) - looked; looked < many {
				t.Errorf("Namegate looked for drift %d times meanwhile, want once at each of %d records at least", looked, many)
			}
			return ctx
		}).Feature())
}

// newZones makes a zone with records, and one below it. Besides, there are some that nobody adopts.
func newZones(ctx context.Context, t *testing.T, namespace string, many int) {
	t.Helper()
	domain := namespace + ".test."
	z := builder.Zone(namespace, "above").Domain(domain).DelegateAll().Obj()
	sub := builder.Zone(namespace, "below").Domain("sub").ZoneRef("above", "").Delegate(nil, "@", "*").Obj()
	create(ctx, t, z, sub)
	awaitReady(ctx, t, z, sub)
	var records []client.Object
	for i := range many {
		label := fmt.Sprintf("w%d", i)
		records = append(records, builder.Record(namespace, label).Domain(label+"."+domain).Obj(),
			builder.Record(namespace, "sub-"+label).Domain(label+".sub."+domain).Obj())
	}
	create(ctx, t, records...)
	awaitReady(ctx, t, records...)
	orphan := builder.Record(namespace, "orphan").Domain("www.no-" + domain).Obj()
	create(ctx, t, orphan)
	awaitReason(ctx, t, orphan, "False", zonev1alpha1.ReasonZoneNotFound)
}

// looks counts how often the DNS server was asked for what it holds.
func looks(t *testing.T, p *place) int {
	t.Helper()
	log, err := p.server.Process().Log()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(log, `"method":"GET","path":"/records/`)
}

// write is one event of the audit log.
type write struct {
	Verb string
	User struct{ Username string }
	// ObjectRef is what was written.
	ObjectRef struct{ Resource, Subresource, Namespace, Name string }
}

func (w write) String() string {
	return fmt.Sprintf("%s %s/%s %s/%s", w.Verb, w.ObjectRef.Resource, w.ObjectRef.Subresource, w.ObjectRef.Namespace, w.ObjectRef.Name)
}

// isHealthCheck says whether this is the one write that a health check may cost.
func (w write) isHealthCheck() bool {
	return w.Verb == "patch" && w.ObjectRef.Resource == "dnsclasses" && w.ObjectRef.Subresource == "status"
}

func auditSize(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(plane.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// awaitHealthChecks polls the audit log, from an offset on, until it holds so many health checks, and returns all that
// Namegate wrote until then except for Leases.
func awaitHealthChecks(ctx context.Context, t *testing.T, from int64, checks int) []write {
	t.Helper()
	var writes []write
	err := cluster.Poll(within(ctx, t, settle), 100*time.Millisecond, func(context.Context) error {
		var err error
		if writes, err = operatorWrites(from); err != nil {
			return err
		}
		seen := 0
		for _, write := range writes {
			if write.isHealthCheck() {
				seen++
			}
		}
		if seen < checks {
			return fmt.Errorf("the audit log tells of %d health checks, want %d", seen, checks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return writes
}

func operatorWrites(from int64) ([]write, error) {
	content, err := os.ReadFile(plane.AuditLog())
	if err != nil {
		return nil, err
	}
	content = content[from:]
	var writes []write
	lines := bufio.NewScanner(bytes.NewReader(content[:bytes.LastIndexByte(content, '\n')+1]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var w write
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			return nil, cluster.Permanent(err)
		}
		if w.User.Username == operatorUser && w.ObjectRef.Resource != "leases" {
			writes = append(writes, w)
		}
	}
	return writes, lines.Err()
}
