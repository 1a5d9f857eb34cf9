package main

import (
	"strings"
	"testing"

	"github.com/namegate/namegate/config/crd"
	"github.com/namegate/namegate/internal/rules"
)

// These tests hold the CRDs to what no generator checks.

// eachSchema visits every schema below part ("spec") of every kind and version.
func eachSchema(t *testing.T, part string, visit func(path string, s schema)) {
	t.Helper()
	crds, err := readCRDs(crd.FS())
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range crds {
		for _, version := range manifest.Spec.Versions {
			walk(manifest.Spec.Names.Kind+"."+part, version.Schema.OpenAPIV3Schema.Properties[part], visit)
		}
	}
}

func TestEveryCELMessageEndsWithItsRule(t *testing.T) {
	count := 0
	eachSchema(t, "spec", func(path string, s schema) {
		for _, v := range s.Validations {
			count++
			id, found := ruleOf(v.text())
			if !found {
				t.Errorf("%s: the message %q does not end with (rule <id>)", path, v.text())
				continue
			}
			if rule, known := rules.Lookup(id); !known || rule.Layer != rules.Schema {
				t.Errorf("%s: %q is no registered rule of the schema", path, id)
			}
		}
	})
	if count == 0 {
		t.Error("no CEL rule was found: the CRDs are not read as they are written")
	}
}

func TestEverythingThatUsersWriteHasAMaximum(t *testing.T) {
	count := 0
	eachSchema(t, "spec", func(path string, s schema) {
		count++
		if !isBounded(s) {
			t.Errorf("%s (%s) has no maximum", path, s.Type)
		}
	})
	if count == 0 {
		t.Error("no field was found: the CRDs are not read as they are written")
	}
}

func isBounded(s schema) bool {
	switch {
	case s.Type == "string":
		return s.MaxLength != nil || len(s.Enum) > 0
	case s.Type == "array":
		return s.MaxItems != nil
	case s.AdditionalProperties != nil:
		return s.MaxProperties != nil
	}
	return true
}

func TestIsBounded(t *testing.T) {
	nine := int64(9)
	tests := []struct {
		name string
		s    schema
		want bool
	}{
		{"string", schema{Type: "string"}, false},
		{"string with a length", schema{Type: "string", MaxLength: &nine}, true},
		{"enum", schema{Type: "string", Enum: []any{"A"}}, true},
		{"list", schema{Type: "array", Items: &schema{}}, false},
		{"list with a length", schema{Type: "array", Items: &schema{}, MaxItems: &nine}, true},
		{"map", schema{Type: "object", AdditionalProperties: &schema{}}, false},
		{"map with a size", schema{Type: "object", AdditionalProperties: &schema{}, MaxProperties: &nine}, true},
		{"object", schema{Type: "object"}, true},
	}
	for _, tt := range tests {
		if got := isBounded(tt.s); got != tt.want {
			t.Errorf("isBounded(%s) = %t, want %t", tt.name, got, tt.want)
		}
	}
}

// The API server puts the value of a field that breaks its schema into the error. So a field that holds a secret has no
// bound but that of its length, whose error shows no value.
func TestSchemaNeverShowsASecret(t *testing.T) {
	count := 0
	eachSchema(t, "spec", func(path string, s schema) {
		if !strings.HasSuffix(path, ".secret") {
			return
		}
		count++
		if s.Pattern != "" || s.Format != "" || len(s.Enum) > 0 || len(s.Validations) > 0 {
			t.Errorf("%s has a bound besides its length, whose error would show the secret", path)
		}
	})
	if count == 0 {
		t.Error("no field that holds a secret was found")
	}
}
