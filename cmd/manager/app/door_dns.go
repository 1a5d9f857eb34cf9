package app

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	dnscontroller "github.com/namegate/namegate/internal/controller/dns"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/refs/cached"
	"github.com/namegate/namegate/webhooks"
)

// dnsDoor is the front door of DNSClass and DNSRecord.
var dnsDoor = door{
	name: "dns",
	needs: []schema.GroupVersionKind{
		dnsv1alpha1.GroupVersion.WithKind("DNSClass"), dnsv1alpha1.GroupVersion.WithKind("DNSRecord"),
	},
	addToScheme: dnsv1alpha1.AddToScheme,
	open:        openDNS,
}

func openDNS(ctx context.Context, p *process) (func() bool, error) {
	store := claims.NewStore()
	feed := claims.NewDNSFeed(store)
	var fed atomic.Pointer[func() bool]
	if p.roles.Controllers {
		options := dnsControllerOptions(p, store, feed)
		options.Fed = func() bool { synced := fed.Load(); return synced != nil && (*synced)() }
		if err := dnscontroller.SetupWithManager(p.mgr, options); err != nil {
			return nil, err
		}
	}
	// The feed comes after the controllers: they add an index to the informers that it starts.
	synced, err := cached.FeedDNS(ctx, p.mgr.GetCache(), feed)
	if err != nil {
		return nil, err
	}
	fed.Store(&synced)
	if !p.roles.Gate {
		return synced, nil
	}
	source := &cached.Source{Cache: p.mgr.GetClient(), Live: p.mgr.GetAPIReader(), Creator: p.mgr.GetClient(), Store: store, Feed: feed,
		SecretNamespaces: setOf(p.cfg.SecretNamespaces)}
	return p.guard(synced, webhooks.SetupDNS, source)
}

func dnsControllerOptions(p *process, store *claims.Store, feed *claims.DNSFeed) dnscontroller.Options {
	return dnscontroller.Options{
		HealthCheckInterval: p.cfg.HealthCheckInterval,
		RetryBaseDelay:      p.cfg.RetryBaseDelay,
		RetryMaxDelay:       p.cfg.RetryMaxDelay,
		RetryMaxAttempts:    p.cfg.RetryMaxAttempts,
		ResyncInterval:      p.cfg.ResyncInterval,
		CallsPerServer:      p.cfg.CallsPerServer,
		OperatorNamespace:   p.cfg.OperatorNamespace,
		SecretNamespaces:    p.cfg.SecretNamespaces,
		WatchSecrets:        len(p.watched) > 0,
		Logger:              p.log,
		Dial:                dnscontroller.HTTP(httpdns.NewFactory(httpdns.Options{AllowProxy: p.cfg.UseProxy, UserAgent: p.cfg.userAgent()})),
		Store:               store,
		Feed:                feed,
	}
}

func setOf(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}
