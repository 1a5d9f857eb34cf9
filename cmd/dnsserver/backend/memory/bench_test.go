package memory_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/namegate/namegate/cmd/dnsserver/backend/memory"
)

// many makes a store of A records h0, h1, … in a file.
func many(b *testing.B, count int) *memory.Store {
	b.Helper()
	file := filepath.Join(b.TempDir(), "records.json")
	records := make([]string, count)
	for i := range records {
		records[i] = fmt.Sprintf(`{"type":"A","domain":"example.com","subdomain":"h%d","values":["192.0.2.1"],"ttl":60}`, i)
	}
	if err := os.WriteFile(file, []byte(`{"version":1,"records":[`+strings.Join(records, ",")+`]}`), 0o600); err != nil {
		b.Fatal(err)
	}
	return fill(b, memory.Options{File: file})
}

// discard is a client that reads no answer.
type discard struct{ dns.ResponseWriter }

func (discard) RemoteAddr() net.Addr { return &net.UDPAddr{} }

func (discard) WriteMsg(*dns.Msg) error { return nil }

// BenchmarkUpsert changes one record among many, on disk too.
func BenchmarkUpsert(b *testing.B) {
	for _, count := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("records=%d", count), func(b *testing.B) {
			s := many(b, count)
			i := 0
			for b.Loop() {
				i++
				if err := s.Upsert(b.Context(), parse(b, "A", "example.com", "h0", fmt.Sprintf("192.0.%d.%d", i/256%256, i%256))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAnswer asks for one name among many, without the network.
func BenchmarkAnswer(b *testing.B) {
	for _, count := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("records=%d", count), func(b *testing.B) {
			s := many(b, count)
			q := question("h7.example.com.", dns.TypeA)
			w := discard{}
			b.ReportAllocs()
			for b.Loop() {
				s.ServeDNS(w, q)
			}
		})
	}
}
