package masterfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// Manifests are the objects that publish what a master file holds.
type Manifests struct {
	Zone    *zonev1alpha1.Zone
	Records []*zonev1alpha1.Record
	// lines of the file that Records were made of.
	lines []int
}

// Manifests makes a Zone of the name, or of one made of the origin where that is empty, and a Record for each record. The Zone lets in
// what its own namespace gives it, and nothing else. The TTL of the SOA record is that of the Zone, and stands for each Record that has the
// same. Name servers come first, so that the gate knows what is delegated to them when it sees the rest.
func (z *Zone) Manifests(namespace, name string) *Manifests {
	if name == "" {
		name = zoneName(z.Origin, namespace)
	}
	m := &Manifests{Zone: z.object(namespace, name)}
	records := slices.Clone(z.Records)
	slices.SortStableFunc(records, func(a, b Record) int {
		if (a.Type == record.NS) != (b.Type == record.NS) {
			return map[bool]int{true: -1, false: 1}[a.Type == record.NS]
		}
		return zone.Compare(a.Entry, b.Entry)
	})
	taken := map[string]bool{}
	for _, r := range records {
		m.Records = append(m.Records, z.recordObject(r, namespace, name, taken))
		m.lines = append(m.lines, r.Line)
	}
	return m
}

func (z *Zone) object(namespace, name string) *zonev1alpha1.Zone {
	return &zonev1alpha1.Zone{
		TypeMeta:   metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindZone},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: zonev1alpha1.ZoneSpec{
			DomainName: z.Origin.FQDN(),
			Delegations: []zonev1alpha1.Delegation{{
				Namespaces: []string{namespace},
				Records:    []zonev1alpha1.RecordDelegation{{Pattern: "*"}, {Pattern: dnsname.Apex}},
			}},
			TTL:                   seconds(z.SOA.TTL),
			Refresh:               seconds(z.SOA.Refresh),
			Retry:                 seconds(z.SOA.Retry),
			Expire:                seconds(z.SOA.Expire),
			NegativeResponseCache: seconds(z.SOA.Minimum),
			NameServer:            z.SOA.NameServer.FQDN(),
			Contact:               z.SOA.Contact,
		},
	}
}

func (z *Zone) recordObject(r Record, namespace, zoneName string, taken map[string]bool) *zonev1alpha1.Record {
	relative := dnsname.Apex
	if r.Name != z.Origin {
		relative = strings.TrimSuffix(r.Name.String(), "."+z.Origin.String())
	}
	out := &zonev1alpha1.Record{
		TypeMeta:   metav1.TypeMeta{APIVersion: zonev1alpha1.GroupVersion.String(), Kind: zone.KindRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: recordName(relative, r.Entry, taken)},
		Spec: zonev1alpha1.RecordSpec{
			DomainName: relative,
			ZoneRef:    &zonev1alpha1.ZoneReference{Name: zoneName},
			Type:       string(r.Type),
			Class:      zonev1alpha1.DefaultClass,
			RData:      r.RData,
		},
	}
	if r.TTL != z.SOA.TTL {
		out.Spec.TTL = seconds(r.TTL)
	}
	return out
}

func seconds(n uint32) *int32 {
	out := int32(n) //nolint:gosec // All times that are read have 31 bits.
	return &out
}

// Lengths in the names of objects, in characters.
const (
	maxSlug = 40
	// hashLength of the hash in a name; one that is taken gets a longer one.
	hashLength = 10
)

// recordName names the object of a record by what the record says, so that the same file makes the same names: its relative name and type, for
// people, and a hash of all that tells it from others.
func recordName(relative string, e zone.Entry, taken map[string]bool) string {
	sum := sha256.Sum256([]byte(e.Name.String() + " " + string(e.Type) + " " + e.RData))
	digits := hex.EncodeToString(sum[:])
	base := slug(relative, maxSlug) + "-" + slug(string(e.Type), maxSlug) + "-"
	length := hashLength
	for taken[base+digits[:length]] && length < len(digits) {
		length++
	}
	taken[base+digits[:length]] = true
	return base + digits[:length]
}

// zoneName makes a name for a Zone that fits into the label of its Records beside the namespace.
func zoneName(origin dnsname.Name, namespace string) string {
	name := slug(origin.String(), dnsname.MaxLength)
	room := zone.MaxParentLabel - len(".") - len(namespace)
	if len(name) <= room {
		return name
	}
	sum := sha256.Sum256([]byte(origin.String()))
	return slug(origin.String(), max(room-1-hashLength, 1)) + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// slug makes a part of the name of an object of a text: lower-case letters and digits, with single hyphens between them.
func slug(text string, length int) string {
	text = strings.NewReplacer("*", "wildcard", dnsname.Apex, "apex").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	out := strings.Join(words, "-")
	if out == "" {
		return "x"
	}
	return strings.Trim(out[:min(len(out), length)], "-")
}

// check asks what the gate would say of the objects, one after the other as they would be applied, if there were no others. It returns
// what it would refuse.
func (m *Manifests) check() []Problem {
	var out []Problem
	if label := zone.ParentLabel(zone.ZoneOf(m.Zone).Key); len(label) > zone.MaxParentLabel {
		out = append(out, Problem{Field: "metadata.name", Value: m.Zone.Name, Rule: rules.ZoneLabelLength, Detail: fmt.Sprintf(
			"give a name that has at most %d characters together with the namespace and a dot; these are %d", zone.MaxParentLabel, len(label))})
	}
	model := zone.NewPartialModel()
	_, problems := model.TryZone(zone.ZoneOf(m.Zone))
	out = append(out, denied(0, problems)...)
	if len(out) > 0 {
		return out
	}
	model.SetZone(zone.ZoneOf(m.Zone))
	for i, r := range m.Records {
		object := zone.RecordOf(r)
		_, problems := model.TryRecord(object)
		refused := denied(m.lines[i], problems)
		if out = append(out, refused...); len(out) >= maxProblems {
			break
		}
		if len(refused) == 0 {
			model.SetRecord(object)
		}
	}
	if len(out) == 0 {
		out = m.unpublished(model)
	}
	return out
}

// unpublished are the Records that were let in, and that a later one keeps out of the zone.
func (m *Manifests) unpublished(model *zone.Model) []Problem {
	var out []Problem
	for i, r := range m.Records {
		verdict, known := model.Record(zone.RecordOf(r).Key)
		if known && !verdict.Published() {
			out = append(out, Problem{Line: m.lines[i], Field: fieldName, Value: verdict.FQDN.FQDN(), Detail: verdict.Message})
		}
	}
	return out
}

// denied are the problems for which the gate refuses an object.
func denied(line int, problems []zone.Problem) []Problem {
	var out []Problem
	for _, p := range problems {
		if p.Rule.Severity == rules.Deny {
			out = append(out, Problem{Line: line, Field: p.Field, Value: p.Value, Detail: p.Detail, Rule: p.Rule})
		}
	}
	return out
}
