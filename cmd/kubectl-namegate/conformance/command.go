// Package conformance checks a DNS server against the DNS server webhook protocol, from outside: it needs nothing but the URL, and the
// shared secret where requests are signed. docs/dns-server-guide.md lists the requirements that it refers to.
package conformance

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
)

// ErrChecksFailed is the error of the command when the checks ran and one of them failed.
var ErrChecksFailed = errors.New("the server does not conform")

// Exit codes of the command.
const (
	exitFailed   = 1
	exitNotRun   = 2
	exitConforms = 0
)

// ExitCode returns the exit code for what the command returned: 0 where all checks passed, 1 where one failed, 2 where they could not be run.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return exitConforms
	case errors.Is(err, ErrChecksFailed):
		return exitFailed
	}
	return exitNotRun
}

// flags of the command.
type flags struct {
	server, secretFile, algorithm, domain, output, caFile string
	timeout                                               time.Duration
}

// Command returns "conformance". Its error is to be turned into an exit code by ExitCode; it prints the report itself.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "conformance --server URL",
		Short: "Check a DNS server against the DNS server webhook protocol",
		Long: `Checks a DNS server against the protocol that a DNSClass speaks, and prints a line for
each check: what the protocol asks for, what the server did, and the requirement in
docs/dns-server-guide.md.

It creates, changes and deletes records with random names below --domain, and removes all
that it created. Use a domain that nobody needs: the record at the domain itself (@) is only
touched if there is none.

Without --secret-file, the checks of signatures are skipped.

Exit code 0: all checks passed. 1: a check failed. 2: the checks could not be run.`,
		Example: `  kubectl namegate conformance --server http://127.0.0.1:7100
  kubectl namegate conformance --server https://dns.example.com/base --secret-file secret -o json`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd)
		},
	}
	cmd.Flags().StringVar(&f.server, "server", "", "`URL` of the server, as in the spec of a DNSClass")
	cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "`file` whose bytes, a newline at the end included, are the shared secret")
	cmd.Flags().StringVar(&f.algorithm, "algorithm", string(v1.SHA256), "`hash` of the signatures: SHA256 or SHA512")
	cmd.Flags().StringVar(&f.domain, "domain", DefaultDomain, "`domain` below which records are created")
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "`form` of the report: text or json")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "`file` with the certificates, in PEM, that an https server is trusted by; the system's if not given")
	cmd.Flags().DurationVar(&f.timeout, "timeout", DefaultTimeout, "`time` that the server has for each request")
	return cmd
}

func (f *flags) run(cmd *cobra.Command) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	asJSON := f.output == "json"
	if !asJSON {
		options.OnResult = func(r Result) { printResult(out, r) }
	}
	report, err := Run(cmd.Context(), options)
	if asJSON && len(report.Results) > 0 {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = errors.Join(err, e.Encode(report))
	}
	if err != nil {
		return err
	}
	if !asJSON {
		_, _ = fmt.Fprintf(out, "%d checks: %d passed, %d failed, %d skipped\n",
			len(report.Results), report.Passed, report.Failed, report.Skipped)
	}
	if report.Failed > 0 {
		return ErrChecksFailed
	}
	return nil
}

// options reads the flags. Its errors hold nothing of a secret.
func (f *flags) options() (Options, error) {
	if f.output != "text" && f.output != "json" {
		return Options{}, errors.New("--output: give text or json")
	}
	if f.timeout <= 0 {
		return Options{}, errors.New("--timeout: give a time above 0")
	}
	server, err := endpoint.Parse(f.server)
	if err != nil {
		return Options{}, fmt.Errorf("--server: %w", err)
	}
	domain, err := dnsname.Parse(f.domain)
	if err != nil {
		return Options{}, fmt.Errorf("--domain: %w", err)
	}
	options := Options{Server: server, Domain: domain, Algorithm: v1.Algorithm(f.algorithm), Timeout: f.timeout}
	if !options.Algorithm.Known() {
		return Options{}, errors.New("--algorithm: give SHA256 or SHA512")
	}
	if f.secretFile != "" {
		if options.Secret, err = os.ReadFile(f.secretFile); err != nil {
			return Options{}, fmt.Errorf("--secret-file: %w", err)
		}
		if len(options.Secret) == 0 {
			return Options{}, errors.New("--secret-file: the file is empty")
		}
	}
	if f.caFile != "" {
		if options.Roots, err = roots(f.caFile); err != nil {
			return Options{}, fmt.Errorf("--ca-file: %w", err)
		}
	}
	return options, nil
}

// roots reads certificates.
func roots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("the file holds no certificate in PEM")
	}
	return pool, nil
}

func printResult(out io.Writer, r Result) {
	_, _ = fmt.Fprintf(out, "%-4s  %-26s %-3s expected: %s; got: %s\n", r.Status, r.Name, r.Requirement, r.Expected, r.Got)
}
