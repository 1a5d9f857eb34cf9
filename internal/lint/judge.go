package lint

import (
	"context"
	"fmt"
	"strconv"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
)

// Our kinds, and who is read of each.
var (
	dnsClassKind  = dnsv1alpha1.GroupVersion.WithKind("DNSClass").GroupKind()
	dnsRecordKind = dnsv1alpha1.GroupVersion.WithKind("DNSRecord").GroupKind()
	zoneKind      = zonev1alpha1.GroupVersion.WithKind("Zone").GroupKind()
	recordKind    = zonev1alpha1.GroupVersion.WithKind("Record").GroupKind()
	zoneSliceKind = zonev1alpha1.GroupVersion.WithKind("ZoneSlice").GroupKind()
)

// classSubject and the like are the objects that were read, with their documents.
type classSubject struct {
	*subject
	class *dnsv1alpha1.DNSClass
}

type dnsRecordSubject struct {
	*subject
	record *dnsv1alpha1.DNSRecord
}

type zoneSubject struct {
	*subject
	zone *zonev1alpha1.Zone
}

type recordSubject struct {
	*subject
	record *zonev1alpha1.Record
}

// keep reads an object into its type and keeps it to be judged. What the schema found wrong with its values is not told again.
func (s *set) keep(sub *subject, object map[string]any) error {
	switch sub.GroupKind {
	case dnsClassKind:
		if class := (&dnsv1alpha1.DNSClass{}); s.typed(sub, object, class) {
			s.classes = append(s.classes, &classSubject{sub, class})
		}
	case dnsRecordKind:
		if record := (&dnsv1alpha1.DNSRecord{}); s.typed(sub, object, record) {
			s.dnsRecords = append(s.dnsRecords, &dnsRecordSubject{sub, record})
		}
	case zoneKind:
		if zone := (&zonev1alpha1.Zone{}); s.typed(sub, object, zone) {
			s.zones = append(s.zones, &zoneSubject{sub, zone})
		}
	case recordKind:
		if record := (&zonev1alpha1.Record{}); s.typed(sub, object, record) {
			s.records = append(s.records, &recordSubject{sub, record})
		}
	case zoneSliceKind:
		s.typed(sub, object, &zonev1alpha1.ZoneSlice{}) // internal: no rule of ours but those of its schema
	default:
		return fmt.Errorf("no rules for kind %s", sub.GroupKind)
	}
	return nil
}

// typed decodes an object and identifies it. The schema found everything that could prevent it; if not, that is a finding too.
func (s *set) typed(sub *subject, object map[string]any, into metav1.Object) bool {
	if err := decode(object, into); err != nil {
		sub.add(rules.SchemaType.Forbidden(nil, "give every field the type that docs/api.md names: this object cannot be read"))
		return false
	}
	s.identify(sub, into)
	return true
}

// identify names a document after its object, clears what the API server clears of a new object, and finds out whether it is there twice. An
// object whose name is generated gets one of its own, so that it counts as another object.
func (s *set) identify(sub *subject, meta metav1.Object) {
	s.objects++
	sub.order = s.objects
	meta.SetUID("")
	meta.SetCreationTimestamp(metav1.Time{})
	meta.SetDeletionTimestamp(nil)
	sub.namespace, sub.name = meta.GetNamespace(), meta.GetName()
	if sub.name == "" {
		sub.name = meta.GetGenerateName()
		meta.SetName(sub.name + "#" + strconv.Itoa(s.objects))
	} else if first := s.repeatOf(sub); first != nil {
		sub.repeats = true
		sub.add(rules.ManifestDuplicate.Duplicate(field.NewPath("metadata", "name"), sub.name, fmt.Sprintf(
			"write each object once, or give it another name: it is in %q at line %d already", first.file.name, first.line)))
	}
}

// judge applies the defaults and the rules, as the webhooks do for new objects. Classes and Zones come first, because records refer to them.
func (s *set) judge() error {
	source := refs.NewManifests()
	for i := range s.secrets {
		source.AddSecret(s.secrets[len(s.secrets)-1-i]) // the first of several stays
	}
	for _, c := range s.classes {
		if err := s.judgeClass(source, c); err != nil {
			return err
		}
	}
	for _, r := range s.dnsRecords {
		if err := s.judgeDNSRecord(source, r); err != nil {
			return err
		}
	}
	return s.judgeZones(source)
}

func (s *set) judgeClass(source *refs.Manifests, c *classSubject) error {
	defaulting.DNSClass(c.class, true, s.opts.OperatorNamespace)
	findings := validation.DNSClass(c.class, s.opts.SecretNamespaces)
	referred, err := validation.DNSClassReferences(context.Background(), source, authenticationv1.UserInfo{}, c.class, nil)
	if err != nil {
		return err
	}
	c.add(shadowed(append(findings, referred...), c.findings)...)
	if c.repeats {
		return nil
	}
	known := c.class.DeepCopy()
	if s.denied(c.findings) {
		known.Spec.DefaultTTL = nil // what may be out of bounds must not become a finding of its records
	}
	source.AddDNSClass(known)
	return nil
}

// judgeDNSRecord judges a record beside those before it, and then adds what it claims: the first one to want a name keeps it. One that was
// refused for its name claims nothing.
func (s *set) judgeDNSRecord(source *refs.Manifests, r *dnsRecordSubject) error {
	if err := defaulting.DNSRecord(context.Background(), source, r.record, nil); err != nil {
		return err
	}
	referred, err := validation.DNSRecordReferences(context.Background(), source, r.record, nil)
	if err != nil {
		return err
	}
	if !r.repeats && !s.denied(referred) {
		source.AddDNSRecord(r.record)
	}
	r.add(shadowed(append(validation.DNSRecord(r.record), referred...), r.findings)...)
	return nil
}

func (s *set) denied(findings field.ErrorList) bool {
	deny, _ := s.opts.Policy.Split(findings)
	return len(deny) > 0
}
