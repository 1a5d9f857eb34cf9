package claims_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/test/builder"
)

func mustName(text string) dnsname.Name {
	name, err := dnsname.ParseOwner(text)
	if err != nil {
		panic(err)
	}
	return name
}

// byValue compares claims; names have no exported fields.
var byValue = cmp.Comparer(func(a, b dnsname.Name) bool { return a == b })

const (
	here  = claims.Plane("https://here.example.com")
	there = claims.Plane("https://there.example.com")
)

// claim makes a claim of www.example.com, type A, here, by default/<owner>, changed as asked.
func claim(owner string, changes ...func(*claims.Claim)) claims.Claim {
	c := claims.Claim{Plane: here, Name: mustName("www.example.com"), Type: record.A,
		Owner: claims.DNSRecordOwner("default", owner), UID: types.UID(owner), Created: time.Unix(1000, 0).UTC()}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func typed(t record.Type) func(*claims.Claim)   { return func(c *claims.Claim) { c.Type = t } }
func named(name string) func(*claims.Claim)     { return func(c *claims.Claim) { c.Name = mustName(name) } }
func on(plane claims.Plane) func(*claims.Claim) { return func(c *claims.Claim) { c.Plane = plane } }
func created(unix int64) func(*claims.Claim) {
	return func(c *claims.Claim) { c.Created = time.Unix(unix, 0).UTC() }
}
func inNamespace(name string) func(*claims.Claim) {
	return func(c *claims.Claim) { c.Owner.Namespace = name }
}
func ofKind(kind string) func(*claims.Claim) { return func(c *claims.Claim) { c.Owner.Kind = kind } }
func holds(c *claims.Claim)                  { c.Holds = true }

func TestConflict(t *testing.T) {
	tests := []struct {
		name string
		a, b claims.Claim
		want *rules.Rule
	}{
		{"same type", claim("a"), claim("b"), rules.NameTaken},
		{"two CNAMEs", claim("a", typed(record.CNAME)), claim("b", typed(record.CNAME)), rules.NameTaken},
		{"a CNAME beside another type", claim("a", typed(record.CNAME)), claim("b"), rules.CNAMEAlone},
		{"another type beside a CNAME", claim("a", typed(record.MX)), claim("b", typed(record.CNAME)), rules.CNAMEAlone},
		{"two other types", claim("a"), claim("b", typed(record.AAAA)), nil},
		{"another name", claim("a"), claim("b", named("web.example.com")), nil},
		{"a name below", claim("a"), claim("b", named("x.www.example.com")), nil},
		{"a wildcard is a name like any other", claim("a", named("*.example.com")), claim("b"), nil},
		{"another plane", claim("a"), claim("b", on(there)), nil},
		{"its own", claim("a"), claim("a"), nil},
		{"its own of another type", claim("a", typed(record.CNAME)), claim("a"), nil},
		{"the same name in another namespace", claim("a"), claim("a", inNamespace("other")), rules.NameTaken},
		{"the same name of another kind", claim("a"), claim("a", ofKind("Record")), rules.NameTaken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := claims.Conflict(tt.a, tt.b); got != tt.want {
				t.Errorf("%v; want %v", got, tt.want)
			}
			if got := claims.Conflict(tt.b, tt.a); got != tt.want {
				t.Errorf("the other way round: %v; want %v", got, tt.want)
			}
		})
	}
}

func TestPrecedes(t *testing.T) {
	tests := []struct {
		name          string
		winner, loser claims.Claim
	}{
		{"who holds comes before who is older", claim("b", holds, created(2000)), claim("a", created(1000))},
		{"the older of two holders", claim("b", holds, created(1000)), claim("a", holds, created(2000))},
		{"the older", claim("b", created(999)), claim("a", created(1000))},
		{"the namespace", claim("z", inNamespace("a")), claim("a", inNamespace("b"))},
		{"the name", claim("a"), claim("b")},
		{"the kind", claim("a", ofKind("DNSRecord")), claim("a", ofKind("Record"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !claims.Precedes(tt.winner, tt.loser) || claims.Precedes(tt.loser, tt.winner) {
				t.Errorf("%v does not precede %v alone", tt.winner, tt.loser)
			}
		})
	}
}

// Of any two objects exactly one precedes, and precedence is transitive, so that every replica names the same winner.
func TestPrecedesIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawClaim(t, "a"), drawClaim(t, "b"), drawClaim(t, "c")
		if claims.Precedes(a, a) {
			t.Fatalf("%v precedes itself", a)
		}
		if a.Owner != b.Owner && claims.Precedes(a, b) == claims.Precedes(b, a) {
			t.Fatalf("of %v and %v not exactly one precedes", a, b)
		}
		if claims.Precedes(a, b) && claims.Precedes(b, c) && !claims.Precedes(a, c) {
			t.Fatalf("%v, %v, %v: not transitive", a, b, c)
		}
	})
}

func drawClaim(t *rapid.T, label string) claims.Claim {
	owner := claims.DNSRecordOwner(rapid.SampledFrom([]string{"n", "m"}).Draw(t, label+" namespace"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, label+" name"))
	owner.Kind = rapid.SampledFrom([]string{"DNSRecord", "Record"}).Draw(t, label+" kind")
	return claims.Claim{Owner: owner, Holds: rapid.Bool().Draw(t, label+" holds"), Created: time.Unix(rapid.Int64Range(1, 3).Draw(t, label+" created"), 0).UTC()}
}

func TestOfDNSRecord(t *testing.T) {
	const server = "https://Here.example.com:443/"
	applied := func(server string, recordType dnsv1alpha1.RecordType, domain, subdomain string) *dnsv1alpha1.AppliedRecord {
		return &dnsv1alpha1.AppliedRecord{Server: server, Type: recordType, Domain: domain, Subdomain: subdomain}
	}
	base := func() *dnsv1alpha1.DNSRecord {
		rec := builder.DNSRecord("default", "a").Obj()
		rec.UID, rec.CreationTimestamp.Time = "a", time.Unix(1000, 0)
		return rec
	}
	tests := []struct {
		name   string
		server string
		change func(*dnsv1alpha1.DNSRecord)
		want   []claims.Claim
	}{
		{"on the server of its class, in canonical form", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Domain = "EXAMPLE.com." }, []claims.Claim{claim("a")}},
		{"at the domain itself", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Subdomain = "@" }, []claims.Claim{claim("a", named("example.com"))}},
		{"not defaulted yet", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Subdomain = "" }, []claims.Claim{claim("a", named("example.com"))}},
		{"a wildcard", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Subdomain = "*.apps" }, []claims.Claim{claim("a", named("*.apps.example.com"))}},
		{"class unknown", "", nil, nil},
		{"class with a broken server", "ftp://x", nil, nil},
		{"no domain", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Domain = "" }, nil},
		{"a broken subdomain", server, func(r *dnsv1alpha1.DNSRecord) { r.Spec.Subdomain = "a..b" }, nil},
		{"applied there", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied(string(here), "A", "example.com", "www")
		}, []claims.Claim{claim("a", holds)}},
		{"applied on another server", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied(string(there), "A", "example.com", "www")
		}, []claims.Claim{claim("a"), claim("a", on(there), holds)}},
		{"applied, class gone", "", func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied(string(there), "A", "example.com", "www")
		}, []claims.Claim{claim("a", on(there), holds)}},
		{"applied, and its spec makes no sense any more", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Spec.Domain = "exa mple.com"
			r.Status.Applied = applied(string(here), "A", "example.com", "www")
		}, []claims.Claim{claim("a", holds)}},
		{"applied as something else", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied(string(here), "TXT", "example.com", "old")
		}, []claims.Claim{claim("a"), claim("a", typed(record.TXT), named("old.example.com"), holds)}},
		{"applied makes no sense", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied(string(here), "A", "-", "www")
		}, []claims.Claim{claim("a")}},
		{"applied without a server", server, func(r *dnsv1alpha1.DNSRecord) {
			r.Status.Applied = applied("", "A", "example.com", "www")
		}, []claims.Claim{claim("a")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := base()
			if tt.change != nil {
				tt.change(rec)
			}
			if diff := cmp.Diff(tt.want, claims.OfDNSRecord(rec, tt.server), byValue); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
