package refs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
)

func TestFactsOf(t *testing.T) {
	tests := []struct {
		name string
		data map[string][]byte
		want refs.SecretFacts
	}{
		{"no data", nil, refs.SecretFacts{Secret: refs.Found, Key: refs.Absent}},
		{"another key", map[string][]byte{"other": []byte("x")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Absent}},
		{"a key of another case", map[string][]byte{"KEY": []byte("x")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Absent}},
		{"a value", map[string][]byte{"key": []byte("x")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found}},
		{"nil", map[string][]byte{"key": nil}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found, Empty: true}},
		{"empty", map[string][]byte{"key": {}}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found, Empty: true}},
		{"a newline at the end", map[string][]byte{"key": []byte("x\n")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found, TrailingNewline: true}},
		{"a newline within", map[string][]byte{"key": []byte("x\ny")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found}},
		{"nothing but a newline", map[string][]byte{"key": []byte("\n")}, refs.SecretFacts{Secret: refs.Found, Key: refs.Found, TrailingNewline: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, refs.FactsOf(tt.data, "key")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestManifestsKnowNothingOfWhatIsNotThere(t *testing.T) {
	source, ctx := refs.NewManifests(), t.Context()
	if class, state, err := source.DNSClass(ctx, "absent"); class != nil || state != refs.Unknown || err != nil {
		t.Errorf("DNSClass: %v, %v, %v", class, state, err)
	}
	if facts, err := source.Secret(ctx, dnsv1alpha1.SecretKeyReference{Namespace: "a", Name: "b", Key: "c"}); facts != (refs.SecretFacts{}) || err != nil {
		t.Errorf("Secret: %v, %v", facts, err)
	}
	if state, err := source.MayGetSecret(ctx, authenticationv1.UserInfo{Username: "a"}, "a", "b"); state != refs.Unknown || err != nil {
		t.Errorf("MayGetSecret: %v, %v", state, err)
	}
	if rivals, err := source.Rivals(ctx, claimOf(t, builder.DNSRecord("default", "a").Obj())); len(rivals) > 0 || err != nil {
		t.Errorf("Rivals: %v, %v", rivals, err)
	}
}

func TestManifestsDNSClass(t *testing.T) {
	source := refs.NewManifests()
	source.AddDNSClass(builder.DNSClass("a").DefaultTTL(60).Obj())
	class, state, err := source.DNSClass(t.Context(), "a")
	if err != nil || state != refs.Found || *class.Spec.DefaultTTL != 60 {
		t.Errorf("%v, %v, %v", class, state, err)
	}
}

const server = "https://dns.example.com"

// claimOf is what a record claims on the server.
func claimOf(t *testing.T, rec *dnsv1alpha1.DNSRecord) claims.Claim {
	t.Helper()
	list := claims.OfDNSRecord(rec, server)
	if len(list) != 1 {
		t.Fatalf("%s claims %v", rec.Name, list)
	}
	return list[0]
}

// A record is a rival once its class is there too, in whatever order they are added.
func TestManifestsRivals(t *testing.T) {
	class := builder.DNSClass("reference").Server(server).Obj()
	other := builder.DNSClass("other").Server("https://other.example.com").Obj()
	first := builder.DNSRecord("default", "first").Obj()
	elsewhere := builder.DNSRecord("default", "elsewhere").Class("other").Obj()
	unknown := builder.DNSRecord("default", "unknown").Class("unknown").Obj()
	source := refs.NewManifests()
	source.AddDNSRecord(first)
	source.AddDNSClass(class)
	source.AddDNSClass(other)
	source.AddDNSRecord(elsewhere)
	source.AddDNSRecord(unknown)
	rivals, err := source.Rivals(t.Context(), claimOf(t, builder.DNSRecord("default", "second").Obj()))
	if err != nil || len(rivals) != 1 || rivals[0].Owner != claims.DNSRecordOwner("default", "first") {
		t.Errorf("%v, %v", rivals, err)
	}
	if rivals, err := source.Rivals(t.Context(), claimOf(t, first)); len(rivals) > 0 || err != nil {
		t.Errorf("a record is a rival of itself: %v, %v", rivals, err)
	}
}

// Of two that want the same the one that was added first has it, whatever their names; and what is not there may be elsewhere.
func TestManifestsZones(t *testing.T) {
	rulesOf := func(problems []zone.Problem, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range problems {
			out = append(out, p.Rule.ID)
		}
		return out
	}
	source := refs.NewManifests()
	judgeZone := func(z *zonev1alpha1.Zone) []string {
		_, problems, err := source.Zone(t.Context(), z)
		return rulesOf(problems, err)
	}
	judgeRecord := func(rec *zonev1alpha1.Record) []string {
		_, problems, err := source.Record(t.Context(), rec)
		return rulesOf(problems, err)
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	first, second := builder.Record("z", "z").Obj(), builder.Record("a", "a").RData("192.0.2.9").Obj()
	expect("a record without its zone", judgeRecord(first))
	expect("a zone alone", judgeZone(builder.Zone("z", "z").DelegateAll().Obj()))
	source.AddZone(builder.Zone("z", "z").DelegateAll().Obj())
	expect("a zone of the same name", judgeZone(builder.Zone("a", "a").Obj()), "zone-taken")
	source.AddZone(builder.Zone("a", "a").Obj())
	expect("a record of the first zone", judgeRecord(first))
	source.AddRecord(first)
	expect("a record of the same name", judgeRecord(second), "rrset-taken")
	source.AddRecord(second)
	expect("the first one again", judgeRecord(first))
	expect("a third one", judgeRecord(builder.Record("a", "b").Obj()), "rrset-taken")
	expect("a target that is not there", judgeRecord(builder.Record("a", "c").Domain("c.example.org.").Type("CNAME").RData("d.example.org.").Obj()))
}

func TestManifestsSecret(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "s"},
		Data:       map[string][]byte{"data": []byte("x"), "both": {}},
		StringData: map[string]string{"text": "x\n", "both": "wins"}}
	source := refs.NewManifests()
	source.AddSecret(secret)
	tests := []struct {
		namespace, name, key string
		want                 refs.SecretFacts
	}{
		{"dns", "s", "data", refs.SecretFacts{Secret: refs.Found, Key: refs.Found}},
		{"dns", "s", "text", refs.SecretFacts{Secret: refs.Found, Key: refs.Found, TrailingNewline: true}},
		{"dns", "s", "both", refs.SecretFacts{Secret: refs.Found, Key: refs.Found}},
		{"dns", "s", "absent", refs.SecretFacts{Secret: refs.Found, Key: refs.Absent}},
		{"other", "s", "data", refs.SecretFacts{}},
		{"dns", "other", "data", refs.SecretFacts{}},
	}
	for _, tt := range tests {
		t.Run(tt.namespace+"/"+tt.name+"/"+tt.key, func(t *testing.T) {
			facts, err := source.Secret(t.Context(), dnsv1alpha1.SecretKeyReference{Namespace: tt.namespace, Name: tt.name, Key: tt.key})
			if diff := cmp.Diff(tt.want, facts); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}
