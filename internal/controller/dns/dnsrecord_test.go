package dns

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

func TestRecordIsPublishedUpdatedAndDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.2", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.expectState(rec, dnsv1alpha1.RecordStateCreated, "")
		w.pass(time.Second)
	})
}
