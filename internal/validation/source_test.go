package validation_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dnsv1alpha1 "github.com/namegate/namegate/api/dns/v1alpha1"
	zonev1alpha1 "github.com/namegate/namegate/api/zone/v1alpha1"
	"github.com/namegate/namegate/internal/claims"
	"github.com/namegate/namegate/internal/refs"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone"
)

// world is what a Source says of other objects. Its zero value knows nothing.
type world struct {
	class      *dnsv1alpha1.DNSClass
	classState refs.State
	rivals     []claims.Claim
	secret     refs.SecretFacts
	access     refs.State
	// zones is the picture of Zones and Records; nil: nothing is known.
	zones *zone.Model

	// fails names the look-up that fails.
	fails string
	// asked counts look-ups by name; user and ref are what the last ones were about.
	asked map[string]int
	user  authenticationv1.UserInfo
	ref   dnsv1alpha1.SecretKeyReference
}

var errLookup = errors.New("look-up failed")

func (w *world) ask(what string) error {
	if w.asked == nil {
		w.asked = map[string]int{}
	}
	w.asked[what]++
	if w.fails == what {
		return errLookup
	}
	return nil
}

func (w *world) DNSClass(context.Context, string) (*dnsv1alpha1.DNSClass, refs.State, error) {
	return w.class, w.classState, w.ask("class")
}

func (w *world) Rivals(context.Context, claims.Claim) ([]claims.Claim, error) {
	return w.rivals, w.ask("rivals")
}

func (w *world) Secret(_ context.Context, ref dnsv1alpha1.SecretKeyReference) (refs.SecretFacts, error) {
	w.ref = ref
	return w.secret, w.ask("secret")
}

func (w *world) MayGetSecret(_ context.Context, user authenticationv1.UserInfo, _, _ string) (refs.State, error) {
	w.user = user
	return w.access, w.ask("access")
}

func (w *world) Zone(_ context.Context, z *zonev1alpha1.Zone) (verdict zone.ZoneVerdict, problems []zone.Problem, err error) {
	if err = w.ask("zone"); err == nil && w.zones != nil {
		verdict, problems = w.zones.TryZone(zone.ZoneOf(z))
	}
	return verdict, problems, err
}

func (w *world) Record(_ context.Context, rec *zonev1alpha1.Record) (verdict zone.RecordVerdict, problems []zone.Problem, err error) {
	if err = w.ask("record"); err == nil && w.zones != nil {
		verdict, problems = w.zones.TryRecord(zone.RecordOf(rec))
	}
	return verdict, problems, err
}

// found is a finding as tests name it: its rule and its field.
type found struct{ Rule, Field string }

func at(rule *rules.Rule, path string) []found { return []found{{rule.ID, path}} }

func foundIn(list field.ErrorList) []found {
	var out []found
	for _, e := range list {
		out = append(out, found{e.Origin, e.Field})
	}
	return out
}

func expect(t *testing.T, list field.ErrorList, want []found) {
	t.Helper()
	if diff := cmp.Diff(want, foundIn(list)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// tested collects the rules that a table has a row for.
var tested = map[string]bool{}

// testRules marks the rules of a table as tested.
func testRules(wants ...[]found) {
	for _, want := range wants {
		for _, f := range want {
			tested[f.Rule] = true
		}
	}
}

// TestEveryRuleIsTested reads which rules there are for our kinds from the source of the registry. Those of the schema are not decided
// here.
func TestEveryRuleIsTested(t *testing.T) {
	for _, tt := range objectTests {
		testRules(tt.want)
	}
	for _, tt := range classReferenceTests {
		testRules(tt.want)
	}
	for _, tt := range recordTests {
		testRules(tt.want)
	}
	for _, tt := range recordReferenceTests {
		testRules(tt.want)
	}
	testZoneRules()
	ids := slices.Concat(rulesIn(t, "../rules/dns.go"), rulesIn(t, "../rules/zones.go"))
	if len(ids) < 35 {
		t.Fatalf("only %d rules found in the source: %v", len(ids), ids)
	}
	for _, id := range ids {
		rule, known := rules.Lookup(id)
		if !known {
			t.Errorf("%s is not in the registry", id)
			continue
		}
		if rule.Layer != rules.Schema && !tested[id] {
			t.Errorf("no row of any table breaks %s", id)
		}
	}
}

// rulesIn returns the IDs that a file registers.
func rulesIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	ast.Inspect(file, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "ID" {
			id, err := strconv.Unquote(pair.Value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return true
	})
	slices.Sort(ids)
	return ids
}
