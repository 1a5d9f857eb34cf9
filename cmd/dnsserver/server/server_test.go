package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	"github.com/namegate/namegate/cmd/dnsserver/server"
	"github.com/namegate/namegate/internal/record"
)

// failing is a back end all of whose calls return err.
type failing struct{ err error }

func (f failing) Upsert(context.Context, *record.RRset) error { return f.err }

func (f failing) Delete(context.Context, backend.ID) (bool, error) { return false, f.err }

func (f failing) Get(context.Context, backend.ID) (*record.RRset, bool, error) {
	return nil, false, f.err
}

func (f failing) Healthy(context.Context) error { return f.err }

func newMemory(t testing.TB, options memory.Options) *memory.Store {
	t.Helper()
	s, err := memory.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newServer fills in what a test leaves open.
func newServer(t testing.TB, options server.Options) *server.Server {
	t.Helper()
	if options.Backend == nil {
		options.Backend = newMemory(t, memory.Options{})
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return server.New(options)
}

// send serves one request, of content type JSON if it has a body.
func send(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", v1.ContentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decode reads the answer and checks what all answers have.
func decode(t testing.TB, w *httptest.ResponseRecorder) v1.Response {
	t.Helper()
	var r v1.Response
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatalf("%v: %q", err, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != v1.ContentType {
		t.Errorf("content type %q", got)
	}
	if r.Success != (w.Code == http.StatusOK) {
		t.Errorf("success %t with status %d", r.Success, w.Code)
	}
	return r
}

// wantError checks status and error code.
func wantError(t testing.TB, w *httptest.ResponseRecorder, status int, code v1.ErrorCode) {
	t.Helper()
	r := decode(t, w)
	if w.Code != status || r.Error == nil || r.Error.Code != code {
		t.Errorf("got %d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

// body is the JSON of an upsert of these fields of a record.
func body(fields string) string { return `{"operation":"upsert","record":{` + fields + `}}` }

const www = `"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.2","192.0.2.1"],"ttl":600`

func TestLifeOfARecord(t *testing.T) {
	tests := map[string]struct {
		fields, path string
		want         v1.Record
	}{
		"A, not canonical": {
			`"type":"A","domain":"Example.COM.","subdomain":"WWW","values":["192.0.2.2","192.0.2.1"],"ttl":600,"fqdn":"ignored"`, "/records/A/example.com/www",
			v1.Record{Type: "A", Domain: "example.com", Subdomain: "www", FQDN: "www.example.com", Values: []string{"192.0.2.1", "192.0.2.2"}, TTL: 600}},
		"AAAA": {
			`"type":"AAAA","domain":"example.com","subdomain":"a.b","values":["2001:DB8:0::1"],"ttl":1`, "/records/AAAA/example.com/a.b",
			v1.Record{Type: "AAAA", Domain: "example.com", Subdomain: "a.b", FQDN: "a.b.example.com", Values: []string{"2001:db8::1"}, TTL: 1}},
		"apex TXT": {
			`"type":"TXT","domain":"example.com","subdomain":"@","values":["a \"b\" \\ <c>"],"ttl":0`, "/records/TXT/example.com/@",
			v1.Record{Type: "TXT", Domain: "example.com", Subdomain: "@", FQDN: "example.com", Values: []string{`a "b" \ <c>`}}},
		"wildcard CNAME": {
			`"type":"CNAME","domain":"example.com","subdomain":"*.apps","values":["Host.example.net."],"ttl":60`, "/records/CNAME/example.com/%2A.apps",
			v1.Record{Type: "CNAME", Domain: "example.com", Subdomain: "*.apps", FQDN: "*.apps.example.com", Values: []string{"host.example.net"}, TTL: 60}},
		"MX": {
			`"type":"MX","domain":"example.com","subdomain":"@","values":["."],"ttl":60,"metadata":{"priority":0}`, "/records/MX/example.com/@",
			v1.Record{Type: "MX", Domain: "example.com", Subdomain: "@", FQDN: "example.com", Values: []string{"."}, TTL: 60,
				Metadata: &v1.RecordMetadata{Priority: new(int64)}}},
		"SRV": {
			`"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["sip.example.com"],"ttl":60,"metadata":{"priority":1,"weight":2,"port":3}`,
			"/records/SRV/example.com/_sip._tcp",
			v1.Record{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", FQDN: "_sip._tcp.example.com", Values: []string{"sip.example.com"}, TTL: 60,
				Metadata: &v1.RecordMetadata{Priority: number(1), Weight: number(2), Port: number(3)}}},
		"NS, and fields of a later client": {
			`"type":"NS","domain":"example.com","subdomain":"sub","values":["ns.example.net"],"ttl":60,"later":{"a":[1]},"metadata":null`, "/records/NS/example.com/sub",
			v1.Record{Type: "NS", Domain: "example.com", Subdomain: "sub", FQDN: "sub.example.com", Values: []string{"ns.example.net"}, TTL: 60}},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			s := newServer(t, server.Options{})
			wantError(t, send(s, "GET", tt.path, ""), http.StatusNotFound, v1.CodeRecordNotFound)
			for range 2 {
				w := send(s, "POST", "/records", body(tt.fields))
				r := decode(t, w)
				if w.Code != http.StatusOK || r.Message == "" {
					t.Fatalf("upsert: %d %s", w.Code, w.Body)
				}
				if diff := cmp.Diff(&tt.want, r.Record); diff != "" {
					t.Errorf("upsert -want +got:\n%s", diff)
				}
			}
			w := send(s, "GET", tt.path, "")
			if diff := cmp.Diff(v1.Response{Success: true, Record: &tt.want}, decode(t, w)); diff != "" || w.Code != http.StatusOK {
				t.Errorf("get: %d, -want +got:\n%s", w.Code, diff)
			}
			if w := send(s, "DELETE", tt.path, ""); w.Code != http.StatusOK || !decode(t, w).Success {
				t.Errorf("delete: %d %s", w.Code, w.Body)
			}
			wantError(t, send(s, "DELETE", tt.path, ""), http.StatusNotFound, v1.CodeRecordNotFound)
			wantError(t, send(s, "GET", tt.path, ""), http.StatusNotFound, v1.CodeRecordNotFound)
		})
	}
}

func number(n int64) *int64 { return &n }

// TestOneOwnerTwoPaths: the answer splits the owner as it was asked for.
func TestOneOwnerTwoPaths(t *testing.T) {
	s := newServer(t, server.Options{})
	send(s, "POST", "/records", body(www))
	r := decode(t, send(s, "GET", "/records/A/www.example.com/@", ""))
	if r.Record == nil || r.Record.Domain != "www.example.com" || r.Record.Subdomain != "@" || r.Record.FQDN != "www.example.com" {
		t.Errorf("got %+v", r.Record)
	}
}

func TestInvalidBodies(t *testing.T) {
	long := strings.Repeat("a", 64)
	tests := map[string]struct {
		body string
		code v1.ErrorCode
	}{
		"empty":             {" ", v1.CodeInvalidRecord},
		"not JSON":          {"hello", v1.CodeInvalidRecord},
		"cut off":           {body(www)[:50], v1.CodeInvalidRecord},
		"trailing data":     {body(www) + "{}", v1.CodeInvalidRecord},
		"a list":            {"[" + body(www) + "]", v1.CodeInvalidRecord},
		"null":              {"null", v1.CodeInvalidRecord},
		"not UTF-8":         {body(`"type":"TXT","domain":"example.com","subdomain":"www","values":["` + "\xff" + `"],"ttl":1`), v1.CodeInvalidRecord},
		"no operation":      {`{"record":{` + www + `}}`, v1.CodeInvalidRecord},
		"other operation":   {strings.Replace(body(www), "upsert", "delete", 1), v1.CodeInvalidRecord},
		"no record":         {`{"operation":"upsert"}`, v1.CodeInvalidRecord},
		"TTL a string":      {strings.Replace(body(www), "600", `"600"`, 1), v1.CodeInvalidRecord},
		"TTL a fraction":    {strings.Replace(body(www), "600", `600.5`, 1), v1.CodeInvalidRecord},
		"TTL negative":      {strings.Replace(body(www), "600", `-1`, 1), v1.CodeInvalidRecord},
		"TTL too large":     {strings.Replace(body(www), "600", `2147483648`, 1), v1.CodeInvalidRecord},
		"unknown type":      {strings.Replace(body(www), `"A"`, `"PTR"`, 1), v1.CodeInvalidRecord},
		"type lower case":   {strings.Replace(body(www), `"A"`, `"a"`, 1), v1.CodeInvalidRecord},
		"no values":         {strings.Replace(body(www), `"192.0.2.2","192.0.2.1"`, "", 1), v1.CodeInvalidRecord},
		"values null":       {strings.Replace(body(www), `["192.0.2.2","192.0.2.1"]`, "null", 1), v1.CodeInvalidRecord},
		"MX, no priority":   {body(`"type":"MX","domain":"example.com","subdomain":"@","values":["m.example.com"],"ttl":1`), v1.CodeInvalidRecord},
		"SRV, no port":      {body(`"type":"SRV","domain":"example.com","subdomain":"_a._tcp","values":["m.example.com"],"ttl":1,"metadata":{"priority":1,"weight":1}`), v1.CodeInvalidRecord},
		"MX, large number":  {body(`"type":"MX","domain":"example.com","subdomain":"@","values":["m.example.com"],"ttl":1,"metadata":{"priority":65536}`), v1.CodeInvalidRecord},
		"CNAME at the apex": {body(`"type":"CNAME","domain":"example.com","subdomain":"@","values":["m.example.com"],"ttl":1`), v1.CodeInvalidRecord},
		"two CNAMEs":        {body(`"type":"CNAME","domain":"example.com","subdomain":"a","values":["m.example.com","n.example.com"],"ttl":1`), v1.CodeInvalidRecord},
		"domain empty":      {strings.Replace(body(www), "example.com", "", 1), v1.CodeInvalidDomain},
		"domain with space": {strings.Replace(body(www), "example.com", "exam ple.com", 1), v1.CodeInvalidDomain},
		"domain an IP":      {strings.Replace(body(www), "example.com", "192.0.2.1", 1), v1.CodeInvalidDomain},
		"domain not ASCII":  {strings.Replace(body(www), "example.com", "münchen.de", 1), v1.CodeInvalidDomain},
		"domain a wildcard": {strings.Replace(body(www), "example.com", "*.example.com", 1), v1.CodeInvalidDomain},
		"subdomain empty":   {strings.Replace(body(www), `"www"`, `""`, 1), v1.CodeInvalidDomain},
		"label too long":    {strings.Replace(body(www), `"www"`, `"`+long+`"`, 1), v1.CodeInvalidDomain},
		"name too long":     {strings.Replace(body(www), `"www"`, `"`+strings.Repeat(long[:60]+".", 4)+`x"`, 1), v1.CodeInvalidDomain},
		"not an IPv4":       {strings.Replace(body(www), "192.0.2.2", "192.0.2.256", 1), v1.CodeInvalidValue},
		"leading zero":      {strings.Replace(body(www), "192.0.2.2", "192.0.2.02", 1), v1.CodeInvalidValue},
		"value twice":       {strings.Replace(body(www), "192.0.2.2", "192.0.2.1", 1), v1.CodeInvalidValue},
		"not an IPv6":       {body(`"type":"AAAA","domain":"example.com","subdomain":"a","values":["::ffff:192.0.2.1"],"ttl":1`), v1.CodeInvalidValue},
		"target an IP":      {body(`"type":"CNAME","domain":"example.com","subdomain":"a","values":["192.0.2.1"],"ttl":1`), v1.CodeInvalidValue},
		"text with newline": {body(`"type":"TXT","domain":"example.com","subdomain":"a","values":["a\nb"],"ttl":1`), v1.CodeInvalidValue},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			kept := newMemory(t, memory.Options{})
			wantError(t, send(newServer(t, server.Options{Backend: kept}), "POST", "/records", tt.body), http.StatusBadRequest, tt.code)
			for _, typ := range record.Types() {
				set, problems := record.Parse(record.Spec{Type: "TXT", Domain: "example.com", Subdomain: "www", Values: []string{"x"}})
				if set == nil {
					t.Fatal(problems)
				}
				id := backend.IDOf(set)
				id.Type = typ
				if _, found, err := kept.Get(t.Context(), id); found || err != nil {
					t.Errorf("%s was stored, error %v", typ, err)
				}
			}
		})
	}
}

func TestProblemsAreListed(t *testing.T) {
	var values []string
	for i := range 30 {
		values = append(values, fmt.Sprintf(`"no address %d"`, i))
	}
	w := send(newServer(t, server.Options{}), "POST", "/records",
		body(`"type":"A","domain":"exam ple","subdomain":"www","values":[`+strings.Join(values, ",")+`],"ttl":-1`))
	var got struct {
		Error struct {
			Details struct {
				Problems []struct {
					Field, Rule, Message string
					Index                *int
				}
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	list := got.Error.Details.Problems
	if len(list) != 10 {
		t.Fatalf("%d problems are listed, want 10", len(list))
	}
	if list[0].Field != "domain" || list[0].Rule != "name-character" || list[0].Message == "" || list[0].Index != nil {
		t.Errorf("first: %+v", list[0])
	}
	if list[2].Field != "values" || list[2].Index == nil || *list[2].Index != 0 {
		t.Errorf("third: %+v", list[2])
	}
	wantError(t, w, http.StatusBadRequest, v1.CodeInvalidDomain)
}

func TestContentType(t *testing.T) {
	for contentType, status := range map[string]int{
		"application/json":                  http.StatusOK,
		"application/json; charset=utf-8":   http.StatusOK,
		"Application/JSON":                  http.StatusOK,
		"":                                  http.StatusBadRequest,
		"text/plain":                        http.StatusBadRequest,
		"application/x-www-form-urlencoded": http.StatusBadRequest,
		";":                                 http.StatusBadRequest,
	} {
		r := httptest.NewRequest("POST", "/records", strings.NewReader(body(www)))
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		w := httptest.NewRecorder()
		newServer(t, server.Options{}).ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%q: %d, want %d", contentType, w.Code, status)
		}
	}
}

func TestBodySize(t *testing.T) {
	s := newServer(t, server.Options{})
	pad := func(size int) string {
		b := body(www)
		return b + strings.Repeat(" ", size-len(b))
	}
	if w := send(s, "POST", "/records", pad(v1.MaxBodyBytes)); w.Code != http.StatusOK {
		t.Errorf("1 MiB: %d %s", w.Code, w.Body)
	}
	wantError(t, send(s, "POST", "/records", pad(v1.MaxBodyBytes+1)), http.StatusRequestEntityTooLarge, v1.CodeInvalidRecord)
}

// endless never ends, as the body of a hostile client; it counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) { e.read += len(p); return len(p), nil }

func TestEndlessBody(t *testing.T) {
	for _, method := range []string{"POST", "GET", "DELETE"} {
		var b endless
		target := map[string]string{"POST": "/records", "GET": "/health", "DELETE": "/records/A/example.com/www"}[method]
		w := httptest.NewRecorder()
		newServer(t, server.Options{}).ServeHTTP(w, httptest.NewRequest(method, target, &b))
		if w.Code != http.StatusRequestEntityTooLarge || b.read > 4*v1.MaxBodyBytes {
			t.Errorf("%s: %d after %d bytes", method, w.Code, b.read)
		}
	}
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("the client is gone") }

func TestBrokenBody(t *testing.T) {
	w := httptest.NewRecorder()
	newServer(t, server.Options{}).ServeHTTP(w, httptest.NewRequest("POST", "/records", brokenBody{}))
	wantError(t, w, http.StatusBadRequest, v1.CodeInvalidRecord)
}

func TestPaths(t *testing.T) {
	s := newServer(t, server.Options{})
	send(s, "POST", "/records", body(www))
	based := newServer(t, server.Options{Base: "/dns/v1"})
	send(based, "POST", "/dns/v1/records", body(www))
	tests := []struct {
		h              http.Handler
		method, target string
		status         int
		code           v1.ErrorCode
		allow          string
	}{
		{s, "GET", "/records/A/example.com/www", 200, "", ""},
		{s, "GET", "/records/A/EXAMPLE.com./WWW", 200, "", ""},
		{s, "GET", "/records/A/example.com/%77ww", 200, "", ""},
		{based, "GET", "/dns/v1/records/A/example.com/www", 200, "", ""},
		{based, "GET", "/dns/v1/health", 200, "", ""},
		{based, "GET", "/health", 404, "", ""},
		{based, "GET", "/records/A/example.com/www", 404, "", ""},
		{s, "GET", "/", 404, "", ""},
		{s, "GET", "/health/", 404, "", ""},
		{s, "GET", "//health", 404, "", ""},
		{s, "GET", "/healthy", 404, "", ""},
		{s, "GET", "/recordsA/example.com/www", 404, "", ""},
		{s, "GET", "/records/A/example.com", 404, "", ""},
		{s, "GET", "/records/A/example.com/www/x", 404, "", ""},
		{s, "GET", "/records/A/example.com/www%2Fx", 400, v1.CodeInvalidDomain, ""},
		{s, "GET", "/records/A/example.com/", 400, v1.CodeInvalidDomain, ""},
		{s, "GET", "/records/A//www", 400, v1.CodeInvalidDomain, ""},
		{s, "GET", "/records//example.com/www", 400, v1.CodeInvalidRecord, ""},
		{s, "GET", "/records/PTR/example.com/www", 400, v1.CodeInvalidRecord, ""},
		{s, "DELETE", "/records/a/example.com/www", 400, v1.CodeInvalidRecord, ""},
		{s, "DELETE", "/records/A/..%2f/www", 400, v1.CodeInvalidDomain, ""},
		{s, "DELETE", "/records/A/example.com/" + strings.Repeat("a.", 125) + "a", 400, v1.CodeInvalidDomain, ""},
		{s, "POST", "/health", 405, "", "GET"},
		{s, "HEAD", "/health", 405, "", "GET"},
		{s, "GET", "/records", 405, "", "POST"},
		{s, "PUT", "/records", 405, "", "POST"},
		{s, "POST", "/records/A/example.com/www", 405, "", "GET, DELETE"},
	}
	for _, tt := range tests {
		w := send(tt.h, tt.method, tt.target, "")
		var r v1.Response
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		var code v1.ErrorCode
		if r.Error != nil {
			code = r.Error.Code
		}
		if w.Code != tt.status || code != tt.code || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d %q allow %q, want %d %q allow %q", tt.method, tt.target, w.Code, code, w.Header().Get("Allow"), tt.status, tt.code, tt.allow)
		}
	}
}

func TestHealth(t *testing.T) {
	var log bytes.Buffer
	for _, tt := range []struct {
		backend backend.Backend
		status  int
		want    string
	}{
		{newMemory(t, memory.Options{}), http.StatusOK, v1.HealthyStatus},
		{failing{errors.New("cause for the log")}, http.StatusServiceUnavailable, v1.UnhealthyStatus},
	} {
		w := send(newServer(t, server.Options{Backend: tt.backend, Log: slog.New(slog.NewJSONHandler(&log, nil))}), "GET", "/health", "")
		var h v1.Health
		if err := json.Unmarshal(w.Body.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		if w.Code != tt.status || h.Status != tt.want || h.Message == "" || time.Since(h.Timestamp).Abs() > time.Minute {
			t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.want)
		}
		if strings.Contains(w.Body.String(), "cause") {
			t.Errorf("the answer says too much: %s", w.Body)
		}
	}
	if !strings.Contains(log.String(), "cause for the log") {
		t.Errorf("the log does not say why: %s", &log)
	}
}

func TestBackendErrors(t *testing.T) {
	for what, tt := range map[string]struct {
		err    error
		status int
		code   v1.ErrorCode
	}{
		"failure":    {errors.New("secret cause"), http.StatusInternalServerError, v1.CodeServerError},
		"timeout":    {context.DeadlineExceeded, http.StatusInternalServerError, v1.CodeServerError},
		"conflict":   {fmt.Errorf("secret cause: %w", backend.ErrConflict), http.StatusBadRequest, v1.CodeInvalidRecord},
		"not served": {backend.ErrNotServed, http.StatusBadRequest, v1.CodeInvalidDomain},
		"quota":      {backend.ErrQuota, http.StatusForbidden, v1.CodeQuotaExceeded},
		"foreign":    {backend.ErrForeign, http.StatusNotFound, v1.CodeRecordNotFound},
	} {
		t.Run(what, func(t *testing.T) {
			s := newServer(t, server.Options{Backend: failing{tt.err}})
			for _, w := range []*httptest.ResponseRecorder{
				send(s, "POST", "/records", body(www)), send(s, "GET", "/records/A/example.com/www", ""), send(s, "DELETE", "/records/A/example.com/www", ""),
			} {
				wantError(t, w, tt.status, tt.code)
				if strings.Contains(w.Body.String(), "secret cause") {
					t.Errorf("the answer says too much: %s", w.Body)
				}
			}
		})
	}
}

func TestQuota(t *testing.T) {
	s := newServer(t, server.Options{Backend: newMemory(t, memory.Options{MaxRecords: 1})})
	if w := send(s, "POST", "/records", body(www)); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	wantError(t, send(s, "POST", "/records", strings.Replace(body(www), `"www"`, `"api"`, 1)), http.StatusForbidden, v1.CodeQuotaExceeded)
}

// waiting is a back end that takes as long as the context lets it.
type waiting struct{ failing }

func (waiting) Upsert(ctx context.Context, _ *record.RRset) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestBackendTimeout(t *testing.T) {
	s := newServer(t, server.Options{Backend: waiting{}, Timeout: 20 * time.Millisecond})
	wantError(t, send(s, "POST", "/records", body(www)), http.StatusInternalServerError, v1.CodeServerError)
}

func TestRateLimit(t *testing.T) {
	s := newServer(t, server.Options{Rate: 0.5, Burst: 2})
	for range 2 {
		if w := send(s, "POST", "/records", body(www)); w.Code != http.StatusOK {
			t.Fatalf("within the burst: %d", w.Code)
		}
	}
	for _, w := range []*httptest.ResponseRecorder{
		send(s, "POST", "/records", body(www)), send(s, "GET", "/records/A/example.com/www", ""), send(s, "DELETE", "/records/A/example.com/www", ""),
	} {
		wantError(t, w, http.StatusTooManyRequests, v1.CodeRateLimited)
		if wait, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || wait < 1 || wait > 2 {
			t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
		}
	}
	if w := send(s, "GET", "/health", ""); w.Code != http.StatusOK {
		t.Errorf("health check: %d", w.Code)
	}
}

var key = []byte("key \n")

// clock starts in the past and then says the time of the test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// signing makes a server that verifies, started an hour ago, and its clock.
func signing(t testing.TB, options server.Options, maxNonces int) (*server.Server, *clock) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &clock{now.Add(-time.Hour)}
	verifier, err := v1.NewVerifier(v1.SHA256, key, v1.VerifierOptions{Clock: c.Now, MaxNonces: maxNonces})
	if err != nil {
		t.Fatal(err)
	}
	c.now = now
	options.Verifier = verifier
	return newServer(t, options), c
}

// signed makes a request and signs it at a time.
func signed(t testing.TB, at time.Time, method, target, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", v1.ContentType)
	if err := v1.SignRequest(r, v1.SHA256, key, []byte(body), at); err != nil {
		t.Fatal(err)
	}
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestSignatures(t *testing.T) {
	const path = "/base/records/A/example.com/www"
	s, c := signing(t, server.Options{Base: "/base"}, 0)
	wantOK := func(what string, r *http.Request) {
		t.Helper()
		if w := serve(s, r); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	wantOK("health", signed(t, c.now, "GET", "/base/health", ""))
	wantOK("upsert", signed(t, c.now, "POST", "/base/records", body(www)))
	wantOK("get", signed(t, c.now, "GET", path, ""))
	wantOK("oldest", signed(t, c.now.Add(-5*time.Minute), "GET", path, ""))
	wantOK("newest", signed(t, c.now.Add(5*time.Minute), "GET", path, ""))

	reused := signed(t, c.now, "GET", path, "")
	wantOK("first use", reused)
	changed := func(change func(r *http.Request)) *http.Request {
		r := signed(t, c.now, "POST", "/base/records", body(www))
		change(r)
		return r
	}
	unsigned := httptest.NewRequest("DELETE", path, nil)
	for what, tt := range map[string]struct {
		r    *http.Request
		code v1.ErrorCode
	}{
		"unsigned":        {unsigned, v1.CodeAuthFailed},
		"unsigned health": {httptest.NewRequest("GET", "/base/health", nil), v1.CodeAuthFailed},
		"no nonce":        {changed(func(r *http.Request) { r.Header.Del(v1.HeaderNonce) }), v1.CodeAuthFailed},
		"wrong signature": {changed(func(r *http.Request) { r.Header.Set(v1.HeaderSignature, strings.Repeat("0", 64)) }), v1.CodeAuthFailed},
		"other body":      {changed(func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(body(www) + " ")) }), v1.CodeAuthFailed},
		"other path":      {changed(func(r *http.Request) { r.RequestURI, r.URL.Path = "/base/health", "/base/health"; r.Method = "GET" }), v1.CodeAuthFailed},
		"old":             {signed(t, c.now.Add(-5*time.Minute-time.Second), "GET", path, ""), v1.CodeTimestampStale},
		"of the future":   {signed(t, c.now.Add(5*time.Minute+time.Second), "GET", path, ""), v1.CodeTimestampStale},
		"reused nonce":    {reused, v1.CodeNonceReused},
	} {
		t.Run(what, func(t *testing.T) {
			w := serve(s, tt.r)
			wantError(t, w, http.StatusUnauthorized, tt.code)
			if strings.Contains(w.Body.String(), string(key)) {
				t.Errorf("the answer holds the key: %s", w.Body)
			}
		})
	}
	wantOK("it is still there", signed(t, c.now, "GET", path, ""))
}

func TestFullNonceStore(t *testing.T) {
	s, c := signing(t, server.Options{}, 1)
	if w := serve(s, signed(t, c.now, "POST", "/records", body(www))); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	w := serve(s, signed(t, c.now, "POST", "/records", body(www)))
	wantError(t, w, http.StatusTooManyRequests, v1.CodeRateLimited)
	if got := w.Header().Get("Retry-After"); got != "301" {
		t.Errorf("Retry-After %q, want 301", got)
	}
}

// oddVerifier refuses in a way that the protocol does not know.
type oddVerifier struct{}

func (oddVerifier) Verify(*http.Request, []byte) error { return errors.New("odd") }

func TestOddVerifier(t *testing.T) {
	wantError(t, send(newServer(t, server.Options{Verifier: oddVerifier{}}), "GET", "/health", ""), http.StatusUnauthorized, v1.CodeAuthFailed)
}

// TestOnlyAuthenticRequestsCount: a stranger cannot use up the rate of the one who has the key.
func TestOnlyAuthenticRequestsCount(t *testing.T) {
	s, c := signing(t, server.Options{Rate: 0.001, Burst: 1}, 0)
	for range 5 {
		wantError(t, send(s, "GET", "/records/A/example.com/www", ""), http.StatusUnauthorized, v1.CodeAuthFailed)
	}
	if w := serve(s, signed(t, c.now, "POST", "/records", body(www))); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestLog: one JSON line for each request, whatever is in its path, and nothing of body or signature.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s, c := signing(t, server.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))}, 0)
	r := signed(t, c.now, "POST", "/records", body(strings.Replace(www, "192.0.2.2", "203.0.113.77", 1)))
	signature := r.Header.Get(v1.HeaderSignature)
	serve(s, r)
	r = httptest.NewRequest("GET", "/records/x", nil)
	r.URL.Path, r.URL.RawPath = "/records/\n{\"msg\":\"forged\"}", ""
	serve(s, r)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), &log)
	}
	for _, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["msg"] != "request" || fields["status"] == nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, secret := range []string{string(key), signature, "203.0.113.77"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %q: %s", secret, &log)
		}
	}
}
