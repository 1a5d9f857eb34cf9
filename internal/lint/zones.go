package lint

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/defaulting"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/validation"
)

// judgeZones judges Zones and then Records, because manifests may name them in any order, and a cluster has them all in the end. For the same
// reason a Zone comes after those above it. Of two that want one name, the first in the order of the input keeps it.
func (s *set) judgeZones(source *refs.Manifests) error {
	taking, err := s.takingNames()
	if err != nil {
		return err
	}
	for _, z := range s.byDepth() {
		if err := s.judgeZone(source, z, taking[z]); err != nil {
			return err
		}
	}
	for _, r := range s.records {
		if err := s.judgeRecord(source, r); err != nil {
			return err
		}
	}
	return nil
}

// judgeZone judges a Zone beside those before it, and then makes it known, unless it was refused for what they are. One that is refused for
// itself is known as a zone that lets in everything: what is wrong with its delegations must not become a finding of its records. taking is
// what it is refused or warned for because of Records before it.
func (s *set) judgeZone(source *refs.Manifests, z *zoneSubject, taking field.ErrorList) error {
	defaulting.Zone(z.zone, nil)
	referred, err := validation.ZoneReferences(context.Background(), source, z.zone, nil)
	if err != nil {
		return err
	}
	referred = append(referred, taking...)
	z.add(shadowed(slices.Concat(validation.Zone(z.zone), validation.ParentLabel(z.zone, nil), referred), z.findings)...)
	if z.repeats || s.denied(referred) {
		return nil
	}
	known := z.zone.DeepCopy()
	if s.denied(z.findings) {
		known.Spec.Delegations = []zonev1alpha1.Delegation{{Zones: []string{"*"}, Records: []zonev1alpha1.RecordDelegation{{Pattern: "*"}, {Pattern: "@"}}}}
	}
	source.AddZone(known)
	return nil
}

// takingNames applies Zones and Records in the order of the input, as kubectl would, and returns what is to be said of the Zones that take
// names from what stands before them. It is said nowhere else, because otherwise Zones are known before the first Record.
func (s *set) takingNames() (map[*zoneSubject]field.ErrorList, error) {
	out := map[*zoneSubject]field.ErrorList{}
	source := refs.NewManifests()
	records := s.records
	for _, z := range s.zones {
		for len(records) > 0 && records[0].order < z.order {
			if err := s.applyRecord(source, records[0]); err != nil {
				return nil, err
			}
			records = records[1:]
		}
		referred, err := s.applyZone(source, z)
		if err != nil {
			return nil, err
		}
		out[z] = slices.DeleteFunc(referred, func(e *field.Error) bool {
			return e.Origin != rules.ZoneTakesNames.ID && e.Origin != rules.ZoneDropsNames.ID
		})
	}
	return out, nil
}

// applyZone makes a Zone known if nothing denies it, and returns what other objects say of it.
func (s *set) applyZone(source *refs.Manifests, z *zoneSubject) (field.ErrorList, error) {
	defaulting.Zone(z.zone, nil)
	referred, err := validation.ZoneReferences(context.Background(), source, z.zone, nil)
	if err != nil {
		return nil, err
	}
	if !z.repeats && !s.denied(slices.Concat(z.findings, validation.Zone(z.zone), referred)) {
		source.AddZone(z.zone)
	}
	return referred, nil
}

// applyRecord makes a Record known if nothing denies it.
func (s *set) applyRecord(source *refs.Manifests, r *recordSubject) error {
	defaulting.Record(r.record, nil)
	referred, err := validation.RecordReferences(context.Background(), source, r.record, nil)
	if err != nil {
		return err
	}
	if !r.repeats && !s.denied(slices.Concat(r.findings, validation.Record(r.record), referred)) {
		source.AddRecord(r.record)
	}
	return nil
}

// judgeRecord judges a Record beside those before it, and then makes it known. One that was refused for what they are takes nothing from
// those after it: no zone publishes it.
func (s *set) judgeRecord(source *refs.Manifests, r *recordSubject) error {
	defaulting.Record(r.record, nil)
	referred, err := validation.RecordReferences(context.Background(), source, r.record, nil)
	if err != nil {
		return err
	}
	r.add(shadowed(slices.Concat(validation.Record(r.record), validation.ParentLabel(r.record, nil), referred), r.findings)...)
	if !r.repeats {
		source.AddRecord(r.record)
	}
	return nil
}

// byDepth returns the Zones in the order of the number of labels in their names, so that each comes after those above it and, where it is
// named by a zoneRef, after that one. Those of one name stay in the order of the input.
func (s *set) byDepth() []*zoneSubject {
	parents := map[identity]*zoneSubject{}
	for _, z := range slices.Backward(s.zones) {
		parents[z.identity] = z // the first of several stays
	}
	depths := make(map[*zoneSubject]int, len(s.zones))
	for _, z := range s.zones {
		depths[z] = depth(z, parents)
	}
	return slices.SortedStableFunc(slices.Values(s.zones), func(a, b *zoneSubject) int { return cmp.Compare(depths[a], depths[b]) })
}

// maxLabels is the number of labels that no name exceeds, which is also where a circle of zoneRefs is left.
const maxLabels = 128

// depth counts the labels of a Zone's name, as far up as the Zones that it is named after are known.
func depth(z *zoneSubject, parents map[identity]*zoneSubject) int {
	labels := 0
	for z != nil && labels < maxLabels {
		labels += 1 + strings.Count(strings.TrimSuffix(z.zone.Spec.DomainName, "."), ".")
		ref := z.zone.Spec.ZoneRef
		if ref == nil {
			break
		}
		z = parents[identity{zoneKind, cmp.Or(ref.Namespace, z.namespace), ref.Name}]
	}
	return labels
}
