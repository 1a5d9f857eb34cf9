package bench

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	zonecontroller "github.com/namegate/namegate/internal/controller/zone"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// publisher is the controllers of zones in this process, with the rights and the caches that they have in `namegate controller`. Zones and
// ZoneSlices are in the API; the Records are in the model alone, so that a zone of 50,000 is made in seconds.
type publisher struct {
	model   *zone.Model
	traffic traffic
	// fed is what it took to make zones of the records in the model. begun is what had been spent when the controllers began to work.
	fed, begun spending
	stop       func()

	mu      sync.Mutex
	zones   map[string]*watched
	changed chan struct{}
}

// watched is what the caches show of a zone.
type watched struct {
	name   string
	serial int64
	listed []string
	live   map[string]struct{} // names
}

// startPublisher creates the zones, whose namespace is theirs alone, and starts the controllers, which publish them with all these records at once.
func startPublisher(ctx context.Context, b *testing.B, c *cluster.Cluster, zones []*zonev1alpha1.Zone, records iter.Seq[*zonev1alpha1.Record]) *publisher {
	b.Helper()
	p := &publisher{model: zone.NewModel(), zones: map[string]*watched{}, changed: make(chan struct{})}
	must(b, c.CreateNamespace(ctx, zones[0].Namespace))
	for _, z := range zones {
		must(b, c.Client().Create(ctx, z))
		p.zones[z.Name] = &watched{live: map[string]struct{}{}}
		p.model.SetZone(zone.ZoneOf(z))
	}
	before := p.spent()
	for rec := range records {
		p.model.SetRecord(zone.RecordOf(rec))
	}
	p.fed = spending{}.add(before, p.spent())
	cfg, _, err := c.ServiceAccountConfig(ctx, stack.Namespace, cluster.OperatorServiceAccount)
	must(b, err)
	cfg.Wrap(p.traffic.count)
	p.run(ctx, b, p.manager(ctx, b, cfg, zones[0].Namespace))
	return p
}

// manager is set up as in cmd/manager, without the pace of publications: a benchmark waits for each.
func (p *publisher) manager(ctx context.Context, b *testing.B, cfg *rest.Config, namespace string) ctrl.Manager {
	b.Helper()
	silence := logr.New(log.NullLogSink{})
	ctrl.SetLogger(silence)
	scheme := kruntime.NewScheme()
	must(b, zonev1alpha1.AddToScheme(scheme))
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Logger: silence, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Cache: cache.Options{DefaultTransform: lean, DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	})
	must(b, err)
	var fed atomic.Pointer[func() bool]
	must(b, zonecontroller.SetupWithManager(mgr, zonecontroller.Options{
		PublishBurst: 1_000_000, PublishInterval: time.Microsecond, Logger: slog.New(slog.DiscardHandler), Model: p.model,
		Fed: func() bool { return (*fed.Load())() },
	}))
	synced, err := cached.FeedZones(ctx, mgr.GetCache(), p.model)
	must(b, err)
	var once sync.Once
	begin := func() bool {
		if synced() {
			once.Do(func() { p.begun = p.spent() })
		}
		return synced()
	}
	fed.Store(&begin)
	p.watch(ctx, b, mgr.GetCache())
	return mgr
}

// lean is the transform of the controllers' cache.
func lean(obj any) (any, error) {
	obj.(client.Object).SetManagedFields(nil)
	return obj, nil
}

func (p *publisher) run(ctx context.Context, b *testing.B, mgr ctrl.Manager) {
	b.Helper()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		must(b, <-ended)
	})
	b.Cleanup(p.stop)
}

// watch notes what the caches show, without asking the API server.
func (p *publisher) watch(ctx context.Context, b *testing.B, informers cache.Informers) {
	b.Helper()
	zones, err := informers.GetInformer(ctx, &zonev1alpha1.Zone{})
	must(b, err)
	seen := func(obj any) {
		z := obj.(*zonev1alpha1.Zone)
		p.note(z.Name, func(w *watched) { w.name, w.serial, w.listed = z.Name, z.Status.Serial, z.Status.Slices })
	}
	_, err = zones.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, obj any) { seen(obj) }})
	must(b, err)
	parts := &metav1.PartialObjectMetadata{}
	parts.SetGroupVersionKind(zonev1alpha1.GroupVersion.WithKind("ZoneSlice"))
	slices, err := informers.GetInformer(ctx, parts)
	must(b, err)
	_, err = slices.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			s := obj.(*metav1.PartialObjectMetadata)
			p.note(s.Labels[zonev1alpha1.ZoneLabel], func(w *watched) { w.live[s.Name] = struct{}{} })
		},
		DeleteFunc: func(obj any) {
			if s, known := obj.(*metav1.PartialObjectMetadata); known {
				p.note(s.Labels[zonev1alpha1.ZoneLabel], func(w *watched) { delete(w.live, s.Name) })
			}
		},
	})
	must(b, err)
}

func (p *publisher) note(name string, what func(*watched)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.zones[name]; w != nil {
		what(w)
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// await returns the serial of a zone when it is greater than that of before, and the zone has just the slices that it lists: nothing is left to do.
func (p *publisher) await(ctx context.Context, b *testing.B, name string, before int64) int64 {
	b.Helper()
	for {
		p.mu.Lock()
		w, changed := p.zones[name], p.changed
		serial := w.serial
		settled := serial > before && w.settled()
		p.mu.Unlock()
		if settled {
			return serial
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.Fatalf("zone %s has the serial %d; want a greater one than %d, and just the slices that are listed", name, serial, before)
		}
	}
}

func (w *watched) settled() bool {
	if len(w.live) != len(w.listed) {
		return false
	}
	var name []byte // this is measured with the rest
	for _, digest := range w.listed {
		name = zone.AppendSliceName(name[:0], w.name, digest)
		if _, lives := w.live[string(name)]; !lives {
			return false
		}
	}
	return true
}

// spending is what the controllers have used up to some moment, or between two.
type spending struct {
	wall, cpu time.Duration
	// allocated are bytes of memory, in so many allocations; requests and events are bytes of bodies: of requests and their answers, and of
	// watches.
	allocated, allocations, requests, events float64
}

// spent takes all of this process for the controllers: a benchmark does next to nothing besides.
func (p *publisher) spent() spending {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // there is no other process that it could not find
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return spending{
		wall: time.Since(epoch), cpu: time.Duration(used.Utime.Nano() + used.Stime.Nano()), allocated: float64(memory.TotalAlloc),
		allocations: float64(memory.Mallocs), requests: float64(p.traffic.requests.Load()), events: float64(p.traffic.events.Load()),
	}
}

var epoch = time.Now()

func (s spending) add(from, to spending) spending {
	return spending{
		wall: s.wall + to.wall - from.wall, cpu: s.cpu + to.cpu - from.cpu, allocated: s.allocated + to.allocated - from.allocated,
		allocations: s.allocations + to.allocations - from.allocations, requests: s.requests + to.requests - from.requests, events: s.events + to.events - from.events,
	}
}

// each is the share of one of n.
func (s spending) each(n int) spending {
	f := float64(n)
	return spending{
		wall: time.Duration(float64(s.wall) / f), cpu: time.Duration(float64(s.cpu) / f), allocated: s.allocated / f, allocations: s.allocations / f,
		requests: s.requests / f, events: s.events / f,
	}
}

func (s spending) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(s.wall.Nanoseconds()), "ns/op")
	b.ReportMetric(float64(s.cpu.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(s.allocated, "B/op")
	b.ReportMetric(s.allocations, "allocs/op")
	b.ReportMetric(s.requests, "api-B/op")
	b.ReportMetric(s.events, "watch-B/op")
}

// compare reports how many times as much as another this is.
func (s spending) compare(b *testing.B, other spending, than string) {
	b.Helper()
	b.ReportMetric(float64(s.wall)/float64(other.wall), "wall/"+than)
	b.ReportMetric(float64(s.cpu)/float64(other.cpu), "cpu/"+than)
	b.ReportMetric(s.allocated/other.allocated, "B/"+than)
	b.ReportMetric(s.requests/other.requests, "api/"+than)
	b.ReportMetric(s.events/other.events, "watch/"+than)
}

// traffic counts the bytes of bodies, of both directions.
type traffic struct{ requests, events atomic.Int64 }

func (t *traffic) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		counter := &t.requests
		if req.URL.Query().Get("watch") == "true" {
			counter = &t.events
		}
		if req.Body != nil {
			req = req.Clone(req.Context())
			req.Body = &countedBody{req.Body, counter}
		}
		resp, err := next.RoundTrip(req)
		if err == nil {
			resp.Body = &countedBody{resp.Body, counter}
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type countedBody struct {
	io.ReadCloser
	counter *atomic.Int64
}

// Read implements io.Reader.
func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.counter.Add(int64(n))
	return n, err
}

func benchZone(namespace, name string) *zonev1alpha1.Zone {
	return builder.Zone(namespace, name).Domain(name + ".test.").DelegateAll().Obj()
}

// inBenchZone is the record i of a zone, by its number of changes. One that has been changed differs from the one that has not.
func inBenchZone(namespace, zoneName string, i, change int) *zonev1alpha1.Record {
	net := 0
	if change > 0 {
		net = 1 + change%255
	}
	return builder.Record(namespace, fmt.Sprintf("%s-h%05d", zoneName, i)).Domain(fmt.Sprintf("h%05d.%s.test.", i, zoneName)).
		RData(fmt.Sprintf("10.%d.%d.%d", net, i>>8, i&255)).Obj()
}
