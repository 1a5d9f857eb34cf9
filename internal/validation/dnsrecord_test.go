package validation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
	"github.com/namegate/namegate/test/builder"
)

// record begins a valid record: www.example.com, A, 192.0.2.1.
func record() *builder.DNSRecordBuilder { return builder.DNSRecord("default", "a") }

// recordTests say where in a DNSRecord a finding of each sort points. What the rules of names and values accept is tested where
// they are decided (internal/record, internal/dnsname).
var recordTests = []struct {
	name   string
	record *dnsv1alpha1.DNSRecord
	want   []found
}{
	{"valid", record().Obj(), nil},
	{"valid, the TTL left to the class", record().Obj(), nil},
	{"valid MX", record().Type("MX").Values("mx.example.com").MX(0).Obj(), nil},
	{"valid SRV", record().Type("SRV").Subdomain("_sip._tcp").Values("sip.example.com").SRV(0, 0, 65535).Obj(), nil},

	{"type", record().Type("PTR").Obj(), at(rules.RecordType, "spec.type")},
	{"domain", record().Domain("exa mple.com").Obj(), at(rules.NameCharacter, "spec.domain")},
	{"subdomain", record().Subdomain("a..b").Obj(), at(rules.NameLabelEmpty, "spec.subdomain")},
	{"domain and subdomain together", record().Domain(strings.Repeat("a.", 126) + "a").Subdomain("b").Obj(), at(rules.NameTooLong, "spec.subdomain")},
	{"ttl", record().TTL(-1).Obj(), at(rules.TTLRange, "spec.ttl")},
	{"no values", record().Values().Obj(), at(rules.ValuesRequired, "spec.values")},
	{"one of the values", record().Values("192.0.2.1", "192.0.2").Obj(), at(rules.ValueIPv4, "spec.values[1]")},
	{"a value twice", record().Values("192.0.2.1", "192.0.2.1").Obj(), at(rules.ValueDuplicate, "spec.values[1]")},
	{"all values", record().Type("CNAME").Values("a.example.com", "b.example.com").Obj(), at(rules.CNAMESingle, "spec.values")},
	{"missing metadata", record().Type("MX").Values("mx.example.com").Obj(), at(rules.MXPriority, "spec.metadata.priority")},
	{"metadata out of range", record().Type("MX").Values("mx.example.com").MX(70000).Obj(), at(rules.MXPriority, "spec.metadata.priority")},
	{"metadata below the range", record().Type("SRV").Subdomain("_sip._tcp").Values("sip.example.com").SRV(0, -1, 1).Obj(), at(rules.SRVMetadata, "spec.metadata.weight")},
	{"metadata without a use", record().MX(10).Obj(), at(rules.MetadataUnused, "spec.metadata")},

	{"the name of no class", record().Class("A_b").Obj(), at(rules.DNSClassName, "spec.dnsClassRef.name")},
	{"no class", record().Class("").Obj(), at(rules.DNSClassName, "spec.dnsClassRef.name")},
	{"a class with dots in its name", record().Class("a.b-c").Obj(), nil},

	{"all at once", record().Class("").Type("MX").Domain("").Subdomain("-").Values("192.0.2.1").TTL(-1).Obj(), []found{
		{"name-empty", "spec.domain"}, {"name-label-hyphen", "spec.subdomain"}, {"ttl-range", "spec.ttl"}, {"mx-priority", "spec.metadata.priority"},
		{"name-is-ip", "spec.values[0]"}, {"dnsclass-name", "spec.dnsClassRef.name"}}},
}

func TestDNSRecord(t *testing.T) {
	for _, tt := range recordTests {
		t.Run(tt.name, func(t *testing.T) { expect(t, validation.DNSRecord(tt.record), tt.want) })
	}
}

// Numbers arrive as they were written, not cut to 16 bits.
func TestMetadataIsNotCut(t *testing.T) {
	rec := record().Type("MX").Values("mx.example.com").Obj()
	rec.Spec.Metadata = &dnsv1alpha1.RecordMetadata{Priority: ptr.To[int32](1 << 16)}
	expect(t, validation.DNSRecord(rec), at(rules.MXPriority, "spec.metadata.priority"))
}

// rival is another object's claim of the name of record().
func rival(recordType dnsv1alpha1.RecordType) []claims.Claim {
	return claims.OfDNSRecord(builder.DNSRecord("tenant-b", "project-x").Type(recordType).Obj(), https)
}

const className, name = "spec.dnsClassRef.name", "spec.subdomain"

// recordReferenceTests break each rule about what a DNSRecord refers to.
var recordReferenceTests = []struct {
	name        string
	world       world
	record, old *dnsv1alpha1.DNSRecord
	want        []found
	asked       map[string]int
}{
	{"the class is not known, and nothing is of the name", world{}, record().Obj(), nil, nil, classAndName},
	{"a free name", world{class: class().Obj(), classState: refs.Found}, record().Obj(), nil, nil, classAndName},
	{"no class", world{classState: refs.Absent}, record().Obj(), nil, at(rules.DNSClassExists, className), classOnly},
	{"a class that is being deleted", world{class: class().Deleting().Obj(), classState: refs.Found}, record().Obj(), nil, at(rules.DNSClassExists, className), classOnly},
	{"the name of no class", world{classState: refs.Absent}, record().Class("A_b").Obj(), nil, nil, nil},

	{"the same type", world{class: class().Obj(), classState: refs.Found, rivals: rival("A")}, record().Obj(), nil, at(rules.NameTaken, name), classAndName},
	{"a CNAME there", world{class: class().Obj(), classState: refs.Found, rivals: rival("CNAME")}, record().Obj(), nil, at(rules.CNAMEAlone, name), classAndName},
	{"a CNAME here", world{class: class().Obj(), classState: refs.Found, rivals: rival("A")}, record().Type("CNAME").Values("a.example.com").Obj(), nil,
		at(rules.CNAMEAlone, name), classAndName},
	{"two CNAMEs", world{class: class().Obj(), classState: refs.Found, rivals: rival("CNAME")}, record().Type("CNAME").Values("a.example.com").Obj(), nil,
		at(rules.NameTaken, name), classAndName},
	{"several rivals are one finding", world{class: class().Obj(), classState: refs.Found, rivals: append(rival("CNAME"), rival("A")...)}, record().Obj(), nil,
		at(rules.NameTaken, name), classAndName},
	{"a broken name claims nothing", world{class: class().Obj(), classState: refs.Found, rivals: rival("A")}, record().Subdomain("a..b").Obj(), nil, nil, classOnly},
	{"a class with a broken server has no names", world{class: class().Server("x").Obj(), classState: refs.Found, rivals: rival("A")}, record().Obj(), nil, nil, classOnly},

	{"update", world{classState: refs.Absent, rivals: rival("A")}, record().Values("192.0.2.9").Obj(), record().Obj(), nil, nil},
	{"update that names another class, which the schema refuses too", world{classState: refs.Absent}, record().Class("b").Obj(), record().Obj(), at(rules.DNSClassExists, className), classOnly},
}

var (
	classOnly    = map[string]int{"class": 1}
	classAndName = map[string]int{"class": 1, "rivals": 1}
)

func TestDNSRecordReferences(t *testing.T) {
	for _, tt := range recordReferenceTests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := validation.DNSRecordReferences(t.Context(), &tt.world, tt.record, tt.old)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got, tt.want)
			if diff := cmp.Diff(tt.asked, tt.world.asked); diff != "" {
				t.Errorf("look-ups (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDNSRecordReferencesFail(t *testing.T) {
	for _, lookup := range []string{"class", "rivals"} {
		w := &world{class: class().Obj(), classState: refs.Found, fails: lookup}
		if got, err := validation.DNSRecordReferences(t.Context(), w, record().Obj(), nil); !errors.Is(err, errLookup) || len(got) > 0 {
			t.Errorf("%s fails: %v, %v; want the error and no finding", lookup, got, err)
		}
	}
}

// A denial says that a name is taken, and nothing about who has it.
func TestDenialsNameNobody(t *testing.T) {
	for _, recordType := range []dnsv1alpha1.RecordType{"A", "CNAME"} {
		w := &world{class: class().Obj(), classState: refs.Found, rivals: rival(recordType)}
		got, err := validation.DNSRecordReferences(t.Context(), w, record().Obj(), nil)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		text := got[0].Error()
		if strings.Contains(text, "tenant-b") || strings.Contains(text, "project-x") || !strings.Contains(text, "www.example.com") {
			t.Errorf("%s", text)
		}
	}
}

// What is not known denies nothing, whatever else there is.
func TestUnknownNeverDenies(t *testing.T) {
	for _, rec := range []*dnsv1alpha1.DNSRecord{record().Obj(), record().Type("CNAME").Obj(), record().Class("b").Obj()} {
		for _, old := range []*dnsv1alpha1.DNSRecord{nil, record().Class("old").Obj()} {
			got, err := validation.DNSRecordReferences(t.Context(), refs.NewManifests(), rec, old)
			if err != nil || len(got) > 0 {
				t.Errorf("%v, %v", got, err)
			}
		}
	}
	for _, c := range []*dnsv1alpha1.DNSClass{class().Obj(), referring().Obj(), referring().Server("http://other").Obj()} {
		for _, old := range []*dnsv1alpha1.DNSClass{nil, class().Obj()} {
			got, err := validation.DNSClassReferences(t.Context(), refs.NewManifests(), noUser, c, old)
			if err != nil || len(got) > 0 {
				t.Errorf("%v, %v", got, err)
			}
		}
	}
}
