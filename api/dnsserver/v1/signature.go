package v1

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Algorithm is the hash function of the HMAC.
type Algorithm string

// The algorithms of the protocol.
const (
	SHA256 Algorithm = "SHA256"
	SHA512 Algorithm = "SHA512"
)

// Headers of a signed request. Each appears exactly once.
const (
	// HeaderTimestamp holds the time of the request, in TimestampLayout.
	HeaderTimestamp = "X-DNS-Timestamp"
	// HeaderNonce holds a text that no other request of the same client ever held.
	HeaderNonce = "X-DNS-Nonce"
	// HeaderSignature holds what Sign returns.
	HeaderSignature = "X-DNS-Signature"
)

// TimestampLayout is the one form of a timestamp: RFC 3339 in UTC, whole seconds, with Z.
const TimestampLayout = "2006-01-02T15:04:05Z"

// The errors of Sign and SignRequest. None holds any part of the key or of the request.
var (
	ErrAlgorithm = errors.New("the algorithm is neither SHA256 nor SHA512")
	ErrKeyEmpty  = errors.New("the key is empty")
	ErrComponent = errors.New("method, path, timestamp and nonce are each at least one visible ASCII character, without spaces")
	ErrTarget    = errors.New("a signed request has an absolute path, and neither a query nor an opaque URL")
)

// newHash returns the constructor of the hash function, or ErrAlgorithm.
func (a Algorithm) newHash() (func() hash.Hash, error) {
	switch a {
	case SHA256:
		return sha256.New, nil
	case SHA512:
		return sha512.New, nil
	}
	return nil, ErrAlgorithm
}

// Known says whether the algorithm is one of the protocol's.
func (a Algorithm) Known() bool { return a == SHA256 || a == SHA512 }

// Sign returns the signature of a request: the HMAC (RFC 2104) of method, path, timestamp, nonce and body, joined by
// single newlines, in lower-case hexadecimal. A request without a body has four components and no newline at the end. The path is
// the escaped one, as it stands in the request line, base path included. The key's bytes are used as they are: nothing is trimmed.
//
// The error is ErrAlgorithm, ErrKeyEmpty or ErrComponent.
func Sign(alg Algorithm, key []byte, method, path, timestamp, nonce string, body []byte) (string, error) {
	newHash, err := alg.newHash()
	if err != nil {
		return "", err
	}
	if len(key) == 0 {
		return "", ErrKeyEmpty
	}
	for _, component := range []string{method, path, timestamp, nonce} {
		if !visible(component) {
			return "", ErrComponent
		}
	}
	mac := hmac.New(newHash, key)
	mac.Write([]byte(strings.Join([]string{method, path, timestamp, nonce}, "\n")))
	if len(body) > 0 {
		mac.Write([]byte{'\n'})
		mac.Write(body)
	}
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// visible says whether a text is at least one character, all of them visible ASCII. A newline within a component would let
// two different requests have the same signature.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}

// nonceBytes is how many random bytes a nonce has.
const nonceBytes = 32

// NewNonce returns a nonce for one request: 32 cryptographically random bytes in hexadecimal.
func NewNonce() string {
	random := make([]byte, nonceBytes)
	_, _ = rand.Read(random) // crypto/rand.Read never returns an error: it ends the process instead
	return hex.EncodeToString(random)
}

// SignRequest signs a request that is about to be sent, with the given time and a new nonce, and sets its three headers, replacing
// what they held. The body is what the request will send; nil for none. The error is one of Sign's, or ErrTarget for a URL that no server accepts.
func SignRequest(req *http.Request, alg Algorithm, key, body []byte, now time.Time) error {
	if req.URL == nil || req.URL.Opaque != "" || req.URL.RawQuery != "" || req.URL.ForceQuery {
		return ErrTarget
	}
	path := req.URL.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		return ErrTarget
	}
	timestamp, nonce := now.UTC().Format(TimestampLayout), NewNonce()
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	signature, err := Sign(alg, key, method, path, timestamp, nonce, body)
	if err != nil {
		return err
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set(HeaderTimestamp, timestamp)
	req.Header.Set(HeaderNonce, nonce)
	req.Header.Set(HeaderSignature, signature)
	return nil
}

// RecordPath returns the escaped path of one record: base, PathRecords, type, domain and subdomain. Each segment is escaped as
// url.PathEscape does it: "@" stays as it is, "*" becomes "%2A". The base is the escaped base path of the server, with or
// without a slash at its end; empty for none. The names are canonical, so none is empty or made of dots only.
func RecordPath(base, typ, domain, subdomain string) string {
	return strings.TrimSuffix(base, "/") + PathRecords + "/" + url.PathEscape(typ) + "/" + url.PathEscape(domain) + "/" +
		url.PathEscape(subdomain)
}
