package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
)

// session is one run against one server.
type session struct {
	options Options
	client  *http.Client
	// id is a part of every name, so that two runs at once do not meet.
	id string
	// created holds the paths of records that may exist.
	created map[string]bool
	// refused is set once the server refuses a request that is signed as it should be.
	refused bool
	// canGet is set once the server has answered a GET of a record in a way that says it knows the endpoint.
	canGet bool
	// patience is how long the session will still wait, altogether, for a server that says RATE_LIMITED.
	patience time.Duration
}

func newSession(options Options) *session {
	transport := &http.Transport{
		// A proxy in between would be checked too.
		Proxy:                  nil,
		TLSClientConfig:        &tls.Config{RootCAs: options.Roots, MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: 64 << 10,
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // crypto/rand.Read never returns an error: it ends the process instead
	return &session{
		options: options,
		client: &http.Client{
			Transport:     transport,
			Timeout:       options.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		id:       "ngc-" + hex.EncodeToString(random),
		created:  map[string]bool{},
		patience: time.Minute,
	}
}

func (s *session) close() { s.client.CloseIdleConnections() }

// signs says whether requests are signed.
func (s *session) signs() bool { return len(s.options.Secret) > 0 }

// call is one request. The zero values of what follows body sign it as it should be.
type call struct {
	method string
	// path is escaped, and below the base URL.
	path string
	body []byte
	// forge changes what is signed; the request itself stays.
	forge func(*parts)
	// headers changes the headers after they were signed.
	headers func(http.Header)
}

// parts is what a signature is made of.
type parts struct {
	algorithm        v1.Algorithm
	key              []byte
	method, path     string
	timestamp, nonce string
	body             []byte
}

// reply is what came back.
type reply struct {
	// err is set where nothing that is HTTP came back.
	err    error
	status int
	// contentType is without parameters.
	contentType string
	raw         []byte
	// response is the body, where it is JSON of that form.
	response v1.Response
	isJSON   bool
	// sent are the headers of the request.
	sent http.Header
}

// code returns the error code; empty where there is none that the protocol knows.
func (r reply) code() v1.ErrorCode {
	if r.response.Error != nil && r.response.Error.Code.Known() {
		return r.response.Error.Code
	}
	return ""
}

// String says what came back, in words of our own.
func (r reply) String() string {
	switch {
	case r.err != nil:
		return "no answer: " + strconv.Quote(clip(r.err.Error()))
	case !r.isJSON:
		return fmt.Sprintf("status %d without the JSON of the protocol", r.status)
	case r.code() != "":
		return fmt.Sprintf("status %d, code %s", r.status, r.code())
	case r.response.Error != nil:
		return fmt.Sprintf("status %d with an unknown code", r.status)
	}
	return fmt.Sprintf("status %d, success %t", r.status, r.response.Success)
}

// send makes a request. A server that asks for patience gets it, within bounds.
func (s *session) send(ctx context.Context, c call) reply {
	for {
		r, wait := s.sendOnce(ctx, c)
		if r.status != http.StatusTooManyRequests || wait <= 0 || wait > s.patience {
			return r
		}
		s.patience -= wait
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return r
		}
	}
}

func (s *session) sendOnce(ctx context.Context, c call) (r reply, wait time.Duration) {
	req, err := http.NewRequestWithContext(ctx, c.method, s.options.Server.String()+c.path, bytes.NewReader(c.body))
	if err != nil {
		return reply{err: err}, 0
	}
	if c.body != nil {
		req.Header.Set("Content-Type", v1.ContentType)
	}
	if err := s.sign(req, c); err != nil {
		return reply{err: err}, 0
	}
	if c.headers != nil {
		c.headers(req.Header)
	}
	response, err := s.client.Do(req)
	if err != nil {
		return reply{err: err, sent: req.Header}, 0
	}
	defer func() { _ = response.Body.Close() }()
	r = reply{status: response.StatusCode, sent: req.Header}
	r.raw, r.err = io.ReadAll(io.LimitReader(response.Body, v1.MaxBodyBytes+1))
	if len(r.raw) > v1.MaxBodyBytes {
		r.err = fmt.Errorf("the body of the answer is larger than %d bytes", v1.MaxBodyBytes)
	}
	r.contentType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type")) // empty where it is malformed
	r.isJSON = json.Unmarshal(r.raw, &r.response) == nil
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil {
		return r, 0
	}
	return r, time.Duration(seconds) * time.Second
}

// sign sets the headers of the protocol.
func (s *session) sign(req *http.Request, c call) error {
	if !s.signs() {
		return nil
	}
	p := parts{algorithm: s.options.Algorithm, key: s.options.Secret, method: c.method, path: req.URL.EscapedPath(),
		timestamp: stamp(0), nonce: v1.NewNonce(), body: c.body}
	if c.forge != nil {
		c.forge(&p)
	}
	signature, err := v1.Sign(p.algorithm, p.key, p.method, p.path, p.timestamp, p.nonce, p.body)
	if err != nil {
		return err
	}
	req.Header.Set(v1.HeaderTimestamp, p.timestamp)
	req.Header.Set(v1.HeaderNonce, p.nonce)
	req.Header.Set(v1.HeaderSignature, signature)
	return nil
}

// stamp returns the timestamp of a time that is this far from now.
func stamp(ahead time.Duration) string { return time.Now().Add(ahead).UTC().Format(v1.TimestampLayout) }

// reach finds out whether there is anything to check.
func (s *session) reach(ctx context.Context) error {
	r := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth})
	switch {
	case r.err != nil && r.status == 0:
		return fmt.Errorf("%w: %w", errUnreachable, r.err)
	case r.status == http.StatusUnauthorized && !s.signs():
		return errNeedsSecret
	}
	return nil
}

// name returns a subdomain of this run.
func (s *session) name(label string) string { return label + "." + s.id }

// record completes a record of this run. The label may be "*" or start with "*.".
func (s *session) record(r v1.Record, label string) v1.Record {
	r.Domain = s.options.Domain.String()
	r.Subdomain = s.name(label)
	if r.TTL == 0 {
		r.TTL = 300
	}
	return r
}

// pathOf returns the path of a record below the base URL.
func pathOf(r v1.Record) string { return v1.RecordPath("", r.Type, r.Domain, r.Subdomain) }

// upsert sends a record.
func (s *session) upsert(ctx context.Context, r v1.Record) reply {
	return s.post(ctx, r, upsertBody(r))
}

func upsertBody(r v1.Record) []byte {
	body, err := json.Marshal(v1.UpsertRequest{Record: r, Operation: v1.OperationUpsert})
	if err != nil {
		panic(err) // a Record always marshals
	}
	return body
}

// post sends any body, and remembers what it may have created.
func (s *session) post(ctx context.Context, r v1.Record, body []byte) reply {
	return s.store(r, s.send(ctx, call{method: http.MethodPost, path: v1.PathRecords, body: body}))
}

// store remembers that a request may have created a record.
func (s *session) store(r v1.Record, answer reply) reply {
	if answer.err != nil || answer.status < http.StatusBadRequest {
		s.created[pathOf(r)] = true
	}
	return answer
}

func (s *session) get(ctx context.Context, r v1.Record) reply {
	answer := s.send(ctx, call{method: http.MethodGet, path: pathOf(r)})
	if answer.status == http.StatusOK || answer.code() == v1.CodeRecordNotFound {
		s.canGet = true
	}
	return answer
}

func (s *session) delete(ctx context.Context, r v1.Record) reply {
	return s.deletePath(ctx, pathOf(r))
}

func (s *session) deletePath(ctx context.Context, path string) reply {
	answer := s.send(ctx, call{method: http.MethodDelete, path: path})
	if gone(answer) {
		delete(s.created, path)
	}
	return answer
}

// gone is true for an answer to DELETE after which the record does not exist.
func gone(r reply) bool {
	return r.status == http.StatusOK && r.response.Success || r.status == http.StatusNotFound && r.code() == v1.CodeRecordNotFound
}

// unsupported is true for an answer to GET from a server that has no such endpoint.
func unsupported(r reply) bool {
	switch r.status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return r.code() != v1.CodeRecordNotFound
	}
	return false
}

// cleanup deletes what may be left.
func (s *session) cleanup(ctx context.Context) outcome {
	var left []string
	for _, path := range slices.Sorted(maps.Keys(s.created)) {
		if answer := s.deletePath(ctx, path); !gone(answer) {
			left = append(left, fmt.Sprintf("%s: %s", path, answer))
		}
	}
	if len(left) > 0 {
		return failed("still there: " + strings.Join(left, "; "))
	}
	return passed("nothing is left")
}

// clip keeps a text that a stranger wrote short.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
