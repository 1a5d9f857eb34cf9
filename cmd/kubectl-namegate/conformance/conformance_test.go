package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
	"github.com/namegate/namegate/cmd/dnsserver/server"
	"github.com/namegate/namegate/cmd/kubectl-namegate/conformance"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret has what a program that trims it would lose.
var secret = []byte(" shared secret\n")

// verifier is the real one; it started an hour ago, so that the very first second of a test is not before its start.
func verifier(t testing.TB, alg v1.Algorithm) *v1.Verifier {
	t.Helper()
	var once sync.Once
	v, err := v1.NewVerifier(alg, secret, v1.VerifierOptions{Clock: func() time.Time {
		now := time.Now()
		once.Do(func() { now = now.Add(-time.Hour) })
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// start serves until the test ends. The file, if there is one, shows what is left. A server that refused a large body takes half a
// second to close, so subtests start theirs for the whole test.
func start(t testing.TB, o server.Options, wrap func(http.Handler) http.Handler, file string) (url string) {
	t.Helper()
	store, err := memory.New(memory.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	o.Backend, o.Log = store, slog.New(slog.DiscardHandler)
	var h http.Handler = server.New(o)
	if wrap != nil {
		h = wrap(h)
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL + o.Base
}

func options(t testing.TB, url string, secret []byte) conformance.Options {
	t.Helper()
	u, err := endpoint.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	domain, err := dnsname.Parse(conformance.DefaultDomain)
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Options{Server: u, Domain: domain, Secret: secret, Algorithm: v1.SHA256, Timeout: 10 * time.Second}
}

// names returns the names of the checks that ended in a status.
func names(report conformance.Report, status conformance.Status) []string {
	var out []string
	for _, r := range report.Results {
		if r.Status == status {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return out
}

func lines(report conformance.Report) string {
	var b strings.Builder
	for _, r := range report.Results {
		fmt.Fprintf(&b, "%s %s: %s; %s\n", r.Status, r.Name, r.Expected, r.Got)
	}
	return b.String()
}

func TestOurServerConforms(whole *testing.T) {
	for what, tt := range map[string]struct {
		options   server.Options
		algorithm v1.Algorithm
		wrap      func(http.Handler) http.Handler
		skipped   int
	}{
		"unsigned":               {server.Options{}, "", nil, 24},
		"signed":                 {server.Options{}, v1.SHA256, nil, 1}, // there is no base path
		"signed, SHA512":         {server.Options{}, v1.SHA512, nil, 1},
		"signed, base path":      {server.Options{Base: "/dns/v1"}, v1.SHA256, nil, 0},
		"rate limited":           {server.Options{Rate: 200, Burst: 100}, "", patient(20), 24},
		"without GET":            {server.Options{}, "", answerGET(http.StatusMethodNotAllowed, `{"success":false}`), 24 + 9},
		"without GET, plain 404": {server.Options{}, "", answerGET(http.StatusNotFound, "404 page not found"), 24 + 9},
	} {
		whole.Run(what, func(t *testing.T) {
			var key []byte
			if tt.algorithm != "" {
				tt.options.Verifier, key = verifier(t, tt.algorithm), secret
			}
			file := filepath.Join(t.TempDir(), "records.json")
			url := start(whole, tt.options, tt.wrap, file)
			o := options(t, url, key)
			o.Algorithm = tt.algorithm
			report, err := conformance.Run(t.Context(), o)
			if err != nil || report.Failed > 0 || report.Skipped != tt.skipped || report.Passed+report.Skipped != len(report.Results) {
				t.Errorf("error %v, %d failed, %d skipped (want %d)\n%s", err, report.Failed, report.Skipped, tt.skipped, lines(report))
			}
			wantEmpty(t, file)
		})
	}
}

// wantEmpty checks that the run removed all that it created.
func wantEmpty(t testing.TB, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(`"records": []`)) {
		t.Errorf("left: %s", data)
	}
}

// patient refuses every nth request below /records with 429, and asks to come back in a second.
func patient(n int) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		var mu sync.Mutex
		count, refusals := 0, 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			count++
			refuse := count%n == 0 && refusals < 2
			if refuse {
				refusals++
			}
			mu.Unlock()
			if refuse {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

// when answers the requests that match with a fixed answer.
func when(match func(r *http.Request, body []byte) bool, status int, answer string) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, r := reread(r)
			if !match(r, body) {
				h.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", v1.ContentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		})
	}
}

// reread reads the body, and returns a request that can be read again.
func reread(r *http.Request) ([]byte, *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, r
	}
	again := *r
	again.Body = io.NopCloser(bytes.NewReader(body))
	return body, &again
}

func getsRecord(r *http.Request, _ []byte) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/records/")
}

func deletes(r *http.Request, _ []byte) bool { return r.Method == http.MethodDelete }

func answerGET(status int, answer string) func(http.Handler) http.Handler {
	return when(getsRecord, status, answer)
}

// rewrite changes the body of each answer.
func rewrite(change func(r *http.Request, answer []byte) []byte) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			w.Header().Set("Content-Type", v1.ContentType)
			w.WriteHeader(rec.Code)
			_, _ = w.Write(change(r, rec.Body.Bytes()))
		})
	}
}

// spoilBody changes the body of each POST before the server sees it.
func spoilBody(change func(body []byte) []byte) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				body, _ := reread(r)
				body = change(body)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			h.ServeHTTP(w, r)
		})
	}
}

// onlyFirst keeps the first upsert of a record and answers each later one as if it had been stored.
func onlyFirst(h http.Handler) http.Handler {
	seen := map[string]bool{}
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, r := reread(r)
		var req v1.UpsertRequest
		if r.Method == http.MethodPost && json.Unmarshal(body, &req) == nil && !strings.Contains(req.Record.Subdomain, "invalid") {
			id := req.Record.Type + " " + req.Record.Subdomain
			mu.Lock()
			again := seen[id]
			seen[id] = true
			mu.Unlock()
			if again {
				req.Record.FQDN = req.Record.Subdomain + "." + req.Record.Domain
				w.Header().Set("Content-Type", v1.ContentType)
				_ = json.NewEncoder(w).Encode(v1.Response{Success: true, Record: &req.Record})
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// oneTypePerName forgets the other types of a name that is deleted.
func oneTypePerName(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, "/records/A/") {
			other := httptest.NewRequest(http.MethodDelete, strings.Replace(r.URL.EscapedPath(), "/A/", "/TXT/", 1), nil)
			h.ServeHTTP(httptest.NewRecorder(), other)
		}
		h.ServeHTTP(w, r)
	})
}

// types prefixes the names of the seven types.
func types(prefixes ...string) []string {
	var out []string
	for _, prefix := range prefixes {
		for _, typ := range []string{"a", "aaaa", "cname", "txt", "mx", "srv", "ns"} {
			out = append(out, prefix+typ)
		}
	}
	return out
}

var invalids = []string{"invalid-json", "invalid-json-cut", "invalid-json-trailing", "invalid-operation", "invalid-type", "invalid-ttl",
	"invalid-no-values", "invalid-domain", "invalid-subdomain", "invalid-a", "invalid-a-ipv6", "invalid-aaaa-ipv4", "invalid-cname-two",
	"invalid-cname-name", "invalid-mx-priority", "invalid-mx-range", "invalid-srv-metadata"}

// lax turns a decision of the real verifier into another: decide gets its error, which may be nil.
type lax struct {
	real   *v1.Verifier
	decide func(r *http.Request, body []byte, err error) error
}

func (l lax) Verify(r *http.Request, body []byte) error {
	return l.decide(r, body, l.real.Verify(r, body))
}

// accepting ignores the refusals with a code, or of requests that match.
func accepting(match func(r *http.Request, code v1.ErrorCode) bool) func(*http.Request, []byte, error) error {
	return func(r *http.Request, _ []byte, err error) error {
		var refused *v1.VerifyError
		if errors.As(err, &refused) && match(r, refused.Code) {
			return nil
		}
		return err
	}
}

func lacks(header string) func(*http.Request, v1.ErrorCode) bool {
	return func(r *http.Request, _ v1.ErrorCode) bool { return r.Header.Get(header) == "" }
}

func isCode(code v1.ErrorCode) func(*http.Request, v1.ErrorCode) bool {
	return func(_ *http.Request, got v1.ErrorCode) bool { return got == code }
}

// brokenServers maps each way to be wrong to the checks that see it.
func brokenServers(t testing.TB) map[string]struct {
	wrap   func(http.Handler) http.Handler
	decide func(r *http.Request, body []byte, err error) error
	base   string
	fails  []string
} {
	burnt := map[string]bool{}
	bare := verifier(t, v1.SHA256)
	return map[string]struct {
		wrap   func(http.Handler) http.Handler
		decide func(r *http.Request, body []byte, err error) error
		base   string
		fails  []string
	}{
		"unhealthy": {
			wrap:  when(func(r *http.Request, _ []byte) bool { return r.URL.Path == "/health" }, 503, `{"status":"unhealthy"}`),
			fails: []string{"health", "body-too-large"},
		},
		"says it is well, with another word": {
			wrap:  when(func(r *http.Request, _ []byte) bool { return r.URL.Path == "/health" }, 200, `{"status":"ok"}`),
			fails: []string{"health"},
		},
		"a redirect": {
			wrap: func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/health" {
						http.Redirect(w, r, "/healthy", http.StatusFound)
						return
					}
					if r.URL.Path == "/healthy" {
						r.URL.Path = "/health"
					}
					h.ServeHTTP(w, r)
				})
			},
			fails: []string{"health", "body-too-large"},
		},
		"no fqdn": {
			wrap: rewrite(func(_ *http.Request, answer []byte) []byte {
				return bytes.ReplaceAll(answer, []byte(`"fqdn"`), []byte(`"name"`))
			}),
			fails: slices.Concat(types("upsert-"), []string{"text-long", "types-apart", "wildcard", "apex"}),
		},
		"no record in the answer": {
			wrap: rewrite(func(r *http.Request, answer []byte) []byte {
				if r.Method == http.MethodPost {
					return bytes.ReplaceAll(answer, []byte(`"record":`), []byte(`"recrod":`))
				}
				return answer
			}),
			fails: slices.Concat(types("upsert-"), []string{"text-long", "types-apart", "wildcard", "apex"}),
		},
		"GET finds nothing": {
			wrap:  answerGET(404, `{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"no"}}`),
			fails: slices.Concat(types("get-", "upsert-again-", "replace-"), []string{"text-long", "types-apart", "wildcard", "apex"}),
		},
		"GET of what is not there is empty": {
			wrap: func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					rec := httptest.NewRecorder()
					h.ServeHTTP(rec, r)
					w.Header().Set("Content-Type", v1.ContentType)
					if getsRecord(r, nil) && rec.Code == http.StatusNotFound {
						_, _ = io.WriteString(w, `{"success":true}`)
						return
					}
					w.WriteHeader(rec.Code)
					_, _ = w.Write(rec.Body.Bytes())
				})
			},
			// The rest of the records are then taken for being there.
			fails: slices.Concat(types("delete-"), []string{"get-absent", "wildcard", "body-too-large"},
				slices.DeleteFunc(slices.Clone(invalids), func(name string) bool {
					return slices.Contains([]string{"invalid-type", "invalid-domain", "invalid-subdomain"}, name)
				})),
		},
		"a second upsert is refused": {
			wrap: func(h http.Handler) http.Handler {
				seen := map[string]bool{}
				return when(func(r *http.Request, body []byte) bool {
					var req v1.UpsertRequest
					if r.Method != http.MethodPost || json.Unmarshal(body, &req) != nil {
						return false
					}
					id := req.Record.Type + " " + req.Record.Subdomain
					again := seen[id]
					seen[id] = true
					return again && len(req.Record.Values) > 0 && !strings.HasPrefix(req.Record.Subdomain, "invalid")
				}, 400, `{"success":false,"error":{"code":"INVALID_RECORD","message":"exists"}}`)(h)
			},
			fails: types("upsert-again-", "replace-"),
		},
		"never replaces": {
			wrap:  onlyFirst,
			fails: types("replace-"),
		},
		"cuts texts": {
			wrap: spoilBody(func(body []byte) []byte {
				return bytes.Replace(body, []byte(strings.Repeat("0123456789", 30)), []byte(strings.Repeat("0123456789", 25)), 1)
			}),
			fails: []string{"text-long"},
		},
		"deletes all types": {
			wrap:  oneTypePerName,
			fails: []string{"types-apart"},
		},
		"does not delete": {
			wrap:  when(deletes, 200, `{"success":true}`),
			fails: slices.Concat(types("delete-"), []string{"wildcard", "apex"}),
		},
		"cannot delete": {
			wrap: when(deletes, 500, `{"success":false,"error":{"code":"SERVER_ERROR","message":"no"}}`),
			fails: slices.Concat(types("delete-", "delete-again-"),
				[]string{"delete-absent", "types-apart", "wildcard", "apex", "answers-are-json", "cleanup"}),
		},
		"deletes once": {
			wrap: func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					rec := httptest.NewRecorder()
					h.ServeHTTP(rec, r)
					w.Header().Set("Content-Type", v1.ContentType)
					if r.Method == http.MethodDelete && rec.Code == http.StatusNotFound {
						rec.Code = http.StatusInternalServerError
					}
					w.WriteHeader(rec.Code)
					_, _ = w.Write(rec.Body.Bytes())
				})
			},
			fails: append(types("delete-again-"), "delete-absent"),
		},
		"no escapes": {
			wrap: when(func(r *http.Request, _ []byte) bool { return strings.Contains(r.URL.EscapedPath(), "%2A") }, 400,
				`{"success":false,"error":{"code":"INVALID_DOMAIN","message":"no"}}`),
			fails: []string{"wildcard", "cleanup"},
		},
		"no apex": {
			wrap:  spoilBody(func(body []byte) []byte { return bytes.Replace(body, []byte(`"@"`), []byte(`"%40"`), 1) }),
			fails: []string{"apex"},
		},
		"other codes": {
			wrap: rewrite(func(_ *http.Request, answer []byte) []byte {
				return bytes.Replace(answer, []byte(`"INVALID_`), []byte(`"BAD_`), 1)
			}),
			fails: invalids,
		},
		"code RECORD_NOT_FOUND everywhere": {
			wrap: when(func(r *http.Request, _ []byte) bool {
				return !strings.HasPrefix(r.URL.Path, "/records") && r.URL.Path != "/health"
			}, 404,
				`{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"no"}}`),
			fails: []string{"unknown-path"},
		},
		"a page for people": {
			wrap: func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					rec := httptest.NewRecorder()
					h.ServeHTTP(rec, r)
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(rec.Code)
					_, _ = w.Write(rec.Body.Bytes())
				})
			},
			fails: []string{"health", "answers-are-json"},
		},
		"any size": {
			wrap:  spoilBody(func(body []byte) []byte { return bytes.TrimRight(body, " ") }),
			fails: []string{"body-too-large"},
		},
		"needs no signature": {
			decide: accepting(lacks(v1.HeaderSignature)),
			fails:  []string{"signature-health", "signature-delete", "signature-missing", "signature-no-signature"},
		},
		"needs no timestamp": {
			decide: accepting(func(r *http.Request, _ v1.ErrorCode) bool {
				return lacks(v1.HeaderTimestamp)(r, "") && !lacks(v1.HeaderNonce)(r, "")
			}),
			fails: []string{"signature-no-timestamp"},
		},
		"needs no nonce": {
			decide: accepting(func(r *http.Request, _ v1.ErrorCode) bool {
				return lacks(v1.HeaderNonce)(r, "") && !lacks(v1.HeaderTimestamp)(r, "")
			}),
			fails: []string{"signature-no-nonce"},
		},
		"any signature will do": {
			decide: accepting(func(r *http.Request, code v1.ErrorCode) bool {
				_, err := time.Parse(time.RFC3339, r.Header.Get(v1.HeaderTimestamp))
				return code == v1.CodeAuthFailed && err == nil && !lacks(v1.HeaderNonce)(r, "") && !lacks(v1.HeaderSignature)(r, "")
			}),
			base: "/base",
			fails: []string{"signature-wrong", "signature-short", "signature-wrong-key", "signature-trimmed-key", "signature-algorithm", "signature-body",
				"signature-path", "signature-method", "signature-timestamp", "signature-nonce", "nonce-of-a-forgery", "base-path"},
		},
		"any time will do": {
			decide: accepting(func(r *http.Request, code v1.ErrorCode) bool {
				return code == v1.CodeTimestampStale || r.Header.Get(v1.HeaderTimestamp) == "yesterday"
			}),
			fails: []string{"timestamp-old", "timestamp-future", "timestamp-not-a-time"},
		},
		"one code for all": {
			decide: func(_ *http.Request, _ []byte, err error) error {
				if err != nil {
					return &v1.VerifyError{Code: v1.CodeAuthFailed}
				}
				return nil
			},
			fails: []string{"timestamp-old", "timestamp-future", "nonce-replay", "nonce-reused"},
		},
		"a narrow window": {
			decide: func(r *http.Request, _ []byte, err error) error {
				if at, _ := time.Parse(time.RFC3339, r.Header.Get(v1.HeaderTimestamp)); err == nil && time.Until(at) > time.Minute {
					return &v1.VerifyError{Code: v1.CodeTimestampStale}
				}
				return err
			},
			fails: []string{"timestamp-skew"},
		},
		"remembers no nonces": {
			decide: accepting(isCode(v1.CodeNonceReused)),
			fails:  []string{"nonce-replay", "nonce-reused"},
		},
		"remembers too many nonces": {
			decide: func(r *http.Request, _ []byte, err error) error {
				nonce := r.Header.Get(v1.HeaderNonce)
				if err != nil {
					burnt[nonce] = true
					return err
				}
				if burnt[nonce] {
					return &v1.VerifyError{Code: v1.CodeNonceReused}
				}
				return nil
			},
			fails: []string{"nonce-of-a-forgery"},
		},
		"signs with or without the base path": {
			decide: func(r *http.Request, body []byte, err error) error {
				stripped := *r
				stripped.RequestURI = strings.TrimPrefix(r.RequestURI, "/base")
				if err != nil && bare.Verify(&stripped, body) == nil {
					return nil
				}
				return err
			},
			base:  "/base",
			fails: []string{"base-path"},
		},
		"signs something else": {
			decide: func(*http.Request, []byte, error) error { return &v1.VerifyError{Code: v1.CodeAuthFailed} },
			fails:  []string{"health"},
		},
	}
}

// TestBrokenServers: each way to be wrong is found, by the checks that it concerns and no others; and there is one for every check.
func TestBrokenServers(whole *testing.T) {
	unseen := map[string]bool{}
	broken := brokenServers(whole)
	for what, tt := range broken {
		whole.Run(what, func(t *testing.T) {
			o := server.Options{Base: tt.base}
			var key []byte
			if tt.decide != nil {
				o.Verifier, key = lax{verifier(t, v1.SHA256), tt.decide}, secret
			}
			report, err := conformance.Run(t.Context(), options(t, start(whole, o, tt.wrap, ""), key))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results {
				unseen[r.Name] = true
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.fails)), names(report, conformance.Fail)); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, lines(report))
			}
		})
	}
	for _, tt := range broken {
		for _, name := range tt.fails {
			delete(unseen, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unseen)) {
		whole.Errorf("no broken server fails %s", name)
	}
}

// TestEveryCheckHasItsOwnName, and a requirement.
func TestEveryCheckHasItsOwnName(t *testing.T) {
	url := start(t, server.Options{}, nil, "")
	report, err := conformance.Run(t.Context(), options(t, url, nil))
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../../docs/dns-server-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range report.Results {
		if seen[r.Name] || r.Expected == "" || r.Got == "" {
			t.Errorf("%+v", r)
		}
		if !bytes.Contains(guide, []byte("| "+r.Requirement+" |")) {
			t.Errorf("%s: the guide has no requirement %s", r.Name, r.Requirement)
		}
		seen[r.Name] = true
	}
}

// TestGuide: the signatures and error codes in the guide are the ones of the protocol.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/dns-server-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("correct horse battery staple")
	body := []byte(`{"operation":"upsert","record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"],"ttl":300}}`)
	for _, tt := range []struct {
		alg                 v1.Algorithm
		method, path, nonce string
		body                []byte
	}{
		{v1.SHA256, "GET", "/health", "6f1e0d9c8b7a", nil},
		{v1.SHA512, "GET", "/health", "6f1e0d9c8b7a", nil},
		{v1.SHA256, "DELETE", "/records/A/example.com/%2A.apps", "6f1e0d9c8b7b", nil},
		{v1.SHA256, "POST", "/records", "6f1e0d9c8b7c", body},
	} {
		signature, err := v1.Sign(tt.alg, key, tt.method, tt.path, "2026-01-02T03:04:05Z", tt.nonce, tt.body)
		if err != nil || !bytes.Contains(guide, []byte(signature+" *stdin\n")) {
			t.Errorf("%s %s: the guide does not have %s (%v)", tt.method, tt.path, signature, err)
		}
	}
	if !bytes.Contains(guide, body) {
		t.Errorf("the guide signs another body than %s", body)
	}
	for _, code := range []v1.ErrorCode{v1.CodeInvalidRecord, v1.CodeInvalidDomain, v1.CodeInvalidValue, v1.CodeRecordNotFound, v1.CodeAuthFailed,
		v1.CodeTimestampStale, v1.CodeNonceReused, v1.CodeRateLimited, v1.CodeQuotaExceeded, v1.CodeServerError} {
		if row := fmt.Sprintf("| `%s` | %d |", code, code.Status()); !bytes.Contains(guide, []byte(row)) {
			t.Errorf("the guide lacks %s", row)
		}
	}
}

// TestApexIsLeftAlone: a record at the domain itself survives.
func TestApexIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.json")
	url := start(t, server.Options{}, nil, file)
	body := `{"operation":"upsert","record":{"type":"TXT","domain":"conformance.test","subdomain":"@","values":["mine"],"ttl":60}}`
	r, err := http.Post(url+"/records", v1.ContentType, strings.NewReader(body))
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	_ = r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	report, err := conformance.Run(t.Context(), options(t, url, nil))
	if err != nil || !slices.Contains(names(report, conformance.Skip), "apex") {
		t.Errorf("%v\n%s", err, lines(report))
	}
	if data, err := os.ReadFile(file); err != nil || !bytes.Contains(data, []byte(`"mine"`)) {
		t.Errorf("%s %v", data, err)
	}
}

// TestStopped: a run that is stopped removes what it has created until then.
func TestStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.json")
	url := start(t, server.Options{}, nil, file)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, url, nil)
	o.OnResult = func(r conformance.Result) {
		if r.Name == "replace-a" {
			cancel()
		}
	}
	if _, err := conformance.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	wantEmpty(t, file)
}

// run runs the command.
func run(t testing.TB, args ...string) (stdout string, code int, err error) {
	t.Helper()
	cmd := conformance.Command()
	var out, errOut bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	if errOut.Len() > 0 {
		t.Errorf("on stderr: %s", &errOut)
	}
	return out.String(), conformance.ExitCode(err), err
}

func secretFile(t testing.TB, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCommand(t *testing.T) {
	url := start(t, server.Options{Verifier: verifier(t, v1.SHA256)}, nil, "")
	right, wrong := secretFile(t, secret), secretFile(t, bytes.TrimSpace(secret))

	out, code, err := run(t, "--server", url, "--secret-file", right)
	last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	if code != 0 || err != nil || !strings.HasSuffix(last, " 0 failed, 1 skipped\n") || !strings.Contains(out, "PASS  upsert-a  ") || !strings.Contains(out, "SKIP  base-path ") {
		t.Errorf("code %d, error %v\n%s", code, err, out)
	}

	out, code, _ = run(t, "--server", url, "--secret-file", wrong)
	if code != 1 || !strings.HasPrefix(out, "FAIL  health ") || strings.Count(out, "\n") != 3 {
		t.Errorf("code %d\n%s", code, out)
	}

	out, code, err = run(t, "--server", url, "--secret-file", right, "-o", "json")
	var report conformance.Report
	if jsonErr := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || jsonErr != nil {
		t.Fatalf("code %d, error %v, %v\n%s", code, err, jsonErr, out)
	}
	if report.Passed != len(report.Results)-1 || report.Server != url || report.Results[0].Requirement != "H1" {
		t.Errorf("%+v", report)
	}
}

func TestCannotRun(t *testing.T) {
	signs := start(t, server.Options{Verifier: verifier(t, v1.SHA256)}, nil, "")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	private := httptest.NewUnstartedServer(http.NotFoundHandler())
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	defer private.Close()
	for what, args := range map[string][]string{
		"no server":             {},
		"no URL":                {"--server", "dns.example.com"},
		"nobody there":          {"--server", gone.URL},
		"secret is missing":     {"--server", signs},
		"no such secret file":   {"--server", signs, "--secret-file", filepath.Join(t.TempDir(), "none")},
		"empty secret file":     {"--server", signs, "--secret-file", secretFile(t, nil)},
		"unknown algorithm":     {"--server", signs, "--algorithm", "MD5"},
		"bad domain":            {"--server", signs, "--domain", "not a domain"},
		"unknown output":        {"--server", signs, "-o", "yaml"},
		"no time":               {"--server", signs, "--timeout", "0s"},
		"unknown flag":          {"--no-such-flag"},
		"an argument":           {"--server", signs, "argument"},
		"CA file without a CA":  {"--server", signs, "--ca-file", secretFile(t, []byte("text"))},
		"certificate of nobody": {"--server", private.URL},
	} {
		out, code, err := run(t, args...)
		if code != 2 || err == nil || out != "" {
			t.Errorf("%s: code %d, error %v, output %s", what, code, err, out)
		}
	}
}

func TestPrivateCA(t *testing.T) {
	inner := start(t, server.Options{}, nil, "")
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, inner+r.URL.EscapedPath(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return
		}
		defer func() { _ = res.Body.Close() }()
		maps.Copy(w.Header(), res.Header)
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	defer http.DefaultClient.CloseIdleConnections()
	defer web.Close()
	var ca bytes.Buffer
	if err := pemEncode(&ca, web.Certificate().Raw); err != nil {
		t.Fatal(err)
	}
	if out, code, err := run(t, "--server", web.URL, "--ca-file", secretFile(t, ca.Bytes())); code != 0 {
		t.Errorf("code %d, error %v\n%s", code, err, out)
	}
}

// TestHostileServer: text of the server comes out quoted and short, or not at all.
func TestHostileServer(t *testing.T) {
	const evil = "\x1b[2Jevil\nPASS  forged"
	long := strings.Repeat("x", 100_000)
	answer, err := json.Marshal(map[string]any{"success": true, "status": evil + long, "message": evil,
		"error":  map[string]any{"code": evil, "message": evil},
		"record": map[string]any{"type": "A", "domain": evil, "subdomain": evil, "fqdn": evil + long, "values": []string{evil + long}, "ttl": 1}})
	if err != nil {
		t.Fatal(err)
	}
	for what, h := range map[string]http.HandlerFunc{
		"evil JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(answer)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			for range 40 {
				if _, err := io.WriteString(w, long); err != nil {
					return
				}
			}
		},
		"closes": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(what, func(t *testing.T) {
			web := httptest.NewServer(h)
			defer web.Close()
			out, code, _ := run(t, "--server", web.URL)
			if code == 0 {
				t.Errorf("conforms:\n%s", out)
			}
			for line := range strings.Lines(out) {
				if strings.Contains(line, "\x1b") || strings.HasPrefix(line, "PASS  forged") || len(line) > 3000 {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

func pemEncode(w io.Writer, der []byte) error {
	return pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: der})
}
