package libdns_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	extern "github.com/libdns/libdns"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/libdns"
	"github.com/namegate/namegate/internal/record"
)

// provider is a libdns provider of the plainest kind: one zone in memory, the structs of libdns as results, and nothing optional.
type provider struct {
	records []extern.RR
	broken  error
}

func (p *provider) GetRecords(context.Context, string) ([]extern.Record, error) {
	var out []extern.Record
	for _, rr := range p.records {
		parsed, err := rr.Parse()
		if err != nil {
			return nil, err
		}
		out = append(out, parsed)
	}
	return out, p.broken
}

func (p *provider) SetRecords(_ context.Context, _ string, records []extern.Record) ([]extern.Record, error) {
	for _, rec := range records {
		p.records = slices.DeleteFunc(p.records, func(rr extern.RR) bool { return rr.Name == rec.RR().Name && rr.Type == rec.RR().Type })
	}
	for _, rec := range records {
		p.records = append(p.records, rec.RR())
	}
	return records, p.broken
}

func (p *provider) DeleteRecords(_ context.Context, _ string, records []extern.Record) ([]extern.Record, error) {
	for _, rec := range records {
		p.records = slices.DeleteFunc(p.records, func(rr extern.RR) bool { return rr == rec.RR() })
	}
	return records, p.broken
}

func TestAnyProvider(t *testing.T) {
	sets := []*record.RRset{
		simple(t, "A", "example.com", "www", "192.0.2.1", "192.0.2.2"),
		simple(t, "AAAA", "example.com", "@", "2001:db8::1"),
		simple(t, "CNAME", "example.com", "alias", "www.example.com"),
		simple(t, "TXT", "example.com", "_text", `a "text" with \ in it`),
		simple(t, "NS", "example.com", "sub", "ns.example.net"),
		parse(t, record.Spec{Type: "MX", Domain: "example.com", Subdomain: "@", Values: []string{"mail.example.com", "mail.example.net"}, TTL: 60, Priority: number(10)}),
		parse(t, record.Spec{Type: "MX", Domain: "example.com", Subdomain: "null", Values: []string{"."}, TTL: 60, Priority: number(0)}),
		parse(t, record.Spec{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp.voice", Values: []string{"sip.example.com"}, TTL: 60, Priority: number(1), Weight: number(2), Port: number(3)}),
	}
	p := &provider{}
	b := newBackend(t, p, "example.com")
	for _, set := range sets {
		if err := b.Upsert(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range sets {
		got, found, err := b.Get(t.Context(), backend.IDOf(set))
		if err != nil || !found || !got.Equal(set) {
			t.Errorf("%s %s: %v, %t, %v", set.Type, set.Owner, got, found, err)
		}
	}
	want := extern.RR{Name: "_sip._tcp.voice", Type: "SRV", Data: "1 2 3 sip.example.com.", TTL: 60e9}
	if diff := cmp.Diff(want, p.records[len(p.records)-1]); diff != "" {
		t.Errorf("as libdns writes it, -want +got:\n%s", diff)
	}
	for _, set := range sets {
		for _, want := range []bool{true, false} {
			if existed, err := b.Delete(t.Context(), backend.IDOf(set)); existed != want || err != nil {
				t.Errorf("%s %s: delete %t, %v; want %t", set.Type, set.Owner, existed, err, want)
			}
		}
	}
	if len(p.records) > 0 {
		t.Errorf("left: %v", p.records)
	}
}

func TestBrokenProvider(t *testing.T) {
	broken := errors.New("broken")
	p := &provider{broken: broken}
	b := newBackend(t, p, "example.com")
	set := simple(t, "A", "example.com", "www", "192.0.2.1")
	id := backend.IDOf(set)
	_, deleteErr := b.Delete(t.Context(), id)
	_, _, getErr := b.Get(t.Context(), id)
	for what, err := range map[string]error{"upsert": b.Upsert(t.Context(), set), "delete": deleteErr, "get": getErr, "health": b.Healthy(t.Context())} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestForeignData: data that is not of its type, as a provider with a form of its own might return it.
func TestForeignData(t *testing.T) {
	for what, rrs := range map[string][]extern.RR{
		"TTLs differ":    {{Name: "x", Type: "TXT", Data: "a", TTL: 1e9}, {Name: "x", Type: "TXT", Data: "b", TTL: 2e9}},
		"values twice":   {{Name: "x", Type: "TXT", Data: "a"}, {Name: "x", Type: "TXT", Data: "a"}},
		"empty text":     {{Name: "x", Type: "TXT", Data: ""}},
		"priority apart": {{Name: "x", Type: "MX", Data: "1 a.example.com."}, {Name: "x", Type: "MX", Data: "2 b.example.com."}},
	} {
		p := &provider{records: rrs}
		b := newBackend(t, p, "example.com")
		set := simple(t, "TXT", "example.com", "x", "a")
		if rrs[0].Type == "MX" {
			set = parse(t, record.Spec{Type: "MX", Domain: "example.com", Subdomain: "x", Values: []string{"a.example.com"}, Priority: number(1)})
		}
		if _, found, err := b.Get(t.Context(), backend.IDOf(set)); found || !errors.Is(err, backend.ErrForeign) {
			t.Errorf("%s: %t, %v", what, found, err)
		}
	}
}

func TestNoZones(t *testing.T) {
	if _, err := libdns.New(&provider{}, nil); err == nil {
		t.Error("accepted")
	}
}

func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two providers have one name")
		}
	}()
	libdns.Register(libdns.Provider{Name: "rfc2136"})
}
