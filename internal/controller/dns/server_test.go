package dns

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

// TestFailuresAreKnown: every kind of the provider has a reason, a code and a label.
func TestFailuresAreKnown(t *testing.T) {
	for _, kind := range httpdns.Kinds() {
		f := failureOf(&httpdns.Error{Kind: kind, Status: 400})
		asCode := httpdns.Error{}.Code
		if err := json.Unmarshal([]byte(`"`+f.code+`"`), &asCode); err != nil || !asCode.Known() || f.reason == "" || f.message == "" {
			t.Errorf("%s: %+v", kind, f)
		}
		if result(&httpdns.Error{Kind: kind}) == "" {
			t.Errorf("%s has no label", kind)
		}
		if f.refused != (kind == httpdns.Invalid) {
			t.Errorf("%s: refused %v", kind, f.refused)
		}
	}
	f := failureOf(&httpdns.Error{Kind: httpdns.Auth, Status: 401, Code: "TIMESTAMP_STALE", RetryAfter: time.Second})
	if f.reason != dnsv1alpha1.ReasonAuthenticationFailed || f.code != "TIMESTAMP_STALE" || f.retryAfter != time.Second {
		t.Errorf("%+v", f)
	}
	f = failureOf(errors.New("dial: password=hunter2"))
	if f.reason != dnsv1alpha1.ReasonServerError || strings.Contains(f.message, "hunter2") {
		t.Errorf("%+v", f)
	}
}

func TestRepair(t *testing.T) {
	domain := record.Spec{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.1"}, TTL: 300}
	set, _ := record.Parse(domain)
	domain.TTL = 60
	other, _ := record.Parse(domain)
	refused := &httpdns.Error{Kind: httpdns.Invalid, Status: 400}
	for name, tt := range map[string]struct {
		found  *record.RRset
		get    error
		upsert error
		insist bool
		want   Outcome
		calls  []string
	}{
		"the same":                  {found: set, want: Outcome{}, calls: []string{"get"}},
		"the same, insisting":       {found: set, insist: true, want: Outcome{}, calls: []string{"get"}},
		"another":                   {found: other, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
		"spoilt":                    {get: httpdns.ErrOtherRecord, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
		"none":                      {get: httpdns.ErrNotFound, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
		"none, and it is refused":   {get: httpdns.ErrNotFound, upsert: refused, want: Outcome{Wrote: true, Err: refused}, calls: []string{"get", "upsert"}},
		"not supported":             {get: httpdns.ErrUnsupported, want: Outcome{}, calls: []string{"get"}},
		"not supported, insisting":  {get: httpdns.ErrUnsupported, insist: true, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
		"failed":                    {get: refused, want: Outcome{Err: refused}, calls: []string{"get"}},
		"failed, insisting":         {get: refused, insist: true, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
		"failed, insisting, again":  {get: refused, upsert: refused, insist: true, want: Outcome{Wrote: true, Err: refused}, calls: []string{"get", "upsert"}},
		"none, insisting on nought": {get: httpdns.ErrNotFound, insist: true, want: Outcome{Wrote: true}, calls: []string{"get", "upsert"}},
	} {
		s := &scripted{found: tt.found, get: tt.get, upsert: tt.upsert}
		if got := repair(t.Context(), s, set, tt.insist); got != tt.want || !slices.Equal(s.calls, tt.calls) {
			t.Errorf("%s: %+v after %q; want %+v after %q", name, got, s.calls, tt.want, tt.calls)
		}
	}
}

// scripted is a server that answers what it is told to.
type scripted struct {
	Server
	found       *record.RRset
	get, upsert error
	calls       []string
}

func (s *scripted) Get(context.Context, httpdns.ID) (*record.RRset, error) {
	s.calls = append(s.calls, "get")
	return s.found, s.get
}

func (s *scripted) Upsert(context.Context, *record.RRset) error {
	s.calls = append(s.calls, "upsert")
	return s.upsert
}

// TestHTTP: the real client is a Server, and its errors are understood.
func TestHTTP(t *testing.T) {
	var answer int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) }))
	defer server.Close()
	at, err := endpoint.Parse(server.URL)
	must(t, err)
	dialed := HTTP(httpdns.NewFactory(httpdns.Options{}))(httpdns.Target{Server: at, Timeout: time.Minute})
	for status, reason := range map[int]string{400: dnsv1alpha1.ReasonValidationFailed, 401: dnsv1alpha1.ReasonAuthenticationFailed,
		429: dnsv1alpha1.ReasonServerError, 500: dnsv1alpha1.ReasonServerError} {
		answer = status
		if f := failureOf(dialed.Health(t.Context())); f.reason != reason || f.message == "" {
			t.Errorf("%d: %+v, want %s", status, f, reason)
		}
	}
	if f := failureOf(unreachable()); f.reason != dnsv1alpha1.ReasonServerUnreachable || f.message == "" {
		t.Errorf("%+v", f)
	}
}
