package namegate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/fall"
	"k8s.io/apimachinery/pkg/util/validation"
)

// options are what a Corefile says.
type options struct {
	// origins are the names at or below which zones are served, in lower case and with the trailing dot.
	origins plugin.Zones
	// fall says for which names that do not exist in a zone the next plugin is asked.
	fall fall.F
	// watch says where Zones are read.
	watch watchOptions
	// where is the file and line that says so.
	where string
}

// watchOptions say which Zones of which cluster are read. Server blocks with the same share one watch.
type watchOptions struct {
	// kubeconfig is a path; empty: the cluster that this process runs in.
	kubeconfig string
	// context of the kubeconfig; empty: its current one.
	context string
	// namespaces, sorted; none: all.
	namespaces []string
}

// key tells watches apart.
func (o watchOptions) key() string {
	return strings.Join(append([]string{o.kubeconfig, o.context}, o.namespaces...), "\x00")
}

// parse reads the directive. Errors name file and line.
func parse(c *caddy.Controller) (options, error) {
	var o options
	for seen := false; c.Next(); seen = true {
		if seen {
			return o, plugin.ErrOnce
		}
		o.where = position(c)
		if err := o.parseOrigins(c); err != nil {
			return o, err
		}
		if err := o.parseBlock(c); err != nil {
			return o, err
		}
	}
	return o, nil
}

// position is the file and line that are being read, as errors of the Corefile name them.
func position(c *caddy.Controller) string { return fmt.Sprintf("%s:%d", c.File(), c.Line()) }

func (o *options) parseOrigins(c *caddy.Controller) error {
	args := c.RemainingArgs()
	for _, arg := range args {
		if len(plugin.Host(arg).NormalizeExact()) == 0 {
			return c.Errf("%q is no zone: give names such as example.org, or networks such as 192.0.2.0/24", arg)
		}
	}
	o.origins = plugin.OriginsFromArgsOrServerBlock(args, c.ServerBlockKeys)
	return nil
}

func (o *options) parseBlock(c *caddy.Controller) error {
	seen := map[string]bool{}
	for c.NextBlock() {
		name := c.Val()
		if seen[name] {
			return c.Errf("%s is given twice", name)
		}
		seen[name] = true
		if err := o.parseOption(c, name); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) parseOption(c *caddy.Controller, name string) error {
	args := c.RemainingArgs()
	switch name {
	case "kubeconfig":
		if len(args) == 0 || len(args) > 2 {
			return c.ArgErr()
		}
		o.watch.kubeconfig, o.where = args[0], position(c)
		if len(args) == 2 {
			o.watch.context = args[1]
		}
	case "namespaces":
		return o.parseNamespaces(c, args)
	case "fallthrough":
		o.fall.SetZonesFromArgs(args)
	default:
		return c.Errf("unknown option %q: there are kubeconfig, namespaces and fallthrough", name)
	}
	return nil
}

func (o *options) parseNamespaces(c *caddy.Controller, names []string) error {
	if len(names) == 0 {
		return c.ArgErr()
	}
	for _, name := range names {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return c.Errf("%q is no namespace: %s", name, problems[0])
		}
	}
	slices.Sort(names)
	o.watch.namespaces = slices.Compact(names)
	return nil
}
