package validation

import (
	"context"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/endpoint"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
)

// SecretScope holds the namespaces that an installation lists for Secrets. A nil scope is not known, and refuses
// nothing.
type SecretScope []string

func (s SecretScope) covers(namespace string) bool {
	if s == nil {
		return true
	}
	for _, listed := range s {
		if listed == namespace {
			return true
		}
	}
	return false
}

// DNSClass checks one DNSClass by itself.
func DNSClass(class *dnsv1alpha1.DNSClass, scope SecretScope) field.ErrorList {
	spec := field.NewPath("spec")
	var out field.ErrorList
	server, err := endpoint.Parse(class.Spec.Server)
	if err != nil {
		out = append(out, rules.ServerURL.Invalid(spec.Child("server"), endpoint.Shown(class.Spec.Server), err.Error()))
	}
	auth := class.Spec.HMACAuth
	if auth == nil {
		return out
	}
	if err == nil && !server.Secure() {
		out = append(out, rules.HMACPlainHTTP.Invalid(spec.Child("server"), class.Spec.Server,
			"use https where others share the network: signed requests can still be read on the way"))
	}
	return append(out, hmac(spec.Child("hmacAuth"), auth, scope)...)
}

func hmac(path *field.Path, auth *dnsv1alpha1.HMACAuth, scope SecretScope) field.ErrorList {
	var out field.ErrorList
	if auth.Secret != nil {
		if *auth.Secret == "" {
			out = append(out, rules.HMACSecretEmpty.Required(path.Child("secret"), "give a secret, or better a secretRef"))
		} else {
			out = append(out, rules.HMACInlineSecret.Forbidden(path.Child("secret"),
				"move it into a Secret and use secretRef: everyone who may read DNSClasses can read it here"))
		}
	}
	if auth.Secret != nil && strings.HasSuffix(*auth.Secret, "\n") {
		out = append(out, rules.SecretNewline.Forbidden(path.Child("secret"), newlineDetail))
	}
	if auth.SecretRef != nil {
		out = append(out, secretRef(path.Child("secretRef"), auth.SecretRef, scope)...)
	}
	return out
}

const newlineDetail = "the secret ends in a newline, which is part of it: make sure that the server's does too, or write it without (printf, not echo)"

// secretRef shows no value that is none: a secret itself may have been pasted there.
func secretRef(path *field.Path, ref *dnsv1alpha1.SecretKeyReference, scope SecretScope) field.ErrorList {
	var out field.ErrorList
	check := func(name, value string, tag format.Tag) {
		if !format.Is(tag, value) {
			out = append(out, rules.SecretName.Forbidden(path.Child(name), "give "+format.Accepts(tag)))
		}
	}
	check("name", ref.Name, format.ObjectName)
	check("namespace", ref.Namespace, format.Namespace)
	check("key", ref.Key, format.SecretKey)
	if format.Is(format.Namespace, ref.Namespace) && !scope.covers(ref.Namespace) {
		out = append(out, rules.SecretNamespace.Invalid(path.Child("namespace"), ref.Namespace,
			"the operator may read Secrets in these namespaces only: "+strings.Join(scope, ", ")))
	}
	return out
}

// DNSClassReferences checks what a DNSClass says about its Secret: that the user may read it, and whether it is there.
// It is asked anew when the reference, or the server that the signatures go to, changes (old is nil on create). An error is
// one of a look-up.
func DNSClassReferences(ctx context.Context, source refs.Source, user authenticationv1.UserInfo, class, old *dnsv1alpha1.DNSClass) (field.ErrorList, error) {
	ref := secretRefOf(class)
	if ref == nil || !format.Is(format.ObjectName, ref.Name) || !format.Is(format.Namespace, ref.Namespace) {
		return nil, nil
	}
	if old != nil && old.Spec.Server == class.Spec.Server && equality.Semantic.DeepEqual(secretRefOf(old), ref) {
		return nil, nil
	}
	path := field.NewPath("spec", "hmacAuth", "secretRef")
	allowed, err := source.MayGetSecret(ctx, user, ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	if allowed == refs.Absent {
		// Nothing is said about whether the Secret exists: who may not read it may not learn that either.
		return field.ErrorList{rules.SecretAccess.Forbidden(path,
			"only a user who may get a Secret may refer to it: name one that you may read, or ask for access")}, nil
	}
	facts, err := source.Secret(ctx, *ref)
	if err != nil {
		return nil, err
	}
	return secretFindings(path, ref, facts), nil
}

func secretRefOf(class *dnsv1alpha1.DNSClass) *dnsv1alpha1.SecretKeyReference {
	if class.Spec.HMACAuth == nil {
		return nil
	}
	return class.Spec.HMACAuth.SecretRef
}

func secretFindings(path *field.Path, ref *dnsv1alpha1.SecretKeyReference, facts refs.SecretFacts) field.ErrorList {
	switch {
	case facts.Secret == refs.Absent:
		return field.ErrorList{rules.SecretAbsent.NotFound(path.Child("name"), ref.Name,
			"create this Secret; until then no request can be signed")}
	case facts.Key == refs.Absent:
		return field.ErrorList{rules.SecretAbsent.NotFound(path.Child("key"), ref.Key,
			"add this key to the Secret; until then no request can be signed")}
	case facts.Empty:
		return field.ErrorList{rules.SecretAbsent.Forbidden(path.Child("key"),
			"put a secret under this key: it is empty, and no request can be signed")}
	case facts.TrailingNewline:
		return field.ErrorList{rules.SecretNewline.Forbidden(path.Child("key"),
			newlineDetail)}
	}
	return nil
}
