package lint

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/namegate/namegate/internal/rules"
)

// The parts of SARIF 2.1.0 (OASIS, sarif-v2.1.0) that we write. The numbers are sections of that document.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
		Properties Summary       `json:"properties"` // 3.8: a property bag
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID               string             `json:"id"`
		ShortDescription sarifText          `json:"shortDescription"`
		Help             sarifText          `json:"help"`
		Configuration    sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifText struct { // 3.11, 3.12
		Text string `json:"text"`
	}
	sarifConfiguration struct { // 3.50
		Level string `json:"level"`
	}
	sarifResult struct { // 3.27
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct { // 3.28
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct { // 3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct { // 3.4
		URI string `json:"uri"`
	}
	sarifRegion struct { // 3.30
		StartLine int `json:"startLine"`
	}
	sarifLogical struct { // 3.33
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// WriteSARIF writes the findings for tools that read SARIF 2.1.0, with all rules of the registry and the summary as properties of the run;
// version is that of the program.
func WriteSARIF(w io.Writer, report Report, version string) error {
	driver := sarifDriver{Name: "namegate", Version: version, InformationURI: "https://github.com/namegate/namegate"}
	index := map[string]int{}
	for i, rule := range rules.All() {
		index[rule.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{ID: rule.ID, ShortDescription: sarifText{rule.Summary},
			Help:          sarifText{rule.Summary + " Source: " + rule.Source + "."},
			Configuration: sarifConfiguration{sarifLevel(rule.Severity)}})
	}
	results := []sarifResult{}
	for _, f := range report.Findings {
		results = append(results, sarifResult{RuleID: f.Rule, RuleIndex: index[f.Rule], Level: sarifLevel(f.Severity),
			Message: sarifText{sarifMessage(f)}, Locations: []sarifLocation{locationOf(f)}})
	}
	return writeJSON(w, sarifLog{Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: results, Properties: report.Summary}}})
}

func sarifLevel(s rules.Severity) string {
	if s == rules.Deny {
		return "error"
	}
	return "warning"
}

// sarifMessage is the message with the field before it. In SARIF, ]( makes a link and braces make placeholders (3.11.5, 3.11.6).
func sarifMessage(f Finding) string {
	message := f.Message
	if f.Field != "" {
		message = f.Field + ": " + message
	}
	return strings.NewReplacer(`](`, `] (`, `{`, `{{`, `}`, `}}`).Replace(message)
}

func locationOf(f Finding) sarifLocation {
	out := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(f.File)}}}
	if f.Line > 0 {
		out.Physical.Region = &sarifRegion{f.Line}
	}
	if f.Kind != "" {
		out.Logical = []sarifLogical{{strings.TrimSuffix(f.Kind+"/"+f.object(), "/")}}
	}
	return out
}

// uriOf makes a URI reference of a file name, relative where the name is.
func uriOf(file string) string {
	path := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return (&url.URL{Path: path}).String()
}
