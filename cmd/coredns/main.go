// Command coredns is CoreDNS with the plugin namegate, which answers for the Zones of a cluster, and with the plugins that the
// Corefile of a cluster needs.
package main

import (
	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

// version is set at build time.
var version = "dev"

func main() {
	dnsserver.Directives = directives(dnsserver.Directives)
	caddy.AppName, caddy.AppVersion = "Namegate", version+" (CoreDNS "+coremain.CoreVersion+")"
	coremain.Run()
}
