package httpdns

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
)

// answer is what a server sent, read whole and bounded. What it means is decided without any effect, in answer.go.
type answer struct {
	status      int
	contentType string
	retryAfter  time.Duration
	body        []byte
}

// exchange sends one request and reads the answer, all within the timeout.
func (c *Client) exchange(ctx context.Context, method, path string, body []byte) (*answer, *Error) {
	if c.server.IsZero() {
		return nil, failure(causeNoServer)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var seen observed
	req, err := c.request(seen.trace(withDialContext(ctx)), method, path, body)
	if err != nil {
		return nil, err
	}
	// The transport itself, not an http.Client: it follows no redirect and keeps no cookie.
	resp, tripErr := c.factory.transport.RoundTrip(req)
	if tripErr != nil {
		return nil, failure(seen.cause(ctx, tripErr))
	}
	defer func() { _ = resp.Body.Close() }() // closes the connection too, where the body was not read to its end
	a := &answer{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"),
		retryAfter: retryAfter(resp.Header.Get("Retry-After"), c.factory.clock())}
	content, readErr := readBody(resp)
	switch {
	case readErr != nil:
		return nil, a.fail(seen.cause(ctx, readErr), "")
	case len(content) > dnsserverv1.MaxBodyBytes:
		return nil, a.fail(causeTooLarge, "")
	}
	a.body = content
	return a, nil
}

// request builds and signs a request.
func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, *Error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, failure(causeNoServer)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", dnsserverv1.ContentType)
	}
	req.Header.Set("Accept", dnsserverv1.ContentType)
	req.Header.Set("User-Agent", c.factory.userAgent)
	if err := c.sign(req, body); err != nil {
		return nil, failure(causeUnsigned)
	}
	return req, nil
}

// readBody reads at most one byte more than a body may have. That of a redirect or of a change of protocol is left alone: nothing in it is of use.
func readBody(resp *http.Response) ([]byte, error) {
	if resp.StatusCode < http.StatusOK || isRedirect(resp.StatusCode) {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(resp.Body, dnsserverv1.MaxBodyBytes+1))
}

func isRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}
