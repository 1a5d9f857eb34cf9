package lint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

var some = []lint.Finding{
	{File: "dir/a b.yaml", Line: 7, Kind: "DNSRecord", Namespace: "default", Name: "web", Field: "spec.values[0]", Rule: "value-ipv4", Severity: rules.Deny,
		Message: `Invalid value: "{x}": give another [link](x) (rule value-ipv4)`},
	{File: "stdin", Kind: "DNSClass", Name: "a", Field: "spec.server", Rule: "hmac-plain-http", Severity: rules.Warn, Message: "use https (rule hmac-plain-http)"},
	{File: "/abs/b.yaml", Line: 1, Rule: "manifest-syntax", Severity: rules.Deny, Message: "Forbidden: x (rule manifest-syntax)"},
}

// someReport is the findings above with what they would be counted as.
var someReport = lint.Report{Findings: some, Summary: lint.Summary{Objects: 4, Denied: 2, Warned: 1, Findings: 3}}

func TestWriteText(t *testing.T) {
	const want = `dir/a b.yaml:7: Deny DNSRecord default/web spec.values[0]: Invalid value: "{x}": give another [link](x) (rule value-ipv4)
stdin: Warn DNSClass a spec.server: use https (rule hmac-plain-http)
/abs/b.yaml:1: Deny: Forbidden: x (rule manifest-syntax)
4 objects checked: 2 denied, 1 with warnings; 3 findings
`
	var out bytes.Buffer
	if err := lint.WriteText(&out, someReport); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	out.Reset()
	if err := lint.WriteText(&out, lint.Report{Summary: lint.Summary{Objects: 1, Findings: 1}}); err != nil || out.String() != "1 object checked: 0 denied, 0 with warnings; 1 finding\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	if err := lint.WriteJSON(&out, someReport); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Findings []lint.Finding
		Summary  lint.Summary
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(some, got.Findings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Summary != someReport.Summary {
		t.Errorf("%+v; want %+v", got.Summary, someReport.Summary)
	}
	var raw struct{ Findings []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &raw); err != nil || len(raw.Findings) != len(some) {
		t.Fatalf("%v, %d findings", err, len(raw.Findings))
	}
	for i, finding := range raw.Findings {
		for _, key := range []string{"file", "kind", "namespace", "name", "field", "rule", "severity", "message"} {
			if _, there := finding[key]; !there {
				t.Errorf("finding %d has no %q", i, key)
			}
		}
	}
	out.Reset()
	if err := lint.WriteJSON(&out, lint.Report{}); err != nil || !strings.Contains(out.String(), `"findings": []`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestWriteSARIF checks what readers of SARIF 2.1.0 rely on: required properties, closed sets of values, indexes that fit.
func TestWriteSARIF(t *testing.T) {
	var out bytes.Buffer
	if err := lint.WriteSARIF(&out, someReport, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	type text struct{ Text string }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version, InformationURI string
					Rules                         []struct {
						ID                     string
						ShortDescription, Help text
						DefaultConfiguration   struct{ Level string }
					}
				}
			}
			Properties lint.Summary
			Results    []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   text
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine int }
					}
					LogicalLocations []struct{ FullyQualifiedName string }
				}
			}
		}
	}
	decoder := json.NewDecoder(&out)
	if err := decoder.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-schema-2.1.0.json") || len(log.Runs) != 1 {
		t.Fatalf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	run := log.Runs[0]
	driver := run.Tool.Driver
	if driver.Name == "" || driver.Version != "1.2.3" || len(driver.Rules) != len(rules.All()) {
		t.Errorf("driver %s %s with %d rules", driver.Name, driver.Version, len(driver.Rules))
	}
	for _, rule := range driver.Rules {
		registered, known := rules.Lookup(rule.ID)
		if !known || rule.ShortDescription.Text != registered.Summary || !strings.Contains(rule.Help.Text, registered.Source) {
			t.Errorf("rule %+v", rule)
		}
		if want := map[rules.Severity]string{rules.Deny: "error", rules.Warn: "warning"}[registered.Severity]; rule.DefaultConfiguration.Level != want {
			t.Errorf("rule %s has level %q; want %q", rule.ID, rule.DefaultConfiguration.Level, want)
		}
	}
	if run.Properties != someReport.Summary {
		t.Errorf("properties %+v; want %+v", run.Properties, someReport.Summary)
	}
	type result struct {
		rule, level, message, uri string
		line                      int
		object                    string
	}
	want := []result{
		{"value-ipv4", "error", `spec.values[0]: Invalid value: "{{x}}": give another [link] (x) (rule value-ipv4)`, "dir/a%20b.yaml", 7, "DNSRecord/default/web"},
		{"hmac-plain-http", "warning", "spec.server: use https (rule hmac-plain-http)", "stdin", 0, "DNSClass/a"},
		{"manifest-syntax", "error", "Forbidden: x (rule manifest-syntax)", "file:///abs/b.yaml", 1, ""},
	}
	var got []result
	for _, r := range run.Results {
		if driver.Rules[r.RuleIndex].ID != r.RuleID || len(r.Locations) != 1 {
			t.Fatalf("result %+v", r)
		}
		at := r.Locations[0]
		one := result{r.RuleID, r.Level, r.Message.Text, at.PhysicalLocation.ArtifactLocation.URI, 0, ""}
		if at.PhysicalLocation.Region != nil {
			one.line = at.PhysicalLocation.Region.StartLine
		}
		if len(at.LogicalLocations) > 0 {
			one.object = at.LogicalLocations[0].FullyQualifiedName
		}
		got = append(got, one)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWritersFail(t *testing.T) {
	for name, err := range map[string]error{"text": lint.WriteText(failing{}, someReport), "JSON": lint.WriteJSON(failing{}, someReport), "SARIF": lint.WriteSARIF(failing{}, someReport, "")} {
		if err == nil {
			t.Errorf("%s: no error where nothing can be written", name)
		}
	}
}
