package v1

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const testKey = "a key that nobody may ever see"

// epoch is the time at which the verifiers of these tests start.
var epoch = time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC)

// clock is a clock that tests move.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.set(epoch)
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) set(t time.Time)         { c.nanos.Store(t.UnixNano()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

func newTestVerifier(t testing.TB, c *clock, maxNonces int) *Verifier {
	t.Helper()
	v, err := NewVerifier(SHA256, []byte(testKey), VerifierOptions{MaxNonces: maxNonces, Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// message is a request before it is signed.
type message struct{ method, target, timestamp, nonce, body string }

func at(t time.Time, nonce string) message {
	return message{"POST", "/records", t.UTC().Format(TimestampLayout), nonce, `{"record":{}}`}
}

// hmacHex computes the signature without the code under test.
func hmacHex(key string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

func (m message) signature() string {
	parts := []string{m.method, m.target, m.timestamp, m.nonce}
	if m.body != "" {
		parts = append(parts, m.body)
	}
	return hmacHex(testKey, parts...)
}

func (m message) request(signature string) *http.Request {
	return &http.Request{Method: m.method, RequestURI: m.target, Header: http.Header{
		"X-Dns-Timestamp": {m.timestamp}, "X-Dns-Nonce": {m.nonce}, "X-Dns-Signature": {signature}}}
}

func (m message) verify(v *Verifier) error { return v.Verify(m.request(m.signature()), []byte(m.body)) }

// wantCode fails unless err is nil for an empty code, and a *VerifyError of the code otherwise.
func wantCode(t *testing.T, err error, code ErrorCode) {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Fatalf("Verify = %v, want nil", err)
		}
		return
	}
	var refused *VerifyError
	if !errors.As(err, &refused) || refused.Code != code {
		t.Fatalf("Verify = %v, want code %s", err, code)
	}
	if refused.Error() == "" || strings.Contains(refused.Error(), testKey) {
		t.Errorf("message %q", refused.Error())
	}
}

func TestVerifyMessages(t *testing.T) {
	tests := map[string]struct {
		change func(*message)
		want   ErrorCode
	}{
		"as it should be":           {func(*message) {}, ""},
		"get without body":          {func(m *message) { m.method, m.target, m.body = "GET", "/health", "" }, ""},
		"delete a wildcard":         {func(m *message) { m.method, m.target, m.body = "DELETE", "/records/A/example.com/%2A", "" }, ""},
		"delete the apex":           {func(m *message) { m.method, m.target, m.body = "DELETE", "/records/A/example.com/@", "" }, ""},
		"uuid as nonce":             {func(m *message) { m.nonce = "550e8400-e29b-41d4-a716-446655440000" }, ""},
		"longest nonce":             {func(m *message) { m.nonce = strings.Repeat("~", 128) }, ""},
		"longest nonce and one":     {func(m *message) { m.nonce = strings.Repeat("~", 129) }, CodeAuthFailed},
		"empty nonce":               {func(m *message) { m.nonce = "" }, CodeAuthFailed},
		"space in nonce":            {func(m *message) { m.nonce = "a b" }, CodeAuthFailed},
		"newline in nonce":          {func(m *message) { m.nonce = "a\nb" }, CodeAuthFailed},
		"non-ASCII nonce":           {func(m *message) { m.nonce = "ä" }, CodeAuthFailed},
		"put":                       {func(m *message) { m.method = "PUT" }, CodeAuthFailed},
		"head":                      {func(m *message) { m.method = "HEAD" }, CodeAuthFailed},
		"lower-case method":         {func(m *message) { m.method = "post" }, CodeAuthFailed},
		"no method":                 {func(m *message) { m.method = "" }, CodeAuthFailed},
		"query":                     {func(m *message) { m.target = "/records?a=b" }, CodeAuthFailed},
		"empty query":               {func(m *message) { m.target = "/records?" }, CodeAuthFailed},
		"fragment":                  {func(m *message) { m.target = "/records#a" }, CodeAuthFailed},
		"no target":                 {func(m *message) { m.target = "" }, CodeAuthFailed},
		"root":                      {func(m *message) { m.target = "/" }, CodeAuthFailed},
		"asterisk target":           {func(m *message) { m.target = "*" }, CodeAuthFailed},
		"absolute target":           {func(m *message) { m.target = "http://example.com/records" }, CodeAuthFailed},
		"trailing slash":            {func(m *message) { m.target = "/records/" }, CodeAuthFailed},
		"empty segment":             {func(m *message) { m.target = "//records" }, CodeAuthFailed},
		"dot segment":               {func(m *message) { m.target = "/a/../records" }, CodeAuthFailed},
		"escaped dot segment":       {func(m *message) { m.target = "/a/%2E%2E/records" }, CodeAuthFailed},
		"wildcard not escaped":      {func(m *message) { m.target = "/records/A/example.com/*" }, CodeAuthFailed},
		"apex escaped":              {func(m *message) { m.target = "/records/A/example.com/%40" }, CodeAuthFailed},
		"letter escaped":            {func(m *message) { m.target = "/%72ecords" }, CodeAuthFailed},
		"lower-case escape":         {func(m *message) { m.target = "/records/A/example.com/%2a" }, CodeAuthFailed},
		"broken escape":             {func(m *message) { m.target = "/records/%2" }, CodeAuthFailed},
		"slash within a segment":    {func(m *message) { m.target = "/records/a%2Fb" }, ""},
		"fraction of a second":      {func(m *message) { m.timestamp = "2025-12-30T10:00:00.0Z" }, CodeAuthFailed},
		"comma fraction":            {func(m *message) { m.timestamp = "2025-12-30T10:00:00,5Z" }, CodeAuthFailed},
		"offset instead of Z":       {func(m *message) { m.timestamp = "2025-12-30T10:00:00+00:00" }, CodeAuthFailed},
		"other offset":              {func(m *message) { m.timestamp = "2025-12-30T11:00:00+01:00" }, CodeAuthFailed},
		"lower-case z":              {func(m *message) { m.timestamp = "2025-12-30T10:00:00z" }, CodeAuthFailed},
		"lower-case t":              {func(m *message) { m.timestamp = "2025-12-30t10:00:00Z" }, CodeAuthFailed},
		"space for T":               {func(m *message) { m.timestamp = "2025-12-30 10:00:00Z" }, CodeAuthFailed},
		"seconds since 1970":        {func(m *message) { m.timestamp = "1767088800" }, CodeAuthFailed},
		"no such day":               {func(m *message) { m.timestamp = "2025-02-30T10:00:00Z" }, CodeAuthFailed},
		"no timestamp":              {func(m *message) { m.timestamp = "" }, CodeAuthFailed},
		"year of five digits":       {func(m *message) { m.timestamp = "12025-12-30T10:00:00Z" }, CodeAuthFailed},
		"at the past edge":          {func(m *message) { m.timestamp = "2025-12-30T10:00:00Z" }, ""},
		"beyond the past edge":      {func(m *message) { m.timestamp = "2025-12-30T09:59:59Z" }, CodeTimestampStale},
		"at the future edge":        {func(m *message) { m.timestamp = "2025-12-30T10:10:00Z" }, ""},
		"beyond the future edge":    {func(m *message) { m.timestamp = "2025-12-30T10:10:01Z" }, CodeTimestampStale},
		"the earliest of all":       {func(m *message) { m.timestamp = "0000-01-01T00:00:00Z" }, CodeTimestampStale},
		"the latest of all":         {func(m *message) { m.timestamp = "9999-12-31T23:59:59Z" }, CodeTimestampStale},
		"body with a new last line": {func(m *message) { m.body += "\n" }, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			v := newTestVerifier(t, c, 0)
			c.advance(5 * time.Minute)
			m := at(c.now(), "nonce")
			tc.change(&m)
			wantCode(t, m.verify(v), tc.want)
		})
	}
}

func TestVerifySignatures(t *testing.T) {
	m := at(epoch, "nonce")
	good := m.signature()
	tests := map[string]string{
		"none":             "",
		"upper case":       strings.ToUpper(good),
		"one digit upper":  strings.Replace(good, firstLetter(good), strings.ToUpper(firstLetter(good)), 1),
		"short":            good[:63],
		"long":             good + "0",
		"space":            good + " ",
		"prefix":           "sha256=" + good,
		"zeros":            strings.Repeat("0", 64),
		"other key":        hmacHex("other", m.method, m.target, m.timestamp, m.nonce, m.body),
		"empty key":        hmacHex("", m.method, m.target, m.timestamp, m.nonce, m.body),
		"without the body": hmacHex(testKey, m.method, m.target, m.timestamp, m.nonce),
		"newline at end":   hmacHex(testKey, m.method, m.target, m.timestamp, m.nonce, m.body, ""),
		"unordered":        hmacHex(testKey, m.target, m.method, m.timestamp, m.nonce, m.body),
	}
	v := newTestVerifier(t, newClock(), 0)
	for name, signature := range tests {
		t.Run(name, func(t *testing.T) {
			wantCode(t, v.Verify(m.request(signature), []byte(m.body)), CodeAuthFailed)
		})
	}
	wantCode(t, v.Verify(m.request(good), []byte(m.body)), "")
}

func firstLetter(hexadecimal string) string {
	i := strings.IndexAny(hexadecimal, "abcdef")
	return hexadecimal[i : i+1]
}

// TestVerifyTampered changes what was signed, after it was signed.
func TestVerifyTampered(t *testing.T) {
	m := at(epoch, "nonce")
	tests := map[string]func(*message){
		"method":         func(m *message) { m.method = "DELETE" },
		"path":           func(m *message) { m.target = "/health" },
		"base path":      func(m *message) { m.target = "/other/records" },
		"timestamp":      func(m *message) { m.timestamp = "2025-12-30T10:00:01Z" },
		"nonce":          func(m *message) { m.nonce = "nonce2" },
		"body":           func(m *message) { m.body = `{"record":{"ttl":1}}` },
		"body removed":   func(m *message) { m.body = "" },
		"body lengthens": func(m *message) { m.body += " " },
	}
	v := newTestVerifier(t, newClock(), 0)
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			signature, changed := m.signature(), m
			change(&changed)
			wantCode(t, v.Verify(changed.request(signature), []byte(changed.body)), CodeAuthFailed)
		})
	}
}

func TestVerifyHeaders(t *testing.T) {
	m := at(epoch, "nonce")
	for _, header := range []string{"X-Dns-Timestamp", "X-Dns-Nonce", "X-Dns-Signature"} {
		for name, change := range map[string]func(*http.Request){
			"missing": func(r *http.Request) { delete(r.Header, header) },
			"twice":   func(r *http.Request) { r.Header[header] = append(r.Header[header], r.Header[header]...) },
			"empty":   func(r *http.Request) { r.Header[header] = []string{""} },
		} {
			t.Run(header+" "+name, func(t *testing.T) {
				r := m.request(m.signature())
				change(r)
				wantCode(t, newTestVerifier(t, newClock(), 0).Verify(r, []byte(m.body)), CodeAuthFailed)
			})
		}
	}
}

// TestVerifyUsesTargetAsSent reads a request as net/http does: what a handler in front makes of the URL has no part in it.
func TestVerifyUsesTargetAsSent(t *testing.T) {
	m := message{"DELETE", "/dns/records/A/example.com/%2A", epoch.Format(TimestampLayout), "nonce", ""}
	raw := fmt.Sprintf("DELETE %s HTTP/1.1\r\nHost: h\r\nX-DNS-Timestamp: %s\r\nx-dns-nonce: %s\r\nX-DNS-SIGNATURE: %s\r\n\r\n",
		m.target, m.timestamp, m.nonce, m.signature())
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Path, r.URL.RawPath = "/records/A/example.com/*", ""
	wantCode(t, newTestVerifier(t, newClock(), 0).Verify(r, nil), "")
}

// TestVerifySignRequest verifies a request of this package's client side that never went over a wire.
func TestVerifySignRequest(t *testing.T) {
	req, err := http.NewRequest(http.MethodGet, "http://example.com"+RecordPath("/dns", "A", "example.com", "*"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := SignRequest(req, SHA256, []byte(testKey), nil, epoch); err != nil {
		t.Fatal(err)
	}
	v := newTestVerifier(t, newClock(), 0)
	wantCode(t, v.Verify(req, nil), "")
	wantCode(t, v.Verify(req, nil), CodeNonceReused)
	wantCode(t, v.Verify(&http.Request{Method: "GET"}, nil), CodeAuthFailed)
}

func TestVerifyReplay(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 0)
	first := at(c.now(), "nonce")
	wantCode(t, first.verify(v), "")
	wantCode(t, first.verify(v), CodeNonceReused)

	otherBody := first
	otherBody.body = "{}"
	wantCode(t, otherBody.verify(v), CodeNonceReused)

	c.advance(5 * time.Minute)
	wantCode(t, first.verify(v), CodeNonceReused)
	c.advance(time.Nanosecond)
	wantCode(t, first.verify(v), CodeTimestampStale)
	wantCode(t, at(c.now(), "nonce").verify(v), "") // forgotten, because nothing that carried it can be fresh again
}

// TestVerifyFutureNonceIsKept holds a nonce for as long as its timestamp is fresh, not only for one window from its arrival.
func TestVerifyFutureNonceIsKept(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 0)
	ahead := at(c.now().Add(5*time.Minute), "nonce")
	wantCode(t, ahead.verify(v), "")
	c.advance(10 * time.Minute)
	wantCode(t, ahead.verify(v), CodeNonceReused)
	c.advance(time.Second)
	wantCode(t, ahead.verify(v), CodeTimestampStale)
}

func TestVerifyBeforeStart(t *testing.T) {
	c := newClock()
	c.advance(700 * time.Millisecond)
	v := newTestVerifier(t, c, 0)
	wantCode(t, at(epoch.Add(-time.Second), "a").verify(v), CodeTimestampStale)
	wantCode(t, at(epoch, "b").verify(v), CodeTimestampStale) // may have been used in the 0.7 s before the start
	wantCode(t, at(epoch.Add(time.Second), "c").verify(v), "")
}

// TestVerifyClockSetBack replays a request after the clock went ahead, so that its nonce was forgotten, and back again.
func TestVerifyClockSetBack(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 0)
	old := at(c.now(), "old")
	wantCode(t, old.verify(v), "")
	c.advance(time.Hour)
	wantCode(t, at(c.now(), "new").verify(v), "")
	c.set(epoch)
	wantCode(t, old.verify(v), CodeTimestampStale)
	wantCode(t, at(epoch.Add(time.Second), "younger").verify(v), "")
}

func TestVerifyStoreFull(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 3)
	wantCode(t, at(c.now(), "0").verify(v), "")
	c.advance(90 * time.Second)
	wantCode(t, at(c.now(), "1").verify(v), "")
	wantCode(t, at(c.now(), "2").verify(v), "")

	err := at(c.now(), "3").verify(v)
	wantCode(t, err, CodeRateLimited)
	var refused *VerifyError
	if errors.As(err, &refused); refused.RetryAfter != 211*time.Second {
		t.Errorf("RetryAfter = %v, want 3m31s: when the oldest nonce is forgotten", refused.RetryAfter)
	}
	wantCode(t, at(c.now(), "2").verify(v), CodeNonceReused) // full or not, a replay is a replay
	c.advance(refused.RetryAfter)
	wantCode(t, at(c.now(), "3").verify(v), "")
	wantCode(t, at(c.now(), "4").verify(v), CodeRateLimited)
}

// TestVerifyForgedLeavesNoTrace fills no store and burns no nonce with what is not authentic or not fresh.
func TestVerifyForgedLeavesNoTrace(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 1)
	m := at(c.now(), "nonce")
	for range 10 {
		wantCode(t, v.Verify(m.request(strings.Repeat("0", 64)), []byte(m.body)), CodeAuthFailed)
		wantCode(t, at(c.now().Add(time.Hour), "stale").verify(v), CodeTimestampStale)
	}
	wantCode(t, m.verify(v), "")
}

func TestVerifyMemoryIsBounded(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 1000)
	for i := range 20_000 {
		if i%500 == 0 {
			c.advance(5*time.Minute + time.Second)
		}
		wantCode(t, at(c.now(), fmt.Sprint(i)).verify(v), "")
		if known, aged := len(v.nonces.known), len(v.nonces.byAge); known > 1000 || known != aged {
			t.Fatalf("%d nonces known, %d by age", known, aged)
		}
	}
	if known := len(v.nonces.known); known != 500 {
		t.Errorf("%d nonces known, want the 500 that are fresh", known)
	}
}

// TestVerifyConcurrently sends each request many times at once: exactly one of each is accepted.
func TestVerifyConcurrently(t *testing.T) {
	c := newClock()
	v := newTestVerifier(t, c, 0)
	const messages, copies = 50, 8
	var accepted [messages]atomic.Int64
	var wg sync.WaitGroup
	for range copies {
		wg.Go(func() {
			for i := range messages {
				if at(c.now(), fmt.Sprint(i)).verify(v) == nil {
					accepted[i].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for i := range accepted {
		if n := accepted[i].Load(); n != 1 {
			t.Errorf("message %d was accepted %d times", i, n)
		}
	}
}

func TestNewVerifierErrors(t *testing.T) {
	if _, err := NewVerifier("SHA1", []byte("k"), VerifierOptions{}); !errors.Is(err, ErrAlgorithm) {
		t.Errorf("SHA1: %v", err)
	}
	if _, err := NewVerifier(SHA256, nil, VerifierOptions{}); !errors.Is(err, ErrKeyEmpty) {
		t.Errorf("no key: %v", err)
	}
}

func TestNewVerifierDefaultsAndKeyCopy(t *testing.T) {
	key := []byte(testKey)
	v, err := NewVerifier(SHA256, key, VerifierOptions{Window: -1, MaxNonces: -1})
	if err != nil {
		t.Fatal(err)
	}
	if v.window != 5*time.Minute || v.nonces.max != DefaultMaxNonces {
		t.Errorf("window %v, max %d", v.window, v.nonces.max)
	}
	clear(key)
	wantCode(t, at(time.Now().Add(2*time.Second), "n").verify(v), "")
}

// TestVerifierShowsNoKey prints a verifier in every way.
func TestVerifierShowsNoKey(t *testing.T) {
	v := newTestVerifier(t, newClock(), 0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		text := fmt.Sprintf(verb, v)
		for _, form := range []string{testKey, fmt.Sprintf("%d", []byte(testKey)), fmt.Sprintf("%x", testKey), fmt.Sprintf("%#v", []byte(testKey))} {
			if strings.Contains(text, strings.Trim(form, "[]")) {
				t.Errorf("%s shows the key", verb)
			}
		}
	}
}

func FuzzVerify(f *testing.F) {
	good := at(epoch, "nonce")
	f.Add(good.method, good.target, good.timestamp, good.nonce, good.signature(), []byte(good.body))
	f.Add("DELETE", "/records/A/example.com/%2A", good.timestamp, "n", strings.Repeat("a", 64), []byte(nil))
	f.Add("GET", "/a?b", "2025-12-30T10:00:00.5Z", "a\nb", "", []byte("\n"))
	f.Add("PUT", "http://x/", "", "", "", []byte{0xff})
	f.Fuzz(func(t *testing.T, method, target, timestamp, nonce, signature string, body []byte) {
		m := message{method, target, timestamp, nonce, string(body)}
		v := newTestVerifier(t, newClock(), 0)
		genuine := m.signature()
		err := v.Verify(m.request(signature), body)
		if err == nil && signature != genuine {
			t.Fatal("a forged signature was accepted")
		}
		if err != nil {
			var refused *VerifyError
			if !errors.As(err, &refused) || !refused.Code.Known() {
				t.Fatalf("error %v", err)
			}
		}
		again := m.request(genuine)
		first := v.Verify(again, body)
		if second := v.Verify(again, body); first == nil && second == nil {
			t.Fatal("the same request was accepted twice")
		}
	})
}

// FuzzSign holds that two requests have the same signature only if they are the same, and that what a client signs verifies.
func FuzzSign(f *testing.F) {
	f.Add("POST", "/records", "t", "n", []byte("b"), "POST", "/records", "t", "n\nb", []byte(nil))
	f.Add("GET", "/a", "t", "n", []byte(nil), "GET", "/a", "t", "n", []byte{})
	f.Add("GET", "/a\nt", "t", "n", []byte("x"), "GET", "/a", "t\nt", "n", []byte("x"))
	f.Fuzz(func(t *testing.T, m1, p1, t1, n1 string, b1 []byte, m2, p2, t2, n2 string, b2 []byte) {
		s1, err1 := Sign(SHA256, []byte(testKey), m1, p1, t1, n1, b1)
		s2, err2 := Sign(SHA256, []byte(testKey), m2, p2, t2, n2, b2)
		if err1 != nil || err2 != nil {
			return
		}
		same := m1 == m2 && p1 == p2 && t1 == t2 && n1 == n2 && bytes.Equal(b1, b2)
		if (s1 == s2) != same {
			t.Fatalf("signatures equal: %t, requests equal: %t", s1 == s2, same)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	c := newClock()
	v := newTestVerifier(b, c, 0)
	b.ReportAllocs()
	for i := range b.N {
		if i%50_000 == 0 {
			c.advance(11 * time.Minute)
		}
		m := at(c.now(), fmt.Sprint(i))
		if err := m.verify(v); err != nil {
			b.Fatal(err)
		}
	}
}
