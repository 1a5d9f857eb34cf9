// Package e2e runs Namegate as its users do: `namegate all`, CoreDNS and the reference DNS server as processes, with the shipped
// CRDs, RBAC and webhooks, against a real control plane, and looks at what DNS answers.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// clusterName is the name of the cluster in the framework's context.
const clusterName = "namegate"

// Intervals are short, so that a test does not wait for what production does rarely.
var namegateEnv = []string{
	"DNS_CLASS_HEALTH_CHECK_INTERVAL=1s",
	"DNS_RECORD_RETRY_BASE_DELAY=200ms",
	"DNS_RECORD_RETRY_MAX_DELAY=2s",
	"DNS_RECORD_RETRY_MAX_ATTEMPTS=5",
	"DNS_RECORD_RESYNC_INTERVAL=2s",
	"ZONE_PUBLISH_INTERVAL=100ms",
}

// What all features share. The framework's set-up sets it before any of them runs.
var (
	testenv  env.Environment
	provider = cluster.NewProvider(cluster.Options{ControllerManager: true, AuditWrites: true, LogDir: workDir()})
	plane    *cluster.Cluster
	namegate *stack.Namegate
	admin    client.Client
)

func TestMain(m *testing.M) {
	testenv = env.NewWithConfig(envconf.New())
	testenv.Setup(emptyWorkDir, buildPrograms, envfuncs.CreateCluster(provider, clusterName), install, startNamegate)
	testenv.Finish(stopNamegate, envfuncs.DestroyCluster(clusterName))
	code := testenv.Run(m)
	if err := findRaces(workDir()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// workDir gets the binaries and the logs; it is kept, so that a failure can be read up on.
func workDir() string {
	root, err := cluster.RepoRoot()
	if err != nil {
		panic(err)
	}
	return filepath.Join(root, "bin", "e2e")
}

// emptyWorkDir removes the logs of the last run.
func emptyWorkDir(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	if err := os.MkdirAll(workDir(), 0o755); err != nil {
		return ctx, err
	}
	logs, err := filepath.Glob(filepath.Join(workDir(), "*.log"))
	for _, log := range logs {
		err = errors.Join(err, os.Remove(log))
	}
	return ctx, err
}

func buildPrograms(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	root, err := cluster.RepoRoot()
	if err != nil {
		return ctx, err
	}
	return ctx, stack.Build(ctx, stack.BuildOptions{Root: root, Dir: workDir(), Race: raceDetector, Log: os.Stderr},
		stack.NamegateProgram, stack.DNSServerProgram, stack.CoreDNSProgram, stack.KubectlProgram)
}

func install(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	plane = provider.Cluster()
	admin = plane.Client()
	if err := plane.InstallCRDs(ctx); err != nil {
		return ctx, err
	}
	return ctx, plane.InstallRBAC(ctx, stack.Namespace)
}

func startNamegate(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	var err error
	namegate, err = stack.StartNamegate(ctx, plane, stack.NamegateOptions{
		Binary:  filepath.Join(workDir(), stack.NamegateProgram.Name),
		LogFile: filepath.Join(workDir(), "namegate.log"),
		Env:     namegateEnv,
	})
	return ctx, err
}

func stopNamegate(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	if namegate == nil {
		return ctx, nil
	}
	return ctx, errors.Join(namegate.Process().Err(), plane.Err(), namegate.Stop())
}

// findRaces reports what the race detector of a child process wrote to its log.
func findRaces(dir string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range logs {
		log, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		if at := bytes.Index(log, []byte("WARNING: DATA RACE")); at >= 0 {
			end := min(len(log), at+4000)
			err = errors.Join(err, fmt.Errorf("%s tells of a data race:\n%s", path, log[at:end]))
		}
	}
	return err
}
