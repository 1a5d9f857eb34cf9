package bench

import (
	"fmt"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/webhooks"
)

// BenchmarkValidateRecord is one AdmissionReview of a new Record, from the bytes of the request to the bytes of the answer, in a zone of
// 100 and of 50,000 Records. The two should cost the same; ratio is how many times as much the larger zone costs.
func BenchmarkValidateRecord(b *testing.B) {
	const few, many = 100, 50_000
	var small float64
	for _, n := range []int{few, many} {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			calls := 0
			handler := recordValidator(b, n, &calls)
			review := reviewOf(b, newZoneRecord(n+1))
			b.ReportAllocs()
			for b.Loop() {
				answer(b, handler, review)
			}
			if calls > 0 {
				b.Fatalf("%d API calls on the usual path", calls)
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			switch {
			case n == few:
				small = each
			case small > 0: // where both are run
				b.ReportMetric(each/small, "ratio")
			}
		})
	}
}

func newZoneRecord(i int) *zonev1alpha1.Record {
	return builder.Record("bench", fmt.Sprintf("record-%d", i)).Domain(fmt.Sprintf("host-%d.example.org.", i)).TTL(300).Obj()
}

func recordValidator(b *testing.B, n int, calls *int) http.Handler {
	b.Helper()
	scheme := runtime.NewScheme()
	if err := zonev1alpha1.AddToScheme(scheme); err != nil {
		b.Fatal(err)
	}
	model := zone.NewModel()
	model.SetZone(zone.ZoneOf(builder.Zone("bench", "example").DelegateAll().Obj()))
	for i := range n {
		model.SetRecord(zone.RecordOf(newZoneRecord(i)))
	}
	gate := &webhooks.Gate{Source: &cached.Source{Cache: noAPI{calls: calls}, Live: noAPI{calls: calls}, Zones: model}}
	return admission.WithValidator(scheme, &webhooks.Record{Gate: gate})
}
