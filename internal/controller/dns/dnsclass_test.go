package dns

import (
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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

// TestClassReasons reaches every reason of a DNSClass.
func TestClassReasons(t *testing.T) {
	const no, unknown, yes = metav1.ConditionFalse, metav1.ConditionUnknown, metav1.ConditionTrue
	health := func(err error) func(*world, *dnsv1alpha1.DNSClass) {
		return func(w *world, _ *dnsv1alpha1.DNSClass) { w.server(serverURL).err = failing(err, "health") }
	}
	for name, tt := range map[string]struct {
		arrange func(*world, *dnsv1alpha1.DNSClass)
		status  metav1.ConditionStatus
		reason  string
		health  dnsv1alpha1.HealthStatus
	}{
		"healthy": {health(nil), yes, dnsv1alpha1.ReasonServerHealthy, dnsv1alpha1.Healthy},
		"not known yet": {func(w *world, _ *dnsv1alpha1.DNSClass) { w.server(serverURL).block = make(chan struct{}) },
			unknown, dnsv1alpha1.ReasonHealthCheckPending, dnsv1alpha1.HealthUnknown},
		"unreachable":           {health(unreachable()), no, dnsv1alpha1.ReasonServerUnreachable, dnsv1alpha1.Unhealthy},
		"says that it is ill":   {health(&httpdns.Error{Kind: httpdns.Server, Status: 200}), no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.Unhealthy},
		"is busy":               {health(&httpdns.Error{Kind: httpdns.RateLimited, Status: 429}), no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.Unhealthy},
		"answers 400":           {health(&httpdns.Error{Kind: httpdns.Invalid, Status: 400}), no, dnsv1alpha1.ReasonServerError, dnsv1alpha1.Unhealthy},
		"refuses the signature": {health(&httpdns.Error{Kind: httpdns.Auth, Status: 401}), no, dnsv1alpha1.ReasonAuthenticationFailed, dnsv1alpha1.Unhealthy},
		"Secret absent": {func(_ *world, c *dnsv1alpha1.DNSClass) { signing(c, "absent") },
			no, dnsv1alpha1.ReasonSecretNotFound, dnsv1alpha1.HealthUnknown},
		"server is no URL": {func(_ *world, c *dnsv1alpha1.DNSClass) { c.Spec.Server = "nowhere" },
			no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.HealthUnknown},
		"algorithm unknown": {func(_ *world, c *dnsv1alpha1.DNSClass) {
			c.Spec.HMACAuth = &dnsv1alpha1.HMACAuth{Secret: ptr.To("s"), Algorithm: "MD5"}
		}, no, dnsv1alpha1.ReasonInvalidConfiguration, dnsv1alpha1.HealthUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := class("main", serverURL)
				tt.arrange(w, c)
				w.create(c)
				w.expectReady(c, tt.status, tt.reason)
				if c.Status.Health.Status != tt.health || c.Status.Health.Message == "" {
					w.t.Errorf("health: %+v", c.Status.Health)
				}
				if checked := tt.health != dnsv1alpha1.HealthUnknown; checked != (c.Status.LastHealthCheck != nil) || checked != (c.Status.Health.LastCheck != nil) {
					w.t.Errorf("checked %v; last check %v, %v", checked, c.Status.LastHealthCheck, c.Status.Health.LastCheck)
				}
			})
		})
	}
}

// TestHealthChecksAreOnePatchEach, and at the interval, whatever the server says.
func TestHealthChecksAreOnePatchEach(t *testing.T) {
	for name, err := range map[string]error{"healthy": nil, "unhealthy": unreachable()} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c, server := class("main", serverURL), w.server(serverURL)
				server.err = failing(err, "health")
				start := time.Now()
				var checks []time.Duration
				server.seen = func(string, httpdns.ID) { checks = append(checks, time.Since(start)) }
				w.create(c)
				w.exists(c)
				since := c.Status.Conditions[0].LastTransitionTime
				writes := w.now.writes.Load()
				w.pass(35 * time.Minute)
				if diff := cmp.Diff([]time.Duration{0, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute}, checks); diff != "" {
					w.t.Errorf("checks (-want +got):\n%s", diff)
				}
				if got := w.now.writes.Load() - writes; got != 3 {
					w.t.Errorf("%d writes for 3 checks", got)
				}
				w.exists(c)
				if want := start.Add(30 * time.Minute); !c.Status.LastHealthCheck.Equal(&metav1.Time{Time: want}) || !c.Status.Health.LastCheck.Equal(c.Status.LastHealthCheck) {
					w.t.Errorf("last check %v and %v, want %v", c.Status.LastHealthCheck, c.Status.Health.LastCheck, want)
				}
				if !c.Status.Conditions[0].LastTransitionTime.Equal(&since) {
					w.t.Error("the transition moved without one")
				}
			})
		})
	}
}

// TestRestartKeepsTheRhythm: not all classes are checked at once when the operator starts.
func TestRestartKeepsTheRhythm(t *testing.T) {
	inWorld(t, func(w *world) {
		server := w.server(serverURL)
		w.create(class("main", serverURL))
		w.pass(4 * time.Minute)
		w.restart()
		w.pass(5*time.Minute + 59*time.Second)
		if got := server.count("health"); got != 1 {
			w.t.Fatalf("%d checks, want 1: none is due", got)
		}
		w.pass(time.Second)
		if got := server.count("health"); got != 2 {
			w.t.Errorf("%d checks, want 2", got)
		}
	})
}

// TestHealthIsCheckedAtOnce when something changed that may change the answer.
func TestHealthIsCheckedAtOnce(t *testing.T) {
	for name, change := range map[string]func(*world, *dnsv1alpha1.DNSClass){
		"the spec": func(w *world, c *dnsv1alpha1.DNSClass) {
			edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.TimeoutSeconds = ptr.To[int32](3) })
		},
		"the key": func(w *world, _ *dnsv1alpha1.DNSClass) {
			edit(w, secret("key", ""), func(s *corev1.Secret) { s.Data[dnsv1alpha1.DefaultHMACKey] = []byte("right") })
		},
		"the key, after a restart": func(w *world, _ *dnsv1alpha1.DNSClass) {
			w.restart()
			w.settle()
			edit(w, secret("key", ""), func(s *corev1.Secret) { s.Data[dnsv1alpha1.DefaultHMACKey] = []byte("right") })
		},
		"the spec, while the operator was away": func(w *world, c *dnsv1alpha1.DNSClass) {
			w.now.stop()
			edit(w, c, func(c *dnsv1alpha1.DNSClass) { c.Spec.TimeoutSeconds = ptr.To[int32](3) })
			w.boot()
			w.settle()
		},
		"the Secret is gone, and the same there again": func(w *world, c *dnsv1alpha1.DNSClass) {
			w.remove(secret("key", ""))
			w.expectReady(c, metav1.ConditionFalse, dnsv1alpha1.ReasonSecretNotFound)
			w.create(secret("key", "wrong"))
		},
		"the Secret is gone, and there again": func(w *world, c *dnsv1alpha1.DNSClass) {
			w.remove(secret("key", ""))
			w.expectReady(c, metav1.ConditionFalse, dnsv1alpha1.ReasonSecretNotFound)
			w.create(secret("key", "right"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c, server := signing(class("main", serverURL), "key"), w.server(serverURL)
				if server.key = []byte("right"); !strings.Contains(name, "key") && !strings.HasSuffix(name, "there again") || strings.Contains(name, "same") {
					server.key = nil
				}
				w.create(secret("key", "wrong"), c)
				w.pass(time.Minute)
				before := server.count("health")
				change(w, c)
				w.expectReady(c, metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy)
				if got := server.count("health") - before; got != 1 {
					w.t.Errorf("%d checks, want 1", got)
				}
				edit(w, secret("key", ""), func(s *corev1.Secret) { s.Labels = map[string]string{"no": "change"} })
				if got := server.count("health") - before; got != 1 {
					w.t.Errorf("%d checks after a change without effect", got-1)
				}
			})
		})
	}
}

// TestSecretThatCannotBeReadIsTriedAgain at the interval: no event tells that a right was granted.
func TestSecretThatCannotBeReadIsTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := signing(class("main", serverURL), "key"), aRecord("web", "main", "192.0.2.1")
		w.breakReads(func(obj client.Object) error {
			if _, isSecret := obj.(*corev1.Secret); isSecret {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "key", nil)
			}
			return nil
		})
		w.create(secret("key", "s"), c, rec)
		w.expectReady(c, metav1.ConditionFalse, dnsv1alpha1.ReasonSecretNotFound)
		w.breakReads(nil)
		w.pass(10 * time.Minute)
		w.expectReady(c, metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy)
		w.expectReady(rec, metav1.ConditionTrue, dnsv1alpha1.ReasonRecordCreated)
	})
}

func TestInUseFinalizer(t *testing.T) {
	inWorld(t, func(w *world) {
		c, first, second := class("main", serverURL), aRecord("a", "main", "192.0.2.1"), named(aRecord("b", "main", "192.0.2.1"), "b")
		c.Finalizers = nil
		w.create(c, first, second)
		if w.exists(c); !controllerutil.ContainsFinalizer(c, dnsv1alpha1.DNSClassInUseFinalizer) {
			w.t.Fatal("the finalizer was not restored")
		}
		w.remove(c)
		w.remove(first)
		if !w.exists(c) {
			w.t.Fatal("gone while a record refers to it")
		}
		w.server(serverURL).set(func(s *fakeServer) { s.err = failing(unreachable(), "delete") })
		w.remove(second)
		if !w.exists(c) || !w.exists(second) {
			w.t.Fatal("gone while a record that is being deleted needs it")
		}
		w.server(serverURL).set(func(s *fakeServer) { s.err = nil })
		w.pass(10 * time.Second)
		if w.exists(second) || w.exists(c) {
			w.t.Errorf("record exists %v, class exists %v", w.exists(second), w.exists(c))
		}
		if len(w.events) != 0 {
			w.t.Errorf("events: %q", w.events)
		}
	})
}

// TestUserThatNoEventToldOf: the list is live, and repeated.
func TestUserThatNoEventToldOf(t *testing.T) {
	byHand(t, func(w *world, p *process) {
		c, rec := class("main", serverURL), aRecord("a", "main", "192.0.2.1")
		w.create(c, rec)
		w.remove(c)
		w.exists(c)
		result, err := p.classes.Reconcile(w.t.Context(), c)
		must(w.t, err)
		if !w.exists(c) || result.RequeueAfter <= 0 || result.RequeueAfter > settings.RetryMaxDelay {
			w.t.Fatalf("exists %v, again after %v", w.exists(c), result.RequeueAfter)
		}
		w.remove(rec)
		_, err = p.classes.Reconcile(w.t.Context(), c)
		must(w.t, err)
		if w.exists(c) {
			w.t.Error("still there without a user")
		}
	})
}

// TestClassesWithoutUsersGo at once, also those that make no sense.
func TestClassesWithoutUsersGo(t *testing.T) {
	for name, server := range map[string]string{"good": serverURL, "invalid": "nowhere"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := class("main", server)
				w.create(c, aRecord("a", "other", "192.0.2.1"))
				w.remove(c)
				if w.exists(c) {
					w.t.Error("still there")
				}
			})
		})
	}
}

func TestClassIsReleasedWhenTold(t *testing.T) {
	inWorld(t, func(w *world) {
		c, rec := class("main", serverURL), aRecord("web", "main", "192.0.2.1")
		w.create(c, rec)
		annotate(w, c)
		if !w.exists(c) || len(w.events) != 0 {
			w.t.Fatal("the annotation works on what is being deleted only")
		}
		w.remove(c)
		if w.exists(c) {
			w.t.Fatal("still there")
		}
		w.expectEvent("Warning LeftBehind Release main", dnsv1alpha1.ReleaseAnnotation)
		w.expectReady(rec, metav1.ConditionFalse, dnsv1alpha1.ReasonDNSClassNotFound)
	})
}

// TestForeignFinalizers: a class that waits for somebody else is left alone.
func TestForeignFinalizers(t *testing.T) {
	inWorld(t, func(w *world) {
		c := class("main", serverURL)
		c.Finalizers = append(c.Finalizers, "somebody.example.com/else")
		w.create(c)
		w.remove(c)
		if !w.exists(c) || len(c.Finalizers) != 1 {
			w.t.Fatalf("finalizers: %q", c.Finalizers)
		}
		writes := w.now.writes.Load()
		w.pass(time.Hour)
		if got := w.now.writes.Load() - writes; got != 0 {
			w.t.Errorf("%d writes", got)
		}
	})
}

// TestClockWasAhead: a health check that seems to lie in the future does not keep the next one from being made.
func TestClockWasAhead(t *testing.T) {
	inWorld(t, func(w *world) {
		c := class("main", serverURL)
		w.create(c)
		w.expectReady(c, metav1.ConditionTrue, dnsv1alpha1.ReasonServerHealthy)
		w.exists(c)
		c.Status.LastHealthCheck = &metav1.Time{Time: time.Now().Add(365 * 24 * time.Hour)}
		must(w.t, w.api.Status().Update(w.t.Context(), c))
		w.restart()
		before := w.server(serverURL).count("health")
		w.pass(24 * time.Hour)
		if got := w.server(serverURL).count("health") - before; got == 0 {
			w.t.Error("the server was not asked for a day")
		}
	})
}
