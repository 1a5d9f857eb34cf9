package namegate

import (
	"fmt"
	"io"
	stdlog "log"
	"testing"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/file"
	"github.com/coredns/coredns/plugin/pkg/upstream"
	"github.com/coredns/coredns/plugin/test"
	"github.com/miekg/dns"
)

// large is a zone with a number of hosts.
func large(t testing.TB, origin string, serial uint32, hosts int) published {
	t.Helper()
	lines := make([]string, 0, hosts+2)
	for i := range hosts {
		lines = append(lines, fmt.Sprintf("host%d 300 A 192.0.2.%d", i, i%250))
	}
	return publish(t, "dns/"+origin[:len(origin)-1], origin, origin, serial, append(lines, "@ 300 NS ns."+origin, fmt.Sprintf("changes 60 TXT \"%d\"", serial))...)
}

// BenchmarkRebuild: one record of a zone changed, so one slice is parsed and the zone is made anew.
func BenchmarkRebuild(b *testing.B) {
	for _, hosts := range []int{100, 1_000, 10_000, 50_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			s := newScene()
			stdlog.SetOutput(io.Discard)
			s.all(large(b, org, 1, hosts))
			versions := [2]published{large(b, org, 2, hosts), large(b, org, 3, hosts)}
			for _, v := range versions {
				s.setSlices(v)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				v := versions[i%2]
				v.zone.Status.Serial = int64(i + 4)
				v.zone.Status.Entries[0].RData = fmt.Sprintf("ns.a. noc.a. %d 7200 3600 86400 60", i+4)
				s.setZone(v)
				i++
			}
			if got := s.serial(org); got != uint32(i+3) {
				b.Fatalf("serial %d after %d rebuilds", got, i)
			}
		})
	}
}

// BenchmarkParse: the slices of a zone become records, as for the first list.
func BenchmarkParse(b *testing.B) {
	p := large(b, org, 1, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range p.slices {
			if got := readSlice(s); got.err != nil {
				b.Fatal(got.err)
			}
		}
	}
}

// BenchmarkLookup: the same 10 zones of 1,000 records, answered by this plugin and by the stock plugin file.
func BenchmarkLookup(b *testing.B) {
	zones := make([]published, 0, 10)
	stock := file.File{Zones: file.Zones{Z: map[string]*file.Zone{}}}
	for i := range cap(zones) {
		p := large(b, fmt.Sprintf("zone%d.example.", i), 1, 1_000)
		zones = append(zones, p)
		z := file.NewZone(p.zone.Status.FQDN, "")
		z.Upstream = upstream.New()
		_ = z.Insert(readZone(p.zone).soa)
		for _, s := range p.slices {
			for _, rr := range readSlice(s).rrs {
				_ = z.Insert(dns.Copy(rr))
			}
		}
		stock.Z[p.zone.Status.FQDN], stock.Names = z, append(stock.Names, p.zone.Status.FQDN)
	}
	for _, handler := range []plugin.Handler{pluginWith(b, zones...), stock} {
		for what, name := range map[string]string{"hit": "host500.zone7.example.", "miss": "nothing.zone7.example."} {
			b.Run(handler.Name()+"/"+what, func(b *testing.B) {
				r := new(dns.Msg).SetQuestion(name, dns.TypeA)
				w := &test.ResponseWriter{}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := handler.ServeDNS(b.Context(), w, r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
