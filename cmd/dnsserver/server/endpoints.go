package server

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/wire"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// health is GET /health.
func (s *Server) health(ctx context.Context, _ request) answer {
	h := v1.Health{Status: v1.HealthyStatus, Message: "records can be changed", Timestamp: time.Now().UTC().Truncate(time.Second)}
	err := s.options.Backend.Healthy(ctx)
	if err == nil {
		return answer{status: http.StatusOK, body: h, quiet: true}
	}
	s.options.Log.Error("the back end is not healthy", "error", err)
	h.Status, h.Message = v1.UnhealthyStatus, "the back end cannot be reached or refuses changes"
	return answer{status: http.StatusServiceUnavailable, body: h}
}

// upsert is POST /records.
func (s *Server) upsert(ctx context.Context, r request) answer {
	set, refusal := readUpsert(r)
	if set == nil {
		return refusal
	}
	if err := s.options.Backend.Upsert(ctx, set); err != nil {
		return s.backendFailed(err)
	}
	return stored(set, backend.IDOf(set), "record stored")
}

// get is GET /records/{type}/{domain}/{subdomain}.
func (s *Server) get(ctx context.Context, r request) answer {
	id, refusal := readID(r.path)
	if refusal != nil {
		return *refusal
	}
	set, found, err := s.options.Backend.Get(ctx, id)
	if err != nil {
		return s.backendFailed(err)
	}
	if !found {
		return notFound
	}
	return stored(set, id, "")
}

// delete is DELETE /records/{type}/{domain}/{subdomain}.
func (s *Server) delete(ctx context.Context, r request) answer {
	id, refusal := readID(r.path)
	if refusal != nil {
		return *refusal
	}
	existed, err := s.options.Backend.Delete(ctx, id)
	if err != nil {
		return s.backendFailed(err)
	}
	if !existed {
		return notFound
	}
	return answer{status: http.StatusOK, body: v1.Response{Success: true, Message: "record deleted"}}
}

var notFound = failed(v1.CodeRecordNotFound, "there is no such record")

func stored(set *record.RRset, id backend.ID, message string) answer {
	r := wire.Record(set, id.Domain, id.Subdomain)
	return answer{status: http.StatusOK, body: v1.Response{Success: true, Record: &r, Message: message}}
}

// backendFailed answers for an error of the back end. Only what is about the record is told to the client.
func (s *Server) backendFailed(err error) answer {
	for _, known := range []struct {
		err  error
		code v1.ErrorCode
	}{
		{backend.ErrConflict, v1.CodeInvalidRecord},
		{backend.ErrNotServed, v1.CodeInvalidDomain},
		{backend.ErrQuota, v1.CodeQuotaExceeded},
		{backend.ErrForeign, v1.CodeRecordNotFound},
	} {
		if errors.Is(err, known.err) {
			return failed(known.code, known.err.Error())
		}
	}
	s.options.Log.Error("the back end failed", "error", err)
	return failed(v1.CodeServerError, "the back end failed; the server's log says how")
}

// readUpsert makes an RRset of the body of POST /records; nil with the answer to give where it is none. A JSON field that is
// not known is left alone: a later client may send more.
func readUpsert(r request) (*record.RRset, answer) {
	// A browser sends this content type to another site only after asking that site, so no web page can write records here.
	if mediaType, _, err := mime.ParseMediaType(r.contentType); err != nil || mediaType != v1.ContentType {
		return nil, failed(v1.CodeInvalidRecord, "send the body as "+v1.ContentType)
	}
	if !utf8.Valid(r.body) {
		return nil, failed(v1.CodeInvalidRecord, "the body is not UTF-8")
	}
	var req v1.UpsertRequest
	if err := json.Unmarshal(r.body, &req); err != nil {
		return nil, notJSON(err)
	}
	if req.Operation != v1.OperationUpsert {
		return nil, failed(v1.CodeInvalidRecord, "operation: give "+v1.OperationUpsert)
	}
	set, problems := record.Parse(wire.Spec(req.Record))
	if set == nil {
		return nil, invalid(problems.Denied())
	}
	return set, answer{}
}

// notJSON names the field, which is one of the protocol's, and nothing that the client wrote.
func notJSON(err error) answer {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && wrongType.Field != "" {
		return failed(v1.CodeInvalidRecord, wrongType.Field+": the JSON value has the wrong type")
	}
	return failed(v1.CodeInvalidRecord, "the body is not one JSON object of an upsert request")
}

// maxProblems is how many problems an answer lists.
const maxProblems = 10

// invalid answers with the code of the first problem, and lists them in the details.
func invalid(problems record.Problems) answer {
	a := failed(codeOf(problems[0]), problems.Error())
	list := make([]map[string]any, 0, maxProblems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		problem := map[string]any{"field": p.Field, "rule": p.Rule.ID, "message": p.Detail}
		if p.Index >= 0 {
			problem["index"] = p.Index
		}
		list = append(list, problem)
	}
	a.body.(v1.Response).Error.Details = map[string]any{"problems": list}
	return a
}

// codeOf chooses the error code of a problem: of a name that is none, of a single value, or of the record as a whole.
func codeOf(p record.Problem) v1.ErrorCode {
	switch {
	case p.Index >= 0:
		return v1.CodeInvalidValue
	case slices.Contains(dnsname.Reasons(), dnsname.Reason(p.Rule.ID)):
		return v1.CodeInvalidDomain
	}
	return v1.CodeInvalidRecord
}

// readID reads type, domain and subdomain from a path.
func readID(path []string) (backend.ID, *answer) {
	id := backend.ID{Type: record.Type(path[0])}
	if !id.Type.Known() {
		return id, refusal(v1.CodeInvalidRecord, "type: give one of A, AAAA, CNAME, TXT, MX, SRV and NS")
	}
	var err error
	if id.Domain, err = dnsname.Parse(path[1]); err != nil {
		return id, refusal(v1.CodeInvalidDomain, "domain: "+err.Error())
	}
	if id.Subdomain, err = dnsname.ParseSubdomain(path[2]); err != nil {
		return id, refusal(v1.CodeInvalidDomain, "subdomain: "+err.Error())
	}
	if id.Owner, err = dnsname.Join(id.Subdomain, id.Domain); err != nil {
		return id, refusal(v1.CodeInvalidDomain, "subdomain: "+err.Error())
	}
	return id, nil
}

func refusal(code v1.ErrorCode, message string) *answer {
	a := failed(code, message)
	return &a
}

// unescaped returns the segments of a path as they are meant; ok where each is escaped in a way that can be undone.
func unescaped(segments []string) (plain []string, ok bool) {
	for _, segment := range segments {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, false
		}
		plain = append(plain, text)
	}
	return plain, true
}
