package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/namegate/namegate/internal/lint"
)

const planted = "hunter2"

// outputs writes findings in every form.
func outputs(t testing.TB, findings []lint.Finding) string {
	t.Helper()
	var out bytes.Buffer
	report := lint.Report{Findings: findings}
	for _, err := range []error{lint.WriteText(&out, report), lint.WriteJSON(&out, report), lint.WriteSARIF(&out, report, "test")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestSecretsAreNotShown plants a secret in hmacAuth.secret in every form that somebody could give it by mistake, and in Secrets.
func TestSecretsAreNotShown(t *testing.T) {
	inClass := func(secret string) string { return class + "  hmacAuth:\n    secret: " + secret + "\n" }
	tests := []struct{ name, text, want string }{
		{"as it should be", inClass(planted), "hmac-inline-secret"},
		{"with a reference", inClass(planted) + "    secretRef: {name: s}\n", "hmac-one-secret"},
		{"too long", inClass(strings.Repeat(planted, 600)), "schema-value"},
		{"a list", inClass("[" + planted + "]"), "schema-type"},
		{"an object", inClass("{" + planted + ": " + planted + "}"), "schema-type"},
		{"an object of objects", inClass("{a: {" + planted + ": " + planted + "}}"), "schema-type"},
		{"a key twice in it", inClass("{" + planted + ": 1, " + planted + ": 2}"), "manifest-syntax"},
		{"instead of hmacAuth", class + "  hmacAuth: " + planted + "\n", "schema-type"},
		{"instead of spec", "apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSClass\nmetadata: {name: a}\nspec: " + planted + "\n", "schema-type"},
		{"under a misspelt key", class + "  hmacAuth:\n    sekret: " + planted + "\n", "schema-unknown-field"},
		{"in the annotation that kubectl keeps", strings.Replace(inClass(planted), "name: reference",
			"name: Reference\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"secret\":\""+planted+"\"}'\n    \"bad key\": "+planted, 1), "schema-metadata"},
		{"that starts like an alias", inClass("*" + planted), "manifest-syntax"},
		{"that starts like a directive", inClass("%" + planted), "manifest-syntax"},
		{"that starts like a tag", inClass("!!int " + planted), "manifest-syntax"},
		{"that starts like a quote", inClass("'" + planted), "manifest-syntax"},
		{"that holds a colon", inClass(planted + ": " + planted + ": x"), "manifest-syntax"},
		{"on a line of its own", inClass("") + planted + "\n", "manifest-syntax"},
		{"in broken JSON", `{"apiVersion": "v1", "kind": "Secret", "stringData": {"k": "` + planted + `" "` + planted + `"}}`, "manifest-syntax"},
		{"in a Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: namegate-system}\nstringData: {hmac-secret: \"" + planted + "\\n\"}\n---\n" +
			class + "  hmacAuth: {secretRef: {name: s}}\n", "secret-newline"},
		{"in a Secret that cannot be read", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {k: " + planted + "}\n---\n" + class + "  x: y\n", "schema-unknown-field"},
		{"as a password in the URL", strings.Replace(class, "https://", "https://u:"+planted+"@", 1), "server-url"},
		{"as a token in the URL", strings.Replace(class, "example.com", "example.com/?t="+planted, 1), "server-url"},
		{"as a number", inClass("0x" + fmt.Sprintf("%x", planted)), "schema-type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := outputs(t, run(t, tt.text, lint.Options{}))
			if !strings.Contains(out, "(rule "+tt.want+")") {
				t.Errorf("%s has no finding", tt.want)
			}
			if strings.Contains(out, planted) {
				t.Errorf("the secret is shown:\n%s", out)
			}
		})
	}
}

// FuzzLint: whatever the bytes, linting ends without a panic, every finding is complete, and the secret of a class, planted in a
// document beside them, is in no output.
func FuzzLint(f *testing.F) {
	f.Add([]byte(class+"---\n"+record+"  type: A\n  values: [x]\n"), "https://dns.example.com", "SHA256", byte(0))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSClass}]"), "", "", byte(1))
	f.Add([]byte(`{"apiVersion":"dns.homelab.mortenolsen.pro/v1alpha1","kind":"DNSRecordList","items":[{"spec":{"values":[1]}}]}`), "http://x", "MD5", byte(2))
	f.Add([]byte("a: &a [*a, *b]\n<<: {x: *a}\n---\n? [x]\n: y\n"), "ftp://\x00", "\x1b", byte(3))
	f.Add([]byte("apiVersion: v1\nkind: Secret\nmetadata: {namespace: namegate-system, name: s}\ndata: {hmac-secret: eA==}\n"), "http://u:p@h/?q#f", "SHA512", byte(4))
	f.Fuzz(func(t *testing.T, data []byte, server, algorithm string, form byte) {
		if strings.Contains(string(data)+server+algorithm, planted) {
			return // it may show what is no secret there
		}
		secret := []any{planted, []any{planted}, map[string]any{planted: planted}, map[string]any{"a": []any{planted}}, planted + server}[int(form)%5]
		document, err := json.Marshal(map[string]any{"apiVersion": "dns.homelab.mortenolsen.pro/v1alpha1", "kind": "DNSClass", "metadata": map[string]any{"name": "planted"},
			"spec": map[string]any{"server": server, "hmacAuth": map[string]any{"secret": secret, "algorithm": algorithm, "secretRef": map[string]any{"name": server}}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := lint.Run([]lint.Input{input("fuzz.yaml", string(data)), input("planted.json", string(document))}, lint.Options{})
		findings := got.Findings
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range findings {
			if finding.Rule == "" || finding.Message == "" || finding.Line < 1 && finding.Rule != "manifest-many-findings" || !strings.Contains(finding.Message, "(rule "+finding.Rule+")") {
				t.Errorf("incomplete: %+v", finding)
			}
		}
		if out := outputs(t, findings); strings.Contains(out, planted) {
			t.Errorf("the secret is shown:\n%s", out)
		}
	})
}
