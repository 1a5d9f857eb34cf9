package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster/stack"
)

// Deadlines. They are far above what the steps take, because a loaded machine is no failure.
const (
	soon   = 30 * time.Second
	settle = 90 * time.Second
)

// within bounds a step.
func within(ctx context.Context, t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// place is what one feature has to itself: a namespace, and a DNS server behind a DNSClass, all of one name.
type place struct {
	name   string
	server *stack.DNSServer
}

// newPlace makes a place with a memory DNS server and an unsigned class. When the feature ends, the place goes the way that
// a user would remove it, which has to work too.
func newPlace(ctx context.Context, t *testing.T, name string, serverArgs ...string) *place {
	t.Helper()
	p := newServer(ctx, t, name, serverArgs...)
	p.addClass(ctx, t, builder.DNSClass(name).Server(p.server.URL).Obj())
	return p
}

// newServer makes a place without its class.
func newServer(ctx context.Context, t *testing.T, name string, args ...string) *place {
	t.Helper()
	server, err := stack.StartDNSServer(ctx, stack.DNSServerOptions{
		Binary:  filepath.Join(workDir(), stack.DNSServerProgram.Name),
		LogFile: filepath.Join(workDir(), "dnsserver-"+name+".log"),
		Args:    args,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	p := &place{name: name, server: server}
	p.addNamespace(ctx, t)
	return p
}

func (p *place) addNamespace(ctx context.Context, t *testing.T) {
	t.Helper()
	create(ctx, t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.name}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
		defer cancel()
		remove(ctx, t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.name}})
	})
}

// addClass creates the class, and removes it with all its records when the feature ends.
func (p *place) addClass(ctx context.Context, t *testing.T, class *dnsv1alpha1.DNSClass) {
	t.Helper()
	create(ctx, t, class)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
		defer cancel()
		records := &dnsv1alpha1.DNSRecordList{}
		if err := admin.List(ctx, records, client.MatchingFields{"spec.dnsClassRef.name": class.Name}); err != nil {
			t.Error(err)
		}
		for i := range records.Items {
			remove(ctx, t, &records.Items[i])
		}
		remove(ctx, t, class)
		for i := range records.Items {
			awaitGone(ctx, t, &records.Items[i])
		}
		awaitGone(ctx, t, class)
	})
}

// record begins a record of the place.
func (p *place) record(name string) *builder.DNSRecordBuilder {
	return builder.DNSRecord(p.name, name).Class(p.name).Subdomain(name)
}

// answers polls the DNS server of the place until it has exactly these values.
func (p *place) answers(ctx context.Context, t *testing.T, name, recordType string, want ...string) stack.Answer {
	t.Helper()
	answer, err := stack.AwaitAnswer(within(ctx, t, soon), p.server.DNS, name, recordType, want...)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func create(ctx context.Context, t *testing.T, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		if err := admin.Create(ctx, obj); err != nil {
			t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
		}
	}
}

// refused creates an object that the gate has to refuse by a rule.
func refused(ctx context.Context, t *testing.T, obj client.Object, rule string) {
	t.Helper()
	switch err := admin.Create(ctx, obj); {
	case err == nil:
		t.Fatalf("%T %s was admitted; want it refused by %s", obj, obj.GetName(), rule)
	case !strings.Contains(err.Error(), "(rule "+rule+")"):
		t.Fatalf("%T %s was refused without the rule %s: %v", obj, obj.GetName(), rule, err)
	}
}

// remove deletes an object, which may be gone already.
func remove(ctx context.Context, t *testing.T, obj client.Object) {
	t.Helper()
	if err := client.IgnoreNotFound(admin.Delete(ctx, obj)); err != nil {
		t.Errorf("delete %T %s: %v", obj, obj.GetName(), err)
	}
}

func awaitGone(ctx context.Context, t *testing.T, obj client.Object) {
	t.Helper()
	if err := stack.AwaitGone(within(ctx, t, settle), admin, obj); err != nil {
		t.Error(err)
	}
}

func awaitReady(ctx context.Context, t *testing.T, objs ...client.Object) {
	t.Helper()
	ctx = within(ctx, t, settle)
	for _, obj := range objs {
		if err := stack.AwaitReady(ctx, admin, obj); err != nil {
			t.Fatal(err)
		}
	}
}

func awaitReason(ctx context.Context, t *testing.T, obj client.Object, status metav1.ConditionStatus, reason string) {
	t.Helper()
	if err := stack.AwaitCondition(within(ctx, t, soon), admin, obj, status, reason); err != nil {
		t.Fatal(err)
	}
}

// change reads an object, changes it and writes it, again when somebody else wrote in between.
func change[T client.Object](ctx context.Context, t *testing.T, obj T, mutate func(T)) {
	t.Helper()
	if err := tryChange(ctx, obj, mutate); err != nil {
		t.Fatalf("update %T %s: %v", obj, obj.GetName(), err)
	}
}

func tryChange[T client.Object](ctx context.Context, obj T, mutate func(T)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		mutate(obj)
		return admin.Update(ctx, obj)
	})
}
