package dns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// The settings of a world; retries come after 5 s, 10 s, 20 s, 40 s, 60 s, and then every 10 min.
var settings = Options{
	HealthCheckInterval: 10 * time.Minute,
	RetryBaseDelay:      5 * time.Second,
	RetryMaxDelay:       60 * time.Second,
	RetryMaxAttempts:    5,
	ResyncInterval:      10 * time.Minute,
	OperatorNamespace:   "namegate-system",
	SecretNamespaces:    []string{"namegate-system", "dns-system"},
}

// world is a cluster and some DNS servers, in the virtual time of a synctest bubble. The API server outlives the processes of the operator.
type world struct {
	t       *testing.T
	api     client.WithWatch
	servers map[string]*fakeServer
	now     *process
	events  []string
	logs    strings.Builder
	mu      sync.Mutex // of events and logs
	uids    int
	// touched is called with every effect of a process: before it (true) and after it (false), one at a time.
	touched  func(what string, before bool)
	touching sync.Mutex
	// broken fails reads of the API server; see breakReads.
	broken func(obj client.Object) error
}

// process is one life of the operator.
type process struct {
	w       *world
	ctx     context.Context
	cancel  context.CancelFunc
	dead    atomic.Bool
	client  client.WithWatch
	store   *claims.Store
	feed    *claims.DNSFeed
	records *Records
	classes *Classes
	queues  []workqueue.TypedRateLimitingInterface[reconcile.Request]
	writes  atomic.Int64
	targets *targets
	// passes counts the reconciliations of records.
	passes                atomic.Int64
	classBell, recordBell *common.Alarm
	running               sync.WaitGroup
}

// inWorld runs a test in virtual time, with one process up.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	emptyWorld(t, func(w *world) {
		w.boot()
		test(w)
	})
}

// byHand runs a test in virtual time, with a process that does nothing by itself and hears of nothing.
func byHand(t *testing.T, test func(*world, *process)) {
	t.Helper()
	emptyWorld(t, func(w *world) {
		w.now = w.newProcess()
		w.now.records.lanes.Start(w.now.ctx)
		w.now.classes.lanes.Start(w.now.ctx)
		test(w, w.now)
	})
}

func emptyWorld(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		scheme := kruntime.NewScheme()
		must(t, clientgoscheme.AddToScheme(scheme), dnsv1alpha1.AddToScheme(scheme))
		w := &world{t: t, servers: map[string]*fakeServer{}}
		w.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&dnsv1alpha1.DNSRecord{}, &dnsv1alpha1.DNSClass{}).
			WithIndex(&dnsv1alpha1.DNSRecord{}, ClassField, classOf).Build()
		defer func() { w.now.stop() }()
		test(w)
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// newProcess makes a process that has not started.
func (w *world) newProcess() *process {
	w.t.Helper()
	p := &process{w: w, store: claims.NewStore(), classBell: &common.Alarm{}, recordBell: &common.Alarm{}}
	p.ctx, p.cancel = context.WithCancel(w.t.Context())
	p.client = interceptor.NewClient(w.api, p.intercepts())
	p.feed = claims.NewDNSFeed(p.store)
	p.store.OnFreed(ringOwner(p.recordBell))
	p.targets = &targets{live: p.client, operatorNamespace: settings.OperatorNamespace, namespaces: settings.SecretNamespaces}
	log := slog.New(slog.NewJSONHandler(lockedWriter{&w.mu, &w.logs}, nil))
	p.classes = &Classes{client: p.client, live: p.client, events: recorder{w}, log: log, targets: p.targets, dial: measuring(p.dial),
		lanes: NewLanes(2, p.classBell.Ring, log), interval: settings.HealthCheckInterval, poll: settings.RetryMaxDelay}
	p.records = &Records{client: p.client, live: p.client, events: recorder{w}, log: log, targets: p.targets, dial: measuring(p.dial),
		lanes: NewLanes(2, p.recordBell.Ring, log), store: p.store, feed: p.feed, resync: settings.ResyncInterval,
		retries: schedule{base: settings.RetryBaseDelay, most: settings.RetryMaxDelay, attempts: settings.RetryMaxAttempts, idle: settings.HealthCheckInterval}}
	return p
}

// boot starts a new life of the operator, wired as SetupWithManager does.
func (w *world) boot() {
	w.t.Helper()
	p := w.newProcess()
	w.now = p
	find := &mapping{cache: p.client, targets: p.targets}
	classes := p.controller(common.SideDoor{Bell: p.classBell, OnStart: p.classes.lanes.Start}, reconcile.AsReconciler[*dnsv1alpha1.DNSClass](p.client, p.classes))
	records := p.controller(common.SideDoor{Bell: p.recordBell, OnStart: p.records.lanes.Start}, reconcile.AsReconciler[*dnsv1alpha1.DNSRecord](p.client, p.records))
	p.informer(&dnsv1alpha1.DNSClassList{},
		p.feeds(func(o client.Object) { p.feed.ClassChanged(o.(*dnsv1alpha1.DNSClass)) }, func(o client.Object) { p.feed.ClassGone(o.(*dnsv1alpha1.DNSClass)) }),
		subscription{classes, changed, &handler.EnqueueRequestForObject{}},
		subscription{classes, predicate.Funcs{}, common.Forgets(p.classes.Gone)},
		subscription{records, wakesRecords, handler.EnqueueRequestsFromMapFunc(find.classToRecords)})
	p.informer(&dnsv1alpha1.DNSRecordList{},
		p.feeds(func(o client.Object) { p.feed.RecordChanged(o.(*dnsv1alpha1.DNSRecord)) }, func(o client.Object) { p.feed.RecordGone(o.(*dnsv1alpha1.DNSRecord)) }),
		subscription{records, changed, &handler.EnqueueRequestForObject{}},
		subscription{records, predicate.Funcs{}, common.Forgets(p.records.Gone)},
		subscription{classes, onlyDeletions, handler.EnqueueRequestsFromMapFunc(find.recordToLeavingClass)})
	p.informer(&corev1.SecretList{}, subscription{},
		subscription{classes, find.listedNamespace(), handler.EnqueueRequestsFromMapFunc(find.secretToClasses)},
		subscription{records, find.listedNamespace(), handler.EnqueueRequestsFromMapFunc(find.secretToRecords)})
}

// stop ends a process in good order: it waits for all that it started.
func (p *process) stop() {
	p.cancel()
	for _, q := range p.queues {
		q.ShutDown()
	}
	p.records.lanes.Wait()
	p.classes.lanes.Wait()
	p.running.Wait()
}

// restart ends the process and starts another.
func (w *world) restart() {
	w.t.Helper()
	w.now.stop()
	w.boot()
}

type subscription struct {
	queue     workqueue.TypedRateLimitingInterface[reconcile.Request]
	predicate predicate.Predicate
	handler   handler.EventHandler
}

// feeds makes a subscription of two functions.
func (p *process) feeds(changed, gone func(client.Object)) subscription {
	return subscription{predicate: predicate.Funcs{}, handler: handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			changed(e.Object)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			changed(e.ObjectNew)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			gone(e.Object)
		},
	}}
}

// controller is a queue with one worker.
func (p *process) controller(door common.SideDoor, r reconcile.Reconciler) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	p.queues = append(p.queues, q)
	must(p.w.t, door.Start(p.ctx, q))
	p.running.Go(func() {
		for req, shut := q.Get(); !shut; req, shut = q.Get() {
			if door.Bell == p.recordBell {
				p.passes.Add(1)
			}
			result, err := r.Reconcile(p.ctx, req)
			q.Done(req)
			switch {
			case err != nil:
				q.AddRateLimited(req)
			case result.RequeueAfter > 0:
				q.Forget(req)
				q.AddAfter(req, result.RequeueAfter)
			default:
				q.Forget(req)
			}
		}
	})
	return q
}

// informer lists and watches one kind, and hands events on as a manager's cache does.
func (p *process) informer(list client.ObjectList, subscriptions ...subscription) {
	subscriptions = slices.DeleteFunc(subscriptions, func(s subscription) bool { return s.handler == nil })
	w, err := p.w.api.Watch(p.ctx, list)
	must(p.w.t, err, p.w.api.List(p.ctx, list))
	known := map[types.UID]client.Object{}
	items := listed(list)
	for _, obj := range items {
		known[obj.GetUID()] = obj
	}
	for _, s := range subscriptions { // one after the other: the store is fed before anything is reconciled
		for _, obj := range items {
			p.deliver(s, nil, obj)
		}
	}
	p.running.Go(func() {
		defer w.Stop()
		for {
			select {
			case <-p.ctx.Done():
				return
			case e := <-w.ResultChan():
				obj := e.Object.(client.Object)
				before := known[obj.GetUID()]
				known[obj.GetUID()] = obj
				if e.Type == watch.Deleted {
					delete(known, obj.GetUID())
					before, obj = obj, nil
				}
				for _, s := range subscriptions {
					p.deliver(s, before, obj)
				}
			}
		}
	})
}

func listed(list client.ObjectList) (out []client.Object) {
	switch l := list.(type) {
	case *dnsv1alpha1.DNSClassList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *dnsv1alpha1.DNSRecordList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *corev1.SecretList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	}
	return out
}

func (p *process) deliver(s subscription, before, now client.Object) {
	switch {
	case now == nil:
		if e := (event.DeleteEvent{Object: before}); s.predicate.Delete(e) {
			s.handler.Delete(p.ctx, e, s.queue)
		}
	case before == nil:
		if e := (event.CreateEvent{Object: now}); s.predicate.Create(e) {
			s.handler.Create(p.ctx, e, s.queue)
		}
	default:
		if e := (event.UpdateEvent{ObjectOld: before, ObjectNew: now}); s.predicate.Update(e) {
			s.handler.Update(p.ctx, e, s.queue)
		}
	}
}

// breakReads makes reads of the API server fail; nil mends it.
func (w *world) breakReads(broken func(client.Object) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = broken
}

func (w *world) readError(obj client.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		return nil
	}
	return w.broken(obj)
}

// intercepts counts the writes of a process, and ends the goroutine of one that is dead: it has no more effects.
func (p *process) intercepts() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			p.dieIfDead()
			if err := p.w.readError(obj); err != nil {
				return err
			}
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			p.dieIfDead()
			return c.List(ctx, list, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return p.effect("patch metadata", func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return p.effect("patch "+sub, func() error { return c.SubResource(sub).Patch(ctx, obj, patch, opts...) })
		},
	}
}

func (p *process) effect(what string, do func() error) error {
	p.dieIfDead()
	p.touch(what, true)
	p.dieIfDead()
	p.writes.Add(1)
	err := do()
	p.touch(what, false)
	p.dieIfDead()
	return err
}

func (p *process) touch(what string, before bool) {
	p.w.touching.Lock()
	defer p.w.touching.Unlock()
	if p.w.touched != nil {
		p.w.touched(what, before)
	}
}

func (p *process) dieIfDead() {
	if p.dead.Load() {
		runtime.Goexit()
	}
}

// kill ends the process at once: what it was doing stays as it is.
func (p *process) kill() { p.dead.Store(true) }

// dial reaches the fake servers. Calls of a dead process end there.
func (p *process) dial(target httpdns.Target) Server {
	return calls{p, target, p.w.server(target.Server.String())}
}

// server returns the fake server at a URL, a new one if there was none.
func (w *world) server(url string) *fakeServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.servers[url]
	if s == nil {
		s = &fakeServer{has: map[httpdns.ID]*record.RRset{}}
		w.servers[url] = s
	}
	return s
}

// fakeServer is a DNS server in memory.
type fakeServer struct {
	mu  sync.Mutex
	has map[httpdns.ID]*record.RRset
	log []string
	// err fails the calls of an operation ("health", "upsert", "delete", "get").
	err func(operation string) error
	// key that requests have to be signed with; nil for none.
	key []byte
	// block is received from by each call before it answers; nil for at once.
	block chan struct{}
	// seen is called with each call.
	seen func(operation string, id httpdns.ID)
}

func (s *fakeServer) begin(ctx context.Context, t httpdns.Target, operation string, id httpdns.ID) error {
	s.mu.Lock()
	block, seen := s.block, s.seen
	s.log = append(s.log, operation)
	s.mu.Unlock()
	if seen != nil {
		seen(operation, id)
	}
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return unreachable()
		case <-time.After(t.Timeout):
			return unreachable()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil && !bytes.Equal(s.key, t.Key) {
		return &httpdns.Error{Kind: httpdns.Auth, Status: 401, Code: "AUTH_FAILED"}
	}
	if s.err == nil {
		return nil
	}
	return s.err(operation)
}

// set changes a server while calls may be under way.
func (s *fakeServer) set(change func(*fakeServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// count is how many calls of the operation there have been.
func (s *fakeServer) count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, op := range s.log {
		if op == operation {
			n++
		}
	}
	return n
}

// values of an A record on the server, nil for none.
func (s *fakeServer) values(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, set := range s.has {
		if set.Owner.String() == name && id.Type == record.A {
			return set.Values()
		}
	}
	return nil
}

// failing makes every call of the operations end in this error; of all where none is named.
func failing(err error, operations ...string) func(string) error {
	return func(operation string) error {
		if len(operations) == 0 || slices.Contains(operations, operation) {
			return err
		}
		return nil
	}
}

// calls are those of one process to one server.
type calls struct {
	p      *process
	target httpdns.Target
	server *fakeServer
}

func (c calls) call(ctx context.Context, operation string, id httpdns.ID, do func() error) error {
	c.p.dieIfDead()
	c.p.touch(operation, true)
	c.p.dieIfDead()
	err := c.server.begin(ctx, c.target, operation, id)
	if err == nil && do != nil {
		c.server.mu.Lock()
		err = do()
		c.server.mu.Unlock()
	}
	c.p.touch(operation, false)
	c.p.dieIfDead()
	return err
}

func (c calls) Health(ctx context.Context) error { return c.call(ctx, "health", httpdns.ID{}, nil) }

func (c calls) Upsert(ctx context.Context, set *record.RRset) error {
	return c.call(ctx, "upsert", httpdns.Of(set), func() error { c.server.has[httpdns.Of(set)] = set; return nil })
}

func (c calls) Delete(ctx context.Context, id httpdns.ID) error {
	return c.call(ctx, "delete", id, func() error { delete(c.server.has, id); return nil })
}

func (c calls) Get(ctx context.Context, id httpdns.ID) (found *record.RRset, err error) {
	err = c.call(ctx, "get", id, func() error {
		if found = c.server.has[id]; found == nil {
			return httpdns.ErrNotFound
		}
		return nil
	})
	return found, err
}

// unreachable is the error of the real client for a host that refuses the connection.
func unreachable() error {
	f := httpdns.NewFactory(httpdns.Options{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }})
	at, _ := endpoint.Parse("http://nobody.example.com")
	return f.Client(httpdns.Target{Server: at}).Health(context.Background())
}

// recorder keeps events.
type recorder struct{ w *world }

func (r recorder) Eventf(regarding, _ kruntime.Object, kind, reason, action, note string, args ...any) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.events = append(r.w.events, fmt.Sprintf("%s %s %s %s: %s", kind, reason, action, regarding.(client.Object).GetName(), fmt.Sprintf(note, args...)))
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// settle waits until nothing is left to be done now.
func (w *world) settle() { synctest.Wait() }

// pass lets virtual time go by.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	w.settle()
}

// create adds objects as the API server would, and lets everything come of each before the next.
func (w *world) create(objs ...client.Object) {
	w.t.Helper()
	for _, obj := range objs {
		w.uids++
		obj.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
		obj.SetGeneration(1)
		if obj.GetCreationTimestamp().Time.IsZero() {
			obj.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
		}
		must(w.t, w.api.Create(w.t.Context(), obj))
		w.settle()
	}
}

// edit changes the spec of an object as a user does.
func edit[T client.Object](w *world, obj T, change func(T)) {
	w.t.Helper()
	must(w.t, w.api.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj))
	change(obj)
	obj.SetGeneration(obj.GetGeneration() + 1)
	must(w.t, w.api.Update(w.t.Context(), obj))
	w.settle()
}

// annotate tells the controller to let go of an object.
func annotate(w *world, obj client.Object) {
	w.t.Helper()
	must(w.t, w.api.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj))
	obj.SetAnnotations(map[string]string{dnsv1alpha1.ReleaseAnnotation: "true"})
	must(w.t, w.api.Update(w.t.Context(), obj))
	w.settle()
}

// remove deletes an object, and lets everything come of it.
func (w *world) remove(obj client.Object) {
	w.t.Helper()
	must(w.t, w.api.Delete(w.t.Context(), obj))
	w.settle()
}

// exists says whether the API server has the object, which it reads.
func (w *world) exists(obj client.Object) bool {
	w.t.Helper()
	err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj)
	must(w.t, client.IgnoreNotFound(err))
	return err == nil
}

// expectReady checks the one condition of a record or a class, and that everything in the status speaks of the present generation.
func (w *world) expectReady(obj client.Object, status metav1.ConditionStatus, reason string) {
	w.t.Helper()
	if !w.exists(obj) {
		w.t.Fatalf("%s is gone", obj.GetName())
	}
	var list []metav1.Condition
	var observed int64
	switch o := obj.(type) {
	case *dnsv1alpha1.DNSRecord:
		list, observed = o.Status.Conditions, o.Status.ObservedGeneration
	case *dnsv1alpha1.DNSClass:
		list, observed = o.Status.Conditions, o.Status.ObservedGeneration
	}
	c := conditions.Find(list, dnsv1alpha1.ConditionReady)
	if c.Status != status || c.Reason != reason {
		w.t.Fatalf("%s: Ready=%s %s (%s); want %s %s", obj.GetName(), c.Status, c.Reason, c.Message, status, reason)
	}
	if c.Message == "" || c.ObservedGeneration != obj.GetGeneration() || observed != obj.GetGeneration() {
		w.t.Fatalf("%s: message %q, generation %d, condition speaks of %d, status of %d", obj.GetName(), c.Message, obj.GetGeneration(),
			c.ObservedGeneration, observed)
	}
}

// expectState checks the state of a record, and whether it has an error.
func (w *world) expectState(rec *dnsv1alpha1.DNSRecord, state dnsv1alpha1.RecordState, code string) {
	w.t.Helper()
	if !w.exists(rec) {
		w.t.Fatalf("%s is gone", rec.Name)
	}
	got := ""
	if rec.Status.Error != nil {
		got = rec.Status.Error.Code
	}
	if rec.Status.State != state || got != code {
		w.t.Fatalf("%s: state %q, error %q; want %q, %q", rec.Name, rec.Status.State, got, state, code)
	}
}

// expectEvent checks that there was one event with these words.
func (w *world) expectEvent(words ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(e, word) }) {
			return
		}
	}
	w.t.Fatalf("no event with %q among %q", words, w.events)
}

const serverURL = "http://dns.example.org:7100"

func class(name, server string) *dnsv1alpha1.DNSClass {
	return &dnsv1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{dnsv1alpha1.DNSClassInUseFinalizer}},
		Spec: dnsv1alpha1.DNSClassSpec{Server: server}}
}

// signing makes a class sign with the key hmac-secret of a Secret in dns-system.
func signing(c *dnsv1alpha1.DNSClass, secret string) *dnsv1alpha1.DNSClass {
	c.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: secret, Namespace: "dns-system"}}
	return c
}

func secret(name, key string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "dns-system", Name: name},
		Data: map[string][]byte{dnsv1alpha1.DefaultHMACKey: []byte(key)}}
}

// aRecord is www.example.com in namespace default.
func aRecord(name, class string, values ...string) *dnsv1alpha1.DNSRecord {
	return &dnsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: dnsv1alpha1.DNSRecordSpec{Type: dnsv1alpha1.RecordTypeA, Domain: "example.com", Subdomain: "www",
			DNSClassRef: dnsv1alpha1.DNSClassReference{Name: class}, Values: values}}
}

func named(rec *dnsv1alpha1.DNSRecord, subdomain string) *dnsv1alpha1.DNSRecord {
	rec.Spec.Subdomain = subdomain
	return rec
}

// idOf is the ID of an A record below example.com.
func idOf(t *testing.T, subdomain string) httpdns.ID {
	t.Helper()
	domain, err := dnsname.Parse("example.com")
	must(t, err)
	return httpdns.ID{Type: record.A, Domain: domain, Subdomain: subdomain}
}
