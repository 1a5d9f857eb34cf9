package httpdns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dnsserverv1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/record"
)

func marshal(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func errorBody(code string) string {
	return `{"success":false,"error":{"code":"` + code + `","message":"` + leak + `","details":{"` + leak + `":[1]}}}`
}

// judge reads an answer as each of the operations does.
func judge(t testing.TB, a *answer) map[string]error {
	id := wwwID(t)
	owner, _ := id.owner()
	_, found := a.found(id, owner)
	return map[string]error{"Health": asError(a.health()), "Upsert": asError(a.upserted(record.A, owner)), "Delete": asError(a.deleted()), "Get": found}
}

func jsonAnswer(status int, body string) *answer {
	return &answer{status: status, contentType: "application/json", body: []byte(body)}
}

// TestStatuses holds what each status means, with the codes that may come with it. All operations agree, but for the exceptions.
func TestStatuses(t *testing.T) {
	type outcome struct {
		cause cause
		code  dnsserverv1.ErrorCode
	}
	tests := []struct {
		status int
		body   string
		want   outcome
		except map[string]error // nil in it: success
	}{
		{400, errorBody("INVALID_RECORD"), outcome{causeInvalid, "INVALID_RECORD"}, nil},
		{400, errorBody("INVALID_DOMAIN"), outcome{causeInvalid, "INVALID_DOMAIN"}, nil},
		{400, errorBody("INVALID_VALUE"), outcome{causeInvalid, "INVALID_VALUE"}, nil},
		{400, errorBody(leak), outcome{causeInvalid, ""}, nil},
		{400, leak, outcome{causeInvalid, ""}, nil},
		{401, errorBody("AUTH_FAILED"), outcome{causeSignature, "AUTH_FAILED"}, nil},
		{401, errorBody("TIMESTAMP_STALE"), outcome{causeSignature, "TIMESTAMP_STALE"}, nil},
		{401, errorBody("NONCE_REUSED"), outcome{causeSignature, "NONCE_REUSED"}, nil},
		{401, "", outcome{causeSignature, ""}, nil},
		{403, errorBody("QUOTA_EXCEEDED"), outcome{causeQuota, "QUOTA_EXCEEDED"}, nil},
		{403, errorBody("AUTH_FAILED"), outcome{causeForbidden, "AUTH_FAILED"}, nil},
		{403, leak, outcome{causeForbidden, ""}, nil},
		{404, errorBody("RECORD_NOT_FOUND"), outcome{causeStatus, "RECORD_NOT_FOUND"}, map[string]error{"Delete": nil, "Get": ErrNotFound}},
		{404, `{"success":false}`, outcome{causeStatus, ""}, map[string]error{"Delete": nil, "Get": ErrUnsupported}},
		{404, "", outcome{causeStatus, ""}, map[string]error{"Delete": nil, "Get": ErrUnsupported}},
		{404, errorBody(leak), outcome{causeStatus, ""}, map[string]error{"Delete": nil, "Get": ErrUnsupported}},
		{404, errorBody("AUTH_FAILED"), outcome{causeStatus, "AUTH_FAILED"}, map[string]error{"Get": ErrUnsupported}},
		{405, leak, outcome{causeStatus, ""}, map[string]error{"Get": ErrUnsupported}},
		{501, errorBody("SERVER_ERROR"), outcome{causeFailed, "SERVER_ERROR"}, map[string]error{"Get": ErrUnsupported}},
		{410, "", outcome{causeStatus, ""}, nil},
		{418, errorBody("SERVER_ERROR"), outcome{causeStatus, "SERVER_ERROR"}, nil},
		{429, errorBody("RATE_LIMITED"), outcome{causeRateLimited, "RATE_LIMITED"}, nil},
		{429, leak, outcome{causeRateLimited, ""}, nil},
		{500, errorBody("SERVER_ERROR"), outcome{causeFailed, "SERVER_ERROR"}, nil},
		{500, leak, outcome{causeFailed, ""}, nil},
		{502, "<html>", outcome{causeFailed, ""}, nil},
		{503, `{"status":"unhealthy"}`, outcome{causeFailed, ""}, nil},
		{599, "", outcome{causeFailed, ""}, nil},
		{999, "", outcome{causeFailed, ""}, nil},
		{101, "", outcome{causeStatus, ""}, nil},
		{201, wwwAnswer, outcome{causeStatus, ""}, nil},
		{204, "", outcome{causeStatus, ""}, nil},
		{206, wwwAnswer, outcome{causeStatus, ""}, nil},
		{300, "", outcome{causeRedirect, ""}, nil},
		{304, "", outcome{causeRedirect, ""}, nil},
		{308, errorBody("SERVER_ERROR"), outcome{causeRedirect, ""}, nil},

		{200, "", outcome{causeNotJSON, ""}, nil},
		{200, leak, outcome{causeNotJSON, ""}, nil},
		{200, "[]", outcome{causeNotJSON, ""}, nil},
		{200, `"healthy"`, outcome{causeNotJSON, ""}, nil},
		{200, `{"success":true,"status":"healthy"`, outcome{causeNotJSON, ""}, nil},
		{200, `{"success":true,"status":"healthy"} ` + leak, outcome{causeNotJSON, ""}, nil},
		{200, `{"success":true,"status":"healthy"}{}`, outcome{causeNotJSON, ""}, nil},
		{200, "\xef\xbb\xbf" + `{"success":true,"status":"healthy"}`, outcome{causeNotJSON, ""}, nil},
		{200, `{"success":"true","status":1}`, outcome{causeNotJSON, ""}, nil},
		{200, `{"x":` + strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19-10) + "}", outcome{causeNotJSON, ""}, nil},
	}
	for _, tc := range tests {
		for operation, err := range judge(t, jsonAnswer(tc.status, tc.body)) {
			t.Run(fmt.Sprintf("%s %d %.60q", operation, tc.status, tc.body), func(t *testing.T) {
				exception, ok := tc.except[operation]
				switch {
				case !ok:
					want(t, err, tc.want.cause, tc.status, tc.want.code)
				case !errors.Is(err, exception) || (exception == nil && err != nil):
					t.Errorf("got %v, want %v", err, exception)
				}
			})
		}
	}
}

func TestHealthAnswers(t *testing.T) {
	tests := map[string]struct {
		body string
		want *cause
	}{
		"healthy":                 {`{"status":"healthy","message":"x","timestamp":"2025-12-30T10:00:00Z"}`, nil},
		"only the status":         {`{"status":"healthy"}`, nil},
		"spaces around":           {" \n{\"status\":\"healthy\"}\n", nil},
		"odd timestamp":           {`{"status":"healthy","timestamp":5}`, nil},
		"unhealthy":               {`{"status":"unhealthy","message":"` + leak + `"}`, &causeUnhealthy},
		"upper case":              {`{"status":"Healthy"}`, &causeUnhealthy},
		"no status":               {`{}`, &causeUnhealthy},
		"null":                    {`null`, &causeUnhealthy},
		"an answer about records": {wwwAnswer, &causeUnhealthy},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := asError(jsonAnswer(200, tc.body).health())
			if tc.want != nil {
				want(t, err, *tc.want, 200, "")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestContentTypes(t *testing.T) {
	tests := map[string]bool{"": true, "application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true,
		"text/plain": false, "text/html; charset=utf-8": false, "application/problem+json": false, "application/json-seq": false, "/": false,
		";": false, leak: false}
	for contentType, ok := range tests {
		for operation, err := range judge(t, &answer{status: 200, contentType: contentType, body: []byte(strings.Replace(wwwAnswer, "{", `{"status":"healthy",`, 1))}) {
			if ok && err != nil {
				t.Errorf("%s, %q: %v", operation, contentType, err)
			}
			if !ok {
				want(t, err, causeContentType, 200, "")
			}
		}
		code := (&answer{status: 404, contentType: contentType, body: []byte(errorBody("RECORD_NOT_FOUND"))}).code()
		if (code == dnsserverv1.CodeRecordNotFound) != ok {
			t.Errorf("%q: code %q", contentType, code)
		}
	}
}

func TestUpsertAnswers(t *testing.T) {
	of := func(record string) string { return `{"success":true,"record":{` + record + `}}` }
	tests := map[string]struct {
		body string
		want *cause
		code dnsserverv1.ErrorCode
	}{
		"echo":                      {wwwAnswer, nil, ""},
		"no echo":                   {`{"success":true,"message":"done"}`, nil, ""},
		"null echo":                 {`{"success":true,"record":null,"error":null}`, nil, ""},
		"fqdn alone":                {of(`"type":"A","fqdn":"www.example.com"`), nil, ""},
		"fqdn in other spelling":    {of(`"type":"A","fqdn":"WWW.Example.com."`), nil, ""},
		"other split":               {of(`"type":"A","domain":"com","subdomain":"www.example"`), nil, ""},
		"other values":              {of(`"type":"A","fqdn":"www.example.com","values":["192.0.2.9"],"ttl":1`), nil, ""},
		"other fqdn":                {of(`"type":"A","domain":"example.com","subdomain":"www","fqdn":"` + leak + `.example.com"`), &causeOtherRecord, ""},
		"fqdn that is none":         {of(`"type":"A","fqdn":"..","domain":"example.com","subdomain":"www"`), &causeOtherRecord, ""},
		"other type":                {of(`"type":"AAAA","fqdn":"www.example.com"`), &causeOtherRecord, ""},
		"type in lower case":        {of(`"type":"a","fqdn":"www.example.com"`), &causeOtherRecord, ""},
		"other domain":              {of(`"type":"A","domain":"example.org","subdomain":"www"`), &causeOtherRecord, ""},
		"other subdomain":           {of(`"type":"A","domain":"example.com","subdomain":"@"`), &causeOtherRecord, ""},
		"subdomain that is none":    {of(`"type":"A","domain":"example.com","subdomain":"` + leak + ` "`), &causeOtherRecord, ""},
		"domain that is none":       {of(`"type":"A","domain":"","subdomain":"www"`), &causeOtherRecord, ""},
		"too long when composed":    {of(`"type":"A","domain":"` + strings.Repeat("a.", 100) + `com","subdomain":"` + strings.Repeat("a.", 100) + `a"`), &causeOtherRecord, ""},
		"empty echo":                {of(``), &causeOtherRecord, ""},
		"echo of a wrong JSON type": {`{"success":true,"record":[]}`, &causeNotJSON, ""},
		"no success":                {`{}`, &causeUnsuccessful, ""},
		"null":                      {`null`, &causeUnsuccessful, ""},
		"success false":             {`{"success":false}`, &causeUnsuccessful, ""},
		"success false and a code":  {errorBody("INVALID_VALUE"), &causeUnsuccessful, "INVALID_VALUE"},
		"success false, odd code":   {errorBody(leak), &causeUnsuccessful, ""},
	}
	owner, _ := wwwID(t).owner()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := asError(jsonAnswer(200, tc.body).upserted(record.A, owner))
			if tc.want != nil {
				want(t, err, *tc.want, 200, tc.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDeleteAnswers(t *testing.T) {
	tests := map[string]struct {
		body string
		want *cause
		code dnsserverv1.ErrorCode
	}{
		"success":                    {`{"success":true,"message":"` + leak + `"}`, nil, ""},
		"there was none":             {errorBody("RECORD_NOT_FOUND"), nil, ""},
		"success false":              {`{"success":false}`, &causeUnsuccessful, ""},
		"success false, other error": {errorBody("SERVER_ERROR"), &causeUnsuccessful, "SERVER_ERROR"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := asError(jsonAnswer(200, tc.body).deleted())
			if tc.want != nil {
				want(t, err, *tc.want, 200, tc.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGetAnswers(t *testing.T) {
	of := func(rest string) string {
		return `{"success":true,"record":{"type":"A","domain":"example.com","subdomain":"www",` + rest + `}}`
	}
	tests := map[string]struct {
		body   string
		want   *cause
		values string
	}{
		"good":                    {wwwAnswer, nil, "192.0.2.1 192.0.2.2"},
		"other order":             {of(`"values":["192.0.2.2","192.0.2.1"],"ttl":600`), nil, "192.0.2.1 192.0.2.2"},
		"metadata without use":    {of(`"values":["192.0.2.1"],"ttl":1,"metadata":{"priority":1}`), nil, "192.0.2.1"},
		"no record":               {`{"success":true}`, &causeNotJSON, ""},
		"other record":            {`{"success":true,"record":{"type":"A","domain":"example.com","subdomain":"mail","values":["192.0.2.1"]}}`, &causeOtherRecord, ""},
		"other type":              {`{"success":true,"record":{"type":"TXT","domain":"example.com","subdomain":"www","values":["x"]}}`, &causeOtherRecord, ""},
		"no values":               {of(`"values":[],"ttl":1`), &causeBadRecord, ""},
		"value that is none":      {of(`"values":["` + leak + `"],"ttl":1`), &causeBadRecord, ""},
		"equal values":            {of(`"values":["192.0.2.1","192.0.2.1"],"ttl":1`), &causeBadRecord, ""},
		"negative TTL":            {of(`"values":["192.0.2.1"],"ttl":-1`), &causeBadRecord, ""},
		"TTL beyond its range":    {of(`"values":["192.0.2.1"],"ttl":2147483648`), &causeBadRecord, ""},
		"TTL that is no int":      {of(`"values":["192.0.2.1"],"ttl":1.5`), &causeNotJSON, ""},
		"values of a wrong type":  {of(`"values":"192.0.2.1"`), &causeNotJSON, ""},
		"very many values":        {of(`"values":[` + strings.Repeat(`"x",`, 200_000) + `"x"]`), &causeBadRecord, ""},
		"many values of any kind": {of(`"values":[` + strings.Repeat(`"",`, maxValues-1) + `""]`), &causeBadRecord, ""},
	}
	id := wwwID(t)
	owner, _ := id.owner()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := jsonAnswer(200, tc.body).found(id, owner)
			if tc.want != nil {
				want(t, err, *tc.want, 200, "")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(set.Values(), " "); got != tc.values || set.Owner != owner {
				t.Errorf("%s %s, want %s", set.Owner, got, tc.values)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC)
	tests := map[string]time.Duration{
		"":                                0,
		"0":                               0,
		"1":                               time.Second,
		"120":                             2 * time.Minute,
		"3600":                            time.Hour,
		"3601":                            time.Hour,
		"4294967295":                      time.Hour,
		"4294967296":                      0,
		"99999999999999999999999999":      0,
		"-1":                              0,
		"+1":                              0,
		"1.5":                             0,
		"1s":                              0,
		" 1":                              0,
		"0x10":                            0,
		"1_0":                             0,
		leak:                              0,
		"Tue, 30 Dec 2025 10:00:30 GMT":   30 * time.Second,
		"Tuesday, 30-Dec-25 10:00:30 GMT": 30 * time.Second,
		"Tue Dec 30 10:00:30 2025":        30 * time.Second,
		"Tue, 30 Dec 2025 12:00:00 GMT":   time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":   time.Hour,
		"Tue, 30 Dec 2025 10:00:00 GMT":   0,
		"Tue, 30 Dec 2025 09:59:59 GMT":   0,
		"Mon, 01 Jan 0001 00:00:00 GMT":   0,
		"Tue, 30 Dec 2025 10:00:30":       0,
	}
	for header, want := range tests {
		if got := retryAfter(header, now); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", header, got, want)
		}
	}
	for _, status := range []int{200, 400, 401, 403, 404, 429, 500, 503} {
		a := jsonAnswer(status, "{}")
		a.retryAfter = time.Minute
		var failed *Error
		if !errors.As(asError(a.upserted(record.A, dnsname.Root)), &failed) {
			t.Fatalf("%d is success", status)
		}
		if got, want := failed.RetryAfter != 0, status == 429 || status == 503; got != want {
			t.Errorf("status %d: RetryAfter is set: %t, want %t", status, got, want)
		}
	}
}

// TestGetWithoutMetadata: the protocol's own examples leave the numbers of MX and SRV records out, so there is nothing to compare.
func TestGetWithoutMetadata(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", dnsserverv1.ContentType)
		_, _ = io.WriteString(w, `{"success":true,"record":{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"],"ttl":60}}`)
	}))
	t.Cleanup(server.Close)
	at, err := endpoint.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	domain, err := dnsname.Parse("example.com")
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewFactory(Options{}).Client(Target{Server: at}).Get(t.Context(), ID{Type: record.MX, Domain: domain, Subdomain: dnsname.Apex})
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
