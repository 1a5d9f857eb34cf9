package zone

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

// How many lives TestRandom leads, each with a seed of its own. RANDOM_ZONE_RUNS has it lead more, and RANDOM_ZONE_SEED begin with another one.
const (
	defaultRuns  = 50
	stepsOfARun  = 60
	fatesAtATime = 8
)

// TestRandom leads lives in which everything happens in any order: people edit, create and delete, spoil slices and statuses; requests take their time,
// fail, or are done and their answer is lost; caches lag, stand still and lose their watches; processes die, and two lead at once. After each write the
// world looks at what must never be; when all has settled, everything must be as the objects alone say, with nothing left over and nothing left to do.
func TestRandom(t *testing.T) { testRandom(t, defaultRuns) }

func testRandom(t *testing.T, otherwise int) {
	t.Helper()
	first, runs := uint64(setting("RANDOM_ZONE_SEED", 1)), setting("RANDOM_ZONE_RUNS", otherwise)
	for seed := first; seed < first+uint64(runs); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := newChaos(w, seed)
				for range stepsOfARun {
					c.step()
					if t.Failed() {
						break
					}
				}
				c.calm()
				c.verify()
				if t.Failed() {
					t.Logf("RANDOM_ZONE_SEED=%d RANDOM_ZONE_RUNS=1; what happened:\n%s", seed, strings.Join(c.story, "\n"))
				}
			})
		})
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// chaos is a world that goes wrong.
type chaos struct {
	*world
	mu    sync.Mutex // of rng, story and the fates
	rng   *rand.Rand
	start time.Time
	story []string
	// failing is how many of a hundred requests fail, and doomed how many more of the process that is to die it makes.
	failing int
	doomed  map[*process]int
	// alive are the processes that run, and pending what ends their troubles.
	alive   []*process
	pending []func()
}

func newChaos(w *world, seed uint64) *chaos {
	c := &chaos{world: w, rng: rand.New(rand.NewPCG(seed, 2)), start: time.Now(), doomed: map[*process]int{}, alive: []*process{w.now}}
	w.spoilt, w.untold, w.fate = true, true, c.fateOf
	w.noted = func(p *process, what string) { c.tell("    %p %s", p, what) }
	w.lag = func() time.Duration { return time.Duration(c.n(50)) * time.Millisecond }
	return c
}

func (c *chaos) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

func oneOf[T any](c *chaos, of ...T) T { return of[c.n(len(of))] }

func (c *chaos) tell(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.story = append(c.story, fmt.Sprintf("%8s  ", time.Since(c.start))+fmt.Sprintf(format, args...))
}

// fateOf decides what becomes of a request.
func (c *chaos) fateOf(p *process, what string) fate {
	f := fate{before: time.Duration(c.n(30)) * time.Millisecond, after: time.Duration(c.n(30)) * time.Millisecond}
	c.mu.Lock()
	left, doomed := c.doomed[p]
	if doomed {
		c.doomed[p] = left - 1
	}
	fails := c.rng.IntN(100) < c.failing
	c.mu.Unlock()
	if doomed && left <= 0 {
		p.kill()
	}
	if !fails {
		return f
	}
	f.err, f.done = oneOf(c, errorsOfRequests...), c.n(2) == 0
	if apierrors.IsForbidden(f.err) || apierrors.IsTooManyRequests(f.err) {
		f.done = false // the API server has not even looked at it
	}
	c.tell("%s fails, done %v: %v", what, f.done, f.err)
	return f
}

var errorsOfRequests = []error{
	context.DeadlineExceeded,
	&url.Error{Op: "Post", URL: "https://10.0.0.1", Err: syscall.ECONNREFUSED},
	apierrors.NewInternalError(context.DeadlineExceeded),
	apierrors.NewTooManyRequests("later", 1),
	apierrors.NewServerTimeout(schema.GroupResource{Resource: "zones"}, "patch", 1),
	apierrors.NewTimeoutError("etcd", 1),
	apierrors.NewForbidden(schema.GroupResource{Resource: "zones"}, "", nil),
}

// step lets something happen, and then some time go by.
func (c *chaos) step() {
	happenings := []struct {
		weight int
		do     func()
	}{
		{30, c.changeRecord}, {8, c.changeZone}, {10, c.spoilSlice}, {4, c.spoilStatus}, {3, c.spoilLabel},
		{8, c.stopCache}, {6, c.breakWatch}, {4, c.troubleRequests}, {3, c.die}, {3, c.another}, {4, c.collect}, {6, c.endTrouble},
	}
	sum := 0
	for _, h := range happenings {
		sum += h.weight
	}
	at := c.n(sum)
	for _, h := range happenings {
		if at -= h.weight; at < 0 {
			h.do()
			break
		}
	}
	c.revive()
	<-time.After(oneOf(c, 0, 0, time.Millisecond, 20*time.Millisecond, 100*time.Millisecond, time.Second, 5*time.Second))
}

// write changes what the API server has, as somebody else than the operator does.
func (c *chaos) write(do func() error) {
	c.t.Helper()
	c.writing.Lock()
	defer c.writing.Unlock()
	must(c.t, client.IgnoreNotFound(do()))
}

// The objects that there may be. Two Zones want one name, and one is below another.
func (c *chaos) zoneNamed(i int) *zonev1alpha1.Zone {
	switch i {
	case 0:
		return anyZone()
	case 1:
		return builder.Zone("team", "sub").Domain("dev").ZoneRef("example", "dns").DelegateAll().Obj()
	default:
		return builder.Zone("dns", "rival").Domain("example.org.").DelegateAll().Obj()
	}
}

func (c *chaos) recordNamed(i int) *zonev1alpha1.Record {
	return builder.Record("team", fmt.Sprintf("rec%d", i)).Domain([]string{"www.example.org.", "mail.example.org.", "a.dev.example.org.", "www.example.org.", "dev.example.org."}[i]).Obj()
}

// has gets an object, if it is there.
func (c *chaos) has(obj client.Object) bool {
	return c.api.Get(c.t.Context(), client.ObjectKeyFromObject(obj), obj) == nil
}

func (c *chaos) put(obj client.Object) {
	obj.SetResourceVersion("")
	c.birth(obj)
	c.write(func() error { return c.api.Create(c.t.Context(), obj) })
}

func (c *chaos) changeRecord() {
	rec, data := c.recordNamed(c.n(5)), fmt.Sprintf("192.0.2.%d", 1+c.n(3))
	if !c.has(rec) {
		rec.Spec.RData = data
		c.tell("create %s %s", rec.Name, data)
		c.put(rec)
		return
	}
	if c.n(6) == 0 {
		c.tell("delete %s", rec.Name)
		c.write(func() error { return c.api.Delete(c.t.Context(), rec) })
		return
	}
	c.tell("edit %s to %s", rec.Name, data)
	c.write(func() error {
		c.has(rec)
		rec.Spec.RData = data
		rec.Generation++
		return c.api.Update(c.t.Context(), rec)
	})
}

func (c *chaos) changeZone() {
	z := c.zoneNamed(c.n(3))
	if !c.has(z) {
		c.tell("create %s", z.Name)
		c.put(z)
		return
	}
	switch c.n(4) {
	case 0:
		c.tell("delete %s", z.Name)
		c.write(func() error { return c.api.Delete(c.t.Context(), z) })
	case 1:
		c.tell("delete %s, and create it anew", z.Name)
		c.write(func() error { return c.api.Delete(c.t.Context(), z) })
		fresh := c.zoneNamed(0)
		z.ObjectMeta, z.Status = metav1.ObjectMeta{Namespace: z.Namespace, Name: z.Name}, fresh.Status
		c.put(z)
	case 2:
		c.tell("edit %s", z.Name)
		c.write(func() error {
			c.has(z)
			z.Spec.TTL = ptr.To(oneOf[int32](c, 60, 360))
			z.Generation++
			return c.api.Update(c.t.Context(), z)
		})
	default:
		c.tell("delegations of %s", z.Name)
		c.write(func() error {
			c.has(z)
			if z.Spec.Delegations = nil; c.n(2) == 0 {
				z.Spec.Delegations = anyZone().Spec.Delegations
			}
			z.Generation++
			return c.api.Update(c.t.Context(), z)
		})
	}
}

// anySlice returns a slice that there is.
func (c *chaos) anySlice() *zonev1alpha1.ZoneSlice {
	all := &zonev1alpha1.ZoneSliceList{}
	must(c.t, c.api.List(c.t.Context(), all))
	if len(all.Items) == 0 {
		return nil
	}
	return &all.Items[c.n(len(all.Items))]
}

const foreignFinalizer = "example.com/keep"

func (c *chaos) spoilSlice() {
	s := c.anySlice()
	if s == nil {
		return
	}
	how := oneOf(c, "delete", "delete", "entries", "label", "owner", "extra", "finalizer", "release")
	c.tell("%s: %s", s.Name, how)
	c.write(func() error {
		switch how {
		case "delete":
			return c.delete(c.t.Context(), c.api, s)
		case "entries":
			s.Entries, s.Generation = []zonev1alpha1.SliceEntry{}, s.Generation+1
		case "label":
			s.Labels = nil
		case "owner":
			s.OwnerReferences = nil
		case "finalizer":
			if !s.DeletionTimestamp.IsZero() {
				return nil
			}
			controllerutil.AddFinalizer(s, foreignFinalizer)
		case "release":
			controllerutil.RemoveFinalizer(s, foreignFinalizer)
		case "extra":
			extra := s.DeepCopy()
			extra.Name, extra.ResourceVersion, extra.DeletionTimestamp, extra.Finalizers = s.Zone+"-extra", "", nil, nil
			c.birth(extra)
			err := c.api.Create(c.t.Context(), extra)
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		}
		return c.api.Update(c.t.Context(), s)
	})
}

func (c *chaos) spoilStatus() {
	z := c.zoneNamed(c.n(3))
	c.writing.Lock()
	defer c.writing.Unlock()
	if !c.has(z) || z.Status.Serial == 0 || len(z.Status.Entries) == 0 {
		return
	}
	how := oneOf(c, "slices", "SOA", "all", "condition", "hash")
	c.tell("status of %s: %s", z.Name, how)
	switch how {
	case "slices":
		z.Status.Slices = []string{"none"}
	case "SOA":
		z.Status.Entries[0].RData = "ns.example.com. noc.example.com. 1 2 3 4 5"
	case "all":
		z.Status = zonev1alpha1.ZoneStatus{Serial: z.Status.Serial}
	case "hash":
		z.Status.Hash = "none"
	case "condition":
		conditions.Set(&z.Status.Conditions, zonev1alpha1.ConditionReady, metav1.ConditionFalse, zonev1alpha1.ReasonNotDelegated, "no", 1)
	}
	must(c.t, c.api.Status().Update(c.t.Context(), z))
	c.forgive(z)
}

// forgive has the serial of a status that somebody has changed stand for that change as well.
func (w *world) forgive(z *zonev1alpha1.Zone) {
	w.mu.Lock()
	defer w.mu.Unlock()
	history := w.published[z.UID]
	for i := range history {
		if history[i].Serial == z.Status.Serial {
			history[i].Hash = ""
		}
	}
}

func (c *chaos) spoilLabel() {
	obj := client.Object(c.zoneNamed(c.n(3)))
	if c.n(2) == 0 {
		obj = c.recordNamed(c.n(5))
	}
	c.write(func() error {
		if !c.has(obj) {
			return nil
		}
		c.tell("label of %s", obj.GetName())
		setLabel(obj, oneOf(c, "", "no.thing"))
		return c.api.Update(c.t.Context(), obj)
	})
}

var kindsOfWatches = []string{"Zone", "Record", "ZoneSlice"}

// stopCache has one process see nothing more of a kind for a while.
func (c *chaos) stopCache() {
	p, kind := oneOf(c, c.alive...), oneOf(c, kindsOfWatches...)
	p.w.mu.Lock()
	_, stands := p.frozen[kind]
	p.w.mu.Unlock()
	if stands || len(c.pending) >= fatesAtATime {
		return
	}
	c.tell("the cache of %s stands still", kind)
	held := make(chan struct{})
	p.w.mu.Lock()
	p.frozen[kind] = held
	p.w.mu.Unlock()
	c.later(func() {
		c.tell("the cache of %s goes on", kind)
		p.w.mu.Lock()
		delete(p.frozen, kind)
		p.w.mu.Unlock()
		close(held)
	})
}

// breakWatch has one process lose a watch for a while.
func (c *chaos) breakWatch() {
	p, kind := oneOf(c, c.alive...), oneOf(c, kindsOfWatches...)
	mended := make(chan struct{})
	select {
	case p.broken[kind] <- mended:
		c.tell("the watch of %s breaks", kind)
		c.later(func() {
			c.tell("the watch of %s is back", kind)
			close(mended)
		})
	default:
	}
}

// later ends a trouble: soon, or when the run ends.
func (c *chaos) later(end func()) {
	end = sync.OnceFunc(end)
	c.pending = append(c.pending, end)
	time.AfterFunc(oneOf(c, 10*time.Millisecond, time.Second, 20*time.Second, 45*time.Second), end)
}

func (c *chaos) endTrouble() {
	if len(c.pending) > 0 {
		c.pending[0]()
		c.pending = c.pending[1:]
	}
}

func (c *chaos) troubleRequests() {
	c.mu.Lock()
	c.failing = []int{0, 0, 10, 30, 100}[c.rng.IntN(5)]
	c.mu.Unlock()
	c.tell("%d of 100 requests fail", c.failing)
}

// die has a process end somewhere among its next requests.
func (c *chaos) die() {
	p, after := oneOf(c, c.alive...), c.n(6)
	c.tell("a process is to die at its request %d from now", after)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doomed[p] = after
}

// another has a second process lead for a while, or no more.
func (c *chaos) another() {
	if len(c.alive) > 1 {
		i := c.n(len(c.alive))
		c.tell("one of two leaders ends")
		c.alive[i].stop()
		c.alive = slices.Delete(c.alive, i, i+1)
		c.now = c.alive[0]
		return
	}
	c.tell("there are two leaders")
	c.boot()
	c.alive = append(c.alive, c.now)
}

// revive puts others in the place of dead processes.
func (c *chaos) revive() {
	for i, p := range c.alive {
		if p.dead.Load() {
			c.tell("a process is dead; another one starts")
			p.stop()
			c.boot()
			c.alive[i] = c.now
		}
	}
}

// collect is the garbage collector: it takes away the slices of Zones that are gone.
func (c *chaos) collect() {
	zones, parts := &zonev1alpha1.ZoneList{}, &zonev1alpha1.ZoneSliceList{}
	c.write(func() error {
		must(c.t, c.api.List(c.t.Context(), zones), c.api.List(c.t.Context(), parts))
		for i := range parts.Items {
			s := &parts.Items[i]
			of, owned := ownerOf(s)
			if owned && !slices.ContainsFunc(zones.Items, func(z zonev1alpha1.Zone) bool { return keyOf(&z) == of }) {
				must(c.t, client.IgnoreNotFound(c.delete(c.t.Context(), c.api, s)))
			}
		}
		return nil
	})
}

// calm ends all troubles, and waits until everything has settled.
func (c *chaos) calm() {
	c.mu.Lock()
	c.failing = 0
	clear(c.doomed)
	c.mu.Unlock()
	for _, end := range c.pending {
		end()
	}
	c.tell("all troubles end")
	c.settle()
	c.revive()
	for _, p := range c.alive[1:] {
		p.stop()
	}
	c.now = c.alive[0]
	<-time.After(time.Minute)
	parts := &zonev1alpha1.ZoneSliceList{}
	c.write(func() error {
		must(c.t, c.api.List(c.t.Context(), parts))
		for i := range parts.Items {
			if controllerutil.RemoveFinalizer(&parts.Items[i], foreignFinalizer) {
				must(c.t, c.api.Update(c.t.Context(), &parts.Items[i]))
			}
		}
		return nil
	})
	for range 3 {
		<-time.After(time.Minute)
		c.collect()
	}
	c.pass(time.Minute)
}

// verify compares what there is with what the objects say, and sees that nothing is left to do.
func (c *chaos) verify() {
	c.t.Helper()
	c.spoilt = false
	c.check()
	zones, records, parts := &zonev1alpha1.ZoneList{}, &zonev1alpha1.RecordList{}, &zonev1alpha1.ZoneSliceList{}
	must(c.t, c.api.List(c.t.Context(), zones), c.api.List(c.t.Context(), records), c.api.List(c.t.Context(), parts))
	model := zone.NewModel()
	for i := range zones.Items {
		model.SetZone(zone.ZoneOf(&zones.Items[i]))
	}
	for i := range records.Items {
		model.SetRecord(zone.RecordOf(&records.Items[i]))
	}
	listed := map[string]bool{}
	for i := range zones.Items {
		z := &zones.Items[i]
		c.verifyZone(model, z)
		for _, digest := range z.Status.Slices {
			listed[z.Namespace+"/"+zone.SliceName(z.Name, digest)] = true
		}
	}
	for i := range records.Items {
		rec := &records.Items[i]
		verdict, _ := model.Record(client.ObjectKeyFromObject(rec))
		ready := conditions.Find(rec.Status.Conditions, zonev1alpha1.ConditionReady)
		if ready.Reason != verdict.Reason || ready.Message != verdict.Message || !isLabelled(rec, labelOf(verdict.Parent)) || rec.Status.ObservedGeneration != rec.Generation {
			c.t.Errorf("record %s says %s %q, labels %v; want %s %q", rec.Name, ready.Reason, ready.Message, rec.Labels, verdict.Reason, verdict.Message)
		}
	}
	for i := range parts.Items {
		s := &parts.Items[i]
		if _, owned := ownerOf(s); owned && !listed[s.Namespace+"/"+s.Name] {
			c.t.Errorf("slice %s of %s is left behind", s.Name, s.Zone)
		}
	}
	c.quiet()
}

func (c *chaos) verifyZone(model *zone.Model, z *zonev1alpha1.Zone) {
	c.t.Helper()
	key := client.ObjectKeyFromObject(z)
	verdict, _ := model.Zone(key)
	content, published := model.Content(key)
	ready := conditions.Find(z.Status.Conditions, zonev1alpha1.ConditionReady)
	if ready.Reason != verdict.Reason || !isLabelled(z, labelOf(verdict.Parent)) || z.Status.ObservedGeneration != z.Generation {
		c.t.Errorf("%s says %s, labels %v; want %s", z.Name, ready.Reason, z.Labels, verdict.Reason)
	}
	if !published {
		if z.Status.Hash != "" || len(z.Status.Slices) > 0 {
			c.t.Errorf("%s is not to be published, and has the status %+v", z.Name, z.Status)
		}
		return
	}
	if diff := cmp.Diff(content.Digests, z.Status.Slices); diff != "" || differs(&z.Status, content) {
		c.t.Errorf("%s has another content than it should, with serial %d (-want +got):\n%s", z.Name, z.Status.Serial, diff)
	}
	for _, digest := range z.Status.Slices {
		s := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: zone.SliceName(z.Name, digest)}}
		if !c.has(s) || !sound(z, s) {
			c.t.Errorf("%s lists %s, which is not there, or not as it was written", z.Name, s.Name)
		}
	}
}
