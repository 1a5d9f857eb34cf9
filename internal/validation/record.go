package validation

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Record checks one Record by itself.
func Record(rec *zonev1alpha1.Record) field.ErrorList {
	spec := field.NewPath("spec")
	owner, err := ownerOf(&rec.Spec)
	var out field.ErrorList
	if err != nil {
		out = append(out, record.NameRule(err).Invalid(spec.Child("domainName"), rec.Spec.DomainName, err.Error()))
	} else if rule, detail := checkOwner(&rec.Spec, owner); rule != nil {
		out = append(out, rule.Invalid(spec.Child("domainName"), rec.Spec.DomainName, detail))
	}
	out = append(out, zoneRef(spec.Child("zoneRef"), rec.Spec.ZoneRef)...)
	_, problems := record.ParseRData(record.Type(rec.Spec.Type), rec.Spec.RData)
	for _, p := range problems {
		if p.Field == record.FieldType {
			out = append(out, p.Rule.Invalid(spec.Child("type"), rec.Spec.Type, p.Detail))
		}
	}
	if ttl := rec.Spec.TTL; ttl != nil && *ttl < 0 {
		out = append(out, rules.TTLRange.Invalid(spec.Child("ttl"), *ttl, "give a number of seconds from 0 to 2147483647"))
	}
	for _, p := range problems {
		if p.Field != record.FieldType {
			out = append(out, p.Rule.Invalid(spec.Child("rdata"), rec.Spec.RData, p.Detail))
		}
	}
	if rec.Spec.ZoneRef == nil && record.Type(rec.Spec.Type) == record.CNAME && record.PointsAt(rec.Spec.RData, owner) {
		out = append(out, rules.CNAMESelf.Invalid(spec.Child("rdata"), rec.Spec.RData, "point the CNAME at another name than its own"))
	}
	return out
}

// ownerOf reads domainName. One that is relative is returned as it is, the root standing for a zone's own name.
func ownerOf(spec *zonev1alpha1.RecordSpec) (dnsname.Name, error) {
	if spec.ZoneRef == nil {
		return dnsname.ParseOwner(spec.DomainName)
	}
	relative, err := dnsname.ParseSubdomain(spec.DomainName)
	if err != nil {
		return dnsname.Name{}, err
	}
	return dnsname.Join(relative, dnsname.Root)
}

// checkOwner holds what a type asks of a name. Of a relative name it holds what is so in every zone: whether SRV clients ask for it depends
// on the rest of the name.
func checkOwner(spec *zonev1alpha1.RecordSpec, owner dnsname.Name) (*rules.Rule, string) {
	typ, relative := record.Type(spec.Type), spec.ZoneRef != nil
	switch {
	case relative && typ == record.SRV:
		return nil, ""
	case relative && typ == record.CNAME && owner == dnsname.Root:
		return rules.CNAMEAtApex, "use A or AAAA records for the zone's own name, or give the CNAME a name below it such as www"
	}
	return record.CheckOwner(typ, owner)
}

// RecordReferences checks what a Record would be beside the Zones and the other Records that are there: all of it for a new Record (old is
// nil), and for an old one what its update brings. An error is one of a look-up.
func RecordReferences(ctx context.Context, source refs.Source, rec, old *zonev1alpha1.Record) (field.ErrorList, error) {
	if old != nil && equality.Semantic.DeepEqual(old.Spec, rec.Spec) {
		return nil, nil
	}
	return brought(rec, old, func(rec *zonev1alpha1.Record) (field.ErrorList, error) {
		verdict, problems, err := source.Record(ctx, rec)
		if err != nil {
			return nil, err
		}
		out := serviceName(rec, verdict)
		if rec.Spec.ZoneRef != nil {
			out = append(out, repeats(pathOf("domainName"), rec.Spec.DomainName, verdict.FQDN)...)
		}
		if len(problems) > 0 {
			out = append(out, besides(Record(rec), problems)...)
		}
		return out, nil
	})
}

// besides returns what problems add to the findings on the object alone. A CNAME of itself is the shortest circle, and told once.
func besides(own field.ErrorList, problems []zone.Problem) field.ErrorList {
	of := func(rule *rules.Rule) func(*field.Error) bool {
		return func(f *field.Error) bool { return f.Origin == rule.ID }
	}
	added := Ratchet(zoneFindings(problems), own)
	if slices.ContainsFunc(own, of(rules.CNAMESelf)) {
		added = slices.DeleteFunc(added, of(rules.CNAMELoop))
	}
	return added
}

// serviceName holds what SRV asks of its name, once the zone makes a whole one of a relative name.
func serviceName(rec *zonev1alpha1.Record, verdict zone.RecordVerdict) field.ErrorList {
	if typ := record.Type(rec.Spec.Type); typ == record.SRV && rec.Spec.ZoneRef != nil && !verdict.FQDN.IsZero() {
		if rule, detail := record.CheckOwner(typ, verdict.FQDN); rule != nil {
			return field.ErrorList{rule.Invalid(pathOf("domainName"), rec.Spec.DomainName, detail)}
		}
	}
	return nil
}
