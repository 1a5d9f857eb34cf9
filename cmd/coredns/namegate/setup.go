// Package namegate is a plugin of CoreDNS that answers for the Zones of a Kubernetes cluster. It watches Zones and ZoneSlices, makes a
// zone of them in memory whenever one changed, and hands zones to secondaries through the plugin transfer.
package namegate

import (
	"fmt"
	"sync"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/coredns/coredns/plugin/transfer"
)

// Name of the plugin and of its directive.
const Name = "namegate"

var log = clog.NewWithPlugin(Name)

func init() {
	plugin.Register(Name, setup)
	caddy.RegisterEventHook(Name, func(event caddy.EventName, _ any) error {
		if event == caddy.InstanceStartupEvent {
			feeds.started()
		}
		return nil
	})
}

// Namegate is the plugin in one server block.
type Namegate struct {
	// Next plugin; nil: none.
	Next plugin.Handler

	options
	feed *feed
	// transfer is the plugin that sends NOTIFY; nil: none.
	transfer *transfer.Transfer
	notifier *pacer
	// again counts, by zone, how many times NOTIFY has failed.
	again sync.Map
	// signed says that answers are signed here.
	signed  bool
	stopped sync.Once
}

func setup(c *caddy.Controller) error {
	opts, err := parse(c)
	if err != nil {
		return plugin.Error(Name, err)
	}
	n := &Namegate{options: opts}
	config := dnsserver.GetConfig(c)
	config.AddPlugin(func(next plugin.Handler) plugin.Handler {
		n.Next = next
		return n
	})
	c.OnStartup(func() error {
		n.look(config)
		return n.start()
	})
	c.OnRestartFailed(func() error {
		feeds.failed(n)
		return nil
	})
	c.OnShutdown(func() error {
		n.stop()
		return nil
	})
	return nil
}

// look finds out which other plugins are in the server block.
func (n *Namegate) look(config *dnsserver.Config) {
	n.signed = config.Handler("dnssec") != nil
	n.transfer, _ = config.Handler("transfer").(*transfer.Transfer)
	if n.signed && n.transfer != nil {
		log.Warningf("Zones of %v are not transferred, because dnssec signs answers in the same server block, and such signatures cannot be transferred", n.origins)
	}
	if config.Handler("cache") != nil {
		log.Warningf("Answers for %v are as old as the plugin cache in the same server block lets them be: give zones a server block without it", n.origins)
	}
}

// firstSync bounds how long a start waits for the first list and its zones.
var firstSync = 5 * time.Second

// start joins the watch. It waits a little for the first zones, so that a reload with another watch has answers from the start: until then
// the server blocks from before the reload answer.
func (n *Namegate) start() error {
	n.notifier = newNotifier(n)
	f, err := feeds.acquire(n.watch, n)
	if err != nil {
		return plugin.Error(Name, fmt.Errorf("%s: %w", n.where, err))
	}
	n.feed = f
	timer := time.NewTimer(firstSync)
	defer timer.Stop()
	select {
	case <-f.whole:
	case <-timer.C:
		log.Warningf("Not all Zones are there after %s; going on, and answering once they are", firstSync)
	}
	for _, origin := range f.keeper.all() {
		n.notify(origin)
	}
	return nil
}

// stop leaves the watch. The feed stays, because questions that came before are answered meanwhile.
func (n *Namegate) stop() {
	if n.feed == nil {
		return
	}
	n.stopped.Do(func() {
		feeds.release(n.watch, n)
		n.notifier.stop()
	})
}
