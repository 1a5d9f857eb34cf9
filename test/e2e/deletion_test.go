package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
)

// TestNamespaceDeletion deletes a namespace with records in it.
func TestNamespaceDeletion(t *testing.T) {
	const many = 10
	var p *place
	testenv.Test(t, features.New("a namespace with records").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "leaving")
			for i := range many {
				create(ctx, t, p.record(fmt.Sprintf("w%d", i)).Obj())
			}
			for i := range many {
				p.answers(ctx, t, fmt.Sprintf("w%d.example.com", i), "A", "192.0.2.1")
			}
			return ctx
		}).
		Assess("finishes its deletion, and its names are gone from DNS", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.name}}
			remove(ctx, t, namespace)
			awaitGone(ctx, t, namespace)
			for i := range many {
				p.answers(ctx, t, fmt.Sprintf("w%d.example.com", i), "A")
			}
			return ctx
		}).Feature())
}

// TestClassDeletion deletes a class that is in use.
func TestClassDeletion(t *testing.T) {
	var (
		p      *place
		class  *dnsv1alpha1.DNSClass
		record *dnsv1alpha1.DNSRecord
	)
	testenv.Test(t, features.New("a class in use that is deleted").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "in-use")
			class, record = builder.DNSClass(p.name).Obj(), p.record("www").Obj()
			create(ctx, t, record)
			awaitReady(ctx, t, record, class)
			remove(ctx, t, class)
			return ctx
		}).
		Assess("takes no new record", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			refused(ctx, t, p.record("late").Obj(), "dnsclass-exists")
			return ctx
		}).
		Assess("still serves the one it has", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			change(ctx, t, record, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{"192.0.2.9"} })
			awaitReady(ctx, t, record)
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.9")
			if err := admin.Get(ctx, client.ObjectKeyFromObject(class), class); err != nil {
				t.Fatalf("the class did not wait for its record: %v", err)
			}
			return ctx
		}).
		Assess("goes after it", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			remove(ctx, t, record)
			awaitGone(ctx, t, record)
			p.answers(ctx, t, "www.example.com", "A")
			awaitGone(ctx, t, class)
			return ctx
		}).Feature())
}

// TestGateDown holds that, while no gate answers, nothing comes in unchecked and everything can still go.
func TestGateDown(t *testing.T) {
	var (
		p      *place
		record *dnsv1alpha1.DNSRecord
	)
	testenv.Test(t, features.New("while the gate is down").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "gate-down")
			record = p.record("www").Obj()
			create(ctx, t, record)
			awaitReady(ctx, t, record)
			if err := namegate.Stop(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if !namegate.Process().Exited() {
					return
				}
				if err := namegate.Start(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			})
			return ctx
		}).
		Assess("nothing is admitted", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			err := admin.Create(ctx, p.record("unchecked").Obj())
			if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
				t.Errorf("want the API server to miss the webhook, got %v", err)
			}
			return ctx
		}).
		Assess("a record and its class can be deleted, and go when it is back", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			class := builder.DNSClass(p.name).Obj()
			remove(ctx, t, record)
			remove(ctx, t, class)
			if err := namegate.Start(ctx); err != nil {
				t.Fatal(err)
			}
			awaitGone(ctx, t, record)
			awaitGone(ctx, t, class)
			p.answers(ctx, t, "www.example.com", "A")
			return ctx
		}).Feature())
}

// deadTimeout is how long one request to the dead server takes.
const deadTimeout = time.Minute

// TestDeadServer has one class whose server takes connections and never answers.
func TestDeadServer(t *testing.T) {
	const many = 20
	var (
		p    *place
		dead []*dnsv1alpha1.DNSRecord
	)
	testenv.Test(t, features.New("a dead server").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			hole, err := net.Listen("tcp", "127.0.0.1:0") // nobody ever accepts: the kernel does
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = hole.Close() })
			p = newPlace(ctx, t, "alive")
			class := builder.DNSClass("dead").Server("http://" + hole.Addr().String()).Timeout(int32(deadTimeout.Seconds())).Obj()
			create(ctx, t, class)
			t.Cleanup(func() {
				ctx := context.WithoutCancel(ctx)
				remove(ctx, t, class)
				awaitGone(ctx, t, class)
			})
			for i := range many {
				dead = append(dead, p.record(fmt.Sprintf("dead%d", i)).Class("dead").Obj())
				create(ctx, t, dead[i])
			}
			return ctx
		}).
		Assess("delays no record of another class", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			limited := within(ctx, t, deadTimeout/3)
			var alive []client.Object
			for i := range many {
				alive = append(alive, p.record(fmt.Sprintf("alive%d", i)).Obj())
			}
			create(limited, t, alive...)
			awaitReady(limited, t, alive...)
			return ctx
		}).
		Assess("is let go of at once where a person says so", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			limited := within(ctx, t, deadTimeout/2)
			for _, record := range dead {
				remove(limited, t, record)
				release(limited, t, record)
			}
			for _, record := range dead {
				awaitGone(limited, t, record)
			}
			awaitWarning(limited, t, p.name, dead[0].Name)
			return ctx
		}).Feature())
}

// release tells Namegate to let go of a record that is being deleted.
func release(ctx context.Context, t *testing.T, record *dnsv1alpha1.DNSRecord) {
	t.Helper()
	change(ctx, t, record, func(r *dnsv1alpha1.DNSRecord) {
		r.Annotations = map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"}
	})
}

// awaitWarning polls for a Warning event that names what was left behind of a record.
func awaitWarning(ctx context.Context, t *testing.T, namespace, name string) {
	t.Helper()
	err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := admin.List(ctx, &events, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Type == corev1.EventTypeWarning && event.Regarding.Name == name && strings.Contains(event.Note, name+".example.com") {
				return nil
			}
		}
		return fmt.Errorf("no Warning event about %s names what was left behind", name)
	})
	if err != nil {
		t.Error(err)
	}
}
