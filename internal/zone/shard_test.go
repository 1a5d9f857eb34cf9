package zone

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

func mustName(tb testing.TB, text string) dnsname.Name {
	tb.Helper()
	name, err := dnsname.ParseOwner(text)
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

func address(tb testing.TB, owner, rdata string) Entry {
	tb.Helper()
	return Entry{Name: mustName(tb, owner), Type: record.A, TTL: 300, RData: rdata}
}

func manyEntries(tb testing.TB, n int) []Entry {
	tb.Helper()
	out := make([]Entry, 0, n)
	for i := range n {
		out = append(out, address(tb, fmt.Sprintf("host-%d.example.org", i), fmt.Sprintf("192.0.%d.%d", i/256%256, i%256)))
	}
	return out
}

func shardsOf(entries []Entry) *Shards {
	s := NewShards()
	s.Change(nil, entries)
	return s
}

// TestShardsFollowFromEntries: whatever was put in and taken out on the way, the division is that of the entries which are left.
func TestShardsFollowFromEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := manyEntries(t, 3000)
	s, in := NewShards(), map[Entry]bool{}
	for step := range 40 {
		var out, add []Entry
		for range rng.IntN(600) {
			e := all[rng.IntN(len(all))]
			switch {
			case in[e] && step%2 == 1:
				out = append(out, e)
				in[e] = false
			case !in[e] && step%2 == 0:
				add = append(add, e)
				in[e] = true
			}
		}
		s.Change(out, add)
		var left []Entry
		for e, is := range in {
			if is {
				left = append(left, e)
			}
		}
		anew := shardsOf(left)
		if diff := cmp.Diff(anew.Digests(), s.Digests()); diff != "" || s.Len() != len(left) {
			t.Fatalf("step %d, %d of %d entries: %s", step, s.Len(), len(left), diff)
		}
		checkShards(t, s, left)
	}
}

// checkShards holds that every entry is in one shard, that none is too large, and that who serves it finds the same digest.
func checkShards(t *testing.T, s *Shards, want []Entry) {
	t.Helper()
	var got []Entry
	last := ""
	for shard := range s.All {
		if len(shard.Entries) > maxShardEntries || len(shard.Entries) == 0 {
			t.Errorf("shard %s has %d entries", shard.ID, len(shard.Entries))
		}
		if shard.ID <= last {
			t.Errorf("shard %s comes after %s", shard.ID, last)
		}
		last = shard.ID
		got = append(got, shard.Entries...)
		sent := make([]zonev1alpha1.SliceEntry, 0, len(shard.Entries))
		for _, e := range shard.Entries {
			sent = append(sent, e.Slice())
		}
		if DigestOf(shard.ID, sent) != shard.Digest {
			t.Errorf("shard %s is served with another digest", shard.ID)
		}
	}
	slices.SortFunc(got, Compare)
	slices.SortFunc(want, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("shards hold %d entries; want %d", len(got), len(want))
	}
}

// TestOneChangeChangesOneShard is why there are shards.
func TestOneChangeChangesOneShard(t *testing.T) {
	entries := manyEntries(t, 5000)
	s := shardsOf(entries)
	before := s.Digests()
	changed := entries[1234]
	changed.RData = "198.51.100.1"
	s.Change([]Entry{entries[1234]}, []Entry{changed})
	after := s.Digests()
	differ := 0
	for i, digest := range after {
		if i >= len(before) || before[i] != digest {
			differ++
		}
	}
	if differ != 1 || len(before) != len(after) {
		t.Errorf("%d of %d shards changed; want 1 of %d", differ, len(after), len(before))
	}
}

func TestShardsOfOneOwner(t *testing.T) {
	var many []Entry
	for i := range 1000 {
		many = append(many, address(t, "one.example.org", fmt.Sprintf("192.0.%d.%d", i/256, i%256)))
	}
	checkShards(t, shardsOf(many), many)
}

func TestShardsOfLargeEntries(t *testing.T) {
	var large []Entry
	for i := range 40 {
		large = append(large, Entry{Name: mustName(t, fmt.Sprintf("t%d.example.org", i)), Type: record.TXT, RData: strings.Repeat(fmt.Sprint(i%10), 60000)})
	}
	s := shardsOf(large)
	checkShards(t, s, large)
	for shard := range s.All {
		size := 0
		for _, e := range shard.Entries {
			size += len(e.RData)
		}
		if size > maxShardBytes && len(shard.Entries) > 1 {
			t.Errorf("shard %s has %d bytes", shard.ID, size)
		}
	}
}

func TestHash(t *testing.T) {
	origin := mustName(t, "example.org")
	soa := SOA{TTL: 360, Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 360}
	entries := manyEntries(t, 300)
	hash := func(origin dnsname.Name, soa SOA, entries []Entry) string { return shardsOf(entries).Hash(origin, soa) }
	base := hash(origin, soa, entries)
	shuffled := slices.Clone(entries)
	slices.Reverse(shuffled)
	if got := hash(origin, soa, shuffled); got != base {
		t.Errorf("another order gives another hash")
	}
	ttl, data := slices.Clone(entries), slices.Clone(entries)
	ttl[7].TTL, data[7].RData = 301, "192.0.2.99"
	other := soa
	other.Minimum = 361
	named := soa
	named.NameServer = mustName(t, "ns.example.net")
	different := map[string]string{
		"one TTL": hash(origin, soa, ttl), "one rdata": hash(origin, soa, data), "one less": hash(origin, soa, entries[1:]), "a SOA field": hash(origin, other, entries),
		"the name server": hash(origin, named, entries), "the origin": hash(mustName(t, "example.com"), soa, entries), "the same": base,
	}
	if got := len(slices.Compact(slices.Sorted(maps.Values(different)))); got != len(different) {
		t.Errorf("%d contents have %d hashes: %v", len(different), got, different)
	}
}

func TestDigestOfTellsFieldsApart(t *testing.T) {
	a := DigestOf("s", []zonev1alpha1.SliceEntry{{Name: "a", Type: "A", TTL: 1, RData: "x"}})
	for _, other := range []string{
		DigestOf("s0", []zonev1alpha1.SliceEntry{{Name: "a", Type: "A", TTL: 1, RData: "x"}}),
		DigestOf("s", []zonev1alpha1.SliceEntry{{Name: "a", Type: "A", TTL: 1, RData: "y"}}),
		DigestOf("s", []zonev1alpha1.SliceEntry{{Name: "b", Type: "A", TTL: 1, RData: "x"}}),
		DigestOf("s", []zonev1alpha1.SliceEntry{{Name: "a", Type: "B", TTL: 1, RData: "x"}}),
		DigestOf("s", []zonev1alpha1.SliceEntry{{Name: "a", Type: "A", TTL: 2, RData: "x"}}),
		DigestOf("s", nil),
	} {
		if a == other {
			t.Error("two contents have one digest")
		}
	}
}
