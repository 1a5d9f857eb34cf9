package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/webhooks"
)

// allDoors lists every front door. A new one plugs in here.
func allDoors() []door { return []door{dnsDoor, zoneDoor} }

func doorNames() []string {
	var names []string
	for _, d := range allDoors() {
		names = append(names, d.name)
	}
	return names
}

func knownDoors(names []string) error {
	for _, name := range names {
		if !slices.Contains(doorNames(), name) {
			return fmt.Errorf("DOORS: there is no front door %q; give some of %s", name, strings.Join(doorNames(), ", "))
		}
	}
	return nil
}

// door is one front door: a group of kinds, their gate and their controllers.
type door struct {
	name string
	// needs lists the kinds that have to be served before the door can open, foreign ones included.
	needs       []schema.GroupVersionKind
	addToScheme func(*runtime.Scheme) error
	// open starts the door's watches, webhooks and controllers. The function that it returns says whether everything
	// that the gate answers from is there.
	open func(context.Context, *process) (ready func() bool, err error)
}

// process is one running namegate.
type process struct {
	cfg *Config
	// watched are the namespaces whose Secrets the controllers watch.
	watched []string
	roles   Roles
	policy  rules.Policy
	mgr     ctrl.Manager
	log     *slog.Logger

	mu    sync.Mutex
	ready map[string]func() bool
}

// discoveryInterval is the time between two looks for a missing CRD.
const discoveryInterval = 5 * time.Second

// openDoors opens the configured doors whose kinds are served, and lets the others wait for theirs: one missing CRD never
// stops another door.
func openDoors(ctx context.Context, p *process) error {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(p.mgr.GetConfig(), p.mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("prepare discovery: %w", err)
	}
	for _, d := range allDoors() {
		if !slices.Contains(p.cfg.Doors, d.name) {
			continue
		}
		missing, err := missingKinds(client, d.needs)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			if err := p.open(ctx, d); err != nil {
				return err
			}
			continue
		}
		p.log.Warn("a front door waits for its CRDs", "door", d.name, "missing", missing)
		if err := p.mgr.Add(background(func(ctx context.Context) error { return p.openLater(ctx, client, d) })); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) openLater(ctx context.Context, client discovery.DiscoveryInterface, d door) error {
	err := wait.PollUntilContextCancel(ctx, discoveryInterval, false, func(context.Context) (bool, error) {
		missing, err := missingKinds(client, d.needs)
		if err != nil {
			p.log.Warn("cannot look for the CRDs of a front door", "door", d.name, "error", err)
		}
		return err == nil && len(missing) == 0, nil
	})
	if err != nil {
		return nil //nolint:nilerr // The process is stopping.
	}
	return p.open(ctx, d)
}

func (p *process) open(ctx context.Context, d door) error {
	ready, err := d.open(ctx, p)
	if err != nil {
		return fmt.Errorf("open the front door %s: %w", d.name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready == nil {
		p.ready = map[string]func() bool{}
	}
	p.ready[d.name] = ready
	p.log.Info("front door open", "door", d.name)
	return nil
}

// doorsReady is the readiness check of the doors that are open.
func (p *process) doorsReady(*http.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var waiting []error
	for name, ready := range p.ready {
		if !ready() {
			waiting = append(waiting, fmt.Errorf("front door %s: caches are not in sync yet", name))
		}
	}
	return errors.Join(waiting...)
}

// missingKinds returns those of the kinds that the API server does not serve.
func missingKinds(client discovery.DiscoveryInterface, kinds []schema.GroupVersionKind) ([]string, error) {
	var missing []string
	for _, kind := range kinds {
		served, err := client.ServerResourcesForGroupVersion(kind.GroupVersion().String())
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("ask which kinds the cluster serves: %w", err)
		}
		found := false
		if err == nil {
			for _, r := range served.APIResources {
				found = found || r.Kind == kind.Kind
			}
		}
		if !found {
			missing = append(missing, kind.String())
		}
	}
	return missing, nil
}

// guard registers the webhooks of a door once what they judge by is known: a gate that does not know it yet would let a name be
// taken twice. Until then the API server gets no answer, which refuses.
func (p *process) guard(synced func() bool, setup func(ctrl.Manager, *webhooks.Gate) error, source refs.Source) (func() bool, error) {
	gate := &webhooks.Gate{
		Source:            source,
		Policy:            p.policy,
		OperatorNamespace: p.cfg.OperatorNamespace,
		SecretNamespaces:  p.cfg.SecretNamespaces,
		OperatorAccounts:  p.cfg.OperatorAccounts,
	}
	var guarding atomic.Bool
	err := p.mgr.Add(background(func(ctx context.Context) error {
		started := p.mgr.GetWebhookServer().StartedChecker()
		if err := waitFor(ctx, func() bool { return synced() && started(nil) == nil }); err != nil {
			return nil //nolint:nilerr // The process is stopping.
		}
		if err := setup(p.mgr, gate); err != nil {
			return err
		}
		guarding.Store(true)
		return nil
	}))
	return guarding.Load, err
}

const syncPoll = 50 * time.Millisecond

func waitFor(ctx context.Context, done func() bool) error {
	return wait.PollUntilContextCancel(ctx, syncPoll, true, func(context.Context) (bool, error) { return done(), nil })
}

// background is a runnable that runs on every replica, whoever leads.
type background func(context.Context) error

// Start implements manager.Runnable.
func (f background) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (background) NeedLeaderElection() bool { return false }
