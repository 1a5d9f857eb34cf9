package namegate

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// FuzzVersion: no Zone and no ZoneSlice makes the plugin panic, serve a name that is not in the zone, or serve a message that cannot be sent.
func FuzzVersion(f *testing.F) {
	for _, seed := range []struct{ fqdn, soa, name, rrtype, rdata string }{
		{org, "ns.example.org. noc.example.org. 7 1 2 3 4", "www.example.org", "A", "192.0.2.1"},
		{org, "ns.example.org. a\\.b.example.org. 7 1 2 3 4", "a.example.org", "TXT", `"x\"\; y" "z"`},
		{org, "\\000 . 7 1 2 3 4", "*.example.org", "CNAME", "example.org."},
		{".", ". . 7 0 0 0 0", "org", "NS", "a.org."},
		{"a..", "a 7", "\\.example.org", "TYPE65280", "\\# 1 00"},
		{org, strings.Repeat("a.", 200) + " b. 7 1 2 3 4", "example.org", "NS", "$INCLUDE x"},
		{org, "a. b. 7 1 2 3 4", "example.org", "DNAME", "example.org."},
	} {
		f.Add(seed.fqdn, seed.soa, seed.name, seed.rrtype, seed.rdata)
	}
	f.Fuzz(func(t *testing.T, fqdn, soa, name, rrtype, rdata string) {
		s := newScene()
		slice := &zonev1alpha1.ZoneSlice{Zone: "z", Shard: "s", Entries: []zonev1alpha1.SliceEntry{{Name: name, Type: rrtype, TTL: 1, RData: rdata}}}
		slice.Digest = zone.DigestOf("s", slice.Entries)
		slice.Name = zone.SliceName("z", slice.Digest)
		z := &zonev1alpha1.Zone{}
		z.Name, z.Status.FQDN, z.Status.Serial = "z", fqdn, 7
		z.Status.Slices = []string{slice.Digest}
		z.Status.Entries = []zonev1alpha1.ZoneEntry{{FQDN: fqdn, Type: "SOA", TTL: 1, RData: soa}}
		s.all(published{zone: z, slices: []*zonev1alpha1.ZoneSlice{slice}})
		for _, origin := range s.keeper.all() {
			checkServed(t, s.keeper.at(origin), origin)
		}
	})
}

func checkServed(t *testing.T, v *version, origin string) {
	t.Helper()
	all, err := v.zone.Transfer(0)
	if err != nil {
		t.Fatal(err)
	}
	for rrs := range all {
		m := new(dns.Msg)
		m.Answer = rrs
		if _, err := m.Pack(); err != nil {
			t.Errorf("%v cannot be sent: %v", rrs, err)
		}
		for _, rr := range rrs {
			if !dns.IsSubDomain(origin, rr.Header().Name) {
				t.Errorf("%v is not in %s", rr, origin)
			}
		}
	}
}
