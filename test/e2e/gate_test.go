package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
)

// withoutGate removes the webhooks, until the feature ends.
func withoutGate(ctx context.Context, t *testing.T) {
	t.Helper()
	configurations := webhookConfigurations(ctx, t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
		defer cancel()
		for _, configuration := range configurations {
			configuration.SetResourceVersion("")
			configuration.SetUID("")
			configuration.SetCreationTimestamp(metav1.Time{})
			if err := admin.Create(ctx, configuration); err != nil {
				t.Errorf("the gate is not back: %v", err)
			}
		}
		awaitGate(ctx, t, true)
	})
	for _, configuration := range configurations {
		remove(ctx, t, configuration)
	}
	awaitGate(ctx, t, false)
}

func webhookConfigurations(ctx context.Context, t *testing.T) []client.Object {
	t.Helper()
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfigurationList{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	if err := errors.Join(admin.List(ctx, mutating), admin.List(ctx, validating)); err != nil {
		t.Fatal(err)
	}
	var all []client.Object
	for i := range mutating.Items {
		all = append(all, &mutating.Items[i])
	}
	for i := range validating.Items {
		all = append(all, &validating.Items[i])
	}
	if len(all) == 0 {
		t.Fatal("there are no webhooks to remove")
	}
	return all
}

// awaitGate polls until a bad record is refused, or is not: the API server takes a moment to notice that webhooks come or go.
func awaitGate(ctx context.Context, t *testing.T, want bool) {
	t.Helper()
	err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
		bad := builder.Record("default", "bad").RData("no address").Obj()
		err := admin.Create(ctx, bad, client.DryRunAll)
		switch {
		case want && err == nil:
			return errors.New("a bad record is not refused")
		case want && apierrors.IsInvalid(err):
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
