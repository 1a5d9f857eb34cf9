package validation

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Zone checks one Zone by itself.
func Zone(z *zonev1alpha1.Zone) field.ErrorList {
	spec := field.NewPath("spec")
	out := parentLabelFits(z)
	if err := zoneName(&z.Spec); err != nil {
		out = append(out, record.NameRule(err).Invalid(spec.Child("domainName"), z.Spec.DomainName, err.Error()))
	}
	out = append(out, zoneRef(spec.Child("zoneRef"), z.Spec.ZoneRef)...)
	out = append(out, delegations(spec.Child("delegations"), z.Spec.Delegations)...)
	out = append(out, nameServer(spec.Child("nameServer"), z.Spec.NameServer)...)
	if contact := z.Spec.Contact; contact != "" {
		if _, err := zone.ParseContact(contact); err != nil {
			out = append(out, rules.SOAContact.Invalid(spec.Child("contact"), contact, err.Error()))
		}
	}
	return out
}

// nameServer checks the name of a host, if there is one.
func nameServer(path *field.Path, text string) field.ErrorList {
	if text == "" {
		return nil
	}
	name, err := dnsname.Parse(text)
	switch {
	case err != nil:
		return field.ErrorList{record.NameRule(err).Invalid(path, text, err.Error())}
	case len(name.Labels()) == 1:
		return field.ErrorList{rules.TargetSingleLabel.Invalid(path, text, "give the whole name, such as ns1.example.org.: the zone's is not added to it")}
	case strings.Contains(name.String(), "_"):
		return field.ErrorList{rules.HostUnderscore.Invalid(path, text, "name hosts with letters, digits and hyphens")}
	}
	return nil
}

// parentLabelFits checks that the zone can be named as a parent. A name that is still to be generated is not known yet.
func parentLabelFits(z *zonev1alpha1.Zone) field.ErrorList {
	if z.Name == "" {
		return nil
	}
	label := zone.ParentLabel(zone.Key{Namespace: z.Namespace, Name: z.Name})
	if len(label) <= zone.MaxParentLabel {
		return nil
	}
	return field.ErrorList{rules.ZoneLabelLength.Invalid(field.NewPath("metadata", "name"), z.Name, fmt.Sprintf(
		"give the zone a shorter name: with its namespace it has %d characters, and the label that names it takes %d", len(label), zone.MaxParentLabel))}
}

// zoneName reads domainName, which is relative where there is a zoneRef. That it is one or the other is a rule of the schema.
func zoneName(spec *zonev1alpha1.ZoneSpec) error {
	if spec.ZoneRef != nil {
		_, err := dnsname.ParseRelative(spec.DomainName)
		return err
	}
	_, err := dnsname.Parse(spec.DomainName)
	return err
}

// zoneRef checks that a reference is one that can be. Whether the zone is there is not asked here.
func zoneRef(path *field.Path, ref *zonev1alpha1.ZoneReference) field.ErrorList {
	if ref == nil {
		return nil
	}
	var out field.ErrorList
	if !format.Is(format.ObjectName, ref.Name) {
		out = append(out, rules.ZoneRefName.Invalid(path.Child("name"), ref.Name, "give the name of a Zone: "+format.Accepts(format.ObjectName)))
	}
	if ref.Namespace != "" && !format.Is(format.Namespace, ref.Namespace) {
		out = append(out, rules.ZoneRefName.Invalid(path.Child("namespace"), ref.Namespace, "give "+format.Accepts(format.Namespace)))
	}
	return out
}

func delegations(path *field.Path, list []zonev1alpha1.Delegation) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{rules.DelegationEmpty.Required(path,
			"add a delegation, or the zone stays empty: records of its own namespace need one too")}
	}
	var out field.ErrorList
	for i := range list {
		out = append(out, delegation(path.Index(i), &list[i])...)
	}
	return out
}

func delegation(path *field.Path, d *zonev1alpha1.Delegation) field.ErrorList {
	var out field.ErrorList
	if len(d.Zones) == 0 && len(d.Records) == 0 {
		out = append(out, rules.DelegationEmpty.Required(path, "add zones or records, or leave the delegation out: it lets nothing in"))
	}
	for i, namespace := range d.Namespaces {
		if !format.Is(format.Namespace, namespace) {
			out = append(out, rules.DelegationNamespace.Invalid(path.Child("namespaces").Index(i), namespace,
				"give "+format.Accepts(format.Namespace)+"; leave the list out for all namespaces"))
		}
	}
	for i, pattern := range d.Zones {
		out = append(out, zonePattern(path.Child("zones").Index(i), pattern)...)
	}
	for i := range d.Records {
		out = append(out, recordDelegation(path.Child("records").Index(i), &d.Records[i])...)
	}
	return out
}

// zonePattern checks a pattern of sub-zones. None of them is at the apex.
func zonePattern(path *field.Path, text string) field.ErrorList {
	pattern, err := zone.ParsePattern(text)
	switch {
	case err != nil:
		return field.ErrorList{rules.DelegationPattern.Invalid(path, text, err.Error())}
	case pattern.IsApex():
		return field.ErrorList{rules.DelegationPattern.Invalid(path, text, "no sub-zone has the zone's own name: give a pattern of names below it, such as * or *.dev")}
	}
	return nil
}

func recordDelegation(path *field.Path, d *zonev1alpha1.RecordDelegation) field.ErrorList {
	var out field.ErrorList
	if _, err := zone.ParsePattern(d.Pattern); err != nil {
		out = append(out, rules.DelegationPattern.Invalid(path.Child("pattern"), d.Pattern, err.Error()))
	}
	for i, name := range d.Types {
		if !record.Type(name).InZone() {
			out = append(out, rules.DelegationType.Invalid(path.Child("types").Index(i), name, typeDetail(name)))
		}
	}
	return out
}

func typeDetail(name string) string {
	return cmp.Or(record.Type(name).Instead(), "give a type that a Record can have, such as A, AAAA, CNAME, MX or TXT; leave the list out for all types")
}

// ZoneReferences checks what a Zone would be beside the other Zones and the Records that are there: all of it for a new Zone (old is nil),
// and for an old one what its update brings. An error is one of a look-up.
func ZoneReferences(ctx context.Context, source refs.Source, z, old *zonev1alpha1.Zone) (field.ErrorList, error) {
	if old != nil && equality.Semantic.DeepEqual(old.Spec, z.Spec) {
		return nil, nil
	}
	return brought(z, old, func(z *zonev1alpha1.Zone) (field.ErrorList, error) {
		verdict, problems, err := source.Zone(ctx, z)
		if err != nil {
			return nil, err
		}
		out := zoneRepeats(&z.Spec, verdict.FQDN)
		if len(problems) > 0 {
			out = append(out, Ratchet(zoneFindings(problems), Zone(z))...)
		}
		return out, nil
	})
}

// zoneRepeats warns of names that are relative and end in the name that they are relative to.
func zoneRepeats(spec *zonev1alpha1.ZoneSpec, fqdn dnsname.Name) field.ErrorList {
	if fqdn.IsZero() {
		return nil
	}
	var out field.ErrorList
	if spec.ZoneRef != nil {
		out = repeats(pathOf("domainName"), spec.DomainName, fqdn)
	}
	pattern := func(path *field.Path, text string) {
		if endsIn(text, fqdn.String()) {
			out = append(out, rules.NameRepeatsDomain.Invalid(path, text, "patterns are relative to the zone: leave its name out"))
		}
	}
	for i, d := range spec.Delegations {
		path := pathOf("delegations").Index(i)
		for j, text := range d.Zones {
			pattern(path.Child("zones").Index(j), text)
		}
		for j := range d.Records {
			pattern(path.Child("records").Index(j).Child("pattern"), d.Records[j].Pattern)
		}
	}
	return out
}

// repeats warns of a relative name that makes a whole one in which the name of the zone is there twice.
func repeats(path *field.Path, relative string, whole dnsname.Name) field.ErrorList {
	origin, ok := strings.CutPrefix(whole.String(), strings.ToLower(relative)+".")
	if !ok || !endsIn(relative, origin) {
		return nil
	}
	return field.ErrorList{rules.NameRepeatsDomain.Invalid(path, relative, "the whole name would be "+whole.FQDN()+": leave the zone's name out, or give the whole name without a zoneRef")}
}

// endsIn says whether a relative name is another one, or ends in it.
func endsIn(relative, name string) bool {
	relative = strings.ToLower(relative)
	return relative == name || strings.HasSuffix(relative, "."+name)
}

// brought keeps the findings on an object that its old state did not have. That is not asked about where there are none.
func brought[T any](obj, old *T, judge func(*T) (field.ErrorList, error)) (field.ErrorList, error) {
	now, err := judge(obj)
	if err != nil || old == nil || len(now) == 0 {
		return now, err
	}
	before, err := judge(old)
	if err != nil {
		return nil, err
	}
	return Ratchet(now, before), nil
}

// zoneFindings gives problems their paths. What the object's own rules say already is for the caller to leave out.
func zoneFindings(problems []zone.Problem) field.ErrorList {
	var out field.ErrorList
	for _, p := range problems {
		path := pathOf(p.Field)
		switch {
		case p.Value == nil:
			out = append(out, p.Rule.Forbidden(path, p.Detail))
		case p.Rule == rules.RecordDuplicate:
			out = append(out, p.Rule.Duplicate(path, p.Value, p.Detail))
		default:
			out = append(out, p.Rule.Invalid(path, p.Value, p.Detail))
		}
	}
	return out
}

// pathOf is the path of a field of the spec, or of metadata where it says so.
func pathOf(name string) *field.Path {
	parts := strings.Split(name, ".")
	if parts[0] == "metadata" {
		return field.NewPath(parts[0], parts[1:]...)
	}
	return field.NewPath("spec", parts...)
}
