// Package validation maps decisions of the domain packages to findings with field paths. It decides nothing that a domain
// package can decide, and knows no client: what it needs of other objects comes from a refs.Source.
package validation

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/dnsrecord"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
)

// DNSRecord checks one DNSRecord by itself.
func DNSRecord(rec *dnsv1alpha1.DNSRecord) field.ErrorList {
	spec := field.NewPath("spec")
	var out field.ErrorList
	_, problems := record.Parse(dnsrecord.Spec(&rec.Spec, 0))
	for _, p := range problems {
		out = append(out, recordFinding(spec, p))
	}
	if name := rec.Spec.DNSClassRef.Name; !format.Is(format.ObjectName, name) {
		out = append(out, rules.DNSClassName.Invalid(spec.Child("dnsClassRef", "name"), name,
			"give the name of a DNSClass: "+format.Accepts(format.ObjectName)))
	}
	return out
}

func recordFinding(spec *field.Path, p record.Problem) *field.Error {
	path := spec
	for part := range strings.SplitSeq(p.Field, ".") {
		path = path.Child(part)
	}
	switch {
	case p.Missing:
		return p.Rule.Required(path, p.Detail)
	case p.Rule == rules.ValueDuplicate:
		return p.Rule.Duplicate(path.Index(p.Index), p.Value, p.Detail)
	case p.Index >= 0:
		return p.Rule.Invalid(path.Index(p.Index), p.Value, p.Detail)
	case p.Value == nil:
		return p.Rule.Forbidden(path, p.Detail)
	}
	return p.Rule.Invalid(path, p.Value, p.Detail)
}

// DNSRecordReferences checks what a DNSRecord says about other objects: that its class exists, and that nobody else has
// its name there. Both are fixed at create, so an update (old is not nil) has nothing to check. An error is one of a
// look-up.
func DNSRecordReferences(ctx context.Context, source refs.Source, rec, old *dnsv1alpha1.DNSRecord) (field.ErrorList, error) {
	if old != nil && old.Spec.DNSClassRef == rec.Spec.DNSClassRef || !format.Is(format.ObjectName, rec.Spec.DNSClassRef.Name) {
		return nil, nil
	}
	class, state, err := source.DNSClass(ctx, rec.Spec.DNSClassRef.Name)
	if err != nil {
		return nil, err
	}
	path := field.NewPath("spec", "dnsClassRef", "name")
	switch {
	case state == refs.Unknown:
		return nameFree(ctx, source, rec, refs.ServerOfUnknown(rec.Spec.DNSClassRef.Name))
	case state == refs.Absent:
		return field.ErrorList{rules.DNSClassExists.NotFound(path, rec.Spec.DNSClassRef.Name,
			"create the DNSClass first, or name one that exists: kubectl get dnsclasses")}, nil
	case !class.DeletionTimestamp.IsZero():
		return field.ErrorList{rules.DNSClassExists.Invalid(path, rec.Spec.DNSClassRef.Name,
			"this DNSClass is being deleted and takes no new records: name another")}, nil
	}
	return nameFree(ctx, source, rec, class.Spec.Server)
}

func nameFree(ctx context.Context, source refs.Source, rec *dnsv1alpha1.DNSRecord, server string) (field.ErrorList, error) {
	var out field.ErrorList
	for _, claim := range claims.OfDNSRecord(rec, server) {
		rivals, err := source.Rivals(ctx, claim)
		if err != nil {
			return nil, err
		}
		if len(rivals) > 0 {
			out = append(out, taken(claim, rivals))
		}
	}
	return out, nil
}

// taken says that a name is not free. It says nothing about who has it: that may be another tenant.
func taken(claim claims.Claim, rivals []claims.Claim) *field.Error {
	path := field.NewPath("spec", "subdomain")
	for _, rival := range rivals {
		if claims.Conflict(claim, rival) == rules.NameTaken {
			return rules.NameTaken.Invalid(path, claim.Name.String(), fmt.Sprintf(
				"this name already has a record of type %s on this server, and one record holds all its values: choose another name, or change that record", claim.Type))
		}
	}
	if claim.Type == record.CNAME {
		return rules.CNAMEAlone.Invalid(path, claim.Name.String(),
			"this name already has other records on this server, and a CNAME stands alone: choose another name")
	}
	return rules.CNAMEAlone.Invalid(path, claim.Name.String(),
		"this name already is a CNAME on this server, and a CNAME stands alone: choose another name")
}
