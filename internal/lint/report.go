package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/namegate/namegate/internal/rules"
)

// report makes the findings of all files, in the order of the input and of the lines, and counts them.
func (s *set) report() Report {
	out := Report{Findings: []Finding{}}
	for _, f := range s.files {
		out.Findings = append(out.Findings, s.reportFile(f, &out.Summary)...)
	}
	return out
}

func (s *set) reportFile(f *file, sum *Summary) []Finding {
	var out []Finding
	kept := map[rules.Severity]int{}
	sum.add(f)
	for _, sub := range f.subjects {
		found := s.reportSubject(sub)
		sum.addObject(found)
		slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
		for _, finding := range found {
			if kept[finding.Severity]++; kept[finding.Severity] > maxKept {
				f.dropped++
				continue
			}
			out = append(out, finding)
		}
	}
	if f.dropped == 0 {
		return out
	}
	rest := &subject{file: f}
	rest.add(rules.ManifestMany.Forbidden(nil, fmt.Sprintf("mend these first: %d more findings in this file are not shown", f.dropped)))
	return append(out, s.reportSubject(rest)...)
}

// add counts what was not kept of a file: findings, and documents that are no object.
func (sum *Summary) add(f *file) {
	denied, warned := max(f.noted[rules.Deny]-maxKept, 0), max(f.noted[rules.Warn]-maxKept, 0)
	sum.Objects += denied + warned
	sum.Denied += denied
	sum.Warned += warned
	sum.Findings += f.dropped
}

// addObject counts an object with its findings.
func (sum *Summary) addObject(found []Finding) {
	has := func(severity rules.Severity) int {
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == severity }) {
			return 1
		}
		return 0
	}
	sum.Objects++
	sum.Denied += has(rules.Deny)
	sum.Warned += has(rules.Warn)
	sum.Findings += len(found)
}

func (s *set) reportSubject(sub *subject) []Finding {
	var out []Finding
	for _, e := range sub.findings {
		deny, warn := s.opts.Policy.Split(field.ErrorList{e})
		for _, d := range deny {
			out = append(out, sub.finding(d, rules.Deny))
		}
		for _, w := range warn {
			out = append(out, sub.finding(w, rules.Warn))
		}
	}
	return out
}

// Lengths, in characters, of what is shown. Names and paths that Kubernetes would take are not cut.
const (
	maxShownName    = 300
	maxShownMessage = 2000
)

func (sub *subject) finding(e *field.Error, severity rules.Severity) Finding {
	line := sub.line
	if sub.places != nil {
		line = sub.places.lineOf(e.Field)
	}
	return Finding{
		File: sub.file.name, Line: line, Kind: sub.Kind, Namespace: printable(sub.namespace, maxShownName), Name: printable(sub.name, maxShownName),
		Field: printable(e.Field, maxShownName), Rule: e.Origin, Severity: severity, Message: printable(message(e), maxShownMessage),
	}
}

// message says what is wrong as the API server does, but for its word Forbidden, which says nothing that what follows does not.
func message(e *field.Error) string {
	if e.Type == field.ErrorTypeForbidden {
		return e.Detail
	}
	return e.ErrorBody()
}

// printable escapes what is not seen, or moves what is, and cuts what is too long.
func printable(text string, limit int) string {
	var out strings.Builder
	shown := 0
	for _, r := range text {
		if shown++; shown > limit {
			fmt.Fprintf(&out, "… (%d characters)", utf8.RuneCountInString(text))
			break
		}
		if strconv.IsPrint(r) && r != utf8.RuneError {
			out.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		out.WriteString(quoted[1 : len(quoted)-1])
	}
	return out.String()
}
