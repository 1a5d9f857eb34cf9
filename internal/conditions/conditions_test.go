package conditions_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/conditions"
)

func TestSet(t *testing.T) {
	var list []metav1.Condition
	set := func(status metav1.ConditionStatus, reason string, generation int64) bool {
		return conditions.Set(&list, "Ready", status, reason, "because", generation)
	}
	if conditions.IsTrue(list, "Ready") || conditions.Find(list, "Ready").Status != "" {
		t.Error("there is a condition before any was set")
	}
	if !set("False", "One", 1) {
		t.Error("the first one is no change")
	}
	long := metav1.NewTime(time.Now().Add(-time.Hour))
	list[0].LastTransitionTime = long
	if set("False", "One", 1) {
		t.Error("the same is a change")
	}
	if !set("False", "Two", 2) || !list[0].LastTransitionTime.Equal(&long) {
		t.Error("another reason and generation are a change, but no transition")
	}
	want := metav1.Condition{Type: "Ready", Status: "False", Reason: "Two", Message: "because", ObservedGeneration: 2, LastTransitionTime: long}
	if diff := cmp.Diff([]metav1.Condition{want}, list); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if !set("True", "Two", 2) || list[0].LastTransitionTime.Equal(&long) || !conditions.IsTrue(list, "Ready") || conditions.IsTrue(list, "Other") {
		t.Errorf("another status is a transition: %+v", list)
	}
	if diff := cmp.Diff(list[0], conditions.Find(list, "Ready")); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// cluster is an API server that keeps the patches it gets.
type cluster struct {
	client.WithWatch
	patches []string
	err     error
}

func newCluster(t *testing.T, rec *dnsv1alpha1.DNSRecord) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dnsv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	keep := func(kind string, obj client.Object, patch client.Patch, owner string) error {
		data, err := patch.Data(obj)
		c.patches = append(c.patches, strings.Join([]string{kind, owner, string(patch.Type()), string(data)}, " "))
		return errors.Join(c.err, err)
	}
	base := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(rec).WithObjects(rec).Build()
	c.WithWatch = interceptor.NewClient(base, interceptor.Funcs{
		Patch: func(ctx context.Context, w client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := keep("metadata", obj, patch, (&client.PatchOptions{}).ApplyOptions(opts).FieldManager); err != nil {
				return err
			}
			return w.Patch(ctx, obj, patch, opts...)
		},
		SubResourcePatch: func(ctx context.Context, w client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := keep(sub, obj, patch, (&client.SubResourcePatchOptions{}).ApplyOptions(opts).FieldManager); err != nil {
				return err
			}
			return w.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
	return c
}

func read(t *testing.T, c client.Reader) *dnsv1alpha1.DNSRecord {
	t.Helper()
	rec := &dnsv1alpha1.DNSRecord{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

func stored() *dnsv1alpha1.DNSRecord {
	return &dnsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Finalizers: []string{"theirs.example.com/f"}},
		Spec: dnsv1alpha1.DNSRecordSpec{Domain: "example.com"}, Status: dnsv1alpha1.DNSRecordStatus{State: "Pending", FQDN: "example.com"}}
}

func TestPatcherWritesChangesOnly(t *testing.T) {
	c := newCluster(t, stored())
	rec := read(t, c)
	p := conditions.NewPatcher(c, "me", rec)
	now := metav1.NewTime(time.Now())
	want := `status me application/merge-patch+json {"metadata":{"resourceVersion":"` + rec.ResourceVersion +
		`"},"status":{"fqdn":null,"lastSyncTime":"` + now.UTC().Format(time.RFC3339) + `","state":"Created"}}`
	for range 2 { // the second time everything is stored
		rec.Status.State, rec.Status.FQDN, rec.Status.LastSyncTime = "Created", "", &now
		if err := p.Status(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, c.patches); diff != "" {
			t.Fatalf("patches (-want +got):\n%s", diff)
		}
	}
	if got := read(t, c); got.Status.State != "Created" || got.Status.FQDN != "" || got.ResourceVersion != rec.ResourceVersion {
		t.Errorf("stored: %+v; known version %s", got, rec.ResourceVersion)
	}
	rec.Spec.Domain = "other.example.com" // not the business of a status
	if err := p.Status(t.Context(), rec); err != nil || len(c.patches) != 1 {
		t.Errorf("error %v, patches %q", err, c.patches)
	}
}

func TestPatcherRefusesAnOldVersion(t *testing.T) {
	for name, write := range map[string]func(context.Context, *conditions.Patcher[*dnsv1alpha1.DNSRecord], *dnsv1alpha1.DNSRecord) error{
		"status": func(ctx context.Context, p *conditions.Patcher[*dnsv1alpha1.DNSRecord], rec *dnsv1alpha1.DNSRecord) error {
			rec.Status.State = "Created"
			return p.Status(ctx, rec)
		},
		"metadata": func(ctx context.Context, p *conditions.Patcher[*dnsv1alpha1.DNSRecord], rec *dnsv1alpha1.DNSRecord) error {
			return p.Metadata(ctx, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, stored())
			rec := read(t, c)
			p := conditions.NewPatcher(c, "me", rec)
			other := read(t, c)
			other.Labels = map[string]string{"somebody": "else"}
			if err := c.Update(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), p, rec); !apierrors.IsConflict(err) {
				t.Errorf("error is %v", err)
			}
			if got := read(t, c); got.Status.State != "Pending" || len(got.Finalizers) != 1 {
				t.Errorf("written: %+v", got)
			}
		})
	}
}

// TestPatcherKeepsWhatIsNotWritten: metadata goes first, and the status that was set before it follows, over the new version.
func TestPatcherKeepsWhatIsNotWritten(t *testing.T) {
	c := newCluster(t, stored())
	rec := read(t, c)
	p := conditions.NewPatcher(c, "me", rec)
	rec.Status.State = "Created"
	add := func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = append(rec.Finalizers, "ours.example.com/f") }
	if err := p.Metadata(t.Context(), rec, add); err != nil {
		t.Fatal(err)
	}
	if got := read(t, c); got.Status.State != "Pending" || len(got.Finalizers) != 2 || rec.Status.State != "Created" {
		t.Fatalf("stored %+v, known %+v", got, rec)
	}
	if !slices.Equal(rec.Finalizers, []string{"theirs.example.com/f", "ours.example.com/f"}) {
		t.Errorf("finalizers: %q", rec.Finalizers)
	}
	if err := p.Status(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if got := read(t, c); got.Status.State != "Created" || len(got.Finalizers) != 2 || got.ResourceVersion != rec.ResourceVersion {
		t.Errorf("stored %+v", got)
	}
	if len(c.patches) != 2 || !strings.HasPrefix(c.patches[0], "metadata me ") || strings.Contains(c.patches[0], "status") || strings.Contains(c.patches[1], "finalizers") {
		t.Errorf("patches: %q", c.patches)
	}
}

// TestPatcherTriesAgainAfterAnError: what was not written is still to be written.
func TestPatcherTriesAgainAfterAnError(t *testing.T) {
	c := newCluster(t, stored())
	rec := read(t, c)
	p := conditions.NewPatcher(c, "me", rec)
	rec.Status.State = "Created"
	c.err = apierrors.NewInternalError(errors.New("etcd is away"))
	if err := p.Status(t.Context(), rec); !apierrors.IsInternalError(err) {
		t.Fatalf("error is %v", err)
	}
	if err := p.Metadata(t.Context(), rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil }); !apierrors.IsInternalError(err) || len(rec.Finalizers) != 1 {
		t.Fatalf("error is %v, finalizers %q", err, rec.Finalizers)
	}
	c.err = nil
	if err := p.Status(t.Context(), rec); err != nil || read(t, c).Status.State != "Created" {
		t.Errorf("error %v, stored %+v", err, read(t, c).Status)
	}
}
