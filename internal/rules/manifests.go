package rules

import "k8s.io/apimachinery/pkg/util/validation/field"

// Rules for manifests, before a cluster sees them.
var (
	ManifestSyntax = register(Rule{ID: "manifest-syntax", Severity: Deny, Layer: Schema, Source: "YAML 1.2; RFC 8259",
		Summary: "A manifest is YAML or JSON, and says each thing once."})
	ManifestTooLarge = register(Rule{ID: "manifest-too-large", Severity: Deny, Layer: Schema, Source: "Kubernetes, limits of the API server",
		Summary: "A document has at most 3 MiB, aliases written out, and an object at most 10,000 values."})
	ManifestKind = register(Rule{ID: "manifest-kind", Severity: Deny, Layer: Schema, Source: "docs/api.md",
		Summary: "An object of our groups has an apiVersion and a kind that exist."})
	ManifestUntyped = register(Rule{ID: "manifest-untyped", Severity: Warn, Layer: Object, Source: "Kubernetes, objects",
		Summary: "A document that has no apiVersion and kind is no object, and was not checked."})
	ManifestDuplicate = register(Rule{ID: "manifest-duplicate", Severity: Deny, Layer: Reference, Source: "Kubernetes, names of objects",
		Summary: "An object is written once: of two documents with the same kind, namespace and name one overwrites the other."})
	ManifestMany = register(Rule{ID: "manifest-many-findings", Severity: Warn, Layer: Object, Source: "docs/lint.md",
		Summary: "Of a file with very many findings the first are shown."})

	SchemaUnknownField = register(Rule{ID: "schema-unknown-field", Severity: Deny, Layer: Schema, Source: "docs/api.md",
		Summary: "Every field is one of the kind's fields, or what it says is dropped."})
	SchemaType = register(Rule{ID: "schema-type", Severity: Deny, Layer: Schema, Source: "docs/api.md",
		Summary: "A value has the type of its field: a string, an integer, an object, an array."})
	SchemaRequired = register(Rule{ID: "schema-required", Severity: Deny, Layer: Schema, Source: "docs/api.md",
		Summary: "Required fields are given."})
	SchemaValue = register(Rule{ID: "schema-value", Severity: Deny, Layer: Schema, Source: "docs/api.md",
		Summary: "A value is one of those that its field lists, and within its bounds."})
	SchemaMetadata = register(Rule{ID: "schema-metadata", Severity: Deny, Layer: Schema, Source: "Kubernetes, metadata of objects",
		Summary: "Name, namespace, labels, annotations and finalizers have the form that Kubernetes asks for."})
)

// Of makes an error that a library found a finding of this rule.
func (r *Rule) Of(e *field.Error) *field.Error {
	found := *e
	return r.finding(&found)
}
