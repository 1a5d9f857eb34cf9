package main

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// crdManifest is what the documentation needs of a CustomResourceDefinition. The API's own types would do, but only the
// linter links apiextensions-apiserver.
type crdManifest struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind       string   `json:"kind"`
			Plural     string   `json:"plural"`
			ShortNames []string `json:"shortNames"`
			Categories []string `json:"categories"`
		} `json:"names"`
		Versions []crdVersion `json:"versions"`
	} `json:"spec"`
}

type crdVersion struct {
	Name   string `json:"name"`
	Schema struct {
		OpenAPIV3Schema schema `json:"openAPIV3Schema"`
	} `json:"schema"`
	Columns []struct {
		Name     string `json:"name"`
		Priority int    `json:"priority"`
	} `json:"additionalPrinterColumns"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
}

// schema is an OpenAPI v3 schema, as far as controller-gen writes it.
type schema struct {
	Description          string            `json:"description"`
	Type                 string            `json:"type"`
	Format               string            `json:"format"`
	Default              any               `json:"default"`
	Enum                 []any             `json:"enum"`
	Pattern              string            `json:"pattern"`
	MinLength            *int64            `json:"minLength"`
	MaxLength            *int64            `json:"maxLength"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
	MinItems             *int64            `json:"minItems"`
	MaxItems             *int64            `json:"maxItems"`
	MaxProperties        *int64            `json:"maxProperties"`
	Required             []string          `json:"required"`
	Properties           map[string]schema `json:"properties"`
	Items                *schema           `json:"items"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	Validations          []celRule         `json:"x-kubernetes-validations"`
}

type celRule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
}

// celText finds the texts in a CEL expression.
var celText = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'`)

// text returns the message of a rule; of one that is composed with values of the object, those are left out: "a retry (…) that is less".
func (r celRule) text() string {
	if r.Message != "" {
		return r.Message
	}
	var parts []string
	for _, match := range celText.FindAllStringSubmatch(r.MessageExpression, -1) {
		parts = append(parts, match[1])
	}
	return strings.Join(parts, "…")
}

// readCRDs reads every manifest of bases/, sorted by group and kind.
func readCRDs(manifests fs.FS) ([]crdManifest, error) {
	names, err := fs.Glob(manifests, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no CRDs found; run make manifests")
	}
	crds := make([]crdManifest, 0, len(names))
	for _, name := range names {
		content, err := fs.ReadFile(manifests, name)
		if err != nil {
			return nil, err
		}
		var manifest crdManifest
		if err := yaml.Unmarshal(content, &manifest); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, manifest)
	}
	return crds, nil
}

// walk visits a schema and everything in it, parents first, siblings by name.
func walk(path string, s schema, visit func(path string, s schema)) {
	visit(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(join(path, name), s.Properties[name], visit)
	}
	if s.Items != nil {
		walk(path+"[]", *s.Items, visit)
	}
	if s.AdditionalProperties != nil {
		walk(path+".*", *s.AdditionalProperties, visit)
	}
}

// join appends a field to a path, which is empty for the object itself.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
