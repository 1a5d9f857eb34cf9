package namegate

import (
	"strings"
	"testing"

	"github.com/coredns/caddy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want options
	}{
		"nothing":     {"namegate", options{origins: []string{"example.org.", "."}}},
		"empty block": {"namegate {\n}", options{origins: []string{"example.org.", "."}}},
		"zones":       {"namegate Example.NET 10.0.0.0/24", options{origins: []string{"example.net.", "0.0.10.in-addr.arpa."}}},
		"everything": {"namegate . {\nkubeconfig /etc/k.conf prod\nnamespaces b a b\nfallthrough a.org\n}", func() options {
			o := options{origins: []string{"."}, watch: watchOptions{kubeconfig: "/etc/k.conf", context: "prod", namespaces: []string{"a", "b"}}}
			o.fall.Zones = []string{"a.org."}
			return o
		}()},
		"kubeconfig alone": {"namegate . {\nkubeconfig k\n}", options{origins: []string{"."}, watch: watchOptions{kubeconfig: "k"}}},
		"fallthrough for all": {"namegate . {\nfallthrough\n}", func() options {
			o := options{origins: []string{"."}}
			o.fall.Zones = []string{"."}
			return o
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			c := caddy.NewTestController("dns", tc.text)
			c.ServerBlockKeys = []string{"dns://example.org.:53", "dns://.:53"}
			got, err := parse(c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(options{}, watchOptions{}), cmpopts.IgnoreFields(options{}, "where")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for name, tc := range map[string]struct{ text, line, says string }{
		"unknown option":        {"namegate {\n\n\nkubecnofig x\n}", ":4", `unknown option "kubecnofig"`},
		"option with a newline": {"namegate {\n\"a\nb\"\n}", ":2", `unknown option "a\nb"`},
		"doubled option":        {"namegate {\nnamespaces a\nnamespaces b\n}", ":3", "namespaces is given twice"},
		"kubeconfig, no file":   {"namegate {\nkubeconfig\n}", ":2", "Wrong argument count"},
		"kubeconfig, too much":  {"namegate {\nkubeconfig a b c\n}", ":2", "Wrong argument count"},
		"no namespace":          {"namegate {\nnamespaces\n}", ":2", "Wrong argument count"},
		"bad namespace":         {"namegate {\nnamespaces Team_A\n}", ":2", `"Team_A" is no namespace`},
		"bad zone":              {"namegate a..b", ":1", `"a..b" is no zone`},
		"twice":                 {"namegate a\nnamegate b", "", "only be used once"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(caddy.NewTestController("dns", tc.text))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), tc.line) {
				t.Errorf("%q does not say %q and %q", err, tc.line, tc.says)
			}
		})
	}
}

// A server block that does not find its cluster keeps CoreDNS from starting, and says which line asked for it.
func TestNoCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for name, tc := range map[string]struct{ text, says string }{
		"no cluster": {"{addr} {\n\nnamegate\n}", "Corefile:3: this process does not run in a cluster: give kubeconfig FILE"},
		"no file":    {"{addr} {\nnamegate {\nkubeconfig /nowhere/k\n}\n}", `Corefile:3: kubeconfig "/nowhere/k"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{addr: freeAddress(t)}
			if _, err := caddy.Start(s.corefile(tc.text)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want one that says %q", err, tc.says)
			}
		})
	}
}
