package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/rules"
)

func TestReadAreasFindsEveryRegisteredRule(t *testing.T) {
	areas, err := readAreas("../../internal/rules")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkAreas(rules.All(), areas); err != nil {
		t.Error(err)
	}
	for _, a := range areas {
		if a.title == "" {
			t.Errorf("the group of %v has no comment to make a heading of", a.ids)
		}
	}
}

func TestCheckAreas(t *testing.T) {
	all := []*rules.Rule{{ID: "a"}, {ID: "b"}}
	tests := []struct {
		name  string
		areas []area
		want  string
	}{
		{name: "each once", areas: []area{{ids: []string{"a"}}, {ids: []string{"b"}}}},
		{name: "one is in no group", areas: []area{{ids: []string{"a"}}}, want: "rule b is in 0 var groups"},
		{name: "one is in two groups", areas: []area{{ids: []string{"a", "b"}}, {ids: []string{"b"}}}, want: "rule b is in 2 var groups"},
		{name: "one is not registered", areas: []area{{ids: []string{"a", "b", "c"}}}, want: "c in the source"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := checkAreas(all, tt.areas)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("checkAreas() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTitleOf(t *testing.T) {
	for comment, want := range map[string]string{
		"Rules for domain names (internal/dnsname).\n": "Domain names",
		"Rules for DNSClass and\nDNSRecord. More.":     "DNSClass and DNSRecord",
		"": "",
	} {
		if got := titleOf(comment); got != want {
			t.Errorf("titleOf(%q) = %q, want %q", comment, got, want)
		}
	}
}

func TestRenderRules(t *testing.T) {
	all := []*rules.Rule{{ID: "a-rule", Severity: rules.Deny, Layer: rules.Object, Summary: "No | and no <b>.", Source: "RFC 1"}}
	got, err := renderRules(all, []area{{title: "Things", ids: []string{"a-rule"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "## Things\n\n| ID | severity | layer | rule | source |\n|---|---|---|---|---|\n" +
		"| <a id=\"a-rule\"></a>`a-rule` | Deny | object | No \\| and no &lt;b>. | RFC 1 |\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("the last table differs:\n%s", cmp.Diff(want, got[max(0, len(got)-len(want)):]))
	}
}
