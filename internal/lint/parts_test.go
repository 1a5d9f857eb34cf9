package lint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/namegate/namegate/internal/rules"
)

// Whatever rule the schema may get: of a field that holds a secret no value leaves, and nothing below it.
func TestWithoutSecrets(t *testing.T) {
	const secret = "spec.hmacAuth.secret"
	value := func(kind schema.GroupKind, e *field.Error) string { return withoutSecrets(kind, e).Error() }
	tests := []struct{ name, got, want string }{
		{"a value", value(dnsClassKind, rules.SchemaValue.Invalid(field.NewPath(secret), "hunter2", "x")), secret + ": Invalid value: x (rule schema-value)"},
		{"a value below", value(dnsClassKind, rules.SchemaValue.Invalid(field.NewPath(secret+".hunter2[0]"), "hunter2", "x")), secret + ": Invalid value: x (rule schema-value)"},
		{"a list of values", value(dnsClassKind, rules.SchemaValue.Of(field.NotSupported(field.NewPath(secret), "hunter2", []string{"a"}))),
			secret + `: Unsupported value: supported values: "a" (rule schema-value)`},
		{"a type", value(dnsClassKind, rules.SchemaType.Invalid(field.NewPath(secret), "object", "x")), secret + `: Invalid value: "object": x (rule schema-type)`},
		{"a neighbour", value(dnsClassKind, rules.SchemaValue.Invalid(field.NewPath(secret+"Ref.name"), "s", "x")), secret + `Ref.name: Invalid value: "s": x (rule schema-value)`},
		{"another kind", value(dnsRecordKind, rules.SchemaValue.Invalid(field.NewPath(secret), "s", "x")), secret + `: Invalid value: "s": x (rule schema-value)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got  %s\nwant %s", tt.got, tt.want)
			}
		})
	}
}

// Of what is no single value a finding shows the type, because it may hold anything.
func TestFindingsShowNoObjects(t *testing.T) {
	c := checker{kind: &kind{}}
	for _, value := range []any{map[string]any{"secret": "hunter2"}, []any{"hunter2"}} {
		got := c.finding(field.Invalid(field.NewPath("spec"), value, "x"))
		if got.BadValue != typeOf(value) || got.Origin != rules.SchemaValue.ID {
			t.Errorf("%s", got)
		}
	}
}

// The message of a CEL rule is a rule's own only if it names one that there is.
func TestFindingsOfCEL(t *testing.T) {
	c := checker{kind: &kind{}}
	for message, want := range map[string]string{
		"give one (rule hmac-one-secret)": "hmac-one-secret: give one (rule hmac-one-secret)",
		"give one (rule no-such-rule)":    "schema-value: give one (rule no-such-rule) (rule schema-value)",
		"give one":                        "schema-value: give one (rule schema-value)",
	} {
		e := c.finding(field.Invalid(field.NewPath("spec"), "x", message))
		if got := e.Origin + ": " + e.Detail; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSplitPath(t *testing.T) {
	tests := []struct {
		path string
		want []part
	}{
		{"", nil},
		{"spec", []part{{key: "spec"}}},
		{"spec.values[10]", []part{{key: "spec"}, {key: "values"}, {index: 10}}},
		{"spec.values[0].a", []part{{key: "spec"}, {key: "values"}, {index: 0}, {key: "a"}}},
		{"metadata.labels[app]", []part{{key: "metadata"}, {key: "labels"}, {key: "app"}}},
		{"metadata.labels[kubi.zone/parent-zone]", []part{{key: "metadata"}, {key: "labels"}, {key: "kubi.zone/parent-zone"}}},
		{"spec.a[x.y][2].b", []part{{key: "spec"}, {key: "a"}, {key: "x.y"}, {index: 2}, {key: "b"}}},
		{"spec[", []part{{key: "spec"}}},
		{"spec[].a", []part{{key: "spec"}, {key: "a"}}},
		{"spec.0", []part{{key: "spec"}, {key: "0"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, splitPath(tt.path), cmp.AllowUnexported(part{})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.path, diff)
		}
	}
}

func TestLineOf(t *testing.T) {
	const text = "# comment\na:\n  b: &b\n  - x\n  -\n    c: 1\nd: {e: [1,\n 2], f: *b}\n<<: {g: 1}\n"
	node := &yaml.Node{}
	if err := yaml.Unmarshal([]byte(text), node); err != nil {
		t.Fatal(err)
	}
	root := placeOf(node, 100)
	for path, want := range map[string]int{"": 102, "a": 102, "a.b": 103, "a.b[0]": 104, "a.b[1]": 106, "a.b[1].c": 106, "d.e[1]": 108, "d.f": 108, "d.f[0]": 104, "g": 109,
		"absent": 102, "a.absent": 102, "a.b[7]": 103, "a.b.c": 103, "d.e[0].x": 107} {
		if got := root.lineOf(path); got != want {
			t.Errorf("%q is on line %d; want %d", path, got, want)
		}
	}
}
