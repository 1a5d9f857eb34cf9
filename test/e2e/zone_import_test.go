package e2e

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster/stack"
)

// importedFile has something of each kind that a master file may have.
const importedFile = `$TTL 1h
@ IN SOA ns1 hostmaster 2020010101 2h 15m 2w 5m
@ NS ns1
  NS ns2.example.net.
  MX 10 mail
  TXT "v=spf1 mx -all"
  CAA 0 issue "ca.example.net"
ns1 A 192.0.2.1
    AAAA 2001:DB8::1
mail 600 A 192.0.2.2
WWW CNAME @
_sip._tcp SRV 10 20 5060 mail
*.apps A 192.0.2.4
lab NS ns.lab
ns.lab A 192.0.2.5
text TXT "say \"hi\"; $INCLUDE \\ there" "two"
$GENERATE 1-5 host-$ A 192.0.2.10$
`

// TestZoneImport takes a master file into the cluster and out of it again, by the programs that people use.
func TestZoneImport(t *testing.T) {
	const name, origin = "zones-import", "import.test."
	var (
		imported string
		exported string
		want     *stack.ZoneData
		z        = builder.Zone(name, "imported").Obj()
	)
	testenv.Test(t, features.New("a master file").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			(&place{name: name}).addNamespace(ctx, t)
			want = parseZone(t, importedFile, origin)
			return ctx
		}).
		Assess("is applied in one pass, and served", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			file := filepath.Join(t.TempDir(), "db")
			writeSecret(t, file, importedFile)
			imported = kubectlNamegate(ctx, t, nil, "zone", "import", file, "-n", name, "--name", z.Name, "--origin", origin)
			if out, err := plane.Kubectl(ctx, strings.NewReader(imported), "apply", "-f", "-"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			server := startCoreDNS(ctx, t, name, stack.CoreDNSOptions{Transfers: []string{"127.0.0.1:9"}})
			awaitTransfer(ctx, t, server.Address, origin, want.Records)
			return ctx
		}).
		Assess("comes out as it went in", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			awaitReady(ctx, t, z)
			exported = kubectlNamegate(ctx, t, nil, "zone", "export", z.Name, "-n", name)
			got := parseZone(t, exported, origin)
			if int64(got.Serial) != z.Status.Serial {
				t.Errorf("the serial of the export is %d, want %d", got.Serial, z.Status.Serial)
			}
			want.Serial = got.Serial // a file's own is not taken over
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the export is not the file (-want +got):\n%s", diff)
			}
			return ctx
		}).
		Assess("makes the same manifests again", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			again := kubectlNamegate(ctx, t, strings.NewReader(exported), "zone", "import", "-", "-n", name, "--name", z.Name)
			if diff := cmp.Diff(documents(imported), documents(again)); diff != "" {
				t.Errorf("the import of the export is not the import of the file (-file +export):\n%s", diff)
			}
			return ctx
		}).
		Assess("is good for named-checkzone", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			checkZone(ctx, t, origin, exported)
			return ctx
		}).
		Assess("and explains itself", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			out := kubectlNamegate(ctx, t, nil, "explain", "new."+origin, "-n", name, "--type", "A")
			if !strings.Contains(out, z.Name) {
				t.Errorf("it does not name the zone %s: %s", z.Name, out)
			}
			return ctx
		}).Feature())
}

// kubectlNamegate runs the plugin as the administrator and returns what it prints.
func kubectlNamegate(ctx context.Context, t *testing.T, stdin io.Reader, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(workDir(), stack.KubectlProgram.Name), args...)
	cmd.Env = append(os.Environ(), plane.KubectlEnv()...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl namegate %s: %v: %s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// parseZone reads a master file.
func parseZone(t *testing.T, text, origin string) *stack.ZoneData {
	t.Helper()
	data := &stack.ZoneData{}
	parser := dns.NewZoneParser(strings.NewReader(text), origin, "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if soa, isSOA := rr.(*dns.SOA); isSOA {
			data.Serial, soa.Serial = soa.Serial, 0
			data.SOA = stack.Line(soa)
			continue
		}
		data.Records = append(data.Records, stack.Line(rr))
	}
	if err := parser.Err(); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	slices.Sort(data.Records)
	return data
}

// documents of a file of manifests, sorted.
func documents(manifests string) []string {
	all := strings.Split(manifests, "---\n")
	slices.Sort(all)
	return all
}

// checkZone has BIND's checker look at a master file.
func checkZone(ctx context.Context, t *testing.T, origin, text string) {
	t.Helper()
	checker, err := exec.LookPath("named-checkzone")
	if err != nil {
		t.Skip("named-checkzone is missing: install Debian's bind9-utils")
	}
	file := filepath.Join(t.TempDir(), "db")
	writeSecret(t, file, text)
	if out, err := exec.CommandContext(ctx, checker, "-i", "local", origin, file).CombinedOutput(); err != nil {
		t.Errorf("named-checkzone: %v: %s\n%s", err, out, text)
	}
}
