package validation_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
)

var noUser authenticationv1.UserInfo

func TestRatchet(t *testing.T) {
	path := field.NewPath("spec", "values")
	bad := func(index int, value any) *field.Error { return rules.ValueIPv4.Invalid(path.Index(index), value, "x") }
	list := func(findings ...*field.Error) field.ErrorList { return findings }
	tests := []struct {
		name              string
		now, before, want field.ErrorList
	}{
		{"nothing", nil, nil, nil},
		{"new", list(bad(0, "a")), nil, list(bad(0, "a"))},
		{"old", list(bad(0, "a")), list(bad(0, "a")), nil},
		{"mended", nil, list(bad(0, "a")), nil},
		{"old, at another index", list(bad(3, "a")), list(bad(0, "a")), nil},
		{"another value at the same index", list(bad(0, "b")), list(bad(0, "a")), list(bad(0, "b"))},
		{"another rule", list(rules.ValueDuplicate.Invalid(path.Index(0), "a", "x")), list(bad(0, "a")), list(rules.ValueDuplicate.Invalid(path.Index(0), "a", "x"))},
		{"another field", list(rules.ValueIPv4.Invalid(field.NewPath("spec", "other").Index(0), "a", "x")), list(bad(0, "a")),
			list(rules.ValueIPv4.Invalid(field.NewPath("spec", "other").Index(0), "a", "x"))},
		{"another detail is no other finding", list(rules.ValueIPv4.Invalid(path.Index(0), "a", "y")), list(bad(0, "a")), nil},
		{"once more than before", list(bad(0, "a"), bad(1, "a")), list(bad(0, "a")), list(bad(1, "a"))},
		{"once less than before", list(bad(0, "a")), list(bad(0, "a"), bad(1, "a")), nil},
		{"old and new, mixed", list(bad(0, "n"), bad(1, "a"), bad(2, "m")), list(bad(0, "a")), list(bad(0, "n"), bad(2, "m"))},
		{"a key that looks like an index is none", list(rules.ValueIPv4.Invalid(field.NewPath("spec").Key("a"), "v", "x")), list(rules.ValueIPv4.Invalid(field.NewPath("spec").Key("b"), "v", "x")),
			list(rules.ValueIPv4.Invalid(field.NewPath("spec").Key("a"), "v", "x"))},
		{"a missing value", list(rules.MXPriority.Required(path, "x")), list(rules.MXPriority.Required(path, "x")), nil},
		{"a missing value, where one was out of range", list(rules.MXPriority.Required(path, "x")), list(rules.MXPriority.Invalid(path, int64(-1), "x")), list(rules.MXPriority.Required(path, "x"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := validation.Ratchet(tt.now, tt.before)
			if len(got) != len(tt.want) {
				t.Fatalf("got %v; want %v", got, tt.want)
			}
			for i := range got {
				if got[i].Error() != tt.want[i].Error() {
					t.Errorf("got %v; want %v", got[i], tt.want[i])
				}
			}
		})
	}
}

// An object that a rule would refuse today can still be changed elsewhere and be made better, and not be made worse.
func TestRatchetOnRecords(t *testing.T) {
	old := record().Values("192.0.2.1", "bad", "worse").Obj()
	tests := []struct {
		name string
		now  *dnsv1alpha1.DNSRecord
		want []found
	}{
		{"unchanged", record().Values("192.0.2.1", "bad", "worse").Obj(), nil},
		{"another field", record().Values("192.0.2.1", "bad", "worse").Description("x").Obj(), nil},
		{"a value more, before the bad ones", record().Values("192.0.2.9", "192.0.2.1", "bad", "worse").Obj(), nil},
		{"made better", record().Values("192.0.2.1", "worse").Obj(), nil},
		{"made worse", record().Values("192.0.2.1", "bad", "worse", "worst").Obj(), []found{{"value-ipv4", "spec.values[3]"}}},
		{"bad in another way", record().Values("192.0.2.1", "bad", "other").Obj(), []found{{"value-ipv4", "spec.values[2]"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, validation.Ratchet(validation.DNSRecord(tt.now), validation.DNSRecord(old)), tt.want)
		})
	}
}
