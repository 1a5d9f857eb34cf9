package dns

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

func TestRequestsAreCounted(t *testing.T) {
	count := func(operation, result string) float64 {
		return testutil.ToFloat64(requests.WithLabelValues(operation, result))
	}
	upserts, gets, refused := count("upsert", "success"), count("get", "success"), count("delete", "auth_failed")
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		w.restart()
		w.settle()
		w.server(serverURL).set(func(s *fakeServer) { s.err = failing(&httpdns.Error{Kind: httpdns.Auth, Status: 401}, "delete") })
		w.remove(rec)
	})
	if got := []float64{count("upsert", "success") - upserts, count("get", "success") - gets, count("delete", "auth_failed") - refused}; got[0] != 1 || got[1] != 1 || got[2] != 1 {
		t.Errorf("counted %v, want one of each", got)
	}
	for err, want := range map[error]string{nil: "success", httpdns.ErrNotFound: "not_found", httpdns.ErrUnsupported: "unsupported",
		errPanic: "internal", context.Canceled: "internal"} {
		if got := result(err); got != want {
			t.Errorf("%v is counted as %s, want %s", err, got, want)
		}
	}
}

// TestObjectsAreCounted while a controller runs, and not after.
func TestObjectsAreCounted(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		c := class("main", serverURL)
		w.create(c, class("ill", serverURL))
		c.Status.Conditions = []metav1.Condition{{Type: dnsv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
		must(w.t, w.api.Status().Update(w.t.Context(), c))
		for name, state := range map[string]dnsv1alpha1.RecordState{"a": "Created", "b": "Created", "c": "Error", "d": ""} {
			rec := aRecord(name, "main", "192.0.2.1")
			w.create(rec)
			rec.Status.State = state
			must(w.t, w.api.Status().Update(w.t.Context(), rec))
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		objects.serve(ctx, p.client)
		want := `# HELP namegate_dnsclass_healthy Whether the server of a DNSClass was healthy at the last check (1) or not (0).
# TYPE namegate_dnsclass_healthy gauge
namegate_dnsclass_healthy{class="ill"} 0
namegate_dnsclass_healthy{class="main"} 1
# HELP namegate_dnsrecords DNSRecords by class and state (empty: not looked at yet).
# TYPE namegate_dnsrecords gauge
namegate_dnsrecords{class="main",state=""} 1
namegate_dnsrecords{class="main",state="Created"} 2
namegate_dnsrecords{class="main",state="Error"} 1
`
		must(w.t, testutil.CollectAndCompare(objects, strings.NewReader(want)))
		cancel()
		w.settle()
		if got := testutil.CollectAndCount(objects); got != 0 {
			w.t.Errorf("%d metrics when no controller runs", got)
		}
	})
}

func TestMetricsAreWellNamed(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(requests), registry.Register(durations), registry.Register(objects))
	requests.WithLabelValues("upsert", "success").Add(0)
	problems, err := testutil.GatherAndLint(registry)
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if err := metrics.Registry.Register(requests); err == nil {
		t.Error("the manager does not serve the metrics")
	}
}
