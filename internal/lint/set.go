package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/namegate/namegate/internal/rules"
)

// Limits of what is looked at, beside maxDocument.
var (
	// documentLimit bounds a document with its aliases written out, lists of objects included.
	documentLimit = size{values: 500_000, bytes: maxDocument}
	// objectLimit bounds one object. Our largest kind has a few hundred values.
	objectLimit = size{values: 10_000, bytes: maxDocument}
)

// maxKept is how many findings of one severity are kept of one file.
const maxKept = 1000

// set is everything that was read.
type set struct {
	kinds *kinds
	opts  Options
	files []*file
	// documents counts what was read, whatever it is.
	documents int
	// named finds the first document of each object.
	named map[identity]*subject
	// objects counts those of our kinds.
	objects    int
	classes    []*classSubject
	dnsRecords []*dnsRecordSubject
	zones      []*zoneSubject
	records    []*recordSubject
	secrets    []*corev1.Secret
}

type identity struct {
	schema.GroupKind
	namespace, name string
}

// file is one input.
type file struct {
	name string
	// subjects are its documents, as far as there is something to say of them.
	subjects []*subject
	// noted counts the findings about documents that are no object of ours, and dropped those that are not kept.
	noted   map[rules.Severity]int
	dropped int
}

// subject is one document, or one object of several in it.
type subject struct {
	identity
	file *file
	// line is that of the document; places are those of the fields of an object.
	line     int
	places   *place
	findings field.ErrorList
	// order counts the objects up to this one.
	order int
	// repeats says that an earlier document has the same object.
	repeats bool
}

func newSet(known *kinds, opts Options) *set {
	if opts.Namespace == "" {
		opts.Namespace = DefaultNamespace
	}
	if opts.OperatorNamespace == "" {
		opts.OperatorNamespace = DefaultOperatorNamespace
	}
	return &set{kinds: known, opts: opts, named: map[identity]*subject{}}
}

// read takes in one input.
func (s *set) read(in Input) (err error) {
	r, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f := &file{name: in.Name, noted: map[rules.Severity]int{}}
	s.files = append(s.files, f)
	var broken error
	err = documents(r, func(doc document) {
		if broken == nil {
			broken = s.document(f, doc)
		}
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", in.Name, err)
	}
	return broken
}

// document takes in one part of a file.
func (s *set) document(f *file, doc document) error {
	if doc.tooLarge {
		s.documents++
		f.note(doc.line, rules.ManifestTooLarge.Forbidden(nil, fmt.Sprintf(
			"write at most %d MiB between two --- lines: the document that starts here has more", maxDocument>>20)))
		return nil
	}
	values, bad := parse(doc.text, strings.HasSuffix(f.name, ".json"))
	if bad != nil {
		s.documents++
		f.note(doc.line+max(bad.line, 1)-1, rules.ManifestSyntax.Forbidden(nil, bad.detail))
		return nil
	}
	for _, value := range values {
		if err := s.value(f, doc.line-1, value); err != nil {
			return err
		}
	}
	return nil
}

// value takes in one YAML document or JSON value; its lines are counted from after offset.
func (s *set) value(f *file, offset int, value parsed) error {
	root := resolved(value.root)
	if root.Tag != "!!null" {
		s.documents++
	}
	decoded, finding := decodeWithin(documentLimit, root, value)
	if finding != nil {
		f.note(root.Line+offset, finding)
		return nil
	}
	return s.take(f, offset, root, decoded, schema.GroupVersionKind{})
}

// decodeWithin converts a document, or says why it cannot be.
func decodeWithin(limit size, root *yaml.Node, value parsed) (any, *field.Error) {
	total, endless := measure(root, limit)
	switch {
	case endless:
		return nil, rules.ManifestSyntax.Forbidden(nil, "write out what the alias stands for: it holds the alias itself")
	case !total.within(limit):
		return nil, rules.ManifestTooLarge.Forbidden(nil, fmt.Sprintf("write at most %d MiB and %d values in one document, aliases written out",
			limit.bytes>>20, limit.values))
	}
	decoded, err := value.value()
	if err != nil {
		return nil, rules.ManifestSyntax.Forbidden(nil, "write only what JSON can say too: keys that are texts, and finite numbers; render templates first")
	}
	return decoded, nil
}

var (
	secretKind = corev1.SchemeGroupVersion.WithKind("Secret")
	listKind   = corev1.SchemeGroupVersion.WithKind("List")
)

// take takes in one document, or one item of a list. What it is, is read from the value, which is what kubectl would send; the node only
// knows the lines. implied is the kind of items in a typed list, which may leave it out.
func (s *set) take(f *file, offset int, node *yaml.Node, value any, implied schema.GroupVersionKind) error {
	node = resolved(node)
	object, _ := value.(map[string]any)
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	if apiVersion == "" && kind == "" {
		gvk = implied
	}
	switch {
	case value == nil:
		return nil
	case gvk == listKind:
		return s.items(f, offset, node, object, schema.GroupVersionKind{})
	case s.kinds.byList[gvk] != nil:
		return s.items(f, offset, node, object, s.kinds.byList[gvk].GroupVersionKind)
	case s.kinds.byGVK[gvk] != nil:
		return s.object(f, offset, node, object, s.kinds.byGVK[gvk])
	case gvk == secretKind:
		s.secret(object)
	default:
		s.foreign(f, node.Line+offset, apiVersion, kind)
	}
	return nil
}

// items takes in the objects of a list.
func (s *set) items(f *file, offset int, node *yaml.Node, list map[string]any, implied schema.GroupVersionKind) error {
	values, isList := list["items"].([]any)
	if !isList && list["items"] != nil {
		f.note(node.Line+offset, rules.ManifestSyntax.Forbidden(field.NewPath("items"), "give a list of objects"))
	}
	nodes := child(node, "items")
	for i, value := range values {
		at := node
		if nodes != nil && len(nodes.Content) == len(values) {
			at = nodes.Content[i]
		}
		if err := s.take(f, offset, at, value, implied); err != nil {
			return err
		}
	}
	return nil
}

// secret remembers a Secret for those who refer to it. One that cannot be read is as good as none: its own kind judges it.
func (s *set) secret(object map[string]any) {
	secret := &corev1.Secret{}
	if err := decode(object, secret); err != nil {
		return
	}
	if secret.Namespace == "" {
		secret.Namespace = s.opts.Namespace
	}
	s.secrets = append(s.secrets, secret)
}

// foreign looks at a document of a kind that is not ours: whether it was meant to be.
func (s *set) foreign(f *file, line int, apiVersion, kind string) {
	group, _, _ := strings.Cut(apiVersion, "/")
	switch {
	case s.kinds.isOurGroup(group):
		f.note(line, rules.ManifestKind.Invalid(nil, strings.TrimSpace(apiVersion+" "+kind), "give one of "+strings.Join(s.kinds.of(group), ", ")))
	case apiVersion == "" && len(s.kinds.named(kind)) > 0:
		f.note(line, rules.ManifestKind.Required(field.NewPath("apiVersion"), "give "+strings.Join(s.kinds.named(kind), " or ")))
	case apiVersion == "" || kind == "":
		f.note(line, rules.ManifestUntyped.Forbidden(nil, "give an apiVersion and a kind: this document is no object, and was not checked"))
	}
}

// note records a finding about a document that is no object of ours.
func (f *file) note(line int, finding *field.Error) {
	if finding.Field == noPath {
		finding.Field = ""
	}
	rule, _ := rules.Lookup(finding.Origin)
	if f.noted[rule.Severity]++; f.noted[rule.Severity] > maxKept {
		f.dropped++
		return
	}
	f.subjects = append(f.subjects, &subject{file: f, line: line, findings: field.ErrorList{finding}})
}

// object takes in an object of one of our kinds.
func (s *set) object(f *file, offset int, node *yaml.Node, object map[string]any, k *kind) error {
	sub := &subject{identity: identity{GroupKind: k.GroupKind()}, file: f, line: node.Line + offset}
	f.subjects = append(f.subjects, sub)
	if count(object, objectLimit.values) > objectLimit.values {
		sub.add(rules.ManifestTooLarge.Forbidden(nil, fmt.Sprintf("give at most %d values: this object has more", objectLimit.values)))
		return nil
	}
	if total, endless := measure(node, objectLimit); !endless && total.within(objectLimit) {
		sub.places = placeOf(node, offset)
	}
	for _, r := range repeats(node, nil, offset, nil) {
		sub.add(rules.ManifestSyntax.Forbidden(r.path, fmt.Sprintf("write this key once: line %d gives it again", r.line)))
	}
	object["apiVersion"], object["kind"] = k.GroupVersion().String(), k.Kind
	findings, err := checkSchema(k, object, s.opts.Namespace)
	if err != nil {
		return err
	}
	sub.add(findings...)
	return s.keep(sub, object)
}

// count returns the number of values in a decoded value, its own included. It stops soon after the limit.
func count(value any, limit int) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			if n += count(item, limit-n); n > limit {
				break
			}
		}
	case []any:
		for _, item := range v {
			if n += count(item, limit-n); n > limit {
				break
			}
		}
	}
	return n
}

// add records findings about an object.
func (sub *subject) add(findings ...*field.Error) {
	for _, e := range findings {
		if e.Field == noPath {
			e.Field = ""
		}
		if len(sub.findings) >= 2*maxKept {
			sub.file.dropped++
			continue
		}
		sub.findings = append(sub.findings, withoutSecrets(sub.GroupKind, e))
	}
}

// repeatOf returns the first document of the same object, nil where this is the first.
func (s *set) repeatOf(sub *subject) *subject {
	first, known := s.named[sub.identity]
	if !known {
		s.named[sub.identity] = sub
		return nil
	}
	return first
}

// shadowed drops findings about values that the schema refuses already: for a field that is missing or of the wrong type all
// that lies below it, too.
func shadowed(findings, schemaFindings field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(findings, func(e *field.Error) bool {
		return slices.ContainsFunc(schemaFindings, func(s *field.Error) bool {
			if s.Origin == rules.SchemaRequired.ID || s.Origin == rules.SchemaType.ID {
				return isAtOrBelow(e.Field, s.Field)
			}
			return e.Field == s.Field
		})
	})
}
