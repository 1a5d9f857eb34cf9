package namegate

import (
	"sync"

	"github.com/coredns/coredns/plugin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Why a version of a zone was refused.
const (
	// reasonOlder: its serial is older than one that was announced before.
	reasonOlder = "older_serial"
	// reasonInvalid: its SOA, one of its slices or one of its records is wrong.
	reasonInvalid = "invalid"
)

// subsystem of the metrics, besides the namespace of CoreDNS.
const subsystem = Name

var (
	servedZones = promauto.NewGauge(prometheus.GaugeOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "zones",
		Help: "Number of zones that are served.",
	})
	incompleteZones = promauto.NewGauge(prometheus.GaugeOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "incomplete_zones",
		Help: "Number of zones of the first list that could not be served when the plugin became ready, or cannot be yet.",
	})
	rebuildSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "rebuild_duration_seconds",
		Buckets: plugin.TimeBuckets, NativeHistogramBucketFactor: plugin.NativeHistogramBucketFactor,
		Help: "Time that it took to make a version of a zone.",
	})
	refusedVersions = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "refused_versions_total",
		Help: "Counter of versions of zones that were refused, by reason: older_serial or invalid.",
	}, []string{"reason"})
	notifyErrors = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "notify_errors_total",
		Help: "Counter of NOTIFY rounds that a secondary did not accept.",
	})
	lastSync = promauto.NewGauge(prometheus.GaugeOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "last_sync_timestamp_seconds",
		Help: "Time when the API server was last heard of: a list, a change, or one of the bookmarks that it sends about every minute.",
	})
	serials = newBounded(promauto.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: plugin.Namespace, Subsystem: subsystem, Name: "zone_serial",
		Help: "Serial of a zone that is served, of the first 1000 zones.",
	}, []string{"zone"}))
)

// maxSeries bounds how many zones have a series of their own.
const maxSeries = 1000

// bounded is a gauge by zone, of a bounded number of zones.
type bounded struct {
	gauge *prometheus.GaugeVec
	mu    sync.Mutex
	zones map[string]struct{}
}

func newBounded(gauge *prometheus.GaugeVec) *bounded {
	return &bounded{gauge: gauge, zones: map[string]struct{}{}}
}

func (b *bounded) set(origin string, value uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.zones[origin]; !known && len(b.zones) >= maxSeries {
		return
	}
	b.zones[origin] = struct{}{}
	b.gauge.WithLabelValues(origin).Set(float64(value))
}

func (b *bounded) remove(origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.zones, origin)
	b.gauge.DeleteLabelValues(origin)
}
