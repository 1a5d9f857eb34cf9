package dns

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/api/meta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/provider/httpdns"
)

// TestSetupWithManager adds the controllers to a manager that never starts: that they run is seen on a real API server.
func TestSetupWithManager(t *testing.T) {
	scheme := kruntime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme), dnsv1alpha1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller:     config.Controller{SkipNameValidation: ptr.To(true)}, // the names are unique in a process, and tests can run twice in one
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }})
	must(t, err)
	store := claims.NewStore()
	o := settings
	o.Logger, o.Dial, o.Store, o.Feed = slog.New(slog.DiscardHandler), HTTP(httpdns.NewFactory(httpdns.Options{})), store, claims.NewDNSFeed(store)
	must(t, SetupWithManager(mgr, o))
	if err := SetupWithManager(mgr, o); err == nil {
		t.Error("set up twice")
	}
}

// TestManagerWaitsForCallsInFlight, and so keeps its lease until they have ended.
func TestManagerWaitsForCallsInFlight(t *testing.T) {
	inLanes(t, 1, func(b *bench) {
		gate := make(chan struct{})
		b.Do(ticket("s", "a", "1"), func(context.Context) Outcome { <-gate; return Outcome{} }) // does not listen
		synctest.Wait()
		ctx, cancel := context.WithCancel(b.t.Context())
		over := false
		go func() {
			over = ends(b.Lanes)(ctx) == nil
		}()
		cancel()
		b.cancel()
		synctest.Wait()
		if over {
			b.t.Error("over while a call is in flight")
		}
		close(gate)
		synctest.Wait()
		if !over {
			b.t.Error("not over although no call is in flight")
		}
	})
}
