package namegate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/coredns/coredns/plugin/file"
	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/namegate/namegate/internal/zone"
)

// A version that is made of the one before is what it would be if it were made from scratch, through hundreds of changes: names come, change and go,
// slices divide and join, and the apex too.
func TestVersionFromVersion(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	shards, have := zone.NewShards(), map[string]zone.Entry{}
	parsed := map[string]*shard{}
	var before *version
	a := readZone(publish(t, "dns/org", "u1", org, 10, ns).zone)
	for step := range 150 {
		for range 1 + random.IntN(40) {
			name := fmt.Sprintf("h%d", random.IntN(400))
			if random.IntN(10) == 0 {
				name = "@"
			}
			line := fmt.Sprintf("%s 300 %s", name, []string{"A 192.0.2.1", "A 192.0.2.2", "AAAA 2001:db8::1", `TXT "x"`, "NS a.net.", "NS b.net."}[random.IntN(6)])
			e := entryOf(t, org, line)
			if _, there := have[line]; there {
				shards.Change([]zone.Entry{e}, nil)
				delete(have, line)
				continue
			}
			shards.Change(nil, []zone.Entry{e})
			have[line] = e
		}
		var now []*shard
		for s := range shards.All {
			if parsed[s.Digest] == nil {
				rrs := make([]dns.RR, 0, len(s.Entries))
				for _, e := range s.Entries {
					slice := e.Slice()
					rr, err := toRR(&slice)
					if err != nil {
						t.Fatal(err)
					}
					rrs = append(rrs, rr)
				}
				parsed[s.Digest] = &shard{rrs: rrs}
			}
			now = append(now, parsed[s.Digest])
		}
		v, err := build(a, now, before, nil)
		if err != nil {
			t.Fatal(err)
		}
		before = v
		if diff := cmp.Diff(stockZone(t, a, now), contents(t, v.zone)); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", step, diff)
		}
		for line, e := range have {
			if e.Name.FQDN() != org && !has(v.zone, e.Name.FQDN(), e.Type.Code()) {
				t.Fatalf("step %d: %s is not found", step, line)
			}
		}
		if v.records != len(have)+1 || v.zone.Len() != len(v.names) {
			t.Fatalf("step %d: %d records, want %d; %d names, want %d", step, v.records, len(have)+1, v.zone.Len(), len(v.names))
		}
	}
}

// contents are the records of a zone: the order of names is that of the zone, that of the records of a name is not told.
func contents(t *testing.T, z *file.Zone) []string {
	t.Helper()
	all, err := z.Transfer(0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rrs := range all {
		var records []string
		for _, rr := range rrs {
			records = append(records, short(rr))
		}
		slices.Sort(records)
		out = append(out, records...)
	}
	return out
}

func stockZone(t *testing.T, a *announced, shards []*shard) []string {
	t.Helper()
	z := file.NewZone(a.origin, "")
	_ = z.Insert(dns.Copy(a.soa))
	for _, s := range shards {
		for _, rr := range s.rrs {
			if err := z.Insert(dns.Copy(rr)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return contents(t, z)
}
