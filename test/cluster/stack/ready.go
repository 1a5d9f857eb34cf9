package stack

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/test/cluster"
)

// AwaitReady polls an object until its Ready condition is True for its present generation. It gives up when ctx ends; the
// error then says what the condition was last. obj, one of Namegate's, holds the object as last read.
func AwaitReady(ctx context.Context, c client.Client, obj client.Object) error {
	return AwaitCondition(ctx, c, obj, metav1.ConditionTrue, "")
}

// AwaitCondition polls an object until its Ready condition has the status and, if that is not empty, the reason, for its
// present generation.
func AwaitCondition(ctx context.Context, c client.Client, obj client.Object, status metav1.ConditionStatus, reason string) error {
	return cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		ready, err := readyCondition(obj)
		if err != nil {
			return err
		}
		if ready == nil {
			return fmt.Errorf("%s has no Ready condition", describe(obj))
		}
		if ready.ObservedGeneration != obj.GetGeneration() || ready.Status != status || reason != "" && ready.Reason != reason {
			return fmt.Errorf("%s: Ready is %s, reason %s (%s), of generation %d; want %s %s of generation %d", describe(obj),
				ready.Status, ready.Reason, ready.Message, ready.ObservedGeneration, status, reason, obj.GetGeneration())
		}
		return nil
	})
}

// AwaitGone polls until an object is gone.
func AwaitGone(ctx context.Context, c client.Client, obj client.Object) error {
	return cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return fmt.Errorf("%s is still there; finalizers %q", describe(obj), obj.GetFinalizers())
	})
}

func describe(obj client.Object) string {
	if obj.GetNamespace() == "" {
		return fmt.Sprintf("%T %s", obj, obj.GetName())
	}
	return fmt.Sprintf("%T %s/%s", obj, obj.GetNamespace(), obj.GetName())
}

func readyCondition(obj client.Object) (*metav1.Condition, error) {
	switch obj := obj.(type) {
	case *dnsv1alpha1.DNSClass:
		return meta.FindStatusCondition(obj.Status.Conditions, dnsv1alpha1.ConditionReady), nil
	case *dnsv1alpha1.DNSRecord:
		return meta.FindStatusCondition(obj.Status.Conditions, dnsv1alpha1.ConditionReady), nil
	case *zonev1alpha1.Zone:
		return meta.FindStatusCondition(obj.Status.Conditions, zonev1alpha1.ConditionReady), nil
	case *zonev1alpha1.Record:
		return meta.FindStatusCondition(obj.Status.Conditions, zonev1alpha1.ConditionReady), nil
	case *unstructured.Unstructured:
		return readyOf(obj)
	}
	return nil, cluster.Permanent(fmt.Errorf("%T has no conditions that are known here", obj))
}

func readyOf(obj *unstructured.Unstructured) (*metav1.Condition, error) {
	var status struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &status); err != nil {
		return nil, err
	}
	return meta.FindStatusCondition(status.Status.Conditions, dnsv1alpha1.ConditionReady), nil
}
