// Package rules is the registry of everything that the gate checks: each rule has a stable ID, a severity, a reason and
// the section of the standard or specification it rests on. The webhooks, the linter and docs/rules.md all
// read it. A finding is a field.Error whose Origin is the ID of its rule.
package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Severity is what a finding of a rule does.
type Severity string

// The severities of a rule.
const (
	// Deny refuses the object.
	Deny Severity = "Deny"
	// Warn admits the object and tells the user.
	Warn Severity = "Warn"
	// Off says nothing.
	Off Severity = "Off"
)

// Layer is where a rule is decided.
type Layer string

// The layers of the gate.
const (
	// Schema rules live in the CRD (OpenAPI or CEL) and hold while no webhook runs. Their severity is fixed.
	Schema Layer = "schema"
	// Object rules look at one object.
	Object Layer = "object"
	// Reference rules look at other objects too.
	Reference Layer = "reference"
)

// Rule is one check.
type Rule struct {
	// ID is stable and unique: lower-case words joined by hyphens.
	ID string
	// Severity unless the installation sets another.
	Severity Severity
	Layer    Layer
	// Summary is one line: what is refused and why.
	Summary string
	// Source is the RFC or specification section.
	Source string
}

var registry = map[string]*Rule{}

func register(r Rule) *Rule {
	if _, twice := registry[r.ID]; twice {
		panic("rule registered twice: " + r.ID)
	}
	registry[r.ID] = &r
	return &r
}

// Lookup finds a rule by its ID.
func Lookup(id string) (*Rule, bool) {
	r, ok := registry[id]
	return r, ok
}

// All returns every rule, sorted by ID.
func All() []*Rule {
	return slices.SortedFunc(maps.Values(registry), func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
}

// Invalid says that the value at path breaks the rule; detail says what would be accepted.
func (r *Rule) Invalid(path *field.Path, value any, detail string) *field.Error {
	return r.finding(field.Invalid(path, value, detail))
}

// Required says that the value at path is missing; detail says what would be accepted.
func (r *Rule) Required(path *field.Path, detail string) *field.Error {
	return r.finding(field.Required(path, detail))
}

// Forbidden says that what is at path may not be there; the value is not shown.
func (r *Rule) Forbidden(path *field.Path, detail string) *field.Error {
	return r.finding(field.Forbidden(path, detail))
}

// Duplicate says that the value at path is there already.
func (r *Rule) Duplicate(path *field.Path, value any, detail string) *field.Error {
	e := field.Duplicate(path, value)
	e.Detail = detail
	return r.finding(e)
}

// NotFound says that what the value at path names does not exist.
func (r *Rule) NotFound(path *field.Path, value any, detail string) *field.Error {
	e := field.NotFound(path, value)
	e.Detail = detail
	return r.finding(e)
}

func (r *Rule) finding(e *field.Error) *field.Error {
	e.Detail = fmt.Sprintf("%s (rule %s)", e.Detail, r.ID)
	e.Origin = r.ID
	return e
}

const maxShown = 80

// shown is a finding as people see it: with a value that is short, whatever the user wrote.
func shown(f *field.Error) *field.Error {
	short := *f
	short.BadValue = clip(f.BadValue)
	return &short
}

// clip shortens a value for a message. A string of a named type becomes a plain one, which field.Error quotes; what is no string
// it prints as JSON, so that is what is measured.
func clip(value any) any {
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return Clip(v.String())
	}
	if printed, err := json.Marshal(value); err != nil || len(printed) > maxShown {
		return Clip(string(printed))
	}
	return value
}

// Clip shortens text for a message: at most 80 characters, and the full length where any are left out. It does not quote: print
// the result with %q.
func Clip(s string) string {
	shown := 0
	for at := range s {
		if shown == maxShown {
			return fmt.Sprintf("%s… (%d characters)", s[:at], utf8.RuneCountInString(s))
		}
		shown++
	}
	return s
}
