// Package bench holds the benchmarks that `make bench` runs. They report; they never fail for being slow.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/webhooks"
)

// oneClass is a cache that holds one DNSClass and copies it out, as an informer's does.
type oneClass struct {
	client.Reader
	class *dnsv1alpha1.DNSClass
}

func (c oneClass) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	c.class.DeepCopyInto(obj.(*dnsv1alpha1.DNSClass))
	return nil
}

// noAPI stands for the API server on the usual path: it must not be asked.
type noAPI struct {
	client.Reader
	calls *int
}

func (n noAPI) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	*n.calls++
	return errors.New("the usual path makes no API call")
}

func newRecord(i int) *dnsv1alpha1.DNSRecord {
	return &dnsv1alpha1.DNSRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: dnsv1alpha1.GroupVersion.String(), Kind: "DNSRecord"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: fmt.Sprintf("record-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i))},
		Spec: dnsv1alpha1.DNSRecordSpec{
			Type: dnsv1alpha1.RecordTypeA, Domain: "example.com", Subdomain: fmt.Sprintf("host-%d", i), TTL: ptr.To[int32](300),
			DNSClassRef: dnsv1alpha1.DNSClassReference{Name: "bench"}, Values: []string{"192.0.2.1", "192.0.2.2"},
		},
	}
}

// BenchmarkValidateDNSRecord is one AdmissionReview of a new DNSRecord, from the bytes of the request to the bytes of
// the answer, beside 100 and beside 50,000 claims. The two should cost the same.
func BenchmarkValidateDNSRecord(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		b.Run(fmt.Sprintf("claims=%d", n), func(b *testing.B) {
			calls := 0
			handler := validator(b, n, &calls)
			review := reviewOf(b, newRecord(n+1))
			b.ReportAllocs()
			for b.Loop() {
				answer(b, handler, review)
			}
			if calls > 0 {
				b.Fatalf("%d API calls on the usual path", calls)
			}
		})
	}
}

func validator(b *testing.B, n int, calls *int) http.Handler {
	b.Helper()
	scheme := runtime.NewScheme()
	if err := dnsv1alpha1.AddToScheme(scheme); err != nil {
		b.Fatal(err)
	}
	class := &dnsv1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{Name: "bench"}, Spec: dnsv1alpha1.DNSClassSpec{Server: "https://dns.example.com"}}
	store := claims.NewStore()
	feed := claims.NewDNSFeed(store)
	feed.ClassChanged(class)
	for i := range n {
		feed.RecordChanged(newRecord(i))
	}
	gate := &webhooks.Gate{Source: &cached.Source{Cache: oneClass{class: class}, Live: noAPI{calls: calls}, Store: store, Feed: feed}}
	return admission.WithValidator(scheme, &webhooks.DNSRecord{Gate: gate})
}

func reviewOf(b *testing.B, rec client.Object) []byte {
	b.Helper()
	raw, err := json.Marshal(rec)
	if err != nil {
		b.Fatal(err)
	}
	review, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{UID: "review", Operation: admissionv1.Create, Namespace: rec.GetNamespace(), Name: rec.GetName(),
			Object: runtime.RawExtension{Raw: raw}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return review
}

func answer(b *testing.B, handler http.Handler, review []byte) {
	req := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(review))
	req.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, req)
	if !bytes.Contains(recorder.Body.Bytes(), []byte(`"allowed":true`)) {
		b.Fatalf("not allowed: %s", recorder.Body)
	}
}
