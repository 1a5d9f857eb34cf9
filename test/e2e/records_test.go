package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/yaml"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
)

// TestRefusedSamples applies, with kubectl as a user does, what has to be refused.
func TestRefusedSamples(t *testing.T) {
	var p *place
	testenv.Test(t, features.New("bad objects are refused at once").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newServer(ctx, t, "reference")
			p.addClass(ctx, t, builder.DNSClass("reference").Server(p.server.URL).Obj())
			applySamples(ctx, t)
			return ctx
		}).
		Assess("each for the rule that its first line names", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			files, err := filepath.Glob(filepath.Join(plane.Root(), "config/samples/refused/*.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no samples: %v", err)
			}
			for _, file := range files {
				t.Run(filepath.Base(file), func(t *testing.T) { applyRefused(ctx, t, file) })
			}
			return ctx
		}).Feature())
}

// applySamples applies the good objects, which some of the bad ones are in conflict with: zones first, and no class, which the test has
// of its own. Those of zones go when the feature ends; the others go with the class.
func applySamples(ctx context.Context, t *testing.T) {
	t.Helper()
	samples, err := cluster.ReadManifests(filepath.Join(plane.Root(), "config/samples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"DNSRecord", "Zone", "Record"} {
		for _, sample := range samples {
			if sample.GetKind() != kind {
				continue
			}
			applySample(ctx, t, sample)
			if kind != "DNSRecord" {
				t.Cleanup(func() { remove(context.WithoutCancel(ctx), t, sample) })
			}
		}
	}
}

func applySample(ctx context.Context, t *testing.T, sample *unstructured.Unstructured) {
	t.Helper()
	manifest, err := yaml.Marshal(sample.Object)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(ctx, bytes.NewReader(manifest), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	awaitReady(ctx, t, sample)
}

func applyRefused(ctx context.Context, t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	rule, found := strings.CutPrefix(first, "# refused by: ")
	if !found {
		t.Fatalf("the first line is %q; want it to name the rule", first)
	}
	out, err := plane.Kubectl(ctx, nil, "apply", "-f", file)
	if err == nil {
		t.Fatalf("it was admitted: %s", out)
	}
	if !strings.Contains(out, "(rule "+rule+")") {
		t.Errorf("it was refused, but not by %s: %s", rule, out)
	}
}

// published is one record, what DNS answers about it, and the same after an update.
type published struct {
	record        *dnsv1alpha1.DNSRecord
	name          string
	first, second []string // rdata as a zone file writes it
	change        func(*dnsv1alpha1.DNSRecord)
}

func everyType(p *place) []published {
	values := func(values ...string) func(*dnsv1alpha1.DNSRecord) {
		return func(r *dnsv1alpha1.DNSRecord) { r.Spec.Values = values }
	}
	port := int32(8443)
	long := strings.Repeat("0123456789", 30) // more than one string of the wire holds
	return []published{
		{
			record: p.record("a").Values("192.0.2.1", "192.0.2.2").Obj(), name: "a.example.com",
			first: []string{"192.0.2.1", "192.0.2.2"}, change: values("192.0.2.3"), second: []string{"192.0.2.3"},
		}, {
			record: p.record("wildcard").Subdomain("*.apps").Values("192.0.2.4").Obj(), name: "any.apps.example.com",
			first: []string{"192.0.2.4"}, change: values("192.0.2.5"), second: []string{"192.0.2.5"},
		}, {
			record: p.record("aaaa").Type("AAAA").Values("2001:DB8:0::1").Obj(), name: "aaaa.example.com",
			first: []string{"2001:db8::1"}, change: values("2001:db8::2", "2001:db8::3"), second: []string{"2001:db8::2", "2001:db8::3"},
		}, {
			record: p.record("cname").Type("CNAME").Values("WWW.example.net").Obj(), name: "cname.example.com",
			first: []string{"www.example.net."}, change: values("other.example.net."), second: []string{"other.example.net."},
		}, {
			record: p.record("txt").Type("TXT").Subdomain("@").Values(`v=spf1 mx -all`, `say "hi" \ there`).Obj(), name: "example.com",
			first: []string{`"say \"hi\" \\ there"`, `"v=spf1 mx -all"`}, change: values(long), second: []string{`"` + long[:255] + `" "` + long[255:] + `"`},
		}, {
			record: p.record("mx").Type("MX").Values("mx1.example.net", "mx2.example.net").MX(10).Obj(), name: "mx.example.com",
			first: []string{"10 mx1.example.net.", "10 mx2.example.net."}, change: values("."), second: []string{"10 ."},
		}, {
			record: p.record("srv").Type("SRV").Subdomain("_https._tcp").Values("host.example.net").SRV(10, 100, 443).Obj(), name: "_https._tcp.example.com",
			first: []string{"10 100 443 host.example.net."}, second: []string{"10 100 8443 host.example.net."},
			change: func(r *dnsv1alpha1.DNSRecord) { r.Spec.Metadata.Port = &port },
		}, {
			record: p.record("ns").Type("NS").Subdomain("lab").Values("ns1.example.net", "ns2.example.net").Obj(), name: "lab.example.com",
			first: []string{"ns1.example.net.", "ns2.example.net."}, change: values("ns3.example.net"), second: []string{"ns3.example.net."},
		},
	}
}

// TestEveryType publishes, changes and deletes a record of each type.
func TestEveryType(t *testing.T) {
	var p *place
	var all []published
	testenv.Test(t, features.New("records of every type").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "every-type")
			all = everyType(p)
			for _, one := range all {
				create(ctx, t, one.record)
			}
			return ctx
		}).
		Assess("are published", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for _, one := range all {
				awaitReady(ctx, t, one.record)
				answer := p.answers(ctx, t, one.name, string(one.record.Spec.Type), one.first...)
				if answer.TTL != dnsv1alpha1.DefaultTTL {
					t.Errorf("%s: TTL %d, want the class's", one.name, answer.TTL)
				}
				if one.record.Status.State != dnsv1alpha1.RecordStateCreated {
					t.Errorf("%s: state %s, want Created", one.name, one.record.Status.State)
				}
			}
			return ctx
		}).
		Assess("follow a change", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			ttl := int32(61)
			for _, one := range all {
				change(ctx, t, one.record, func(r *dnsv1alpha1.DNSRecord) {
					one.change(r)
					r.Spec.TTL = &ttl
				})
			}
			for _, one := range all {
				awaitReason(ctx, t, one.record, "True", dnsv1alpha1.ReasonRecordUpdated)
				if answer := p.answers(ctx, t, one.name, string(one.record.Spec.Type), one.second...); answer.TTL != uint32(ttl) {
					t.Errorf("%s: TTL %d, want %d", one.name, answer.TTL, ttl)
				}
			}
			return ctx
		}).
		Assess("and go", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for _, one := range all {
				remove(ctx, t, one.record)
			}
			for _, one := range all {
				awaitGone(ctx, t, one.record)
				p.answers(ctx, t, one.name, string(one.record.Spec.Type))
			}
			return ctx
		}).Feature())
}

// TestDrift holds that what a server has lost comes back.
func TestDrift(t *testing.T) {
	var p *place
	testenv.Test(t, features.New("a server that forgot its records").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			p = newPlace(ctx, t, "drift")
			record := p.record("www").Obj()
			create(ctx, t, record)
			awaitReady(ctx, t, record)
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.1")
			return ctx
		}).
		Assess("gets them again at the resync", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if err := p.server.Stop(); err != nil { // a memory server without a file
				t.Fatal(err)
			}
			if err := p.server.Start(ctx); err != nil {
				t.Fatal(err)
			}
			p.answers(ctx, t, "www.example.com", "A", "192.0.2.1")
			return ctx
		}).Feature())
}
