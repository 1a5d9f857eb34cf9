package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/zone"
	"github.com/namegate/namegate/test/builder"
	"github.com/namegate/namegate/test/cluster"
	"github.com/namegate/namegate/test/cluster/stack"
)

// adoption is a scenario: zones, and what becomes of the sub-zones and records that want to join them.
type adoption struct {
	name    string
	zones   []zoneCase // created in this order
	records []recordCase
}

type zoneCase struct {
	zone   *zonev1alpha1.Zone
	parent *zonev1alpha1.Zone
	refusal
}

type recordCase struct {
	record *zonev1alpha1.Record
	fqdn   string
	// parent has adopted it; nil: nobody has. It publishes the record where there is no reason not to.
	parent *zonev1alpha1.Zone
	refusal
	// warning is the rule that the gate names while it lets in a record which nobody adopts.
	warning string
}

// refusal is the rule by which the gate refuses an object, and the reason that the controller gives where there is no gate. Where only
// the reason is set, the gate lets the object in.
type refusal struct{ rule, reason string }

var (
	recordRefused = refusal{rule: "record-not-delegated", reason: zonev1alpha1.ReasonNotDelegated}
	zoneRefused   = refusal{rule: "zone-not-delegated", reason: zonev1alpha1.ReasonNotDelegated}
	noZone        = refusal{reason: zonev1alpha1.ReasonZoneNotFound}
)

// teams are the namespaces of a feature.
type teams struct{ dns, dev, prod string }

func newTeams(ctx context.Context, t *testing.T, name string) teams {
	t.Helper()
	ns := teams{name + "-dns", name + "-development", name + "-production"}
	for _, namespace := range []string{ns.dns, ns.dev, ns.prod} {
		(&place{name: namespace}).addNamespace(ctx, t)
	}
	return ns
}

// adoptions are the scenarios, with zones below base.
func adoptions(ns teams, base string) []adoption {
	return []adoption{
		adopted(ns, "adoption."+base),
		orphaned(ns, "orphan."+base),
		crossNamespace(ns, "cross."+base),
		split(ns, "split."+base),
		byType(ns, "types."+base),
		longest(ns, "longest."+base),
		contradictory(ns, "contradictory."+base),
	}
}

func adopted(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "adoption").Domain(domain).Delegate(nil, "*").Obj()
	return adoption{
		name:  "a record joins the zone that delegates its name",
		zones: []zoneCase{{zone: z}},
		records: []recordCase{
			{record: aRecord(ns.dns, "adopted-whole", "www."+domain, 1), fqdn: "www." + domain, parent: z},
			{record: relative(aRecord(ns.dns, "adopted-relative", "Deep.API", 2), z), fqdn: "deep.api." + domain, parent: z},
		},
	}
}

func orphaned(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "orphan").Domain(domain).Delegate(nil, "known").Obj()
	nowhere := builder.Zone(ns.dns, "nowhere").Obj()
	return adoption{
		name:  "a record that no delegation names stays outside",
		zones: []zoneCase{{zone: z}},
		records: []recordCase{
			{record: aRecord(ns.dns, "orphan-other", "other."+domain, 10), fqdn: "other." + domain, refusal: recordRefused},
			{record: relative(aRecord(ns.dns, "orphan-relative", "relative", 11), z), fqdn: "relative." + domain, refusal: recordRefused},
			{record: aRecord(ns.dns, "orphan-apex", domain, 12), fqdn: domain, refusal: recordRefused},
			{record: aRecord(ns.dns, "orphan-zoneless", "www.no-"+domain, 13), fqdn: "www.no-" + domain, refusal: noZone, warning: "zone-absent"},
			{record: relative(aRecord(ns.dns, "orphan-nowhere", "www", 14), nowhere), refusal: noZone, warning: "zone-absent"},
			{record: aRecord(ns.dns, "orphan-known", "known."+domain, 15), fqdn: "known." + domain, parent: z},
		},
	}
}

func crossNamespace(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "cross").Domain(domain).Delegate([]string{ns.dev}, "*").Obj()
	return adoption{
		name:  "a zone lets in the records of another namespace, and not those of its own",
		zones: []zoneCase{{zone: z}},
		records: []recordCase{
			{record: aRecord(ns.dev, "cross-whole", "whole."+domain, 20), fqdn: "whole." + domain, parent: z},
			{record: relative(aRecord(ns.dev, "cross-relative", "relative", 21), z), fqdn: "relative." + domain, parent: z},
			{record: aRecord(ns.dns, "cross-own", "own."+domain, 22), fqdn: "own." + domain, refusal: recordRefused},
			{record: aRecord(ns.prod, "cross-third", "third."+domain, 23), fqdn: "third." + domain, refusal: recordRefused},
			{record: relative(aRecord(ns.prod, "cross-third-relative", "third", 24), z), fqdn: "third." + domain, refusal: recordRefused},
		},
	}
}

func split(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "split").Domain(domain).Delegate([]string{ns.dev}, "*.dev").Delegate([]string{ns.prod}, "*.prod").Obj()
	return adoption{
		name:  "a zone is split between namespaces",
		zones: []zoneCase{{zone: z}},
		records: []recordCase{
			{record: aRecord(ns.dev, "split-dev", "www.dev."+domain, 30), fqdn: "www.dev." + domain, parent: z},
			{record: aRecord(ns.prod, "split-prod", "www.prod."+domain, 31), fqdn: "www.prod." + domain, parent: z},
			{record: aRecord(ns.dev, "split-dev-in-prod", "api.prod."+domain, 32), fqdn: "api.prod." + domain, refusal: recordRefused},
			{record: aRecord(ns.prod, "split-prod-in-dev", "api.dev."+domain, 33), fqdn: "api.dev." + domain, refusal: recordRefused},
			{record: aRecord(ns.dev, "split-parent", "dev."+domain, 34), fqdn: "dev." + domain, refusal: recordRefused},
		},
	}
}

func byType(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "types").Domain(domain).
		DelegateTypes(nil, "web-*", "A", "AAAA").DelegateTypes([]string{ns.prod}, "@", "MX").Obj()
	text := func(namespace, name, domain string) *zonev1alpha1.Record {
		return builder.Record(namespace, name).Domain(domain).Type("TXT").RData(`"` + name + `"`).Obj()
	}
	mail := builder.Record(ns.prod, "types-mail").Domain(domain).Type("MX").RData("10 mail.example.net.").Obj()
	return adoption{
		name:  "a zone lets in some types of some names",
		zones: []zoneCase{{zone: z}},
		records: []recordCase{
			{record: aRecord(ns.dev, "types-web", "web-1."+domain, 40), fqdn: "web-1." + domain, parent: z},
			{record: mail, fqdn: domain, parent: z},
			{record: text(ns.dev, "types-text", "web-2."+domain), fqdn: "web-2." + domain, refusal: recordRefused},
			{record: aRecord(ns.dev, "types-name", "db-1."+domain, 41), fqdn: "db-1." + domain, refusal: recordRefused},
			{record: aRecord(ns.dev, "types-deep", "x.web-1."+domain, 42), fqdn: "x.web-1." + domain, refusal: recordRefused},
			{record: text(ns.prod, "types-apex", domain), fqdn: domain, refusal: recordRefused},
		},
	}
}

func longest(ns teams, domain string) adoption {
	parent := builder.Zone(ns.dns, "longest").Domain(domain).Delegate(nil, "*").DelegateZones([]string{ns.dev}, "sub").Obj()
	sub := builder.Zone(ns.dev, "longest-sub").Domain("sub").ZoneRef(parent.Name, parent.Namespace).
		Delegate(nil, "@").DelegateTypes(nil, "*", "A").Obj()
	rogue := builder.Zone(ns.dev, "longest-rogue").Domain("rogue." + domain).DelegateAll().Obj()
	foreign := builder.Zone(ns.prod, "longest-foreign").Domain("below.sub." + domain).DelegateAll().Obj()
	ns1 := "ns1.sub." + domain
	return adoption{
		name: "the zone with the longest name adopts, and its delegation is in the one above",
		zones: []zoneCase{
			{zone: parent},
			{zone: sub, parent: parent},
			{zone: rogue, refusal: zoneRefused},
			{zone: foreign, refusal: zoneRefused},
		},
		records: []recordCase{
			{record: aRecord(ns.prod, "longest-short", "www."+domain, 50), fqdn: "www." + domain, parent: parent},
			{record: aRecord(ns.prod, "longest-long", "www.sub."+domain, 51), fqdn: "www.sub." + domain, parent: sub},
			{record: builder.Record(ns.dev, "longest-ns").Domain("sub." + domain).Type("NS").RData(ns1).Obj(), fqdn: "sub." + domain, parent: sub},
			{record: aRecord(ns.dev, "longest-glue", ns1, 52), fqdn: ns1, parent: sub},
			{
				// The sub-zone refuses it; the zone above has no say below the cut.
				record: builder.Record(ns.dev, "longest-text").Domain("text.sub." + domain).Type("TXT").RData(`"x"`).Obj(),
				fqdn:   "text.sub." + domain, refusal: recordRefused,
			},
		},
	}
}

// contradictory is what must not stand beside something else. What sorts first is the older one, or wins where both are of one second.
func contradictory(ns teams, domain string) adoption {
	z := builder.Zone(ns.dns, "contradictory-1").Domain(domain).Delegate(nil, "*", "@").Obj()
	twin := builder.Zone(ns.dns, "contradictory-2").Domain(domain).DelegateAll().Obj()
	www, lab := "www."+domain, "lab."+domain
	dev := func(name, domain, rtype, rdata string) *builder.RecordBuilder {
		return builder.Record(ns.dev, "contradictory-"+name).Domain(domain).Type(rtype).RData(rdata)
	}
	leftOut := func(rule string) refusal { return refusal{rule: rule, reason: zonev1alpha1.ReasonQuarantined} }
	return adoption{
		name: "what contradicts a zone stays outside, and the rest of the zone stands",
		zones: []zoneCase{
			{zone: z},
			{zone: twin, refusal: refusal{rule: "zone-taken", reason: zonev1alpha1.ReasonNameConflict}},
		},
		records: []recordCase{
			{record: dev("1", www, "A", "192.0.2.60").TTL(zonev1alpha1.DefaultTTL).Obj(), fqdn: www, parent: z},
			{record: dev("2", www, "A", "192.0.2.61").TTL(60).Obj(), fqdn: www, parent: z, refusal: leftOut("ttl-differs")},
			{record: dev("3", www, "CNAME", "www.example.net.").Obj(), fqdn: www, parent: z, refusal: leftOut("cname-alone")},
			{
				record: aRecord(ns.prod, "contradictory-4", www, 62), fqdn: www, parent: z,
				refusal: refusal{rule: "rrset-taken", reason: zonev1alpha1.ReasonNameConflict},
			},
			{record: dev("5", domain, "CNAME", "www.example.net.").Obj(), fqdn: domain, parent: z, refusal: leftOut("cname-at-apex")},
			{record: dev("6", lab, "NS", "ns.example.net.").Obj(), fqdn: lab, parent: z},
			{record: dev("7", "www."+lab, "A", "192.0.2.63").Obj(), fqdn: "www." + lab, parent: z, refusal: leftOut("record-occluded")},
			{
				record: dev("8", "bad."+domain, "A", "no address").Obj(), fqdn: "bad." + domain,
				refusal: refusal{rule: "value-ipv4", reason: zonev1alpha1.ReasonInvalidConfiguration},
			},
		},
	}
}

func aRecord(namespace, name, domain string, host int) *zonev1alpha1.Record {
	return builder.Record(namespace, name).Domain(domain).RData(fmt.Sprintf("192.0.2.%d", host)).Obj()
}

func relative(r *zonev1alpha1.Record, z *zonev1alpha1.Zone) *zonev1alpha1.Record {
	r.Spec.ZoneRef = &zonev1alpha1.ZoneReference{Name: z.Name, Namespace: z.Namespace}
	return r
}

// TestZoneAdoption goes through the scenarios with the gate: what a zone does not delegate is refused at once.
func TestZoneAdoption(t *testing.T) {
	testAdoptions(t, "zones-with-gate", true)
}

// TestZoneAdoptionWithoutGate goes through the same ones with the webhooks removed: what the gate would refuse is there, and the
// controller does not adopt it.
func TestZoneAdoptionWithoutGate(t *testing.T) {
	testAdoptions(t, "zones-without-gate", false)
}

func testAdoptions(t *testing.T, name string, gate bool) {
	var (
		scenarios []adoption
		dns       *stack.CoreDNS
	)
	f := features.New(name).Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		if !gate {
			withoutGate(ctx, t)
		}
		scenarios = adoptions(newTeams(ctx, t, name), name+".test.")
		dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{})
		return ctx
	})
	for i, scenario := range adoptions(teams{}, "") {
		f = f.Assess(scenario.name, func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			scenarios[i].create(ctx, t, gate)
			scenarios[i].check(ctx, t, dns, gate)
			return ctx
		})
	}
	testenv.Test(t, f.Feature())
}

func (a adoption) create(ctx context.Context, t *testing.T, gate bool) {
	t.Helper()
	for _, c := range a.zones {
		if gate && c.rule != "" {
			refused(ctx, t, c.zone, c.rule)
			continue
		}
		create(ctx, t, c.zone)
		if c.reason == "" {
			awaitReady(ctx, t, c.zone) // a record that comes before its zone is known is only warned of
		}
	}
	for _, c := range a.records {
		switch {
		case gate && c.rule != "":
			refused(ctx, t, c.record, c.rule)
		case gate && c.warning != "":
			warned(ctx, t, c.record, c.warning)
		default:
			create(ctx, t, c.record)
		}
	}
}

func (a adoption) check(ctx context.Context, t *testing.T, dns *stack.CoreDNS, gate bool) {
	t.Helper()
	for _, c := range a.zones {
		switch {
		case c.reason == "":
			awaitReady(ctx, t, c.zone)
			hasParent(t, c.zone, c.parent)
		case c.rule == "" || !gate:
			awaitReason(ctx, t, c.zone, "False", c.reason)
			hasParent(t, c.zone, nil)
			if len(c.zone.Status.Slices) != 0 {
				t.Errorf("%s: a zone that nobody delegated has content", c.zone.Name)
			}
		}
	}
	for _, c := range a.records {
		if gate && c.rule != "" {
			continue
		}
		a.checkRecord(ctx, t, dns, c)
	}
	for _, c := range a.zones {
		if c.reason == "" {
			awaitComplete(ctx, t, c.zone, a.completeness(c.zone, gate))
		}
	}
	a.checkCuts(ctx, t)
}

// completeness is the reason that a zone gives for being complete, or not.
func (a adoption) completeness(z *zonev1alpha1.Zone, gate bool) string {
	reason := zonev1alpha1.ReasonNoNameServer
	for _, c := range a.records {
		switch {
		case c.parent == z && c.reason != "" && !gate:
			return zonev1alpha1.ReasonRecordsLeftOut
		case c.parent == z && c.record.Spec.Type == "NS" && c.fqdn == z.Status.FQDN:
			reason = zonev1alpha1.ReasonAllPublished
		}
	}
	return reason
}

func awaitComplete(ctx context.Context, t *testing.T, z *zonev1alpha1.Zone, reason string) {
	t.Helper()
	err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(z), z); err != nil {
			return err
		}
		complete := meta.FindStatusCondition(z.Status.Conditions, zonev1alpha1.ConditionComplete)
		if complete == nil || complete.Reason != reason || (complete.Status == "True") != (reason == zonev1alpha1.ReasonAllPublished) {
			return fmt.Errorf("%s: the condition Complete is %+v, want the reason %s", z.Name, complete, reason)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (a adoption) checkRecord(ctx context.Context, t *testing.T, dns *stack.CoreDNS, c recordCase) {
	t.Helper()
	published := c.reason == ""
	if published {
		awaitReady(ctx, t, c.record)
		awaitReason(ctx, t, c.record, "True", zonev1alpha1.ReasonAdopted)
	} else {
		awaitReason(ctx, t, c.record, "False", c.reason)
	}
	hasParent(t, c.record, c.parent)
	if c.record.Status.FQDN != c.fqdn {
		t.Errorf("%s: status.fqdn is %q, want %q", c.record.Name, c.record.Status.FQDN, c.fqdn)
	}
	for _, z := range a.zones {
		if z.reason == "" {
			awaitEntry(ctx, t, z.zone, entryOf(c.record, c.fqdn), published && (z.zone == c.parent || a.isGlue(c, z)))
		}
	}
	if c.fqdn != "" {
		checkAnswer(ctx, t, dns, c, published)
	}
}

func checkAnswer(ctx context.Context, t *testing.T, dns *stack.CoreDNS, c recordCase, published bool) {
	t.Helper()
	if published {
		if _, err := stack.AwaitAnswer(within(ctx, t, soon), dns.Address, c.fqdn, c.record.Spec.Type, c.record.Spec.RData); err != nil {
			t.Error(err)
		}
		return
	}
	answer, err := stack.Ask(ctx, dns.Address, c.fqdn, c.record.Spec.Type)
	if err != nil || slices.Contains(answer.Values, c.record.Spec.RData) {
		t.Errorf("%s: %s is answered with %q, %v", c.record.Name, c.fqdn, answer.Values, err)
	}
}

// isGlue says whether the records of the scenario delegate a sub-zone by this record, so that the zone above has it too.
func (a adoption) isGlue(c recordCase, above zoneCase) bool {
	return slices.ContainsFunc(a.records, func(ns recordCase) bool {
		return ns.record.Spec.Type == "NS" && slices.ContainsFunc(a.zones, func(z zoneCase) bool {
			return z.zone == ns.parent && z.parent == above.zone && (c.record == ns.record || c.parent == z.zone && c.fqdn == ns.record.Spec.RData)
		})
	})
}

// checkCuts holds that a zone has NS records for each of its sub-zones.
func (a adoption) checkCuts(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, c := range a.zones {
		if c.parent == nil || c.reason != "" {
			continue
		}
		get(ctx, t, c.parent)
		if !slices.ContainsFunc(c.parent.Status.Entries, func(e zonev1alpha1.ZoneEntry) bool { return e.FQDN == c.zone.Status.FQDN && e.Type == "NS" }) {
			t.Errorf("%s does not delegate %s: %v", c.parent.Name, c.zone.Status.FQDN, c.parent.Status.Entries)
		}
	}
}

// TestZoneDelegationWithdrawn takes a delegation away: its records leave the zone, and cannot come back.
func TestZoneDelegationWithdrawn(t *testing.T) {
	const name, domain = "zones-withdrawn", "withdrawn.test."
	var (
		ns           teams
		dns          *stack.CoreDNS
		z            *zonev1alpha1.Zone
		stays, goes  *zonev1alpha1.Record
		serial       int64
		withdraw     = func(z *zonev1alpha1.Zone) { z.Spec.Delegations = z.Spec.Delegations[:1] }
		answersAfter = func(ctx context.Context, t *testing.T, fqdn string, want ...string) {
			t.Helper()
			if _, err := stack.AwaitAnswer(within(ctx, t, soon), dns.Address, fqdn, "A", want...); err != nil {
				t.Error(err)
			}
		}
	)
	testenv.Test(t, features.New("a delegation that is withdrawn").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			ns = newTeams(ctx, t, name)
			dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{})
			z = builder.Zone(ns.dns, "withdrawn").Domain(domain).Delegate([]string{ns.prod}, "*").Delegate([]string{ns.dev}, "*").Obj()
			stays, goes = aRecord(ns.prod, "stays", "stays."+domain, 1), aRecord(ns.dev, "goes", "goes."+domain, 2)
			create(ctx, t, z)
			awaitReady(ctx, t, z)
			create(ctx, t, stays, goes)
			awaitReady(ctx, t, stays, goes)
			awaitEntry(ctx, t, z, entryOf(goes, "goes."+domain), true)
			awaitEntry(ctx, t, z, entryOf(stays, "stays."+domain), true)
			answersAfter(ctx, t, "goes."+domain, "192.0.2.2")
			serial = z.Status.Serial
			return ctx
		}).
		Assess("takes its records along", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			change(ctx, t, z, withdraw)
			awaitReason(ctx, t, goes, "False", zonev1alpha1.ReasonNotDelegated)
			hasParent(t, goes, nil)
			awaitEntry(ctx, t, z, entryOf(goes, "goes."+domain), false)
			if !zone.SerialLess(uint32(serial), uint32(z.Status.Serial)) {
				t.Errorf("the serial went from %d to %d, want it to rise", serial, z.Status.Serial)
			}
			answersAfter(ctx, t, "goes."+domain)
			return ctx
		}).
		Assess("and no others", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			awaitReady(ctx, t, stays, z)
			hasParent(t, stays, z)
			answersAfter(ctx, t, "stays."+domain, "192.0.2.1")
			return ctx
		}).
		Assess("and lets no more in", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			refused(ctx, t, aRecord(ns.dev, "late", "late."+domain, 3), "record-not-delegated")
			return ctx
		}).
		Assess("until it is there again", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			change(ctx, t, z, func(z *zonev1alpha1.Zone) {
				z.Spec.Delegations = append(z.Spec.Delegations, builder.Zone("", "").Delegate([]string{ns.dev}, "goes").Obj().Spec.Delegations...)
			})
			awaitReady(ctx, t, goes)
			hasParent(t, goes, z)
			answersAfter(ctx, t, "goes."+domain, "192.0.2.2")
			return ctx
		}).Feature())
}

// TestZoneLonger creates a sub-zone over records that the zone above has, and deletes it again.
func TestZoneLonger(t *testing.T) {
	const name, domain = "zones-longer", "longer.test."
	var (
		ns         teams
		dns        *stack.CoreDNS
		above, sub *zonev1alpha1.Zone
		record     *zonev1alpha1.Record
	)
	adoptedBy := func(ctx context.Context, t *testing.T, parent, other *zonev1alpha1.Zone) {
		t.Helper()
		err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
			if err := admin.Get(ctx, client.ObjectKeyFromObject(record), record); err != nil {
				return err
			}
			return parentError(record, parent)
		})
		if err != nil {
			t.Fatal(err)
		}
		awaitReady(ctx, t, record)
		awaitEntry(ctx, t, parent, entryOf(record, "www.sub."+domain), true)
		if other != nil {
			awaitEntry(ctx, t, other, entryOf(record, "www.sub."+domain), false)
		}
		if _, err := stack.AwaitAnswer(within(ctx, t, soon), dns.Address, "www.sub."+domain, "A", record.Spec.RData); err != nil {
			t.Error(err)
		}
	}
	testenv.Test(t, features.New("a longer zone").
		Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			ns = newTeams(ctx, t, name)
			dns = startCoreDNS(ctx, t, name, stack.CoreDNSOptions{})
			above = builder.Zone(ns.dns, "longer").Domain(domain).DelegateAll().Obj()
			sub = builder.Zone(ns.dev, "longer-sub").Domain("sub."+domain).Delegate(nil, "*").Obj()
			record = aRecord(ns.prod, "www", "www.sub."+domain, 1)
			create(ctx, t, above)
			awaitReady(ctx, t, above)
			create(ctx, t, record)
			adoptedBy(ctx, t, above, nil)
			return ctx
		}).
		Assess("takes over what is below it", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			create(ctx, t, sub)
			awaitReady(ctx, t, sub)
			adoptedBy(ctx, t, sub, above)
			return ctx
		}).
		Assess("and gives it back when it goes", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			remove(ctx, t, sub)
			awaitGone(ctx, t, sub)
			adoptedBy(ctx, t, above, nil)
			return ctx
		}).Feature())
}

// startCoreDNS starts a CoreDNS of the shared control plane, which ends with the feature.
func startCoreDNS(ctx context.Context, t *testing.T, name string, opts stack.CoreDNSOptions) *stack.CoreDNS {
	t.Helper()
	return startCoreDNSOf(ctx, t, plane, name, opts)
}

func startCoreDNSOf(ctx context.Context, t *testing.T, c *cluster.Cluster, name string, opts stack.CoreDNSOptions) *stack.CoreDNS {
	t.Helper()
	opts.Binary = filepath.Join(workDir(), stack.CoreDNSProgram.Name)
	opts.LogFile = filepath.Join(workDir(), "coredns-"+name+".log")
	dns, err := stack.StartCoreDNS(ctx, c, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dns.Stop(); err != nil {
			t.Error(err)
		}
	})
	return dns
}

func get(ctx context.Context, t *testing.T, obj client.Object) {
	t.Helper()
	if err := admin.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
}

// hasParent holds that the label of an object, as last read, names a zone, or none.
func hasParent(t *testing.T, obj client.Object, parent *zonev1alpha1.Zone) {
	t.Helper()
	if err := parentError(obj, parent); err != nil {
		t.Error(err)
	}
}

func parentError(obj client.Object, parent *zonev1alpha1.Zone) error {
	want := ""
	if parent != nil {
		want = parent.Name + "." + parent.Namespace
	}
	got, has := obj.GetLabels()[zonev1alpha1.ParentZoneLabel]
	if got != want || has != (parent != nil) {
		return fmt.Errorf("%s: the parent zone is %q (the label is there: %v), want %q", obj.GetName(), got, has, want)
	}
	return nil
}

// entryOf is a record as its zone shows it, whose TTL is the default.
func entryOf(r *zonev1alpha1.Record, fqdn string) zonev1alpha1.ZoneEntry {
	ttl := int32(zonev1alpha1.DefaultTTL)
	if r.Spec.TTL != nil {
		ttl = *r.Spec.TTL
	}
	return zonev1alpha1.ZoneEntry{FQDN: fqdn, Type: r.Spec.Type, Class: "IN", TTL: ttl, RData: r.Spec.RData}
}

// awaitEntry polls until a zone has an entry, or has it no longer. Its first entry is always its SOA, with the serial of the status.
func awaitEntry(ctx context.Context, t *testing.T, z *zonev1alpha1.Zone, entry zonev1alpha1.ZoneEntry, want bool) {
	t.Helper()
	err := cluster.Poll(within(ctx, t, soon), 50*time.Millisecond, func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(z), z); err != nil {
			return err
		}
		if got := slices.Contains(z.Status.Entries, entry); got != want {
			return fmt.Errorf("%s: has %v: %v, want %v; all are %v", z.Name, entry, got, want, z.Status.Entries)
		}
		soa := z.Status.Entries[0]
		if soa.Type != "SOA" || soa.FQDN != z.Status.FQDN || !strings.Contains(soa.RData, fmt.Sprintf(" %d ", z.Status.Serial)) {
			return cluster.Permanent(fmt.Errorf("%s: with serial %d, the first entry is %v", z.Name, z.Status.Serial, soa))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// warned creates an object that the gate lets in with a warning by a rule.
func warned(ctx context.Context, t *testing.T, obj client.Object, rule string) {
	t.Helper()
	var heard warnings
	cfg := plane.Admin()
	cfg.WarningHandler = &heard
	c, err := cluster.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(ctx, obj); err != nil {
		t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
	}
	if !heard.tellOf("(rule " + rule + ")") {
		t.Errorf("%T %s: the warnings are %q, want one by %s", obj, obj.GetName(), heard.texts, rule)
	}
}

// warnings collects what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader takes one warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) tellOf(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.texts, func(text string) bool { return strings.Contains(text, part) })
}
