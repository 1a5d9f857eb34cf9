package zone

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// TestNamespaceLeaves: while a namespace goes, with its Zone after its Records, nothing can be created there, and that is not tried for
// each Record.
func TestNamespaceLeaves(t *testing.T) {
	const many = 300
	terminating := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
	inWorld(t, func(w *world) {
		z := anyZone()
		w.create(z)
		var records []*zonev1alpha1.Record
		for i := range many {
			rec := address("team", fmt.Sprintf("w%d", i), "192.0.2.1")
			rec.Spec.DomainName = fmt.Sprintf("w%d.example.org.", i)
			records = append(records, rec)
			w.create(rec)
		}
		w.pass(time.Minute)
		var tried atomic.Int64
		w.now.zones.client = interceptor.NewClient(w.now.client, interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				tried.Add(1)
				return terminating
			},
		})
		for _, rec := range records {
			w.remove(rec)
			w.pass(10 * time.Millisecond)
		}
		w.pass(time.Hour)
		if n := tried.Load(); n < 1 || n > 50 {
			t.Errorf("%d slices were tried while %d records went, want a few", n, many)
		}
	})
}
