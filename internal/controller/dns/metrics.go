package dns

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

var (
	requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "namegate_dns_server_requests_total",
		Help: "Requests to DNS servers by operation (health, upsert, delete, get) and result (success, not_found, unsupported, unreachable, server_error, auth_failed, invalid, rate_limited, quota_exceeded, internal).",
	}, []string{"operation", "result"})
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "namegate_dns_server_request_duration_seconds",
		Help:    "How long requests to DNS servers took, by operation.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
	}, []string{"operation"})
	objects = &objectCollector{}
)

func init() { metrics.Registry.MustRegister(requests, durations, objects) }

// measured counts and times the calls to a server.
type measured struct{ Server }

// measuring dials servers whose calls are measured.
func measuring(dial Dial) Dial {
	return func(target httpdns.Target) Server { return measured{dial(target)} }
}

func (m measured) Health(ctx context.Context) (err error) {
	defer observe("health", time.Now(), &err)
	return m.Server.Health(ctx)
}

func (m measured) Upsert(ctx context.Context, set *record.RRset) (err error) {
	defer observe("upsert", time.Now(), &err)
	return m.Server.Upsert(ctx, set)
}

func (m measured) Delete(ctx context.Context, id httpdns.ID) (err error) {
	defer observe("delete", time.Now(), &err)
	return m.Server.Delete(ctx, id)
}

func (m measured) Get(ctx context.Context, id httpdns.ID) (set *record.RRset, err error) {
	defer observe("get", time.Now(), &err)
	return m.Server.Get(ctx, id)
}

func observe(operation string, start time.Time, err *error) {
	requests.WithLabelValues(operation, result(*err)).Inc()
	durations.WithLabelValues(operation).Observe(time.Since(start).Seconds())
}

// results are the values of the label result for each kind of failure.
var results = map[httpdns.Kind]string{httpdns.Unreachable: "unreachable", httpdns.Server: "server_error", httpdns.Auth: "auth_failed",
	httpdns.Invalid: "invalid", httpdns.RateLimited: "rate_limited", httpdns.Quota: "quota_exceeded"}

func result(err error) string {
	var failed *httpdns.Error
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, httpdns.ErrNotFound):
		return "not_found"
	case errors.Is(err, httpdns.ErrUnsupported):
		return "unsupported"
	case errors.As(err, &failed):
		return results[failed.Kind]
	}
	return "internal"
}

var (
	recordsDesc = prometheus.NewDesc("namegate_dnsrecords", "DNSRecords by class and state (empty: not looked at yet).", []string{"class", "state"}, nil)
	healthyDesc = prometheus.NewDesc("namegate_dnsclass_healthy", "Whether the server of a DNSClass was healthy at the last check (1) or not (0).", []string{"class"}, nil)
)

// objectCollector counts the objects when it is asked, from the cache of the controller that runs; where none runs there is nothing to count.
type objectCollector struct{ cache atomic.Pointer[client.Reader] }

// serve has the objects counted until ctx is done.
func (o *objectCollector) serve(ctx context.Context, cache client.Reader) {
	o.cache.Store(&cache)
	context.AfterFunc(ctx, func() { o.cache.CompareAndSwap(&cache, nil) })
}

// Describe implements prometheus.Collector.
func (o *objectCollector) Describe(out chan<- *prometheus.Desc) {
	out <- recordsDesc
	out <- healthyDesc
}

// collectTimeout bounds the wait for a cache that is just starting.
const collectTimeout = 2 * time.Second

// Collect implements prometheus.Collector.
func (o *objectCollector) Collect(out chan<- prometheus.Metric) {
	cache := o.cache.Load()
	if cache == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	collectRecords(ctx, *cache, out)
	collectClasses(ctx, *cache, out)
}

func collectRecords(ctx context.Context, cache client.Reader, out chan<- prometheus.Metric) {
	records := &dnsv1alpha1.DNSRecordList{}
	if err := cache.List(ctx, records, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	type key struct{ class, state string }
	counts := map[key]int{}
	for i := range records.Items {
		counts[key{records.Items[i].Spec.DNSClassRef.Name, string(records.Items[i].Status.State)}]++
	}
	for k, n := range counts {
		out <- prometheus.MustNewConstMetric(recordsDesc, prometheus.GaugeValue, float64(n), k.class, k.state)
	}
}

func collectClasses(ctx context.Context, cache client.Reader, out chan<- prometheus.Metric) {
	classes := &dnsv1alpha1.DNSClassList{}
	if err := cache.List(ctx, classes, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	for i := range classes.Items {
		healthy := 0.0
		if conditions.IsTrue(classes.Items[i].Status.Conditions, dnsv1alpha1.ConditionReady) {
			healthy = 1
		}
		out <- prometheus.MustNewConstMetric(healthyDesc, prometheus.GaugeValue, healthy, classes.Items[i].Name)
	}
}
