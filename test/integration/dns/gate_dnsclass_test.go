package dns

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
)

var _ = Describe("The gate for DNSClass", func() {
	class := func(change ...func(*dnsv1alpha1.DNSClass)) *dnsv1alpha1.DNSClass {
		c := &dnsv1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "gate-"}, Spec: dnsv1alpha1.DNSClassSpec{Server: "https://dns.example.com"}}
		for _, f := range change {
			f(c)
		}
		return c
	}
	create := func(ctx context.Context, c *dnsv1alpha1.DNSClass) ([]string, error) {
		heard := &warnings{}
		cfg := rest.CopyConfig(control.Admin())
		cfg.WarningHandler = heard
		cl, err := client.New(cfg, client.Options{Scheme: admin.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		err = cl.Create(ctx, c)
		if err == nil {
			DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, c))).To(Succeed()) })
		}
		return heard.texts, err
	}
	hmac := func(auth dnsv1alpha1.HMACAuth) func(*dnsv1alpha1.DNSClass) {
		return func(c *dnsv1alpha1.DNSClass) { c.Spec.HMACAuth = &auth }
	}
	server := func(url string) func(*dnsv1alpha1.DNSClass) {
		return func(c *dnsv1alpha1.DNSClass) { c.Spec.Server = url }
	}

	It("defaults what is absent", func(ctx SpecContext) {
		c := class(hmac(dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "none"}}))
		_, err := create(ctx, c)
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Spec.DefaultTTL).To(HaveValue(Equal(int32(300))))
		Expect(c.Spec.TimeoutSeconds).To(HaveValue(Equal(int32(30))))
		Expect(c.Spec.HMACAuth.Algorithm).To(Equal(dnsv1alpha1.HMACSHA256))
		Expect(*c.Spec.HMACAuth.SecretRef).To(Equal(dnsv1alpha1.SecretKeyReference{Name: "none", Namespace: operatorNamespace, Key: "hmac-secret"}))
		Expect(c.Finalizers).To(ContainElement(dnsv1alpha1.DNSClassInUseFinalizer))
	})

	DescribeTable("refuses", func(ctx SpecContext, field, rule string, change func(*dnsv1alpha1.DNSClass)) {
		_, err := create(ctx, class(change))
		expectRefused(err, field, rule)
		Expect(err.Error()).NotTo(ContainSubstring("hunter2"), "a secret is shown")
	},
		Entry("another scheme", "spec.server", "server-url", server("ftp://dns.example.com")),
		Entry("no host", "spec.server", "server-url", server("http:///records")),
		Entry("user info", "spec.server", "server-url", server("https://admin:hunter2@dns.example.com")),
		Entry("user info in what is no URL", "spec.server", "server-url", server("https://admin:hunter2@dns.example.com:port")),
		Entry("a query", "spec.server", "server-url", server("https://dns.example.com?token=hunter2")),
		Entry("a fragment", "spec.server", "server-url", server("https://dns.example.com#hunter2")),
		Entry("a path that is not clean", "spec.server", "server-url", server("https://dns.example.com/a/../b")),
		Entry("no secret at all", "spec.hmacAuth", "hmac-one-secret", hmac(dnsv1alpha1.HMACAuth{})),
		Entry("two secrets", "spec.hmacAuth", "hmac-one-secret", hmac(dnsv1alpha1.HMACAuth{Secret: ptr.To("hunter2"),
			SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "x"}})),
		Entry("an empty secret", "spec.hmacAuth.secret", "hmac-secret-empty", hmac(dnsv1alpha1.HMACAuth{Secret: ptr.To("")})),
		Entry("a Secret elsewhere", "spec.hmacAuth.secretRef.namespace", "secret-namespace", hmac(dnsv1alpha1.HMACAuth{
			SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "x", Namespace: "kube-system"}})),
		Entry("a Secret whose name is none", "spec.hmacAuth.secretRef.name", "secret-name", hmac(dnsv1alpha1.HMACAuth{
			SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "No_Name"}})),
	)

	It("refuses an unknown algorithm without showing the secret", func(ctx SpecContext) {
		_, err := create(ctx, class(hmac(dnsv1alpha1.HMACAuth{Secret: ptr.To("hunter2"), Algorithm: "MD5"})))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err.Error()).To(ContainSubstring("spec.hmacAuth.algorithm"))
		Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
	})

	It("shows no secret that is too long for the schema", func(ctx SpecContext) {
		long := make([]byte, 5000)
		for i := range long {
			long[i] = 'h'
		}
		_, err := create(ctx, class(hmac(dnsv1alpha1.HMACAuth{Secret: ptr.To(string(long))})))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err.Error()).NotTo(ContainSubstring("hhhh"))
	})

	It("warns of what is allowed and unwise", func(ctx SpecContext) {
		texts, err := create(ctx, class(server("http://dns.example.com"), hmac(dnsv1alpha1.HMACAuth{Secret: ptr.To("hunter2")})))
		Expect(err).NotTo(HaveOccurred())
		Expect(texts).To(ContainElements(ContainSubstring("hmac-inline-secret"), ContainSubstring("hmac-plain-http")))
		Expect(texts).NotTo(ContainElement(ContainSubstring("hunter2")))

		texts, err = create(ctx, class(hmac(dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "absent"}})))
		Expect(err).NotTo(HaveOccurred())
		Expect(texts).To(ContainElement(ContainSubstring("secret-absent")))

		newSecret(ctx, operatorNamespace, "newline", "hunter2\n")
		texts, err = create(ctx, class(hmac(dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "newline"}})))
		Expect(err).NotTo(HaveOccurred())
		Expect(texts).To(ContainElement(ContainSubstring("secret-newline")))
	})

	It("lets only those refer to a Secret who may get it", func(ctx SpecContext) {
		newSecret(ctx, operatorNamespace, "guarded", "hunter2")
		mallory := userWith(ctx, "mallory")
		ref := hmac(dnsv1alpha1.HMACAuth{SecretRef: &dnsv1alpha1.SecretKeyReference{Name: "guarded"}})
		expectRefused(mallory.Create(ctx, class(ref)), "spec.hmacAuth.secretRef", "secret-access")

		By("asking again when the server changes, for the signatures would go there")
		c := class(ref)
		_, err := create(ctx, c)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() error {
			now := &dnsv1alpha1.DNSClass{}
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(c), now)).To(Succeed())
			now.Spec.Server = "https://mallory.example.net"
			return mallory.Update(ctx, now)
		}).Should(Satisfy(apierrors.IsInvalid))

		By("leaving an update alone that changes neither")
		Eventually(func() error {
			now := &dnsv1alpha1.DNSClass{}
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(c), now)).To(Succeed())
			now.Spec.TimeoutSeconds = ptr.To[int32](9)
			return mallory.Update(ctx, now)
		}).Should(Succeed())
	})
})

// warnings collects what the API server warns of.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) { w.texts = append(w.texts, text) }

func newSecret(ctx context.Context, namespace, name, value string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"hmac-secret": []byte(value)}}
	Expect(admin.Create(ctx, secret)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, secret))).To(Succeed()) })
	return secret
}

// userWith is a client of somebody who may do everything with DNSClasses, and nothing else.
func userWith(ctx context.Context, name string) client.Client {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{dnsv1alpha1.GroupVersion.Group}, Resources: []string{"dnsclasses"}, Verbs: []string{"*"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "test-" + name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}}
	for _, obj := range []client.Object{role, binding} {
		Expect(admin.Create(ctx, obj)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, obj))).To(Succeed()) })
	}
	cfg := rest.CopyConfig(control.Admin())
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name}
	cl, err := client.New(cfg, client.Options{Scheme: admin.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return cl
}
