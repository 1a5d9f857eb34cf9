package install

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/stack"
)

// checkCorefile starts CoreDNS with the shipped Corefile, its example of a secondary included, and with the rights of its ServiceAccount. It is
// ready when it has read the zones.
func checkCorefile(ctx context.Context, t *testing.T, c *cluster.Cluster, cl client.Client) {
	shipped := &corev1.ConfigMap{}
	if err := cl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "namegate-coredns"}, shipped); err != nil {
		t.Fatal(err)
	}
	_, kubeconfig, err := c.ServiceAccountConfig(ctx, namespace, cluster.CoreDNSServiceAccount)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := stack.Build(ctx, stack.BuildOptions{Root: "../../..", Dir: dir, Log: io.Discard}, stack.CoreDNSProgram); err != nil {
		t.Fatal(err)
	}
	corefile, ports := onFreePorts(t, shipped.Data["Corefile"], "1053", "8080", "8181", "9153")
	corefile = strings.NewReplacer("namegate {", fmt.Sprintf("namegate {\nkubeconfig %q", kubeconfig), "# transfer {", "transfer {", "#     to", "to", "# }", "}").Replace(corefile)
	path := filepath.Join(dir, "Corefile")
	if err := os.WriteFile(path, []byte(corefile), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(process.Spec{Name: "coredns", Path: filepath.Join(dir, "coredns"), Args: []string{"-conf", path}, LogFile: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, at := range []string{ports["8181"] + "/ready", ports["8080"] + "/health", ports["9153"] + "/metrics"} {
		err := cluster.Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
			if p.Exited() {
				return cluster.Permanent(p.Err())
			}
			return answersOK(ctx, "http://127.0.0.1:"+at)
		})
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", at, err, corefile, p.LogTail(20))
		}
	}
}

// onFreePorts writes free ports in the place of those of a Corefile.
func onFreePorts(t *testing.T, corefile string, ports ...string) (moved string, free map[string]string) {
	t.Helper()
	free = map[string]string{}
	for _, port := range ports {
		n, err := cluster.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		free[port] = fmt.Sprint(n)
		corefile = strings.ReplaceAll(corefile, ":"+port, ":"+free[port])
	}
	return corefile, free
}

func answersOK(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return nil
}
