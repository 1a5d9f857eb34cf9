package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/namegate/namegate/internal/rules"
)

// Summary counts what a run came to.
type Summary struct {
	// Objects of our kinds that were judged.
	Objects int `json:"objects"`
	// Denied and Warned count findings.
	Denied int `json:"denied"`
	Warned int `json:"warned"`
}

// Summarize counts findings about a number of objects.
func Summarize(findings []Finding, objects int) Summary {
	out := Summary{Objects: objects}
	for _, f := range findings {
		if f.Severity == rules.Deny {
			out.Denied++
		} else {
			out.Warned++
		}
	}
	return out
}

// WriteText writes a line for each finding, as compilers do, and one that sums up.
func WriteText(w io.Writer, findings []Finding, objects int) error {
	var out strings.Builder
	for _, f := range findings {
		out.WriteString(f.String())
		out.WriteByte('\n')
	}
	sum := Summarize(findings, objects)
	fmt.Fprintf(&out, "%s checked: %d denied, %s\n", counted(sum.Objects, "object"), sum.Denied, counted(sum.Warned, "warning"))
	_, err := io.WriteString(w, out.String())
	return err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String returns the finding on one line: file:line: severity, object and field, message.
func (f Finding) String() string {
	at := printable(f.File, maxShownMessage)
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	about := []string{string(f.Severity)}
	for _, word := range []string{f.Kind, f.object(), f.Field} {
		if word != "" {
			about = append(about, word)
		}
	}
	return at + ": " + strings.Join(about, " ") + ": " + f.Message
}

// object names the object as kubectl does.
func (f Finding) object() string {
	if f.Namespace == "" {
		return f.Name
	}
	return f.Namespace + "/" + f.Name
}

// WriteJSON writes an object with the list "findings" and a summary.
func WriteJSON(w io.Writer, findings []Finding, objects int) error {
	if findings == nil {
		findings = []Finding{}
	}
	return writeJSON(w, struct {
		Findings []Finding `json:"findings"`
		Summary  Summary   `json:"summary"`
	}{findings, Summarize(findings, objects)})
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
