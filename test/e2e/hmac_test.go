package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster/stack"
)

// TestHMAC signs requests with a Secret, and rotates it on the server first and in the cluster then.
func TestHMAC(t *testing.T) {
	const first, second = "the-first-shared-secret", "the-second-shared-secret"
	var (
		p          *place
		secretFile string
		secret     *corev1.Secret
		record     *dnsv1alpha1.DNSRecord
	)
	testenv.Test(t, features.New("requests signed with a Secret").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			dir := t.TempDir()
			secretFile = filepath.Join(dir, "secret")
			writeSecret(t, secretFile, first)
			p = newServer(ctx, t, "hmac", "--secret-file", secretFile, "--algorithm", "SHA512", "--data", filepath.Join(dir, "records.json"))
			secret = &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "hmac"},
				Data:       map[string][]byte{dnsv1alpha1.DefaultHMACKey: []byte(first)},
			}
			create(ctx, t, secret)
			t.Cleanup(func() { remove(context.WithoutCancel(ctx), t, secret) })
			p.addClass(ctx, t, builder.DNSClass("hmac").Server(p.server.URL).SecretRef("", "hmac", "").Algorithm("SHA512").Obj())
			record = p.record("www").Obj()
			return ctx
		}).
		Assess("publish", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			create(ctx, t, record)
			awaitReady(ctx, t, record)
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.1")
			return ctx
		}).
		Assess("fail with the old secret once the server has a new one", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if err := p.server.Stop(); err != nil {
				t.Fatal(err)
			}
			writeSecret(t, secretFile, second)
			if err := p.server.Start(ctx); err != nil {
				t.Fatal(err)
			}
			change(ctx, t, record, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = []string{"192.0.2.2"} })
			awaitReason(ctx, t, record, metav1.ConditionFalse, dnsv1alpha1.ReasonAuthenticationFailed)
			class := builder.DNSClass("hmac").Obj()
			awaitReason(ctx, t, class, metav1.ConditionFalse, dnsv1alpha1.ReasonAuthenticationFailed)
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.1")
			return ctx
		}).
		Assess("work again with the new one in the Secret", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			change(ctx, t, secret, func(s *corev1.Secret) { s.Data[dnsv1alpha1.DefaultHMACKey] = []byte(second) })
			awaitReady(ctx, t, record, builder.DNSClass("hmac").Obj())
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.2")
			return ctx
		}).
		Assess("and no log tells either secret", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for _, file := range []string{"namegate.log", "dnsserver-hmac.log"} {
				log, err := os.ReadFile(filepath.Join(workDir(), file))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(log), first) || strings.Contains(string(log), second) {
					t.Errorf("%s holds a secret", file)
				}
			}
			return ctx
		}).Feature())
}

func writeSecret(t *testing.T, path, secret string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
}
