package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/cmd/dnsserver/backend"
	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
)

func get(t testing.TB, s *memory.Store, typ, domain, subdomain string) []string {
	t.Helper()
	id := backend.IDOf(parse(t, typ, domain, subdomain, map[string]string{"A": "192.0.2.1", "CNAME": "x.example.com", "TXT": "x"}[typ]))
	set, found, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return nil
	}
	return set.Values()
}

func TestReplaceAndDelete(t *testing.T) {
	s := fill(t, memory.Options{}, "A example.com www 192.0.2.2 192.0.2.1")
	if diff := cmp.Diff([]string{"192.0.2.1", "192.0.2.2"}, get(t, s, "A", "example.com", "www")); diff != "" {
		t.Error(diff)
	}
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "www", "192.0.2.3")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"192.0.2.3"}, get(t, s, "A", "example.com", "www")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"192.0.2.3"}, get(t, s, "A", "www.example.com", "@")); diff != "" {
		t.Errorf("the same owner, split in another way: %s", diff)
	}
	id := backend.IDOf(parse(t, "A", "www.example.com", "@", "192.0.2.1"))
	for _, want := range []bool{true, false} {
		if existed, err := s.Delete(t.Context(), id); err != nil || existed != want {
			t.Errorf("existed %t, error %v; want %t", existed, err, want)
		}
	}
	if got := get(t, s, "A", "example.com", "www"); got != nil {
		t.Errorf("still there: %v", got)
	}
}

func TestConflicts(t *testing.T) {
	s := fill(t, memory.Options{}, "A example.com host 192.0.2.1", "CNAME example.com alias host.example.com")
	for what, r := range map[string]string{
		"CNAME beside A":   "CNAME example.com host www.example.com",
		"TXT beside CNAME": "TXT example.com alias text",
	} {
		f := strings.Fields(r)
		if err := s.Upsert(t.Context(), parse(t, f[0], f[1], f[2], f[3])); !errors.Is(err, backend.ErrConflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Upsert(t.Context(), parse(t, "CNAME", "example.com", "alias", "other.example.com")); err != nil {
		t.Errorf("a CNAME is replaced: %v", err)
	}
}

func TestQuota(t *testing.T) {
	s := fill(t, memory.Options{MaxRecords: 2}, "A example.com a 192.0.2.1", "A example.com b 192.0.2.1")
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "c", "192.0.2.1")); !errors.Is(err, backend.ErrQuota) {
		t.Errorf("third record: %v", err)
	}
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "b", "192.0.2.2")); err != nil {
		t.Errorf("replacing one: %v", err)
	}
	if _, err := s.Delete(t.Context(), backend.IDOf(parse(t, "A", "example.com", "a", "192.0.2.1"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "c", "192.0.2.1")); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}

func TestFileKeepsEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.json")
	s := fill(t, memory.Options{File: file}, zoneRecords...)
	if _, err := s.Delete(t.Context(), backend.IDOf(parse(t, "A", "example.com", "www", "192.0.2.1"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), parse(t, "TXT", "example.com", "quoted", `a "b" \ c`, "ünï")); err != nil {
		t.Fatal(err)
	}
	again := fill(t, memory.Options{File: file})
	want, got := listen(t, s), listen(t, again)
	for _, qname := range []string{"www.example.com.", "alias2.example.com.", "x.wild.example.com.", "example.com.", "cut.example.com.", "quoted.example.com."} {
		for _, qtype := range []uint16{dns.TypeA, dns.TypeMX, dns.TypeTXT, dns.TypeNS} {
			q := question(qname, qtype)
			if diff := cmp.Diff(shown(ask(t, "tcp", want, q)), shown(ask(t, "tcp", got, q))); diff != "" {
				t.Errorf("%s %s -before +after:\n%s", qname, dns.TypeToString[qtype], diff)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestBadFiles(t *testing.T) {
	good := `{"version":1,"records":[{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"],"ttl":60}]}`
	for what, text := range map[string]string{
		"not JSON":       "hello",
		"empty":          "",
		"cut off":        good[:40],
		"two objects":    good + good,
		"other version":  strings.Replace(good, `"version":1`, `"version":2`, 1),
		"invalid record": strings.Replace(good, "192.0.2.1", "192.0.2.256", 1),
		"conflict": `{"version":1,"records":[{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1"]},` +
			`{"type":"CNAME","domain":"example.com","subdomain":"www","values":["x.example.com"]}]}`,
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "records.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := memory.New(memory.Options{File: file}); err == nil {
				t.Error("was accepted")
			}
			if after, err := os.ReadFile(file); err != nil || string(after) != text {
				t.Errorf("the file was changed: %q %v", after, err)
			}
		})
	}
}

// TestFileCannotBeWritten: what is not in the file is not published, and the server says that it is not healthy.
func TestFileCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := fill(t, memory.Options{File: filepath.Join(dir, "records.json")}, "A example.com www 192.0.2.1")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "www", "192.0.2.2")); err == nil {
		t.Error("the upsert succeeded")
	}
	if _, err := s.Delete(t.Context(), backend.IDOf(parse(t, "A", "example.com", "www", "192.0.2.1"))); err == nil {
		t.Error("the deletion succeeded")
	}
	if diff := cmp.Diff([]string{"192.0.2.1"}, get(t, s, "A", "example.com", "www")); diff != "" {
		t.Error(diff)
	}
	if err := s.Healthy(t.Context()); err == nil {
		t.Error("healthy")
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert(t.Context(), parse(t, "A", "example.com", "www", "192.0.2.2")); err != nil {
		t.Error(err)
	}
	if err := s.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEndedContext(t *testing.T) {
	s := fill(t, memory.Options{}, "A example.com www 192.0.2.1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Upsert(ctx, parse(t, "A", "example.com", "www", "192.0.2.2")); !errors.Is(err, context.Canceled) {
		t.Errorf("upsert: %v", err)
	}
	if _, err := s.Delete(ctx, backend.IDOf(parse(t, "A", "example.com", "www", "192.0.2.2"))); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
}

// TestConcurrentChanges asks while many change the store; the race detector looks on, and every change has to be in the file.
func TestConcurrentChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.json")
	s := fill(t, memory.Options{File: file})
	addr := listen(t, s)
	var wg sync.WaitGroup
	const writers = 8
	for w := range writers {
		wg.Go(func() {
			for i := range 5 {
				if err := s.Upsert(t.Context(), parse(t, "A", "example.com", fmt.Sprintf("w%d", w), fmt.Sprintf("192.0.2.%d", i))); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 5 {
				ask(t, "udp", addr, question(fmt.Sprintf("w%d.example.com.", w), dns.TypeA))
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Records []struct{ Values []string } }
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	if len(kept.Records) != writers {
		t.Errorf("%d records in the file, want %d", len(kept.Records), writers)
	}
	for _, r := range kept.Records {
		if diff := cmp.Diff([]string{"192.0.2.4"}, r.Values); diff != "" {
			t.Error(diff)
		}
	}
}
