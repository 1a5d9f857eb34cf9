package validation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

const domainName, rdata = "spec.domainName", "spec.rdata"

// origin begins a Zone that keeps every rule: example.org., which lets in everything.
func origin() *builder.ZoneBuilder { return builder.Zone("dns", "example").DelegateAll() }

// host begins a Record that keeps every rule: www.example.org., A, 192.0.2.1.
func host() *builder.RecordBuilder { return builder.Record("default", "www") }

func delegating(d zonev1alpha1.Delegation) *zonev1alpha1.Zone {
	return builder.Zone("dns", "example").Delegation(d).Obj()
}

func types(names ...string) *zonev1alpha1.Zone {
	return builder.Zone("dns", "example").DelegateTypes(nil, "*", names...).Obj()
}

// zoneTests break the rules about a Zone by itself, and come near.
var zoneTests = []struct {
	name string
	zone *zonev1alpha1.Zone
	want []found
}{
	{"valid", origin().Obj(), nil},
	{"everything given", origin().TTL(60).Times(7200, 3600, 1209600).NegativeResponseCache(60).NameServer("NS1.example.net.").Contact("host.master@example.org").Obj(), nil},

	{"two dots in a row", origin().Domain("example..org.").Obj(), at(rules.NameLabelEmpty, domainName)},
	{"a wildcard", origin().Domain("*.example.org.").Obj(), at(rules.NameWildcard, domainName)},
	{"an address", origin().Domain("192.0.2.1.").Obj(), at(rules.NameIsIP, domainName)},
	{"the root", origin().Domain(".").Obj(), at(rules.NameEmpty, domainName)},
	{"upper case", origin().Domain("Example.ORG.").Obj(), nil},
	{"a top-level domain", origin().Domain("internal.").Obj(), nil},
	{"a reverse zone", origin().Domain("2.0.192.in-addr.arpa.").Obj(), nil},
	{"not ASCII", origin().Domain("bücher.example.").Obj(), at(rules.NameNotASCII, domainName)},

	{"relative", origin().Domain("dev").ZoneRef("example-org", "dns").Obj(), nil},
	{"relative, digits", origin().Domain("0").ZoneRef("reverse", "").Obj(), nil},
	{"relative, a wildcard", origin().Domain("*").ZoneRef("example-org", "").Obj(), at(rules.NameWildcard, domainName)},
	{"relative, wildcard and labels", origin().Domain("*.dev").ZoneRef("example-org", "").Obj(), at(rules.NameWildcard, domainName)},
	{"relative, the parent itself", origin().Domain("@").ZoneRef("example-org", "").Obj(), at(rules.NameCharacter, domainName)},
	{"relative, a hyphen", origin().Domain("-dev").ZoneRef("example-org", "").Obj(), at(rules.NameLabelHyphen, domainName)},
	{"relative, and whole", origin().Domain("dev.").ZoneRef("example-org", "").Obj(), at(rules.NameAbsoluteSubdomain, domainName)},

	{"the name of no Zone", origin().Domain("dev").ZoneRef("dns/example", "").Obj(), at(rules.ZoneRefName, "spec.zoneRef.name")},
	{"no name", origin().Domain("dev").ZoneRef("", "").Obj(), at(rules.ZoneRefName, "spec.zoneRef.name")},
	{"the name of no namespace", origin().Domain("dev").ZoneRef("example.org", "d.ns").Obj(), at(rules.ZoneRefName, "spec.zoneRef.namespace")},

	{"no delegation", builder.Zone("dns", "example").Obj(), at(rules.DelegationEmpty, "spec.delegations")},
	{"a delegation of nothing", delegating(zonev1alpha1.Delegation{Namespaces: []string{"team-a"}}), at(rules.DelegationEmpty, "spec.delegations[0]")},
	{"a delegation of zones only", builder.Zone("dns", "example").DelegateZones(nil, "*.dev").Obj(), nil},
	{"a delegation of records only", builder.Zone("dns", "example").Delegate([]string{"team-a", "9"}, "@", "*", "web-*", "*._tcp", "a*b").Obj(), nil},

	{"a namespace that is a pattern", builder.Zone("dns", "example").Delegate([]string{"team-a", "team-*"}, "*").Obj(),
		at(rules.DelegationNamespace, "spec.delegations[0].namespaces[1]")},
	{"a namespace in upper case", builder.Zone("dns", "example").Delegate([]string{"Team"}, "*").Obj(), at(rules.DelegationNamespace, "spec.delegations[0].namespaces[0]")},

	{"two stars", builder.Zone("dns", "example").Delegate(nil, "@", "**").Obj(), at(rules.DelegationPattern, "spec.delegations[0].records[1].pattern")},
	{"a whole name", builder.Zone("dns", "example").Delegate(nil, "www.example.org.").Obj(), at(rules.DelegationPattern, "spec.delegations[0].records[0].pattern")},
	{"an expression", builder.Zone("dns", "example").Delegate(nil, "(a|b)").Obj(), at(rules.DelegationPattern, "spec.delegations[0].records[0].pattern")},
	{"an empty pattern", builder.Zone("dns", "example").Delegate(nil, "").Obj(), at(rules.DelegationPattern, "spec.delegations[0].records[0].pattern")},
	{"the second delegation", origin().DelegateZones(nil, "dev", "a..b").Obj(), at(rules.DelegationPattern, "spec.delegations[1].zones[1]")},
	{"the apex is no sub-zone", builder.Zone("dns", "example").DelegateZones(nil, "@").Obj(), at(rules.DelegationPattern, "spec.delegations[0].zones[0]")},

	{"types", types("A", "AAAA", "HTTPS", "TYPE65280"), nil},
	{"lower case", types("A", "aaaa"), at(rules.DelegationType, "spec.delegations[0].records[0].types[1]")},
	{"the SOA is the zone's own", types("SOA"), at(rules.DelegationType, "spec.delegations[0].records[0].types[0]")},
	{"a question is no type of records", types("ANY"), at(rules.DelegationType, "spec.delegations[0].records[0].types[0]")},
	{"no type", types("HOST"), at(rules.DelegationType, "spec.delegations[0].records[0].types[0]")},

	{"a name server that is an address", origin().NameServer("192.0.2.1").Obj(), at(rules.NameIsIP, "spec.nameServer")},
	{"a name server without its domain", origin().NameServer("ns1").Obj(), at(rules.TargetSingleLabel, "spec.nameServer")},
	{"a name server with an underscore", origin().NameServer("my_ns.example.net.").Obj(), at(rules.HostUnderscore, "spec.nameServer")},
	{"a contact without its domain", origin().Contact("hostmaster.").Obj(), at(rules.SOAContact, "spec.contact")},
	{"a name server with a wildcard", origin().NameServer("*.example.net.").Obj(), at(rules.NameWildcard, "spec.nameServer")},
	{"no mail address", origin().Contact("host master@example.org").Obj(), at(rules.SOAContact, "spec.contact")},
	{"half a mail address", origin().Contact("hostmaster@").Obj(), at(rules.SOAContact, "spec.contact")},
	{"a mailbox as the SOA has it", origin().Contact("hostmaster.example.org.").Obj(), nil},

	{"a name that is too long beside its namespace", builder.Zone(strings.Repeat("n", 31), strings.Repeat("z", 32)).DelegateAll().Obj(), at(rules.ZoneLabelLength, "metadata.name")},
	{"63 characters", builder.Zone(strings.Repeat("n", 31), strings.Repeat("z", 31)).DelegateAll().Obj(), nil},
	{"a name that is not generated yet", builder.Zone(strings.Repeat("n", 63), "").DelegateAll().Obj(), nil},

	{"all at once", builder.Zone(strings.Repeat("n", 63), "z").Domain("a b").ZoneRef("_", "_").NameServer("-").Contact("@").Delegation(zonev1alpha1.Delegation{
		Namespaces: []string{"_"}, Zones: []string{"_", "a b"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "#", Types: []string{"x"}}}}).Delegation(zonev1alpha1.Delegation{}).Obj(),
		[]found{{"zone-label-length", "metadata.name"}, {"name-character", domainName}, {"zone-ref-name", "spec.zoneRef.name"}, {"zone-ref-name", "spec.zoneRef.namespace"},
			{"delegation-namespace", "spec.delegations[0].namespaces[0]"}, {"delegation-pattern", "spec.delegations[0].zones[1]"},
			{"delegation-pattern", "spec.delegations[0].records[0].pattern"}, {"delegation-type", "spec.delegations[0].records[0].types[0]"},
			{"delegation-empty", "spec.delegations[1]"}, {"name-label-hyphen", "spec.nameServer"}, {"soa-contact", "spec.contact"}}},
}

func TestZone(t *testing.T) {
	for _, tt := range zoneTests {
		t.Run(tt.name, func(t *testing.T) { expect(t, validation.Zone(tt.zone), tt.want) })
	}
}

// zoneRecordTests say where in a Record a finding of each sort points. What rdata may be is tested where it is decided (internal/record).
var zoneRecordTests = []struct {
	name   string
	record *zonev1alpha1.Record
	want   []found
}{
	{"valid", host().Obj(), nil},
	{"a wildcard", host().Domain("*.Example.org.").Obj(), nil},
	{"relative", host().Domain("www").ZoneRef("example", "dns").Obj(), nil},
	{"at the zone's own name", host().Domain("@").ZoneRef("example", "").Obj(), nil},
	{"relative, a wildcard", host().Domain("*").ZoneRef("example", "").Obj(), nil},
	{"relative, digits", host().Domain("1").ZoneRef("reverse", "").Type("PTR").RData("www.example.org.").Obj(), nil},

	{"two dots in a row", host().Domain("www..example.org.").Obj(), at(rules.NameLabelEmpty, domainName)},
	{"a wildcard that is not leftmost", host().Domain("www.*.example.org.").Obj(), at(rules.NameWildcard, domainName)},
	{"relative, a space", host().Domain("w ww").ZoneRef("example", "").Obj(), at(rules.NameCharacter, domainName)},
	{"relative, and whole", host().Domain("www.").ZoneRef("example", "").Obj(), at(rules.NameAbsoluteSubdomain, domainName)},
	{"the name of no Zone", host().Domain("www").ZoneRef("Example", "d/ns").Obj(), []found{{"zone-ref-name", "spec.zoneRef.name"}, {"zone-ref-name", "spec.zoneRef.namespace"}}},

	{"the zone's own type", host().Type("SOA").RData("a. b. 1 2 3 4 5").Obj(), at(rules.RDataType, "spec.type")},
	{"lower case", host().Type("a").Obj(), at(rules.RDataType, "spec.type")},
	{"no address", host().RData("192.0.2.256").Obj(), at(rules.ValueIPv4, rdata)},
	{"two records", host().RData("192.0.2.1\n@ IN NS evil.example.").Obj(), at(rules.RDataSyntax, rdata)},
	{"a target without its dot", host().Type("CNAME").RData("web.example.net").Obj(), at(rules.RDataRelativeName, rdata)},
	{"a warning", host().RData("127.0.0.1").Obj(), at(rules.AddressSpecial, rdata)},
	{"ttl", host().TTL(-1).Obj(), at(rules.TTLRange, "spec.ttl")},
	{"a ttl of none", host().TTL(0).Obj(), nil},

	{"SRV at a host", host().Type("SRV").RData("0 0 443 web.example.net.").Obj(), at(rules.SRVOwner, domainName)},
	{"SRV at a service", host().Domain("_sip._tcp.example.org.").Type("SRV").RData("0 0 443 web.example.net.").Obj(), nil},
	{"SRV, relative: the zone has the rest", host().Domain("_sip").ZoneRef("tcp", "").Type("SRV").RData("0 0 443 web.example.net.").Obj(), nil},
	{"NS at a wildcard", host().Domain("*.example.org.").Type("NS").RData("ns.example.net.").Obj(), at(rules.NSWildcard, domainName)},
	{"NS at a relative wildcard", host().Domain("*").ZoneRef("example", "").Type("NS").RData("ns.example.net.").Obj(), at(rules.NSWildcard, domainName)},
	{"a host with an underscore", host().Domain("my_host.example.org.").Obj(), at(rules.HostUnderscore, domainName)},
	{"a relative host with an underscore", host().Domain("my_host").ZoneRef("example", "").Obj(), at(rules.HostUnderscore, domainName)},
	{"a text with an underscore", host().Domain("_dmarc.example.org.").Type("TXT").RData(`"v=DMARC1; p=none"`).Obj(), nil},
	{"a CNAME of itself", host().Type("CNAME").RData("WWW.example.ORG.").Obj(), at(rules.CNAMESelf, rdata)},
	{"a relative CNAME of what is spelt like itself", host().Domain("www").ZoneRef("example", "").Type("CNAME").RData("www.example.org.").Obj(), nil},
	{"a CNAME at the zone's own name", host().Domain("@").ZoneRef("example", "").Type("CNAME").RData("web.example.net.").Obj(), at(rules.CNAMEAtApex, domainName)},

	{"all at once", host().Domain("a..b").ZoneRef("_", "").Type("soa").TTL(-1).RData("x").Obj(), []found{{"name-label-empty", domainName}, {"zone-ref-name", "spec.zoneRef.name"},
		{"rdata-type", "spec.type"}, {"ttl-range", "spec.ttl"}}},
	{"all at once, with a type", host().Domain("a..b").ZoneRef("_", "").TTL(-1).RData("x").Obj(), []found{{"name-label-empty", domainName}, {"zone-ref-name", "spec.zoneRef.name"},
		{"ttl-range", "spec.ttl"}, {"value-ipv4", rdata}}},
}

func TestRecord(t *testing.T) {
	for _, tt := range zoneRecordTests {
		t.Run(tt.name, func(t *testing.T) { expect(t, validation.Record(tt.record), tt.want) })
	}
}

// picture is a model of objects, each of which was there before the next.
func picture(objects ...any) *zone.Model {
	source := zone.NewModel()
	for i, object := range objects {
		switch object := object.(type) {
		case *zonev1alpha1.Zone:
			z := zone.ZoneOf(object)
			z.Created = z.Created.AddDate(2000+i, 0, 0)
			source.SetZone(z)
		case *zonev1alpha1.Record:
			rec := zone.RecordOf(object)
			rec.Created = rec.Created.AddDate(2000+i, 0, 0)
			source.SetRecord(rec)
		}
	}
	return source
}

// apexNS is a zone with a name server, so that nothing warns of its absence.
func apexNS(z *zonev1alpha1.Zone) []any {
	return []any{z, builder.Record("dns", "apex-ns").Domain(z.Spec.DomainName).Type("NS").RData("ns.example.net.").Obj()}
}

func apexOf(name string) *zonev1alpha1.Record {
	return builder.Record("dns", "other-ns").Domain(name).Type("NS").RData("ns.example.net.").Obj()
}

// zoneReferenceTests break each rule about a Zone beside others.
var zoneReferenceTests = []struct {
	name      string
	there     []any
	zone, old *zonev1alpha1.Zone
	want      []found
}{
	{"alone", nil, origin().Obj(), nil, at(rules.ApexNSAbsent, domainName)},
	{"with a name server", []any{apexOf("example.org.")}, origin().Obj(), nil, nil},
	{"with a name server that it does not let in", []any{apexOf("example.org.")}, builder.Zone("dns", "example").Delegate(nil, "*").Obj(), nil, at(rules.ApexNSAbsent, domainName)},

	{"patterns with the zone's own name", []any{apexOf("example.org.")}, builder.Zone("dns", "example").DelegateZones(nil, "*.dev.Example.org").Delegate(nil, "example.org", "www.example.org", "myexample.org", "@").Obj(), nil,
		[]found{{"name-repeats-domain", "spec.delegations[0].zones[0]"}, {"name-repeats-domain", "spec.delegations[1].records[0].pattern"}, {"name-repeats-domain", "spec.delegations[1].records[1].pattern"}}},
	{"patterns of a zone whose name is not known", nil, builder.Zone("dns", "sub").Domain("dev").ZoneRef("none", "").Delegate(nil, "www.").Obj(), nil, at(rules.ZoneAbsent, "spec.zoneRef")},
	{"a sub-zone that repeats its parent's name", append(apexNS(origin().Obj()), apexOf("dev.example.org.example.org.")),
		builder.Zone("dns", "sub").Domain("dev.example.org").ZoneRef("example", "").DelegateAll().Obj(), nil, at(rules.NameRepeatsDomain, domainName)},

	{"the name is taken", apexNS(origin().Obj()), builder.Zone("tenant", "mine").DelegateAll().Domain("EXAMPLE.org.").Obj(), nil, at(rules.ZoneTaken, domainName)},
	{"a name beside it", append(apexNS(origin().Obj()), apexOf("example.net.")), builder.Zone("dns", "mine").DelegateAll().Domain("example.net.").Obj(), nil, nil},

	{"below a zone that does not delegate", []any{builder.Zone("dns", "example").Delegate(nil, "*").Obj()}, builder.Zone("tenant", "dev").Domain("dev.example.org.").Obj(), nil,
		at(rules.ZoneNotDelegated, domainName)},
	{"below a zone that delegates to another namespace", []any{builder.Zone("dns", "example").DelegateZones([]string{"other"}, "*").Obj()},
		builder.Zone("tenant", "dev").Domain("dev").ZoneRef("example", "dns").Obj(), nil, at(rules.ZoneNotDelegated, domainName)},
	{"delegated", []any{builder.Zone("dns", "example").DelegateZones([]string{"tenant"}, "*").Obj()}, builder.Zone("tenant", "dev").Domain("dev").ZoneRef("example", "dns").Obj(), nil,
		at(rules.ApexNSAbsent, domainName)},

	{"a sub-zone that would take what others publish", []any{origin().Obj(), host().Domain("www.dev.example.org.").Obj()}, builder.Zone("tenant", "dev").Domain("dev.example.org.").Obj(), nil,
		[]found{{"zone-takes-names", domainName}, {"apex-ns-absent", domainName}}},
	{"a sub-zone that drops what its own namespace publishes", []any{origin().Obj(), host().Domain("www.dev.example.org.").Obj()},
		builder.Zone("default", "dev").Domain("dev.example.org.").Delegate(nil, "web").Obj(), nil, []found{{"zone-drops-names", domainName}, {"apex-ns-absent", domainName}}},
	{"a sub-zone that lets in what others publish", []any{origin().Obj(), host().Domain("www.dev.example.org.").Obj()},
		builder.Zone("tenant", "dev").Domain("dev.example.org.").Delegate([]string{"default"}, "www").Obj(), nil, at(rules.ApexNSAbsent, domainName)},
	{"a sub-zone beside what others publish", []any{origin().Obj(), host().Domain("www.devel.example.org.").Obj()}, builder.Zone("tenant", "dev").Domain("dev.example.org.").Obj(), nil,
		at(rules.ApexNSAbsent, domainName)},

	{"a zoneRef to itself", nil, origin().Domain("dev").ZoneRef("example", "").Obj(), nil, at(rules.ZoneRefCycle, "spec.zoneRef")},
	{"a circle of two", []any{builder.Zone("tenant", "dev").Domain("dev").ZoneRef("example", "dns").Obj()}, origin().Domain("x").ZoneRef("dev", "tenant").Obj(), nil,
		at(rules.ZoneRefCycle, "spec.zoneRef")},
	{"a chain", []any{builder.Zone("tenant", "dev").Domain("dev").ZoneRef("example", "dns").Obj()}, origin().Obj(), nil, at(rules.ApexNSAbsent, domainName)},
	{"a zoneRef to nothing", nil, origin().Domain("dev").ZoneRef("example-org", "").Obj(), nil, at(rules.ZoneAbsent, "spec.zoneRef")},

	{"too long together", []any{origin().Domain(strings.Repeat("a.", 120) + "b.").Obj()}, builder.Zone("dns", "sub").Domain("abcdefghijklm").ZoneRef("example", "").Obj(), nil,
		at(rules.NameTooLong, domainName)},
	{"what is wrong with the object itself is not said again", apexNS(origin().Obj()), builder.Zone("dns", "sub").Domain("a..b").ZoneRef("example", "").Obj(), nil, nil},

	{"nor that it is the parent itself", apexNS(origin().Obj()), builder.Zone("dns", "sub").Domain("@").ZoneRef("example", "").Obj(), nil, nil},

	{"an update of something else", apexNS(origin().Obj()), builder.Zone("tenant", "mine").TTL(5).Obj(), builder.Zone("tenant", "mine").Obj(), nil},
	{"an update that changes nothing", apexNS(origin().Obj()), builder.Zone("tenant", "mine").Obj(), builder.Zone("tenant", "mine").Obj(), nil},
	{"an update that makes a circle, which the schema refuses too", nil, origin().Domain("dev").ZoneRef("example", "").Obj(), origin().Domain("dev").ZoneRef("other", "").Obj(),
		at(rules.ZoneRefCycle, "spec.zoneRef")},
}

func TestZoneReferences(t *testing.T) {
	for _, tt := range zoneReferenceTests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := validation.ZoneReferences(t.Context(), &world{zones: picture(tt.there...)}, tt.zone, tt.old)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got, tt.want)
		})
	}
}

// Records as they stand in example.org., most of them of another name than host().
func rr(name, domain, typ, data string) *builder.RecordBuilder {
	return builder.Record("default", name).Domain(domain).Type(typ).RData(data)
}

func alias(name, domain, target string) *builder.RecordBuilder {
	return rr(name, domain, "CNAME", target)
}

// text is a TXT record of so many bytes, in strings of 250, that differs from others by its number.
func text(number, size int) string {
	return fmt.Sprintf("\"%d\"", number) + strings.Repeat(` "`+strings.Repeat("x", 250)+`"`, size/250)
}

// texts are so many of them, at one name.
func texts(n, size int) []any {
	var out []any
	for i := range n {
		out = append(out, rr(fmt.Sprintf("text-%d", i), "text.example.org.", "TXT", text(i, size)).Obj())
	}
	return out
}

// recordsInZone are tested beside example.org., which lets in everything but what is below "closed", and what else is there.
var recordsInZone = []struct {
	name        string
	there       []any
	record, old *zonev1alpha1.Record
	want        []found
}{
	{"free", nil, host().Obj(), nil, nil},
	{"relative", nil, host().Domain("www").ZoneRef("example", "dns").Obj(), nil, nil},
	{"no zone", nil, host().Domain("www.example.net.").Obj(), nil, at(rules.ZoneAbsent, domainName)},
	{"a zoneRef to nothing", nil, host().Domain("www").ZoneRef("example-net", "dns").Obj(), nil, at(rules.ZoneAbsent, "spec.zoneRef")},
	{"too long together", nil, host().Domain(strings.Repeat("a.", 121)+"b").ZoneRef("example", "dns").Obj(), nil, at(rules.NameTooLong, domainName)},

	{"not delegated", []any{builder.Zone("dns", "net").Domain("example.net.").Delegate([]string{"other"}, "*").Obj()}, host().Domain("www.example.net.").Obj(), nil,
		at(rules.RecordNotDelegated, domainName)},
	{"not delegated by the zone that it names", []any{builder.Zone("dns", "net").Domain("example.net.").DelegateTypes(nil, "*", "TXT").Obj()}, host().Domain("www").ZoneRef("net", "dns").Obj(), nil,
		at(rules.RecordNotDelegated, domainName)},
	{"delegated", []any{builder.Zone("dns", "net").Domain("example.net.").DelegateTypes([]string{"default"}, "*", "A").Obj()}, host().Domain("www.example.net.").Obj(), nil, nil},

	{"the same name and type of another namespace", []any{builder.Record("tenant", "www").RData("192.0.2.9").Obj()}, host().Obj(), nil, at(rules.RRsetTaken, domainName)},
	{"another type of another namespace", []any{builder.Record("tenant", "www").Type("TXT").RData(`"x"`).Obj()}, host().Obj(), nil, nil},
	{"the same name and type of this namespace", []any{builder.Record("default", "www-2").RData("192.0.2.9").Obj()}, host().Obj(), nil, nil},
	{"the same rdata", []any{builder.Record("default", "www-2").Domain("WWW.example.org.").Obj()}, host().Obj(), nil, at(rules.RecordDuplicate, rdata)},
	{"its own rdata", []any{host().Obj()}, host().Obj(), nil, nil},
	{"another TTL", []any{builder.Record("default", "www-2").RData("192.0.2.9").TTL(60).Obj()}, host().TTL(61).Obj(), nil, at(rules.TTLDiffers, "spec.ttl")},
	{"the same TTL", []any{builder.Record("default", "www-2").RData("192.0.2.9").TTL(60).Obj()}, host().TTL(60).Obj(), nil, nil},
	{"a TTL beside none", []any{builder.Record("default", "www-2").RData("192.0.2.9").Obj()}, host().TTL(60).Obj(), nil, nil},

	{"a CNAME there", []any{alias("other", "www.example.org.", "web.example.net.").Obj()}, host().Obj(), nil, at(rules.CNAMEAlone, domainName)},
	{"a CNAME here", []any{rr("other", "www.example.org.", "TXT", `"x"`).Obj()}, alias("www", "www.example.org.", "web.example.net.").Obj(), nil, at(rules.CNAMEAlone, domainName)},
	{"a CNAME beside another", []any{alias("other", "www.example.org.", "web.example.net.").Obj()}, alias("www", "www.example.org.", "w.example.net.").Obj(), nil,
		at(rules.CNAMESingle, domainName)},
	{"a CNAME at the apex", nil, alias("www", "example.org.", "web.example.net.").Obj(), nil, at(rules.CNAMEAtApex, domainName)},
	{"a CNAME at the apex, which the object says itself", nil, alias("www", "@", "web.example.net.").ZoneRef("example", "dns").Obj(), nil, nil},
	{"a circle of CNAMEs", []any{alias("a", "a.example.org.", "b.example.org.").Obj(), alias("b", "b.example.org.", "c.example.org.").Obj()},
		alias("c", "c.example.org.", "a.example.org.").Obj(), nil, at(rules.CNAMELoop, rdata)},
	{"a relative CNAME of itself", nil, alias("c", "c", "c.example.org.").ZoneRef("example", "dns").Obj(), nil, at(rules.CNAMELoop, rdata)},
	{"a chain of CNAMEs", []any{alias("a", "a.example.org.", "b.example.org.").Obj(), alias("b", "b.example.org.", "c.example.org.").Obj()},
		alias("c", "c.example.org.", "a.example.net.").Obj(), nil, nil},

	{"below a delegation", []any{rr("ns", "sub.example.org.", "NS", "ns.sub.example.org.").Obj()}, host().Domain("www.sub.example.org.").Obj(), nil, at(rules.RecordOccluded, domainName)},
	{"glue below a delegation", []any{rr("ns", "sub.example.org.", "NS", "ns.sub.example.org.").Obj()}, host().Domain("ns.sub.example.org.").Obj(), nil, nil},
	{"a delegation above what is there", []any{host().Domain("www.sub.example.org.").Obj()}, rr("ns", "sub.example.org.", "NS", "ns.example.net.").Obj(), nil, at(rules.RecordOccluded, domainName)},

	{"more than a message holds", texts(4, 16_000), rr("more", "text.example.org.", "TXT", text(6, 16_000)).Obj(), nil, at(rules.RRsetTooLarge, rdata)},
	{"as much as a message holds", texts(3, 16_000), rr("more", "text.example.org.", "TXT", text(4, 16_000)).Obj(), nil, nil},
	{"a second DNAME", []any{rr("moved", "moved.example.org.", "DNAME", "example.net.").Obj()}, rr("again", "moved.example.org.", "DNAME", "example.com.").Obj(), nil, at(rules.DNAMESingle, domainName)},
	{"a mail server beside a null MX", []any{rr("none", "example.org.", "MX", "0 .").Obj()}, rr("mail", "example.org.", "MX", "10 mail.example.net.").Obj(), nil, at(rules.MXNullAlone, rdata)},
	{"a null MX beside a mail server", []any{rr("mail", "example.org.", "MX", "10 mail.example.net.").Obj()}, rr("none", "example.org.", "MX", "0 .").Obj(), nil, at(rules.MXNullAlone, rdata)},
	{"a null MX with another preference", []any{rr("none", "example.org.", "MX", "0 .").Obj()}, rr("again", "example.org.", "MX", "1 .").Obj(), nil, at(rules.MXNullAlone, rdata)},
	{"two mail servers", []any{rr("mail", "example.org.", "MX", "10 mail.example.net.").Obj()}, rr("second", "example.org.", "MX", "20 mail.example.net.").Obj(), nil, nil},
	{"a service beside none", []any{rr("none", "_sip._tcp.example.org.", "SRV", "0 0 0 .").Obj()}, rr("sip", "_sip._tcp.example.org.", "SRV", "0 0 5060 sip.example.net.").Obj(), nil,
		at(rules.SRVNullAlone, rdata)},
	{"none beside a service", []any{rr("sip", "_sip._tcp.example.org.", "SRV", "0 0 5060 sip.example.net.").Obj()}, rr("none", "_sip._tcp.example.org.", "SRV", "0 0 0 .").Obj(), nil,
		at(rules.SRVNullAlone, rdata)},
	{"two services", []any{rr("sip", "_sip._tcp.example.org.", "SRV", "0 0 5060 sip.example.net.").Obj()}, rr("second", "_sip._tcp.example.org.", "SRV", "1 0 5060 sip.example.net.").Obj(), nil, nil},
	{"an update of a null MX that is alone", []any{rr("none", "example.org.", "MX", "0 .").Obj()}, rr("none", "example.org.", "MX", "10 mail.example.net.").Obj(),
		rr("none", "example.org.", "MX", "0 .").Obj(), nil},
	{"a second SPF text", []any{rr("spf", "example.org.", "TXT", `"v=SPF1" " mx -all"`).Obj()}, rr("second", "example.org.", "TXT", `"v=spf1 -all"`).Obj(), nil, at(rules.TXTSPFMultiple, rdata)},
	{"another text beside an SPF text", []any{rr("spf", "example.org.", "TXT", `"v=spf1 mx -all"`).Obj()}, rr("second", "example.org.", "TXT", `"v=spf10 -all"`).Obj(), nil, nil},
	{"an SPF text beside another text", []any{rr("text", "example.org.", "TXT", `"v=spf10"`).Obj()}, rr("spf", "example.org.", "TXT", `"v=spf1 -all"`).Obj(), nil, nil},
	{"an SPF text that changes", []any{rr("spf", "example.org.", "TXT", `"v=spf1 mx -all"`).Obj()}, rr("spf", "example.org.", "TXT", `"v=spf1 -all"`).Obj(),
		rr("spf", "example.org.", "TXT", `"v=spf1 mx -all"`).Obj(), nil},
	{"a relative name that repeats its zone's", nil, rr("www", "www.Example.org", "A", "192.0.2.1").ZoneRef("example", "dns").Obj(), nil, at(rules.NameRepeatsDomain, domainName)},
	{"a relative name that is its zone's", nil, rr("www", "example.org", "A", "192.0.2.1").ZoneRef("example", "dns").Obj(), nil, at(rules.NameRepeatsDomain, domainName)},
	{"a relative name that ends like its zone's", nil, rr("www", "myexample.org", "A", "192.0.2.1").ZoneRef("example", "dns").Obj(), nil, nil},
	{"a relative name that repeats its zone's and is updated", nil, rr("www", "www.example.org", "A", "192.0.2.1").ZoneRef("example", "dns").Obj(),
		rr("www", "www.example.org", "A", "192.0.2.2").ZoneRef("example", "dns").Obj(), nil},
	{"a CNAME of itself is not said to lead back, too", nil, alias("www", "www.example.org.", "www.example.org.").Obj(), nil, nil},

	{"a target that is not there", nil, alias("www", "www.example.org.", "web.example.org.").Obj(), nil, at(rules.TargetAbsent, rdata)},
	{"a target that is there", []any{rr("web", "web.example.org.", "A", "192.0.2.1").Obj()}, alias("www", "www.example.org.", "web.example.org.").Obj(), nil, nil},
	{"a target elsewhere", nil, alias("www", "www.example.org.", "web.example.net.").Obj(), nil, nil},
	{"a mail host that is an alias", []any{alias("mx", "mx.example.org.", "mail.example.net.").Obj()}, rr("mail", "example.org.", "MX", "10 mx.example.org.").Obj(), nil,
		at(rules.TargetAlias, rdata)},
	{"a mail host", []any{rr("mx", "mx.example.org.", "A", "192.0.2.1").Obj()}, rr("mail", "example.org.", "MX", "10 mx.example.org.").Obj(), nil, nil},
	{"a delegation without glue", nil, rr("ns", "sub.example.org.", "NS", "ns.sub.example.org.").Obj(), nil, at(rules.GlueAbsent, rdata)},
	{"a delegation with glue", []any{rr("glue", "ns.sub.example.org.", "A", "192.0.2.1").Obj()}, rr("ns", "sub.example.org.", "NS", "ns.sub.example.org.").Obj(), nil, nil},

	{"SRV that is no service in its zone", nil, rr("srv", "sip", "SRV", "0 0 1 web.example.net.").ZoneRef("example", "dns").Obj(), nil, at(rules.SRVOwner, domainName)},
	{"SRV that is a service in its zone", nil, rr("srv", "_sip._tcp", "SRV", "0 0 1 web.example.net.").ZoneRef("example", "dns").Obj(), nil, nil},
	{"SRV of an unknown zone", nil, rr("srv", "sip", "SRV", "0 0 1 web.example.net.").ZoneRef("unknown", "dns").Obj(), nil, at(rules.ZoneAbsent, "spec.zoneRef")},

	{"what is wrong with the object itself is not said again", nil, host().Domain("a..b.").Obj(), nil, nil},

	{"an update that brings a duplicate", []any{host().Obj(), builder.Record("default", "www-2").RData("192.0.2.9").Obj()}, host().RData("192.0.2.9").Obj(), host().Obj(),
		at(rules.RecordDuplicate, rdata)},
	{"an update that brings another TTL", []any{host().TTL(60).Obj(), builder.Record("default", "www-2").RData("192.0.2.9").TTL(60).Obj()}, host().TTL(61).Obj(), host().TTL(60).Obj(),
		at(rules.TTLDiffers, "spec.ttl")},
	{"an update that closes a circle", []any{alias("a", "a.example.org.", "b.example.org.").Obj(), alias("b", "b.example.org.", "x.example.net.").Obj()},
		alias("b", "b.example.org.", "a.example.org.").Obj(), alias("b", "b.example.org.", "x.example.net.").Obj(), at(rules.CNAMELoop, rdata)},
	{"an update of one that is not adopted is not judged for that again", []any{builder.Zone("dns", "net").Domain("example.net.").Delegate([]string{"other"}, "*").Obj()},
		host().Domain("www.example.net.").RData("192.0.2.9").Obj(), host().Domain("www.example.net.").Obj(), nil},
	{"an update of one that lost its name", []any{builder.Record("tenant", "www").RData("192.0.2.9").Obj()}, host().TTL(7).Obj(), host().Obj(), nil},
	{"an update that changes nothing", []any{builder.Record("default", "www-2").Obj()}, host().Label("a", "b").Obj(), host().Obj(), nil},
	{"an update back to what contradicts nothing", []any{builder.Record("default", "www-2").Obj()}, host().RData("192.0.2.3").Obj(), host().Obj(), nil},
}

// testZoneRules marks what the tables of this file break.
func testZoneRules() {
	for _, tt := range zoneTests {
		testRules(tt.want)
	}
	for _, tt := range zoneRecordTests {
		testRules(tt.want)
	}
	for _, tt := range zoneReferenceTests {
		testRules(tt.want)
	}
	for _, tt := range recordsInZone {
		testRules(tt.want)
	}
	for _, tt := range labelTests {
		testRules(tt.want)
	}
}

func TestRecordReferences(t *testing.T) {
	for _, tt := range recordsInZone {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{zones: picture(slices.Concat([]any{origin().Obj()}, tt.there)...)}
			got, err := validation.RecordReferences(t.Context(), w, tt.record, tt.old)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got, tt.want)
		})
	}
}

// The usual path asks once, an update of nothing not at all, and the old state is asked about only where something is found.
func TestHowOftenZonesAreAsked(t *testing.T) {
	there := func() *world {
		return &world{zones: picture(origin().Obj(), builder.Record("default", "www-2").RData("192.0.2.9").Obj())}
	}
	tests := []struct {
		name        string
		record, old *zonev1alpha1.Record
		want        map[string]int
	}{
		{"create", host().Obj(), nil, map[string]int{"record": 1}},
		{"create, refused", host().RData("192.0.2.9").Obj(), nil, map[string]int{"record": 1}},
		{"update", host().RData("192.0.2.7").Obj(), host().Obj(), map[string]int{"record": 1}},
		{"update, refused", host().RData("192.0.2.9").Obj(), host().Obj(), map[string]int{"record": 2}},
		{"update of a label", host().Label("a", "b").Obj(), host().Obj(), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := there()
			if _, err := validation.RecordReferences(t.Context(), w, tt.record, tt.old); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, w.asked); diff != "" {
				t.Errorf("look-ups (-want +got)\n%s", diff)
			}
		})
	}
}

func TestZoneReferencesFail(t *testing.T) {
	w := &world{fails: "zone"}
	if got, err := validation.ZoneReferences(t.Context(), w, origin().Obj(), nil); !errors.Is(err, errLookup) || len(got) > 0 {
		t.Errorf("%v, %v; want the error and no finding", got, err)
	}
	w = &world{fails: "record"}
	if got, err := validation.RecordReferences(t.Context(), w, host().Obj(), nil); !errors.Is(err, errLookup) || len(got) > 0 {
		t.Errorf("%v, %v; want the error and no finding", got, err)
	}
}

// A denial says which suffix is not delegated or that a name is taken, and nothing about who has it.
func TestZoneDenialsNameNobody(t *testing.T) {
	secret := builder.Zone("tenant-b", "project-x").Delegate([]string{"tenant-c"}, "*").DelegateZones([]string{"tenant-c"}, "*")
	taken := builder.Record("tenant-b", "project-y").RData("192.0.2.77").TTL(77)
	zones := map[*zonev1alpha1.Zone]string{
		builder.Zone("mine", "a").Obj():                            "example.org.",
		builder.Zone("mine", "a").Domain("dev.example.org.").Obj(): "example.org.",
	}
	for z, want := range zones {
		got, err := validation.ZoneReferences(t.Context(), &world{zones: picture(secret.Obj())}, z, nil)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		namesNobody(t, got[0].Error(), want)
	}
	published := &world{zones: picture(origin().Obj(), builder.Record("tenant-b", "project-y").Domain("project-x.dev.example.org.").Obj())}
	if got, err := validation.ZoneReferences(t.Context(), published, builder.Zone("mine", "dev").Domain("dev.example.org.").Obj(), nil); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	} else {
		namesNobody(t, got[0].Error(), "dev.example.org.")
	}
	records := []*zonev1alpha1.Record{
		builder.Record("mine", "a").Obj(),
		builder.Record("mine", "a").RData("192.0.2.77").TTL(5).Obj(),
		builder.Record("mine", "a").Type("CNAME").RData("x.example.net.").Obj(),
		builder.Record("mine", "a").Domain("a.www.example.org.").Type("TXT").RData(`"x"`).Obj(),
		builder.Record("mine", "a").Domain("b.www.example.org.").Obj(),
		builder.Record("mine", "a").Domain("www").ZoneRef("project-z", "tenant-b").Obj(),
	}
	closed := picture(secret.Obj())
	hiding := picture(origin().Obj(), builder.Record("tenant-b", "project-y").Type("NS").RData("ns.example.net.").Obj())
	open := picture(origin().Obj(), taken.Obj())
	for _, zones := range []*zone.Model{closed, hiding, open} {
		for _, rec := range records {
			got, err := validation.RecordReferences(t.Context(), &world{zones: zones}, rec, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range got {
				namesNobody(t, f.Error(), "")
			}
		}
	}
}

func namesNobody(t *testing.T, text, want string) {
	t.Helper()
	for _, secret := range []string{"tenant-b", "tenant-c", "project-x", "project-y", "192.0.2.77"} {
		if strings.Contains(text, secret) {
			t.Errorf("says %s: %s", secret, text)
		}
	}
	if !strings.Contains(text, want) {
		t.Errorf("does not say %s: %s", want, text)
	}
}

// What is not known denies nothing.
func TestUnknownZonesNeverDeny(t *testing.T) {
	for _, rec := range []*zonev1alpha1.Record{host().Obj(), host().Domain("www").ZoneRef("unknown", "").Obj(), alias("a", "www.example.org.", "b.example.org.").Obj()} {
		got, err := validation.RecordReferences(t.Context(), refs.NewManifests(), rec, nil)
		if err != nil || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, z := range []*zonev1alpha1.Zone{origin().Obj(), origin().Domain("dev").ZoneRef("unknown", "").Obj()} {
		got, err := validation.ZoneReferences(t.Context(), refs.NewManifests(), z, nil)
		if err != nil || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// labelTests are about the label that the controller writes.
var labelTests = []struct {
	name        string
	now, before string // "-": no label
	create      bool
	want        []found
}{
	{"create", "-", "", true, nil},
	{"create with it", "zone.dns", "", true, at(rules.ParentLabelIgnored, parentLabel)},
	{"kept", "zone.dns", "zone.dns", false, nil},
	{"never there", "-", "-", false, nil},
	{"changed", "other.dns", "zone.dns", false, at(rules.ParentLabelChanged, parentLabel)},
	{"added", "other.dns", "-", false, at(rules.ParentLabelChanged, parentLabel)},
	{"added, empty", "", "-", false, at(rules.ParentLabelChanged, parentLabel)},
	{"taken away", "-", "zone.dns", false, at(rules.ParentLabelChanged, parentLabel)},
}

const parentLabel = "metadata.labels[kubi.zone/parent-zone]"

func TestParentLabel(t *testing.T) {
	with := func(label string) *zonev1alpha1.Record {
		if label == "-" {
			return host().Label("other", "x").Obj()
		}
		return host().Label(zonev1alpha1.ParentZoneLabel, label).Obj()
	}
	for _, tt := range labelTests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.create {
				expect(t, validation.ParentLabel(with(tt.now), nil), tt.want)
				return
			}
			expect(t, validation.ParentLabel(with(tt.now), with(tt.before)), tt.want)
		})
	}
}

// Whatever length a text has, what people see of it is short and on one line.
func TestHugeTextsAreClipped(t *testing.T) {
	huge := strings.Repeat("\n\"é$", 1<<18)
	z := builder.Zone("dns", "z").Domain(huge).ZoneRef(huge, huge).NameServer(huge).Contact(huge).Delegation(zonev1alpha1.Delegation{Namespaces: []string{huge}, Zones: []string{huge},
		Records: []zonev1alpha1.RecordDelegation{{Pattern: huge, Types: []string{huge}}}}).Obj()
	rec := builder.Record("dns", "r").Domain(huge).ZoneRef(huge, huge).Type(huge).RData(huge).Obj()
	text := builder.Record("dns", "r").Type("TXT").RData(huge).Label(zonev1alpha1.ParentZoneLabel, huge).Obj()
	findings := slices.Concat(validation.Zone(z), validation.Record(rec), validation.Record(text), validation.ParentLabel(text, nil), validation.ParentLabel(text, rec))
	deny, warn := rules.Policy{}.Split(findings)
	if len(deny) < 14 {
		t.Errorf("only %d denials", len(deny))
	}
	for _, f := range append(deny, warn...) {
		if message := f.Error(); len(message) > 1000 || strings.Contains(message, "\n") {
			t.Errorf("%.2000q", message)
		}
	}
}
