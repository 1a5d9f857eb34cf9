package namegate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
)

// world is a set of Zones with all their Records: what the model lets in of what was written.
type world struct {
	zones []worldZone
	// left are the records that the model left out.
	left int
}

type worldZone struct {
	published
	soa     zone.Entry
	entries []zone.Entry
}

func (z *worldZone) origin() string { return z.zone.Status.FQDN }

// writer makes Zones and Records, one second after another.
type writer struct {
	m       *zone.Model
	keys    []zone.Key
	records []zone.Key
}

func newWriter() *writer { return &writer{m: zone.NewModel()} }

func (w *writer) meta(name string) metav1.ObjectMeta {
	age := int64(len(w.keys) + len(w.records))
	return metav1.ObjectMeta{Namespace: "dns", Name: name, UID: types.UID(name), ResourceVersion: fmt.Sprint(1 + age), CreationTimestamp: metav1.Unix(1000+age, 0)}
}

// zone writes a Zone that lets everybody in.
func (w *writer) zone(origin string, change func(*zonev1alpha1.ZoneSpec)) {
	z := &zonev1alpha1.Zone{ObjectMeta: w.meta(fmt.Sprint("zone", len(w.keys)))}
	z.Spec = zonev1alpha1.ZoneSpec{DomainName: origin, Delegations: []zonev1alpha1.Delegation{
		{Zones: []string{"*"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "@"}, {Pattern: "*"}}}}}
	if change != nil {
		change(&z.Spec)
	}
	w.m.SetZone(zone.ZoneOf(z))
	w.keys = append(w.keys, zone.Key{Namespace: z.Namespace, Name: z.Name})
}

// record writes a Record with a whole name. It has the TTL of the zone where ttl is negative.
func (w *writer) record(name string, ttl int32, rrtype, rdata string) {
	r := &zonev1alpha1.Record{ObjectMeta: w.meta(fmt.Sprint("record", len(w.records)))}
	r.Spec = zonev1alpha1.RecordSpec{DomainName: name, Type: rrtype, RData: rdata}
	if ttl >= 0 {
		r.Spec.TTL = &ttl
	}
	w.m.SetRecord(zone.RecordOf(r))
	w.records = append(w.records, zone.Key{Namespace: r.Namespace, Name: r.Name})
}

// lines writes Records such as "www 300 A 192.0.2.1", whose names are relative to an origin.
func (w *writer) lines(origin string, lines ...string) {
	for _, line := range lines {
		var ttl int32
		fields := strings.SplitN(line, " ", 4)
		name := strings.TrimPrefix(fields[0]+"."+origin, "@.")
		_, _ = fmt.Sscan(fields[1], &ttl)
		w.record(name, ttl, fields[2], fields[3])
	}
}

// world returns what the model publishes.
func (w *writer) world(t testing.TB) *world {
	t.Helper()
	out := &world{}
	for i, key := range w.keys {
		c, isPublished := w.m.Content(key)
		if !isPublished {
			continue
		}
		out.zones = append(out.zones, w.publish(key, c, uint32(2026112000+i)))
	}
	for _, key := range w.records {
		if v, _ := w.m.Record(key); !v.Published() {
			out.left++
		}
	}
	return out
}

// publish makes of a zone's content what the controller makes of it.
func (w *writer) publish(key zone.Key, c zone.Content, serial uint32) worldZone {
	origin := c.Origin.FQDN()
	out := worldZone{soa: c.SOA.Entry(c.Origin, serial)}
	z := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(key.Name)}}
	z.Status.FQDN, z.Status.Serial, z.Status.Slices, z.Status.Hash = origin, int64(serial), c.Digests, c.Hash
	z.Status.Conditions = []metav1.Condition{{Type: zonev1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	z.Status.Entries = append([]zonev1alpha1.ZoneEntry{out.soa.View()}, c.View...)
	out.zone = z
	wanted := map[string]struct{}{}
	for _, digest := range c.Digests {
		wanted[digest] = struct{}{}
	}
	for _, s := range w.m.Shards(key, wanted) {
		slice := &zonev1alpha1.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: zone.SliceName(key.Name, s.Digest), UID: types.UID(s.Digest)},
			Zone: key.Name, Shard: s.ID, Digest: s.Digest}
		for _, e := range s.Entries {
			slice.Entries = append(slice.Entries, e.Slice())
			out.entries = append(out.entries, e)
		}
		out.slices = append(out.slices, slice)
	}
	return out
}

// published returns the Zones as the plugin sees them.
func (w *world) published() []published {
	var out []published
	for i := range w.zones {
		out = append(out, w.zones[i].published)
	}
	return out
}

// labels are few, so that names meet.
var labels = []string{"a", "b", "c", "a", "b", "www", "ns", "xn--bcher-kva", "_tcp", "9"}

// origins of random worlds: apart, one below the other, and one two levels below.
var randomOrigins = []string{"example.org.", "sub.example.org.", "x.y.example.org.", "other.example."}

// scribe writes at random. One seed always writes the same.
type scribe struct {
	*rand.Rand
	*writer
}

func one[T any](s *scribe, of []T) T { return of[s.IntN(len(of))] }

// name returns a name in a zone, at most four labels below its apex.
func (s *scribe) name(origin string) string {
	name := origin
	for range 1 + s.IntN(3) {
		name = one(s, labels) + "." + name
	}
	return name
}

// owner returns the name of a record.
func (s *scribe) owner(origin string) string {
	switch s.IntN(10) {
	case 0:
		return origin
	case 1, 2:
		return "*." + strings.Join(slices.Concat(strings.SplitAfter(s.name(origin), "."))[1:], "")
	default:
		return s.name(origin)
	}
}

// target returns a name that a record points at: in the same zone, in another one, in none of ours, or below a name that wildcards have.
func (s *scribe) target(origin string) string {
	switch s.IntN(8) {
	case 0:
		return s.name(one(s, randomOrigins))
	case 1:
		return "www.elsewhere.example."
	case 2:
		return one(s, randomOrigins)
	case 3:
		return "wild-" + one(s, labels[:3]) + "." + s.name(origin)
	default:
		return s.name(origin)
	}
}

// kinds of records, and what is written after their type; %s is a target, %d a number.
var randomKinds = []struct{ rrtype, rdata string }{
	{"A", "192.0.2.%d"}, {"A", "192.0.2.%d"}, {"A", "198.51.100.%d"}, {"AAAA", "2001:db8::%d"}, {"AAAA", "2001:db8:1::%d"},
	{"CNAME", "%s"}, {"CNAME", "%s"}, {"CNAME", "%s"}, {"MX", "10 %s"}, {"MX", "20 %s"}, {"SRV", "0 5 5060 %s"}, {"PTR", "%s"},
	{"TXT", `"text %d"`}, {"TXT", `"quote \" backslash \\ semicolon ; byte \200 %d" "second"`}, {"CAA", `0 issue "ca%d.example.net"`},
	{"HINFO", `"PC" "Linux %d"`}, {"NAPTR", `100 %d "S" "SIP+D2U" "" %s`}, {"SSHFP", "4 2 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f"},
	{"TLSA", "3 1 1 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f"}, {"HTTPS", `1 %s alpn="h2,h3"`}, {"SVCB", `1 %s port="8443"`},
	{"RP", `john\.doe%d.example.org. %s`}, {"LOC", "48 12 30.000 N 16 22 15.000 E 171.00m 30.00m 100.00m 10.00m"}, {"URI", `10 1 "https://www.example.org/%d"`},
	{"TYPE65280", `\# 4 c00002%02x`}, {"AFSDB", "1 %s"}, {"OPENPGPKEY", "mQENBFpx"},
}

// rdata fills in what is left open.
func (s *scribe) rdata(pattern, origin string) string {
	pattern = strings.Replace(pattern, "%s", s.target(origin), 1)
	for _, verb := range []string{"%d", "%02x"} {
		pattern = strings.Replace(pattern, verb, fmt.Sprintf(verb, 10+s.IntN(80)), 1)
	}
	return pattern
}

const dsRData = "12345 13 2 fb15d025e3e6e390427aaff8f42a3c94ddc434b0dd352383e0b9829454eb286f"

// delegation writes the name servers of a name: below it, beside it and elsewhere, with addresses or without.
func (s *scribe) delegation(origin string) {
	cut := s.name(origin)
	for range 1 + s.IntN(3) {
		server := one(s, []string{"ns1." + cut, "ns2." + cut, cut, "a.ns." + cut, "ns." + origin, "ns1." + s.name(origin), "ns.elsewhere.example."})
		s.record(cut, -1, "NS", server)
		if s.IntN(3) > 0 {
			s.record(server, 120, "A", fmt.Sprintf("203.0.113.%d", s.IntN(99)))
		}
		if s.IntN(3) == 0 {
			s.record(server, -1, "AAAA", fmt.Sprintf("2001:db8:ff::%d", s.IntN(99)))
		}
	}
	if s.IntN(2) == 0 {
		s.record(cut, 60, "DS", dsRData)
	}
}

// randomWorld writes zones with a number of records each. What contradicts is left out by the model.
func randomWorld(t testing.TB, seed uint64, records int) *world {
	s := &scribe{Rand: rand.New(rand.NewPCG(seed, 1)), writer: newWriter()}
	for i, origin := range randomOrigins {
		if seed%4 == 0 && i > 0 {
			break // some have one zone only
		}
		s.zone(origin, func(spec *zonev1alpha1.ZoneSpec) {
			ttl, minimum := one(s, []int32{0, 30, 360, 3600}), one(s, []int32{0, 60, 360, 86400})
			spec.TTL, spec.NegativeResponseCache = &ttl, &minimum
			spec.Contact = one(s, []string{"", "john.doe@example.org", "hostmaster.example.org."})
			spec.NameServer = one(s, []string{"", "", "ns.elsewhere.example.", s.name(origin)})
		})
	}
	for i := range s.keys {
		s.fill(randomOrigins[i], records)
	}
	return s.world(t)
}

func (s *scribe) fill(origin string, records int) {
	if s.IntN(3) > 0 { // else the apex NS is made of the SOA
		s.record(origin, -1, "NS", "ns."+origin)
		s.record("ns."+origin, -1, "A", "192.0.2.53")
		s.record(origin, -1, "NS", "ns.elsewhere.example.")
	}
	for range records / 20 {
		s.delegation(origin)
	}
	for range 1 + records/60 {
		s.record(s.name(origin), -1, "DNAME", s.target(origin))
	}
	for range records {
		k := one(s, randomKinds)
		owner := s.owner(origin)
		if k.rrtype == "SRV" {
			owner = "_sip._udp." + owner
		}
		s.record(owner, one(s, []int32{-1, 300}), k.rrtype, s.rdata(k.rdata, origin))
	}
}

// names returns the names that are asked for: all owners, what they point at, and what is above, below and beside them.
func (w *world) names() []string {
	out := map[string]struct{}{"elsewhere.example.": {}, ".": {}, "org.": {}}
	for _, z := range w.zones {
		for _, e := range z.entries {
			name := e.Name.FQDN()
			for ; name != z.origin() && strings.HasSuffix(name, "."+z.origin()); _, name, _ = strings.Cut(name, ".") {
				_, above, _ := strings.Cut(name, ".")
				for _, n := range []string{name, "below." + name, "far.below." + name, "*." + name, "beside." + above} {
					out[n] = struct{}{}
				}
			}
			for _, field := range strings.Fields(e.RData) {
				if e.Type != "TXT" && strings.HasSuffix(field, ".") && !strings.ContainsAny(field, `\"`) {
					out[field] = struct{}{}
				}
			}
		}
		out[z.origin()], out["nothing."+z.origin()] = struct{}{}, struct{}{}
	}
	return slices.Sorted(maps.Keys(out))
}

// types returns the types that are asked for: all that the world has, those that are treated in ways of their own, and one that nothing has.
// Records of DNSSEC's signer, which may stand beside an alias (RFC 4035 section 2.5), are not: servers differ in whether they follow it then.
func (w *world) types() []uint16 {
	out := map[uint16]struct{}{}
	for _, t := range []uint16{dns.TypeA, dns.TypeCNAME, dns.TypeNS, dns.TypeSOA, dns.TypeDS, dns.TypeDNAME, dns.TypeANY, dns.TypeTXT, 65281} {
		out[t] = struct{}{}
	}
	for _, z := range w.zones {
		for _, e := range z.entries {
			out[e.Type.Code()] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// owners returns the names that have records.
func (w *world) owners() map[string]struct{} {
	out := map[string]struct{}{}
	for _, z := range w.zones {
		for _, e := range z.entries {
			out[e.Name.FQDN()] = struct{}{}
		}
	}
	return out
}

// known returns all records of a world, with the SOA as it is in answers that something does not exist.
func (w *world) known(t testing.TB) map[string]struct{} {
	t.Helper()
	out := map[string]struct{}{}
	for _, z := range w.zones {
		soa := z.soa
		soa.TTL = min(soa.TTL, readZone(z.zone).soa.Minttl)
		for _, e := range append(slices.Clone(z.entries), soa) {
			out[recordOf(e)] = struct{}{}
		}
	}
	return out
}

// recordOf writes an entry as answers are written.
func recordOf(e zone.Entry) string {
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", e.Name.FQDN(), e.TTL, e.Type, e.RData))
	if err != nil {
		return err.Error()
	}
	return sets([]dns.RR{rr})[0]
}

// byHand is a world with what is rare.
func byHand(t testing.TB) *world {
	w := newWriter()
	w.zone("example.org.", nil)
	w.zone("dev.example.org.", nil)
	w.zone("far.dev.example.org.", nil)
	w.zone("sub.ent.example.org.", nil)
	w.zone("example.net.", nil)
	w.zone("apex.example.", nil)
	w.zone("sub.hidden.example.org.", nil)
	const long = "a23456789012345678901234567890123456789012345678901234567890"
	w.lines("example.org.",
		"@ 300 NS ns.example.org.", "@ 300 MX 10 mail.example.org.", "ns 300 A 192.0.2.53", "mail 300 A 192.0.2.25", "mail 300 AAAA 2001:db8::25",
		// Chains: long ones, ones into wildcards, delegations, other zones, below a DNAME, and ones that end in nothing.
		"c1 300 CNAME c2.example.org.", "c2 300 CNAME c3.example.org.", "c3 300 CNAME c4.example.org.", "c4 300 CNAME c5.example.org.",
		"c5 300 CNAME c6.example.org.", "c6 300 CNAME c7.example.org.", "c7 300 CNAME c8.example.org.", "c8 300 CNAME c9.example.org.",
		"c9 300 CNAME c10.example.org.", "c10 300 CNAME c11.example.org.", "c11 300 CNAME mail.example.org.",
		"towild 300 CNAME x.wild.example.org.", "*.wild 300 CNAME y.again.example.org.", "*.again 300 CNAME mail.example.org.", "h.wild 300 TXT \"x\"",
		"ent.wild 300 CNAME below.ent.wild.example.org.", "tocut 300 CNAME x.cut.example.org.", "toglue 300 CNAME ns.cut.example.org.", "atcut 300 CNAME cut.example.org.",
		"todev 300 CNAME none.dev.example.org.", "tofar 300 CNAME www.far.dev.example.org.", "tonet 300 CNAME www.example.net.", "tonowhere 300 CNAME www.example.com.",
		"todname 300 CNAME www.moved.example.org.", "toent 300 CNAME ent.example.org.", "toapex 300 CNAME example.org.",
		// Delegations: glue below, beside and above it, and none.
		"cut 300 NS ns.cut.example.org.", "cut 300 NS ns.side.example.org.", "cut 300 NS mail.example.org.", "cut 300 NS ns.dev.example.org.", "cut 300 NS ns.example.com.",
		"ns.cut 300 A 192.0.2.61", "ns.cut 300 AAAA 2001:db8::61", "cut 300 DS "+dsRData,
		"side 300 NS ns.side.example.org.", "ns.side 300 A 192.0.2.62", "bare 300 NS ns.bare.example.org.", "selfcut 300 NS selfcut.example.org.", "selfcut 300 A 192.0.2.63",
		"deep.in.ent 300 NS a.b.c.deep.in.ent.example.org.", "a.b.c.deep.in.ent 300 A 192.0.2.64", "manyns 300 NS ns.example.org.",
		// DNAMEs, one of which makes names too long.
		"moved 300 DNAME example.net.", "moved 300 A 192.0.2.70", "moved 300 DNAME elsewhere.example.", "hidden 300 DNAME example.net.", "inner 300 DNAME wild.example.org.", "nowhere 300 DNAME example.com.",
		"long 300 DNAME "+long+"."+long+"."+long+".example.net.", "tolong 300 CNAME "+long+".x.long.example.org.",
		// Wildcards at several depths, and what stands in their way.
		"*.w 300 A 192.0.2.80", "*.a.w 300 A 192.0.2.81", "x.b.w 300 A 192.0.2.82", "c.w 300 TXT \"c\"", "*.w 300 MX 10 mail.example.org.", "z.*.w 300 A 192.0.2.83",
		"*.wd 300 DNAME example.net.", "_sip._tcp 300 SRV 1 2 5060 mail.example.org.", "*._tcp 300 SRV 1 2 5061 mail.example.org.", "zero 0 A 192.0.2.90")
	for i := range 40 {
		w.lines("example.org.", fmt.Sprintf("big 300 A 198.51.100.%d", i), fmt.Sprintf("big 300 AAAA 2001:db8::%d", i), fmt.Sprintf("mx 300 MX %d mail%d.example.org.", i, i),
			fmt.Sprintf("mail%d 300 A 192.0.2.%d", i, i), fmt.Sprintf("mail%d 300 AAAA 2001:db8:2::%d", i, i))
	}
	for i := range 13 {
		w.lines("example.org.", fmt.Sprintf("manyns 300 NS ns%d.manyns.example.org.", i), fmt.Sprintf("ns%d.manyns 300 A 192.0.2.%d", i, i), fmt.Sprintf("ns%d.manyns 300 AAAA 2001:db8:2::%d", i, i))
		w.lines("example.net.", fmt.Sprintf("some 300 MX %d mail%d.example.net.", i, i), fmt.Sprintf("mail%d 300 AAAA 2001:db8:2::%d", i, i))
	}
	w.lines("dev.example.org.", "@ 300 NS ns.dev.example.org.", "ns 300 A 192.0.2.54", "www 300 A 192.0.2.55", "* 300 TXT \"any\"")
	w.lines("far.dev.example.org.", "www 300 A 192.0.2.56", "@ 300 NS ns.example.org.", "up 300 CNAME mail.example.org.")
	w.lines("sub.ent.example.org.", "ns 300 A 192.0.2.58") // its apex NS is made of the SOA, as those of the next
	w.lines("example.net.", "ns 300 A 192.0.2.59", "www 300 A 192.0.2.57", "a 300 CNAME b.example.net.", "b 300 CNAME alias.moved.example.org.", "alias 300 CNAME none.example.net.")
	w.lines("apex.example.", "@ 300 NS ns.example.org.", "@ 300 DNAME example.net.", "@ 300 MX 10 mail.example.org.")
	w.lines("sub.hidden.example.org.", "@ 300 NS ns.sub.hidden.example.org.", "ns 300 A 192.0.2.60", "www 300 A 192.0.2.65", "apex 300 CNAME www.apex.example.")
	return w.world(t)
}
