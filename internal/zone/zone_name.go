package zone

import (
	"slices"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
)

// unname takes a zone's name from it.
func (w *work) unname(z *zoneState) {
	left := slices.DeleteFunc(slices.Clone(w.m.zonesAt.get(z.fqdn)), func(o *zoneState) bool { return o == z })
	switch {
	case z.fqdn.IsZero():
	case len(left) == 0:
		w.m.zonesAt.remove(z.fqdn)
	default:
		w.m.zonesAt.set(z.fqdn, left)
	}
	z.fqdn, z.nameProblem = dnsname.Name{}, nil
}

// name finds out the name of a zone that has none. A zone that is gone gets none.
func (w *work) name(z *zoneState, before dnsname.Name) {
	if w.m.zones[z.obj.Key] == z {
		z.fqdn, z.nameProblem = w.m.nameOfZone(z.obj)
	}
	w.file(z, z.fqdn)
	if before != z.fqdn {
		w.resolveReferring(z)
	}
}

// file puts a zone among those of its name, the one that has the name first.
func (w *work) file(z *zoneState, name dnsname.Name) {
	if name.IsZero() {
		return
	}
	zones := slices.Clone(w.m.zonesAt.get(name))
	at, _ := slices.BinarySearchFunc(zones, z, func(a, b *zoneState) int {
		if a.obj.precedes(b.obj.Object) {
			return -1
		}
		return 1
	})
	w.m.zonesAt.set(name, slices.Insert(zones, at, z))
}

// resolveReferring has every record resolved anew that names a zone.
func (w *work) resolveReferring(z *zoneState) {
	if r := w.m.referrers[z.obj.Key]; r != nil {
		for _, rec := range r.records {
			w.resolve[rec] = struct{}{}
		}
	}
}

// nameOfZone finds out the whole name of a zone, or says why it has none.
func (m *Model) nameOfZone(obj ZoneObject) (dnsname.Name, *Problem) {
	if obj.ZoneRef == nil {
		name, err := dnsname.Parse(obj.DomainName)
		return name, nameProblem(err, obj.DomainName)
	}
	parent := m.zones[*obj.ZoneRef]
	if parent == nil || parent.fqdn.IsZero() {
		return dnsname.Name{}, m.unnamedParent(*obj.ZoneRef, parent != nil)
	}
	relative, err := dnsname.ParseRelative(obj.DomainName)
	if err != nil {
		return dnsname.Name{}, nameProblem(err, obj.DomainName)
	}
	name, err := dnsname.Join(relative, parent.fqdn)
	return name, nameProblem(err, obj.DomainName)
}

// Fields of the specs that problems speak of.
const (
	fieldDomainName = "domainName"
	fieldZoneRef    = "zoneRef"
	fieldType       = "type"
	fieldRData      = "rdata"
	fieldTTL        = "ttl"
)

func nameProblem(err error, text string) *Problem {
	if err == nil {
		return nil
	}
	return &Problem{Rule: record.NameRule(err), Field: fieldDomainName, Value: text, Detail: err.Error()}
}

// unnamedParent says that the zone which a zoneRef names is not there, or has no name yet.
func (m *Model) unnamedParent(ref Key, known bool) *Problem {
	p := &Problem{Rule: rules.ZoneAbsent, Field: fieldZoneRef, Value: ref.Name, Rests: []Rest{{KindZone, ref}},
		Detail: "there is no such Zone in the namespace of zoneRef, which is the object's own if it gives none: this object waits for it"}
	if known {
		p.Detail = "that Zone has no whole name yet: this object waits for it"
	}
	return p
}
