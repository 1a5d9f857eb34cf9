package builder

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

func TestDNSRecord(t *testing.T) {
	const want = `
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {namespace: ns, name: sip, annotations: {k: v}, finalizers: [f]}
spec:
  type: SRV
  domain: example.org
  subdomain: _sip._tcp
  dnsClassRef: {name: other}
  values: [a.example.org, b.example.org]
  ttl: 60
  description: text
  metadata: {priority: 1, weight: 2, port: 3}
`
	got := DNSRecord("ns", "sip").Type("SRV").Domain("example.org").Subdomain("_sip._tcp").Class("other").
		Values("a.example.org", "b.example.org").TTL(60).Description("text").SRV(1, 2, 3).Annotation("k", "v").Finalizers("f").Obj()
	same(t, want, got)
}

func TestDNSClass(t *testing.T) {
	const want = `
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: c, finalizers: [f]}
spec:
  server: https://dns.example.com
  defaultTTL: 60
  timeoutSeconds: 5
  hmacAuth: {secretRef: {namespace: elsewhere, name: s, key: k}, algorithm: SHA512}
`
	got := DNSClass("c").Server("https://dns.example.com").DefaultTTL(60).Timeout(5).SecretRef("elsewhere", "s", "k").
		Algorithm(dnsv1alpha1.HMACSHA512).Finalizers("f").Obj()
	same(t, want, got)
}

func same[T any](t *testing.T, manifest string, got *T) {
	t.Helper()
	want := new(T)
	if err := yaml.UnmarshalStrict([]byte(manifest), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestObjIsACopy holds that one builder can serve for several objects.
func TestObjIsACopy(t *testing.T) {
	b := DNSRecord("ns", "a")
	first := b.Obj()
	second := b.Values("192.0.2.2").Annotation("k", "v").Deleting().Obj()
	first.Spec.Values[0] = "192.0.2.9"
	if second.Spec.Values[0] != "192.0.2.2" || first.Annotations != nil || first.DeletionTimestamp != nil {
		t.Errorf("the objects share what they are made of: %+v, %+v", first, second)
	}
}
