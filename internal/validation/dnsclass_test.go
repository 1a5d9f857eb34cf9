package validation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
	"github.com/namegate/namegate/test/builder"
)

const https = "https://dns.example.com"

// class begins a valid class.
func class() *builder.DNSClassBuilder { return builder.DNSClass("a").Server(https) }

// objectTests break each rule that looks at a DNSClass alone, and miss it narrowly.
var objectTests = []struct {
	name  string
	class *dnsv1alpha1.DNSClass
	scope validation.SecretScope
	want  []found
}{
	{"valid", class().Obj(), nil, nil},
	{"valid with a reference", class().SecretRef("dns", "s", "k").Obj(), nil, nil},

	{"a server that is no URL", class().Server("dns.example.com").Obj(), nil, at(rules.ServerURL, "spec.server")},
	{"no server", class().Server("").Obj(), nil, at(rules.ServerURL, "spec.server")},
	{"a server with a password", class().Server("https://u:p@dns.example.com").Obj(), nil, at(rules.ServerURL, "spec.server")},
	{"a server with a base path", class().Server(https + "/base/").Obj(), nil, nil},
	{"a server in upper case", class().Server("HTTPS://DNS.EXAMPLE.COM:443").Obj(), nil, nil},

	{"http without authentication", class().Server("http://dns").Obj(), nil, nil},
	{"http with a reference", class().Server("http://dns").SecretRef("dns", "s", "k").Obj(), nil, at(rules.HMACPlainHTTP, "spec.server")},
	{"a broken server is not blamed for http", class().Server("http://").SecretRef("dns", "s", "k").Obj(), nil, at(rules.ServerURL, "spec.server")},

	{"an inline secret", class().InlineSecret("x").Obj(), nil, at(rules.HMACInlineSecret, "spec.hmacAuth.secret")},
	{"an empty secret", class().InlineSecret("").Obj(), nil, at(rules.HMACSecretEmpty, "spec.hmacAuth.secret")},
	{"a secret of one space", class().InlineSecret(" ").Obj(), nil, at(rules.HMACInlineSecret, "spec.hmacAuth.secret")},
	{"an inline secret that ends in a newline", class().InlineSecret("x\n").Obj(), nil,
		append(at(rules.HMACInlineSecret, "spec.hmacAuth.secret"), at(rules.SecretNewline, "spec.hmacAuth.secret")...)},
	{"neither, which the schema refuses", class().Algorithm("SHA256").Obj(), nil, nil},

	{"the name of no Secret", class().SecretRef("dns", "S", "k").Obj(), nil, at(rules.SecretName, "spec.hmacAuth.secretRef.name")},
	{"no name", class().SecretRef("dns", "", "k").Obj(), nil, at(rules.SecretName, "spec.hmacAuth.secretRef.name")},
	{"the name of no namespace", class().SecretRef("a.b", "s", "k").Obj(), nil, at(rules.SecretName, "spec.hmacAuth.secretRef.namespace")},
	{"the name of no key", class().SecretRef("dns", "s", "a/b").Obj(), nil, at(rules.SecretName, "spec.hmacAuth.secretRef.key")},
	{"a Secret and a key with dots", class().SecretRef("dns", "s.t", "k.pem").Obj(), nil, nil},

	{"a namespace that is not listed", class().SecretRef("other", "s", "k").Obj(), validation.SecretScope{"dns", "infra"}, at(rules.SecretNamespace, "spec.hmacAuth.secretRef.namespace")},
	{"a namespace that is listed", class().SecretRef("infra", "s", "k").Obj(), validation.SecretScope{"dns", "infra"}, nil},
	{"nothing is listed", class().SecretRef("dns", "s", "k").Obj(), validation.SecretScope{}, at(rules.SecretNamespace, "spec.hmacAuth.secretRef.namespace")},
	{"what is listed is not known", class().SecretRef("dns", "s", "k").Obj(), nil, nil},
	{"the name of no namespace is told once", class().SecretRef("A", "s", "k").Obj(), validation.SecretScope{"dns"}, at(rules.SecretName, "spec.hmacAuth.secretRef.namespace")},

	{"all at once", class().Server("http://dns?x").InlineSecret("").SecretRef("A", "B", "/").Obj(), nil, []found{
		{"server-url", "spec.server"}, {"hmac-secret-empty", "spec.hmacAuth.secret"}, {"secret-name", "spec.hmacAuth.secretRef.name"},
		{"secret-name", "spec.hmacAuth.secretRef.namespace"}, {"secret-name", "spec.hmacAuth.secretRef.key"}}},
}

func TestDNSClass(t *testing.T) {
	for _, tt := range objectTests {
		t.Run(tt.name, func(t *testing.T) { expect(t, validation.DNSClass(tt.class, tt.scope), tt.want) })
	}
}

// referring is a class that refers to a Secret.
func referring() *builder.DNSClassBuilder { return class().SecretRef("dns", "s", "k") }

const secretRef = "spec.hmacAuth.secretRef"

// classReferenceTests break each rule about what a DNSClass refers to.
var classReferenceTests = []struct {
	name       string
	world      world
	class, old *dnsv1alpha1.DNSClass
	want       []found
	asked      map[string]int
}{
	{"nothing is known", world{}, referring().Obj(), nil, nil, both},
	{"all is there", world{access: refs.Found, secret: refs.SecretFacts{Secret: refs.Found, Key: refs.Found}}, referring().Obj(), nil, nil, both},
	{"the user may not", world{access: refs.Absent, secret: refs.SecretFacts{Secret: refs.Absent}}, referring().Obj(), nil, at(rules.SecretAccess, secretRef), accessOnly},
	{"no Secret", world{access: refs.Found, secret: refs.SecretFacts{Secret: refs.Absent, Key: refs.Absent}}, referring().Obj(), nil, at(rules.SecretAbsent, secretRef+".name"), both},
	{"no key", world{access: refs.Found, secret: refs.SecretFacts{Secret: refs.Found, Key: refs.Absent}}, referring().Obj(), nil, at(rules.SecretAbsent, secretRef+".key"), both},
	{"an empty key", world{access: refs.Found, secret: refs.SecretFacts{Secret: refs.Found, Key: refs.Found, Empty: true}}, referring().Obj(), nil, at(rules.SecretAbsent, secretRef+".key"), both},
	{"a newline at the end", world{access: refs.Found, secret: refs.SecretFacts{Secret: refs.Found, Key: refs.Found, TrailingNewline: true}}, referring().Obj(), nil,
		at(rules.SecretNewline, secretRef+".key"), both},

	{"no reference", world{access: refs.Absent}, class().Obj(), nil, nil, nil},
	{"an inline secret", world{access: refs.Absent}, class().InlineSecret("x").Obj(), nil, nil, nil},
	{"a reference that is broken in itself", world{access: refs.Absent}, class().SecretRef("dns", "S", "k").Obj(), nil, nil, nil},
	{"a namespace that is broken in itself", world{access: refs.Absent}, class().SecretRef("D", "s", "k").Obj(), nil, nil, nil},

	{"update of something else", world{access: refs.Absent}, referring().Timeout(5).Obj(), referring().Obj(), nil, nil},
	{"update of the name", world{access: refs.Absent}, referring().Obj(), class().SecretRef("dns", "t", "k").Obj(), at(rules.SecretAccess, secretRef), accessOnly},
	{"update of the key", world{access: refs.Absent}, referring().Obj(), class().SecretRef("dns", "s", "l").Obj(), at(rules.SecretAccess, secretRef), accessOnly},
	{"update from an inline secret", world{access: refs.Absent}, referring().Obj(), class().InlineSecret("x").Obj(), at(rules.SecretAccess, secretRef), accessOnly},
	{"update of the server: the signatures go to another", world{access: refs.Absent}, referring().Server("https://evil.example.com").Obj(), referring().Obj(),
		at(rules.SecretAccess, secretRef), accessOnly},
}

var (
	both       = map[string]int{"access": 1, "secret": 1}
	accessOnly = map[string]int{"access": 1}
)

func TestDNSClassReferences(t *testing.T) {
	user := authenticationv1.UserInfo{Username: "jane"}
	for _, tt := range classReferenceTests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := validation.DNSClassReferences(t.Context(), &tt.world, user, tt.class, tt.old)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got, tt.want)
			if diff := cmp.Diff(tt.asked, tt.world.asked); diff != "" {
				t.Errorf("look-ups (-want +got)\n%s", diff)
			}
			if tt.asked["access"] > 0 && tt.world.user.Username != "jane" {
				t.Errorf("asked about user %v", tt.world.user)
			}
			if tt.asked["secret"] > 0 && tt.world.ref != *tt.class.Spec.HMACAuth.SecretRef {
				t.Errorf("asked about Secret %v", tt.world.ref)
			}
		})
	}
}

// Who may not read a Secret is told the same whether it is there or not.
func TestSecretAccessTellsNothing(t *testing.T) {
	var texts []string
	for _, facts := range []refs.SecretFacts{{}, {Secret: refs.Absent}, {Secret: refs.Found, Key: refs.Found, TrailingNewline: true}} {
		got, err := validation.DNSClassReferences(t.Context(), &world{access: refs.Absent, secret: facts}, authenticationv1.UserInfo{}, referring().Obj(), nil)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		texts = append(texts, got[0].Error())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Errorf("the answers differ: %q", texts)
	}
}

func TestDNSClassReferencesFail(t *testing.T) {
	for _, lookup := range []string{"access", "secret"} {
		w := &world{access: refs.Found, fails: lookup}
		if got, err := validation.DNSClassReferences(t.Context(), w, authenticationv1.UserInfo{}, referring().Obj(), nil); !errors.Is(err, errLookup) || len(got) > 0 {
			t.Errorf("%s fails: %v, %v; want the error and no finding", lookup, got, err)
		}
	}
}

// No finding about a class shows a secret, or a password in its URL.
func TestDNSClassShowsNoSecret(t *testing.T) {
	const secret = "hunter2"
	classes := []*dnsv1alpha1.DNSClass{
		class().Server("https://user:" + secret + "@dns.example.com").InlineSecret(secret).Obj(),
		class().Server("https://dns.example.com?token=" + secret).InlineSecret(secret).Obj(),
		class().Server("https://dns.example.com/#"+secret).SecretRef("A", "B", "/").InlineSecret(secret).Obj(),
		class().Server("ftp:" + secret).Obj(),
		class().Server("http://dns").InlineSecret(secret).Obj(),
	}
	for _, c := range classes {
		findings := validation.DNSClass(c, validation.SecretScope{"x"})
		if len(findings) == 0 {
			t.Errorf("nothing is wrong with %s", c.Spec.Server)
		}
		for _, e := range findings {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%s", e)
			}
		}
	}
}

// Every finding says what would be accepted, and ends with its rule.
func TestMessages(t *testing.T) {
	var all field.ErrorList
	for _, tt := range objectTests {
		all = append(all, validation.DNSClass(tt.class, tt.scope)...)
	}
	for _, tt := range recordTests {
		all = append(all, validation.DNSRecord(tt.record)...)
	}
	for _, e := range all {
		if !strings.HasSuffix(e.Detail, " (rule "+e.Origin+")") || len(e.Detail) < len(e.Origin)+20 {
			t.Errorf("%s", e)
		}
	}
}
