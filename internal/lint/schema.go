package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/namegate/namegate/internal/rules"
)

// fieldOf is a field of a kind.
type fieldOf struct {
	schema.GroupKind
	path string
}

// ruleOfField are the fields whose list of values is a rule of its own.
var ruleOfField = map[fieldOf]*rules.Rule{{dnsClassKind, "spec.hmacAuth.algorithm"}: rules.HMACAlgorithm}

// secretFields hold secrets: nothing below them is shown, and of themselves no value.
var secretFields = map[schema.GroupKind]string{dnsClassKind: "spec.hmacAuth.secret"}

// checkSchema checks an object as the API server checks a new one before it asks a validating webhook: it gives it a namespace, prunes unknown
// fields and the status, applies the schema's defaults, and validates. The object is changed to what would be stored; what has the
// wrong type becomes null, so that the rest of it can be judged.
func checkSchema(k *kind, object map[string]any, namespace string) (field.ErrorList, error) {
	c, err := k.compiled()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", k.Kind, err)
	}
	ch := checker{kind: k, compiled: c, object: object}
	ch.prune()
	ch.checkMetadata(namespace)
	delete(object, "status")
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object, c.structural)
	structuraldefaulting.Default(object, c.structural)
	ch.validate()
	for _, path := range ch.unreadable {
		setNull(object, splitPath(path))
	}
	return ch.findings, nil
}

type checker struct {
	*kind
	*compiled
	object   map[string]any
	findings field.ErrorList
	// unreadable are the paths of values that the Go type of their field cannot hold.
	unreadable []string
}

func (c *checker) add(findings ...*field.Error) { c.findings = append(c.findings, findings...) }

// prune drops what the schema does not know, and says so: kubectl refuses it, and an API client would lose it without a word.
func (c *checker) prune() {
	unknown := pruning.PruneWithOptions(c.object, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		parent := c.schemaAround(path)
		if parent.Type != "object" {
			continue // a finding of its own: what should be a single value is an object
		}
		c.add(rules.SchemaUnknownField.Forbidden(field.NewPath(path), "there is no such field here: "+fieldsOf(parent)))
	}
}

// fieldsOf says which fields an object can have.
func fieldsOf(s *structuralschema.Structural) string {
	if len(s.Properties) == 0 {
		return "leave it out"
	}
	return "give one of " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

// schemaAround returns the schema of what holds the field at a path, as far down as there is one.
func (c *checker) schemaAround(path string) *structuralschema.Structural {
	steps := splitPath(path)
	return schemaAt(c.structural, steps[:max(len(steps)-1, 0)])
}

func schemaAt(s *structuralschema.Structural, steps []part) *structuralschema.Structural {
	for _, step := range steps {
		next, known := s.Properties[step.key]
		switch {
		case known:
			s = &next
		case step.key == "" && s.Items != nil:
			s = s.Items
		case step.key != "" && s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			s = s.AdditionalProperties.Structural
		default:
			return s
		}
	}
	return s
}

// checkMetadata checks metadata, which no schema describes: types, unknown fields, and what Kubernetes asks of names and labels.
func (c *checker) checkMetadata(namespace string) {
	path := field.NewPath("metadata")
	given, isObject := c.object["metadata"].(map[string]any)
	if !isObject {
		if v := c.object["metadata"]; v != nil {
			c.add(rules.SchemaType.Invalid(path, typeOf(v), "give an object with a name"))
		}
		given = map[string]any{}
		c.object["metadata"] = given
	}
	wrong := c.dropWrongMetadata(path, given)
	if !c.namespaced {
		delete(given, "namespace")
	} else if given["namespace"] == nil || given["namespace"] == "" {
		given["namespace"] = namespace
	}
	meta, _, unknown, err := objectmeta.GetObjectMetaWithOptions(c.object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return // nothing is left in it that could not be read
	}
	for _, at := range unknown {
		c.add(rules.SchemaUnknownField.Forbidden(field.NewPath(at), "there is no such field in metadata: leave it out"))
	}
	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = meta.GenerateName + "00000" // as the API server makes one up before it validates
	}
	for _, e := range apivalidation.ValidateObjectMeta(meta, c.namespaced, apivalidation.NameIsDNSSubdomain, path) {
		if !wrong[e.Field] {
			c.add(rules.SchemaMetadata.Of(e))
		}
	}
}

// dropWrongMetadata takes out what has the wrong type, and returns the paths of it.
func (c *checker) dropWrongMetadata(path *field.Path, given map[string]any) map[string]bool {
	wrong := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		var meta metav1.ObjectMeta
		if err := decode(map[string]any{key: given[key]}, &meta); err != nil {
			at := path.Child(key)
			wrong[at.String()] = true
			c.add(rules.SchemaType.Invalid(at, typeOf(given[key]), metadataType(key)))
			delete(given, key)
		}
	}
	return wrong
}

func metadataType(key string) string {
	switch key {
	case "labels", "annotations":
		return `give texts: quote numbers and booleans ("1", "true")`
	case "finalizers":
		return "give a list of texts"
	case "name", "generateName", "namespace":
		return "give a text: quote what looks like a number or a boolean"
	}
	return "give what Kubernetes expects here, or leave it out"
}

// validate runs the OpenAPI schema, the invariants of lists and, where those leave an object that they can read, the CEL rules. There is no
// old object, so the rules about changes do not apply.
func (c *checker) validate() {
	errs := schemavalidation.ValidateCustomResource(nil, c.object, c.openapi)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, c.object)...)
	blocked := false
	for _, e := range c.placed(errs) {
		blocked = blocked || blocks(e)
		c.add(c.finding(e))
	}
	if blocked || c.rules == nil {
		return
	}
	broken, _ := c.rules.Validate(context.Background(), nil, c.structural, c.object, nil, celconfig.RuntimeCELCostBudget)
	for _, e := range c.placed(broken) {
		c.add(c.finding(e))
	}
}

// formatOf finds the field in an error about the format of a number, which has no path.
var formatOf = regexp.MustCompile(`^Checked value must be of type \S+ with format (\S+) in (\S+)$`)

// placed gives each error its path, and leaves one error of a value that has the wrong type or the wrong format.
func (c *checker) placed(errs field.ErrorList) field.ErrorList {
	told, wrongType := map[string]bool{}, map[string]bool{}
	for _, e := range errs {
		if e.Field == noPath {
			e.Field = ""
		}
		told[e.Field] = true
		if e.Type == field.ErrorTypeTypeInvalid {
			wrongType[e.Field] = true
		}
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		if format := formatOf.FindStringSubmatch(e.Detail); format != nil && e.Field == "" {
			e.Field, e.Detail = format[2], "give a value of the format "+format[1]
			e.BadValue = valueAt(c.object, splitPath(e.Field))
			c.unreadable = append(c.unreadable, e.Field)
			return told[e.Field]
		}
		return wrongType[e.Field] && e.Type != field.ErrorTypeTypeInvalid
	})
}

// blocks says whether the API server evaluates no CEL rules beside such an error.
func blocks(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeRequired, field.ErrorTypeTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeTooLong, field.ErrorTypeTooMany:
		return true
	default:
		return false
	}
}

// noPath is how an error about the whole object prints its path.
var noPath = (*field.Path)(nil).String()

// namedRule finds the rule that the message of a CEL rule ends with.
var namedRule = regexp.MustCompile(`\(rule ([a-z0-9-]+)\)$`)

// finding makes a finding of an error of the schema.
func (c *checker) finding(e *field.Error) *field.Error {
	e.Detail = strings.TrimPrefix(e.Detail, e.Field+" in body ")
	if named := namedRule.FindStringSubmatch(e.Detail); named != nil {
		if rule, known := rules.Lookup(named[1]); known {
			e.Origin = rule.ID
			return e
		}
	}
	switch e.Type {
	case field.ErrorTypeRequired:
		return rules.SchemaRequired.Required(field.NewPath(e.Field), "give this field")
	case field.ErrorTypeTypeInvalid:
		c.unreadable = append(c.unreadable, e.Field)
		steps := splitPath(e.Field)
		return rules.SchemaType.Invalid(field.NewPath(e.Field), typeOf(valueAt(c.object, steps)), "give "+article(schemaAt(c.structural, steps).Type))
	}
	if !isScalar(e.BadValue) {
		e.BadValue = typeOf(e.BadValue)
	}
	if rule := ruleOfField[fieldOf{c.GroupKind(), e.Field}]; rule != nil && e.Type == field.ErrorTypeNotSupported {
		return rule.Of(e)
	}
	return rules.SchemaValue.Of(e)
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

// typeOf names the type of a decoded value as a schema does.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	default:
		return "number"
	}
}

func article(schemaType string) string {
	switch schemaType {
	case "":
		return "another type of value"
	case "object", "array", "integer":
		return "an " + schemaType
	default:
		return "a " + schemaType
	}
}

// withoutSecrets takes out of a finding what may not be shown.
func withoutSecrets(kind schema.GroupKind, e *field.Error) *field.Error {
	secret, has := secretFields[kind]
	if !has || !isAtOrBelow(e.Field, secret) {
		return e
	}
	safe := *e
	safe.Field = secret
	if safe.BadValue != nil && safe.Origin != rules.SchemaType.ID {
		safe.BadValue = field.OmitValueType{}
	}
	return &safe
}

// valueAt returns what a decoded object holds at a path, nil where there is nothing.
func valueAt(value any, steps []part) any {
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value = v[step.key]
		case []any:
			if step.key != "" || step.index >= len(v) {
				return nil
			}
			value = v[step.index]
		default:
			return nil
		}
	}
	return value
}

// setNull replaces what is at a path by null.
func setNull(value any, steps []part) {
	if len(steps) == 0 {
		return
	}
	last := steps[len(steps)-1]
	switch holder := valueAt(value, steps[:len(steps)-1]).(type) {
	case map[string]any:
		if _, there := holder[last.key]; there {
			holder[last.key] = nil
		}
	case []any:
		if last.key == "" && last.index < len(holder) {
			holder[last.index] = nil
		}
	}
}

// decode reads a decoded object into a typed one, as the API server does: a field of another case is another field.
func decode(object map[string]any, into any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, into)
}
