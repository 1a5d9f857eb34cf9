package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/lint"
)

// TestForm is about what a text is before it is an object: YAML or JSON, one document or several, of our kinds or not.
func TestForm(t *testing.T) {
	const (
		bad       = "{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {name: %[1]s}, spec: {type: A, domain: %[1]s.example.com, dnsClassRef: {name: x}, values: [x]}}\n"
		badJSON   = `{"apiVersion": "dns.homelab.mortenolsen.pro/v1alpha1", "kind": "DNSRecord", "metadata": {"name": "%[1]s"}, "spec": {"type": "A", "domain": "%[1]s.example.com", "dnsClassRef": {"name": "x"}, "values": [` + "\n\"x\"]}}"
		untyped   = "manifest-untyped"
		foreign   = "apiVersion: apps/v1\nkind: Deployment\nspec: {anything: [goes]}\n"
		badItem   = "- apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\n  kind: DNSRecord\n  metadata: {name: %[1]s}\n  spec:\n    type: A\n    domain: %[1]s.example.com\n    dnsClassRef: {name: x}\n    values:\n    - x\n"
		badInList = "- metadata: {name: %[1]s}\n  spec: {type: A, domain: %[1]s.example.com, dnsClassRef: {name: x}, values: [x]}\n"
	)
	denied := func(line int, name string) string {
		return fmt.Sprintf("%d Deny DNSRecord default/%s spec.values[0] value-ipv4", line, name)
	}
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"one document", "a.yaml", fmt.Sprintf(bad, "a"), []string{denied(1, "a")}},
		{"several documents", "a.yaml", "---\n# comment\n" + fmt.Sprintf(bad, "a") + "--- # comment\n\n---\n" + fmt.Sprintf(bad, "b") + "---\n", []string{denied(3, "a"), denied(7, "b")}},
		{"Windows", "a.yaml", "---\r\n" + strings.ReplaceAll(fmt.Sprintf(bad, "a"), "\n", "\r\n") + "---\r\n" + fmt.Sprintf(bad, "b"), []string{denied(2, "a"), denied(4, "b")}},
		{"byte order mark", "a.yaml", "\ufeff" + fmt.Sprintf(bad, "a"), []string{denied(1, "a")}},
		{"no newline at the end", "a.yaml", strings.TrimSpace(fmt.Sprintf(bad, "a")), []string{denied(1, "a")}},
		{"JSON", "a.json", fmt.Sprintf(badJSON, "a"), []string{denied(2, "a")}},
		{"JSON values in a row", "a.json", fmt.Sprintf(badJSON, "a") + "\n\n" + fmt.Sprintf(badJSON, "b"), []string{denied(2, "a"), denied(5, "b")}},
		{"JSON with tabs, from a pipe", "stdin", "\t" + strings.ReplaceAll(fmt.Sprintf(badJSON, "a"), "\n", "\n\t"), []string{denied(2, "a")}},
		{"JSON among YAML", "a.yaml", fmt.Sprintf(bad, "a") + "---\n" + fmt.Sprintf(badJSON, "b"), []string{denied(1, "a"), denied(4, "b")}},
		{"YAML that starts like JSON", "a.json", fmt.Sprintf(bad, "a"), []string{denied(1, "a")}},
		{"a List", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n" + fmt.Sprintf(badItem, "a") + fmt.Sprintf(badItem, "b"), []string{denied(12, "a"), denied(21, "b")}},
		{"a List in a List, with other kinds", "a.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n- apiVersion: v1\n  kind: List\n  items:\n  " +
			strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(badItem, "a")), "\n", "\n  ") + "\n", []string{denied(16, "a")}},
		{"a List as JSON", "a.json", "{\"apiVersion\": \"v1\",\n\"kind\": \"List\", \"items\": [\n" + fmt.Sprintf(badJSON, "a") + ",\n" + fmt.Sprintf(badJSON, "b") + "]}", []string{denied(4, "a"), denied(6, "b")}},
		{"a typed list, whose items leave out what they are", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecordList\nitems:\n" + fmt.Sprintf(badInList, "a") + fmt.Sprintf(badItem, "b"),
			[]string{denied(5, "a"), denied(14, "b")}},
		{"an empty List", "a.yaml", "apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\n", nil},
		{"a List of no objects", "a.yaml", "apiVersion: v1\nkind: List\nitems: [a, null, 1]\n", []string{"3 Warn " + untyped, "3 Warn " + untyped}},
		{"a List that is none", "a.yaml", "apiVersion: v1\nkind: List\nitems: x\n", []string{"1 Deny items manifest-syntax"}},
		{"an alias", "a.yaml", "apiVersion: v1\nkind: List\nx: &spec\n  type: A\n  domain: example.com\n  dnsClassRef: {name: x}\n  values: [x]\nitems:\n" +
			"- {apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {name: a}, spec: *spec}\n" +
			"- {apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {name: b}, spec: {<<: *spec, subdomain: b}}\n", []string{denied(7, "a"), denied(7, "b")}},

		{"other kinds", "a.yaml", foreign + "---\napiVersion: v1\nkind: ConfigMap\n", nil},
		{"another group's kind of the same name", "a.yaml", "apiVersion: other.example.com/v1\nkind: DNSRecord\nspec: 1\n", nil},
		{"no such kind", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecrod\n", []string{"1 Deny manifest-kind"}},
		{"no such kind: case", "a.yaml", foreign + "---\napiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: dnsrecord\n", []string{"5 Deny manifest-kind"}},
		{"no such version", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro/v1\nkind: DNSRecord\n", []string{"1 Deny manifest-kind"}},
		{"no version", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro\nkind: DNSRecord\n", []string{"1 Deny manifest-kind"}},
		{"a version too many", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro/v1/alpha1\nkind: DNSRecord\n", []string{"1 Deny manifest-kind"}},
		{"no kind", "a.yaml", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\n", []string{"1 Deny manifest-kind"}},
		{"no apiVersion", "a.yaml", "\nkind: DNSRecord\n", []string{"2 Deny apiVersion manifest-kind"}},
		{"neither", "a.yaml", "# values\nreplicas: 1\n", []string{"2 Warn " + untyped}},
		{"another kind without an apiVersion", "a.yaml", "kind: ConfigMap\n", []string{"1 Warn " + untyped}},
		{"another apiVersion without a kind", "a.yaml", "apiVersion: v1\n", []string{"1 Warn " + untyped}},
		{"a text", "a.yaml", "hello\n", []string{"1 Warn " + untyped}},
		{"a list", "a.yaml", "- a\n- b\n", []string{"1 Warn " + untyped}},
		{"an apiVersion that is a number", "a.yaml", "apiVersion: 1\nkind: DNSRecord\n", []string{"1 Deny apiVersion manifest-kind"}},
		{"the last of two kinds counts, as for kubectl", "a.yaml", "apiVersion: v1\nkind: ConfigMap\n" + strings.TrimPrefix(class, "apiVersion: v1\n"), []string{
			"1 Deny DNSClass reference apiVersion manifest-syntax", "2 Deny DNSClass reference kind manifest-syntax"}},

		{"not YAML", "a.yaml", "a: b: c\n", []string{"1 Deny manifest-syntax"}},
		{"not YAML, in the second document", "a.yaml", fmt.Sprintf(bad, "a") + "---\na: b\n\tc: d\n---\n" + fmt.Sprintf(bad, "b"), []string{denied(1, "a"), "4 Deny manifest-syntax", denied(6, "b")}},
		{"not JSON", "a.json", "{\"a\": 1,\n\"b\" 2}", []string{"2 Deny manifest-syntax"}},
		{"JSON that breaks off", "a.json", "{\"a\": [1,\n", []string{"1 Deny manifest-syntax"}},
		{"a template", "a.yaml", "a: {{ .Values.a }}\n{{- end }}\n", []string{"2 Deny manifest-syntax"}},
		{"not text", "a.yaml", "\x00\x01\x02", []string{"1 Deny manifest-syntax"}},
		{"not UTF-8", "a.yaml", "a: \xff\n", []string{"1 Deny manifest-syntax"}},
		{"a separator with something behind it", "a.yaml", "a: b\n--- {c: d}\n", []string{"2 Deny manifest-syntax"}},
		{"a key twice", "a.yaml", record + "  type: A\n  values: [192.0.2.1]\n  type: A\n", []string{"8 Deny DNSRecord default/web spec.type manifest-syntax"}},
		{"a key twice, in JSON", "a.json", "{\"apiVersion\": \"dns.homelab.mortenolsen.pro/v1alpha1\", \"kind\": \"DNSClass\", \"metadata\": {\"name\": \"a\",\n\"name\": \"b\"},\n" +
			"\"spec\": {\"server\": \"https://dns.example.com\"}}", []string{"1 Deny DNSClass b metadata.name manifest-syntax"}},
		{"a key twice in another kind", "a.yaml", foreign + "spec: {}\n", nil},
		{"keys that are no texts", "a.yaml", "? [a]\n: b\n", []string{"1 Deny manifest-syntax"}},
		{"no number", "a.yaml", "a: .nan\n", []string{"1 Deny manifest-syntax"}},
		{"an alias of nothing", "a.yaml", "a: *b\n", []string{"1 Deny manifest-syntax"}},
		{"an alias of itself", "a.yaml", "a: &a\n  b: *a\n", []string{"1 Deny manifest-syntax"}},
		{"a merge with itself", "a.yaml", "&a\napiVersion: v1\n<<: *a\n", []string{"1 Deny manifest-syntax"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lint.Run([]lint.Input{input(tt.file, tt.text)}, lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got.Findings, tt.want...)
		})
	}
}

// TestHostile feeds what is small and would become large, or is large in every way. It ends because it is bounded, or by go test's timeout.
func TestHostile(t *testing.T) {
	const limit = 3 << 20
	fill := func(unit string) string { return strings.Repeat(unit, (limit-2000)/len(unit)) }
	bomb := func(first, template string) string {
		out := first
		for i := range 24 {
			out += fmt.Sprintf(template, 'b'+i, 'b'+i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 9), ","))
		}
		return out
	}
	ours := strings.TrimSuffix(record, "  dnsClassRef: {name: reference}\n")
	tests := []struct {
		name, file, text string
		want             string
	}{
		{"alias bomb of lists", "a.yaml", bomb("a: &a [x,x,x,x,x,x,x,x,x]\n", "%c: &%c [%s]\n"), "1 Deny manifest-too-large"},
		{"alias bomb of merges", "a.yaml", bomb("a: &a {x: y}\n", "%c: &%c {<<: [%s]}\n"), "1 Deny manifest-too-large"},
		{"alias bomb of one long text", "a.yaml", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n", "1 Deny manifest-too-large"},
		{"alias bomb in an object of ours", "a.yaml", class + bomb("  a: &a [x,x,x,x,x,x,x,x,x]\n", "  %c: &%c [%s]\n"), "1 Deny manifest-too-large"},
		{"one document of more than 3 MiB", "a.yaml", "a: " + strings.Repeat("x", limit) + "\n", "1 Deny manifest-too-large"},
		{"one line of more than 3 MiB of JSON", "a.json", `{"a": "` + strings.Repeat("x", limit) + `"}`, "1 Deny manifest-too-large"},
		{"many values", "a.yaml", "[" + strings.Repeat("1,", 600_000) + "]", "1 Deny manifest-too-large"},
		{"many values of JSON", "a.json", `{"a": [` + strings.Repeat("1,", 600_000) + "1]}", "1 Deny manifest-too-large"},
		{"many values in an object of ours", "a.yaml", ours + "  values: [" + strings.Repeat("1,", 20_000) + "]\n", "1 Deny DNSRecord manifest-too-large"},
		{"many fields in an object of ours", "a.yaml", ours + numbered("  k%d: 1\n", 20_000), "1 Deny DNSRecord manifest-too-large"},
		{"nested lists", "a.yaml", fill("["), "1 Deny manifest-syntax"},
		{"nested blocks", "a.yaml", fill("- "), "1 Deny manifest-syntax"},
		{"nested objects of JSON", "a.json", fill(`{"a":`), "1 Deny manifest-syntax"},
		{"nested lists in an object of ours", "a.yaml", ours + "  type: A\n  dnsClassRef: {name: x}\n  values: " + strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + "\n",
			"9 Deny DNSRecord default/web spec.values[0] schema-type"},
		{"an endless quoted text", "a.yaml", "\"" + fill("a"), "1 Deny manifest-syntax"},
		{"many comments", "a.yaml", "a: b\n" + fill("# c\n"), "1 Warn manifest-untyped"},
		{"many anchors", "a.yaml", numbered("k%d: &a%d 1\n", 30_000), "1 Warn manifest-untyped"},
		{"many directives", "a.yaml", fill("%YAML 1.1\n"), "1 Deny manifest-syntax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lint.Run([]lint.Input{input(tt.file, tt.text)}, lint.Options{})
			findings := got.Findings
			if err != nil || len(findings) != 1 || short(findings[0]) != tt.want {
				t.Errorf("%v, %v; want %s", findings, err, tt.want)
			}
		})
	}
}

// numbered repeats a line with its number in it, wherever it says so.
func numbered(line string, n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
	}
	return out.String()
}

// Of a file with very many findings the first of each severity are shown, and the number of the others: a warning never hides a denial.
func TestManyFindings(t *testing.T) {
	got := lintText(t, strings.Repeat("---\nx: y\n", 1500)+strings.Repeat("---\na: b: c\n", 1200)+"---\n"+class+numbered("  k%d: 1\n", 3000), lint.Options{})
	if want := (lint.Summary{Objects: 2701, Denied: 1201, Warned: 1500, Findings: 5700}); got.Summary != want || len(got.Findings) != 2001 {
		t.Errorf("%+v and %d findings; want %+v", got.Summary, len(got.Findings), want)
	}
	last := got.Findings[len(got.Findings)-1]
	if last.Rule != "manifest-many-findings" || !strings.Contains(last.Message, "3700 more findings") {
		t.Errorf("%v", last)
	}
}

// Nothing that is shown can move a terminal's cursor, or is endless.
func TestFindingsArePlain(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	texts := []string{
		class + "  \"\\e[31m\\u202e\": 1\n", class + "  \"" + long + "\": 1\n" + "  ? " + long + "\n  : 1\n",
		strings.Replace(class, "name: reference", "name: \"a\\e[2J\\n"+long+"\"", 1),
		record + "  type: \"\\x1b\\u2028" + long + "\"\n  values: [\"\\x07" + long + "\"]\n",
		"apiVersion: \"dns.homelab.mortenolsen.pro/\\e[31m" + long + "\"\nkind: \"\\u202e" + long + "\"\n",
		"apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: x, namespace: \"\\e" + long + "\", labels: {\"\\e" + long + "\": \"\\e" + long + "\"}}\nspec: {}\n",
	}
	for i, text := range texts {
		got, err := lint.Run([]lint.Input{input("a\x1b[31m\n.yaml", text)}, lint.Options{})
		findings := got.Findings
		if err != nil || len(findings) == 0 {
			t.Fatalf("text %d: %v, %v", i, findings, err)
		}
		for _, f := range findings {
			line := f.String()
			if len(line) > 8000 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\u2028' }) {
				t.Errorf("text %d: %.300q (%d bytes)", i, line, len(line))
			}
		}
	}
}
