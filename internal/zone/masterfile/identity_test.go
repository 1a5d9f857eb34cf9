package masterfile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

// published returns what the model publishes for a Zone, as export reads it.
func published(t require, m *zone.Model, key zone.Key, serial uint32) (zone.Entry, []zone.Entry) {
	content, ok := m.Content(key)
	if !ok {
		verdict, _ := m.Zone(key)
		t.Fatalf("%v is not published: %+v", key, verdict)
	}
	want := map[string]struct{}{}
	for _, digest := range content.Digests {
		want[digest] = struct{}{}
	}
	var entries []zone.Entry
	for _, shard := range m.Shards(key, want) {
		entries = append(entries, shard.Entries...)
	}
	if len(entries)+1 != content.Count {
		t.Fatalf("%d entries and the SOA; want %d", len(entries), content.Count)
	}
	return content.SOA.Entry(content.Origin, serial), entries
}

// require is what testing.T and rapid.T share.
type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

func render(t require, soa zone.Entry, entries []zone.Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := masterfile.Render(&out, soa, entries); err != nil {
		t.Fatalf("%v", err)
	}
	return out.Bytes()
}

// assemble feeds the objects to a model, as they would be applied.
func assemble(t require, m *masterfile.Manifests) (*zone.Model, zone.Key) {
	t.Helper()
	model := zone.NewModel()
	model.SetZone(zone.ZoneOf(m.Zone))
	for _, r := range m.Records {
		model.SetRecord(zone.RecordOf(r))
	}
	for _, r := range m.Records {
		if verdict, _ := model.Record(zone.RecordOf(r).Key); !verdict.Published() {
			t.Fatalf("%s %s %s is not published: %+v", r.Spec.DomainName, r.Spec.Type, r.Spec.RData, verdict)
		}
	}
	return model, zone.Key{Namespace: m.Zone.Namespace, Name: m.Zone.Name}
}

func importFile(t require, file []byte, origin dnsname.Name) *masterfile.Manifests {
	t.Helper()
	_, m, problems, err := masterfile.Import(bytes.NewReader(file), origin, "dns", "")
	if err != nil || m == nil || len(problems) > 0 {
		t.Fatalf("%v %v\n%s", problems, err, file)
	}
	return m
}

// An import of an export publishes what was exported: whatever a zone holds, the objects that are made of its master file make the same
// master file again, and the same objects.
func TestImportOfExportIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, key := randomZone(t)
		soa, entries := published(t, model, key, rapid.Uint32Min(1).Draw(t, "serial"))
		exported := render(t, soa, entries)

		objects := importFile(t, exported, dnsname.Name{})
		assembled, again := assemble(t, objects)
		soaAgain, entriesAgain := published(t, assembled, again, serialOf(t, soa))
		if diff := cmp.Diff(string(exported), string(render(t, soaAgain, entriesAgain))); diff != "" {
			t.Fatalf("export of import of export (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(objects.Records, importFile(t, exported, soa.Name).Records); diff != "" {
			t.Fatalf("the same file makes other objects (-first +second)\n%s", diff)
		}
	})
}

// Either a file is refused, or all that is made of it is published: also where each record is let in, and together they contradict.
func TestImportIsPublished(t *testing.T) {
	for _, records := range []string{"ns A 192.0.2.1\nns NS ns\nns NS ns.sub\n", "sub NS ns.sub\nns.sub A 192.0.2.1\n", "a A 192.0.2.1\nx.a A 192.0.2.2\na NS b.example.net.\n"} {
		_, m, problems, err := masterfile.Import(strings.NewReader(top+records), mustName(t, "example.org"), "dns", "")
		if err != nil || (m == nil) == (len(problems) == 0) {
			t.Fatal(m, problems, err)
		}
		if m != nil {
			assemble(t, m)
		}
	}
}

func serialOf(t require, soa zone.Entry) (serial uint32) {
	var nameServer, mailbox string
	if _, err := fmt.Sscan(soa.RData, &nameServer, &mailbox, &serial); err != nil {
		t.Fatalf("%s: %v", soa.RData, err)
	}
	return serial
}

// owners and values are drawn from few, so that records meet.
var (
	owners = []string{"@", "www", "*", "*.a", "a", "b.a", "ns", "ns.sub", "sub", "deep.sub", "_dmarc", "_sip._tcp", "xn--mnchen-3ya", "a-b.c-d"}
	values = []struct{ typ, rdata string }{
		{"A", "192.0.2.1"}, {"A", "192.0.2.2"}, {"AAAA", "2001:db8::1"}, {"AAAA", "2001:DB8:0::2"}, {"CNAME", "www.example.org."}, {"CNAME", "Other.example.NET."},
		{"NS", "ns.example.org."}, {"NS", "ns.sub.example.org."}, {"NS", "ns.example.net."}, {"MX", "10 mail.example.net."}, {"MX", "0 ."},
		{"TXT", `"v=spf1 -all"`}, {"TXT", `"a\"b;c(d)\\" "$INCLUDE /etc/passwd" "\010\000"`}, {"TXT", `""`}, {"TXT", `"é"`}, {"SRV", "1 2 3 www.example.org."},
		{"CAA", `0 issue "letsencrypt.org; a=b"`}, {"HTTPS", `1 . alpn="h2,h3" ipv4hint=192.0.2.1`}, {"SVCB", `0 www.example.org.`}, {"PTR", "host.example.org."},
		{"DS", "12345 13 1 000102030405060708090a0b0c0d0e0f10111213"}, {"NAPTR", `1 2 "S" "SIP+D2U" "!^.*$!sip:x@y!" .`}, {"TYPE65280", `\# 3 00ff0a`},
		{"TLSA", "3 1 0 00ff"}, {"LOC", "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m"}, {"DNAME", "example.com."}, {"URI", `1 2 "https://a/;(b)"`},
		{"RP", `a\.b.example.org. .`}, {"HINFO", `"a b" "c"`}, {"SSHFP", "4 1 000102030405060708090a0b0c0d0e0f10111213"},
	}
	contacts    = []string{"", "noc.example.org", "Host.Master@Example.org", "a+b@example.net", "hostmaster.example.org.", "localhost"}
	nameServers = []string{"", "ns.example.org.", "NS1.example.net", "example.org"}
	origins     = []string{"example.org.", "Sub.example.org.", "arpa."}
)

// randomZone makes a model with one Zone, and Records that the gate lets in.
func randomZone(t *rapid.T) (*zone.Model, zone.Key) {
	retry := rapid.Int32Range(1, 1<<28).Draw(t, "retry")
	refresh := retry + rapid.Int32Range(1, 1<<28).Draw(t, "refresh")
	expire := retry + refresh + rapid.Int32Range(1, 1<<28).Draw(t, "expire")
	ttl := rapid.SampledFrom([]int32{0, 60, 360, 1<<31 - 1}).Draw(t, "ttl")
	minimum := rapid.Int32Range(0, 1<<31-1).Draw(t, "minimum")
	m := zone.NewModel()
	z := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "z"}, Spec: zonev1alpha1.ZoneSpec{
		DomainName: rapid.SampledFrom(origins).Draw(t, "origin"), TTL: &ttl, Refresh: &refresh, Retry: &retry, Expire: &expire, NegativeResponseCache: &minimum,
		NameServer: rapid.SampledFrom(nameServers).Draw(t, "name server"), Contact: rapid.SampledFrom(contacts).Draw(t, "contact"),
		Delegations: []zonev1alpha1.Delegation{{Records: []zonev1alpha1.RecordDelegation{{Pattern: "*"}, {Pattern: "@"}}}},
	}}
	m.SetZone(zone.ZoneOf(z))
	cuts := map[string]bool{}
	for i := range rapid.IntRange(0, 30).Draw(t, "records") {
		r := randomRecord(t, i)
		if r.Spec.Type == string(record.NS) && r.Spec.DomainName != dnsname.Apex {
			if cuts[r.Spec.DomainName] {
				continue // which of several name servers the addresses beside a delegation belong to is settled by the names of objects
			}
			cuts[r.Spec.DomainName] = true
		}
		if _, problems := record.ParseRData(record.Type(r.Spec.Type), r.Spec.RData); len(problems.Denied()) > 0 {
			continue
		}
		object := zone.RecordOf(r)
		if verdict, problems := m.TryRecord(object); verdict.Published() && !isDenied(problems) {
			if rule, _ := record.CheckOwner(object.Type, verdict.FQDN); rule == nil {
				m.SetRecord(object)
			}
		}
	}
	return m, zone.Key{Namespace: "dns", Name: "z"}
}

func randomRecord(t *rapid.T, i int) *zonev1alpha1.Record {
	value := rapid.SampledFrom(values).Draw(t, "value")
	r := &zonev1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: fmt.Sprint("r", i)}, Spec: zonev1alpha1.RecordSpec{
		DomainName: rapid.SampledFrom(owners).Draw(t, "owner"), ZoneRef: &zonev1alpha1.ZoneReference{Name: "z"}, Type: value.typ, RData: value.rdata,
	}}
	if rapid.Bool().Draw(t, "has ttl") {
		ttl := rapid.SampledFrom([]int32{0, 60, 360, 1<<31 - 1}).Draw(t, "record ttl")
		r.Spec.TTL = &ttl
	}
	return r
}

func isDenied(problems []zone.Problem) bool {
	return slices.ContainsFunc(problems, func(p zone.Problem) bool { return p.Rule.Severity == rules.Deny })
}
