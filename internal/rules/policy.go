package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Policy holds the severities that an installation sets. The zero value leaves every rule at its own.
type Policy struct {
	severities map[string]Severity
}

// ParsePolicy reads settings of the form "rule-id=Severity", separated by commas. Rules of the schema cannot be set:
// the API server decides them.
func ParsePolicy(settings string) (Policy, error) {
	p := Policy{severities: map[string]Severity{}}
	for setting := range strings.SplitSeq(settings, ",") {
		if setting = strings.TrimSpace(setting); setting == "" {
			continue
		}
		if err := p.set(setting); err != nil {
			return Policy{}, err
		}
	}
	return p, nil
}

func (p Policy) set(setting string) error {
	id, value, _ := strings.Cut(setting, "=")
	rule, known := Lookup(strings.TrimSpace(id))
	if !known {
		return fmt.Errorf("rule severity %q: there is no rule %q; docs/rules.md lists them", Clip(setting), Clip(id))
	}
	if rule.Layer == Schema {
		return fmt.Errorf("rule severity %q: %s is part of the CRD's schema and cannot be set", Clip(setting), rule.ID)
	}
	switch s := Severity(strings.TrimSpace(value)); s {
	case Deny, Warn, Off:
		p.severities[rule.ID] = s
		return nil
	default:
		return fmt.Errorf("rule severity %q: give Deny, Warn or Off", Clip(setting))
	}
}

// Severity of a finding. A finding without a rule is denied: nothing passes for want of a name.
func (p Policy) Severity(e *field.Error) Severity {
	if s, set := p.severities[e.Origin]; set {
		return s
	}
	if r, known := Lookup(e.Origin); known {
		return r.Severity
	}
	return Deny
}

// Split sorts findings into those that deny and those that warn, with long values cut short.
func (p Policy) Split(findings field.ErrorList) (deny, warn field.ErrorList) {
	for _, f := range findings {
		switch p.Severity(f) {
		case Deny:
			deny = append(deny, shown(f))
		case Warn:
			warn = append(warn, shown(f))
		case Off:
		}
	}
	return deny, warn
}
