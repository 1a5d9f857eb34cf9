// Package cached answers the gate's questions from the informer caches of a cluster. The usual path makes no API call;
// what a refusal would rest on is confirmed with the API server first, because caches lag.
package cached

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Source implements refs.Source.
type Source struct {
	// Cache is read first.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Creator sends SubjectAccessReviews.
	Creator client.Writer
	// Store holds the claims, kept up to date by FeedDNS.
	Store *claims.Store
	// Feed knows the server of each class.
	Feed *claims.DNSFeed
	// Zones is the picture of all Zones and Records, kept up to date by FeedZones. Where it is nil, nothing is known of them.
	Zones *zone.Model
	// Policy says which problems of Zones and Records refuse, and so are confirmed.
	Policy rules.Policy
	// SecretNamespaces are those that the operator may read Secrets in. Elsewhere nothing is known.
	SecretNamespaces map[string]bool
}

var _ refs.Source = (*Source)(nil)

// DNSClass implements refs.Source.
func (s *Source) DNSClass(ctx context.Context, name string) (*dnsv1alpha1.DNSClass, refs.State, error) {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, refs.Absent, nil // the API server would not even look for it
	}
	class := &dnsv1alpha1.DNSClass{}
	err := s.Cache.Get(ctx, client.ObjectKey{Name: name}, class)
	if err == nil && class.DeletionTimestamp.IsZero() {
		return class, refs.Found, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, refs.Unknown, fmt.Errorf("look up DNSClass: %w", err)
	}
	class = &dnsv1alpha1.DNSClass{}
	err = s.Live.Get(ctx, client.ObjectKey{Name: name}, class)
	switch {
	case apierrors.IsNotFound(err):
		return nil, refs.Absent, nil
	case err != nil:
		return nil, refs.Unknown, fmt.Errorf("look up DNSClass: %w", err)
	}
	return class, refs.Found, nil
}

// Rivals implements refs.Source.
func (s *Source) Rivals(ctx context.Context, claim claims.Claim) ([]claims.Claim, error) {
	var confirmed []claims.Claim
	for _, rival := range s.Store.Rivals(claim) {
		live, err := s.confirm(ctx, claim, rival)
		if err != nil {
			return nil, err
		}
		if live {
			confirmed = append(confirmed, rival)
		}
	}
	return confirmed, nil
}

// confirm asks the API server whether a rival is still there and still claims the name.
func (s *Source) confirm(ctx context.Context, claim, rival claims.Claim) (bool, error) {
	rec := &dnsv1alpha1.DNSRecord{}
	err := s.Live.Get(ctx, rival.Owner.NamespacedName, rec)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up who has the name: %w", err)
	}
	for _, now := range claims.OfDNSRecord(rec, s.Feed.Server(rec.Spec.DNSClassRef.Name)) {
		if claims.Conflict(claim, now) != nil {
			return true, nil
		}
	}
	return false, nil
}

// Secret implements refs.Source. It is a live read: the operator caches no Secret.
func (s *Source) Secret(ctx context.Context, ref dnsv1alpha1.SecretKeyReference) (refs.SecretFacts, error) {
	if !s.SecretNamespaces[ref.Namespace] {
		return refs.SecretFacts{}, nil
	}
	secret := &corev1.Secret{}
	err := s.Live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return refs.SecretFacts{Secret: refs.Absent, Key: refs.Absent}, nil
	case apierrors.IsForbidden(err):
		return refs.SecretFacts{}, nil
	case err != nil:
		return refs.SecretFacts{}, fmt.Errorf("look up Secret: %w", err)
	}
	return refs.FactsOf(secret.Data, ref.Key), nil
}

// MayGetSecret implements refs.Source.
func (s *Source) MayGetSecret(ctx context.Context, user authenticationv1.UserInfo, namespace, name string) (refs.State, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra(user),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Name: name, Verb: "get", Version: "v1", Resource: "secrets"},
	}}
	if err := s.Creator.Create(ctx, review); err != nil {
		return refs.Unknown, fmt.Errorf("review access to the Secret: %w", err)
	}
	if review.Status.Allowed {
		return refs.Found, nil
	}
	return refs.Absent, nil
}

func extra(user authenticationv1.UserInfo) map[string]authorizationv1.ExtraValue {
	out := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for k, v := range user.Extra {
		out[k] = authorizationv1.ExtraValue(v)
	}
	return out
}
