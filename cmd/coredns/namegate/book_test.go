package namegate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// scene applies events one after the other, without goroutines.
type scene struct {
	book   *book
	keeper *keeper
	swaps  []string
}

func newScene() *scene {
	s := &scene{book: newBook()}
	s.keeper = newKeeper(s.book, func(origin string) { s.swaps = append(s.swaps, origin) })
	return s
}

func (s *scene) apply(t touched) {
	for origin := range t {
		s.keeper.renew(origin)
	}
}

func (s *scene) setZone(p published)    { s.apply(s.book.setZone(readZone(p.zone))) }
func (s *scene) removeZone(p published) { s.apply(s.book.removeZone(readZone(p.zone).key, p.zone.UID)) }
func (s *scene) setSlices(p published) {
	for _, slice := range p.slices {
		read := readSlice(slice)
		if known := s.book.shardOf(read.key, slice.UID, slice.Digest); known != nil {
			read = known
		}
		s.apply(s.book.setShard(read))
	}
}

func (s *scene) all(p published) {
	s.setSlices(p)
	s.setZone(p)
}

// serial of what is served; 0: nothing.
func (s *scene) serial(origin string) uint32 {
	if v := s.keeper.at(origin); v != nil {
		return v.from.serial
	}
	return 0
}

// addresses of www in what is served.
func (s *scene) www(origin string) string {
	v := s.keeper.at(origin)
	if v == nil {
		return ""
	}
	elem, found := v.zone.Search("www." + origin)
	if !found {
		return ""
	}
	var out []string
	for _, rr := range elem.Type(dns.TypeA) {
		out = append(out, rr.(*dns.A).A.String())
	}
	return strings.Join(out, " ")
}

const (
	org  = "example.org."
	ns   = "@ 300 NS ns.example.org."
	www1 = "www 300 A 192.0.2.1"
	www2 = "www 300 A 192.0.2.2"
)

func TestAssembly(t *testing.T) {
	one := publish(t, "dns/org", "u1", org, 10, ns, www1)
	two := publish(t, "dns/org", "u1", org, 11, ns, www2)
	for name, tc := range map[string]struct {
		events func(s *scene)
		serial uint32
		www    string
	}{
		"slices first":          {func(s *scene) { s.all(one) }, 10, "192.0.2.1"},
		"Zone first":            {func(s *scene) { s.setZone(one); s.setSlices(one) }, 10, "192.0.2.1"},
		"no slice":              {func(s *scene) { s.setZone(one) }, 0, ""},
		"no Zone":               {func(s *scene) { s.setSlices(one) }, 0, ""},
		"next version":          {func(s *scene) { s.all(one); s.all(two) }, 11, "192.0.2.2"},
		"next without slices":   {func(s *scene) { s.all(one); s.setZone(two) }, 10, "192.0.2.1"},
		"slices of both mixed":  {func(s *scene) { s.setZone(two); s.setSlices(one); s.setSlices(two) }, 11, "192.0.2.2"},
		"older late":            {func(s *scene) { s.all(two); s.all(one) }, 11, "192.0.2.2"},
		"older after unpublish": {func(s *scene) { s.all(two); s.setZone(two.unpublished()); s.all(one) }, 0, ""},
		"older unpublish late":  {func(s *scene) { s.all(two); s.setZone(one.unpublished()) }, 11, "192.0.2.2"},
		"unpublished":           {func(s *scene) { s.all(one); s.setZone(one.unpublished()) }, 0, ""},
		"published again":       {func(s *scene) { s.all(one); s.setZone(one.unpublished()); s.all(two) }, 11, "192.0.2.2"},
		"deleted":               {func(s *scene) { s.all(one); s.removeZone(one) }, 0, ""},
		"slices deleted": {func(s *scene) {
			s.all(one)
			for _, slice := range one.slices {
				s.book.removeShard(readSlice(slice).key, slice.UID)
			}
			s.keeper.renew(org)
		}, 10, "192.0.2.1"},
		"deletion of a former one late": {func(s *scene) {
			s.all(publish(t, "dns/org", "u2", org, 5, ns, www2))
			s.removeZone(one)
		}, 5, "192.0.2.2"},
		"created anew with a lower serial": {func(s *scene) {
			s.all(two)
			s.removeZone(two)
			s.all(publish(t, "dns/org", "u2", org, 5, ns, www1))
		}, 5, "192.0.2.1"},
		"created anew, deletion missed, slices missing": {func(s *scene) {
			s.all(two)
			s.setZone(publish(t, "dns/org", "u2", org, 5, ns, "www 300 A 192.0.2.3"))
		}, 0, ""},
		"relist without it": {func(s *scene) { s.all(one); s.apply(s.book.replaceZones("", nil)) }, 0, ""},
		"relist of another namespace": {func(s *scene) {
			s.all(one)
			s.apply(s.book.replaceZones("web", nil))
			s.apply(s.book.replaceShards("web", nil))
			s.keeper.renew(org)
		}, 10, "192.0.2.1"},
		"serial across the end": {func(s *scene) {
			s.all(publish(t, "dns/org", "u1", org, 4294967290, ns, www1))
			s.all(publish(t, "dns/org", "u1", org, 3, ns, www2))
		}, 3, "192.0.2.2"},
		"older resourceVersion": {func(s *scene) {
			s.all(two.with(func(z *zonev1alpha1.Zone) { z.ResourceVersion = "100" }))
			s.setZone(two.unpublished().with(func(z *zonev1alpha1.Zone) { z.ResourceVersion = "99" }))
		}, 11, "192.0.2.2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.events(s)
			if got := s.serial(org); got != tc.serial {
				t.Errorf("serial %d, want %d", got, tc.serial)
			}
			if got := s.www(org); got != tc.www {
				t.Errorf("www %q, want %q", got, tc.www)
			}
		})
	}
}

func TestRefusedVersions(t *testing.T) {
	good := publish(t, "dns/org", "u1", org, 10, ns, www1)
	forge := func(change func(z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice)) published {
		p := publish(t, "dns/org", "u1", org, 11, ns, www2)
		s := p.slices[0]
		change(p.zone, s)
		return p
	}
	// seal makes name and digest those of the entries.
	seal := func(z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) {
		s.Digest = zone.DigestOf(s.Shard, s.Entries)
		s.Name = zone.SliceName(s.Zone, s.Digest)
		z.Status.Slices = []string{s.Digest}
	}
	add := func(entries ...zonev1alpha1.SliceEntry) published {
		return forge(func(z *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) {
			s.Entries = append(s.Entries, entries...)
			seal(z, s)
		})
	}
	for name, p := range map[string]published{
		"entries are not those of the digest": forge(func(_ *zonev1alpha1.Zone, s *zonev1alpha1.ZoneSlice) { s.Entries[0].TTL++ }),
		"name outside of the zone":            add(zonev1alpha1.SliceEntry{Name: "www.example.com", Type: "A", TTL: 1, RData: "192.0.2.9"}),
		"name that only ends alike":           add(zonev1alpha1.SliceEntry{Name: "badexample.org", Type: "A", TTL: 1, RData: "192.0.2.9"}),
		"name that is none":                   add(zonev1alpha1.SliceEntry{Name: "a..example.org", Type: "A", TTL: 1, RData: "192.0.2.9"}),
		"rdata that is none":                  add(zonev1alpha1.SliceEntry{Name: "a.example.org", Type: "A", TTL: 1, RData: "192.0.2.999"}),
		"rdata that includes a file":          add(zonev1alpha1.SliceEntry{Name: "a.example.org", Type: "TXT", TTL: 1, RData: "x\n$INCLUDE /etc/passwd"}),
		"type that is none":                   add(zonev1alpha1.SliceEntry{Name: "a.example.org", Type: "NOSUCH", TTL: 1, RData: "x"}),
		"second SOA":                          add(zonev1alpha1.SliceEntry{Name: "example.org", Type: "SOA", TTL: 1, RData: "a.b. c.d. 1 2 3 4 5"}),
		"two CNAMEs": add(zonev1alpha1.SliceEntry{Name: "a.example.org", Type: "CNAME", TTL: 1, RData: "b.c."},
			zonev1alpha1.SliceEntry{Name: "a.example.org", Type: "CNAME", TTL: 1, RData: "d.e."}),
		"no SOA":              forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) { z.Status.Entries = nil }),
		"SOA of another name": forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) { z.Status.Entries[0].FQDN = "example.com." }),
		"SOA of other serial": forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) { z.Status.Serial = 12 }),
		"SOA with six fields": forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) { z.Status.Entries[0].RData = "a. b. 11 1 2 3" }),
		"SOA with a bad name": forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) {
			z.Status.Entries[0].RData = "a..b b. 11 1 2 3 4"
		}),
		"SOA with a bad timer": forge(func(z *zonev1alpha1.Zone, _ *zonev1alpha1.ZoneSlice) { z.Status.Entries[0].RData = "a. b. 11 1 2 3 -4" }),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.all(good)
			before := testutil.ToFloat64(refusedVersions.WithLabelValues(reasonInvalid))
			s.all(p)
			s.setZone(p) // once more: it is counted once
			if got := s.serial(org); got != 10 {
				t.Errorf("serial %d is served, want 10", got)
			}
			if got := testutil.ToFloat64(refusedVersions.WithLabelValues(reasonInvalid)) - before; got != 1 {
				t.Errorf("%v refusals counted, want 1", got)
			}
			s.all(publish(t, "dns/org", "u1", org, 13, ns, www2))
			if got := s.serial(org); got != 13 {
				t.Errorf("serial %d after a good version, want 13", got)
			}
		})
	}
}

func TestTwoZonesOfOneName(t *testing.T) {
	older := publish(t, "dns/old", "u1", org, 10, ns, www1)
	newer := publish(t, "web/new", "u2", org, 20, ns, www2).with(func(z *zonev1alpha1.Zone) { z.CreationTimestamp = metav1.NewTime(time.Unix(2000, 0)) })
	notReady := func(p published) published {
		return p.with(func(z *zonev1alpha1.Zone) { z.Status.Conditions[0].Status = metav1.ConditionFalse })
	}
	for name, tc := range map[string]struct {
		events func(s *scene)
		www    string
	}{
		"the older one":                               {func(s *scene) { s.all(newer); s.all(older) }, "192.0.2.1"},
		"the ready one":                               {func(s *scene) { s.all(notReady(older)); s.all(newer) }, "192.0.2.2"},
		"the other once it goes":                      {func(s *scene) { s.all(older); s.all(newer); s.removeZone(older) }, "192.0.2.2"},
		"the other once it is hidden":                 {func(s *scene) { s.all(older); s.all(newer); s.setZone(older.unpublished()) }, "192.0.2.2"},
		"the former while the older one is not whole": {func(s *scene) { s.all(newer); s.setZone(older) }, "192.0.2.2"},
		"never slices of the other": {func(s *scene) {
			s.setZone(older)
			s.setSlices(newer)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.events(s)
			if got := s.www(org); got != tc.www {
				t.Errorf("www %q, want %q", got, tc.www)
			}
		})
	}
}

// A change of conditions alone is no new version.
func TestNoNeedlessSwap(t *testing.T) {
	s := newScene()
	p := publish(t, "dns/org", "u1", org, 10, ns, www1)
	s.all(p)
	served := s.keeper.at(org)
	s.setZone(p.with(func(z *zonev1alpha1.Zone) { z.Status.Conditions = nil }))
	s.all(p)
	if s.keeper.at(org) != served || len(s.swaps) != 1 {
		t.Errorf("the zone was swapped %d times, want once", len(s.swaps))
	}
}

// Versions share the records of slices that did not change.
func TestVersionsShareRecords(t *testing.T) {
	s := newScene()
	lines := make([]string, 0, 1000)
	for i := range cap(lines) {
		lines = append(lines, fmt.Sprintf("h%d 300 A 192.0.2.1", i))
	}
	s.all(publish(t, "dns/org", "u1", org, 10, append(lines, ns, www1)...))
	before := s.keeper.at(org).zone
	next := publish(t, "dns/org", "u1", org, 11, append(lines, ns, www2)...)
	added := 0
	for _, slice := range next.slices {
		if s.book.shardOf(readSlice(slice).key, slice.UID, slice.Digest) == nil {
			added++
			s.apply(s.book.setShard(readSlice(slice)))
		}
	}
	s.setZone(next)
	if got := s.www(org); got != "192.0.2.2" || added != 1 {
		t.Fatalf("www %q after %d new slices, want one", got, added)
	}
	shared := 0
	for i := range lines {
		name := fmt.Sprintf("h%d.example.org.", i)
		old, _ := before.Search(name)
		now, _ := s.keeper.at(org).zone.Search(name)
		if old.Type(dns.TypeA)[0] == now.Type(dns.TypeA)[0] {
			shared++
		}
	}
	if shared < 800 {
		t.Errorf("%d of %d records are shared, want all but those of one slice", shared, len(lines))
	}
}
