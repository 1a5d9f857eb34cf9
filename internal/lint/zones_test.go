package lint_test

import (
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

// zone and rr are objects of the second front door in one line each: what follows is the rest of their spec, in braces.
func zone(name, spec string) string {
	return "---\napiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

func rr(name, spec string) string {
	return "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

const (
	all  = `delegations: [{zones: ["*"], records: [{pattern: "*"}, {pattern: "@"}]}]`
	org  = "domainName: example.org., " + all
	wwwA = "domainName: www.example.org., type: A, rdata: 192.0.2.1"
)

// TestZonesTogether holds what Zones and Records say about one another within one input.
func TestZonesTogether(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"good", zone("org", org) + rr("www", wwwA), nil},
		{"a record without its zone: it may be in the cluster", rr("www", wwwA) + rr("rel", "domainName: www, zoneRef: {name: org}, type: A, rdata: 192.0.2.1"), nil},
		{"a sub-zone without its parent", zone("dev", "domainName: dev, zoneRef: {name: org}, "+all), nil},
		{"not delegated, though the zone comes last", rr("www", wwwA) + zone("org", "domainName: example.org., delegations: [{records: [{pattern: api}]}]"),
			[]string{"5 Deny Record default/www spec.domainName record-not-delegated"}},
		{"not delegated to this namespace", zone("org", "domainName: example.org., delegations: [{namespaces: [other], records: [{pattern: \"*\"}]}]") + rr("www", wwwA),
			[]string{"10 Deny Record default/www spec.domainName record-not-delegated"}},
		{"one that is refused for what a record of it is", zone("org", org) + rr("www", wwwA) + rr("again", wwwA), []string{"15 Deny Record default/again spec.rdata record-duplicate"}},
		{"the first of two zones keeps the name", zone("z", org) + zone("a", "domainName: EXAMPLE.org., "+all) + rr("www", wwwA),
			[]string{"10 Deny Zone default/a spec.domainName zone-taken"}},
		{"three zones of one name", zone("c", org) + zone("b", org) + zone("a", org),
			[]string{"10 Deny Zone default/b spec.domainName zone-taken", "15 Deny Zone default/a spec.domainName zone-taken"}},
		{"names in relative zones, in any order", rr("www", "domainName: www, zoneRef: {name: b}, type: A, rdata: 192.0.2.1") + zone("b", "domainName: b, zoneRef: {name: a}, "+all) +
			zone("a", "domainName: a, zoneRef: {name: org}, "+all) + zone("org", org) + zone("other", "domainName: b.a.example.org., "+all),
			[]string{"25 Deny Zone default/other spec.domainName zone-taken"}},
		{"a sub-zone above its parent is not delegated", zone("dev", "domainName: dev, zoneRef: {name: org}") + zone("org", "domainName: example.org."), []string{
			"5 Warn Zone default/dev spec.delegations delegation-empty", "5 Deny Zone default/dev spec.domainName zone-not-delegated", "10 Warn Zone default/org spec.delegations delegation-empty"}},
		{"a circle of zoneRefs: the last one closes it", zone("a", "domainName: a, zoneRef: {name: b}, "+all) + zone("b", "domainName: b, zoneRef: {name: a}, "+all),
			[]string{"10 Deny Zone default/b spec.zoneRef zone-ref-cycle"}},
		{"a zone that is its own parent", zone("a", "domainName: a, zoneRef: {name: a}, "+all), []string{"5 Deny Zone default/a spec.zoneRef zone-ref-cycle"}},
		{"what is wrong with a delegation is no finding of the records", zone("org", "domainName: example.org., delegations: [{records: [{pattern: www.}]}]") + rr("www", wwwA),
			[]string{"5 Deny Zone default/org spec.delegations[0].records[0].pattern delegation-pattern"}},
		{"a zone that is refused by its schema keeps its name", zone("org", "domainName: example.org., ttl: -1, "+all) + zone("again", org),
			[]string{"5 Deny Zone default/org spec.ttl schema-value", "10 Deny Zone default/again spec.domainName zone-taken"}},
		{"a CNAME beside other data", zone("org", org) + rr("www", wwwA) + rr("alias", "domainName: www.example.org., type: CNAME, rdata: a.example.net."),
			[]string{"15 Deny Record default/alias spec.domainName cname-alone"}},
		{"the same zone twice", zone("org", org) + zone("org", "domainName: example.net., "+all) + rr("www", wwwA) + rr("again", wwwA),
			[]string{"9 Deny Zone default/org metadata.name manifest-duplicate", "20 Deny Record default/again spec.rdata record-duplicate"}},
		{"the same record twice", zone("org", org) + rr("www", wwwA) + rr("www", "domainName: b.example.org., type: A, rdata: 192.0.2.1") + rr("again", wwwA),
			[]string{"14 Deny Record default/www metadata.name manifest-duplicate", "20 Deny Record default/again spec.rdata record-duplicate"}},
		{"a zone that is refused for those above it takes no name", zone("org", "domainName: example.org., delegations: [{namespaces: [dns], zones: [lab]}]") +
			zone("lab", "domainName: lab.example.org., "+all) + strings.Replace(zone("lab", "domainName: lab.example.org., "+all), "name: lab", "namespace: dns, name: lab", 1),
			[]string{"10 Deny Zone default/lab spec.domainName zone-not-delegated"}},
		{"what is below a zone that is refused is not refused for it", zone("org", "domainName: example.org., delegations: [{zones: [dev]}]") +
			zone("lab", "domainName: lab, zoneRef: {name: org}, "+all) + zone("deep", "domainName: deep, zoneRef: {name: lab}, "+all) +
			rr("www", "domainName: www, zoneRef: {name: lab}, type: A, rdata: 192.0.2.1"), []string{"10 Deny Zone default/lab spec.domainName zone-not-delegated"}},
		{"a record that is refused for those before it takes no name", zone("org", org) + rr("a", wwwA+", ttl: 60") + rr("b", wwwA+", ttl: 61") +
			rr("c", "domainName: www.example.org., type: A, rdata: 192.0.2.2, ttl: 60"), []string{"15 Deny Record default/b spec.rdata record-duplicate"}},
		{"generated names are names of their own", zone("org", org) + "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {generateName: x-}\nspec: {" + wwwA + "}\n" +
			"---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {generateName: x-}\nspec: {" + wwwA + "}\n", []string{"15 Deny Record default/x- spec.rdata record-duplicate"}},
		{"the controller's label", zone("org", org) + "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata:\n" +
			"  name: www\n  labels:\n    a: b\n    kubi.zone/parent-zone: a.b\nspec: {" + wwwA + "}\n", []string{
			"13 Warn Record default/www metadata.labels[kubi.zone/parent-zone] parent-label-ignored"}},
		{"namespaces", zone("org", org) + rr("www", wwwA) + "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: www, namespace: other}\nspec: {" +
			"domainName: www.example.org., type: A, rdata: 192.0.2.2}\n", []string{"15 Deny Record other/www spec.domainName rrset-taken"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expect(t, run(t, tt.text, lint.Options{}), tt.want...) })
	}
}

// TestTakingNames holds what is said of a sub-zone and what its parent publishes there: the one that comes second is refused, as kubectl
// would be.
func TestTakingNames(t *testing.T) {
	in := func(namespace, object string) string {
		return strings.Replace(object, "{name", "{namespace: "+namespace+", name", 1)
	}
	parent, lab := in("dns", zone("org", org)), in("b", zone("lab", "domainName: lab.example.org., delegations: [{namespaces: [b], records: [{pattern: \"*\"}]}]"))
	name := func(namespace, name string) string {
		return in(namespace, rr("www", "domainName: "+name+".example.org., type: A, rdata: 192.0.2.1"))
	}
	off, _ := rules.ParsePolicy("zone-takes-names=Off")
	tests := []struct {
		name, text string
		policy     rules.Policy
		want       []string
	}{
		{"the record is first", parent + name("a", "www.lab") + lab, rules.Policy{}, []string{"15 Deny Zone b/lab spec.domainName zone-takes-names"}},
		{"the sub-zone is first", parent + lab + name("a", "www.lab"), rules.Policy{}, []string{"15 Deny Record a/www spec.domainName record-not-delegated"}},
		{"of its own namespace", parent + in("b", rr("own", "domainName: lab.example.org., type: A, rdata: 192.0.2.1")) + lab, rules.Policy{}, []string{
			"10 Deny Record b/own spec.domainName record-not-delegated", "15 Warn Zone b/lab spec.domainName zone-drops-names"}},
		{"it lets the name in", parent + name("b", "www.lab") + lab, rules.Policy{}, nil},
		{"another name", parent + name("a", "www") + lab, rules.Policy{}, nil},
		{"the record is not published itself", parent + strings.Replace(name("a", "www.lab"), "192.0.2.1", "x", 1) + lab, rules.Policy{}, []string{
			"10 Deny Record a/www spec.rdata value-ipv4", "10 Deny Record a/www spec.domainName record-not-delegated"}},
		{"the parent comes last: nobody knows yet", name("a", "www.lab") + lab + parent, rules.Policy{}, []string{"5 Deny Record a/www spec.domainName record-not-delegated"}},
		{"a sub-zone that is refused for itself, too", parent + name("a", "www.lab") + strings.Replace(lab, "pattern: \"*\"", "pattern: \"a.\"", 1), rules.Policy{}, []string{
			"15 Deny Zone b/lab spec.delegations[0].records[0].pattern delegation-pattern", "15 Deny Zone b/lab spec.domainName zone-takes-names"}},
		{"a sub-zone of the parent", parent + in("a", zone("deep", "domainName: deep.lab.example.org., "+all)) + lab, rules.Policy{}, []string{
			"15 Deny Zone b/lab spec.domainName zone-takes-names"}},
		{"switched off", parent + name("a", "www.lab") + lab, off, []string{"10 Deny Record a/www spec.domainName record-not-delegated"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expect(t, run(t, tt.text, lint.Options{Policy: tt.policy}), tt.want...) })
	}
}

// TestZoneSchema holds that the schema's defaults are there when its CEL rules are asked, and what the schema says of the new kinds.
func TestZoneSchema(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"CEL: the defaults are enough", zone("org", org), nil},
		{"CEL: a retry beside the default refresh", zone("org", org+", retry: 86400"), []string{"5 Deny Zone default/org spec soa-retry"}},
		{"CEL: a refresh beside the default retry", zone("org", org+", refresh: 7200"), []string{"5 Deny Zone default/org spec soa-retry"}},
		{"CEL: an expire beside both defaults", zone("org", org+", expire: 93600"), []string{"5 Deny Zone default/org spec soa-expire"}},
		{"CEL: one second more", zone("org", org+", expire: 93601"), nil},
		{"CEL: null is the default", zone("org", org+", expire: null"), nil},
		{"CEL: neither whole nor relative", zone("org", "domainName: example.org, "+all), []string{"5 Deny Zone default/org spec zone-ref-or-fqdn"}},
		{"CEL: both", rr("www", wwwA+", zoneRef: {name: org}"), []string{"5 Deny Record default/www spec zone-ref-or-fqdn",
			"5 Deny Record default/www spec.domainName name-absolute-subdomain"}},
		{"another class", rr("www", wwwA+", class: CH"), []string{"5 Deny Record default/www spec.class schema-value"}},
		{"no rdata", rr("www", "domainName: www.example.org., type: A"), []string{"5 Deny Record default/www spec.rdata schema-required"}},
		{"rdata that is a number", rr("www", "domainName: www.example.org., type: TXT, rdata: 1"), []string{"5 Deny Record default/www spec.rdata schema-type"}},
		{"a slice is held to its schema only", "apiVersion: kubi.zone/v1alpha1\nkind: ZoneSlice\nmetadata: {name: x}\nzone: org\nshard: a\ndigest: d\n",
			[]string{"1 Deny ZoneSlice default/x entries schema-required"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expect(t, run(t, tt.text, lint.Options{}), tt.want...) })
	}
}

// With a rule that only warns, the object is there for those that follow.
func TestZonePolicy(t *testing.T) {
	policy, err := rules.ParsePolicy("rrset-taken=Warn")
	if err != nil {
		t.Fatal(err)
	}
	text := zone("org", org) + rr("a", wwwA) + "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: b, namespace: other}\nspec: {" +
		"domainName: www.example.org., type: A, rdata: 192.0.2.2}\n"
	expect(t, run(t, text, lint.Options{Policy: policy}), "15 Warn Record other/b spec.domainName rrset-taken")
}
