package zone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/zone"
)

// The settings of a world.
var settings = Options{PublishBurst: 8, PublishInterval: 2 * time.Second}

// world is a cluster in the virtual time of a synctest bubble. The API server outlives the processes of the operator.
type world struct {
	t    *testing.T
	api  client.WithWatch
	now  *process
	logs strings.Builder
	mu   sync.Mutex // of logs, uids and published
	uids int
	// touched is called with every write of a process: before it (true) and after it (false), one at a time.
	touched  func(what string, before bool)
	touching sync.Mutex
	writing  sync.Mutex
	// fate says what becomes of a request of a process; nil: it is answered at once.
	fate func(p *process, what string) fate
	// noted is told what processes do and see; nil: nobody is.
	noted func(*process, string)
	// lag is how long a cache takes to see an event; nil: no time.
	lag func() time.Duration
	// spoilt says that a test has taken slices away by hand: those that a status lists need not be there.
	spoilt bool
	// untold says that events may never tell of slices that came and went.
	untold bool
	// published holds every status that a zone had, by its UID.
	published map[types.UID][]zonev1alpha1.ZoneStatus
}

// fate is what becomes of a request: it is done after some time, and its answer comes after some more, unless it is an error.
type fate struct {
	before, after time.Duration
	err           error
	// done says that it is done in spite of the error.
	done bool
}

// process is one life of the operator: a cache, a model and two controllers.
type process struct {
	w       *world
	ctx     context.Context
	cancel  context.CancelFunc
	dead    atomic.Bool
	client  client.WithWatch
	cache   store
	model   *zone.Model
	zones   *Zones
	records *Records
	queues  []workqueue.TypedRateLimitingInterface[reconcile.Request]
	running sync.WaitGroup
	// writes and reads count the requests to the API server.
	writes, reads atomic.Int64
	// patches are the bodies of all patches.
	patches []string
	// frozen holds back the events of a kind until it is closed.
	frozen map[string]chan struct{}
	// starting says that informers hand on what is there when the process starts.
	starting bool
	// broken has the watch of a kind end, until what it takes is closed. What happens meanwhile is known by the next list alone.
	broken map[string]chan chan struct{}
}

// store is what informers have seen.
type store struct {
	mu   sync.Mutex
	objs map[string]map[types.NamespacedName]client.Object
}

func (s *store) set(kind string, obj client.Object, gone bool) (before client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objs == nil {
		s.objs = map[string]map[types.NamespacedName]client.Object{}
	}
	if s.objs[kind] == nil {
		s.objs[kind] = map[types.NamespacedName]client.Object{}
	}
	key := client.ObjectKeyFromObject(obj)
	before = s.objs[kind][key]
	if delete(s.objs[kind], key); !gone {
		s.objs[kind][key] = obj
	}
	return before
}

func kindOf(obj any) string {
	return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", obj), "*v1alpha1."), "List")
}

// inWorld runs a test in virtual time, with one process up.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		scheme := kruntime.NewScheme()
		must(t, zonev1alpha1.AddToScheme(scheme))
		w := &world{t: t, published: map[types.UID][]zonev1alpha1.ZoneStatus{}}
		w.api = fake.NewClientBuilder().WithScheme(scheme).WithGlobalResourceVersionCounter().
			WithStatusSubresource(&zonev1alpha1.Zone{}, &zonev1alpha1.Record{}).Build()
		w.boot()
		defer func() { w.now.stop() }()
		test(w)
		w.settle()
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// boot starts a new life of the operator, wired as SetupWithManager does.
func (w *world) boot() {
	w.t.Helper()
	p := &process{w: w, model: zone.NewModel(), starting: true, frozen: map[string]chan struct{}{}, broken: map[string]chan chan struct{}{}}
	w.now = p
	p.ctx, p.cancel = context.WithCancel(w.t.Context())
	p.client = interceptor.NewClient(w.api, p.intercepts())
	o := settings
	o.Logger, o.Model = slog.New(slog.NewJSONHandler(lockedWriter{&w.mu, &w.logs}, nil)), p.model
	live := interceptor.NewClient(w.api, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		return p.suffer("read", func() error {
			p.reads.Add(1)
			return c.Get(ctx, key, obj, opts...)
		})
	}})
	p.zones, p.records = newZones(p.client, live, o), newRecords(p.client, o)
	zones, records := &common.Alarm{}, &common.Alarm{}
	p.model.OnChange(rings(zones, records))
	var start sync.WaitGroup // nothing is reconciled before the model is fed
	start.Add(1)
	zoneQueue := p.controller(&start, zones, reconcile.AsReconciler[*zonev1alpha1.Zone](p.client, p.zones))
	recordQueue := p.controller(&start, records, reconcile.AsReconciler[*zonev1alpha1.Record](p.client, p.records))
	p.informer(&zonev1alpha1.ZoneList{}, func(before, now client.Object) {
		feed(before, now, func(z *zonev1alpha1.Zone) { p.model.SetZone(zone.ZoneOf(z)) },
			func(z *zonev1alpha1.Zone) { p.model.RemoveZone(client.ObjectKeyFromObject(z), z.UID) })
		if before == nil || now == nil || p.zones.fromElsewhere().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}) {
			p.deliver(zoneQueue, &handler.EnqueueRequestForObject{}, before, now)
		}
		p.deliver(zoneQueue, common.Forgets(p.zones.Gone), before, now)
	})
	p.informer(&zonev1alpha1.RecordList{}, func(before, now client.Object) {
		feed(before, now, func(r *zonev1alpha1.Record) { p.model.SetRecord(zone.RecordOf(r)) },
			func(r *zonev1alpha1.Record) { p.model.RemoveRecord(client.ObjectKeyFromObject(r), r.UID) })
		p.deliver(recordQueue, &handler.EnqueueRequestForObject{}, before, now)
		p.deliver(recordQueue, common.Forgets(p.records.Gone), before, now)
	})
	p.informer(&zonev1alpha1.ZoneSliceList{}, func(before, now client.Object) { p.deliver(zoneQueue, p.zones.sliceEvents(), before, now) })
	p.starting = false
	start.Done()
}

func feed[T client.Object](before, now client.Object, changed, gone func(T)) {
	switch {
	case now == nil:
		gone(before.(T))
	case before != nil && before.GetUID() != now.GetUID():
		gone(before.(T))
		fallthrough
	default:
		changed(now.(T))
	}
}

// controller is a queue with one worker.
func (p *process) controller(start *sync.WaitGroup, bell *common.Alarm, r reconcile.Reconciler) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	q := workqueue.NewTypedRateLimitingQueue(options(settings).RateLimiter)
	p.queues = append(p.queues, q)
	must(p.w.t, common.SideDoor{Bell: bell}.Start(p.ctx, q))
	p.running.Go(func() {
		start.Wait()
		for req, shut := q.Get(); !shut; req, shut = q.Get() {
			result, err := r.Reconcile(p.ctx, req)
			p.note("reconciled %s: %v after %s", req, err, result.RequeueAfter)
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

// informer lists and watches one kind, and hands on what it sees.
func (p *process) informer(list client.ObjectList, seen func(before, now client.Object)) {
	kind := kindOf(list)
	broken := make(chan chan struct{}, 1)
	p.broken[kind] = broken
	w := p.relist(list, seen)
	p.running.Go(func() {
		defer func() { w.Stop() }()
		for {
			select {
			case <-p.ctx.Done():
				return
			case mended := <-broken:
				w.Stop()
				select {
				case <-mended:
				case <-p.ctx.Done():
					return
				}
				w = p.relist(list, seen)
			case e := <-w.ResultChan():
				p.await(kind)
				obj := e.Object.(client.Object)
				before := p.cache.set(kind, obj, e.Type == watch.Deleted)
				if e.Type == watch.Deleted {
					before, obj = obj, nil
				}
				seen(before, obj)
			}
		}
	})
}

// relist begins a watch, and brings the cache to what there is: of what went meanwhile it has the last state that it knew.
func (p *process) relist(list client.ObjectList, seen func(before, now client.Object)) watch.Interface {
	kind, there := kindOf(list), map[types.NamespacedName]bool{}
	list = list.DeepCopyObject().(client.ObjectList)
	p.w.writing.Lock()
	w, err := p.w.api.Watch(p.w.t.Context(), list)
	must(p.w.t, err, p.w.api.List(p.w.t.Context(), list))
	p.w.writing.Unlock()
	for _, obj := range listed(list) {
		there[client.ObjectKeyFromObject(obj)] = true
		if before := p.cache.set(kind, obj, false); before == nil || before.GetResourceVersion() != obj.GetResourceVersion() {
			seen(before, obj)
		}
	}
	for key, obj := range p.cache.all(kind) {
		if !there[key] {
			p.cache.set(kind, obj, true)
			seen(obj, nil)
		}
	}
	return w
}

// all returns what has been seen of a kind.
func (s *store) all(kind string) map[types.NamespacedName]client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objs[kind])
}

// await holds an informer while its kind is frozen.
func (p *process) await(kind string) {
	p.w.mu.Lock()
	held, lag := p.frozen[kind], p.w.lag
	p.w.mu.Unlock()
	if lag != nil {
		<-time.After(lag())
	}
	if held != nil {
		select {
		case <-held:
		case <-p.ctx.Done():
		}
	}
}

// freeze has the cache see nothing more of some kinds, until the function that it returns is called.
func (p *process) freeze(kinds ...string) (thaw func()) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	held := make(chan struct{})
	for _, kind := range kinds {
		p.frozen[kind] = held
	}
	return func() {
		p.w.mu.Lock()
		for _, kind := range kinds {
			delete(p.frozen, kind)
		}
		p.w.mu.Unlock()
		close(held)
		p.w.settle()
	}
}

func listed(list client.ObjectList) (out []client.Object) {
	switch l := list.(type) {
	case *zonev1alpha1.ZoneList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *zonev1alpha1.RecordList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *zonev1alpha1.ZoneSliceList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	}
	return out
}

func (p *process) deliver(queue workqueue.TypedRateLimitingInterface[reconcile.Request], to handler.EventHandler, before, now client.Object) {
	p.note("event: %s becomes %s", shown(before), shown(now))
	switch {
	case now == nil:
		to.Delete(p.ctx, event.DeleteEvent{Object: before}, queue)
	case before == nil:
		to.Create(p.ctx, event.CreateEvent{Object: now, IsInInitialList: p.starting}, queue)
	default:
		to.Update(p.ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: now}, queue)
	}
}

func shown(obj client.Object) string {
	if obj == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %s %s at %s", kindOf(obj), obj.GetName(), obj.GetUID(), obj.GetResourceVersion())
}

// intercepts reads from the cache, counts the writes of a process, and ends the goroutine of one that is dead: it has no more effects.
func (p *process) intercepts() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			p.dieIfDead()
			return p.cache.get(key, obj)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			p.dieIfDead()
			return p.cache.list(list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			p.w.birth(obj)
			return p.effect("create", obj, func() error { return c.Create(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return p.effect("delete", obj, func() error { return p.w.deleteIf(ctx, c, obj, opts) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			p.keep(obj, patch)
			return p.effect("patch "+kindOf(obj), obj, func() error { return c.Patch(ctx, obj, patch, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			p.keep(obj, patch)
			return p.effect("patch "+sub, obj, func() error { return c.SubResource(sub).Patch(ctx, obj, patch, opts...) })
		},
	}
}

func (p *process) keep(obj client.Object, patch client.Patch) {
	data, err := patch.Data(obj)
	must(p.w.t, err)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.patches = append(p.patches, string(data))
}

// deleteIf deletes an object that has the UID which the request is for. The fake API server does not look at that itself.
func (w *world) deleteIf(ctx context.Context, c client.Client, obj client.Object, opts []client.DeleteOption) error {
	o := (&client.DeleteOptions{}).ApplyOptions(opts)
	if o.Preconditions == nil || o.Preconditions.UID == nil {
		w.t.Errorf("%s %s is deleted whatever it is", kindOf(obj), obj.GetName())
	}
	there := obj.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), there); err != nil {
		return err
	}
	if there.GetUID() != *o.Preconditions.UID {
		return apierrors.NewConflict(schema.GroupResource{}, obj.GetName(), errors.New("another UID"))
	}
	return w.delete(ctx, c, there)
}

// delete deletes an object. The first deletion of one that a finalizer holds back is a change of it, and another one is none, as with a real API
// server.
func (w *world) delete(ctx context.Context, c client.Client, obj client.Object) error {
	held := len(obj.GetFinalizers()) > 0
	if held && !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	if err := c.Delete(ctx, obj); err != nil || !held {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	obj.SetGeneration(obj.GetGeneration() + 1)
	return c.Update(ctx, obj)
}

// birth gives a new object what the API server gives.
func (w *world) birth(obj client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uids++
	obj.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
}

func (s *store) get(key client.ObjectKey, into client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj := s.objs[kindOf(into)][key]
	switch to := into.(type) {
	case *zonev1alpha1.Zone:
		if obj != nil {
			obj.(*zonev1alpha1.Zone).DeepCopyInto(to)
		}
	case *zonev1alpha1.Record:
		if obj != nil {
			obj.(*zonev1alpha1.Record).DeepCopyInto(to)
		}
	default:
		return fmt.Errorf("%T is not read from the cache", into)
	}
	if obj == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kindOf(into)}, key.Name)
	}
	return nil
}

func (s *store) list(into client.ObjectList, opts ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := (&client.ListOptions{}).ApplyOptions(opts)
	for _, key := range slices.SortedFunc(maps.Keys(s.objs[kindOf(into)]), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		obj := s.objs[kindOf(into)][key]
		if o.Namespace != "" && obj.GetNamespace() != o.Namespace {
			continue
		}
		switch l := into.(type) {
		case *zonev1alpha1.ZoneList:
			l.Items = append(l.Items, *obj.(*zonev1alpha1.Zone))
		case *zonev1alpha1.RecordList:
			l.Items = append(l.Items, *obj.(*zonev1alpha1.Record))
		default:
			return fmt.Errorf("%T is not listed from the cache", into)
		}
	}
	return nil
}

func (p *process) effect(what string, obj client.Object, do func() error) error {
	p.dieIfDead()
	p.touch(what, true)
	err := p.suffer(what, func() error {
		p.writes.Add(1)
		err := p.w.checked(do)
		p.note("%s of %s: %v", what, obj.GetName(), err)
		return err
	})
	p.touch(what, false)
	p.dieIfDead()
	return err
}

// suffer makes a request, as it is fated.
func (p *process) suffer(what string, do func() error) (err error) {
	p.dieIfDead()
	if p.w.fate == nil {
		return do()
	}
	f := p.w.fate(p, what)
	<-time.After(f.before)
	p.dieIfDead()
	if f.err == nil || f.done {
		err = do()
	}
	<-time.After(f.after)
	p.dieIfDead()
	if f.err != nil {
		return f.err
	}
	return err
}

// note writes down what happens, where somebody wants to know.
func (p *process) note(format string, args ...any) {
	if p.w.noted != nil {
		p.w.noted(p, fmt.Sprintf(format, args...))
	}
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

// stop ends a process in good order: it waits for all that it started.
func (p *process) stop() {
	p.cancel()
	for _, q := range p.queues {
		q.ShutDown()
	}
	p.running.Wait()
}

// checked makes one write at a time, and looks at what came of it.
func (w *world) checked(do func() error) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	err := do()
	w.check()
	return err
}

// check holds what secondaries and those who serve a zone rely on, after every write.
func (w *world) check() {
	zones, parts := &zonev1alpha1.ZoneList{}, &zonev1alpha1.ZoneSliceList{}
	must(w.t, w.api.List(context.Background(), zones), w.api.List(context.Background(), parts))
	there := map[string]bool{}
	for i := range parts.Items {
		s := &parts.Items[i]
		if zone.DigestOf(s.Shard, s.Entries) == s.Digest {
			there[s.Namespace+"/"+s.Name+"/"+s.Digest] = true
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range zones.Items {
		z := &zones.Items[i]
		w.checkSerial(z)
		for _, digest := range z.Status.Slices {
			if !w.spoilt && !there[z.Namespace+"/"+zone.SliceName(z.Name, digest)+"/"+digest] {
				w.t.Errorf("%s lists the slice %s, which is not there", z.Name, digest)
			}
		}
	}
}

// checkSerial compares a status with the earlier ones.
func (w *world) checkSerial(z *zonev1alpha1.Zone) {
	history, now := w.published[z.UID], z.Status
	for _, before := range history {
		switch {
		case before.Serial == now.Serial && before.Hash != "" && now.Hash != "" &&
			(before.Hash != now.Hash || !slices.Equal(before.Slices, now.Slices) || before.Entries[0] != now.Entries[0]):
			w.t.Errorf("%s: serial %d stands for two contents: %s and %s", z.Name, now.Serial, before.Hash, now.Hash)
		case now.Serial != before.Serial && !zone.SerialLess(uint32(before.Serial), uint32(now.Serial)):
			w.t.Errorf("%s: serial falls from %d to %d", z.Name, before.Serial, now.Serial)
		}
	}
	if now.Serial != 0 && (len(history) == 0 || history[len(history)-1].Serial != now.Serial || history[len(history)-1].Hash != now.Hash) {
		w.published[z.UID] = append(history, *now.DeepCopy())
	}
}

// serials is how many serials a zone has had.
func (w *world) serials(z *zonev1alpha1.Zone) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[int64]bool{}
	for _, status := range w.published[z.UID] {
		seen[status.Serial] = true
	}
	return len(seen)
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
		obj.SetResourceVersion("")
		w.birth(obj)
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

// remove deletes an object, and lets everything come of it.
func (w *world) remove(obj client.Object) {
	w.t.Helper()
	must(w.t, w.api.Delete(w.t.Context(), obj))
	w.settle()
}

// read gets an object as the API server has it.
func read[T client.Object](w *world, obj T) T {
	w.t.Helper()
	must(w.t, w.api.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj))
	return obj
}

// parts are the slices of a zone that the API server has.
func (w *world) parts(z *zonev1alpha1.Zone) []zonev1alpha1.ZoneSlice {
	w.t.Helper()
	list := &zonev1alpha1.ZoneSliceList{}
	must(w.t, w.api.List(w.t.Context(), list, client.MatchingLabels{zonev1alpha1.ZoneLabel: z.Name}, client.InNamespace(z.Namespace)))
	return list.Items
}

// expectReady checks the Ready condition of an object, and its label.
func (w *world) expectReady(obj client.Object, status metav1.ConditionStatus, reason, parent string) {
	w.t.Helper()
	var list []metav1.Condition
	var observed int64
	switch o := read(w, obj).(type) {
	case *zonev1alpha1.Zone:
		list, observed = o.Status.Conditions, o.Status.ObservedGeneration
	case *zonev1alpha1.Record:
		list, observed = o.Status.Conditions, o.Status.ObservedGeneration
	}
	c := conditions.Find(list, zonev1alpha1.ConditionReady)
	if c.Status != status || c.Reason != reason {
		w.t.Fatalf("%s: Ready=%s %s (%s); want %s %s", obj.GetName(), c.Status, c.Reason, c.Message, status, reason)
	}
	if c.Message == "" || c.ObservedGeneration != obj.GetGeneration() || observed != obj.GetGeneration() {
		w.t.Fatalf("%s: message %q, generation %d, condition speaks of %d, status of %d", obj.GetName(), c.Message, obj.GetGeneration(),
			c.ObservedGeneration, observed)
	}
	if !isLabelled(obj, parent) {
		w.t.Fatalf("%s: labels %q; want the parent %q", obj.GetName(), obj.GetLabels(), parent)
	}
}

// entries are what the slices of a zone carry, sorted, if they are those that the status lists.
func (w *world) entries(z *zonev1alpha1.Zone) []string {
	w.t.Helper()
	read(w, z)
	var out []string
	for _, s := range w.parts(z) {
		if !slices.Contains(z.Status.Slices, s.Digest) || zone.DigestOf(s.Shard, s.Entries) != s.Digest {
			w.t.Errorf("%s is not listed, or not whole", s.Name)
		}
		for _, e := range s.Entries {
			out = append(out, fmt.Sprintf("%s %d %s %s", e.Name, e.TTL, e.Type, e.RData))
		}
	}
	slices.Sort(out)
	return out
}

// quiet checks that nothing is written while time goes by.
func (w *world) quiet() {
	w.t.Helper()
	before := w.now.writes.Load()
	w.pass(time.Hour)
	if n := w.now.writes.Load() - before; n != 0 {
		w.t.Errorf("%d writes where there is nothing to do", n)
	}
	w.checkShelf()
}

// checkShelf compares what the process knows of slices, when it has seen everything, with what there is.
func (w *world) checkShelf() {
	w.t.Helper()
	zones := &zonev1alpha1.ZoneList{}
	must(w.t, w.api.List(w.t.Context(), zones))
	there := map[ownerKey]map[string]types.UID{} // no garbage collector takes those of other Zones here
	for i := range zones.Items {
		for _, s := range w.parts(&zones.Items[i]) {
			if of, _ := ownerOf(&s); of == keyOf(&zones.Items[i]) {
				if there[of] == nil {
					there[of] = map[string]types.UID{}
				}
				there[of][s.Name] = s.UID
			}
		}
	}
	known := map[ownerKey]map[string]types.UID{}
	for of, b := range w.now.zones.shelf.zones {
		for name, h := range b.held {
			if w.untold && !b.here(h) {
				continue
			}
			if known[of] == nil {
				known[of] = map[string]types.UID{}
			}
			known[of][name] = h.uid
		}
		if len(b.gone) != 0 && !w.untold {
			w.t.Errorf("%v: deletions that nothing has told the end of: %v", of, b.gone)
		}
	}
	if diff := cmp.Diff(there, known); diff != "" {
		w.t.Errorf("slices that there are, and those that are known (-there +known):\n%s", diff)
	}
}
