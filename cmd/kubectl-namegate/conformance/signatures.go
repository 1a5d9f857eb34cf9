package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
)

// signatureChecks need a secret; without one they are skipped.
func signatureChecks(options Options) []check {
	list := []check{
		{"signature-health", "S1", "401 AUTH_FAILED for a health check that is not signed", func(ctx context.Context, s *session) outcome {
			r := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth, headers: unsign})
			return refusedWith(r, v1.CodeAuthFailed)
		}},
		{"signature-delete", "S1", "401 AUTH_FAILED for a deletion that is not signed, and the record stays", unsignedDelete},
		forged("signature-missing", "S1", "an upsert that is not signed", v1.CodeAuthFailed, nil, unsign),
		forged("signature-no-timestamp", "S1", "an upsert without "+v1.HeaderTimestamp, v1.CodeAuthFailed, nil, without(v1.HeaderTimestamp)),
		forged("signature-no-nonce", "S1", "an upsert without "+v1.HeaderNonce, v1.CodeAuthFailed, nil, without(v1.HeaderNonce)),
		forged("signature-no-signature", "S1", "an upsert without "+v1.HeaderSignature, v1.CodeAuthFailed, nil, without(v1.HeaderSignature)),
		forged("signature-wrong", "S2", "a signature with one digit changed", v1.CodeAuthFailed, nil, changeDigit),
		forged("signature-short", "S2", "the first half of a signature", v1.CodeAuthFailed, nil, func(h http.Header) {
			signature := h.Get(v1.HeaderSignature)
			h.Set(v1.HeaderSignature, signature[:len(signature)/2])
		}),
		forged("signature-wrong-key", "S2", "a signature with another key", v1.CodeAuthFailed,
			func(p *parts) { p.key = append([]byte("not "), p.key...) }, nil),
		forged("signature-trimmed-key", "S2", "a signature with the key and a newline, which is another key", v1.CodeAuthFailed,
			func(p *parts) { p.key = append(p.key[:len(p.key):len(p.key)], '\n') }, nil),
		forged("signature-algorithm", "S2", "a signature with the other algorithm", v1.CodeAuthFailed,
			func(p *parts) { p.algorithm = otherAlgorithm(p.algorithm) }, nil),
		forged("signature-body", "S3", "a body that is not the signed one", v1.CodeAuthFailed,
			func(p *parts) { p.body = []byte(strings.Replace(string(p.body), "192.0.2.1", "192.0.2.9", 1)) }, nil),
		forged("signature-path", "S3", "a path that is not the signed one", v1.CodeAuthFailed,
			func(p *parts) { p.path = strings.TrimSuffix(p.path, v1.PathRecords) + v1.PathHealth }, nil),
		forged("signature-method", "S3", "a method that is not the signed one", v1.CodeAuthFailed,
			func(p *parts) { p.method = http.MethodDelete }, nil),
		forged("signature-timestamp", "S3", "a timestamp that is not the signed one", v1.CodeAuthFailed, nil,
			func(h http.Header) { h.Set(v1.HeaderTimestamp, stamp(time.Minute)) }),
		forged("signature-nonce", "S3", "a nonce that is not the signed one", v1.CodeAuthFailed, nil,
			func(h http.Header) { h.Set(v1.HeaderNonce, v1.NewNonce()) }),
		forged("timestamp-old", "S4", "a timestamp of 10 minutes ago", v1.CodeTimestampStale,
			func(p *parts) { p.timestamp = stamp(-10 * time.Minute) }, nil),
		forged("timestamp-future", "S4", "a timestamp 10 minutes ahead", v1.CodeTimestampStale,
			func(p *parts) { p.timestamp = stamp(10 * time.Minute) }, nil),
		forged("timestamp-not-a-time", "S4", "a timestamp that is no time", v1.CodeAuthFailed,
			func(p *parts) { p.timestamp = "yesterday" }, nil, v1.CodeTimestampStale),
		{"timestamp-skew", "S4", "a timestamp 3 minutes ahead is accepted", clockSkew},
		{"nonce-replay", "S5", "401 NONCE_REUSED for the same request a second time", replay},
		{"nonce-reused", "S5", "401 NONCE_REUSED for another request with a nonce that was used", reusedNonce},
		{"nonce-of-a-forgery", "S6", "a nonce that came with a wrong signature is not used up", nonceOfAForgery},
		{"base-path", "P2", "401 AUTH_FAILED for a signature over the path without the base path of the URL", basePath},
	}
	if len(options.Secret) == 0 {
		for i := range list {
			list[i].run = func(context.Context, *session) outcome {
				return skipped("no secret was given, so requests are not signed")
			}
		}
	}
	return list
}

// forged is an upsert that must be refused, and not be stored. Besides code, also is accepted.
func forged(name, requirement, what string, code v1.ErrorCode, forge func(*parts), headers func(http.Header), also ...v1.ErrorCode) check {
	return check{name, requirement, fmt.Sprintf("401 %s for %s, and nothing is stored", code, what), func(ctx context.Context, s *session) outcome {
		target := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "forged")
		r := s.store(target, s.send(ctx, call{method: http.MethodPost, path: v1.PathRecords, body: upsertBody(target), forge: forge, headers: headers}))
		if o := refusedWith(r, append(also, code)...); o.status != Pass {
			if r.status < http.StatusBadRequest {
				s.delete(ctx, target)
			}
			return o
		}
		return s.absent(ctx, target, r)
	}}
}

// refusedWith checks for 401 with one of the codes.
func refusedWith(r reply, codes ...v1.ErrorCode) outcome {
	if r.status == http.StatusUnauthorized {
		for _, code := range codes {
			if r.code() == code {
				return passed(r.String())
			}
		}
	}
	return failed(r.String())
}

func unsign(h http.Header) {
	for _, name := range []string{v1.HeaderTimestamp, v1.HeaderNonce, v1.HeaderSignature} {
		h.Del(name)
	}
}

func without(name string) func(http.Header) { return func(h http.Header) { h.Del(name) } }

// changeDigit changes the last digit of the signature.
func changeDigit(h http.Header) {
	signature := h.Get(v1.HeaderSignature)
	last := len(signature) - 1
	digit := "0"
	if signature[last:] == digit {
		digit = "1"
	}
	h.Set(v1.HeaderSignature, signature[:last]+digit)
}

func otherAlgorithm(a v1.Algorithm) v1.Algorithm {
	if a == v1.SHA256 {
		return v1.SHA512
	}
	return v1.SHA256
}

func unsignedDelete(ctx context.Context, s *session) outcome {
	target := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "kept")
	if o := s.upsertAndCompare(ctx, target); o.status != Pass {
		return o
	}
	r := s.send(ctx, call{method: http.MethodDelete, path: pathOf(target), headers: unsign})
	o := refusedWith(r, v1.CodeAuthFailed)
	if o.status == Pass && s.canGet {
		o = s.getAndCompare(ctx, target)
	}
	s.delete(ctx, target)
	return o
}

func clockSkew(ctx context.Context, s *session) outcome {
	r := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth, forge: func(p *parts) { p.timestamp = stamp(3 * time.Minute) }})
	if r.status != http.StatusOK {
		return failed(r.String())
	}
	return passed("status 200")
}

// replay sends a deletion, which changes nothing when it is sent twice by mistake, with the very same headers again.
func replay(ctx context.Context, s *session) outcome {
	target := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "replay")
	first := s.send(ctx, call{method: http.MethodDelete, path: pathOf(target)})
	if !gone(first) {
		return failed("the first time: " + first.String())
	}
	second := s.send(ctx, call{method: http.MethodDelete, path: pathOf(target), headers: func(h http.Header) {
		for _, name := range []string{v1.HeaderTimestamp, v1.HeaderNonce, v1.HeaderSignature} {
			h.Set(name, first.sent.Get(name))
		}
	}})
	return refusedWith(second, v1.CodeNonceReused)
}

func reusedNonce(ctx context.Context, s *session) outcome {
	first := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth})
	if first.status != http.StatusOK {
		return failed("the first time: " + first.String())
	}
	target := s.record(v1.Record{Type: "A"}, "replay")
	return refusedWith(s.send(ctx, call{method: http.MethodDelete, path: pathOf(target), forge: func(p *parts) {
		p.nonce = first.sent.Get(v1.HeaderNonce)
	}}), v1.CodeNonceReused)
}

func nonceOfAForgery(ctx context.Context, s *session) outcome {
	nonce := v1.NewNonce()
	fixed := func(p *parts) { p.nonce = nonce }
	wrong := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth, forge: fixed, headers: changeDigit})
	if o := refusedWith(wrong, v1.CodeAuthFailed); o.status != Pass {
		return failed("the forgery: " + o.got)
	}
	right := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth, forge: fixed})
	if right.status != http.StatusOK {
		return failed("the real request: " + right.String())
	}
	return passed("the real request: status 200")
}

func basePath(ctx context.Context, s *session) outcome {
	base := s.options.Server.Base().EscapedPath()
	if base == "" {
		return skipped("the URL has no base path")
	}
	return refusedWith(s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth, forge: func(p *parts) {
		p.path = strings.TrimPrefix(p.path, base)
	}}), v1.CodeAuthFailed)
}
