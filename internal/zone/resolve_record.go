package zone

import (
	"fmt"
	"reflect"
	"slices"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// setRecord takes in a Record.
func (w *work) setRecord(obj RecordObject) {
	r := w.m.records[obj.Key]
	if obj.Leaving {
		if r != nil {
			w.removeRecord(r)
		}
		return
	}
	if r == nil {
		r = newRecordState(obj)
		w.m.records[obj.Key] = r
		w.recordsChanged[obj.Key] = struct{}{}
		w.referRecord(r, obj.ZoneRef)
		w.resolve[r] = struct{}{}
		return
	}
	before := r.obj
	before.Version, r.obj.Version = obj.Version, obj.Version
	if reflect.DeepEqual(before, obj) {
		return
	}
	w.unreferRecord(r, before.ZoneRef)
	if before.UID != obj.UID {
		w.recordsChanged[obj.Key] = struct{}{}
	}
	if before.Type != obj.Type || before.RData != obj.RData {
		parsed := newRecordState(obj)
		r.rdata, r.invalid = parsed.rdata, parsed.invalid
	}
	r.obj = obj
	w.referRecord(r, obj.ZoneRef)
	w.resolve[r] = struct{}{}
	w.unsettle(r)
}

// newRecordState parses a Record.
func newRecordState(obj RecordObject) *recordState {
	r := &recordState{obj: obj}
	rdata, problems := record.ParseRData(obj.Type, obj.RData)
	r.rdata = rdata
	if denied := problems.Denied(); len(denied) > 0 {
		r.invalid = &Problem{Rule: denied[0].Rule, Field: denied[0].Field, Detail: denied[0].Detail}
	}
	return r
}

// removeRecord takes out a Record.
func (w *work) removeRecord(r *recordState) {
	delete(w.m.records, r.obj.Key)
	delete(w.m.looping, r)
	w.unreferRecord(r, r.obj.ZoneRef)
	w.recordsChanged[r.obj.Key] = struct{}{}
	w.unsettle(r)
	w.fileRecord(r, dnsname.Name{})
	r.zone = nil
}

func (w *work) referRecord(r *recordState, ref *Key) {
	if ref != nil {
		w.m.referrersOf(*ref).records[r.obj.Key] = r
	}
}

func (w *work) unreferRecord(r *recordState, ref *Key) {
	if ref != nil {
		delete(w.m.referrersOf(*ref).records, r.obj.Key)
		w.m.dropReferrers(*ref)
	}
}

// resolveRecord finds out the name of a record and the zone that adopts it.
func (w *work) resolveRecord(r *recordState) {
	if w.m.records[r.obj.Key] != r {
		return
	}
	name, zone, verdict := w.m.judgeRecord(r)
	if name != r.fqdn || zone != r.zone {
		w.unsettle(r)
		w.fileRecord(r, name)
		r.zone = zone
		w.unsettle(r)
	}
	if zone == nil {
		delete(w.m.looping, r)
		w.setVerdict(r, verdict)
	}
}

// setVerdict remembers what becomes of a record.
func (w *work) setVerdict(r *recordState, verdict RecordVerdict) {
	if r.verdict != verdict {
		r.verdict = verdict
		w.recordsChanged[r.obj.Key] = struct{}{}
	}
}

// fileRecord moves a record to those of a name.
func (w *work) fileRecord(r *recordState, name dnsname.Name) {
	if r.fqdn == name {
		return
	}
	if !r.fqdn.IsZero() {
		left := slices.DeleteFunc(slices.Clone(w.m.recordsAt.get(r.fqdn)), func(o *recordState) bool { return o == r })
		if len(left) == 0 {
			w.m.recordsAt.remove(r.fqdn)
		} else {
			w.m.recordsAt.set(r.fqdn, left)
		}
	}
	r.fqdn = name
	if !name.IsZero() {
		w.m.recordsAt.set(name, append(slices.Clip(w.m.recordsAt.get(name)), r))
	}
}

// unsettle has the name of a record settled anew in its zone, and all names that hang on it: those above that may be delegated, and
// those whose CNAMEs lead in a circle.
func (w *work) unsettle(r *recordState) {
	if r.zone == nil || r.fqdn.IsZero() {
		return
	}
	w.settle[spot{r.zone, r.fqdn}] = struct{}{}
	for name := range ancestors(r.fqdn, r.zone.fqdn) {
		if w.m.mayHide(r.zone, name, isCutType) {
			w.settle[spot{r.zone, name}] = struct{}{}
		}
	}
	if w.m.mayHide(r.zone, r.zone.fqdn, isDNAME) {
		w.settle[spot{r.zone, r.zone.fqdn}] = struct{}{}
	}
	for looping := range w.m.looping {
		if looping.zone != nil {
			w.settle[spot{looping.zone, looping.fqdn}] = struct{}{}
		}
	}
}

// ancestors yields the names between a name and the origin of its zone, both left out, from the longest.
func ancestors(name, origin dnsname.Name) func(yield func(dnsname.Name) bool) {
	return func(yield func(dnsname.Name) bool) {
		if name == origin {
			return
		}
		for at, more := name.Parent(); more && at != origin; at, more = at.Parent() {
			if !yield(at) {
				return
			}
		}
	}
}

// judgeRecord finds the name of a record and the zone that adopts it. Where none does, the verdict says why.
func (m *Model) judgeRecord(r *recordState) (dnsname.Name, *zoneState, RecordVerdict) {
	name, problem := m.nameOfRecord(r.obj)
	if problem != nil {
		reason := zonev1alpha1.ReasonInvalidConfiguration
		if problem.Rule == rules.ZoneAbsent {
			reason = zonev1alpha1.ReasonZoneNotFound
		}
		return dnsname.Name{}, nil, RecordVerdict{Reason: reason, Message: problem.Detail}
	}
	if p := r.ownProblem(name); p != nil {
		return name, nil, RecordVerdict{FQDN: name, Reason: zonev1alpha1.ReasonInvalidConfiguration,
			Message: fmt.Sprintf("spec.%s: %s (rule %s)", p.Field, p.Detail, p.Rule.ID)}
	}
	zone, problem := m.adopter(r.obj, name)
	switch {
	case zone != nil:
		return name, zone, RecordVerdict{}
	case problem.Rule == rules.ZoneAbsent:
		return name, nil, RecordVerdict{FQDN: name, Reason: zonev1alpha1.ReasonZoneNotFound, Message: problem.Detail}
	}
	return name, nil, RecordVerdict{FQDN: name, Reason: zonev1alpha1.ReasonNotDelegated, Message: problem.Detail}
}

// ownProblem returns what is wrong with a record of this name whatever stands beside it.
func (r *recordState) ownProblem(name dnsname.Name) *Problem {
	if r.invalid != nil {
		return r.invalid
	}
	if rule, detail := record.CheckOwner(r.obj.Type, name); rule != nil && rule.Severity == rules.Deny {
		return &Problem{Rule: rule, Field: fieldDomainName, Detail: detail}
	}
	return nil
}

// nameOfRecord finds out the whole name of a record, or says why it has none.
func (m *Model) nameOfRecord(obj RecordObject) (dnsname.Name, *Problem) {
	if obj.ZoneRef == nil {
		name, err := dnsname.ParseOwner(obj.DomainName)
		return name, nameProblem(err, obj.DomainName)
	}
	relative, err := dnsname.ParseSubdomain(obj.DomainName)
	if err != nil {
		return dnsname.Name{}, nameProblem(err, obj.DomainName)
	}
	zone := m.zones[*obj.ZoneRef]
	if zone == nil || zone.fqdn.IsZero() {
		return dnsname.Name{}, m.unnamedParent(*obj.ZoneRef, zone != nil)
	}
	name, err := dnsname.Join(relative, zone.fqdn)
	return name, nameProblem(err, obj.DomainName)
}
