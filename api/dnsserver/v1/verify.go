package v1

import (
	"bytes"
	"crypto/hmac"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of what a Verifier accepts.
const (
	// DefaultWindow is how far a timestamp may be from the verifier's clock, either way.
	DefaultWindow = 5 * time.Minute
	// DefaultMaxNonces is how many nonces a verifier keeps; about 10 MB.
	DefaultMaxNonces = 100_000
	// MaxNonceLength is the length of the longest nonce, in characters.
	MaxNonceLength = 128
)

// VerifierOptions are the settings of a Verifier. The zero value has every default.
type VerifierOptions struct {
	// Window is how far a timestamp may be from the clock, either way; DefaultWindow if not positive.
	Window time.Duration
	// MaxNonces is how many nonces are kept at the same time; DefaultMaxNonces if not positive. Together with the window it
	// bounds the rate of requests: a server that gets more than MaxNonces in Window refuses the rest.
	MaxNonces int
	// Clock returns the time; time.Now if nil. It must be safe for concurrent use.
	Clock func() time.Time
}

// Verifier decides whether a request was signed with the shared key, lately, and for the first time. It is safe for concurrent
// use and keeps what it needs in memory: a server of several processes needs one place that verifies.
//
// Nonces do not survive a restart, so requests from before the start are refused. One gap is left: a request whose timestamp was ahead of
// the verifier's clock when it was accepted can be sent a second time after a restart, until that timestamp is stale.
type Verifier struct {
	// sign holds the key in a closure, so that printing a Verifier shows no key.
	sign   func(method, path, timestamp, nonce string, body []byte) (string, error)
	window time.Duration
	clock  func() time.Time
	nonces nonceStore
}

// NewVerifier returns a verifier that starts now. Timestamps are whole seconds, so it refuses requests of its first, begun second: a server
// does well to be ready from the next one on. The key is copied. The error is ErrAlgorithm or ErrKeyEmpty.
func NewVerifier(alg Algorithm, key []byte, options VerifierOptions) (*Verifier, error) {
	if !alg.Known() {
		return nil, ErrAlgorithm
	}
	if len(key) == 0 {
		return nil, ErrKeyEmpty
	}
	if options.Window <= 0 {
		options.Window = DefaultWindow
	}
	if options.MaxNonces <= 0 {
		options.MaxNonces = DefaultMaxNonces
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	key = bytes.Clone(key)
	return &Verifier{
		sign: func(method, path, timestamp, nonce string, body []byte) (string, error) {
			return Sign(alg, key, method, path, timestamp, nonce, body)
		},
		window: options.Window,
		clock:  options.Clock,
		nonces: newNonceStore(options.Clock(), options.MaxNonces),
	}, nil
}

// VerifyError says why a request is refused. Nothing in it comes from the request or from the key.
type VerifyError struct {
	// Code is CodeAuthFailed, CodeTimestampStale or CodeNonceReused; or CodeRateLimited where the request is authentic, but no
	// nonce can be kept at the moment.
	Code ErrorCode
	// RetryAfter is how long the client should wait; set with CodeRateLimited only, whole seconds.
	RetryAfter time.Duration

	message string
}

// Error says what would be accepted.
func (e *VerifyError) Error() string { return e.message }

func refuse(code ErrorCode, message string) *VerifyError {
	return &VerifyError{Code: code, message: message}
}

// Every way to refuse a request.
var (
	errMethod     = refuse(CodeAuthFailed, "the method of a signed request is GET, POST or DELETE")
	errPath       = refuse(CodeAuthFailed, "the target of a signed request is a path in canonical escaping, without a query")
	errHeaders    = refuse(CodeAuthFailed, "a signed request has each of "+HeaderTimestamp+", "+HeaderNonce+" and "+HeaderSignature+" exactly once")
	errTimestamp  = refuse(CodeAuthFailed, "the timestamp has the form 2006-01-02T15:04:05Z: UTC, whole seconds")
	errNonce      = refuse(CodeAuthFailed, "the nonce is 1 to 128 visible ASCII characters")
	errSignature  = refuse(CodeAuthFailed, "the signature does not fit the request; it is the HMAC in lower-case hexadecimal")
	errStale      = refuse(CodeTimestampStale, "the timestamp is too far from the server's clock")
	errForgotten  = refuse(CodeTimestampStale, "the timestamp is from before the time for which this server knows the nonces")
	errNonceTwice = refuse(CodeNonceReused, "the nonce has been used before")
)

func errFull(retryAfter time.Duration) *VerifyError {
	return &VerifyError{Code: CodeRateLimited, RetryAfter: retryAfter, message: "too many signed requests within the window"}
}

// Verify returns nil for a request that is authentic, fresh, and seen for the first time, and remembers its nonce. It reads
// method, request target and headers of the request as they were sent, and the body from the argument only: the caller has read it whole,
// at most MaxBodyBytes of it. Every error is a *VerifyError. A request that is not authentic leaves no trace in the verifier.
func (v *Verifier) Verify(r *http.Request, body []byte) error {
	if err := v.verify(r, body); err != nil {
		return err
	}
	return nil
}

func (v *Verifier) verify(r *http.Request, body []byte) *VerifyError {
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodDelete {
		return errMethod
	}
	path := target(r)
	if !canonicalPath(path) {
		return errPath
	}
	timestamp, nonce, signature, ok := signatureHeaders(r.Header)
	if !ok {
		return errHeaders
	}
	if len(nonce) > MaxNonceLength || !visible(nonce) {
		return errNonce
	}
	at, ok := parseTimestamp(timestamp)
	if !ok {
		return errTimestamp
	}
	now := v.clock()
	if stale(at, now, v.window) {
		return errStale
	}
	want, err := v.sign(r.Method, path, timestamp, nonce, body)
	if err != nil || !hmac.Equal([]byte(want), []byte(signature)) {
		return errSignature
	}
	return v.nonces.use(nonce, at, now, v.window)
}

// stale says whether a timestamp is outside the window.
func stale(at, now time.Time, window time.Duration) bool {
	return at.Before(now.Add(-window)) || at.After(now.Add(window))
}

// target returns the request target as the client sent it. Handlers in front may have rewritten the URL, never this.
func target(r *http.Request) string {
	if r.RequestURI != "" || r.URL == nil {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// canonicalPath says whether a request target is an absolute path of which each segment is escaped as url.PathEscape does it.
// Only one spelling of a path is accepted, so that what was signed and what the server acts on are the same. A query never passes: url.PathEscape
// escapes the question mark.
func canonicalPath(path string) bool {
	rest, absolute := strings.CutPrefix(path, "/")
	if !absolute {
		return false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" || plain == "." || plain == ".." || url.PathEscape(plain) != segment {
			return false
		}
	}
	return true
}

// signatureHeaders returns the three headers; ok where each appears exactly once.
func signatureHeaders(h http.Header) (timestamp, nonce, signature string, ok bool) {
	timestamps, nonces, signatures := h.Values(HeaderTimestamp), h.Values(HeaderNonce), h.Values(HeaderSignature)
	if len(timestamps) != 1 || len(nonces) != 1 || len(signatures) != 1 {
		return "", "", "", false
	}
	return timestamps[0], nonces[0], signatures[0], true
}

// parseTimestamp reads a timestamp in exactly TimestampLayout: time.Parse alone would accept fractions of a second.
func parseTimestamp(text string) (time.Time, bool) {
	at, err := time.Parse(TimestampLayout, text)
	return at, err == nil && at.Format(TimestampLayout) == text
}
