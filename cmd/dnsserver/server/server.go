// Package server is the HTTP side of the DNS server webhook protocol: it decides which request may do what, and answers
// in the protocol's words. Where the records are kept is a backend.Backend.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/internal/rules"
)

// Verifier decides whether a request is authentic. *v1.Verifier is one; every error is a *v1.VerifyError.
type Verifier interface {
	Verify(r *http.Request, body []byte) error
}

// Options of a Server.
type Options struct {
	// Backend keeps the records.
	Backend backend.Backend
	// Base is the escaped path that the protocol's paths are below: /dns/v1. Empty for none.
	Base string
	// Verifier of signatures; nil where requests are not signed.
	Verifier Verifier
	// Rate is how many requests below /records are served each second, and Burst how many at once; no limit if Rate is not positive.
	// Only requests that passed the Verifier count.
	Rate  float64
	Burst int
	// Timeout of what the back end does for one request; 10 s if not positive.
	Timeout time.Duration
	// Log gets one line for each request, and the errors of the back end.
	Log *slog.Logger
}

// DefaultTimeout is the Timeout of Options that give none.
const DefaultTimeout = 10 * time.Second

// Server is an http.Handler.
type Server struct {
	options Options
	limit   *rate.Limiter
}

// New returns a server.
func New(options Options) *Server {
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	s := &Server{options: options}
	if options.Rate > 0 {
		s.limit = rate.NewLimiter(rate.Limit(options.Rate), max(options.Burst, 1))
	}
	return s
}

// request is one request that passed the checks which are the same for all.
type request struct {
	// path holds the unescaped segments below /records.
	path []string
	body []byte
	// contentType is the header, as it was sent.
	contentType string
}

// endpoint serves one method at one path.
type endpoint func(s *Server, ctx context.Context, r request) answer

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	a := s.serve(w, r)
	a.write(w)
	level := slog.LevelInfo
	if a.quiet {
		level = slog.LevelDebug
	}
	s.options.Log.LogAttrs(r.Context(), level, "request",
		slog.String("method", rules.Clip(r.Method)), slog.String("path", rules.Clip(r.URL.EscapedPath())),
		slog.Int("status", a.status), slog.String("code", string(a.code)), slog.String("took", time.Since(start).Round(time.Microsecond).String()),
		slog.String("remote", r.RemoteAddr))
}

// serve passes a request through every gate: is there such an endpoint, is the body of a size that can be verified, is it authentic,
// is it in time. Only then its endpoint sees it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) answer {
	methods, path := s.route(r)
	if methods == nil {
		return noSuchPath
	}
	serve, ok := methods[r.Method]
	if !ok {
		return noSuchMethod(methods)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, v1.MaxBodyBytes))
	if err != nil {
		return unreadable(err)
	}
	if s.options.Verifier != nil {
		if err := s.options.Verifier.Verify(r, body); err != nil {
			return unauthentic(err)
		}
	}
	if wait := s.delay(path); wait > 0 {
		return failedFor(v1.CodeRateLimited, "too many requests", wait)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.options.Timeout)
	defer cancel()
	return serve(s, ctx, request{path: path, body: body, contentType: r.Header.Get("Content-Type")})
}

// Endpoints by method.
var (
	healthMethods = map[string]endpoint{http.MethodGet: (*Server).health}
	setMethods    = map[string]endpoint{http.MethodPost: (*Server).upsert}
	recordMethods = map[string]endpoint{http.MethodGet: (*Server).get, http.MethodDelete: (*Server).delete}
)

// idSegments is how many segments follow /records: type, domain, subdomain.
const idSegments = 3

// route finds the endpoints of a path, and the segments below /records; nil for a path that is none of the protocol's.
func (s *Server) route(r *http.Request) (methods map[string]endpoint, path []string) {
	below, ok := strings.CutPrefix(r.URL.EscapedPath(), s.options.Base)
	switch {
	case !ok:
		return nil, nil
	case below == v1.PathHealth:
		return healthMethods, nil
	case below == v1.PathRecords:
		return setMethods, []string{}
	}
	rest, ok := strings.CutPrefix(below, v1.PathRecords+"/")
	segments := strings.Split(rest, "/")
	if !ok || len(segments) != idSegments {
		return nil, nil
	}
	path, ok = unescaped(segments)
	if !ok {
		return nil, nil
	}
	return recordMethods, path
}

// delay returns how long a client has to wait for its turn. The health check, which has no segments, never waits.
func (s *Server) delay(path []string) time.Duration {
	if s.limit == nil || path == nil {
		return 0
	}
	turn := s.limit.Reserve()
	wait := turn.Delay()
	if wait > 0 {
		turn.Cancel()
	}
	return wait
}

// answer is what a request gets.
type answer struct {
	status int
	// code of the protocol, for the log; empty for success.
	code v1.ErrorCode
	// body is a v1.Response or a v1.Health.
	body any
	// retryAfter is sent if positive, in whole seconds, rounded up.
	retryAfter time.Duration
	// allow lists the methods that a path has.
	allow string
	// quiet answers are logged at level debug.
	quiet bool
}

func (a answer) write(w http.ResponseWriter) {
	data, err := json.Marshal(a.body)
	if err != nil {
		// No body of the protocol can fail to marshal; without one the status still says what happened.
		data = nil
	}
	h := w.Header()
	h.Set("Content-Type", v1.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((a.retryAfter+time.Second-1)/time.Second)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(data) // a client that is gone gets no answer
}

// failed answers with an error of the protocol.
func failed(code v1.ErrorCode, message string) answer {
	return answer{status: code.Status(), code: code,
		body: v1.Response{Error: &v1.Error{Code: code, Message: message}}}
}

func failedFor(code v1.ErrorCode, message string, retryAfter time.Duration) answer {
	a := failed(code, message)
	a.retryAfter = retryAfter
	return a
}

// noSuchPath has no error code: to a client, a 404 with RECORD_NOT_FOUND is a record that is not there, and one without says
// that this server has no such endpoint.
var noSuchPath = answer{status: http.StatusNotFound, body: v1.Response{Message: "this server has no such path"}}

func noSuchMethod(methods map[string]endpoint) answer {
	a := answer{status: http.StatusMethodNotAllowed, body: v1.Response{Message: "this path has no such method"}}
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if methods[name] != nil {
			names = append(names, name)
		}
	}
	a.allow = strings.Join(names, ", ")
	return a
}

// unreadable answers where the body did not arrive. One that is too large cannot be verified either, so it is refused before.
func unreadable(err error) answer {
	var large *http.MaxBytesError
	if !errors.As(err, &large) {
		return failed(v1.CodeInvalidRecord, "the body did not arrive whole")
	}
	a := failed(v1.CodeInvalidRecord, "the body is larger than 1 MiB")
	a.status = http.StatusRequestEntityTooLarge
	return a
}

func unauthentic(err error) answer {
	var refused *v1.VerifyError
	if !errors.As(err, &refused) {
		return failed(v1.CodeAuthFailed, "the signature could not be verified")
	}
	return failedFor(refused.Code, refused.Error(), refused.RetryAfter)
}
