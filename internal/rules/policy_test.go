package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/namegate/namegate/internal/rules"
)

// Three rules to set: one that denies, one that warns, one of the schema.
var (
	denies = rules.CNAMEAtApex
	warns  = rules.AddressSpecial
	schema = rules.IdentityImmutable
)

func TestParsePolicy(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		want     map[string]rules.Severity
	}{
		{"nothing", "", map[string]rules.Severity{denies.ID: rules.Deny, warns.ID: rules.Warn, schema.ID: rules.Deny}},
		{"only separators", " , ,", map[string]rules.Severity{denies.ID: rules.Deny, warns.ID: rules.Warn}},
		{"one", "cname-at-apex=Warn", map[string]rules.Severity{denies.ID: rules.Warn, warns.ID: rules.Warn}},
		{"several, with spaces", " cname-at-apex = Off ,\taddress-special=Deny\n", map[string]rules.Severity{denies.ID: rules.Off, warns.ID: rules.Deny}},
		{"the default, written out", "address-special=Warn", map[string]rules.Severity{warns.ID: rules.Warn}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy, err := rules.ParsePolicy(tt.settings)
			if err != nil {
				t.Fatal(err)
			}
			for id, want := range tt.want {
				if got := policy.Severity(&field.Error{Origin: id}); got != want {
					t.Errorf("%s has severity %s; want %s", id, got, want)
				}
			}
		})
	}
}

func TestParsePolicyRefuses(t *testing.T) {
	tests := []struct{ name, settings, want string }{
		{"an unknown rule", "cname-at-top=Warn", `there is no rule "cname-at-top"`},
		{"an unknown rule after a good one", "cname-at-apex=Warn,nonsense=Deny", `there is no rule "nonsense"`},
		{"an unknown severity", "cname-at-apex=Error", "give Deny, Warn or Off"},
		{"another case", "cname-at-apex=warn", "give Deny, Warn or Off"},
		{"no severity", "cname-at-apex=", "give Deny, Warn or Off"},
		{"no equals sign", "cname-at-apex", "give Deny, Warn or Off"},
		{"two equals signs", "cname-at-apex=Warn=Off", "give Deny, Warn or Off"},
		{"no rule", "=Deny", `there is no rule ""`},
		{"a rule of the schema", "identity-immutable=Off", "identity-immutable is part of the CRD's schema"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy, err := rules.ParsePolicy(tt.settings)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error is %v; want one with %q", err, tt.want)
			}
			if got := policy.Severity(&field.Error{Origin: denies.ID}); got != rules.Deny {
				t.Errorf("a policy that was refused still changes %s to %s", denies.ID, got)
			}
		})
	}
}

func TestParsePolicyErrorsAreShortAndPlain(t *testing.T) {
	for _, settings := range []string{strings.Repeat("x", 1<<20) + "=Deny", "cname-at-apex=" + strings.Repeat("\x1b", 1<<20), "a\nb\u202e=Deny"} {
		_, err := rules.ParsePolicy(settings)
		if err == nil {
			t.Fatalf("%.40q is accepted", settings)
		}
		checkPlain(t, err.Error())
	}
}

// checkPlain refuses a message that is long or that carries control characters.
func checkPlain(t *testing.T, message string) {
	t.Helper()
	if len(message) > 1000 {
		t.Errorf("message has %d bytes: %.100q…", len(message), message)
	}
	for _, r := range message {
		if r < ' ' || r == 0x7f || r == '\u202e' {
			t.Errorf("message holds %q: %.200q", r, message)
			return
		}
	}
}

func TestSplit(t *testing.T) {
	path := field.NewPath("spec")
	policy, err := rules.ParsePolicy("cname-at-apex=Warn,txt-quoted=Off,host-underscore=Deny")
	if err != nil {
		t.Fatal(err)
	}
	findings := field.ErrorList{
		rules.CNAMESelf.Invalid(path, "own", "x"),
		rules.CNAMEAtApex.Invalid(path, "lowered", "x"),
		rules.TXTQuoted.Invalid(path, "off", "x"),
		rules.HostUnderscore.Invalid(path, "raised", "x"),
		rules.AddressSpecial.Invalid(path, "own warning", "x"),
		field.Invalid(path, "without a rule", "x"),
		{Type: field.ErrorTypeInvalid, BadValue: "unknown rule", Origin: "format=dns-label"},
	}
	values := func(list field.ErrorList) (out []any) {
		for _, f := range list {
			out = append(out, f.BadValue)
		}
		return out
	}
	tests := []struct {
		name       string
		policy     rules.Policy
		deny, warn []any
	}{
		{"as set", policy, []any{"own", "raised", "without a rule", "unknown rule"}, []any{"lowered", "own warning"}},
		{"the zero value", rules.Policy{}, []any{"own", "lowered", "without a rule", "unknown rule"}, []any{"off", "raised", "own warning"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			deny, warn := tt.policy.Split(findings)
			if diff := cmp.Diff([][]any{tt.deny, tt.warn}, [][]any{values(deny), values(warn)}); diff != "" {
				t.Errorf("denied and warned (-want +got)\n%s", diff)
			}
		})
	}
}

// What people see is short and on one line whatever type of value is hostile, and the findings themselves keep the whole value,
// because updates are judged by comparing it.
func TestSplitShortensValues(t *testing.T) {
	type named string
	long := strings.Repeat("\u202e\n", 1<<19)
	for what, value := range map[string]any{"string": long, "named string": named(long), "short named string": named("\u202e"), "list": []string{long},
		"many": strings.Split(strings.Repeat("a ", 1<<19), " "), "no JSON": func() {}} {
		t.Run(what, func(t *testing.T) {
			finding := rules.CNAMESelf.Invalid(field.NewPath("spec"), value, "x")
			deny, _ := rules.Policy{}.Split(field.ErrorList{finding})
			if len(deny) != 1 {
				t.Fatalf("%d findings", len(deny))
			}
			checkPlain(t, deny[0].Error())
			if what == "string" && finding.BadValue != long {
				t.Error("the finding itself was cut")
			}
		})
	}
	for _, value := range []any{nil, int64(70000), int32(-1), true, "short", []string{"a", "b"}} {
		deny, _ := rules.Policy{}.Split(field.ErrorList{rules.CNAMESelf.Invalid(field.NewPath("spec"), value, "x")})
		if diff := cmp.Diff(value, deny[0].BadValue); diff != "" {
			t.Errorf("a short value changed (-want +got)\n%s", diff)
		}
	}
}
