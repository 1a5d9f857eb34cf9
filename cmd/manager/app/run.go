package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Run starts a process with its roles against a cluster and stays until the context ends.
func Run(ctx context.Context, cluster *rest.Config, cfg *Config, r Roles) error {
	policy, err := cfg.validate()
	if err != nil {
		return err
	}
	log := newLogger(cfg)
	var watched []string
	if r.Controllers {
		if watched, err = watchableSecrets(ctx, cluster, cfg.SecretNamespaces, log); err != nil {
			return err
		}
	}
	mgr, err := newManager(cluster, cfg, r, watched, log)
	if err != nil {
		return err
	}
	p := &process{cfg: cfg, watched: watched, roles: r, policy: policy, mgr: mgr, log: log}
	if err := p.addProbes(); err != nil {
		return err
	}
	if err := openDoors(ctx, p); err != nil {
		return err
	}
	log.Info("starting", "version", cfg.Version, "gate", r.Gate, "controllers", r.Controllers, "doors", cfg.Doors)
	return mgr.Start(ctx)
}

// newLogger logs JSON, one event a line.
func newLogger(cfg *Config) *slog.Logger {
	to := cfg.LogTo
	if to == nil {
		to = os.Stderr
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: cfg.level()}))
}

// logLibraries sends what libraries log the same way. It is a setting of the whole process.
func logLibraries(log *slog.Logger) {
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
}

func newManager(cluster *rest.Config, cfg *Config, r Roles, watched []string, log *slog.Logger) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cluster = rest.CopyConfig(cluster)
	cluster.UserAgent = cfg.userAgent()
	options := ctrl.Options{
		Scheme:                        scheme,
		Logger:                        logr.FromSlogHandler(log.Handler()),
		Cache:                         cacheOptions(r, watched, log),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics:                       metricsserver.Options{BindAddress: cfg.MetricsAddress},
		HealthProbeBindAddress:        cfg.HealthAddress,
		LeaderElection:                r.Controllers && cfg.LeaderElect,
		LeaderElectionID:              "controller.namegate.dev",
		LeaderElectionNamespace:       cfg.OperatorNamespace,
		LeaderElectionReleaseOnCancel: true,
		// Tests run one manager after another in one process.
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	}
	if r.Gate {
		options.WebhookServer = webhook.NewServer(webhook.Options{Host: cfg.WebhookHost, Port: cfg.WebhookPort, CertDir: cfg.WebhookCertDir})
	}
	mgr, err := ctrl.NewManager(cluster, options)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	return mgr, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	add := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}
	for _, d := range allDoors() {
		add = append(add, d.addToScheme)
	}
	for _, f := range add {
		if err := f(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// addProbes adds /healthz and /readyz. A process is ready when what it answers from is there: the webhook's certificate
// and socket, and the caches and stores of every open door.
func (p *process) addProbes() error {
	if err := p.mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := p.mgr.AddReadyzCheck("doors", p.doorsReady); err != nil {
		return err
	}
	if p.roles.Gate {
		return p.mgr.AddReadyzCheck("webhook", p.mgr.GetWebhookServer().StartedChecker())
	}
	return nil
}
