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
