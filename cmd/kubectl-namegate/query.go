package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/rules"
)

// question is what query asks.
type question struct {
	name    dnsname.Name
	rrtype  uint16
	server  string
	tcp     bool
	timeout time.Duration
}

func newQueryCommand() *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "query NAME [TYPE] --server HOST:PORT",
		Short: "Ask a DNS server for a name",
		Long: `Asks one DNS server for the records of a name, over UDP first and over TCP where the answer does not
fit, and prints the value of each record of the answer on a line. TYPE is A if it is not given.

Exit code 0: there are records. 1: there are none; NXDOMAIN is printed if there is no such name at all, NODATA if it
has no record of this type. 2: the server could not be asked, or could not answer.`,
		Example: `  kubectl namegate query www.example.com --server 127.0.0.1:5353
  kubectl namegate query example.com MX --server 127.0.0.1:5353 --tcp`,
		Args: arguments(1, 2, "a name, and a type if it is not A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.parse(args); err != nil {
				return err
			}
			return q.ask(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&q.server, "server", "", "`address` of the server, HOST:PORT; the port is 53 if left out")
	cmd.Flags().BoolVar(&q.tcp, "tcp", false, "ask over TCP only")
	cmd.Flags().DurationVar(&q.timeout, "timeout", 2*time.Second, "`time` that the server has for each of 3 attempts")
	return cmd
}

func (q *question) parse(args []string) (err error) {
	if q.name, err = dnsname.ParseOwner(args[0]); err != nil {
		return fmt.Errorf("name %q: %w", rules.Clip(args[0]), err)
	}
	typeName := "A"
	if len(args) > 1 {
		typeName = strings.ToUpper(args[1])
	}
	if q.rrtype = dns.StringToType[typeName]; q.rrtype == dns.TypeNone || isMeta(q.rrtype) {
		return fmt.Errorf("type %q: give the type of a record, such as A, AAAA, CNAME, TXT, MX, SRV or NS", rules.Clip(args[1]))
	}
	if q.server, err = withPort(q.server); err != nil {
		return err
	}
	if q.timeout <= 0 {
		return errors.New("--timeout: give a time above 0")
	}
	return nil
}

// isMeta says whether a type is one of questions and transfers, which no record has (RFC 6895 section 3.1).
func isMeta(rrtype uint16) bool { return rrtype == dns.TypeOPT || rrtype >= 128 && rrtype <= 255 }

func withPort(server string) (string, error) {
	if server == "" {
		return "", errors.New("--server: give the address of a DNS server, such as 127.0.0.1:5353")
	}
	if host, port, err := net.SplitHostPort(server); err == nil && host != "" && port != "" {
		return server, nil
	}
	host := strings.TrimSuffix(strings.TrimPrefix(server, "["), "]")
	if net.ParseIP(host) == nil && strings.ContainsAny(host, ":[]") {
		return "", fmt.Errorf("--server %q: give HOST:PORT, with brackets around an IPv6 address", rules.Clip(server))
	}
	return net.JoinHostPort(host, "53"), nil
}

// ask asks and prints the answer.
func (q *question) ask(ctx context.Context, w io.Writer) error {
	answer, err := q.exchange(ctx)
	if err != nil {
		return fmt.Errorf("ask %s: %w", q.server, err)
	}
	switch {
	case answer.Rcode == dns.RcodeNameError:
		return negative(w, "NXDOMAIN")
	case answer.Rcode != dns.RcodeSuccess:
		return fmt.Errorf("ask %s: the server answers %s", q.server, rcodeName(answer.Rcode))
	case len(answer.Answer) == 0:
		return negative(w, "NODATA")
	}
	for _, rr := range answer.Answer {
		if _, err := fmt.Fprintln(w, strings.TrimPrefix(rr.String(), rr.Header().String())); err != nil {
			return err
		}
	}
	return nil
}

func negative(w io.Writer, word string) error {
	if _, err := fmt.Fprintln(w, word); err != nil {
		return err
	}
	return errNegative
}

func rcodeName(rcode int) string {
	if name, known := dns.RcodeToString[rcode]; known {
		return name
	}
	return fmt.Sprintf("code %d", rcode)
}

// Attempts over UDP, which may lose a packet, and the size of its answers that passes everywhere (DNS flag day 2020).
const (
	attempts   = 3
	maxUDPSize = 1232
)

func (q *question) exchange(ctx context.Context) (*dns.Msg, error) {
	msg := new(dns.Msg)
	msg.SetQuestion(q.name.FQDN(), q.rrtype)
	msg.SetEdns0(maxUDPSize, false)
	overTCP := &dns.Client{Net: "tcp", Timeout: q.timeout}
	if q.tcp {
		answer, _, err := overTCP.ExchangeContext(ctx, msg, q.server)
		return answer, err
	}
	overUDP := &dns.Client{Net: "udp", Timeout: q.timeout, UDPSize: maxUDPSize}
	answer, _, err := overUDP.ExchangeContext(ctx, msg, q.server)
	for range attempts - 1 {
		if !isTimeout(err) {
			break
		}
		answer, _, err = overUDP.ExchangeContext(ctx, msg, q.server)
	}
	if err == nil && answer.Truncated {
		answer, _, err = overTCP.ExchangeContext(ctx, msg, q.server)
	}
	return answer, err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
