package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/namegate/namegate/api/dnsserver/v1"
	"github.com/namegate/namegate/cmd/dnsserver/server"
)

// FuzzUpsert: whatever the body, the answer is one of the protocol's; and what was stored is canonical: it can be fetched at its own
// path, and storing it again changes nothing.
func FuzzUpsert(f *testing.F) {
	f.Add(body(www))
	f.Add(body(`"type":"MX","domain":"example.com","subdomain":"@","values":["."],"ttl":1,"metadata":{"priority":0}`))
	f.Add(body(`"type":"SRV","domain":"example.com","subdomain":"*._tcp","values":["a.example.com"],"ttl":1,"metadata":{"priority":1,"weight":2,"port":3}`))
	f.Add(body(`"type":"TXT","domain":"example.com","subdomain":"_a","values":["\u00e9 \ud800 \"\\"],"ttl":1`))
	f.Add(body(`"type":"CNAME","domain":"EXAMPLE.com.","subdomain":"*.w","values":["A.b."],"ttl":1`))
	f.Add(`{"operation":"upsert","record":{"values":[null]}}`)
	f.Add("[]")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, text string) {
		s := newServer(t, server.Options{})
		w := send(s, "POST", "/records", text)
		r := decode(t, w)
		if w.Code != http.StatusOK {
			if w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if r.Error == nil || !r.Error.Code.Known() {
				t.Fatalf("no error code: %s", w.Body)
			}
			return
		}
		path := v1.RecordPath("", r.Record.Type, r.Record.Domain, r.Record.Subdomain)
		if _, err := url.Parse(path); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Record, decode(t, send(s, "GET", path, "")).Record); diff != "" {
			t.Errorf("at its path -stored +got:\n%s", diff)
		}
		again, err := json.Marshal(v1.UpsertRequest{Operation: v1.OperationUpsert, Record: *r.Record})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Record, decode(t, send(s, "POST", "/records", string(again))).Record); diff != "" {
			t.Errorf("stored again -first +second:\n%s", diff)
		}
	})
}
