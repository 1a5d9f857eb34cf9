package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/process"
	"github.com/namegate/namegate/test/cluster/stack"
)

// tsigSecret of the key with which the DNS server updates BIND; it is of this test only.
const tsigSecret = "bmFtZWdhdGUtZTJlLXRzaWcta2V5LTAxMjM0NTY3ODk="

// namedConf has one zone, which only the holder of the key may read whole or change.
const namedConf = `
key "namegate." { algorithm hmac-sha256; secret "%[1]s"; };
options {
	directory "%[2]s";
	listen-on port %[3]d { 127.0.0.1; };
	listen-on-v6 { none; };
	pid-file none;
	session-keyfile none;
	recursion no;
	notify no;
	dnssec-validation no;
	allow-transfer { key "namegate."; };
};
controls { };
zone "example.com" { type primary; file "example.com.zone"; allow-update { key "namegate."; }; };
`

const zoneFile = `$TTL 300
@ IN SOA ns1.example.com. hostmaster.example.com. 1 3600 600 86400 60
@ IN NS ns1.example.com.
ns1 IN A 192.0.2.53
`

// TestBIND takes records through the whole chain: API server, gate, controller, the protocol, RFC 2136, and a real BIND 9.
func TestBIND(t *testing.T) {
	named := findNamed(t)
	var (
		p    *place
		bind string
	)
	testenv.Test(t, features.New("a zone of BIND 9").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			bind = startBIND(ctx, t, named)
			keyFile := filepath.Join(t.TempDir(), "tsig")
			writeSecret(t, keyFile, tsigSecret+"\n")
			p = newServer(ctx, t, "bind", "--backend", "rfc2136", "--zone", "example.com",
				"--rfc2136-server", bind, "--tsig-key-name", "namegate", "--tsig-secret-file", keyFile)
			p.addClass(ctx, t, builder.DNSClass("bind").Server(p.server.URL).Obj())
			return ctx
		}).
		Assess("has records of every type, follows their changes, and loses them", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			all := everyType(p)
			for _, one := range all {
				create(ctx, t, one.record)
			}
			for _, one := range all {
				awaitReady(ctx, t, one.record)
				asks(ctx, t, bind, one.name, one.record, one.first...)
				change(ctx, t, one.record, one.change)
			}
			for _, one := range all {
				awaitReady(ctx, t, one.record)
				asks(ctx, t, bind, one.name, one.record, one.second...)
				remove(ctx, t, one.record)
			}
			for _, one := range all {
				awaitGone(ctx, t, one.record)
				asks(ctx, t, bind, one.name, one.record)
			}
			return ctx
		}).
		Assess("keeps what it had of its own", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if _, err := stack.AwaitAnswer(within(ctx, t, soon), bind, "ns1.example.com", "A", "192.0.2.53"); err != nil {
				t.Error(err)
			}
			return ctx
		}).Feature())
}

func asks(ctx context.Context, t *testing.T, server, name string, record *dnsv1alpha1.DNSRecord, want ...string) {
	t.Helper()
	if _, err := stack.AwaitAnswer(within(ctx, t, soon), server, name, string(record.Spec.Type), want...); err != nil {
		t.Fatal(err)
	}
}

func findNamed(t *testing.T) string {
	t.Helper()
	for _, candidate := range []string{"named", "/usr/sbin/named"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	t.Skip("named is missing: install Debian's bind9")
	return ""
}

// startBIND starts BIND on a free port and returns its address.
func startBIND(ctx context.Context, t *testing.T, named string) string {
	t.Helper()
	port, err := cluster.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "named.conf")
	for path, content := range map[string]string{
		conf:                                   fmt.Sprintf(namedConf, tsigSecret, dir, port),
		filepath.Join(dir, "example.com.zone"): zoneFile,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := process.Start(process.Spec{
		Path: named, Args: []string{"-g", "-4", "-n", "1", "-c", conf}, Dir: dir, LogFile: filepath.Join(workDir(), "named.log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	address := "127.0.0.1:" + strconv.Itoa(port)
	err = cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
		if err := p.Err(); err != nil {
			return cluster.Permanent(err)
		}
		answer, err := stack.Ask(ctx, address, "ns1.example.com", "A")
		if err == nil && len(answer.Values) == 0 {
			err = fmt.Errorf("named answers %s", answer.Rcode)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return address
}
