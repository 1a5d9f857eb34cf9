package cached_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/test/builder"
)

// reader is a cache, or an API server: it holds objects, counts what it is asked, and fails where it is told to.
type reader struct {
	client.Reader
	classes map[string]*dnsv1alpha1.DNSClass
	records map[client.ObjectKey]*dnsv1alpha1.DNSRecord
	secrets map[client.ObjectKey]*corev1.Secret
	err     error
	asked   int
}

func (r *reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	r.asked++
	if r.err != nil {
		return r.err
	}
	switch into := into.(type) {
	case *dnsv1alpha1.DNSClass:
		if obj := r.classes[key.Name]; obj != nil {
			obj.DeepCopyInto(into)
			return nil
		}
	case *dnsv1alpha1.DNSRecord:
		if obj := r.records[key]; obj != nil {
			obj.DeepCopyInto(into)
			return nil
		}
	case *corev1.Secret:
		if obj := r.secrets[key]; obj != nil {
			obj.DeepCopyInto(into)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func holding(objects ...client.Object) *reader {
	r := &reader{classes: map[string]*dnsv1alpha1.DNSClass{}, records: map[client.ObjectKey]*dnsv1alpha1.DNSRecord{},
		secrets: map[client.ObjectKey]*corev1.Secret{}}
	for _, obj := range objects {
		switch obj := obj.(type) {
		case *dnsv1alpha1.DNSClass:
			r.classes[obj.Name] = obj
		case *dnsv1alpha1.DNSRecord:
			r.records[client.ObjectKeyFromObject(obj)] = obj
		case *corev1.Secret:
			r.secrets[client.ObjectKeyFromObject(obj)] = obj
		}
	}
	return r
}

var errDown = errors.New("the API server is down")

func failing(err error) *reader { return &reader{err: err} }

func TestDNSClass(t *testing.T) {
	class, leaving := builder.DNSClass("a").Obj(), builder.DNSClass("a").Finalizers("x").Deleting().Obj()
	tests := []struct {
		name        string
		cache, live *reader
		state       refs.State
		deleting    bool
		askedLive   int
		fails       bool
	}{
		{"cached: no API call", holding(class), failing(errDown), refs.Found, false, 0, false},
		{"not cached yet", holding(), holding(class), refs.Found, false, 1, false},
		{"absent", holding(), holding(), refs.Absent, false, 1, false},
		{"being deleted", holding(leaving), holding(leaving), refs.Found, true, 1, false},
		{"deleted and created anew, and the cache lags", holding(leaving), holding(class), refs.Found, false, 1, false},
		{"deleted, and the cache lags", holding(leaving), holding(), refs.Absent, false, 1, false},
		{"the cache fails", failing(errDown), holding(class), refs.Unknown, false, 0, true},
		{"the API server fails", holding(), failing(errDown), refs.Unknown, false, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := &cached.Source{Cache: tt.cache, Live: tt.live}
			got, state, err := source.DNSClass(t.Context(), "a")
			if state != tt.state || (err != nil) != tt.fails || (got != nil) != (tt.state == refs.Found) || tt.live.asked != tt.askedLive {
				t.Fatalf("%v, %v, %v after %d live reads; want state %v and %d", got, state, err, tt.live.asked, tt.state, tt.askedLive)
			}
			if got != nil && got.DeletionTimestamp.IsZero() == tt.deleting {
				t.Errorf("deletionTimestamp is %v", got.DeletionTimestamp)
			}
		})
	}
}

func TestRivals(t *testing.T) {
	class := builder.DNSClass("reference").Server("https://dns.example.com").Obj()
	rival := builder.DNSRecord("other", "rival").Obj()
	moved := builder.DNSRecord("other", "rival").Subdomain("moved").Obj()
	tests := []struct {
		name      string
		cached    []*dnsv1alpha1.DNSRecord
		live      *reader
		want      int
		askedLive int
		fails     bool
	}{
		{"nobody: no API call", nil, failing(errDown), 0, 0, false},
		{"its own old claim: no API call", []*dnsv1alpha1.DNSRecord{builder.DNSRecord("default", "new").Obj()}, failing(errDown), 0, 0, false},
		{"there", []*dnsv1alpha1.DNSRecord{rival}, holding(rival), 1, 1, false},
		{"gone, and the cache lags", []*dnsv1alpha1.DNSRecord{rival}, holding(), 0, 1, false},
		{"another by now, and the cache lags", []*dnsv1alpha1.DNSRecord{rival}, holding(moved), 0, 1, false},
		{"the API server fails", []*dnsv1alpha1.DNSRecord{rival}, failing(errDown), 0, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := claims.NewStore()
			feed := claims.NewDNSFeed(store)
			feed.ClassChanged(class)
			for _, rec := range tt.cached {
				feed.RecordChanged(rec)
			}
			source := &cached.Source{Live: tt.live, Store: store, Feed: feed}
			asked := claims.OfDNSRecord(builder.DNSRecord("default", "new").Obj(), class.Spec.Server)[0]
			got, err := source.Rivals(t.Context(), asked)
			if len(got) != tt.want || (err != nil) != tt.fails || tt.live.asked != tt.askedLive {
				t.Errorf("%v, %v after %d live reads; want %d rivals and %d", got, err, tt.live.asked, tt.want, tt.askedLive)
			}
		})
	}
}

func TestSecret(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "listed", Name: "s"}, Data: map[string][]byte{"key": []byte("x\n")}}
	found := refs.SecretFacts{Secret: refs.Found, Key: refs.Found, TrailingNewline: true}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "s", nil)
	tests := []struct {
		name      string
		namespace string
		live      *reader
		want      refs.SecretFacts
		askedLive int
		fails     bool
	}{
		{"there", "listed", holding(secret), found, 1, false},
		{"absent", "listed", holding(), refs.SecretFacts{Secret: refs.Absent, Key: refs.Absent}, 1, false},
		{"in a namespace that is not listed: not asked for", "other", holding(secret), refs.SecretFacts{}, 0, false},
		{"not to be read: unknown", "listed", failing(forbidden), refs.SecretFacts{}, 1, false},
		{"the API server fails", "listed", failing(errDown), refs.SecretFacts{}, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := &cached.Source{Live: tt.live, SecretNamespaces: map[string]bool{"listed": true}}
			got, err := source.Secret(t.Context(), dnsv1alpha1.SecretKeyReference{Namespace: tt.namespace, Name: "s", Key: "key"})
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.fails || tt.live.asked != tt.askedLive {
				t.Errorf("%v after %d live reads (-want +got)\n%s", err, tt.live.asked, diff)
			}
		})
	}
}

// creator answers SubjectAccessReviews.
type creator struct {
	client.Writer
	allowed bool
	err     error
	got     *authorizationv1.SubjectAccessReview
}

func (c *creator) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	c.got = obj.(*authorizationv1.SubjectAccessReview)
	c.got.Status.Allowed = c.allowed
	return c.err
}

func TestMayGetSecret(t *testing.T) {
	user := authenticationv1.UserInfo{Username: "jane", UID: "1", Groups: []string{"dev"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"a", "b"}}}
	want := authorizationv1.SubjectAccessReviewSpec{User: "jane", UID: "1", Groups: []string{"dev"}, Extra: map[string]authorizationv1.ExtraValue{"scope": {"a", "b"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "ns", Name: "s", Verb: "get", Version: "v1", Resource: "secrets"}}
	tests := []struct {
		name  string
		api   *creator
		state refs.State
		fails bool
	}{
		{"allowed", &creator{allowed: true}, refs.Found, false},
		{"not allowed", &creator{}, refs.Absent, false},
		{"the review fails", &creator{allowed: true, err: errDown}, refs.Unknown, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := &cached.Source{Creator: tt.api}
			state, err := source.MayGetSecret(t.Context(), user, "ns", "s")
			if state != tt.state || (err != nil) != tt.fails {
				t.Errorf("%v, %v; want %v", state, err, tt.state)
			}
			if diff := cmp.Diff(want, tt.api.got.Spec); diff != "" {
				t.Errorf("what was asked (-want +got)\n%s", diff)
			}
		})
	}
}
