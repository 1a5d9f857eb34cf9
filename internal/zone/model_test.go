package zone_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/zone"
)

// bench is a model with what the tests put into it, one second after another.
type bench struct {
	*testing.T
	m   *zone.Model
	now int64
}

func newBench(t *testing.T) *bench { return &bench{T: t, m: zone.NewModel(), now: 1000} }

func (b *bench) meta(path string) metav1.ObjectMeta {
	b.now++
	namespace, name, _ := strings.Cut(path, "/")
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(path), ResourceVersion: fmt.Sprint(b.now), CreationTimestamp: metav1.Unix(b.now, 0)}
}

func ref(path string) *zonev1alpha1.ZoneReference {
	if path == "" {
		return nil
	}
	namespace, name, _ := strings.Cut(path, "/")
	return &zonev1alpha1.ZoneReference{Namespace: namespace, Name: name}
}

// delegate reads "namespace,namespace:pattern pattern=TYPE,TYPE zone:pattern"; no namespaces mean all.
func delegate(texts ...string) []zonev1alpha1.Delegation {
	var out []zonev1alpha1.Delegation
	for _, text := range texts {
		d := zonev1alpha1.Delegation{}
		namespaces, rest, _ := strings.Cut(text, "|")
		if namespaces != "" {
			d.Namespaces = strings.Split(namespaces, ",")
		}
		for word := range strings.FieldsSeq(rest) {
			if pattern, isZone := strings.CutPrefix(word, "zone:"); isZone {
				d.Zones = append(d.Zones, pattern)
				continue
			}
			pattern, kinds, limited := strings.Cut(word, "=")
			rd := zonev1alpha1.RecordDelegation{Pattern: pattern}
			if limited {
				rd.Types = strings.Split(kinds, ",")
			}
			d.Records = append(d.Records, rd)
		}
		out = append(out, d)
	}
	return out
}

func (b *bench) zone(path, domain, parent string, delegations ...string) *zonev1alpha1.Zone {
	z := &zonev1alpha1.Zone{ObjectMeta: b.meta(path), Spec: zonev1alpha1.ZoneSpec{DomainName: domain, ZoneRef: ref(parent), Delegations: delegate(delegations...)}}
	b.m.SetZone(zone.ZoneOf(z))
	return z
}

func (b *bench) newRecord(path, domain, parent, typ, rdata string) *zonev1alpha1.Record {
	return &zonev1alpha1.Record{ObjectMeta: b.meta(path), Spec: zonev1alpha1.RecordSpec{DomainName: domain, ZoneRef: ref(parent), Type: typ, RData: rdata}}
}

func (b *bench) record(path, domain, parent, typ, rdata string) *zonev1alpha1.Record {
	r := b.newRecord(path, domain, parent, typ, rdata)
	b.m.SetRecord(zone.RecordOf(r))
	return r
}

func key(path string) zone.Key {
	namespace, name, _ := strings.Cut(path, "/")
	return zone.Key{Namespace: namespace, Name: name}
}

// expect holds what becomes of a record: its reason, and the zone that has adopted it.
func (b *bench) expect(path, reason, parent string) {
	b.Helper()
	v, known := b.m.Record(key(path))
	want := zone.Key{}
	if parent != "" {
		want = key(parent)
	}
	if !known || v.Reason != reason || v.Parent != want {
		b.Errorf("%s is %+v; want %s in %q", path, v, reason, parent)
	}
}

func (b *bench) expectZone(path, reason, parent string) {
	b.Helper()
	v, known := b.m.Zone(key(path))
	want := zone.Key{}
	if parent != "" {
		want = key(parent)
	}
	if !known || v.Reason != reason || v.Parent != want {
		b.Errorf("zone %s is %+v; want %s below %q", path, v, reason, parent)
	}
}

// entries of a zone, as text.
func (b *bench) entries(path string) []string {
	b.Helper()
	c, published := b.m.Content(key(path))
	if !published {
		return nil
	}
	var out []string
	for _, e := range c.View {
		out = append(out, fmt.Sprintf("%s %d %s %s", strings.TrimSuffix(e.FQDN, "."), e.TTL, e.Type, e.RData))
	}
	slices.Sort(out)
	return out
}

func (b *bench) expectEntries(path string, want ...string) {
	b.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, b.entries(path)); diff != "" {
		b.Errorf("entries of %s (-want +got):\n%s", path, diff)
	}
}

func TestAdoption(t *testing.T) {
	b := newBench(t)
	b.record("a/early", "early.example.org.", "", "A", "192.0.2.1")
	b.expect("a/early", zonev1alpha1.ReasonZoneNotFound, "")
	b.zone("dns/org", "Example.ORG.", "", "|* @=TXT")
	b.record("a/www", "WWW.example.org.", "", "A", "192.0.2.2")
	b.record("dns/rel", "rel", "dns/org", "AAAA", "2001:DB8::1")
	b.record("dns/apex", "@", "dns/org", "TXT", `"hello"`)
	b.record("a/apex", "example.org.", "", "MX", "10 mail.example.org.")
	for _, path := range []string{"a/early", "a/www", "dns/rel", "dns/apex"} {
		b.expect(path, zonev1alpha1.ReasonAdopted, "dns/org")
	}
	b.expect("a/apex", zonev1alpha1.ReasonNotDelegated, "")
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", `example.org 360 TXT "hello"`, "early.example.org 360 A 192.0.2.1",
		"www.example.org 360 A 192.0.2.2", "rel.example.org 360 AAAA 2001:db8::1")
	b.m.RemoveZone(key("dns/org"), "dns/org")
	b.expect("a/www", zonev1alpha1.ReasonZoneNotFound, "")
	b.expect("dns/rel", zonev1alpha1.ReasonZoneNotFound, "")
}

// TestWhatBypassedTheGateIsNotPublished: a record that no gate would admit is left out, and the rest of the zone stands.
func TestWhatBypassedTheGateIsNotPublished(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|* @")
	b.record("a/good", "www.example.org.", "", "A", "192.0.2.1")
	for path, r := range map[string][3]string{
		"a/rdata": {"x.example.org.", "A", "192.0.2.300"}, "a/inject": {"x.example.org.", "A", "192.0.2.1\n$INCLUDE /etc/passwd"}, "a/type": {"x.example.org.", "SOA", "a. b. 1 2 3 4 5"},
		"a/name": {"x..example.org.", "A", "192.0.2.1"}, "a/srv": {"x.example.org.", "SRV", "1 2 3 sip.example.org."}, "a/wild": {"*.example.org.", "NS", "ns.example.org."},
		"a/sign": {"x.example.org.", "RRSIG", "A 8 3 3600 20300101000000 20200101000000 1 example.org. AAAA"},
	} {
		b.record(path, r[0], "", r[1], r[2])
		b.expect(path, zonev1alpha1.ReasonInvalidConfiguration, "")
	}
	b.record("a/cname", "www.example.org.", "", "CNAME", "host.example.net.")
	b.expect("a/cname", zonev1alpha1.ReasonQuarantined, "dns/org")
	b.record("b/other", "www.example.org.", "", "A", "192.0.2.2")
	b.expect("b/other", zonev1alpha1.ReasonNameConflict, "dns/org")
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1")
	if c, _ := b.m.Content(key("dns/org")); c.LeftOut != 2 {
		t.Errorf("%d left out; want 2", c.LeftOut)
	}
	for path, ttl := range map[string]int32{"a/ttl1": 60, "a/ttl2": 90} {
		r := b.newRecord(path, "ttl.example.org.", "", "A", "192.0.2."+strconv.Itoa(int(ttl)))
		r.Spec.TTL, r.CreationTimestamp = &ttl, metav1.Unix(int64(5000+ttl), 0)
		b.m.SetRecord(zone.RecordOf(r))
	}
	b.expect("a/ttl2", zonev1alpha1.ReasonQuarantined, "dns/org")
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.1", "ttl.example.org 60 A 192.0.2.60")
	b.m.RemoveRecord(key("a/ttl1"), "")
	b.expect("a/ttl2", zonev1alpha1.ReasonAdopted, "dns/org")
	b.m.RemoveRecord(key("a/ttl2"), "")
	b.m.RemoveRecord(key("a/good"), "")
	b.expect("a/cname", zonev1alpha1.ReasonAdopted, "dns/org")
	b.m.RemoveRecord(key("a/cname"), "")
	b.expect("b/other", zonev1alpha1.ReasonAdopted, "dns/org")
}

// TestDNAMEAboveASubZone: what stands below a DNAME keeps some servers from loading the zone, so a delegation goes before it, whichever came first.
func TestDNAMEAboveASubZone(t *testing.T) {
	for _, alias := range []string{"moved.example.org.", "example.org."} {
		b := newBench(t)
		b.zone("dns/org", "example.org.", "", "|@ * zone:*")
		b.record("a/dname", alias, "", "DNAME", "example.net.")
		b.expect("a/dname", zonev1alpha1.ReasonAdopted, "dns/org")
		b.zone("dns/sub", "sub.far.moved.example.org.", "", "|@ *")
		b.expect("a/dname", zonev1alpha1.ReasonQuarantined, "dns/org")
		b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "sub.far.moved.example.org 360 NS ns.sub.far.moved.example.org.")
		_, problems := b.m.TryRecord(zone.RecordOf(b.newRecord("b/x", "far.moved.example.org.", "", "DNAME", "example.net.")))
		expectProblem(t, problems, "record-occluded")
		b.m.RemoveZone(key("dns/sub"), "dns/sub")
		b.expect("a/dname", zonev1alpha1.ReasonAdopted, "dns/org")
	}
}

func TestNoDelegationMeansNo(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "")
	b.record("dns/www", "www.example.org.", "", "A", "192.0.2.2")
	b.record("dns/rel", "www", "dns/org", "A", "192.0.2.2")
	b.expect("dns/www", zonev1alpha1.ReasonNotDelegated, "")
	b.expect("dns/rel", zonev1alpha1.ReasonNotDelegated, "")
}

func TestDelegationWithdrawn(t *testing.T) {
	b := newBench(t)
	z := b.zone("dns/org", "example.org.", "", "a|*")
	b.record("a/www", "www.example.org.", "", "A", "192.0.2.2")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "dns/org")
	before, _ := b.m.Content(key("dns/org"))
	z.Spec.Delegations, z.ResourceVersion = nil, "2000"
	b.m.SetZone(zone.ZoneOf(z))
	b.expect("a/www", zonev1alpha1.ReasonNotDelegated, "")
	after, _ := b.m.Content(key("dns/org"))
	if before.Hash == after.Hash {
		t.Error("the hash stays although a record has left")
	}
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.")
}

func TestAdoptionByNamespacePatternAndType(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "development|*.dev", "production,both|*.prod=A,AAAA web-*=A")
	tests := []struct{ path, domain, typ, reason string }{
		{"development/one", "a.dev", "A", zonev1alpha1.ReasonAdopted},
		{"development/two", "a.b.dev", "TXT", zonev1alpha1.ReasonAdopted},
		{"development/three", "dev", "A", zonev1alpha1.ReasonNotDelegated},
		{"development/four", "a.prod", "A", zonev1alpha1.ReasonNotDelegated},
		{"production/one", "a.prod", "A", zonev1alpha1.ReasonAdopted},
		{"both/one", "b.prod", "AAAA", zonev1alpha1.ReasonAdopted},
		{"production/two", "a.prod", "TXT", zonev1alpha1.ReasonNotDelegated},
		{"production/three", "a.dev", "A", zonev1alpha1.ReasonNotDelegated},
		{"production/four", "web-1", "A", zonev1alpha1.ReasonAdopted},
		{"production/five", "web", "A", zonev1alpha1.ReasonNotDelegated},
		{"other/one", "a.dev", "A", zonev1alpha1.ReasonNotDelegated},
		{"dns/one", "a.dev", "A", zonev1alpha1.ReasonNotDelegated},
	}
	for _, tt := range tests {
		rdata := map[string]string{"A": "192.0.2.1", "AAAA": "2001:db8::1", "TXT": `"x"`}[tt.typ]
		b.record(tt.path, tt.domain+".example.org.", "", tt.typ, rdata)
		parent := ""
		if tt.reason == zonev1alpha1.ReasonAdopted {
			parent = "dns/org"
		}
		b.expect(tt.path, tt.reason, parent)
	}
}

func TestLongestMatchWins(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|* zone:*")
	b.record("a/www", "www.sub.example.org.", "", "A", "192.0.2.1")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "dns/org")
	b.zone("dns/sub", "sub.example.org.", "", "a|www @=NS ns=A,AAAA")
	b.expectZone("dns/sub", zonev1alpha1.ReasonPublished, "dns/org")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "dns/sub")
	b.record("b/www", "www2.sub.example.org.", "", "A", "192.0.2.1")
	b.expect("b/www", zonev1alpha1.ReasonNotDelegated, "") // its parent would admit it, but never below the cut
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "sub.example.org 360 NS ns.sub.example.org.")

	b.record("a/ns", "sub.example.org.", "", "NS", "ns.sub.example.org.")
	b.record("a/ns4", "ns.sub.example.org.", "", "A", "192.0.2.53")
	b.record("a/ns6", "ns.sub.example.org.", "", "AAAA", "2001:db8::53")
	b.record("dns/ds", "sub.example.org.", "", "DS", "1 8 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
	b.expect("dns/ds", zonev1alpha1.ReasonAdopted, "dns/org")
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "sub.example.org 360 NS ns.sub.example.org.",
		"ns.sub.example.org 360 A 192.0.2.53", "ns.sub.example.org 360 AAAA 2001:db8::53",
		"sub.example.org 360 DS 1 8 2 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF")
	b.m.RemoveZone(key("dns/sub"), "")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "dns/org")
}

func TestChainOfReferences(t *testing.T) {
	b := newBench(t)
	b.record("dns/www", "www", "dns/inner", "A", "192.0.2.1")
	b.zone("dns/inner", "inner", "dns/outer", "|*")
	b.zone("dns/outer", "outer", "dns/org", "|zone:inner")
	b.expectZone("dns/inner", zonev1alpha1.ReasonZoneNotFound, "")
	b.zone("dns/org", "example.org.", "", "|zone:outer")
	b.expectZone("dns/outer", zonev1alpha1.ReasonPublished, "dns/org")
	b.expectZone("dns/inner", zonev1alpha1.ReasonPublished, "dns/outer")
	b.expect("dns/www", zonev1alpha1.ReasonAdopted, "dns/inner")
	if v, _ := b.m.Record(key("dns/www")); v.FQDN.FQDN() != "www.inner.outer.example.org." {
		t.Errorf("fqdn is %s", v.FQDN.FQDN())
	}
	b.m.RemoveZone(key("dns/outer"), "another")
	b.expect("dns/www", zonev1alpha1.ReasonAdopted, "dns/inner")
	b.m.RemoveZone(key("dns/outer"), "dns/outer")
	b.expect("dns/www", zonev1alpha1.ReasonZoneNotFound, "")
}

// TestNobodyLosesAZoneToALaterOne: a zone above others that does not delegate to them takes nothing from them, however it comes to be.
func TestNobodyLosesAZoneToALaterOne(t *testing.T) {
	b := newBench(t)
	b.zone("a/org", "example.org.", "", "|*")
	b.record("a/www", "www.example.org.", "", "A", "192.0.2.1")
	b.zone("evil/tld", "org.", "", "|*")
	b.expectZone("a/org", zonev1alpha1.ReasonPublished, "")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "a/org")
	b.zone("evil/org", "example.org.", "", "|*")
	b.expectZone("evil/org", zonev1alpha1.ReasonNameConflict, "")
	b.zone("evil/www", "www.example.org.", "", "|*")
	b.expectZone("evil/www", zonev1alpha1.ReasonNotDelegated, "")
	b.expect("a/www", zonev1alpha1.ReasonAdopted, "a/org")
}

func TestOlderVersionsAreIgnored(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|*")
	r := b.record("a/www", "www.example.org.", "", "A", "192.0.2.1")
	newer := r.DeepCopy()
	newer.ResourceVersion, newer.Spec.RData = "3000", "192.0.2.2"
	b.m.SetRecord(zone.RecordOf(newer))
	b.m.SetRecord(zone.RecordOf(r))
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "www.example.org 360 A 192.0.2.2")
}

func TestLeavingObjectsAreGone(t *testing.T) {
	b := newBench(t)
	z := b.zone("dns/org", "example.org.", "", "|*")
	r := b.record("a/www", "www.example.org.", "", "A", "192.0.2.1")
	r.ResourceVersion, r.DeletionTimestamp = "3000", new(metav1.Unix(3000, 0))
	b.m.SetRecord(zone.RecordOf(r))
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.")
	z.ResourceVersion, z.DeletionTimestamp = "3001", new(metav1.Unix(3001, 0))
	b.m.SetZone(zone.ZoneOf(z))
	if _, known := b.m.Zone(key("dns/org")); known {
		t.Error("a zone that is being deleted is still there")
	}
}

func TestOnChangeTellsWhatChanged(t *testing.T) {
	b := newBench(t)
	var got []zone.Changes
	b.m.OnChange(func(c zone.Changes) { got = append(got, c) })
	b.zone("dns/org", "example.org.", "", "|*")
	r := b.record("a/www", "www.example.org.", "", "A", "192.0.2.1")
	r.ResourceVersion, r.Labels = "4000", map[string]string{"x": "y"}
	b.m.SetRecord(zone.RecordOf(r)) // changes nothing here
	r.ResourceVersion, r.Spec.TTL = "4001", new(int32(7))
	b.m.SetRecord(zone.RecordOf(r))
	b.m.RemoveRecord(key("a/www"), "")
	want := []zone.Changes{
		{Zones: []zone.Key{key("dns/org")}},
		{Zones: []zone.Key{key("dns/org")}, Records: []zone.Key{key("a/www")}},
		{Zones: []zone.Key{key("dns/org")}},
		{Zones: []zone.Key{key("dns/org")}, Records: []zone.Key{key("a/www")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestTry holds what the gate says, rule by rule: a break, and what comes near to it.
func TestTry(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|* @ zone:*")
	b.zone("dns/net", "example.net.", "", "a|*")
	b.zone("dns/sub", "sub", "dns/org", "|*")
	b.record("a/www", "www.example.org.", "", "A", "192.0.2.1")
	ttl := b.newRecord("a/ttl", "ttl.example.org.", "", "A", "192.0.2.1")
	ttl.Spec.TTL = new(int32(60))
	b.m.SetRecord(zone.RecordOf(ttl))
	b.record("a/alias", "alias.example.org.", "", "CNAME", "www.example.org.")
	b.record("a/one", "one.example.org.", "", "CNAME", "two.example.org.")
	b.record("a/cut", "cut.example.org.", "", "NS", "ns.cut.example.org.")
	b.record("a/below", "x.below.example.org.", "", "TXT", `"x"`)
	b.record("a/dname", "moved.example.org.", "", "DNAME", "example.net.")
	b.record("a/wild", "*.wild.example.org.", "", "A", "192.0.2.9")
	type try struct{ name, path, domain, parent, typ, rdata, want string }
	tests := []try{
		{"adopted", "b/x", "x.example.org.", "", "A", "192.0.2.1", ""},
		{"no zone", "b/x", "x.example.com.", "", "A", "192.0.2.1", "zone-absent"},
		{"no such zone", "b/x", "x", "dns/none", "A", "192.0.2.1", "zone-absent"},
		{"another namespace", "b/x", "x.example.net.", "", "A", "192.0.2.1", "record-not-delegated"},
		{"the namespace", "a/x", "x.example.net.", "", "A", "192.0.2.1", ""},
		{"below a sub-zone, by reference", "b/x", "x.sub", "dns/org", "A", "192.0.2.1", "record-not-delegated"},
		{"another RRset at a name", "b/x", "www.example.org.", "", "TXT", `"x"`, ""},
		{"an RRset of another namespace", "b/x", "www.example.org.", "", "A", "192.0.2.2", "rrset-taken"},
		{"an RRset of the namespace", "a/x", "www.example.org.", "", "A", "192.0.2.2", ""},
		{"a record twice", "a/x", "www.example.org.", "", "A", "192.0.2.1", "record-duplicate"},
		{"itself", "a/www", "www.example.org.", "", "A", "192.0.2.1", ""},
		{"no TTL beside one", "a/x", "ttl.example.org.", "", "A", "192.0.2.2", ""},
		{"a CNAME beside others", "a/x", "www.example.org.", "", "CNAME", "host.example.com.", "cname-alone"},
		{"others beside a CNAME", "a/x", "alias.example.org.", "", "A", "192.0.2.1", "cname-alone"},
		{"a second CNAME", "a/x", "alias.example.org.", "", "CNAME", "host.example.com.", "cname-single"},
		{"a CNAME at the apex", "a/x", "@", "dns/org", "CNAME", "host.example.com.", "cname-at-apex"},
		{"a CNAME loop", "a/x", "two.example.org.", "", "CNAME", "one.example.org.", "cname-loop"},
		{"a CNAME chain", "a/x", "zero.example.org.", "", "CNAME", "alias.example.org.", ""},
		{"below a delegation", "a/x", "x.cut.example.org.", "", "A", "192.0.2.1", "record-occluded"},
		{"glue", "a/x", "ns.cut.example.org.", "", "A", "192.0.2.1", ""},
		{"no glue, though of its name", "a/x", "ns.cut.example.org.", "", "TXT", `"x"`, "record-occluded"},
		{"beside a delegation", "a/x", "cut.example.org.", "", "A", "192.0.2.1", "record-occluded"},
		{"a DS beside a delegation", "a/x", "cut.example.org.", "", "DS", "1 8 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", ""},
		{"a delegation above others", "a/x", "below.example.org.", "", "NS", "ns.example.com.", "record-occluded"},
		{"below a DNAME", "a/x", "x.moved.example.org.", "", "A", "192.0.2.1", "record-occluded"},
		{"a second DNAME", "a/x", "moved.example.org.", "", "DNAME", "example.com.", "dname-single"},
		{"beside a DNAME", "a/x", "moved.example.org.", "", "A", "192.0.2.1", ""},
		{"a target that is absent", "a/x", "x.example.org.", "", "CNAME", "none.example.org.", "target-absent"},
		{"a target elsewhere", "a/x", "x.example.org.", "", "CNAME", "none.example.com.", ""},
		{"a target under a wildcard", "a/x", "x.example.org.", "", "CNAME", "a.wild.example.org.", ""},
		{"a mail host without address", "a/x", "x.example.org.", "", "MX", "10 x.below.example.org.", "target-absent"},
		{"a mail host", "a/x", "x.example.org.", "", "MX", "10 www.example.org.", ""},
		{"no mail", "a/x", "x.example.org.", "", "MX", "0 .", ""},
		{"a mail host that is an alias", "a/x", "x.example.org.", "", "MX", "10 alias.example.org.", "target-alias"},
		{"a delegation without glue", "a/x", "new.example.org.", "", "NS", "ns.new.example.org.", "glue-absent"},
		{"a delegation elsewhere", "a/x", "new.example.org.", "", "NS", "ns.example.com.", ""},
		{"composed too long", "a/x", strings.Repeat("a.", 124), "dns/org", "A", "192.0.2.1", "name-absolute-subdomain"},
		{"composed too long, relative", "a/x", strings.TrimSuffix(strings.Repeat("a.", 122), "."), "dns/org", "A", "192.0.2.1", "name-too-long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := b.m.TryRecord(zone.RecordOf(b.newRecord(tt.path, tt.domain, tt.parent, tt.typ, tt.rdata)))
			expectProblem(t, problems, tt.want)
		})
	}
	t.Run("another TTL", func(t *testing.T) {
		r := b.newRecord("a/x", "ttl.example.org.", "", "A", "192.0.2.2")
		r.Spec.TTL = new(int32(61))
		_, problems := b.m.TryRecord(zone.RecordOf(r))
		expectProblem(t, problems, "ttl-differs")
		r.Spec.TTL = new(int32(60))
		_, problems = b.m.TryRecord(zone.RecordOf(r))
		expectProblem(t, problems, "")
	})
}

func expectProblem(t *testing.T, problems []zone.Problem, want string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, p.Rule.ID)
		if p.Detail == "" || p.Field == "" || strings.ContainsAny(p.Detail, "\n\r") {
			t.Errorf("a problem without detail or field: %+v", p)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("problems are %q; want %q", got, want)
	}
}

func TestTryZone(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "a|zone:* *", "b|*", "c|zone:open")
	b.zone("dns/ring", "ring", "a/ring", "|*")
	b.record("b/www", "www.taken.example.org.", "", "A", "192.0.2.1")
	b.record("a/own", "www.own.example.org.", "", "A", "192.0.2.1")
	b.record("a/ns", "named.example.org.", "", "NS", "ns.example.com.")
	tests := []struct{ name, path, domain, parent, delegation, want string }{
		{"alone", "x/com", "example.com.", "", "|*", "apex-ns-absent"},
		{"taken", "x/org", "example.org.", "", "|*", "zone-taken"},
		{"not delegated", "b/sub", "sub.example.org.", "", "|*", "zone-not-delegated"},
		{"not delegated, by reference", "b/sub", "sub", "dns/org", "|*", "zone-not-delegated"},
		{"delegated", "a/sub", "sub.example.org.", "", "|*", "apex-ns-absent"},
		{"delegated by pattern", "c/open", "open", "dns/org", "|*", "apex-ns-absent"},
		{"with a name server", "a/named", "named", "dns/org", "a|* @", ""},
		{"a parent that is absent", "a/sub", "sub", "dns/none", "|*", "zone-absent"},
		{"a circle", "a/ring", "ring", "dns/ring", "|*", "zone-ref-cycle"},
		{"itself", "a/self", "self", "a/self", "|*", "zone-ref-cycle"},
		{"what others publish", "a/taken", "taken.example.org.", "", "a|*", "zone-takes-names apex-ns-absent"},
		{"what others publish, let in", "a/taken", "taken.example.org.", "", "b|*", "apex-ns-absent"},
		{"what it publishes itself", "a/own", "own.example.org.", "", "b|*", "zone-drops-names apex-ns-absent"},
		{"a wildcard", "a/wild", "*", "dns/org", "|*", "name-wildcard"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z := &zonev1alpha1.Zone{ObjectMeta: b.meta(tt.path), Spec: zonev1alpha1.ZoneSpec{DomainName: tt.domain, ZoneRef: ref(tt.parent), Delegations: delegate(tt.delegation)}}
			_, problems := b.m.TryZone(zone.ZoneOf(z))
			expectProblem(t, problems, tt.want)
		})
	}
}

// TestTryZoneAboveAnother: a new sub-zone that would become the parent of a zone which stands alone takes what its own parent publishes there.
func TestTryZoneAboveAnother(t *testing.T) {
	b := newBench(t)
	b.zone("x/inner", "inner.team.example.org.", "", "|none")
	b.zone("dns/org", "example.org.", "", "|* zone:team")
	b.expectZone("x/inner", zonev1alpha1.ReasonPublished, "")
	b.record("b/www", "www.inner.team.example.org.", "", "A", "192.0.2.1")
	b.expect("b/www", zonev1alpha1.ReasonAdopted, "dns/org")
	z := &zonev1alpha1.Zone{ObjectMeta: b.meta("a/team"), Spec: zonev1alpha1.ZoneSpec{DomainName: "team.example.org.", Delegations: delegate("|* zone:inner")}}
	_, problems := b.m.TryZone(zone.ZoneOf(z))
	expectProblem(t, problems, "zone-takes-names apex-ns-absent")
	z.Spec.Delegations = delegate("|*")
	_, problems = b.m.TryZone(zone.ZoneOf(z))
	expectProblem(t, problems, "apex-ns-absent")
}

// TestDenialsTellNothing: a refusal names neither the objects nor the namespaces of others.
func TestDenialsTellNothing(t *testing.T) {
	b := newBench(t)
	b.zone("secret-dns/secret-zone", "example.org.", "", "|*")
	b.record("secret-team/secret-www", "www.example.org.", "", "A", "203.0.113.77")
	b.record("secret-team/secret-alias", "alias.example.org.", "", "CNAME", "secret-target.example.com.")
	b.record("secret-team/secret-ns", "cut.example.org.", "", "NS", "secret-ns.example.com.")
	for _, r := range []*zonev1alpha1.Record{
		b.newRecord("b/x", "www.example.org.", "", "A", "192.0.2.2"), b.newRecord("b/x", "www.example.org.", "", "CNAME", "a.example.com."),
		b.newRecord("b/x", "alias.example.org.", "", "A", "192.0.2.2"), b.newRecord("b/x", "alias.example.org.", "", "CNAME", "a.example.com."),
		b.newRecord("b/x", "a.cut.example.org.", "", "A", "192.0.2.2"), b.newRecord("b/x", "example.org.", "", "A", "192.0.2.2"),
	} {
		_, problems := b.m.TryRecord(zone.RecordOf(r))
		if len(problems) == 0 {
			t.Errorf("%s %s is admitted", r.Spec.DomainName, r.Spec.Type)
		}
		for _, p := range problems {
			if strings.Contains(p.Detail, "secret") || strings.Contains(p.Detail, "203.0.113") {
				t.Errorf("the denial tells: %s", p.Detail)
			}
		}
	}
}

func TestPartialModelKnowsOfNothingAbsent(t *testing.T) {
	m := zone.NewPartialModel()
	b := &bench{T: t, m: m}
	for _, r := range []*zonev1alpha1.Record{b.newRecord("a/x", "x.example.org.", "", "A", "192.0.2.1"), b.newRecord("a/x", "x", "dns/org", "A", "192.0.2.1")} {
		if _, problems := m.TryRecord(zone.RecordOf(r)); len(problems) > 0 {
			t.Errorf("problems %+v", problems)
		}
	}
	b.zone("dns/org", "example.org.", "", "a|*")
	_, problems := m.TryRecord(zone.RecordOf(b.newRecord("a/x", "x.example.org.", "", "MX", "10 none.example.org.")))
	expectProblem(t, problems, "")
	_, problems = m.TryRecord(zone.RecordOf(b.newRecord("b/x", "x.example.org.", "", "A", "192.0.2.1")))
	expectProblem(t, problems, "record-not-delegated")
	b.zone("dns/net", "example.net.", "", "a|*", "|zone:*.team")
	_, problems = m.TryRecord(zone.RecordOf(b.newRecord("b/x", "www.x.team.example.net.", "", "A", "192.0.2.1")))
	expectProblem(t, problems, "") // a sub-zone may be there that lets it in
	_, problems = m.TryRecord(zone.RecordOf(b.newRecord("b/x", "www.other.example.net.", "", "A", "192.0.2.1")))
	expectProblem(t, problems, "record-not-delegated")
	_, problems = m.TryRecord(zone.RecordOf(b.newRecord("b/x", "www.x.team", "dns/net", "A", "192.0.2.1")))
	expectProblem(t, problems, "record-not-delegated")
}

// TestWhoIsPublishedKeepsTheName: neither an older record that comes later nor an older zone takes a name from one that is published.
func TestWhoIsPublishedKeepsTheName(t *testing.T) {
	b := newBench(t)
	ready := []metav1.Condition{{Type: zonev1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	older := b.newRecord("a/www", "www.example.org.", "", "A", "192.0.2.1")
	olderZone := &zonev1alpha1.Zone{ObjectMeta: b.meta("x/org"), Spec: zonev1alpha1.ZoneSpec{DomainName: "example.org."}}
	z := b.zone("dns/org", "example.org.", "", "|*")
	z.Status.Conditions = ready
	b.m.SetZone(zone.ZoneOf(z))
	holder := b.newRecord("b/www", "www.example.org.", "", "A", "192.0.2.2")
	holder.Status.Conditions = ready
	for _, later := range []bool{false, true} {
		if !later {
			b.m.SetRecord(zone.RecordOf(holder))
		}
		b.m.SetRecord(zone.RecordOf(older))
		b.m.SetZone(zone.ZoneOf(olderZone))
		if later {
			b.m.SetRecord(zone.RecordOf(holder))
		}
		b.expect("b/www", zonev1alpha1.ReasonAdopted, "dns/org")
		b.expect("a/www", zonev1alpha1.ReasonNameConflict, "dns/org")
		b.expectZone("x/org", zonev1alpha1.ReasonNameConflict, "")
		b.m.RemoveRecord(key("b/www"), "")
		b.m.RemoveRecord(key("a/www"), "")
	}
}

// TestCircleOfCNAMEs: of those in a circle the newest is left out, whatever the order in which they came, until the circle is open.
func TestCircleOfCNAMEs(t *testing.T) {
	for round := range 30 { // the order of the work is that of maps
		b := newBench(t)
		b.zone("dns/org", "example.org.", "", "|*")
		records := []*zonev1alpha1.Record{
			b.newRecord("a/1", "one.example.org.", "", "CNAME", "two.example.org."),
			b.newRecord("a/2", "two.example.org.", "", "CNAME", "three.example.org."),
			b.newRecord("a/3", "three.example.org.", "", "CNAME", "one.example.org."),
		}
		for i := range records {
			b.m.SetRecord(zone.RecordOf(records[(i+round)%3]))
		}
		b.expect("a/1", zonev1alpha1.ReasonAdopted, "dns/org")
		b.expect("a/2", zonev1alpha1.ReasonAdopted, "dns/org")
		b.expect("a/3", zonev1alpha1.ReasonQuarantined, "dns/org")

		holder := b.newRecord("a/0", "two.example.org.", "", "A", "192.0.2.1")
		holder.Status.Conditions = []metav1.Condition{{Type: zonev1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
		b.m.SetRecord(zone.RecordOf(holder)) // it was there first: the CNAME of its name gives way, and opens the circle
		b.expect("a/2", zonev1alpha1.ReasonQuarantined, "dns/org")
		b.expect("a/3", zonev1alpha1.ReasonAdopted, "dns/org")
		b.m.RemoveRecord(key("a/0"), "")
		b.expect("a/3", zonev1alpha1.ReasonQuarantined, "dns/org")
	}
}

// TestNameServersAreJudgedTogether: the address of one name server of a delegation stands at the delegation itself.
func TestNameServersAreJudgedTogether(t *testing.T) {
	for _, names := range [][]string{{"a/1", "a/2", "a/3"}, {"a/3", "a/2", "a/1"}, {"a/2", "a/3", "a/1"}} {
		b := newBench(t)
		b.zone("dns/org", "example.org.", "", "|*")
		for i, rdata := range []string{"ns.sub.example.org.", "sub.example.org.", "192.0.2.1"} {
			r := b.newRecord(names[i], "sub.example.org.", "", []string{"NS", "NS", "A"}[i], rdata)
			r.CreationTimestamp = metav1.Unix(5000, 0)
			b.m.SetRecord(zone.RecordOf(r))
		}
		for _, name := range names {
			b.expect(name, zonev1alpha1.ReasonAdopted, "dns/org")
		}
	}
}

func TestExplain(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|zone:*", "a|*=A")
	b.zone("dns/sub", "sub", "dns/org", "b|*")
	ask := func(namespace, name string, typ record.Type) zone.Explanation {
		n, err := dnsname.ParseOwner(name)
		if err != nil {
			t.Fatal(err)
		}
		return b.m.Explain(zone.Question{Namespace: namespace, Name: n, Type: typ})
	}
	if got := ask("a", "www.example.org", "A"); got.Zone != key("dns/org") || got.Delegation != 1 || len(got.Passed) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := ask("b", "www.sub.example.org", "TXT"); got.Zone != key("dns/sub") || got.Delegation != 0 {
		t.Errorf("got %+v", got)
	}
	got := ask("a", "www.sub.example.org", "A")
	if got.Zone != (zone.Key{}) || len(got.Passed) != 2 || got.Passed[0].Zone != key("dns/sub") || got.Passed[1].Zone != key("dns/org") ||
		!strings.Contains(got.Passed[1].Why, "sub-zone sub.example.org.") {
		t.Errorf("got %+v", got)
	}
}

func TestTTLOfAnRRset(t *testing.T) {
	b := newBench(t)
	z := b.zone("dns/org", "example.org.", "", "|*")
	b.record("a/one", "www.example.org.", "", "A", "192.0.2.1")
	two := b.newRecord("a/two", "www.example.org.", "", "A", "192.0.2.2")
	two.Spec.TTL = new(int32(60))
	b.m.SetRecord(zone.RecordOf(two))
	b.record("a/txt", "www.example.org.", "", "TXT", `"x"`)
	b.expectEntries("dns/org", "example.org 360 NS ns.example.org.", "www.example.org 60 A 192.0.2.1", "www.example.org 60 A 192.0.2.2", `www.example.org 360 TXT "x"`)
	z.ResourceVersion, z.Spec.TTL, z.Spec.NameServer = "5000", new(int32(90)), "ns.example.net"
	b.m.SetZone(zone.ZoneOf(z))
	b.expectEntries("dns/org", "example.org 90 NS ns.example.net.", "www.example.org 60 A 192.0.2.1", "www.example.org 60 A 192.0.2.2", `www.example.org 90 TXT "x"`)
}

// TestView: people see as many entries as fit, the first in canonical order.
func TestView(t *testing.T) {
	b := newBench(t)
	b.zone("dns/org", "example.org.", "", "|*")
	for i := range 2000 {
		b.record(fmt.Sprintf("a/r%d", i), fmt.Sprintf("host-%04d.example.org.", 1999-i), "", "A", "192.0.2.1")
	}
	c, _ := b.m.Content(key("dns/org"))
	if c.Count != 2002 || len(c.View) < 250 || len(c.View) > 500 || c.View[1].FQDN != "host-0000.example.org." {
		t.Errorf("%d entries, %d shown, the second is %v", c.Count, len(c.View), c.View[1])
	}
	if !slices.IsSortedFunc(c.View[1:], func(a, b zonev1alpha1.ZoneEntry) int { return strings.Compare(a.FQDN, b.FQDN) }) {
		t.Error("the view is not in canonical order")
	}
	b.record("a/new", "aaa.example.org.", "", "A", "192.0.2.1")
	b.m.RemoveRecord(key("a/r1999"), "") // host-0000
	b.record("a/late", "zzz.example.org.", "", "A", "192.0.2.1")
	c, _ = b.m.Content(key("dns/org"))
	if c.Count != 2003 || c.View[1].FQDN != "aaa.example.org." || c.View[2].FQDN != "host-0001.example.org." {
		t.Errorf("after changes: %d entries, the view begins with %v", c.Count, c.View[:3])
	}
}

// BenchmarkOneChange is the work of one changed record in zones of three sizes; BenchmarkRebuild that of making a zone anew.
func BenchmarkOneChange(b *testing.B) {
	for _, size := range []int{1000, 10_000, 50_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			m, records := large(size)
			m.Content(key("dns/org")) // the first one computes every digest
			for i := 0; b.Loop(); i++ {
				r := records[i%len(records)]
				r.RData = fmt.Sprintf("198.51.%d.%d", i/256%256, i%256)
				m.SetRecord(r)
				if c, ok := m.Content(key("dns/org")); !ok || c.Count < size {
					b.Fatal("the zone is not whole")
				}
			}
		})
	}
}

func BenchmarkRebuild(b *testing.B) {
	for b.Loop() {
		m, _ := large(10_000)
		if _, ok := m.Content(key("dns/org")); !ok {
			b.Fatal("no zone")
		}
	}
}

func large(size int) (*zone.Model, []zone.RecordObject) {
	m := zone.NewModel()
	m.SetZone(zone.ZoneObject{Object: zone.Object{Key: key("dns/org")}, DomainName: "example.org.", Delegations: zone.CompileDelegations(delegate("|*"))})
	var records []zone.RecordObject
	for i := range size {
		r := zone.RecordObject{Object: zone.Object{Key: key(fmt.Sprintf("a/r%d", i)), Created: time.Unix(1000, 0)}, DomainName: fmt.Sprintf("host-%d.example.org.", i), Type: record.A,
			RData: fmt.Sprintf("192.0.%d.%d", i/256%256, i%256)}
		records = append(records, r)
		m.SetRecord(r)
	}
	return m, records
}
