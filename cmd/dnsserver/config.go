package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns"
	"github.com/namegate/namegate/cmd/dnsserver/server"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
)

// memoryBackend is the --backend that needs no provider.
const memoryBackend = "memory"

// config is what flags and environment say.
type config struct {
	listen, basePath             string
	tlsCert, tlsKey              string
	secretFile, algorithm        string
	backend                      string
	zones                        []string
	dnsListen, data              string
	maxRecords                   int
	rate                         float64
	burst                        int
	readTimeout, writeTimeout    time.Duration
	idleTimeout, shutdownTimeout time.Duration
	backendTimeout               time.Duration
	logLevel                     slog.Level
}

// envPrefix of the environment variable that each flag has besides.
const envPrefix = "DNSSERVER_"

// command returns the program as a cobra command.
func command() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "dnsserver",
		Short: "Reference server of the DNS server webhook protocol of Namegate",
		Long: `dnsserver takes records over HTTP (GET /health, POST /records, GET and DELETE
/records/{type}/{domain}/{subdomain}) and publishes them.

With --backend memory it keeps them itself, in a file if --data names one, and answers DNS
about them over UDP and TCP. The other back ends pass them on to a DNS provider.

Each flag can be given as an environment variable too: --max-records is ` + envPrefix + `MAX_RECORDS.
A flag wins over its variable. Secrets are read from files only.

It logs JSON to standard error, one line with msg "ready" once it can be used, and stops on
SIGTERM and SIGINT after it has answered what is under way.`,
		Example: `  # Keep records in a file and answer DNS on port 1054; requests are signed.
  dnsserver --secret-file secret --data records.json

  # Pass them on to BIND.
  dnsserver --secret-file secret --backend rfc2136 --zone example.com \
    --rfc2136-server 127.0.0.1:53 --tsig-key-name namegate --tsig-secret-file tsig-secret`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := c.check(cmd.Flags()); err != nil {
				return err
			}
			log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: c.logLevel}))
			return serve(cmd.Context(), c, log)
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (c *config) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	names := []string{memoryBackend}
	for _, p := range libdns.Providers() {
		names = append(names, p.Name)
	}
	f.StringVar(&c.listen, "listen", "127.0.0.1:7100", "`host:port` for HTTP; port 0 takes a free one")
	f.StringVar(&c.basePath, "base-path", "", "`path` that the protocol's paths are below, such as /dns/v1")
	f.StringVar(&c.tlsCert, "tls-cert-file", "", "`file` with the certificate chain in PEM; with --tls-key-file, HTTPS is served")
	f.StringVar(&c.tlsKey, "tls-key-file", "", "`file` with the private key in PEM")
	f.StringVar(&c.secretFile, "secret-file", "", "`file` whose bytes, a newline at the end included, are the shared secret; without it, requests are not signed")
	f.StringVar(&c.algorithm, "algorithm", string(v1.SHA256), "`hash` of the signatures: SHA256 or SHA512")
	f.StringVar(&c.backend, "backend", memoryBackend, "`where` the records are kept: "+strings.Join(names, ", "))
	f.StringSliceVar(&c.zones, "zone", nil, "`domain` of a zone that this server holds, repeatable; records in no zone are refused. memory: without any, each record's domain is a zone")
	f.StringVar(&c.dnsListen, "dns-listen", "127.0.0.1:1054", "memory: `host:port` for DNS over UDP and TCP; empty for none, port 0 takes a free one")
	f.StringVar(&c.data, "data", "", "memory: JSON `file` that keeps the records over a restart; without it they are lost")
	f.IntVar(&c.maxRecords, "max-records", 100_000, "memory: `number` of records that there may be; 0 for any number")
	f.Float64Var(&c.rate, "rate-limit", 300, "requests each second, on average, that are served; 0 for any `number`")
	f.IntVar(&c.burst, "rate-burst", 1000, "`number` of requests that are served at once within --rate-limit")
	f.DurationVar(&c.readTimeout, "read-timeout", 10*time.Second, "`time` that a client has to send a request")
	f.DurationVar(&c.writeTimeout, "write-timeout", 30*time.Second, "`time` from the end of a request's header to the end of its answer")
	f.DurationVar(&c.idleTimeout, "idle-timeout", time.Minute, "`time` that a connection may stay open between requests")
	f.DurationVar(&c.backendTimeout, "backend-timeout", server.DefaultTimeout, "`time` that the back end has for one request")
	f.DurationVar(&c.shutdownTimeout, "shutdown-timeout", 10*time.Second, "`time` that requests under way have to finish after SIGTERM")
	f.TextVar(&c.logLevel, "log-level", slog.LevelInfo, "`level` from which on lines are logged: DEBUG, INFO, WARN or ERROR")
	for _, p := range libdns.Providers() {
		p.Flags(f)
	}
}

// fromEnvironment sets the flags that were not given from their environment variables.
func fromEnvironment(f *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failed error
	f.VisitAll(func(flag *pflag.Flag) {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, set := lookup(name)
		if !set || flag.Changed || failed != nil {
			return
		}
		if err := f.Set(flag.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s: %w", name, err)
		}
	})
	return failed
}

// memoryOnly are the flags that mean nothing to any other back end.
var memoryOnly = []string{"dns-listen", "data", "max-records"}

// check refuses what cannot be meant.
func (c *config) check(f *pflag.FlagSet) error {
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return fmt.Errorf("give both --tls-cert-file and --tls-key-file, or neither")
	}
	if !v1.Algorithm(c.algorithm).Known() {
		return fmt.Errorf("--algorithm: give SHA256 or SHA512")
	}
	for name, d := range map[string]time.Duration{"read-timeout": c.readTimeout, "write-timeout": c.writeTimeout, "idle-timeout": c.idleTimeout,
		"backend-timeout": c.backendTimeout, "shutdown-timeout": c.shutdownTimeout} {
		if d <= 0 {
			return fmt.Errorf("--%s: give a time above 0", name)
		}
	}
	if c.rate < 0 || c.burst < 0 || c.maxRecords < 0 {
		return fmt.Errorf("--rate-limit, --rate-burst, --max-records: give 0 or more")
	}
	if c.backend == memoryBackend {
		return nil
	}
	for _, name := range memoryOnly {
		if f.Changed(name) {
			return fmt.Errorf("--%s: only --backend %s has it", name, memoryBackend)
		}
	}
	return nil
}

// parsedZones returns the zones in canonical form.
func (c *config) parsedZones() ([]dnsname.Name, error) {
	var zones []dnsname.Name
	for _, text := range c.zones {
		zone, err := dnsname.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--zone: %w", err)
		}
		zones = append(zones, zone)
	}
	return zones, nil
}

// base returns the base path as it stands in a request: it keeps the rules of the URL in a DNSClass.
func (c *config) base() (string, error) {
	if c.basePath == "" {
		return "", nil
	}
	if !strings.HasPrefix(c.basePath, "/") {
		return "", fmt.Errorf("--base-path: start it with /")
	}
	whole, err := endpoint.Parse("http://host.invalid" + c.basePath)
	if err != nil {
		return "", fmt.Errorf("--base-path: %w", err)
	}
	return whole.Base().EscapedPath(), nil
}
