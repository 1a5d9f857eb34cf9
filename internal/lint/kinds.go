package lint

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/namegate/namegate/config/crd"
)

// kind is one of our kinds in one version.
type kind struct {
	schema.GroupVersionKind
	namespaced bool
	// compiled is made when the first object of the kind is met: CEL takes its time.
	compiled func() (*compiled, error)
}

// compiled is what checks the schema of a kind.
type compiled struct {
	structural *structuralschema.Structural
	openapi    schemavalidation.SchemaCreateValidator
	// rules is nil for a kind without CEL rules.
	rules *cel.Validator
}

// kinds are those that our CustomResourceDefinitions serve.
type kinds struct {
	byGVK map[schema.GroupVersionKind]*kind
	// byList finds the kind of the items of a typed list.
	byList map[schema.GroupVersionKind]*kind
}

// loadKinds reads the embedded CustomResourceDefinitions, once. An error says that they are broken, which no input can cause.
var loadKinds = sync.OnceValues(func() (*kinds, error) {
	out := &kinds{byGVK: map[schema.GroupVersionKind]*kind{}, byList: map[schema.GroupVersionKind]*kind{}}
	files, err := fs.Glob(crd.FS(), "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(crd.FS(), file)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := sigsyaml.UnmarshalStrict(text, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out.add(definition)
	}
	return out, nil
})

func (k *kinds) add(definition *apiextensionsv1.CustomResourceDefinition) {
	spec := definition.Spec
	for _, version := range spec.Versions {
		if !version.Served {
			continue
		}
		gv := schema.GroupVersion{Group: spec.Group, Version: version.Name}
		added := &kind{GroupVersionKind: gv.WithKind(spec.Names.Kind), namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
			compiled: sync.OnceValues(func() (*compiled, error) { return compile(version.Schema) })}
		k.byGVK[added.GroupVersionKind] = added
		k.byList[gv.WithKind(spec.Names.ListKind)] = added
	}
}

func compile(validation *apiextensionsv1.CustomResourceValidation) (*compiled, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(validation, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	openapi, _, err := schemavalidation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &compiled{structural, openapi, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// isOurGroup says whether a group is one of ours.
func (k *kinds) isOurGroup(group string) bool {
	for gvk := range k.byGVK {
		if gvk.Group == group {
			return true
		}
	}
	return false
}

// named returns the apiVersions that serve a kind of this name, sorted.
func (k *kinds) named(name string) []string {
	var out []string
	for gvk := range k.byGVK {
		if gvk.Kind == name {
			out = append(out, gvk.GroupVersion().String())
		}
	}
	slices.Sort(out)
	return out
}

// of returns the kinds of a group, as apiVersion and kind, sorted.
func (k *kinds) of(group string) []string {
	var out []string
	for gvk := range maps.Keys(k.byGVK) {
		if gvk.Group == group {
			out = append(out, gvk.GroupVersion().String()+" "+gvk.Kind)
		}
	}
	slices.Sort(out)
	return out
}
