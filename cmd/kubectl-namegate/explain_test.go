package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
)

// delegatedZones is a cluster with zones below one another, some of which let in some names only.
func delegatedZones() *standIn {
	parent := makeZone("dns", "example-org", "example.org.",
		everything("dns"),
		zonev1alpha1.Delegation{Namespaces: []string{"team-a", "team-b"}, Zones: []string{"*.dev"}, Records: []zonev1alpha1.RecordDelegation{
			{Pattern: "*.dev", Types: []string{"A", "AAAA"}}, {Pattern: "www"}, {Pattern: "w*", Types: []string{"A"}}}})
	child := makeZone("team-a", "x-dev", "x.dev.example.org.", zonev1alpha1.Delegation{Namespaces: []string{"team-a"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "*"}}})
	stranger := &zonev1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "team-c", Name: "y-dev"}, Spec: zonev1alpha1.ZoneSpec{DomainName: "y.dev.example.org."}}
	return newStandIn([]*zonev1alpha1.Zone{parent, child, stranger, makeZone("other", "net", "example.net.", everything())},
		[]*zonev1alpha1.Record{makeRecord("team-b", "www.example.org.", "A", "192.0.2.1"), makeRecord("team-c", "www.example.org.", "A", "192.0.2.22"),
			makeRecord("team-b", "www.example.org.", "TXT", `"x"`)})
}

func TestExplain(t *testing.T) {
	some := map[string][]string{zones: {"", "team-a"}, records: {"", "dns"}}
	none := map[string][]string{zones: {"", "team-a"}, records: {"", "team-a"}}
	noRecords := map[string][]string{records: {"", "team-a"}}
	tests := []struct {
		name      string
		args      string
		forbidden map[string][]string
		code      int
	}{
		{"explain-own", "WWW.example.org. -n dns --type mx", nil, 0},
		{"explain-delegated", "www.example.org -n team-a", nil, 0},
		{"explain-sub-zone", "a.x.dev.example.org -n team-a", nil, 0},
		{"explain-not-in-sub-zone", "a.x.dev.example.org -n team-b --type AAAA", nil, 1},
		{"explain-type", "a.dev.example.org -n team-a --type TXT", nil, 1},
		{"explain-unpublished", "a.y.dev.example.org -n team-b", nil, 0},
		{"explain-nowhere", "www.example.com -n team-a", nil, 1},
		{"explain-wildcard", "*.example.net -n team-a", nil, 0},
		{"explain-some-namespaces", "www.example.org -n team-a --zone-namespace dns,team-a", some, 0},
		{"explain-unseen", "www.example.org -n team-b", some, 1},
		{"explain-no-records", "www.example.org -n team-a", noRecords, 0},
		{"", "www.example.org -n team-a", none, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cluster := delegatedZones()
			cluster.forbidden = tt.forbidden
			got := runBinary(t, "", append([]string{"explain", "--kubeconfig", cluster.serve(t)}, strings.Fields(tt.args)...)...)
			if got.code != tt.code || (got.stderr != "") != (tt.code == 2) {
				t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if tt.name == "" {
				if want := "you may read Zones neither in the whole cluster nor in team-a"; got.stdout != "" || !strings.Contains(got.stderr, want) {
					t.Errorf("%s%s; want %s", got.stdout, got.stderr, want)
				}
				return
			}
			golden(t, tt.name+".txt", got.stdout)
		})
	}
}

// What somebody put into an object around the gate does not reach the terminal as it is.
func TestExplainHidesControlCharacters(t *testing.T) {
	z := makeZone("dns", "example-org", "example.org.", zonev1alpha1.Delegation{Records: []zonev1alpha1.RecordDelegation{{Pattern: "www", Types: []string{"A", "\x1b[31m\n"}}}})
	got := runBinary(t, "", "explain", "www.example.org", "--kubeconfig", newStandIn([]*zonev1alpha1.Zone{z}, nil).serve(t))
	if got.code != 0 || strings.Contains(got.stdout, "\x1b") || !strings.Contains(got.stdout, "[31m") {
		t.Errorf("exit code %d\n%q", got.code, got.stdout)
	}
}

// What is let in by name may still have no place: below a delegation or a DNAME, and beside an alias.
func TestExplainBeside(t *testing.T) {
	config := newStandIn([]*zonev1alpha1.Zone{makeZone("dns", "example-org", "example.org.", everything())}, []*zonev1alpha1.Record{
		makeRecord("dns", "example.org.", "NS", "ns.example.net."), makeRecord("dns", "cut.example.org.", "NS", "ns.example.net."), makeRecord("dns", "tree.example.org.", "DNAME", "example.net."),
		makeRecord("dns", "alias.example.org.", "CNAME", "example.net."), makeRecord("dns", "www.example.org.", "A", "192.0.2.1"),
	}).serve(t)
	const refused = "these may leave no room for the record:\n  Record dns/"
	tests := []struct{ args, want string }{
		{"www.example.org --type AAAA", ""}, {"cut.example.org --type TYPE2", ""}, {"cut.example.org --type ds", ""}, {"ns.example.org", ""}, {"alias.example.org --type cname", ""}, {"tree.example.org", ""}, {"a.b.example.org --type type65280", ""},
		{"a.b.cut.example.org", refused + "cut.example.org.ns-15 delegates cut.example.org. to other name servers: there and below, only their addresses are published\n"},
		{"cut.example.org --type TXT", refused + "cut.example.org.ns-15 delegates "},
		{"a.tree.example.org", refused + "tree.example.org.dname-12 is a DNAME at tree.example.org.: nothing below it is published\n"},
		{"Alias.example.org.", refused + "alias.example.org.cname-12 is a CNAME at this name, and stands alone\n"},
		{"www.example.org --type CNAME", refused + "www.example.org.a-9 of type A is at this name, and a CNAME stands alone\n"},
	}
	for _, tt := range tests {
		got := runBinary(t, "", append([]string{"explain", "--kubeconfig", config, "-n", "dns"}, strings.Fields(tt.args)...)...)
		if got.code != 0 || !strings.Contains(got.stdout, tt.want) || strings.Contains(got.stdout, "may leave no room") != (tt.want != "") {
			t.Errorf("%s: exit code %d\n%s%s\nwant %s", tt.args, got.code, got.stdout, got.stderr, tt.want)
		}
	}
}

// What is asked wrongly is told how to ask.
func TestExplainQuestions(t *testing.T) {
	config := newStandIn([]*zonev1alpha1.Zone{makeZone("dns", "example-org", "example.org.", everything())}, nil).serve(t)
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"www"}, 1, "Nothing was added to the name: is it meant to be in a zone, as www.example.org?"},
		{[]string{"@"}, 2, `name "@": give the whole name`},
		{[]string{""}, 2, `name "": write a name`},
		{[]string{"a..b"}, 2, "a label is empty"},
		{[]string{"m\u00fcnchen.example.org"}, 2, "xn--mnchen-3ya.example.org"},
		{[]string{"a.*.example.org"}, 2, "only for the whole leftmost label"},
		{[]string{"www.example.org", "--type", "soa"}, 2, `--type "SOA": no Record has this type`},
		{[]string{"www.example.org", "--type", "TYPE46"}, 2, `--type "RRSIG": no Record has this type`},
		{[]string{"www.example.org", "--type", "x\x1b"}, 2, `--type "X\x1b": give the type of a record`},
		{[]string{"example.org", "--type", "DS"}, 1, "a DS record stands in the zone above"},
		{[]string{"www.example.org", "-n", "A_"}, 2, `--namespace "A_": give a namespace name`},
	}
	for _, tt := range tests {
		got := runBinary(t, "", append([]string{"explain", "--kubeconfig", config}, tt.args...)...)
		if got.code != tt.code || !strings.Contains(got.stdout+got.stderr, tt.want) {
			t.Errorf("%q: exit code %d\n%s%s\nwant %d, %s", tt.args, got.code, got.stdout, got.stderr, tt.code, tt.want)
		}
	}
}
