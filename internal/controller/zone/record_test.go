package zone

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// TestGateIsAway: labels pass the gate, also ours. While it is away, the status of a Record that has lost its zone says so all the same.
func TestGateIsAway(t *testing.T) {
	inWorld(t, func(w *world) {
		z, rec := anyZone(), address("team", "www", "192.0.2.1")
		w.create(z, rec)
		w.pass(time.Minute)
		var away atomic.Bool
		away.Store(true)
		w.now.records.client = interceptor.NewClient(w.now.client, interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
				if away.Load() {
					return errors.New("failed calling webhook")
				}
				return c.Patch(ctx, obj, patch, opts...)
			},
		})
		w.remove(z)
		w.pass(time.Minute)
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "example.dns")
		away.Store(false)
		w.pass(time.Minute)
		w.expectReady(rec, metav1.ConditionFalse, zonev1alpha1.ReasonZoneNotFound, "")
		w.quiet()
	})
}
