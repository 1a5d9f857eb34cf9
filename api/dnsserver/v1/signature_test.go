package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"testing"
	"time"
)

// vectorFile is the form of testdata/hmac-vectors.json.
type vectorFile struct {
	Key, Timestamp, Nonce string
	Vectors               []struct {
		Algorithm               Algorithm
		Method, Path, Signature string
		Body                    string
	}
}

func readVectors(t testing.TB) vectorFile {
	t.Helper()
	text, err := os.ReadFile("testdata/hmac-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 8 {
		t.Fatalf("%d vectors, want 8", len(file.Vectors))
	}
	return file
}

func TestSignVectors(t *testing.T) {
	file := readVectors(t)
	for _, v := range file.Vectors {
		t.Run(string(v.Algorithm)+" "+v.Method+" "+v.Path, func(t *testing.T) {
			got, err := Sign(v.Algorithm, []byte(file.Key), v.Method, v.Path, file.Timestamp, file.Nonce, []byte(v.Body))
			if err != nil || got != v.Signature {
				t.Errorf("Sign = %q, %v; want %q", got, err, v.Signature)
			}
		})
	}
}

// TestVerifyVectors sends the vectors, at their own time, through a verifier.
func TestVerifyVectors(t *testing.T) {
	file := readVectors(t)
	at, err := time.Parse(TimestampLayout, file.Timestamp)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		t.Run(string(v.Algorithm)+" "+v.Method+" "+v.Path, func(t *testing.T) {
			verifier, err := NewVerifier(v.Algorithm, []byte(file.Key), VerifierOptions{Clock: func() time.Time { return at }})
			if err != nil {
				t.Fatal(err)
			}
			r := &http.Request{Method: v.Method, RequestURI: v.Path, Header: http.Header{}}
			r.Header.Set("X-DNS-Timestamp", file.Timestamp)
			r.Header.Set("X-DNS-Nonce", file.Nonce)
			r.Header.Set("X-DNS-Signature", v.Signature)
			if err := verifier.Verify(r, []byte(v.Body)); err != nil {
				t.Errorf("Verify = %v", err)
			}
		})
	}
}

func TestSignKeyIsUsedUntrimmed(t *testing.T) {
	plain, err := Sign(SHA256, []byte("key"), "GET", "/health", "t", "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	newline, err := Sign(SHA256, []byte("key\n"), "GET", "/health", "t", "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain == newline {
		t.Error("a trailing newline of the key makes no difference")
	}
}

func TestSignErrors(t *testing.T) {
	type args struct {
		alg                            Algorithm
		key, method, path, stamp, once string
	}
	good := args{SHA256, "key", "GET", "/health", "2025-12-30T10:00:00Z", "nonce"}
	tests := map[string]struct {
		change func(*args)
		want   error
	}{
		"algorithm lower case": {func(a *args) { a.alg = "sha256" }, ErrAlgorithm},
		"no algorithm":         {func(a *args) { a.alg = "" }, ErrAlgorithm},
		"no key":               {func(a *args) { a.key = "" }, ErrKeyEmpty},
		"no method":            {func(a *args) { a.method = "" }, ErrComponent},
		"newline in method":    {func(a *args) { a.method = "GET\n/x" }, ErrComponent},
		"no path":              {func(a *args) { a.path = "" }, ErrComponent},
		"newline in path":      {func(a *args) { a.path = "/a\nb" }, ErrComponent},
		"space in path":        {func(a *args) { a.path = "/a b" }, ErrComponent},
		"newline in timestamp": {func(a *args) { a.stamp += "\n" }, ErrComponent},
		"no nonce":             {func(a *args) { a.once = "" }, ErrComponent},
		"newline in nonce":     {func(a *args) { a.once = "a\nbody" }, ErrComponent},
		"delete in nonce":      {func(a *args) { a.once = "a\x7f" }, ErrComponent},
		"non-ASCII in nonce":   {func(a *args) { a.once = "ä" }, ErrComponent},
		"nothing is wrong":     {func(*args) {}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := good
			tc.change(&a)
			got, err := Sign(a.alg, []byte(a.key), a.method, a.path, a.stamp, a.once, nil)
			if !errors.Is(err, tc.want) || (tc.want == nil && err != nil) {
				t.Fatalf("error %v, want %v", err, tc.want)
			}
			if (err == nil) != (got != "") {
				t.Errorf("signature %q with error %v", got, err)
			}
		})
	}
}

func TestRecordPath(t *testing.T) {
	tests := []struct{ base, typ, domain, subdomain, want string }{
		{"", "A", "example.com", "www", "/records/A/example.com/www"},
		{"", "A", "example.com", "@", "/records/A/example.com/@"},
		{"", "A", "example.com", "*", "/records/A/example.com/%2A"},
		{"", "TXT", "example.com", "*.a", "/records/TXT/example.com/%2A.a"},
		{"", "SRV", "example.com", "_sip._tcp", "/records/SRV/example.com/_sip._tcp"},
		{"/dns/v1", "A", "example.com", "www", "/dns/v1/records/A/example.com/www"},
		{"/dns/v1/", "A", "example.com", "www", "/dns/v1/records/A/example.com/www"},
		{"/", "A", "example.com", "www", "/records/A/example.com/www"},
		{"/a%2Fb", "A", "example.com", "www", "/a%2Fb/records/A/example.com/www"},
		{"", "A/B", "a?b#c", "x y%", "/records/A%2FB/a%3Fb%23c/x%20y%25"},
	}
	for _, tc := range tests {
		got := RecordPath(tc.base, tc.typ, tc.domain, tc.subdomain)
		if got != tc.want {
			t.Errorf("RecordPath(%q, %q, %q, %q) = %q, want %q", tc.base, tc.typ, tc.domain, tc.subdomain, got, tc.want)
		}
		if !canonicalPath(got) {
			t.Errorf("%q is not accepted by the verifier", got)
		}
	}
}

func TestSignRequest(t *testing.T) {
	now := time.Date(2025, 12, 30, 11, 0, 0, 999, time.FixedZone("", 3600))
	body := []byte(`{"a":1}`)
	req, err := http.NewRequest(http.MethodPost, "http://example.com/base/records", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header[HeaderNonce] = []string{"old"}
	req.Header.Add(HeaderSignature, "old")
	req.Header.Add(HeaderSignature, "older")
	if err := SignRequest(req, SHA512, []byte("k"), body, now); err != nil {
		t.Fatal(err)
	}
	if got := req.Header.Get("X-DNS-Timestamp"); got != "2025-12-30T10:00:00Z" {
		t.Errorf("timestamp %q", got)
	}
	nonce := req.Header.Get("X-DNS-Nonce")
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(nonce) {
		t.Errorf("nonce %q is not 32 bytes in hexadecimal", nonce)
	}
	want, err := Sign(SHA512, []byte("k"), "POST", "/base/records", "2025-12-30T10:00:00Z", nonce, body)
	if err != nil {
		t.Fatal(err)
	}
	if got := req.Header.Values("X-DNS-Signature"); len(got) != 1 || got[0] != want {
		t.Errorf("signatures %q, want one: %q", got, want)
	}
}

func TestSignRequestErrors(t *testing.T) {
	tests := map[string]struct {
		url  *url.URL
		alg  Algorithm
		key  string
		want error
	}{
		"no URL":       {nil, SHA256, "k", ErrTarget},
		"query":        {&url.URL{Path: "/a", RawQuery: "b"}, SHA256, "k", ErrTarget},
		"empty query":  {&url.URL{Path: "/a", ForceQuery: true}, SHA256, "k", ErrTarget},
		"opaque":       {&url.URL{Opaque: "a"}, SHA256, "k", ErrTarget},
		"no path":      {&url.URL{Host: "example.com"}, SHA256, "k", ErrTarget},
		"relative":     {&url.URL{Path: "a"}, SHA256, "k", ErrTarget},
		"algorithm":    {&url.URL{Path: "/a"}, "MD5", "k", ErrAlgorithm},
		"no key":       {&url.URL{Path: "/a"}, SHA256, "", ErrKeyEmpty},
		"nothing":      {&url.URL{Path: "/a"}, SHA256, "k", nil},
		"empty method": {&url.URL{Path: "/a b"}, SHA256, "k", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			req := &http.Request{URL: tc.url}
			err := SignRequest(req, tc.alg, []byte(tc.key), nil, time.Unix(0, 0))
			if !errors.Is(err, tc.want) || (tc.want == nil && err != nil) {
				t.Fatalf("error %v, want %v", err, tc.want)
			}
			if signed := req.Header.Get(HeaderSignature) != ""; signed != (err == nil) {
				t.Errorf("signed: %t with error %v", signed, err)
			}
		})
	}
}

func TestNewNonceDiffers(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		seen[NewNonce()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different nonces of 1000", len(seen))
	}
}

func TestErrorCodes(t *testing.T) {
	want := map[ErrorCode]int{"INVALID_RECORD": 400, "INVALID_DOMAIN": 400, "INVALID_VALUE": 400, "RECORD_NOT_FOUND": 404,
		"SERVER_ERROR": 500, "AUTH_FAILED": 401, "TIMESTAMP_STALE": 401, "NONCE_REUSED": 401, "RATE_LIMITED": 429, "QUOTA_EXCEEDED": 403}
	for code, status := range want {
		if !code.Known() || code.Status() != status {
			t.Errorf("%s: known %t, status %d, want %d", code, code.Known(), code.Status(), status)
		}
	}
	for _, code := range []ErrorCode{"", "server_error", "OTHER"} {
		if code.Known() || code.Status() != 500 {
			t.Errorf("%q: known %t, status %d, want unknown and 500", code, code.Known(), code.Status())
		}
	}
}
