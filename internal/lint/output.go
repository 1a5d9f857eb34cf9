package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteText writes a line for each finding, as compilers do, and one that sums up.
func WriteText(w io.Writer, report Report) error {
	var out strings.Builder
	for _, f := range report.Findings {
		out.WriteString(f.String())
		out.WriteByte('\n')
	}
	sum := report.Summary
	fmt.Fprintf(&out, "%s checked: %d denied, %d with warnings; %s\n", counted(sum.Objects, "object"), sum.Denied, sum.Warned, counted(sum.Findings, "finding"))
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

// WriteJSON writes an object with the list "findings" and the summary.
func WriteJSON(w io.Writer, report Report) error {
	if report.Findings == nil {
		report.Findings = []Finding{}
	}
	return writeJSON(w, report)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
