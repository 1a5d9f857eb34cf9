package httpdns

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// reply is what is read of a dnsserverv1.Response. The free texts and the details are left out: nobody is shown them, and decoded
// they take many times the memory that they have on the wire.
type reply struct {
	Success bool                `json:"success"`
	Record  *dnsserverv1.Record `json:"record"`
	Error   struct {
		Code dnsserverv1.ErrorCode `json:"code"`
	} `json:"error"`
}

// fail makes the Error of an answer. Of what the server wrote, only the status and a code of the protocol go into it.
func (a *answer) fail(c cause, code dnsserverv1.ErrorCode) *Error {
	e := &Error{Kind: c.kind, Status: a.status, message: c.message}
	if code.Known() {
		e.Code = code
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		e.RetryAfter = a.retryAfter
	}
	return e
}

// decode reads the body as JSON: one value and nothing behind it. A server that names no type is believed that it is JSON.
func (a *answer) decode(into any) *Error {
	if a.contentType != "" {
		if media, _, err := mime.ParseMediaType(a.contentType); err != nil || media != dnsserverv1.ContentType {
			return a.fail(causeContentType, "")
		}
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return a.fail(causeNotJSON, "")
	}
	return nil
}

// code returns the protocol's error code in the body, or none.
func (a *answer) code() dnsserverv1.ErrorCode {
	var r reply
	if a.decode(&r) != nil || !r.Error.Code.Known() {
		return ""
	}
	return r.Error.Code
}

// refused says what any status but 200 means.
func (a *answer) refused() *Error {
	code := a.code()
	switch {
	case isRedirect(a.status):
		return a.fail(causeRedirect, "")
	case a.status == http.StatusBadRequest:
		return a.fail(causeInvalid, code)
	case a.status == http.StatusUnauthorized:
		return a.fail(causeSignature, code)
	case a.status == http.StatusForbidden && code == dnsserverv1.CodeQuotaExceeded:
		return a.fail(causeQuota, code)
	case a.status == http.StatusForbidden:
		return a.fail(causeForbidden, code)
	case a.status == http.StatusTooManyRequests:
		return a.fail(causeRateLimited, code)
	case a.status >= http.StatusInternalServerError:
		return a.fail(causeFailed, code)
	}
	return a.fail(causeStatus, code)
}

// health judges the answer to GET /health. Only the status is read: a clock that writes odd timestamps makes no server ill.
func (a *answer) health() *Error {
	if a.status != http.StatusOK {
		return a.refused()
	}
	var health struct {
		Status string `json:"status"`
	}
	if err := a.decode(&health); err != nil {
		return err
	}
	if health.Status != dnsserverv1.HealthyStatus {
		return a.fail(causeUnhealthy, "")
	}
	return nil
}

// response reads the body of an answer with status 200.
func (a *answer) response() (*reply, *Error) {
	if a.status != http.StatusOK {
		return nil, a.refused()
	}
	var r reply
	if err := a.decode(&r); err != nil {
		return nil, err
	}
	if !r.Success {
		return nil, a.fail(causeUnsuccessful, r.Error.Code)
	}
	return &r, nil
}

// upserted judges the answer to POST /records.
func (a *answer) upserted(typ record.Type, owner dnsname.Name) *Error {
	r, err := a.response()
	if err != nil {
		return err
	}
	if r.Record != nil && !isAbout(r.Record, typ, owner) {
		return a.fail(causeOtherRecord, "")
	}
	return nil
}

// deleted judges the answer to DELETE. That there is no such record is said with status 404, or with 200 and RECORD_NOT_FOUND. A 404 that
// carries another code of the protocol contradicts itself, and is not taken for success.
func (a *answer) deleted() *Error {
	if a.status == http.StatusNotFound {
		if code := a.code(); code != "" && code != dnsserverv1.CodeRecordNotFound {
			return a.fail(causeStatus, code)
		}
		return nil
	}
	_, err := a.response()
	if err != nil && a.status == http.StatusOK && err.Code == dnsserverv1.CodeRecordNotFound {
		return nil
	}
	return err
}

// maxValues is more than fit into one DNS message: 65,535 bytes, of which each value needs 13 or more. What has more is no
// record, and is not worth parsing.
const maxValues = 65535 / 13

// found judges the answer to GET of a record.
func (a *answer) found(id ID, owner dnsname.Name) (*record.RRset, error) {
	switch a.status {
	case http.StatusNotFound:
		if a.code() == dnsserverv1.CodeRecordNotFound {
			return nil, ErrNotFound
		}
		return nil, ErrUnsupported
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return nil, ErrUnsupported
	}
	r, err := a.response()
	switch {
	case err != nil && a.status == http.StatusOK && err.Code == dnsserverv1.CodeRecordNotFound:
		return nil, ErrNotFound // as some servers say it
	case err != nil:
		return nil, err
	}
	if r.Record == nil {
		return nil, a.fail(causeNotJSON, "")
	}
	if needsMetadata(id.Type) && r.Record.Metadata == nil {
		return nil, ErrUnsupported // the examples of the protocol leave it out: nothing can be compared
	}
	if !isAbout(r.Record, id.Type, owner) {
		return nil, a.fail(causeOtherRecord, "")
	}
	if len(r.Record.Values) > maxValues {
		return nil, a.fail(causeBadRecord, "")
	}
	spec := Spec(*r.Record)
	spec.Domain, spec.Subdomain = id.Domain.String(), id.Subdomain // the same name, split as it was asked for
	set, _ := record.Parse(spec)
	if set == nil {
		return nil, a.fail(causeBadRecord, "")
	}
	return set, nil
}

// needsMetadata says whether a record of the type is not whole without its numbers.
func needsMetadata(t record.Type) bool { return t == record.MX || t == record.SRV }

// maxRetryAfter is the longest time that a server can ask for: it may not silence us for good.
const maxRetryAfter = time.Hour

// retryAfter reads a Retry-After header (RFC 9110 section 10.2.3): seconds or a date. It returns at most maxRetryAfter, and 0 for what is neither, for a
// number of seconds beyond 32 bits, and for a date that is not in the future.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return max(0, min(wait, maxRetryAfter))
}
