package conformance

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
)

// Defaults of Options.
const (
	// DefaultDomain can never be anybody's: the top-level domain test is reserved (RFC 6761).
	DefaultDomain  = "conformance.test"
	DefaultTimeout = 10 * time.Second
)

// Options of a run.
type Options struct {
	// Server to check.
	Server endpoint.URL
	// Secret that requests are signed with, as its bytes are; none where they are not signed.
	Secret []byte
	// Algorithm of the signatures.
	Algorithm v1.Algorithm
	// Domain below which records are created.
	Domain dnsname.Name
	// Timeout of each request.
	Timeout time.Duration
	// Roots that an https server is trusted by; nil for the system's.
	Roots *x509.CertPool
	// OnResult is called with each result as soon as it is there; nil for nobody.
	OnResult func(Result)
}

// Status of a check.
type Status string

// What a check can end in.
const (
	Pass Status = "PASS"
	Fail Status = "FAIL"
	// Skip says that the check was not made, and Got says why.
	Skip Status = "SKIP"
)

// Result of one check.
type Result struct {
	// Name is stable and unique.
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Requirement is its number in docs/dns-server-guide.md.
	Requirement string `json:"requirement"`
	Expected    string `json:"expected"`
	// Got holds nothing that the server wrote but error codes of the protocol, and values within quotes.
	Got string `json:"got"`
}

// Report of a run.
type Report struct {
	Server  string   `json:"server"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Skipped int      `json:"skipped"`
	Results []Result `json:"results"`
}

func (r *Report) add(result Result) {
	r.Results = append(r.Results, result)
	switch result.Status {
	case Pass:
		r.Passed++
	case Fail:
		r.Failed++
	case Skip:
		r.Skipped++
	}
}

// outcome is what a check found.
type outcome struct {
	status Status
	got    string
}

func passed(got string) outcome  { return outcome{Pass, got} }
func failed(got string) outcome  { return outcome{Fail, got} }
func skipped(why string) outcome { return outcome{Skip, why} }

// check is one thing that the protocol asks for.
type check struct {
	name, requirement, expected string
	run                         func(ctx context.Context, s *session) outcome
}

// The ways in which checks cannot be run.
var (
	errNeedsSecret = errors.New("the server wants signed requests (401): give --secret-file")
	errUnreachable = errors.New("the server cannot be reached")
)

// cleanupTime is how long the removal of what was created may take, also after the run was stopped.
const cleanupTime = 30 * time.Second

// Run makes every check and removes what was created. The error says why the checks could not be run; the report then holds
// what there was until then.
func Run(ctx context.Context, options Options) (Report, error) {
	report := Report{Server: options.Server.String()}
	add := func(r Result) {
		report.add(r)
		if options.OnResult != nil {
			options.OnResult(r)
		}
	}
	s := newSession(options)
	defer s.close()
	if err := s.reach(ctx); err != nil {
		return report, err
	}
	for _, c := range checks(options) {
		o := c.run(ctx, s)
		if ctx.Err() != nil {
			break
		}
		add(Result{Name: c.name, Status: o.status, Requirement: c.requirement, Expected: c.expected, Got: o.got})
		if s.refused {
			break // no request of ours would get any further
		}
	}
	// The context may have ended; what was created has to go all the same.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	o := s.cleanup(cleanup)
	add(Result{Name: "cleanup", Status: o.status, Requirement: "D1", Expected: "all that was created can be deleted", Got: o.got})
	return report, ctx.Err()
}
