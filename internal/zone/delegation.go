package zone

import (
	"slices"
	"strings"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
)

// Delegations say who may put which names into a zone. Without an entry that applies, nobody may: also not the zone's own namespace.
type Delegations []delegation

type delegation struct {
	namespaces []string
	zones      []Pattern
	records    []recordDelegation
}

type recordDelegation struct {
	pattern Pattern
	types   []record.Type
}

// CompileDelegations reads delegations. A pattern that does not parse matches nothing: the gate refuses it (ParsePattern).
func CompileDelegations(specs []zonev1alpha1.Delegation) Delegations {
	out := make(Delegations, 0, len(specs))
	for _, spec := range specs {
		d := delegation{namespaces: spec.Namespaces}
		for _, text := range spec.Zones {
			if p, err := ParsePattern(text); err == nil {
				d.zones = append(d.zones, p)
			}
		}
		for _, rd := range spec.Records {
			if p, err := ParsePattern(rd.Pattern); err == nil {
				d.records = append(d.records, recordDelegation{pattern: p, types: typesOf(rd.Types)})
			}
		}
		out = append(out, d)
	}
	return out
}

func typesOf(names []string) []record.Type {
	var out []record.Type
	for _, name := range names {
		out = append(out, record.Type(strings.ToUpper(name)))
	}
	return out
}

func (d delegation) covers(namespace string) bool {
	return len(d.namespaces) == 0 || slices.Contains(d.namespaces, namespace)
}

// AdmitsRecord says whether a record of a namespace may join: its name, relative to the zone, and its type. It returns the index of the
// first delegation that admits it, or -1.
func (ds Delegations) AdmitsRecord(namespace string, relative []string, typ record.Type) int {
	return slices.IndexFunc(ds, func(d delegation) bool {
		return d.covers(namespace) && slices.ContainsFunc(d.records, func(rd recordDelegation) bool {
			return (len(rd.types) == 0 || slices.Contains(rd.types, typ)) && rd.pattern.Matches(relative)
		})
	})
}

// AdmitsZone says whether a sub-zone of a namespace may join. It returns the index of the first delegation that admits it, or -1. The
// apex is no sub-zone.
func (ds Delegations) AdmitsZone(namespace string, relative []string) int {
	if len(relative) == 0 {
		return -1
	}
	return slices.IndexFunc(ds, func(d delegation) bool {
		return d.covers(namespace) && slices.ContainsFunc(d.zones, func(p Pattern) bool { return p.Matches(relative) })
	})
}

// mayDelegate says whether any namespace could have a sub-zone that a relative name is at or below of.
func (ds Delegations) mayDelegate(relative []string) bool {
	return slices.ContainsFunc(ds, func(d delegation) bool {
		return slices.ContainsFunc(d.zones, func(p Pattern) bool {
			for i := range relative {
				if p.Matches(relative[i:]) {
					return true
				}
			}
			return false
		})
	})
}

// relativeTo returns the labels of a name below an origin, none for the origin itself. The name is at or below it.
func relativeTo(name, origin dnsname.Name) []string {
	labels := name.Labels()
	return labels[:len(labels)-len(origin.Labels())]
}
