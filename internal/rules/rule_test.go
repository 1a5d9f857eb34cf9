package rules_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/namegate/namegate/internal/rules"
)

var idForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestRegistry(t *testing.T) {
	all := rules.All()
	if len(all) == 0 {
		t.Fatal("no rules")
	}
	last := ""
	for _, rule := range all {
		t.Run(rule.ID, func(t *testing.T) {
			if rule.ID <= last {
				t.Errorf("%q comes after %q: sort by ID", rule.ID, last)
			}
			last = rule.ID
			if !idForm.MatchString(rule.ID) || len(rule.ID) > 40 {
				t.Errorf("%q is no short run of lower-case words joined by hyphens", rule.ID)
			}
			if rule.Severity != rules.Deny && rule.Severity != rules.Warn {
				t.Errorf("severity %q: a rule denies or warns by itself", rule.Severity)
			}
			if rule.Layer == rules.Schema && rule.Severity != rules.Deny {
				t.Errorf("severity %q: a schema can only deny", rule.Severity)
			}
			if rule.Layer != rules.Schema && rule.Layer != rules.Object && rule.Layer != rules.Reference {
				t.Errorf("layer %q", rule.Layer)
			}
			for what, line := range map[string]string{"summary": rule.Summary, "source": rule.Source} {
				if line == "" || line != strings.TrimSpace(line) || strings.ContainsAny(line, "\n\t|") {
					t.Errorf("%s %q is no line for a table", what, line)
				}
			}
			if !strings.HasSuffix(rule.Summary, ".") {
				t.Errorf("summary %q is no sentence", rule.Summary)
			}
			if found, known := rules.Lookup(rule.ID); !known || found != rule {
				t.Errorf("Lookup gives %v, %v", found, known)
			}
		})
	}
	if _, known := rules.Lookup("no-such-rule"); known {
		t.Error("Lookup finds a rule that is not registered")
	}
}

func TestFindings(t *testing.T) {
	path := field.NewPath("spec", "values").Index(3)
	rule := rules.CNAMESelf
	tests := []struct {
		name    string
		finding *field.Error
		kind    field.ErrorType
		want    string
	}{
		{"invalid", rule.Invalid(path, "a\nb", "give another"), field.ErrorTypeInvalid,
			`spec.values[3]: Invalid value: "a\nb": give another (rule cname-self)`},
		{"required", rule.Required(path, "give one"), field.ErrorTypeRequired,
			`spec.values[3]: Required value: give one (rule cname-self)`},
		{"forbidden", rule.Forbidden(path, "leave it out"), field.ErrorTypeForbidden,
			`spec.values[3]: Forbidden: leave it out (rule cname-self)`},
		{"duplicate", rule.Duplicate(path, "a", "give it once"), field.ErrorTypeDuplicate,
			`spec.values[3]: Duplicate value: "a": give it once (rule cname-self)`},
		{"not found", rule.NotFound(path, "a", "create it"), field.ErrorTypeNotFound,
			`spec.values[3]: Not found: "a": create it (rule cname-self)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.finding.Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if tt.finding.Origin != rule.ID || tt.finding.Type != tt.kind {
				t.Errorf("origin %q, type %q; want %q, %q", tt.finding.Origin, tt.finding.Type, rule.ID, tt.kind)
			}
		})
	}
}

func TestClip(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"at the limit", strings.Repeat("a", 80), strings.Repeat("a", 80)},
		{"at the limit, in characters of many bytes", strings.Repeat("語", 80), strings.Repeat("語", 80)},
		{"over it", strings.Repeat("a", 81), strings.Repeat("a", 80) + "… (81 characters)"},
		{"over it, in characters of many bytes", strings.Repeat("語", 81), strings.Repeat("語", 80) + "… (81 characters)"},
		{"invalid UTF-8", strings.Repeat("\xff", 81), strings.Repeat("\xff", 80) + "… (81 characters)"},
		{"huge", strings.Repeat("a", 1<<20), strings.Repeat("a", 80) + "… (1048576 characters)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rules.Clip(tt.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzClip(f *testing.F) {
	f.Add("")
	f.Add(strings.Repeat("a", 81))
	f.Add(strings.Repeat("\xe8\xaa", 50))
	f.Fuzz(func(t *testing.T, s string) {
		got := rules.Clip(s)
		if utf8.RuneCountInString(s) <= 80 {
			if got != s {
				t.Errorf("%q became %q", s, got)
			}
			return
		}
		head, _, cut := strings.Cut(got, "… (")
		if !cut || !strings.HasPrefix(s, head) || utf8.RuneCountInString(got) > 80+len("… (9999999999 characters)") {
			t.Errorf("%q became %q", s, got)
		}
	})
}
