package dns

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/provider/httpdns"
	"github.com/namegate/namegate/internal/record"
)

func TestTargets(t *testing.T) {
	in := func(namespace, name string, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	}
	find := &targets{operatorNamespace: "own", namespaces: []string{"own", "listed"}, live: fake.NewClientBuilder().WithObjects(
		in("own", "key", map[string][]byte{"hmac-secret": []byte("own key\n"), "empty": {}}),
		in("listed", "key", map[string][]byte{"other": []byte("listed key")}),
		in("elsewhere", "key", map[string][]byte{"hmac-secret": []byte("not ours")}),
	).Build()}
	ref := func(namespace, name, key string) *dnsv1alpha1.HMACAuth {
		return &dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Namespace: namespace, Name: name, Key: key}}
	}
	both := ref("", "key", "")
	both.Secret = ptr.To("s")
	for name, tt := range map[string]struct {
		auth      *dnsv1alpha1.HMACAuth
		timeout   *int32
		want      httpdns.Target
		reason    string
		wouldStay bool // gone for good
	}{
		"no signature":      {nil, nil, httpdns.Target{Timeout: 30 * time.Second}, "", false},
		"a timeout":         {nil, ptr.To[int32](7), httpdns.Target{Timeout: 7 * time.Second}, "", false},
		"inline":            {&dnsv1alpha1.HMACAuth{Secret: ptr.To("s"), Algorithm: "SHA512"}, nil, httpdns.Target{Key: []byte("s"), Algorithm: "SHA512"}, "", false},
		"all defaults":      {ref("", "key", ""), nil, httpdns.Target{Key: []byte("own key\n"), Algorithm: "SHA256"}, "", false},
		"namespace and key": {ref("listed", "key", "other"), nil, httpdns.Target{Key: []byte("listed key"), Algorithm: "SHA256"}, "", false},
		"absent":            {ref("", "absent", ""), nil, httpdns.Target{}, dnsv1alpha1.ReasonSecretNotFound, true},
		"no such key":       {ref("listed", "key", ""), nil, httpdns.Target{}, dnsv1alpha1.ReasonSecretNotFound, true},
		"empty":             {ref("own", "key", "empty"), nil, httpdns.Target{}, dnsv1alpha1.ReasonSecretNotFound, false},
		"not listed":        {ref("elsewhere", "key", ""), nil, httpdns.Target{}, dnsv1alpha1.ReasonSecretNotFound, false},
		"inline, empty":     {&dnsv1alpha1.HMACAuth{Secret: ptr.To("")}, nil, httpdns.Target{}, dnsv1alpha1.ReasonInvalidConfiguration, false},
		"neither":           {&dnsv1alpha1.HMACAuth{}, nil, httpdns.Target{}, dnsv1alpha1.ReasonInvalidConfiguration, false},
		"both":              {both, nil, httpdns.Target{}, dnsv1alpha1.ReasonInvalidConfiguration, false},
		"MD5":               {&dnsv1alpha1.HMACAuth{Secret: ptr.To("s"), Algorithm: "MD5"}, nil, httpdns.Target{}, dnsv1alpha1.ReasonInvalidConfiguration, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := class("main", serverURL)
			c.Spec.HMACAuth, c.Spec.TimeoutSeconds = tt.auth, tt.timeout
			at, err := endpoint.Parse(serverURL)
			must(t, err)
			got, bad, err := find.of(t.Context(), c, at)
			must(t, err)
			if tt.reason != "" {
				if bad == nil || bad.reason != tt.reason || bad.gone != tt.wouldStay || bad.message == "" {
					t.Fatalf("trouble %+v, want %s, gone %v", bad, tt.reason, tt.wouldStay)
				}
				return
			}
			if bad != nil {
				t.Fatalf("trouble %+v", bad)
			}
			if tt.want.Server = at; tt.want.Timeout == 0 {
				tt.want.Timeout = 30 * time.Second
			}
			if got.Server != tt.want.Server || got.Timeout != tt.want.Timeout || !bytes.Equal(got.Key, tt.want.Key) || got.Algorithm != tt.want.Algorithm {
				t.Errorf("target %v signed by %q with %s, want %v signed by %q with %s", got, got.Key, got.Algorithm, tt.want, tt.want.Key, tt.want.Algorithm)
			}
			if (got.Key == nil) != (tt.want.Key == nil) {
				t.Error("an empty key and none are not the same")
			}
		})
	}
}

func TestRefersTo(t *testing.T) {
	find := &targets{operatorNamespace: "own"}
	for name, tt := range map[string]struct {
		auth *dnsv1alpha1.HMACAuth
		want bool
	}{
		"by name":          {&dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Namespace: "own", Name: "key"}}, true},
		"by default":       {&dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "key"}}, true},
		"another":          {&dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Namespace: "own", Name: "other"}}, false},
		"of that name":     {&dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Namespace: "listed", Name: "key"}}, false},
		"inline":           {&dnsv1alpha1.HMACAuth{Secret: ptr.To("key")}, false},
		"without hmacAuth": {nil, false},
	} {
		c := class("main", serverURL)
		c.Spec.HMACAuth = tt.auth
		if got := find.refersTo(c, client.ObjectKey{Namespace: "own", Name: "key"}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestContentHash: it is the same for what publishes the same, and another for everything else.
func TestContentHash(t *testing.T) {
	at, _ := endpoint.Parse(serverURL)
	other, _ := endpoint.Parse("https://dns.example.org:7100")
	one := int64(1)
	base := record.Spec{Type: "MX", Domain: "example.com", Subdomain: "a.b", Values: []string{"x.example.com", "y.example.com"}, TTL: 300, Priority: &one}
	hash := func(at endpoint.URL, change func(*record.Spec)) string {
		s := base
		s.Values = append([]string(nil), base.Values...)
		change(&s)
		set, problems := record.Parse(s)
		if set == nil {
			t.Fatal(problems)
		}
		return contentHash(at, set)
	}
	want := hash(at, func(*record.Spec) {})
	if len(want) != 64 {
		t.Errorf("%q is no SHA-256 in hex", want)
	}
	same := hash(at, func(s *record.Spec) { s.Domain, s.Values = "Example.com.", []string{"Y.example.com.", "x.example.com"} })
	if same != want {
		t.Error("another hash for the same")
	}
	two := int64(2)
	seen := map[string]string{want: "base"}
	for name, got := range map[string]string{
		"server":   hash(other, func(*record.Spec) {}),
		"values":   hash(at, func(s *record.Spec) { s.Values = s.Values[:1] }),
		"joined":   hash(at, func(s *record.Spec) { s.Values = []string{"x.example.comy.example.com"} }),
		"TTL":      hash(at, func(s *record.Spec) { s.TTL = 301 }),
		"priority": hash(at, func(s *record.Spec) { s.Priority = &two }),
		"type":     hash(at, func(s *record.Spec) { s.Type, s.Priority = "NS", nil }),
		"split":    hash(at, func(s *record.Spec) { s.Subdomain, s.Domain = "a", "b.example.com" }),
	} {
		if before, twice := seen[got]; twice {
			t.Errorf("%s has the hash of %s", name, before)
		}
		seen[got] = name
	}
}
