package app

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/pflag"

	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/rules"
)

// Config is what an installation can set. Each field has an environment variable and a flag; the flag wins.
type Config struct {
	// Version is shown in logs and in the User-Agent.
	Version string `env:"-"`
	// LogTo is where the log goes; nil: standard error.
	LogTo io.Writer `env:"-"`

	WebhookHost    string `env:"WEBHOOK_HOST"`
	WebhookPort    int    `env:"WEBHOOK_PORT" envDefault:"9443" validate:"min=1,max=65535"`
	WebhookCertDir string `env:"WEBHOOK_CERT_DIR" envDefault:"/tmp/k8s-webhook-server/serving-certs" validate:"required"`

	MetricsAddress string `env:"METRICS_BIND_ADDRESS" envDefault:":8080"`
	HealthAddress  string `env:"HEALTH_PROBE_BIND_ADDRESS" envDefault:":8081"`
	LeaderElect    bool   `env:"LEADER_ELECT"`

	OperatorNamespace string   `env:"POD_NAMESPACE" envDefault:"namegate-system" validate:"namespace_name"`
	OperatorAccounts  []string `env:"OPERATOR_SERVICE_ACCOUNTS" envDefault:"namegate-controller,namegate" validate:"dive,object_name"`
	SecretNamespaces  []string `env:"SECRET_NAMESPACES" validate:"dive,namespace_name"`
	RuleSeverity      string   `env:"RULE_SEVERITY"`
	Doors             []string `env:"DOORS" envDefault:"dns,zones" validate:"min=1"`
	LogLevel          string   `env:"LOG_LEVEL" envDefault:"info" validate:"oneof=debug info warn error"`

	HealthCheckInterval time.Duration `env:"DNS_CLASS_HEALTH_CHECK_INTERVAL" envDefault:"10m" validate:"gt=0"`
	RetryBaseDelay      time.Duration `env:"DNS_RECORD_RETRY_BASE_DELAY" envDefault:"5s" validate:"gt=0"`
	RetryMaxDelay       time.Duration `env:"DNS_RECORD_RETRY_MAX_DELAY" envDefault:"60s" validate:"gt=0"`
	RetryMaxAttempts    int           `env:"DNS_RECORD_RETRY_MAX_ATTEMPTS" envDefault:"5" validate:"min=0,max=1000"`
	ResyncInterval      time.Duration `env:"DNS_RECORD_RESYNC_INTERVAL" envDefault:"10m" validate:"gt=0"`
	CallsPerServer      int           `env:"DNS_CALLS_PER_SERVER" envDefault:"4" validate:"min=1,max=100"`
	UseProxy            bool          `env:"DNS_USE_PROXY"`

	ZonePublishBurst    int           `env:"ZONE_PUBLISH_BURST" envDefault:"8" validate:"min=1,max=1000"`
	ZonePublishInterval time.Duration `env:"ZONE_PUBLISH_INTERVAL" envDefault:"2s" validate:"gt=0"`
}

// ConfigFromEnvironment reads the environment variables; what is not set has its default.
func ConfigFromEnvironment() (*Config, error) {
	cfg := &Config{}
	if err := env.Parse(cfg); err != nil {
		return cfg, fmt.Errorf("environment: %w", err)
	}
	return cfg, nil
}

func (c *Config) addFlags(flags *pflag.FlagSet, r Roles) {
	if r.Gate {
		flags.StringVar(&c.WebhookHost, "webhook-host", c.WebhookHost, "address that the webhook server listens on; empty: all [$WEBHOOK_HOST]")
		flags.IntVar(&c.WebhookPort, "webhook-port", c.WebhookPort, "port of the webhook server [$WEBHOOK_PORT]")
		flags.StringVar(&c.WebhookCertDir, "webhook-cert-dir", c.WebhookCertDir, "directory with tls.crt and tls.key, read again when they change [$WEBHOOK_CERT_DIR]")
		flags.StringSliceVar(&c.OperatorAccounts, "operator-service-accounts", c.OperatorAccounts, "ServiceAccounts in the operator's namespace that the controllers run as: they alone write the labels of Zones and Records [$OPERATOR_SERVICE_ACCOUNTS]")
		flags.StringVar(&c.RuleSeverity, "rule-severity", c.RuleSeverity, "severities of rules: rule-id=Deny|Warn|Off,… [$RULE_SEVERITY]")
	}
	if r.Controllers {
		flags.BoolVar(&c.LeaderElect, "leader-elect", c.LeaderElect, "let one of several replicas lead [$LEADER_ELECT]")
		flags.DurationVar(&c.HealthCheckInterval, "health-check-interval", c.HealthCheckInterval, "time between health checks of a DNSClass [$DNS_CLASS_HEALTH_CHECK_INTERVAL]")
		flags.DurationVar(&c.RetryBaseDelay, "retry-base-delay", c.RetryBaseDelay, "delay before the first retry of a record; it doubles with each [$DNS_RECORD_RETRY_BASE_DELAY]")
		flags.DurationVar(&c.RetryMaxDelay, "retry-max-delay", c.RetryMaxDelay, "longest delay between two retries [$DNS_RECORD_RETRY_MAX_DELAY]")
		flags.IntVar(&c.RetryMaxAttempts, "retry-max-attempts", c.RetryMaxAttempts, "retries before a record is in state Error and waits for the next health check [$DNS_RECORD_RETRY_MAX_ATTEMPTS]")
		flags.DurationVar(&c.ResyncInterval, "resync-interval", c.ResyncInterval, "time between two looks at what the server holds [$DNS_RECORD_RESYNC_INTERVAL]")
		flags.IntVar(&c.CallsPerServer, "calls-per-server", c.CallsPerServer, "requests that one DNS server gets at the same time [$DNS_CALLS_PER_SERVER]")
		flags.BoolVar(&c.UseProxy, "use-proxy", c.UseProxy, "reach DNS servers through the proxy that $HTTP_PROXY, $HTTPS_PROXY and $NO_PROXY name [$DNS_USE_PROXY]")
		flags.IntVar(&c.ZonePublishBurst, "zone-publish-burst", c.ZonePublishBurst, "changes of one zone that are published at once [$ZONE_PUBLISH_BURST]")
		flags.DurationVar(&c.ZonePublishInterval, "zone-publish-interval", c.ZonePublishInterval, "time between two publications of one zone after that [$ZONE_PUBLISH_INTERVAL]")
	}
	flags.StringVar(&c.MetricsAddress, "metrics-bind-address", c.MetricsAddress, "address of /metrics; 0: none [$METRICS_BIND_ADDRESS]")
	flags.StringVar(&c.HealthAddress, "health-probe-bind-address", c.HealthAddress, "address of /healthz and /readyz; 0: none [$HEALTH_PROBE_BIND_ADDRESS]")
	flags.StringVar(&c.OperatorNamespace, "operator-namespace", c.OperatorNamespace, "namespace that the operator runs in [$POD_NAMESPACE]")
	flags.StringSliceVar(&c.SecretNamespaces, "secret-namespaces", c.SecretNamespaces, "namespaces that a DNSClass may refer to Secrets in; default: the operator's own [$SECRET_NAMESPACES]")
	flags.StringSliceVar(&c.Doors, "doors", c.Doors, "front doors to open: "+strings.Join(doorNames(), ", ")+" [$DOORS]")
	flags.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error [$LOG_LEVEL]")
}

// validate checks the whole configuration and completes what depends on another field.
func (c *Config) validate() (rules.Policy, error) {
	if err := format.Struct(c); err != nil {
		return rules.Policy{}, fmt.Errorf("configuration: %w", err)
	}
	if err := knownDoors(c.Doors); err != nil {
		return rules.Policy{}, fmt.Errorf("configuration: %w", err)
	}
	if len(c.SecretNamespaces) == 0 {
		c.SecretNamespaces = []string{c.OperatorNamespace}
	}
	policy, err := rules.ParsePolicy(c.RuleSeverity)
	if err != nil {
		return rules.Policy{}, fmt.Errorf("configuration: %w", err)
	}
	return policy, nil
}

func (c *Config) level() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(c.LogLevel))); err != nil {
		return slog.LevelInfo
	}
	return level
}

func (c *Config) userAgent() string { return "namegate/" + c.Version }
