package lint_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

// input is a file of these bytes.
func input(name, text string) lint.Input {
	return lint.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// run lints one file, a.yaml.
func run(t *testing.T, text string, opts lint.Options) []lint.Finding {
	t.Helper()
	return lintText(t, text, opts).Findings
}

func lintText(t *testing.T, text string, opts lint.Options) lint.Report {
	t.Helper()
	out, err := lint.Run([]lint.Input{input("a.yaml", text)}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// short writes a finding as tests name it: line, severity, object, field, rule.
func short(f lint.Finding) string {
	object := f.Kind
	if f.Name != "" {
		object += " " + strings.TrimPrefix(f.Namespace+"/"+f.Name, "/")
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%d %s %s %s %s", f.Line, f.Severity, object, f.Field, f.Rule)), " ")
}

func expect(t *testing.T, findings []lint.Finding, want ...string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		got = append(got, short(f))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
		for _, f := range findings {
			t.Log(f)
		}
	}
}

// class and record are valid objects; what follows them is a part of their spec.
const (
	class = `apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata:
  name: reference
spec:
  server: https://dns.example.com
`
	record = `apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata:
  name: web
spec:
  domain: example.com
  dnsClassRef: {name: reference}
`
)

func TestSchema(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"valid", record + "  type: A\n  values: [192.0.2.1]\n", nil},
		{"unknown field", record + "  type: A\n  values: [192.0.2.1]\n  vlaues: [x]\n", []string{"10 Deny DNSRecord default/web spec.vlaues schema-unknown-field"}},
		{"unknown field at the top", record + "  type: A\n  values: [192.0.2.1]\nspecs: {}\n", []string{"10 Deny DNSRecord default/web specs schema-unknown-field"}},
		{"unknown field deep down", record + "  type: A\n  values: [192.0.2.1]\n  metadata:\n    prio: 1\n",
			[]string{"11 Deny DNSRecord default/web spec.metadata.prio schema-unknown-field"}},
		{"unknown field in metadata", class + "---\n" + record + "  type: A\n  values: [192.0.2.1]\n" + "---\n" +
			strings.Replace(class, "name: reference", "name: other\n  lables: {a: b}", 1), []string{"22 Deny DNSClass other metadata.lables schema-unknown-field"}},
		{"wrong type: a text for a number", record + "  type: A\n  values: [192.0.2.1]\n  ttl: \"600\"\n", []string{"10 Deny DNSRecord default/web spec.ttl schema-type"}},
		{"wrong type: a number for a text", record + "  type: TXT\n  values: [ok, 1]\n", []string{"9 Deny DNSRecord default/web spec.values[1] schema-type"}},
		{"wrong type: a word that YAML 1.1 takes for a boolean", record + "  type: TXT\n  values: [x]\n  description: yes\n",
			[]string{"10 Deny DNSRecord default/web spec.description schema-type"}},
		{"wrong type: a text for a list", record + "  type: A\n  values: 192.0.2.1\n", []string{"9 Deny DNSRecord default/web spec.values schema-type"}},
		{"wrong type: a list for an object", strings.Replace(record, "{name: reference}", "[reference]", 1) + "  type: A\n  values: [192.0.2.1]\n",
			[]string{"7 Deny DNSRecord default/web spec.dnsClassRef schema-type"}},
		{"wrong type: a fraction", record + "  type: A\n  values: [192.0.2.1]\n  ttl: 1.5\n", []string{"10 Deny DNSRecord default/web spec.ttl schema-type"}},
		{"a number that no TTL can be", record + "  type: A\n  values: [192.0.2.1]\n  ttl: 3000000000\n", []string{"10 Deny DNSRecord default/web spec.ttl schema-value"}},
		{"a number that no integer can be", record + "  type: A\n  values: [192.0.2.1]\n  ttl: 99999999999999999999\n", []string{"10 Deny DNSRecord default/web spec.ttl schema-type"}},
		{"wrong type of spec", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: web}\nspec: x\n", []string{"4 Deny DNSRecord default/web spec schema-type"}},
		{"the rest of an object with a wrong type is judged", record + "  type: A\n  values: [192.0.2]\n  ttl: [1]\n",
			[]string{"9 Deny DNSRecord default/web spec.values[0] value-ipv4", "10 Deny DNSRecord default/web spec.ttl schema-type"}},
		{"no spec", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: web}\n", []string{"1 Deny DNSRecord default/web spec schema-required"}},
		{"an empty spec", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: web}\nspec: {}\n", []string{
			"4 Deny DNSRecord default/web spec.dnsClassRef schema-required", "4 Deny DNSRecord default/web spec.domain schema-required",
			"4 Deny DNSRecord default/web spec.type schema-required", "4 Deny DNSRecord default/web spec.values schema-required"}},
		{"null is as good as nothing", record + "  type: A\n  values: [192.0.2.1]\n  ttl: null\n  metadata: ~\n", nil},
		{"no such type", record + "  type: PTR\n  values: [192.0.2.1]\n", []string{"8 Deny DNSRecord default/web spec.type schema-value"}},
		{"too many values", record + "  type: TXT\n  values:\n" + strings.Repeat("  - x\n", 65), append([]string{"9 Deny DNSRecord default/web spec.values schema-value"}, duplicates(64)...)},
		{"no values", record + "  type: A\n  values: []\n", []string{"9 Deny DNSRecord default/web spec.values schema-value"}},
		{"out of bounds, told once", record + "  type: A\n  values: [192.0.2.1]\n  ttl: -1\n", []string{"10 Deny DNSRecord default/web spec.ttl schema-value"}},
		{"too long", record + "  type: A\n  values: [192.0.2.1]\n  description: " + strings.Repeat("x", 1025) + "\n", []string{"10 Deny DNSRecord default/web spec.description schema-value"}},

		{"CEL: both", class + "  hmacAuth: {secret: x, secretRef: {name: s}}\n", []string{"7 Deny DNSClass reference spec.hmacAuth hmac-one-secret",
			"7 Warn DNSClass reference spec.hmacAuth.secret hmac-inline-secret"}},
		{"CEL: neither", class + "  hmacAuth: {algorithm: SHA512}\n", []string{"7 Deny DNSClass reference spec.hmacAuth hmac-one-secret"}},
		{"an algorithm that is none", class + "  hmacAuth: {algorithm: MD5, secretRef: {name: s}}\n", []string{"7 Deny DNSClass reference spec.hmacAuth.algorithm hmac-algorithm"}},
		{"CEL: not asked of an object with other faults, as in a cluster", class + "  hmacAuth: {algorithm: MD5}\n", []string{"7 Deny DNSClass reference spec.hmacAuth.algorithm hmac-algorithm"}},
		{"CEL: rules about changes do not apply", record + "  type: A\n  values: [192.0.2.1]\n  subdomain: www\n", nil},

		{"no name", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSClass\nspec: {server: https://dns.example.com}\n", []string{"1 Deny DNSClass metadata.name schema-metadata"}},
		{"a name in another case", strings.Replace(class, "name: reference", "Name: reference", 1), []string{
			"3 Deny DNSClass metadata.name schema-metadata", "4 Deny DNSClass metadata.Name schema-unknown-field"}},
		{"a bad name", strings.Replace(class, "name: reference", "name: Reference_", 1), []string{"4 Deny DNSClass Reference_ metadata.name schema-metadata"}},
		{"a bad label", strings.Replace(class, "name: reference", "name: reference\n  labels:\n    \"a b\": c", 1), []string{"5 Deny DNSClass reference metadata.labels schema-metadata"}},
		{"a label that is a number", strings.Replace(class, "name: reference", "name: reference\n  labels: {a: 1}", 1), []string{"5 Deny DNSClass reference metadata.labels schema-type"}},
		{"a name that is a number", strings.Replace(class, "name: reference", "name: 12", 1), []string{"4 Deny DNSClass metadata.name schema-type"}},
		{"metadata that is a text", strings.Replace(class, "metadata:\n  name: reference", "metadata: reference", 1), []string{
			"3 Deny DNSClass metadata schema-type", "3 Deny DNSClass metadata.name schema-metadata"}},
		{"a namespace of no form", record[:len(record)-len("spec:\n  domain: example.com\n  dnsClassRef: {name: reference}\n")] + "  namespace: A.b\nspec: {type: A, domain: example.com, dnsClassRef: {name: x}, values: [192.0.2.1]}\n",
			[]string{"5 Deny DNSRecord A.b/web metadata.namespace schema-metadata"}},
		{"a namespace of a cluster-scoped object is dropped", strings.Replace(class, "name: reference", "name: reference\n  namespace: x", 1), nil},
		{"a generated name", strings.Replace(class, "name: reference", "generateName: ref-", 1) + "  timeoutSeconds: 0\n", []string{"7 Deny DNSClass ref- spec.timeoutSeconds schema-value"}},
		{"what only the API server writes is passed over", strings.Replace(class, "name: reference", "name: reference\n  uid: x\n  resourceVersion: \"1\"\n  deletionTimestamp: 2026-01-01T00:00:00Z\n  managedFields: [{manager: x, operation: Apply, fieldsType: FieldsV1}]", 1) +
			"status: {conditions: [{type: Nonsense}]}\n---\n" + record + "  type: A\n  values: [192.0.2.1]\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expect(t, run(t, tt.text, lint.Options{}), tt.want...) })
	}
}

// duplicates are the findings about n values that are like the first.
func duplicates(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%d Deny DNSRecord default/web spec.values[%d] value-duplicate", 11+i, i+1))
	}
	return out
}

func TestReferences(t *testing.T) {
	secret := func(data string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: namegate-system}\n" + data + "\n---\n"
	}
	referring := class + "  hmacAuth: {secretRef: {name: s}}\n"
	a := record + "  type: A\n  values: [192.0.2.1]\n"
	aaaa := strings.Replace(record, "name: web", "name: web6", 1) + "  type: AAAA\n  values: [2001:db8::1]\n"
	cname := strings.Replace(record, "name: web", "name: alias", 1) + "  type: CNAME\n  subdomain: www\n  values: [a.example.com]\n"
	www := strings.Replace(record, "name: web", "name: www", 1) + "  type: A\n  subdomain: WWW\n  values: [192.0.2.1]\n"
	txt := strings.Replace(record, "name: web", "name: txt", 1) + "  type: TXT\n  subdomain: www\n  values: [x]\n"
	again := strings.Replace(a, "name: web", "name: again", 1)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a class that is not there is unknown", a, nil},
		{"a class that is not there has one server all the same", a + "---\n" + again, []string{"15 Deny DNSRecord default/again spec.subdomain name-taken"}},
		{"two classes that are not there may have two servers", a + "---\n" + strings.Replace(again, "name: reference", "name: other", 1), nil},
		{"different types share a name", class + "---\n" + a + "---\n" + aaaa, nil},
		{"the first keeps the name", class + "---\n" + a + "---\n" + again, []string{"22 Deny DNSRecord default/again spec.subdomain name-taken"}},
		{"wherever the class is", a + "---\n" + again + "---\n" + class, []string{"15 Deny DNSRecord default/again spec.subdomain name-taken"}},
		{"the second is told once, though two have the name", class + "---\n" + www + "---\n" + txt + "---\n" + cname, []string{"38 Deny DNSRecord default/alias spec.subdomain cname-alone"}},
		{"who is refused holds nothing", class + "---\n" + www + "---\n" + cname + "---\n" + txt, []string{"27 Deny DNSRecord default/alias spec.subdomain cname-alone"}},
		{"who is refused for something else does", class + "---\n" + strings.Replace(a, "192.0.2.1", "x", 1) + "---\n" + again,
			[]string{"16 Deny DNSRecord default/web spec.values[0] value-ipv4", "22 Deny DNSRecord default/again spec.subdomain name-taken"}},
		{"another class with the same server", class + "---\n" + strings.Replace(strings.Replace(class, "name: reference", "name: other", 1), "https://dns.example.com", "HTTPS://DNS.example.com:443/", 1) +
			"---\n" + a + "---\n" + strings.Replace(again, "{name: reference}", "{name: other}", 1), []string{"29 Deny DNSRecord default/again spec.subdomain name-taken"}},
		{"another class with another server", class + "---\n" + strings.Replace(strings.Replace(class, "name: reference", "name: other", 1), "dns.example.com", "other.example.com", 1) +
			"---\n" + a + "---\n" + strings.Replace(again, "{name: reference}", "{name: other}", 1), nil},
		{"generated names are different objects", class + "---\n" + strings.Replace(a, "name: web", "generateName: x-", 1) + "---\n" + strings.Replace(a, "name: web", "generateName: x-", 1),
			[]string{"22 Deny DNSRecord default/x- spec.subdomain name-taken"}},
		{"where it was applied is passed over", class + "---\n" + a + "status: {applied: {server: \"https://dns.example.com\", type: A, domain: example.com, subdomain: www}}\n---\n" + www, nil},
		{"the same object twice", class + "---\n" + a + "---\n" + strings.Replace(a, "192.0.2.1", "192.0.2.2", 1), []string{"21 Deny DNSRecord default/web metadata.name manifest-duplicate"}},
		{"the same name in another namespace", class + "---\n" + a + "---\n" + strings.Replace(www, "name: www", "name: web\n  namespace: other", 1), nil},
		{"the same name of another kind", strings.Replace(class, "name: reference", "name: web", 1) + "---\n" + a, nil},
		{"a class twice", class + "---\n" + class, []string{"11 Deny DNSClass reference metadata.name manifest-duplicate"}},

		{"a bad TTL of a class is not held against its records", class + "  defaultTTL: -5\n---\n" + a, []string{"7 Deny DNSClass reference spec.defaultTTL schema-value"}},

		{"a Secret that is not there is unknown", referring, nil},
		{"a Secret with the key", secret("stringData: {hmac-secret: x}") + referring, nil},
		{"after the class", referring + "---\n" + secret("stringData: {hmac-secret: x}"), nil},
		{"a Secret without the key", secret("data: {other: eA==}") + referring, []string{"12 Warn DNSClass reference spec.hmacAuth.secretRef secret-absent"}},
		{"a Secret with an empty key", secret("data: {hmac-secret: \"\"}") + referring, []string{"12 Warn DNSClass reference spec.hmacAuth.secretRef secret-absent"}},
		{"a Secret with a newline at its end", secret("data: {hmac-secret: eAo=}") + referring, []string{"12 Warn DNSClass reference spec.hmacAuth.secretRef secret-newline"}},
		{"the first of two Secrets", secret("stringData: {hmac-secret: \"x\\n\"}") + secret("stringData: {hmac-secret: x}") + referring,
			[]string{"17 Warn DNSClass reference spec.hmacAuth.secretRef secret-newline"}},
		{"a Secret that cannot be read", secret("data: {hmac-secret: \"%\"}") + referring, nil},
		{"a Secret in another namespace", strings.Replace(secret("data: {}"), "namegate-system", "other", 1) + referring, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			findings := run(t, tt.text, lint.Options{})
			for i := range findings { // the default of the key is not written anywhere
				findings[i].Field = strings.TrimSuffix(findings[i].Field, ".key")
			}
			expect(t, findings, tt.want...)
		})
	}
}

func TestOptions(t *testing.T) {
	a := record + "  type: A\n  values: [127.0.0.1]\n"
	policy, err := rules.ParsePolicy("address-special=Deny,name-taken=Warn,txt-quoted=Off,manifest-untyped=Off")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		opts       lint.Options
		want       []string
	}{
		{"by default", a, lint.Options{}, []string{"9 Warn DNSRecord default/web spec.values[0] address-special"}},
		{"a namespace", a, lint.Options{Namespace: "dns"}, []string{"9 Warn DNSRecord dns/web spec.values[0] address-special"}},
		{"its own namespace", strings.Replace(a, "name: web", "name: web\n  namespace: own", 1), lint.Options{Namespace: "dns"},
			[]string{"10 Warn DNSRecord own/web spec.values[0] address-special"}},
		{"raised", a, lint.Options{Policy: policy}, []string{"9 Deny DNSRecord default/web spec.values[0] address-special"}},
		{"off", record + "  type: TXT\n  values: ['\"x\"']\n---\nx: y\n", lint.Options{Policy: policy}, nil},
		{"lowered: both have the name", class + "---\n" + record + "  type: TXT\n  values: [x]\n---\n" + strings.Replace(record, "name: web", "name: again", 1) + "  type: TXT\n  values: [x]\n",
			lint.Options{Policy: policy}, []string{"22 Warn DNSRecord default/again spec.subdomain name-taken"}},
		{"Secret namespaces: the operator's", class + "  hmacAuth: {secretRef: {name: s}}\n", lint.Options{OperatorNamespace: "op", SecretNamespaces: []string{"op"}}, nil},
		{"Secret namespaces: another", class + "  hmacAuth: {secretRef: {name: s, namespace: x}}\n", lint.Options{OperatorNamespace: "op", SecretNamespaces: []string{"op"}},
			[]string{"7 Deny DNSClass reference spec.hmacAuth.secretRef.namespace secret-namespace"}},
		{"the Secret of the operator's namespace", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n" + class + "  hmacAuth: {secretRef: {name: s, key: k}}\n",
			lint.Options{Namespace: "op", OperatorNamespace: "op"}, []string{"11 Warn DNSClass reference spec.hmacAuth.secretRef.key secret-absent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expect(t, run(t, tt.text, tt.opts), tt.want...) })
	}
}

// The summary counts objects, however many findings each has, and documents that are none.
func TestSummary(t *testing.T) {
	bad := record + "  type: A\n  values: [x, y]\n"
	tests := []struct {
		name, text string
		want       lint.Summary
	}{
		{"good, and another kind", class + "---\nkind: ConfigMap\napiVersion: v1\n", lint.Summary{Objects: 1}},
		{"two findings of one object", class + "---\n" + bad, lint.Summary{Objects: 2, Denied: 1, Findings: 2}},
		{"denied and with a warning", strings.Replace(record, "name: web", "name: a", 1) + "  type: A\n  values: [127.0.0.1, x]\n", lint.Summary{Objects: 1, Denied: 1, Warned: 1, Findings: 2}},
		{"no object", class + "---\na: b: c\n---\nx: y\n", lint.Summary{Objects: 3, Denied: 1, Warned: 1, Findings: 2}},
		{"two of the same", class + "---\n" + class, lint.Summary{Objects: 2, Denied: 1, Findings: 1}},
		{"objects of a list", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(bad), "\n", "\n  ") + "\n- " + strings.ReplaceAll(strings.TrimSpace(class), "\n", "\n  ") + "\n",
			lint.Summary{Objects: 2, Denied: 1, Findings: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lintText(t, tt.text, lint.Options{})
			if got.Summary != tt.want {
				t.Errorf("%+v; want %+v\n%v", got.Summary, tt.want, got.Findings)
			}
		})
	}
}

// Findings of several inputs come in the order of the inputs, and one sees the others.
func TestSeveralInputs(t *testing.T) {
	a := record + "  type: A\n  values: [192.0.2.1]\n"
	together, err := lint.Run([]lint.Input{
		input("z.yaml", a), input("empty.yaml", ""), input("a.yaml", strings.Replace(a, "name: web", "name: again", 1)), input("m.yaml", a), input("class.yaml", class),
	}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	findings := together.Findings
	expect(t, findings, "5 Deny DNSRecord default/again spec.subdomain name-taken", "4 Deny DNSRecord default/web metadata.name manifest-duplicate")
	if findings[0].File != "a.yaml" || findings[1].File != "m.yaml" || !strings.Contains(findings[1].Message, `"z.yaml" at line 1`) {
		t.Errorf("%v", findings)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name  string
		input lint.Input
		want  error
	}{
		{"cannot be opened", lint.Input{Name: "x", Open: func() (io.ReadCloser, error) { return nil, broken }}, broken},
		{"cannot be read", lint.Input{Name: "x", Open: func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil }}, broken},
		{"breaks off", lint.Input{Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(class), iotest.ErrReader(broken))), nil
		}}, broken},
		{"cannot be closed", lint.Input{Name: "x", Open: func() (io.ReadCloser, error) { return closer{strings.NewReader(class), broken}, nil }}, broken},
		{"empty", input("x", ""), lint.ErrEmpty},
		{"comments only", input("x", "# a\n---\n# b\n---\n"), lint.ErrEmpty},
		{"null", input("x", "null\n---\n~\n"), lint.ErrEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := lint.Run([]lint.Input{tt.input}, lint.Options{}); !errors.Is(err, tt.want) {
				t.Errorf("%v, %v; want %v", got, err, tt.want)
			}
		})
	}
	if _, err := lint.Run(nil, lint.Options{}); !errors.Is(err, lint.ErrEmpty) {
		t.Errorf("without input: %v", err)
	}
}

type closer struct {
	io.Reader
	err error
}

func (c closer) Close() error { return c.err }

// What a reader gives in one piece or byte by byte is the same.
func TestReadInPieces(t *testing.T) {
	text := class + "---   # comment " + strings.Repeat("c", 100_000) + "\n" + record + "  type: A\n  values: [x]\n  description: " + strings.Repeat("d", 100_000) + "\n"
	whole := run(t, text, lint.Options{})
	got, err := lint.Run([]lint.Input{{Name: "a.yaml", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), nil
	}}}, lint.Options{})
	findings := got.Findings
	if diff := cmp.Diff(whole, findings); err != nil || diff != "" {
		t.Errorf("%v (-whole +pieces)\n%s", err, diff)
	}
	expect(t, whole, "16 Deny DNSRecord default/web spec.values[0] value-ipv4", "17 Deny DNSRecord default/web spec.description schema-value")
}

// A document that is too large is passed over, not held.
func TestEndlessDocument(t *testing.T) {
	piece := bytes.Repeat([]byte("a: b\n"), 1000)
	pieces := 5000
	endless := readerFunc(func(p []byte) (int, error) {
		if pieces == 0 {
			return 0, io.EOF
		}
		pieces--
		return copy(p, piece), nil
	})
	got, err := lint.Run([]lint.Input{{Name: "a.yaml", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(class+"---\n"), endless, strings.NewReader("\n---\n"+record+"  type: A\n  values: [x]\n"))), nil
	}}}, lint.Options{})
	findings := got.Findings
	if err != nil || len(findings) != 2 || findings[0].Rule != "manifest-too-large" || findings[0].Line != 8 || findings[1].Rule != "value-ipv4" {
		t.Errorf("%v, %v", findings, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
