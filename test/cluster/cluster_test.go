package cluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// holderEnv tells the test binary to be a program that starts a control plane, says so, and waits to be killed.
const holderEnv = "NAMEGATE_TEST_HOLD_CLUSTER"

func TestMain(m *testing.M) {
	if os.Getenv(holderEnv) != "" {
		hold()
		return
	}
	os.Exit(m.Run())
}

func hold() {
	c, err := Start(context.Background(), Options{ControllerManager: true})
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	for _, p := range c.Processes() {
		fmt.Print(p.Pid(), " ")
	}
	fmt.Println()
	select {}
}

// TestControlPlane starts one control plane for all that needs one.
func TestControlPlane(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Start(ctx, Options{ControllerManager: true, AuditWrites: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		pids := pidsOf(c)
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		awaitGone(t, pids)
		if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
			t.Errorf("the data directory is still there: %v", err)
		}
	}()

	t.Run("serves the shipped CRDs", func(t *testing.T) {
		if err := c.InstallCRDs(ctx); err != nil {
			t.Fatal(err)
		}
		out, err := c.Kubectl(ctx, nil, "get", "namegate", "--all-namespaces")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, "No resources found") {
			t.Errorf("kubectl get namegate: %s", out)
		}
	})
	t.Run("keeps its data when the API server was away", func(t *testing.T) {
		c.KillAPIServer()
		if err := c.Client().List(ctx, &corev1.NamespaceList{}); err == nil {
			t.Error("the API server still answers")
		}
		if err := c.Err(); err != nil {
			t.Errorf("a process that was killed on purpose is an error: %v", err)
		}
		if err := c.RestartAPIServer(ctx); err != nil {
			t.Fatal(err)
		}
		if out, err := c.Kubectl(ctx, nil, "get", "namegate", "--all-namespaces"); err != nil {
			t.Errorf("the CRDs are gone: %v: %s", err, out)
		}
	})
	t.Run("gives the operator its shipped rights and no more", func(t *testing.T) {
		if err := c.InstallRBAC(ctx, "namegate-system"); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := c.ServiceAccountConfig(ctx, "namegate-system", OperatorServiceAccount)
		if err != nil {
			t.Fatal(err)
		}
		operator, err := NewClient(cfg)
		if err != nil {
			t.Fatal(err)
		}
		may := func(verb, group, resource string) bool { return mayDo(ctx, t, operator, verb, group, resource) }
		if !may("list", "dns.homelab.mortenolsen.pro", "dnsrecords") {
			t.Error("the operator may not list DNSRecords")
		}
		if may("list", "", "secrets") {
			t.Error("the operator may list every Secret of the cluster")
		}
	})
	t.Run("moves the RBAC to another namespace", func(t *testing.T) {
		const other = "somewhere-else"
		if err := c.InstallRBAC(ctx, other); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := c.ServiceAccountConfig(ctx, other, OperatorServiceAccount)
		if err != nil {
			t.Fatal(err)
		}
		operator, err := NewClient(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !mayDo(ctx, t, operator, "list", "dns.homelab.mortenolsen.pro", "dnsrecords") {
			t.Error("the operator of the other namespace may not list DNSRecords")
		}
	})
	t.Run("finishes the deletion of a namespace", func(t *testing.T) {
		if err := c.CreateNamespace(ctx, "short-lived"); err != nil {
			t.Fatal(err)
		}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
		if err := c.Client().Delete(ctx, namespace); err != nil {
			t.Fatal(err)
		}
		err := Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
			err := c.Client().Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("the namespace is still there (%w)", err)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("logs writes and no reads", func(t *testing.T) {
		log, err := os.ReadFile(c.AuditLog())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(log), `"verb":"delete"`) || strings.Contains(string(log), `"verb":"list"`) {
			t.Errorf("the audit log holds no delete, or a list")
		}
	})
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func mayDo(ctx context.Context, t *testing.T, as client.Client, verb, group, resource string) bool {
	t.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource},
	}}
	if err := as.Create(ctx, review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

func pidsOf(c *Cluster) []int {
	var pids []int
	for _, p := range c.Processes() {
		pids = append(pids, p.Pid())
	}
	return pids
}

func awaitGone(t *testing.T, pids []int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := Poll(ctx, 20*time.Millisecond, func(context.Context) error {
		for _, pid := range pids {
			if processExists(pid) {
				return fmt.Errorf("process %d is still there", pid)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStartWithoutBinaries(t *testing.T) {
	_, err := Start(t.Context(), Options{Assets: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make controlplane") || !strings.Contains(err.Error(), "etcd is missing") {
		t.Errorf("want an error that names what is missing and `make controlplane`, got %v", err)
	}
}
