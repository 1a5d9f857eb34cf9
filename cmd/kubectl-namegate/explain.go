package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	cluster clusterFlags
	typ     string
	// zoneNamespaces are looked into where the whole cluster may not be.
	zoneNamespaces []string
}

func newExplainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain FQDN",
		Short: "Say which Zone would adopt a name, by which delegation, or why none would",
		Long: `Says which Zone would adopt a Record of a name and type if it were in a namespace, and which of the
Zone's delegations lets it in; or why none would, with all Zones that the name lies in, the longest
first. Records that have the name and type already are listed, and those that leave no room for another.

It reads Zones and Records with the rights of the user. Where these do not reach all namespaces, it
looks into the one of the Record and those of --zone-namespace, and says so: a Zone that it does not
see may adopt the name before one that it sees.

Exit code 0: a Zone would adopt it. 1: none would. 2: the cluster could not be asked.`,
		Example: `  kubectl namegate explain www.dev.example.org -n team-a
  kubectl namegate explain example.org -n dns --type MX
  kubectl namegate explain www.example.org -n team-a --zone-namespace dns`,
		Args: arguments(1, 1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	f.cluster.add(cmd.Flags(), "of the Record")
	cmd.Flags().StringVar(&f.typ, "type", "A", "`type` of the Record")
	cmd.Flags().StringSliceVar(&f.zoneNamespaces, "zone-namespace", nil, "`namespaces` to look for Zones in, where not all may be read; repeatable, or separated by commas")
	return cmd
}

func (f *explainFlags) run(ctx context.Context, fqdn string, stdout io.Writer) error {
	question, err := f.question(fqdn)
	if err != nil {
		return err
	}
	c, err := f.cluster.connect()
	if err != nil {
		return err
	}
	namespaces := append([]string{question.Namespace}, f.zoneNamespaces...)
	slices.Sort(namespaces)
	seen := picture{model: zone.NewModel(), zones: map[zone.Key]*zonev1alpha1.Zone{}, records: map[zone.Key]record.Type{}, namespaces: slices.Compact(namespaces)}
	if err := seen.read(ctx, c); err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	adopted := seen.explain(out, question)
	if err := out.Flush(); err != nil {
		return err
	}
	if !adopted {
		return errNegative
	}
	return nil
}

func (f *explainFlags) question(fqdn string) (q zone.Question, err error) {
	if fqdn == dnsname.Apex {
		return q, errors.New("name \"@\": give the whole name, such as example.org: there is no zone that it could be relative to")
	}
	if q.Name, err = dnsname.ParseOwner(fqdn); err != nil {
		return q, fmt.Errorf("name %q: %w", rules.Clip(fqdn), err)
	}
	if q.Type, err = recordType(f.typ); err != nil {
		return q, err
	}
	for _, namespace := range f.zoneNamespaces {
		if err := checkNamespace("zone-namespace", namespace); err != nil {
			return q, err
		}
	}
	q.Namespace, err = f.cluster.namespaceName()
	return q, err
}

// recordType returns the type of a record in a zone that a text names, by its mnemonic or its number (RFC 3597 section 5).
func recordType(text string) (record.Type, error) {
	typ := record.Type(strings.ToUpper(text))
	if code, err := strconv.ParseUint(strings.TrimPrefix(string(typ), "TYPE"), 10, 16); err == nil && strings.HasPrefix(string(typ), "TYPE") {
		typ = record.Type(dns.Type(code).String())
	}
	_, known := dns.StringToType[string(typ)]
	switch {
	case typ.InZone():
		return typ, nil
	case known:
		return typ, fmt.Errorf("--type %q: no Record has this type: the SOA record is made of the Zone, and DNSSEC's signer makes its own", typ)
	}
	return typ, fmt.Errorf("--type %q: give the type of a record, such as A, AAAA, CNAME, TXT, MX, SRV or NS", rules.Clip(string(typ)))
}

// picture is what the user may see of zones and records.
type picture struct {
	model *zone.Model
	zones map[zone.Key]*zonev1alpha1.Zone
	// records that were seen, and their types.
	records map[zone.Key]record.Type
	// namespaces to look into where all may not be.
	namespaces []string
	// Whether these were all that there is, and whether Records could be seen.
	allZones, allRecords, someRecords bool
	// unseen namespaces, of Zones.
	unseen []string
}

func (p *picture) read(ctx context.Context, c *cluster) error {
	setZone := func(item runtime.Object) {
		if z, isZone := item.(*zonev1alpha1.Zone); isZone {
			object := zone.ZoneOf(z)
			p.zones[object.Key] = z
			p.model.SetZone(object)
		}
	}
	setRecord := func(item runtime.Object) {
		if r, isRecord := item.(*zonev1alpha1.Record); isRecord {
			object := zone.RecordOf(r)
			p.records[object.Key] = object.Type
			p.model.SetRecord(object)
		}
	}
	var err error
	p.allZones, p.unseen, err = p.readAll(ctx, c, zones, func() runtime.Object { return &zonev1alpha1.ZoneList{} }, setZone)
	if err != nil {
		return err
	}
	if len(p.unseen) == len(p.namespaces) {
		return fmt.Errorf("you may read Zones neither in the whole cluster nor in %s: name a namespace that you may read with --zone-namespace", strings.Join(p.unseen, ", "))
	}
	var unseen []string
	p.allRecords, unseen, err = p.readAll(ctx, c, records, func() runtime.Object { return &zonev1alpha1.RecordList{} }, setRecord)
	p.someRecords = len(unseen) < len(p.namespaces)
	return err
}

// readAll reads all objects of the cluster, or those of some namespaces where the user may not. It returns whether it has seen all, and the
// namespaces that it may not see either.
func (p *picture) readAll(ctx context.Context, c *cluster, resource string, newList func() runtime.Object, each func(runtime.Object)) (all bool, unseen []string, err error) {
	if err = c.list(ctx, resource, "", "", newList, each); !apierrors.IsForbidden(err) {
		return err == nil, nil, err
	}
	for _, namespace := range p.namespaces {
		if err := c.list(ctx, resource, namespace, "", newList, each); apierrors.IsForbidden(err) {
			unseen = append(unseen, namespace)
		} else if err != nil {
			return false, nil, err
		}
	}
	return false, unseen, nil
}

// explain prints the answer, and returns whether a Zone would adopt the name.
func (p *picture) explain(w io.Writer, q zone.Question) bool {
	_, _ = fmt.Fprintf(w, "%s %s in the namespace %s\n", q.Name.FQDN(), q.Type, q.Namespace) // errors come with Flush
	answer := p.model.Explain(q)
	adopted := answer.Zone != zone.Key{}
	if adopted {
		_, _ = fmt.Fprintf(w, "  adopted by  Zone %s (%s)\n  let in by   %s\n", answer.Zone, answer.Origin.FQDN(), p.delegation(q, answer))
	} else {
		_, _ = fmt.Fprintf(w, "  adopted by  no Zone%s\n", p.thatIsSeen())
	}
	if len(answer.Passed) > 0 {
		_, _ = fmt.Fprintln(w, "Zones that the name lies in and that do not adopt it, the longest first:")
	}
	for _, passed := range answer.Passed {
		_, _ = fmt.Fprintf(w, "  Zone %s (%s): %s\n", passed.Zone, passed.Origin.FQDN(), printable(passed.Why))
	}
	if !adopted && len(answer.Passed) == 0 {
		_, _ = fmt.Fprintf(w, "No published Zone%s has this name or one above it.\n", p.thatIsSeen())
		if len(q.Name.Labels()) == 1 {
			_, _ = fmt.Fprintf(w, "Nothing was added to the name: is it meant to be in a zone, as %s.example.org?\n", q.Name)
		}
	}
	p.explainUnpublished(w, q)
	p.explainHolders(w, q)
	if adopted {
		p.explainBeside(w, q, answer)
	}
	p.explainSight(w)
	return adopted
}

// delegation says where in its Zone the delegation stands, and which of its patterns match.
func (p *picture) delegation(q zone.Question, answer zone.Explanation) string {
	z := p.zones[answer.Zone]
	if z == nil || answer.Delegation < 0 || answer.Delegation >= len(z.Spec.Delegations) {
		return "no delegation that could be read"
	}
	labels := q.Name.Labels()
	relative := labels[:len(labels)-len(answer.Origin.Labels())]
	var matching []string
	d := z.Spec.Delegations[answer.Delegation]
	for i, r := range d.Records {
		pattern, err := zone.ParsePattern(r.Pattern)
		admits := len(r.Types) == 0 || slices.ContainsFunc(r.Types, func(t string) bool { return strings.EqualFold(t, string(q.Type)) })
		if err == nil && admits && pattern.Matches(relative) {
			matching = append(matching, fmt.Sprintf("records[%d].pattern %q for %s", i, pattern, listOr(r.Types, "all types")))
		}
	}
	return fmt.Sprintf("spec.delegations[%d] for %s: %s", answer.Delegation, listOr(d.Namespaces, "all namespaces"), strings.Join(matching, "; "))
}

// maxListed is how many items of a list are shown.
const maxListed = 8

// listOr joins the first items of a list, or says what none stands for.
func listOr(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	out := make([]string, 0, maxListed)
	for _, item := range items[:min(len(items), maxListed)] {
		out = append(out, printable(rules.Clip(item)))
	}
	text := strings.Join(out, ", ")
	if more := len(items) - len(out); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// printable replaces what a terminal would obey rather than show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// explainUnpublished names the Zones that the name lies in and that are not published, so they adopt nothing.
func (p *picture) explainUnpublished(w io.Writer, q zone.Question) {
	var out []string
	for key := range p.zones {
		verdict, known := p.model.Zone(key)
		if known && !verdict.Published() && !verdict.FQDN.IsZero() && q.Name.IsAtOrBelow(verdict.FQDN) {
			out = append(out, fmt.Sprintf("  Zone %s (%s): %s: %s\n", key, verdict.FQDN.FQDN(), verdict.Reason, printable(verdict.Message)))
		}
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	_, _ = fmt.Fprintf(w, "Zones that the name lies in and that are not published themselves:\n%s", strings.Join(out, ""))
}

// explainHolders names the Records that have the name and type.
func (p *picture) explainHolders(w io.Writer, q zone.Question) {
	var out []string
	others := false
	for key, typ := range p.records {
		verdict, known := p.model.Record(key)
		if !known || verdict.FQDN != q.Name || typ != q.Type {
			continue
		}
		others = others || verdict.Published() && key.Namespace != q.Namespace
		line := "  Record " + key.String()
		if p.allZones || verdict.Published() { // otherwise its Zone may be one that was not seen
			line += ": " + verdict.Reason
		}
		out = append(out, line+"\n")
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	_, _ = fmt.Fprintf(w, "Records that have this name and type already:\n%s", strings.Join(out, ""))
	if others {
		_, _ = fmt.Fprintf(w, "Records of one name and type belong to one namespace, so none of the namespace %s can join them.\n", q.Namespace)
	}
}

// explainBeside names the published Records that leave no room for another one: what hides the name, and aliases at it.
func (p *picture) explainBeside(w io.Writer, q zone.Question, answer zone.Explanation) {
	var out []string
	for key, typ := range p.records {
		verdict, known := p.model.Record(key)
		if !known || !verdict.Published() || verdict.Parent != answer.Zone {
			continue
		}
		if why := leavesNoRoom(q, answer.Origin, verdict.FQDN, typ); why != "" {
			out = append(out, fmt.Sprintf("  Record %s %s\n", key, why))
		}
	}
	if len(out) == 0 {
		return
	}
	slices.Sort(out)
	_, _ = fmt.Fprintf(w, "The zone lets the name in, and these may leave no room for the record:\n%s", strings.Join(out, ""))
}

// leavesNoRoom says how a published record of a name and type is in the way of the one that is asked about; empty where it is not.
func leavesNoRoom(q zone.Question, origin, name dnsname.Name, typ record.Type) string {
	if name != q.Name {
		switch {
		case name == origin && typ != "DNAME" || !q.Name.IsAtOrBelow(name):
		case typ == record.NS:
			return delegates(name)
		case typ == "DNAME":
			return fmt.Sprintf("is a DNAME at %s: nothing below it is published", name.FQDN())
		}
		return ""
	}
	switch {
	case typ == q.Type:
	case typ == record.NS && name != origin && q.Type != "DS":
		return delegates(name)
	case typ == record.CNAME:
		return "is a CNAME at this name, and stands alone"
	case q.Type == record.CNAME:
		return fmt.Sprintf("of type %s is at this name, and a CNAME stands alone", typ)
	}
	return ""
}

func delegates(name dnsname.Name) string {
	return fmt.Sprintf("delegates %s to other name servers: there and below, only their addresses are published", name.FQDN())
}

// thatIsSeen narrows what is said of no Zone where there may be others.
func (p *picture) thatIsSeen() string {
	if p.allZones {
		return ""
	}
	return " that you may see"
}

// explainSight says what was not seen.
func (p *picture) explainSight(w io.Writer) {
	seen := slices.DeleteFunc(slices.Clone(p.namespaces), func(n string) bool { return slices.Contains(p.unseen, n) })
	if !p.allZones {
		_, _ = fmt.Fprintf(w, "Only Zones in %s were seen, because you may not read those of all namespaces.\n", strings.Join(seen, ", "))
	}
	switch {
	case !p.someRecords:
		_, _ = fmt.Fprintln(w, "No Records were seen, because you may not read them.")
	case !p.allRecords:
		_, _ = fmt.Fprintln(w, "Only Records in some namespaces were seen, because you may not read those of all.")
	}
}
