package app

import (
	"context"
	"fmt"
	"log/slog"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// watchableSecrets returns those of the namespaces in which this process may watch Secrets. One that it may not is left out and said
// so: a watch that is refused would hold up every class and record, and what it is for happens at the health check interval too.
func watchableSecrets(ctx context.Context, cluster *rest.Config, namespaces []string, log *slog.Logger) ([]string, error) {
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	var out []string
	for _, namespace := range namespaces {
		allowed, err := maySecrets(ctx, client, namespace, "list", "watch")
		if err != nil {
			return nil, fmt.Errorf("ask which Secrets may be watched: %w", err)
		}
		if allowed {
			out = append(out, namespace)
			continue
		}
		log.Warn("Secrets of a listed namespace may not be watched: changes are noticed at the health check interval only", "namespace", namespace,
			"remedy", "bind a Role with get, list and watch of secrets there, as config/rbac/secrets_role.yaml does")
	}
	return out, nil
}

// maySecrets asks the API server whether this process has all these rights on the Secrets of a namespace.
func maySecrets(ctx context.Context, client kubernetes.Interface, namespace string, verbs ...string) (bool, error) {
	for _, verb := range verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Version: "v1", Resource: "secrets"}}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil || !answer.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}
