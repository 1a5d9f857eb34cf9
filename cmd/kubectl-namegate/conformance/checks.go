package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/wire"
	"github.com/namegate/namegate/internal/record"
)

// checks returns every check, in the order in which they are made.
func checks(options Options) []check {
	list := []check{{
		name: "health", requirement: "H1", expected: `status 200 and JSON with status "healthy"`, run: health,
	}}
	for _, f := range fixtures() {
		list = append(list, f.checks()...)
	}
	list = append(list,
		check{"get-absent", "R2", "404 RECORD_NOT_FOUND", getAbsent},
		check{"text-long", "U1", "a text of 300 bytes, more than one character-string holds, is kept whole", longText},
		check{"types-apart", "U4", "RRsets of other types at the same name stay as they are", typesApart},
		check{"delete-absent", "D2", "200, or 404 RECORD_NOT_FOUND", deleteAbsent},
		check{"wildcard", "P1", "the subdomain * is written %2A in paths", wildcard},
		check{"apex", "P1", "the subdomain @ is written @ in paths, and names the domain itself", apex},
	)
	for _, i := range invalids() {
		list = append(list, i.check())
	}
	list = append(list,
		check{"answers-are-json", "G1", "answers to good and bad requests are application/json of the protocol's form", answersAreJSON},
		check{"unknown-path", "E3", "404 or 405, and not RECORD_NOT_FOUND", unknownPath},
		check{"body-too-large", "E2", "a body above 1 MiB is refused, with 413 or 400 or by closing the connection, and the server goes on", bodyTooLarge},
	)
	return append(list, signatureChecks(options)...)
}

func health(ctx context.Context, s *session) outcome {
	r := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth})
	if s.signs() && r.status == http.StatusUnauthorized {
		s.refused = true
		return failed(r.String() + "; check that both sides have the same secret, byte for byte, and the same algorithm, and that both clocks are right")
	}
	var h v1.Health
	if r.err != nil || r.status != http.StatusOK || json.Unmarshal(r.raw, &h) != nil {
		return failed(r.String())
	}
	if r.contentType != v1.ContentType {
		return failed(fmt.Sprintf("content type %q", clip(r.contentType)))
	}
	if h.Status != v1.HealthyStatus {
		return failed(fmt.Sprintf("status %q", clip(h.Status)))
	}
	return passed(`status 200, "healthy"`)
}

// fixture is an RRset of one type, and another that replaces it.
type fixture struct {
	label         string
	first, second v1.Record
}

func fixtures() []fixture {
	number := func(n int64) *int64 { return &n }
	return []fixture{
		{"a", v1.Record{Type: "A", Values: []string{"192.0.2.1", "192.0.2.2"}},
			v1.Record{Type: "A", Values: []string{"192.0.2.2", "192.0.2.3"}, TTL: 600}},
		{"aaaa", v1.Record{Type: "AAAA", Values: []string{"2001:db8::1", "2001:db8::2"}},
			v1.Record{Type: "AAAA", Values: []string{"2001:db8::3"}, TTL: 600}},
		{"cname", v1.Record{Type: "CNAME", Values: []string{"host1.example.net"}},
			v1.Record{Type: "CNAME", Values: []string{"host2.example.net"}, TTL: 600}},
		{"txt", v1.Record{Type: "TXT", Values: []string{`v=1; "quoted" and \ backslash`, "two"}},
			v1.Record{Type: "TXT", Values: []string{" spaces, ünïcödé "}, TTL: 600}},
		{"mx", v1.Record{Type: "MX", Values: []string{"mail1.example.net", "mail2.example.net"}, Metadata: &v1.RecordMetadata{Priority: number(10)}},
			v1.Record{Type: "MX", Values: []string{"mail1.example.net"}, TTL: 600, Metadata: &v1.RecordMetadata{Priority: number(0)}}},
		{"_sip._tcp", v1.Record{Type: "SRV", Values: []string{"sip1.example.net", "sip2.example.net"},
			Metadata: &v1.RecordMetadata{Priority: number(1), Weight: number(2), Port: number(5060)}},
			v1.Record{Type: "SRV", Values: []string{"sip1.example.net"}, TTL: 600,
				Metadata: &v1.RecordMetadata{Priority: number(3), Weight: number(0), Port: number(65535)}}},
		{"ns", v1.Record{Type: "NS", Values: []string{"ns1.example.net", "ns2.example.net"}},
			v1.Record{Type: "NS", Values: []string{"ns3.example.net"}, TTL: 600}},
	}
}

// checks takes the RRset through its life.
func (f fixture) checks() []check {
	// stored is set by the first check: without it the others have nothing to work on.
	stored := false
	step := func(run func(ctx context.Context, s *session, first, second v1.Record) outcome) func(context.Context, *session) outcome {
		return func(ctx context.Context, s *session) outcome {
			if !stored {
				return skipped("the first upsert failed")
			}
			return run(ctx, s, s.record(f.first, f.label), s.record(f.second, f.label))
		}
	}
	typ := strings.ToLower(f.first.Type)
	return []check{
		{"upsert-" + typ, "U1", "200 with the record as it was stored, fqdn filled in", func(ctx context.Context, s *session) outcome {
			o := s.upsertAndCompare(ctx, s.record(f.first, f.label))
			stored = o.status == Pass
			return o
		}},
		{"get-" + typ, "R1", "200 with the record, or an answer that says that GET is not supported",
			step(func(ctx context.Context, s *session, first, _ v1.Record) outcome { return s.getAndCompare(ctx, first) })},
		{"upsert-again-" + typ, "U2", "the same answer, and nothing changes",
			step(func(ctx context.Context, s *session, first, _ v1.Record) outcome {
				return s.upsertGetAndCompare(ctx, first)
			})},
		{"replace-" + typ, "U3", "the new values, TTL and metadata, and none of the old",
			step(func(ctx context.Context, s *session, _, second v1.Record) outcome {
				return s.upsertGetAndCompare(ctx, second)
			})},
		{"delete-" + typ, "D1", "200, and the record is gone",
			step(func(ctx context.Context, s *session, first, _ v1.Record) outcome {
				r := s.delete(ctx, first)
				if r.status != http.StatusOK || !r.response.Success {
					return failed(r.String())
				}
				return s.absent(ctx, first, r)
			})},
		{"delete-again-" + typ, "D2", "200, or 404 RECORD_NOT_FOUND",
			step(func(ctx context.Context, s *session, first, _ v1.Record) outcome {
				return deleted(s.delete(ctx, first))
			})},
	}
}

func deleted(r reply) outcome {
	if !gone(r) {
		return failed(r.String())
	}
	return passed(r.String())
}

// upsertAndCompare stores a record and checks the answer.
func (s *session) upsertAndCompare(ctx context.Context, want v1.Record) outcome {
	r := s.upsert(ctx, want)
	if r.err != nil || r.status != http.StatusOK || !r.response.Success {
		return failed(r.String())
	}
	if difference := compare(want, r.response.Record); difference != "" {
		return failed(difference)
	}
	return passed(r.String())
}

// upsertGetAndCompare stores a record and checks the answer, and what GET says then, if it is supported.
func (s *session) upsertGetAndCompare(ctx context.Context, want v1.Record) outcome {
	o := s.upsertAndCompare(ctx, want)
	if o.status != Pass || !s.canGet {
		return o
	}
	return s.getAndCompare(ctx, want)
}

func (s *session) getAndCompare(ctx context.Context, want v1.Record) outcome {
	r := s.get(ctx, want)
	if unsupported(r) {
		return skipped("GET is optional, and this server does not support it")
	}
	if r.err != nil || r.status != http.StatusOK || !r.response.Success {
		return failed("GET: " + r.String())
	}
	if difference := compare(want, r.response.Record); difference != "" {
		return failed("GET: " + difference)
	}
	return passed(r.String())
}

// absent checks that a record is not there, as far as GET can tell; r is what led to it.
func (s *session) absent(ctx context.Context, want v1.Record, r reply) outcome {
	if !s.canGet {
		return passed(r.String())
	}
	if g := s.get(ctx, want); g.status != http.StatusNotFound || g.code() != v1.CodeRecordNotFound {
		return failed(fmt.Sprintf("%s; then GET: %s", r, g))
	}
	return passed(r.String())
}

// compare says in what a record that the server shows differs; empty where it does not. Values are compared in canonical form, in any order.
func compare(want v1.Record, got *v1.Record) string {
	if got == nil {
		return "an answer without a record"
	}
	wanted, _ := record.Parse(wire.Spec(want))
	if wanted == nil {
		panic("a fixture is not valid: " + pathOf(want))
	}
	shown, problems := record.Parse(wire.Spec(*got))
	switch {
	case shown == nil:
		return "a record that is not valid: " + problems.Denied().Error()
	case shown.Type != wanted.Type || shown.Domain != wanted.Domain || shown.Subdomain != wanted.Subdomain:
		return fmt.Sprintf("another record: %s %s %s", shown.Type, shown.Domain, shown.Subdomain)
	case got.FQDN != wanted.Owner.String():
		return fmt.Sprintf("fqdn %q instead of %q", clip(got.FQDN), wanted.Owner)
	case !slices.Equal(shown.Values(), wanted.Values()):
		return fmt.Sprintf("values %s instead of %q", clip(fmt.Sprintf("%q", shown.Values())), wanted.Values())
	case shown.TTL != wanted.TTL:
		return fmt.Sprintf("ttl %d instead of %d", shown.TTL, wanted.TTL)
	case !shown.Equal(wanted):
		return fmt.Sprintf("priority, weight and port %d, %d, %d instead of %d, %d, %d",
			shown.Priority, shown.Weight, shown.Port, wanted.Priority, wanted.Weight, wanted.Port)
	}
	return ""
}

func longText(ctx context.Context, s *session) outcome {
	r := s.record(v1.Record{Type: "TXT", Values: []string{strings.Repeat("0123456789", 30)}}, "long")
	o := s.upsertGetAndCompare(ctx, r)
	s.delete(ctx, r)
	return o
}

func typesApart(ctx context.Context, s *session) outcome {
	if !s.canGet {
		return skipped("it takes GET to see, and this server does not support it")
	}
	a := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "both")
	txt := s.record(v1.Record{Type: "TXT", Values: []string{"text"}}, "both")
	for _, r := range []v1.Record{a, txt} {
		if o := s.upsertAndCompare(ctx, r); o.status != Pass {
			return o
		}
	}
	if o := s.getAndCompare(ctx, a); o.status != Pass {
		return failed("after an upsert of TXT, A: " + o.got)
	}
	if o := deleted(s.delete(ctx, a)); o.status != Pass {
		return o
	}
	if o := s.getAndCompare(ctx, txt); o.status != Pass {
		return failed("after the deletion of A, TXT: " + o.got)
	}
	return deleted(s.delete(ctx, txt))
}

func getAbsent(ctx context.Context, s *session) outcome {
	r := s.get(ctx, s.record(v1.Record{Type: "A"}, "absent"))
	if unsupported(r) {
		return skipped("GET is optional, and this server does not support it")
	}
	if r.status != http.StatusNotFound || r.code() != v1.CodeRecordNotFound {
		return failed(r.String())
	}
	return passed(r.String())
}

func deleteAbsent(ctx context.Context, s *session) outcome {
	return deleted(s.delete(ctx, s.record(v1.Record{Type: "A"}, "absent")))
}

func wildcard(ctx context.Context, s *session) outcome {
	return s.life(ctx, s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "*"))
}

// apex works at the domain itself, which may have a record that somebody needs.
func apex(ctx context.Context, s *session) outcome {
	r := s.record(v1.Record{Type: "TXT", Values: []string{"conformance check " + s.id}}, "")
	r.Subdomain = "@"
	before := s.get(ctx, r)
	switch {
	case before.code() == v1.CodeRecordNotFound, unsupported(before) && s.options.Domain.String() == DefaultDomain:
		return s.life(ctx, r)
	case before.status == http.StatusOK:
		return skipped("the domain has a TXT record, which is left alone")
	case unsupported(before):
		return skipped("without GET there is no telling whether the domain has a TXT record, which would be lost")
	}
	return failed("GET: " + before.String())
}

// life stores a record, finds it and deletes it.
func (s *session) life(ctx context.Context, r v1.Record) outcome {
	if o := s.upsertGetAndCompare(ctx, r); o.status != Pass {
		return o
	}
	d := s.delete(ctx, r)
	if o := deleted(d); o.status != Pass {
		return o
	}
	return s.absent(ctx, r, d)
}

// invalid is a request to POST /records that has to be refused.
type invalid struct {
	name, what string
	// code is what says it best. INVALID_RECORD is accepted for each.
	code v1.ErrorCode
	// change spoils a good record.
	change func(r *v1.Record)
	// spoil spoils the body; nil for no more.
	spoil func(body []byte) []byte
}

func invalids() []invalid {
	values := func(typ string, values ...string) func(*v1.Record) {
		return func(r *v1.Record) { r.Type, r.Values = typ, values }
	}
	same := func(*v1.Record) {}
	return []invalid{
		{"invalid-json", "a body that is not JSON", v1.CodeInvalidRecord, same, func([]byte) []byte { return []byte("hello") }},
		{"invalid-json-cut", "JSON that is cut off", v1.CodeInvalidRecord, same, func(b []byte) []byte { return b[:len(b)-1] }},
		{"invalid-json-trailing", "a second JSON object behind the first", v1.CodeInvalidRecord, same, func(b []byte) []byte { return append(b, "{}"...) }},
		{"invalid-operation", "an operation other than upsert", v1.CodeInvalidRecord, same,
			func(b []byte) []byte { return bytes.Replace(b, []byte(`"upsert"`), []byte(`"replace-everything"`), 1) }},
		{"invalid-type", "a type that is none of the seven", v1.CodeInvalidRecord, values("NOSUCHTYPE", "192.0.2.1"), nil},
		{"invalid-ttl", "a TTL below 0", v1.CodeInvalidRecord, func(r *v1.Record) { r.TTL = -1 }, nil},
		{"invalid-no-values", "a record without values", v1.CodeInvalidValue, values("A"), nil},
		{"invalid-domain", "a domain with a space", v1.CodeInvalidDomain, func(r *v1.Record) { r.Domain = "not a " + r.Domain }, nil},
		{"invalid-subdomain", "a label of 64 characters", v1.CodeInvalidDomain, func(r *v1.Record) { r.Subdomain = strings.Repeat("a", 64) }, nil},
		{"invalid-a", "an A record with 192.0.2.256", v1.CodeInvalidValue, values("A", "192.0.2.1", "192.0.2.256"), nil},
		{"invalid-a-ipv6", "an A record with an IPv6 address", v1.CodeInvalidValue, values("A", "2001:db8::1"), nil},
		{"invalid-aaaa-ipv4", "an AAAA record with an IPv4 address", v1.CodeInvalidValue, values("AAAA", "192.0.2.1"), nil},
		{"invalid-cname-two", "a CNAME with two values", v1.CodeInvalidValue, values("CNAME", "a.example.net", "b.example.net"), nil},
		{"invalid-cname-name", "a CNAME whose value is no name", v1.CodeInvalidValue, values("CNAME", "not a name"), nil},
		{"invalid-mx-priority", "an MX record without a priority", v1.CodeInvalidRecord, values("MX", "mail.example.net"), nil},
		{"invalid-mx-range", "an MX record with priority 65536", v1.CodeInvalidRecord, func(r *v1.Record) {
			large := int64(65536)
			r.Type, r.Values, r.Metadata = "MX", []string{"mail.example.net"}, &v1.RecordMetadata{Priority: &large}
		}, nil},
		{"invalid-srv-metadata", "an SRV record without its numbers", v1.CodeInvalidRecord, func(r *v1.Record) {
			r.Type, r.Values, r.Subdomain = "SRV", []string{"sip.example.net"}, "_sip._tcp."+r.Subdomain
		}, nil},
	}
}

func (i invalid) check() check {
	expected := fmt.Sprintf("400 %s for %s, and nothing is stored", i.code, i.what)
	if i.code != v1.CodeInvalidRecord {
		expected = fmt.Sprintf("400 %s or %s for %s, and nothing is stored", i.code, v1.CodeInvalidRecord, i.what)
	}
	return check{i.name, "E1", expected, func(ctx context.Context, s *session) outcome {
		good := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "invalid")
		bad := good
		i.change(&bad)
		body := upsertBody(bad)
		if i.spoil != nil {
			body = i.spoil(body)
		}
		r := s.post(ctx, bad, body)
		if r.status != http.StatusBadRequest || (r.code() != i.code && r.code() != v1.CodeInvalidRecord) {
			if r.status < http.StatusBadRequest {
				s.delete(ctx, bad)
			}
			return failed(r.String())
		}
		if !record.Type(bad.Type).Known() || i.code == v1.CodeInvalidDomain {
			return passed(r.String()) // nothing can be asked for under such a name
		}
		return s.absent(ctx, bad, r)
	}}
}

func answersAreJSON(ctx context.Context, s *session) outcome {
	good := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "json")
	bad := good
	bad.Type = "NOSUCHTYPE"
	answers := []struct {
		what string
		r    reply
		fits func(v1.Response) bool
	}{
		{"a refused upsert", s.upsert(ctx, bad), func(r v1.Response) bool { return !r.Success && r.Error != nil && r.Error.Message != "" }},
		{"an upsert", s.upsert(ctx, good), func(r v1.Response) bool { return r.Success && r.Error == nil }},
		{"a deletion", s.delete(ctx, good), func(r v1.Response) bool { return r.Success && r.Error == nil }},
	}
	for _, a := range answers {
		switch {
		case a.r.err != nil || !a.r.isJSON:
			return failed(a.what + ": " + a.r.String())
		case a.r.contentType != v1.ContentType:
			return failed(fmt.Sprintf("%s: content type %q", a.what, clip(a.r.contentType)))
		case !a.fits(a.r.response):
			return failed(fmt.Sprintf("%s: %s, where success, error and its message do not fit together", a.what, a.r))
		}
	}
	return passed("JSON each time")
}

func unknownPath(ctx context.Context, s *session) outcome {
	r := s.send(ctx, call{method: http.MethodGet, path: "/" + s.id})
	if r.status != http.StatusNotFound && r.status != http.StatusMethodNotAllowed || r.code() == v1.CodeRecordNotFound {
		return failed(r.String())
	}
	return passed(fmt.Sprintf("status %d", r.status))
}

// bodyTooLarge sends a good record and a million spaces behind it.
func bodyTooLarge(ctx context.Context, s *session) outcome {
	large := s.record(v1.Record{Type: "A", Values: []string{"192.0.2.1"}}, "large")
	body := upsertBody(large)
	body = append(body, bytes.Repeat([]byte(" "), v1.MaxBodyBytes+1-len(body))...)
	r := s.post(ctx, large, body)
	if r.err == nil && r.status != http.StatusRequestEntityTooLarge && r.status != http.StatusBadRequest {
		s.delete(ctx, large)
		return failed(r.String())
	}
	if after := s.send(ctx, call{method: http.MethodGet, path: v1.PathHealth}); after.err != nil || after.status != http.StatusOK {
		return failed(fmt.Sprintf("%s; then health: %s", r, after))
	}
	o := s.absent(ctx, large, r)
	if s.canGet && o.status == Pass {
		delete(s.created, pathOf(large)) // it is known not to be there
	}
	return o
}
