// Package libdns keeps records at a DNS provider, through the interfaces of github.com/libdns/libdns. A provider is one small file
// that calls Register from an init function; rfc2136.go is one.
package libdns

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/libdns/libdns"
	"github.com/spf13/pflag"

	"github.com/namegate/namegate/internal/dnsname"
)

// Client is what the back end needs of a provider: the libdns interfaces, as their documentation describes them. SetRecords has to
// leave the records that it is given as the only ones of their name and type.
type Client interface {
	libdns.RecordGetter
	libdns.RecordSetter
	libdns.RecordDeleter
}

// Looker is a Client that can find one RRset without reading the whole zone. It returns no records where there is no RRset of
// exactly this name and type.
type Looker interface {
	LookupRecords(ctx context.Context, zone, name, typ string) ([]libdns.Record, error)
}

// Prober is a Client that can say whether it may change a zone without changing it. For any other, a zone is healthy when it can be read.
type Prober interface {
	Probe(ctx context.Context, zone string) error
}

// Provider is one way to reach a DNS provider.
type Provider struct {
	// Name is what the flag --backend is given.
	Name string
	// Flags adds the provider's own flags. Secrets are read from files, and never are flags.
	Flags func(*pflag.FlagSet)
	// Open makes the client once all flags are parsed. It does not use the network.
	Open func(zones []dnsname.Name) (Client, error)
}

var providers = map[string]Provider{}

// Register adds a provider. Names are unique.
func Register(p Provider) {
	if _, twice := providers[p.Name]; twice {
		panic(fmt.Sprintf("provider %s is registered twice", p.Name))
	}
	providers[p.Name] = p
}

// Providers returns every provider, by name.
func Providers() []Provider {
	all := make([]Provider, 0, len(providers))
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		all = append(all, providers[name])
	}
	return all
}
