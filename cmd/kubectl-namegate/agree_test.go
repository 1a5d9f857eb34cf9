package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/webhooks"
)

// scope is where Secrets may be referred to, for the linter and for the webhooks.
var scope = validation.SecretScope{lint.DefaultOperatorNamespace, "dns"}

// verdict is what a gate says of one object: the rules that deny and those that warn.
type verdict struct{ Denied, Warned []string }

func (v *verdict) sort() {
	slices.Sort(v.Denied)
	slices.Sort(v.Warned)
}

// lintVerdict lints an object after the others. What the schema says is left out: in a cluster the API server says it, not the webhooks.
func lintVerdict(t *testing.T, others []client.Object, obj client.Object) verdict {
	t.Helper()
	var inputs []lint.Input
	for i, o := range append(slices.Clone(others), obj) {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, lint.Input{Name: fmt.Sprint(i), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(string(text))), nil
		}})
	}
	report, err := lint.Run(inputs, lint.Options{SecretNamespaces: scope})
	if err != nil {
		t.Fatal(err)
	}
	var out verdict
	for _, f := range report.Findings {
		rule, _ := rules.Lookup(f.Rule)
		switch {
		case f.File != fmt.Sprint(len(others)) || rule.Layer == rules.Schema:
		case f.Severity == rules.Deny:
			out.Denied = append(out.Denied, f.Rule)
		default:
			out.Warned = append(out.Warned, f.Rule)
		}
	}
	out.sort()
	return out
}

var namedRule = regexp.MustCompile(`\(rule ([a-z0-9-]+)\)$`)

func ruleIn(t *testing.T, message string) string {
	t.Helper()
	m := namedRule.FindStringSubmatch(message)
	if m == nil {
		t.Fatalf("no rule in %q", message)
	}
	return m[1]
}

// gateVerdict asks the webhooks' handlers, as for a new object beside the others.
func gateVerdict(t *testing.T, others []client.Object, obj client.Object) verdict {
	t.Helper()
	source := refs.NewManifests()
	gate := &webhooks.Gate{Source: source, OperatorNamespace: lint.DefaultOperatorNamespace, SecretNamespaces: scope}
	ctx := admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}})
	for _, o := range others {
		switch o := o.DeepCopyObject().(type) {
		case *dnsv1alpha1.DNSClass:
			source.AddDNSClass(o)
		case *dnsv1alpha1.DNSRecord:
			source.AddDNSRecord(o)
		case *zonev1alpha1.Zone:
			source.AddZone(o)
		case *zonev1alpha1.Record:
			source.AddRecord(o)
		}
	}
	warnings, err := admit(ctx, gate, obj)
	var out verdict
	for _, w := range warnings {
		out.Warned = append(out.Warned, ruleIn(t, w))
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) && apierrors.IsInvalid(err) {
		for _, cause := range status.ErrStatus.Details.Causes {
			out.Denied = append(out.Denied, ruleIn(t, cause.Message))
		}
	} else if err != nil {
		t.Fatal(err)
	}
	out.sort()
	return out
}

// admit runs an object through its defaulter and its validator.
func admit(ctx context.Context, gate *webhooks.Gate, obj client.Object) (admission.Warnings, error) {
	switch obj := obj.DeepCopyObject().(type) {
	case *dnsv1alpha1.DNSClass:
		return admitBy(ctx, &webhooks.DNSClass{Gate: gate}, obj)
	case *dnsv1alpha1.DNSRecord:
		return admitBy(ctx, &webhooks.DNSRecord{Gate: gate}, obj)
	case *zonev1alpha1.Zone:
		return admitBy(ctx, &webhooks.Zone{Gate: gate}, obj)
	case *zonev1alpha1.Record:
		return admitBy(ctx, &webhooks.Record{Gate: gate}, obj)
	default:
		return nil, fmt.Errorf("no webhook for %T", obj)
	}
}

// hook is the webhook of one kind.
type hook[T runtime.Object] interface {
	admission.Defaulter[T]
	admission.Validator[T]
}

func admitBy[T runtime.Object](ctx context.Context, h hook[T], obj T) (admission.Warnings, error) {
	if err := h.Default(ctx, obj); err != nil {
		return nil, err
	}
	return h.ValidateCreate(ctx, obj)
}

// samples reads the objects of our kinds from the shipped samples.
func samples(t *testing.T, patterns ...string) []client.Object {
	t.Helper()
	var out []client.Object
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("../../config/samples", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no samples %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for document := range strings.SplitSeq(string(text), "\n---\n") {
				out = append(out, decoded(t, document)...)
			}
		}
	}
	return out
}

func decoded(t *testing.T, document string) []client.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{dnsv1alpha1.AddToScheme, zonev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(document), &meta); err != nil {
		t.Fatal(err)
	}
	if !scheme.Recognizes(meta.GroupVersionKind()) {
		return nil
	}
	created, err := scheme.New(meta.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	into := created.(client.Object)
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		t.Fatal(err)
	}
	if into.GetNamespace() == "" && meta.Kind != "DNSClass" {
		into.SetNamespace(lint.DefaultNamespace)
	}
	return []client.Object{into}
}

func agree(t *testing.T, others []client.Object, obj client.Object) verdict {
	t.Helper()
	lints, gates := lintVerdict(t, others, obj), gateVerdict(t, others, obj)
	if diff := cmp.Diff(gates, lints, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the linter and the webhooks disagree (-webhooks +linter)\n%s", diff)
	}
	return lints
}

func TestLintAgreesWithTheWebhooksOnSamples(t *testing.T) {
	good := samples(t, "*.yaml")
	for i, obj := range good {
		others := append(slices.Clone(good[:i]), good[i+1:]...)
		t.Run(obj.GetName(), func(t *testing.T) {
			if v := agree(t, others, obj); len(v.Denied) > 0 {
				t.Errorf("a good sample is denied: %v", v.Denied)
			}
		})
	}
	denied := 0
	for _, obj := range samples(t, "refused/*.yaml", "hmac/*.yaml") {
		isSame := func(o client.Object) bool {
			return o.GetName() == obj.GetName() && o.GetObjectKind().GroupVersionKind() == obj.GetObjectKind().GroupVersionKind()
		}
		if slices.ContainsFunc(good, isSame) {
			continue // a change of a good sample, which is no creation
		}
		t.Run(obj.GetName(), func(t *testing.T) { denied += len(agree(t, good, obj).Denied) })
	}
	if denied < 40 {
		t.Errorf("only %d rules deny a refused sample", denied)
	}
}

// TestLintAgreesWithTheWebhooks holds objects that keep the schema and break rules, several at once.
func TestLintAgreesWithTheWebhooks(t *testing.T) {
	class := func(name string) *builder.DNSClassBuilder {
		return builder.DNSClass(name).Server("https://dns.example.com")
	}
	record := func() *builder.DNSRecordBuilder { return builder.DNSRecord("default", "new") }
	others := []client.Object{
		class("reference").DefaultTTL(60).Obj(), class("same").Obj(), class("elsewhere").Server("https://elsewhere.example.com").Obj(),
		builder.DNSRecord("other", "taken").Subdomain("taken").Obj(),
		builder.DNSRecord("other", "alias").Type("CNAME").Subdomain("alias").Values("taken.example.com").Obj(),
	}
	withMetadata := record().Type("SRV").Subdomain("_sip._tcp").Values("sip.example.com", ".").SRV(1, 2, 3).Obj()
	withMetadata.Spec.Metadata.Port = nil
	withTTL := record().Obj()
	withTTL.Spec.TTL = ptr.To[int32](0)
	tests := []struct {
		name   string
		obj    client.Object
		denied int
	}{
		{"good", record().Obj(), 0},
		{"good, TTL 0", withTTL, 0},
		{"doubtful", record().Domain("example.com").Subdomain("a_b.example.com").Values("127.0.0.1", "0.0.0.0").MX(1).Obj(), 0},
		{"taken", record().Subdomain("TAKEN").Obj(), 1},
		{"taken through another class of the same server", record().Subdomain("taken").Class("same").Obj(), 1},
		{"free on another server", record().Subdomain("taken").Class("elsewhere").Obj(), 0},
		{"unknown class", record().Subdomain("taken").Class("unknown").Obj(), 0},
		{"beside a CNAME", record().Subdomain("alias").Obj(), 1},
		{"a CNAME beside others", record().Type("CNAME").Subdomain("taken").Values("a.example.com").Obj(), 1},
		{"many values", record().Values("192.0.2.1", "192.0.2.1", "x", "::1", "").Obj(), 4},
		{"everything", record().Type("CNAME").Domain("exa mple.com").Subdomain("a..b").Class("A_").Values("192.0.2.1", "a.b.").Obj(), 5},
		{"CNAME at the apex, to itself", record().Type("CNAME").Subdomain("").Values("example.com").Obj(), 2},
		{"MX", record().Type("MX").Values(".", "mx", "192.0.2.1").Obj(), 3},
		{"SRV", withMetadata, 2},
		{"TXT", record().Type("TXT").Values("\"q\"", "v=spf1 a", "v=spf1 b", "tab\t", "").Obj(), 2},
		{"NS", record().Type("NS").Subdomain("*").Values("ns", "-").Obj(), 2},
		{"a long name", record().Subdomain(strings.Repeat("a.", 125) + "a").Obj(), 1},

		{"class: good", class("new").SecretRef("", "s", "").Obj(), 0},
		{"class: plain", class("new").Server("http://dns").SecretRef("dns", "s", "k").Obj(), 0},
		{"class: inline", class("new").InlineSecret("x").Obj(), 0},
		{"class: empty", class("new").InlineSecret("").Obj(), 1},
		{"class: everything", class("new").Server("http://u:p@dns?x").SecretRef("kube-system", "S_", "/").Obj(), 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if v := agree(t, others, tt.obj); len(v.Denied) != tt.denied {
				t.Errorf("denied by %v; want %d rules", v.Denied, tt.denied)
			}
		})
	}
}

// TestLintAgreesWithTheWebhooksOnZones does the same for the second front door.
func TestLintAgreesWithTheWebhooksOnZones(t *testing.T) {
	zone := func() *builder.ZoneBuilder { return builder.Zone("dns", "new").Domain("new.example.").DelegateAll() }
	record := func() *builder.RecordBuilder { return builder.Record("default", "new").Domain("new.example.org.") }
	others := []client.Object{
		builder.Zone("dns", "org").Delegate([]string{"default", "other"}, "*").DelegateTypes(nil, "@", "NS", "MX").DelegateZones([]string{"dns"}, "dev", "*.lab").Obj(),
		builder.Zone("dns", "dev").Domain("dev").ZoneRef("org", "").Delegate(nil, "www").Obj(),
		builder.Record("other", "taken").Domain("taken.example.org.").TTL(60).Obj(),
		builder.Record("default", "mine").Domain("mine.example.org.").TTL(60).Obj(),
		builder.Record("default", "alias").Domain("alias.example.org.").Type("CNAME").RData("loop.example.org.").Obj(),
		builder.Record("default", "cut").Domain("cut.example.org.").Type("NS").RData("ns1.example.net.").Obj(),
		builder.Record("default", "tree").Domain("tree.example.org.").Type("DNAME").RData("tree.example.net.").Obj(),
		builder.Record("default", "leaf").Domain("leaf.below.example.org.").Obj(),
		builder.Record("default", "lab").Domain("www.x.lab.example.org.").Obj(),
	}
	tests := []struct {
		name   string
		obj    client.Object
		denied int
	}{
		{"zone: good", zone().Obj(), 0},
		{"zone: lets nothing in", zone().NoDelegations().Delegation(zonev1alpha1.Delegation{}).Obj(), 0},
		{"zone: taken", zone().Domain("EXAMPLE.org.").Obj(), 1},
		{"zone: taken, by a relative name", zone().Domain("dev.example.org.").Obj(), 1},
		{"zone: delegated", zone().Domain("x.lab").ZoneRef("org", "dns").Obj(), 0},
		{"zone: delegated, and takes names", zone().Domain("x.lab").ZoneRef("org", "dns").NoDelegations().Delegate([]string{"dns"}, "*").Obj(), 1},
		{"zone: not delegated", zone().Domain("lab").ZoneRef("org", "dns").Obj(), 1},
		{"zone: not delegated, by a whole name", zone().Domain("lab.example.org.").Obj(), 1},
		{"zone: below an unknown one", zone().Domain("x").ZoneRef("unknown", "").Obj(), 0},
		{"zone: its own parent", zone().Domain("x").ZoneRef("new", "").Obj(), 1},
		{"zone: above the others", zone().Domain("org.").NoDelegations().Obj(), 0},
		{"zone: everything", builder.Zone("dns", strings.Repeat("n", 64)).Domain("a..b.").NameServer("-.").Contact("@").
			Delegate([]string{"A"}, "a.", "**").DelegateTypes(nil, "@", "a", "SOA").DelegateZones(nil, "@").Label(zonev1alpha1.ParentZoneLabel, "a.b").Obj(), 10},

		{"good", record().Obj(), 0},
		{"in no zone", record().Domain("www.example.net.").Obj(), 0},
		{"in an unknown zone", record().Domain("www").ZoneRef("unknown", "").Obj(), 0},
		{"not delegated: the apex", record().Domain("@").ZoneRef("org", "dns").Obj(), 1},
		{"delegated: the apex", record().Domain("example.org.").Type("MX").RData("10 mx.example.net.").Obj(), 0},
		{"not delegated: the sub-zone", record().Domain("a.dev.example.org.").Obj(), 1},
		{"delegated: in the sub-zone", record().Domain("www.dev.example.org.").Obj(), 0},
		{"not through the parent", record().Domain("www.dev").ZoneRef("org", "dns").Obj(), 1},
		{"taken", record().Domain("TAKEN.example.org.").TTL(60).Obj(), 1},
		{"shared", record().Domain("mine.example.org.").RData("192.0.2.2").Obj(), 0},
		{"shared, with another ttl", record().Domain("mine.example.org.").RData("192.0.2.2").TTL(61).Obj(), 1},
		{"twice", record().Domain("mine.example.org.").Obj(), 1},
		{"beside a CNAME", record().Domain("alias.example.org.").Obj(), 1},
		{"a CNAME beside others", record().Domain("mine.example.org.").Type("CNAME").RData("a.example.net.").Obj(), 1},
		{"a CNAME that closes a circle", record().Domain("loop.example.org.").Type("CNAME").RData("alias.example.org.").Obj(), 1},
		{"a CNAME at the apex, to itself", record().Domain("example.org.").Type("CNAME").RData("example.org.").Obj(), 2},
		{"below a delegation", record().Domain("a.cut.example.org.").Obj(), 1},
		{"below a DNAME", record().Domain("a.tree.example.org.").Obj(), 1},
		{"a delegation above others", record().Domain("below.example.org.").Type("NS").RData("ns.example.net.").Obj(), 1},
		{"an MX that names an alias", record().Type("MX").RData("10 alias.example.org.").Obj(), 0},
		{"SRV at a relative name", record().Domain("sip").ZoneRef("org", "dns").Type("SRV").RData("1 2 3 sip.example.org.").Obj(), 1},
		{"no type", record().Type("a").Obj(), 1},
		{"not one line", record().Type("TXT").RData("\"a\"\n$INCLUDE /etc/passwd").Obj(), 1},
		{"everything", record().Domain("a b").ZoneRef("A_", "B_").Type("CNAME").RData("relative").Label(zonev1alpha1.ParentZoneLabel, "a.b").Obj(), 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if v := agree(t, others, tt.obj); len(v.Denied) != tt.denied {
				t.Errorf("denied by %v; want %d rules", v.Denied, tt.denied)
			}
		})
	}
}
