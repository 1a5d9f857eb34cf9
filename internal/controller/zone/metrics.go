package zone

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
	common "github.com/namegate/namegate/internal/controller"
)

var (
	publications = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "namegate_zone_publications_total",
		Help: "Changes of a zone's content that were written, by result: success, which is one new serial, conflict (tried again over the newer version), error.",
	}, []string{"result"})
	publishSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "namegate_zone_publish_duration_seconds",
		Help:    "How long it took to write a changed zone: its slices and its status.",
		Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	})
	slicesWritten = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "namegate_zone_slices_written_total",
		Help: "ZoneSlices that were created.",
	})
	objects = &objectCollector{}
)

func init() { metrics.Registry.MustRegister(publications, publishSeconds, slicesWritten, objects) }

// countPublication counts a patch of the status that gives a zone a new serial.
func countPublication(changed bool, err error) {
	switch {
	case !changed:
	case err == nil:
		publications.WithLabelValues("success").Inc()
	case errors.Is(err, common.ErrStale):
		publications.WithLabelValues("conflict").Inc()
	default:
		publications.WithLabelValues("error").Inc()
	}
}

var (
	zonesDesc = prometheus.NewDesc("namegate_zones", "Zones by the reason of their Ready condition (empty: not looked at yet); Published are served.",
		[]string{"reason"}, nil)
	recordsDesc = prometheus.NewDesc("namegate_zone_records",
		"Records by the reason of their Ready condition (empty: not looked at yet); all but Adopted are left out of every zone.", []string{"reason"}, nil)
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
	out <- zonesDesc
	out <- recordsDesc
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
	zones, records := &zonev1alpha1.ZoneList{}, &zonev1alpha1.RecordList{}
	if err := (*cache).List(ctx, zones, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	if err := (*cache).List(ctx, records, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	send(out, zonesDesc, zones.Items, func(z *zonev1alpha1.Zone) []metav1.Condition { return z.Status.Conditions })
	send(out, recordsDesc, records.Items, func(r *zonev1alpha1.Record) []metav1.Condition { return r.Status.Conditions })
}

func send[T any](out chan<- prometheus.Metric, desc *prometheus.Desc, objects []T, of func(*T) []metav1.Condition) {
	counts := map[string]int{}
	for i := range objects {
		counts[conditions.Find(of(&objects[i]), zonev1alpha1.ConditionReady).Reason]++
	}
	for reason, n := range counts {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), reason)
	}
}
