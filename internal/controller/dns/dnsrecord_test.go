package dns

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	common "github.com/namegate/namegate/internal/controller"
	"github.com/namegate/namegate/internal/dnsrecord"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

func TestRecordIsPublishedChangedAndDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		server := w.server(serverURL)
		rec := aRecord("web", "main", "192.0.2.2", "192.0.2.1")
		rec.Spec.Domain = "Example.COM."
		w.create(class("main", "HTTP://DNS.example.org:7100/"), rec)

		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.expectState(rec, dnsv1alpha1.RecordStateCreated, "")
		created := time.Now()
		at, _ := endpoint.Parse(serverURL)
		set, _ := record.Parse(dnsrecord.Spec(&rec.Spec, 300))
		want := dnsv1alpha1.DNSRecordStatus{FQDN: "www.example.com", State: dnsv1alpha1.RecordStateCreated, ObservedGeneration: 1,
			LastSyncTime: &metav1.Time{Time: created}, Conditions: rec.Status.Conditions,
			Applied: &dnsv1alpha1.AppliedRecord{Server: serverURL, Type: "A", Domain: "example.com", Subdomain: "www", Hash: contentHash(at, set)}}
		if diff := cmp.Diff(want, rec.Status); diff != "" {
			w.t.Errorf("status (-want +got):\n%s", diff)
		}
		if got := server.values("www.example.com"); !slices.Equal(got, []string{"192.0.2.1", "192.0.2.2"}) {
			w.t.Errorf("the server has %q", got)
		}

		w.pass(time.Minute)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) {
			rec.Spec.Values, rec.Spec.TTL = []string{"192.0.2.3"}, ptr.To[int32](0)
		})
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
		w.expectState(rec, dnsv1alpha1.RecordStateUpdated, "")
		if !rec.Status.LastSyncTime.Equal(&metav1.Time{Time: created.Add(time.Minute)}) {
			w.t.Errorf("lastSyncTime is %v, a minute after %v it should not be", rec.Status.LastSyncTime, created)
		}
		if got := server.has[idOf(w.t, "www")]; got.TTL != 0 || !slices.Equal(got.Values(), []string{"192.0.2.3"}) {
			w.t.Errorf("the server has %+v", got)
		}

		w.remove(rec)
		if w.exists(rec) || server.values("www.example.com") != nil {
			w.t.Errorf("the record is still there: object %v, server %v", w.exists(rec), server.values("www.example.com"))
		}
		if got := []int{server.count("upsert"), server.count("delete"), server.count("get")}; !slices.Equal(got, []int{2, 1, 0}) {
			w.t.Errorf("%v upserts, deletes and gets; want 2, 1, 0", got)
		}
	})
}

func TestRecordTTL(t *testing.T) {
	for name, tt := range map[string]struct {
		record, class *int32
		want          uint32
	}{
		"its own":           {ptr.To[int32](60), ptr.To[int32](600), 60},
		"its own, zero":     {ptr.To[int32](0), ptr.To[int32](600), 0},
		"that of the class": {nil, ptr.To[int32](600), 600},
		"the default":       {nil, nil, 300},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
				rec.Spec.TTL, c.Spec.DefaultTTL = tt.record, tt.class
				w.create(c, rec)
				w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
				if got := w.server(serverURL).has[idOf(w.t, "www")].TTL; got != tt.want {
					w.t.Errorf("TTL is %d, want %d", got, tt.want)
				}
			})
		})
	}
}

func TestRecordMetadataIsPublished(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := named(aRecord("sip", "main", "sip.example.com"), "_sip._tcp")
		rec.Spec.Type = dnsv1alpha1.RecordTypeSRV
		rec.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: ptr.To[int32](1), Weight: ptr.To[int32](2), Port: ptr.To[int32](5060)}
		w.create(class("main", serverURL), rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		id := idOf(w.t, "_sip._tcp")
		id.Type = record.SRV
		if set := w.server(serverURL).has[id]; set.Priority != 1 || set.Weight != 2 || set.Port != 5060 {
			w.t.Errorf("the server has %+v", set)
		}
	})
}

// TestRecordReasons reaches every reason of a DNSRecord but RecordDeleted, which is seen in the deletion tests.
func TestRecordReasons(t *testing.T) {
	const no, unknown, yes = metav1.ConditionFalse, metav1.ConditionUnknown, metav1.ConditionTrue
	for name, tt := range map[string]struct {
		arrange func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord)
		status  metav1.ConditionStatus
		reason  string
		state   dnsv1alpha1.RecordState
		code    string
		silent  bool // nothing may reach the server
	}{
		"server takes it": {func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord) {},
			yes, dnsv1alpha1.ReasonRecordCreated, dnsv1alpha1.RecordStateCreated, "", false},
		"server thinks": {func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			w.server(serverURL).block = make(chan struct{})
		}, unknown, dnsv1alpha1.ReasonPublishing, dnsv1alpha1.RecordStatePending, "", false},
		"class absent": {func(_ *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			rec.Spec.DNSClassRef.Name = "other"
		},
			no, dnsv1alpha1.ReasonDNSClassNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"Secret absent": {func(_ *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { signing(c, "absent") },
			no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"Secret without the key": {func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			w.create(secret("key", "k"))
			signing(c, "key").Spec.HMACAuth.SecretRef.Key = "other"
		}, no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"Secret with an empty key": {func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			w.create(secret("key", ""))
			signing(c, "key")
		}, no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"Secret forbidden": {func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			signing(c, "key")
			w.breakReads(func(obj client.Object) error {
				if _, isSecret := obj.(*corev1.Secret); isSecret {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "key", nil)
				}
				return nil
			})
		}, no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"Secret in a namespace not listed": {func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			s := secret("key", "k")
			s.Namespace = "kube-system"
			w.create(s)
			signing(c, "key").Spec.HMACAuth.SecretRef.Namespace = "kube-system"
		}, no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.RecordStatePending, "", true},
		"server unreachable": {failWith(unreachable), no, dnsv1alpha1.ReasonServerUnreachable, dnsv1alpha1.RecordStatePending, "SERVER_ERROR", false},
		"server fails": {failWith(func() error { return &httpdns.Error{Kind: httpdns.Server, Status: 500, Code: "SERVER_ERROR"} }),
			no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.RecordStatePending, "SERVER_ERROR", false},
		"server is busy": {failWith(func() error { return &httpdns.Error{Kind: httpdns.RateLimited, Status: 429} }),
			no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.RecordStatePending, "RATE_LIMITED", false},
		"server is full": {failWith(func() error { return &httpdns.Error{Kind: httpdns.Quota, Status: 403, Code: "QUOTA_EXCEEDED"} }),
			no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.RecordStatePending, "QUOTA_EXCEEDED", false},
		"signature refused": {failWith(func() error { return &httpdns.Error{Kind: httpdns.Auth, Status: 401, Code: "NONCE_REUSED"} }),
			no, dnsv1alpha1.ReasonAuthenticationFailed, dnsv1alpha1.RecordStatePending, "NONCE_REUSED", false},
		"record refused": {failWith(func() error { return &httpdns.Error{Kind: httpdns.Invalid, Status: 400, Code: "INVALID_VALUE"} }),
			no, dnsv1alpha1.ReasonValidationFailed, dnsv1alpha1.RecordStateError, "INVALID_VALUE", false},
		"provider panics": {failWith(func() error { panic("a fault") }), no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.RecordStatePending, "SERVER_ERROR", false},
		"record bypassed the gate": {func(_ *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			rec.Spec.Values = []string{"no address"}
		},
			no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.RecordStateError, "", true},
		"TTL of the class bypassed the gate": {func(_ *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			c.Spec.DefaultTTL = ptr.To[int32](-1)
		},
			no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.RecordStateError, "", true},
		"server of the class bypassed the gate": {func(_ *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) { c.Spec.Server = "ftp://x" },
			no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.RecordStateError, "", true},
		"key of the class bypassed the gate": {func(_ *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			c.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{Secret: ptr.To("")}
		}, no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.RecordStateError, "", true},
		"name taken": {func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			w.create(class("before", serverURL), aRecord("earlier", "before", "192.0.2.9"))
			w.server(serverURL).log = nil
		}, no, dnsv1alpha1.ReasonNameConflict, dnsv1alpha1.RecordStatePending, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
				tt.arrange(w, c, rec)
				w.create(c, rec)
				w.expectReady(rec, tt.status, tt.reason)
				w.expectState(rec, tt.state, tt.code)
				if got := w.server(serverURL).count("upsert"); (got == 0) != tt.silent {
					w.t.Errorf("%d upserts", got)
				}
				if tt.silent && rec.Status.Applied != nil {
					w.t.Errorf("status.applied is %+v although nothing was sent", rec.Status.Applied)
				}
			})
		})
	}
}

func failWith(err func() error) func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord) {
	return func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
		w.server(serverURL).err = func(operation string) error {
			if operation == "upsert" {
				return err()
			}
			return nil
		}
	}
}

// TestRecordInvalidIsLeftAlone: nothing is tried again, and what was published before stays.
func TestRecordInvalidIsLeftAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.1", "192.0.2.1"} })
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonInvalidConfiguration)
		passes := w.now.passes.Load()
		w.pass(25 * time.Minute)
		if got := w.now.passes.Load() - passes; got > 1 { // one timer from before
			w.t.Errorf("%d reconciliations of what cannot change by itself", got)
		}
		if got := w.server(serverURL).values("www.example.com"); !slices.Equal(got, []string{"192.0.2.1"}) {
			w.t.Errorf("the server has %q", got)
		}
	})
}

// TestConvergedRecordsCauseNoWrites runs an hour of virtual time. Only the status patch of each class for each health check is
// left, and one look at the server for each resync.
func TestConvergedRecordsCauseNoWrites(t *testing.T) {
	for name, err := range map[string]error{"the server can be asked": nil, "it cannot": httpdns.ErrUnsupported, "it fails": unreachable()} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				server := w.server(serverURL)
				w.create(class("main", serverURL))
				for i := range 20 {
					w.create(named(aRecord(fmt.Sprintf("web-%d", i), "main", "192.0.2.1"), fmt.Sprintf("www%d", i)))
				}
				w.pass(time.Second)
				server.set(func(s *fakeServer) { s.err = failing(err, "get") })
				writes, upserts := w.now.writes.Load(), server.count("upsert")
				w.pass(time.Hour)
				if got := w.now.writes.Load() - writes; got != 6 {
					w.t.Errorf("%d writes to the API server in an hour; want 6, one for each health check", got)
				}
				if got := server.count("upsert") - upserts; got != 0 {
					w.t.Errorf("%d upserts", got)
				}
				if got := server.count("get"); got < 20*5 || got > 20*7 {
					w.t.Errorf("%d gets in an hour; want about 6 for each of 20 records", got)
				}
			})
		})
	}
}

func TestDriftIsRepairedAtTheResync(t *testing.T) {
	for name, drift := range map[string]func(*fakeServer, httpdns.ID, *record.RRset){
		"changed": func(s *fakeServer, id httpdns.ID, other *record.RRset) { s.has[id] = other },
		"removed": func(s *fakeServer, id httpdns.ID, _ *record.RRset) { delete(s.has, id) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
				w.create(class("main", serverURL), rec)
				other, _ := record.Parse(record.Spec{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"203.0.113.1"}, TTL: 300})
				server.set(func(s *fakeServer) { drift(s, idOf(w.t, "www"), other) })
				w.pass(12 * time.Minute)
				if got := server.values("www.example.com"); !slices.Equal(got, []string{"192.0.2.1"}) {
					w.t.Errorf("the server has %q", got)
				}
				w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
				w.expectState(rec, dnsv1alpha1.RecordStateUpdated, "")
				if server.count("upsert") != 2 || server.count("get") != 1 {
					w.t.Errorf("calls: %v", server.log)
				}
			})
		})
	}
}

// TestRepairThatFailsIsReported: the server lost the record, and does not take it again.
func TestRepairThatFailsIsReported(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		server.set(func(s *fakeServer) {
			clear(s.has)
			s.err = failing(&httpdns.Error{Kind: httpdns.Server, Status: 500}, "upsert")
		})
		w.pass(11*time.Minute + 2*time.Second)
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonServerError)
		server.set(func(s *fakeServer) { s.err = nil })
		w.pass(time.Minute)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
	})
}

// TestRestartPublishesNothingAgain: what the status says is believed, and checked.
func TestRestartPublishesNothingAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(class("main", serverURL), rec)
		w.exists(rec)
		before := rec.ResourceVersion
		w.restart()
		w.settle()
		if server.count("upsert") != 1 || server.count("get") != 1 || server.count("health") != 1 {
			w.t.Errorf("calls after a restart: %v; want one upsert and one health check from before, and one get", server.log)
		}
		if w.exists(rec); rec.ResourceVersion != before || w.now.writes.Load() != 0 {
			w.t.Errorf("%d writes after a restart", w.now.writes.Load())
		}
		server.set(func(s *fakeServer) { clear(s.has) })
		w.restart()
		w.settle()
		if server.values("www.example.com") == nil {
			w.t.Error("what was lost while the operator was away was not found")
		}
	})
}

// TestEditWithoutEffect: the generation is another, what is published is not.
func TestEditWithoutEffect(t *testing.T) {
	for name, tt := range map[string]struct {
		err     error
		upserts int
		reason  string
	}{
		"the server can be asked": {nil, 1, dnsv1alpha1.ReasonRecordCreated},
		"it cannot":               {httpdns.ErrUnsupported, 2, dnsv1alpha1.ReasonRecordUpdated},
		"it fails":                {unreachable(), 2, dnsv1alpha1.ReasonRecordUpdated},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
				server.err = failing(tt.err, "get")
				w.create(class("main", serverURL), rec)
				edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Description = "a note" })
				w.expectReady(rec, metav1.ConditionTrue, tt.reason)
				if got := server.count("upsert"); got != tt.upserts {
					w.t.Errorf("%d upserts, want %d", got, tt.upserts)
				}
			})
		})
	}
}

func TestRetrySchedule(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		start := time.Now()
		var tries []time.Duration
		server.err = failing(unreachable(), "upsert")
		server.seen = func(operation string, _ httpdns.ID) {
			if operation == "upsert" {
				tries = append(tries, time.Since(start))
			}
		}
		w.create(class("main", serverURL))
		w.create(rec)
		w.expectState(rec, dnsv1alpha1.RecordStatePending, "SERVER_ERROR")
		first := rec.Status.Error.Timestamp
		w.pass(134 * time.Second)
		w.expectState(rec, dnsv1alpha1.RecordStatePending, "SERVER_ERROR")
		before := rec.ResourceVersion
		w.pass(time.Second)
		w.expectState(rec, dnsv1alpha1.RecordStateError, "SERVER_ERROR")
		used := rec.ResourceVersion
		w.pass(20 * time.Minute)
		w.expectState(rec, dnsv1alpha1.RecordStateError, "SERVER_ERROR")
		want := []time.Duration{0, 5, 15, 35, 75, 135, 735, 1335}
		for i := range want {
			want[i] *= time.Second
		}
		if diff := cmp.Diff(want, tries); diff != "" {
			w.t.Errorf("tries (-want +got):\n%s", diff)
		}
		if !rec.Status.Error.Timestamp.Equal(first) || rec.ResourceVersion != used || before == used {
			w.t.Errorf("the same error was written again: since %v, first %v", rec.Status.Error.Timestamp, first)
		}
	})
}

// TestRetriesStartAnew: what may have removed the cause ends the wait.
func TestRetriesStartAnew(t *testing.T) {
	for name, cause := range map[string]func(*world, *dnsv1alpha1.DNSClass, *dnsv1alpha1.DNSRecord){
		"the spec": func(w *world, _ *dnsv1alpha1.DNSClass, rec *dnsv1alpha1.DNSRecord) {
			edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		},
		"the Secret": func(w *world, _ *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			edit(w, secret("key", ""), func(s *corev1.Secret) { s.Data[dnsv1alpha1.DefaultHMACKey] = []byte("rotated") })
		},
		"the class": func(w *world, c *dnsv1alpha1.DNSClass, _ *dnsv1alpha1.DNSRecord) {
			edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.TimeoutSeconds = ptr.To[int32](7) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				server, c, rec := w.server(serverURL), signing(class("main", serverURL), "key"), aRecord("web", "main", "192.0.2.1")
				server.err = failing(&httpdns.Error{Kind: httpdns.Auth, Status: 401}, "upsert")
				w.create(secret("key", "first"), c, rec)
				w.pass(3 * time.Minute)
				w.expectState(rec, dnsv1alpha1.RecordStateError, "AUTH_FAILED")
				w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonAuthenticationFailed)
				tries := server.count("upsert")
				cause(w, c, rec)
				if got := server.count("upsert") - tries; got != 1 {
					w.t.Fatalf("%d attempts at once, want 1", got)
				}
				w.expectState(rec, dnsv1alpha1.RecordStatePending, "AUTH_FAILED") // the count is from one again
				server.set(func(s *fakeServer) { s.err = nil })
				w.pass(5 * time.Second)
				w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
			})
		})
	}
}

// TestSuccessEndsTheCount: a failure long after starts with the shortest wait again.
func TestSuccessEndsTheCount(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		fail := func(err error) { server.set(func(s *fakeServer) { s.err = failing(err, "upsert") }) }
		w.create(class("main", serverURL))
		fail(unreachable())
		w.create(rec)
		w.pass(20 * time.Second)
		fail(nil)
		w.pass(20 * time.Second)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		fail(unreachable())
		server.set(func(s *fakeServer) { clear(s.has) })
		for server.count("get") == 0 {
			w.pass(time.Second)
		}
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonServerUnreachable)
		fail(nil)
		w.pass(5 * time.Second)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
	})
}

func TestRecordIsTriedWhenItsClassTurnsHealthy(t *testing.T) {
	inWorld(t, func(w *world) {
		server, c, rec := w.server(serverURL), class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		server.err = failing(unreachable())
		w.create(c)
		w.pass(time.Minute)
		w.create(rec)
		w.pass(8 * time.Minute)
		w.expectReady(c, metav1.ConditionFalse, dnsv1alpha1.ReasonServerUnreachable)
		w.expectState(rec, dnsv1alpha1.RecordStateError, "SERVER_ERROR")
		server.set(func(s *fakeServer) { s.err = nil })
		w.pass(time.Minute) // the class is checked; the record by itself would wait two minutes more
		w.expectReady(c, metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.expectState(rec, dnsv1alpha1.RecordStateCreated, "")
	})
}

// TestUnhealthyClassBlocksNothing: health is for people.
func TestUnhealthyClassBlocksNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.server(serverURL).err = failing(&httpdns.Error{Kind: httpdns.Server, Status: 503}, "health")
		w.create(c)
		w.expectReady(c, metav1.ConditionFalse, dnsv1alpha1.ReasonServerError)
		w.create(rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		server.err = failing(&httpdns.Error{Kind: httpdns.RateLimited, Status: 429, RetryAfter: 90 * time.Second}, "upsert")
		w.create(class("main", serverURL), rec)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		w.pass(89 * time.Second)
		if got := server.count("upsert"); got != 1 {
			w.t.Errorf("%d attempts before the server is ready", got)
		}
		w.pass(time.Second)
		if got := server.count("upsert"); got != 2 {
			w.t.Errorf("%d attempts after the server is ready", got)
		}
	})
}

func TestRefusedRecordIsTriedAtTheHealthInterval(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		server.err = failing(&httpdns.Error{Kind: httpdns.Invalid, Status: 400}, "upsert")
		w.create(class("main", serverURL), rec)
		w.pass(599 * time.Second)
		w.expectState(rec, dnsv1alpha1.RecordStateError, "INVALID_RECORD")
		if got := server.count("upsert"); got != 1 {
			w.t.Errorf("%d attempts, want 1", got)
		}
		w.pass(time.Second)
		if got := server.count("upsert"); got != 2 {
			w.t.Errorf("%d attempts, want 2", got)
		}
	})
}

// TestBlockedRecordsAreWoken: no timer runs while another object is in the way, and its change is enough.
func TestBlockedRecordsAreWoken(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(rec)
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonDNSClassNotFound)
		w.create(signing(class("main", serverURL), "key"))
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonSecretNotFound)
		w.server(serverURL).key = []byte("s")
		w.create(secret("key", "s"))
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

// TestPublishedRecordLosesItsClass: it stays as it is, and comes back with the class.
func TestPublishedRecordLosesItsClass(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		w.expectState(rec, dnsv1alpha1.RecordStateCreated, "")
		w.remove(c)
		annotate(w, c)
		if w.exists(c) {
			w.t.Fatal("the class is still there")
		}
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonDNSClassNotFound)
		w.expectState(rec, dnsv1alpha1.RecordStateCreated, "")
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		w.expectState(rec, dnsv1alpha1.RecordStatePending, "") // the server has not heard of this
		w.create(class("main", serverURL))
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
	})
}

// TestClassBeingDeletedStillServes its records.
func TestClassBeingDeletedStillServes(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		w.remove(c)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
	})
}

func TestServerOfTheClassMoves(t *testing.T) {
	const secure = "https://dns.example.org"
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = secure })
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		if rec.Status.Applied.Server != secure {
			w.t.Errorf("applied to %s", rec.Status.Applied.Server)
		}
		w.expectEvent("Warning LeftBehind Move web", "www.example.com", "A record", serverURL)
		if w.server(serverURL).values("www.example.com") == nil || w.server(serverURL).count("delete") != 0 {
			w.t.Error("the record was deleted from the old server, which may be the new one")
		}
		w.remove(rec)
		if w.exists(rec) || w.server(secure).values("www.example.com") != nil || w.server(serverURL).values("www.example.com") == nil {
			w.t.Error("a deletion has to reach the new server, and that only")
		}
	})
}

// TestOldServerIsDeadWhenTheClassMoves: a call in flight there delays nothing.
func TestOldServerIsDeadWhenTheClassMoves(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.server(serverURL).block = make(chan struct{})
		w.create(c, rec)
		w.expectReady(rec, metav1.ConditionUnknown, dnsv1alpha1.ReasonPublishing)
		edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = "http://other.example.org" })
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.pass(time.Minute)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

// TestDeadServersDelayNobodyElse: many dead servers with many records each, one worker, and no time may pass.
func TestDeadServersDelayNobodyElse(t *testing.T) {
	inWorld(t, func(w *world) {
		for s := range 10 {
			dead := fmt.Sprintf("http://dead-%d.example.org", s)
			w.server(dead).block = make(chan struct{})
			w.create(class(fmt.Sprintf("dead-%d", s), dead))
			for i := range 10 {
				w.create(named(aRecord(fmt.Sprintf("dead-%d-%d", s, i), fmt.Sprintf("dead-%d", s), "192.0.2.1"), fmt.Sprintf("www%d", i)))
			}
		}
		rec := aRecord("alive", "main", "192.0.2.1")
		start := time.Now()
		w.create(class("main", serverURL), rec)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordUpdated)
		w.remove(rec)
		if w.exists(rec) || time.Since(start) != 0 {
			w.t.Errorf("exists %v after %v", w.exists(rec), time.Since(start))
		}
		if got := w.server("http://dead-0.example.org").count("upsert"); got != 2 {
			w.t.Errorf("%d calls in flight to one dead server, want 2", got)
		}
	})
}

// TestChangeWhileACallIsInFlight: the later one wins, on the server too.
func TestChangeWhileACallIsInFlight(t *testing.T) {
	inWorld(t, func(w *world) {
		server, rec := w.server(serverURL), aRecord("web", "main", "192.0.2.1")
		block := make(chan struct{})
		server.block = block
		w.create(class("main", serverURL), rec)
		edit(w, rec, func(rec *dnsv1alpha1.DNSRecord) { rec.Spec.Values = []string{"192.0.2.2"} })
		if got := server.count("upsert"); got != 1 {
			w.t.Fatalf("%d calls at a time for one record", got)
		}
		server.set(func(s *fakeServer) { s.block = nil })
		close(block)
		w.settle()
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		if got := server.values("www.example.com"); !slices.Equal(got, []string{"192.0.2.2"}) {
			w.t.Errorf("the server has %q", got)
		}
	})
}

// TestOutcomeOutlivesAConflict: again and again somebody writes to the object just before the outcome is written down. It is not sent twice.
func TestOutcomeOutlivesAConflict(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		conflicts := 0
		w.touched = func(what string, before bool) {
			if what == "patch status" && before && w.server(serverURL).count("upsert") == 1 && conflicts < 5 {
				now := aRecord("web", "", "")
				must(w.t, w.api.Get(w.t.Context(), client.ObjectKeyFromObject(now), now))
				if now.Status.Applied == nil { // it is the class's status
					return
				}
				conflicts++
				now.Labels = map[string]string{"somebody": fmt.Sprint(conflicts)}
				must(w.t, w.api.Update(w.t.Context(), now))
			}
		}
		w.create(class("main", serverURL))
		w.create(rec)
		w.pass(2 * time.Second)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		if got := w.server(serverURL).count("upsert"); conflicts != 5 || got != 1 {
			w.t.Errorf("%d conflicts, %d upserts; want 5 and 1", conflicts, got)
		}
	})
}

// TestCacheIsBehind: what was read is older than what was written, and nothing is done by it.
func TestCacheIsBehind(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		oldClass, oldRecord := c.DeepCopy(), rec.DeepCopy()
		for range 2 { // the request, and its outcome
			w.exists(c)
			_, err := p.classes.Reconcile(w.t.Context(), c)
			must(w.t, err)
			w.exists(rec)
			_, err = p.records.Reconcile(w.t.Context(), rec)
			must(w.t, err)
			w.settle()
		}
		w.expectReady(c, metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		writes, calls := p.writes.Load(), len(w.server(serverURL).log)
		for name, reconcileOld := range map[string]func() (reconcile.Result, error){
			"class":  func() (reconcile.Result, error) { return p.classes.Reconcile(w.t.Context(), oldClass) },
			"record": func() (reconcile.Result, error) { return p.records.Reconcile(w.t.Context(), oldRecord) },
		} {
			result, err := reconcileOld()
			must(w.t, err)
			w.settle()
			if result.RequeueAfter != common.ConflictDelay || p.writes.Load() != writes || len(w.server(serverURL).log) != calls {
				w.t.Errorf("%s: again after %v, %d writes, calls %q", name, result.RequeueAfter, p.writes.Load()-writes, w.server(serverURL).log[calls:])
			}
		}
		w.pass(common.StaleLimit) // this is no cache that lags: the API server was restored
		if _, err := p.records.Reconcile(w.t.Context(), oldRecord); err != nil || p.writes.Load() == writes {
			w.t.Errorf("error %v; nothing was done for an object that was restored", err)
		}
	})
}

// TestObjectsThatAreGone are nobody's error.
func TestObjectsThatAreGone(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		w.create(class("main", serverURL))
		rec := aRecord("web", "main", "192.0.2.1")
		rec.UID, rec.ResourceVersion = "uid-gone", "1"
		if result, err := p.records.Reconcile(w.t.Context(), rec); err != nil || result.RequeueAfter != 0 || p.records.notes.Len() != 0 {
			w.t.Errorf("%+v, %v, remembered %d", result, err, p.records.notes.Len())
		}
	})
}

// TestMissingSecretIsLookedForAgain at the interval, although no event may come.
func TestMissingSecretIsLookedForAgain(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(signing(class("main", serverURL), "absent"), rec)
		if result, err := p.records.Reconcile(w.t.Context(), rec); err != nil || result.RequeueAfter != settings.HealthCheckInterval {
			w.t.Errorf("%+v, %v", result, err)
		}
	})
}

// TestFailingAPIServerLosesNothing: look-ups fail for a while, which is nobody's condition.
func TestFailingAPIServerLosesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		rec := aRecord("web", "main", "192.0.2.1")
		w.create(secret("key", "s"), signing(class("main", serverURL), "key"))
		w.breakReads(func(obj client.Object) error {
			if _, isSecret := obj.(*corev1.Secret); isSecret {
				return apierrors.NewInternalError(fmt.Errorf("etcd is away"))
			}
			return nil
		})
		w.create(rec)
		if w.exists(rec); len(rec.Status.Conditions) != 0 {
			w.t.Errorf("conditions: %+v", rec.Status.Conditions)
		}
		w.breakReads(nil)
		w.pass(time.Second)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

// TestSecretsAreShownNowhere searches every object, event and log line after requests that went well and requests that did not.
func TestSecretsAreShownNowhere(t *testing.T) {
	const key = "s3cr3t-of-the-server"
	inWorld(t, func(w *world) {
		inline := class("inline", "http://inline.example.org")
		inline.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{Secret: ptr.To(key), Algorithm: dnsv1alpha1.HMACSHA512}
		w.server(serverURL).key = []byte(key)
		w.server("http://inline.example.org").key = []byte("another")
		w.server("http://panics.example.org").err = func(string) error { panic(httpdns.Target{Key: []byte(key)}) }
		objs := []client.Object{signing(class("main", serverURL), "key"), signing(class("panics", "http://panics.example.org"), "key"), inline,
			aRecord("web", "main", "192.0.2.1"), aRecord("other", "inline", "192.0.2.1"), aRecord("third", "panics", "192.0.2.1")}
		w.create(secret("key", key))
		w.create(objs...)
		w.pass(5 * time.Minute)
		w.expectReady(objs[3], metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
		w.expectReady(objs[4], metav1.ConditionFalse, dnsv1alpha1.ReasonAuthenticationFailed)
		w.expectReady(objs[5], metav1.ConditionFalse, dnsv1alpha1.ReasonServerError)
		inline.Spec.HMACAuth.Secret = nil
		shown := w.logs.String() + strings.Join(w.events, "\n")
		for _, obj := range objs {
			w.exists(obj)
			if c, ok := obj.(*dnsv1alpha1.DNSClass); ok {
				c.Spec = dnsv1alpha1.DNSClassSpec{}
			}
			text, err := json.Marshal(obj)
			must(w.t, err)
			shown += string(text)
		}
		if strings.Contains(shown, key) || strings.Contains(shown, "czNjcjN0") || !strings.Contains(shown, "panicked") {
			w.t.Errorf("a secret is shown, or the fault is not:\n%s", shown)
		}
	})
}

// TestNothingIsRememberedOfTheGone, whichever way they went.
func TestNothingIsRememberedOfTheGone(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec, stripped := class("main", serverURL), aRecord("web", "main", "192.0.2.1"), named(aRecord("stripped", "main", "192.0.2.1"), "stripped")
		w.create(c, rec, stripped)
		if w.now.records.notes.Len() != 2 || w.now.classes.checked.Len() != 1 {
			w.t.Fatalf("remembered: %d records, %d classes", w.now.records.notes.Len(), w.now.classes.checked.Len())
		}
		w.remove(rec)
		w.server(serverURL).set(func(s *fakeServer) { s.err = failing(unreachable(), "delete") })
		w.remove(stripped)
		edit(w, stripped, func(rec *dnsv1alpha1.DNSRecord) { rec.Finalizers = nil }) // a person forces it
		w.remove(c)
		if w.exists(rec) || w.exists(stripped) || w.exists(c) {
			w.t.Fatal("an object is still there")
		}
		r, cl := w.now.records, w.now.classes
		if r.notes.Len() != 0 || cl.checked.Len() != 0 || len(r.lanes.calls) != 0 || len(cl.lanes.calls) != 0 || w.now.store.Len() != 0 {
			w.t.Errorf("remembered: %d records, %d classes, %d and %d calls, %d claims", r.notes.Len(), cl.checked.Len(), len(r.lanes.calls),
				len(cl.lanes.calls), w.now.store.Len())
		}
	})
}
