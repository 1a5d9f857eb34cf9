package internal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the import path of this repository; packages of ours are named here without it.
const module = "github.com/namegate/namegate/"

// Sets of packages that rows of mayImport share.
var (
	// everyone's: they know next to nothing themselves, and one home for what they decide means that all others ask them.
	leaves = []string{"internal/rules", "internal/endpoint"}
	// domain packages hold the pure decisions: of names and records, and of each front door.
	domain = []string{"internal/dnsname", "internal/record", "internal/dnsrecord",
		"internal/zone", "internal/routing", "internal/failover", "internal/ingressdns", "internal/policy"}
)

// mayImport says, for each package and those below it, which packages of ours and those below them it may import itself (tests
// are not asked). An import that is not here is an error of the design: what both sides need goes to a package that both may
// import. A package may always import those below it and above it within its own row; the groups of grouped do not know each other.
var mayImport = map[string][]string{
	"api":           nil,
	"api/dnsserver": nil, // for authors of servers: the standard library only

	"internal/rules":    nil,
	"internal/dnsname":  nil,
	"internal/endpoint": {"internal/dnsname"},
	"internal/record":   {"internal/dnsname", "internal/rules"},

	"internal/dnsrecord":  decisions,
	"internal/zone":       decisions,
	"internal/routing":    decisions,
	"internal/failover":   decisions,
	"internal/ingressdns": decisions,
	"internal/policy":     decisions,

	"internal/claims": union([]string{"api"}, domain, leaves),
	"internal/refs":   union([]string{"api", "internal/claims"}, domain, leaves),
	"internal/format": union([]string{"internal/dnsname", "internal/record"}, leaves),

	// The gate. It never sees a controller or the client of a DNS server.
	"internal/defaulting": union([]string{"api", "internal/refs"}, domain, leaves),
	"internal/validation": union([]string{"api", "internal/format", "internal/refs", "internal/claims"}, domain, leaves),
	"internal/lint": union([]string{"api", "config/crd", "internal/defaulting", "internal/validation", "internal/refs", "internal/claims"},
		leaves),
	"webhooks": union([]string{"api", "internal/defaulting", "internal/validation", "internal/refs", "internal/claims"}, domain, leaves),

	// The controllers. They assume valid input, so they never see the gate.
	"internal/provider":   union([]string{"api", "api/dnsserver", "internal/record", "internal/dnsname", "internal/format"}, leaves),
	"internal/prober":     union([]string{"api", "api/dnsserver", "internal/record", "internal/dnsname", "internal/format"}, leaves),
	"internal/conditions": {"api"},
	"internal/away":       nil, // waiting for an API server; processes ask for it, nobody else
	"internal/controller": union([]string{"api", "internal/refs", "internal/claims", "internal/provider", "internal/prober",
		"internal/conditions"}, domain, leaves),

	"config/crd": nil, // the generated CRDs, embedded
	"docs/gen":   {anything},
	"cmd":        {anything},
	"test":       {anything},
}

// anything of ours; only what test holds is for test alone.
const anything = "anything"

// decisions of one front door stand on these.
var decisions = []string{"api", "internal/dnsname", "internal/record", "internal/rules"}

// grouped rows hold one package or tree for each API group or kind of server. What is in one does not import what is in another, so
// that each front door can be switched off; what they share stands in the row's own package.
var grouped = []string{"api", "internal/controller", "internal/provider"}

// onlyFor says who may import a library itself, among all packages of ours; each has one home.
var onlyFor = []struct {
	library string
	by      []string
	why     string
}{
	{"github.com/go-playground/validator", []string{"internal/format"},
		"its own tags accept what we do not; ask internal/format"},
	{"github.com/miekg/dns", []string{"internal/record", "internal/zone", "cmd", "test"},
		"rdata is built from parsed values in one place; ask internal/record"},
	{"k8s.io/apiextensions-apiserver/pkg/apiserver", []string{"internal/lint"},
		"it brings the better part of an API server; ask internal/lint"},
}

// neverLinks says what a package and those below it do not depend on, however far down.
var neverLinks = []struct {
	from  string
	never []string
	but   []string
	why   string
}{
	{
		from: "internal/validation",
		never: []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go/rest", "k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic",
			"k8s.io/client-go/discovery", "k8s.io/client-go/tools"},
		why: "what the gate decides is a pure function; a cluster is asked through refs.Source, and its form with a client is internal/refs/cached",
	},
	{
		from:  "cmd/manager",
		never: []string{"github.com/coredns"},
		why:   "the manager is no DNS server; CoreDNS is linked into cmd/coredns",
	},
	{
		// controller-runtime's pkg/webhook imports pkg/webhook/conversion, which registers the types of CRDs. They are types and
		// nothing else, and a manager with webhooks cannot be without them. All the rest of that module (its server, its schema and
		// CEL machinery, its clients) costs tens of megabytes.
		from:  "cmd/manager",
		never: []string{"k8s.io/apiextensions-apiserver"},
		but:   []string{"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"},
		why:   "only internal/lint evaluates schemas, and the manager does not lint",
	},
}

// union joins lists of packages.
func union(lists ...[]string) []string { return slices.Concat(lists...) }

// graph holds what each package imports, tests excluded, by import path.
type graph map[string][]string

// ours yields the packages of this repository, sorted and without the module's path.
func (g graph) ours() []string {
	var out []string
	for path := range g {
		if name, ours := strings.CutPrefix(path, module); ours {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// within says whether a package is the other or lies below it.
func within(name, tree string) bool { return name == tree || strings.HasPrefix(name, tree+"/") }

func withinAny(name string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return within(name, tree) })
}

// rowOf returns the key of the longest row of mayImport that a package belongs to, or "".
func rowOf(name string) string {
	row := ""
	for key := range mayImport {
		if within(name, key) && len(key) > len(row) {
			row = key
		}
	}
	return row
}

// sameGroup says whether two packages of one row may know each other.
func sameGroup(row, importer, imported string) bool {
	if !slices.Contains(grouped, row) || imported == row {
		return true
	}
	group := func(name string) string {
		first, _, _ := strings.Cut(strings.TrimPrefix(name, row+"/"), "/")
		return first
	}
	return group(importer) == group(imported)
}

// violations returns a sentence for everything that the tables above forbid, sorted by package.
func (g graph) violations() []string {
	var out []string
	for _, name := range g.ours() {
		row := rowOf(name)
		if row == "" {
			out = append(out, fmt.Sprintf("%s has no row in the import table: decide which packages of ours it may import (docs/architecture.md says what lives where), "+
				"and add it to mayImport in internal/architecture_test.go", name))
			continue
		}
		for _, path := range g[module+name] {
			if imported, ours := strings.CutPrefix(path, module); ours {
				out = append(out, forbiddenImport(row, name, imported)...)
			}
			out = append(out, forbiddenLibrary(name, path)...)
		}
	}
	return append(out, g.forbiddenLinks()...)
}

// forbiddenImport judges one import of a package of ours by another.
func forbiddenImport(row, name, imported string) []string {
	target := rowOf(imported)
	switch {
	case target == "test" && row != "test":
		return []string{fmt.Sprintf("%s imports %s: nothing that ships imports tests", name, imported)}
	case target == "", // reported by itself
		slices.Contains(mayImport[row], anything),
		slices.Contains(mayImport[row], target),
		target == row && sameGroup(row, name, imported):
		return nil
	case target == row:
		return []string{fmt.Sprintf("%s imports %s: move what they share to %s itself, so that each can be left out", name, imported, row)}
	}
	return []string{fmt.Sprintf("%s imports %s, and %s may import only %s: move what it needs to a package that both may import, rather than widen the table",
		name, imported, row, orNothing(mayImport[row]))}
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "what is not ours"
	}
	return strings.Join(names, ", ")
}

// forbiddenLibrary judges one import by where the library has its home.
func forbiddenLibrary(name, path string) []string {
	var out []string
	for _, rule := range onlyFor {
		if within(path, rule.library) && !withinAny(name, rule.by) {
			out = append(out, fmt.Sprintf("%s imports %s, which only %s may: %s", name, path, strings.Join(rule.by, ", "), rule.why))
		}
	}
	return out
}

// forbiddenLinks judges what packages depend on, and shows the way to what they must not.
func (g graph) forbiddenLinks() []string {
	var out []string
	for _, rule := range neverLinks {
		for _, name := range g.ours() {
			if !within(name, rule.from) {
				continue
			}
			way := g.wayTo(module+name, func(path string) bool { return withinAny(path, rule.never) && !withinAny(path, rule.but) })
			if way != nil {
				out = append(out, fmt.Sprintf("%s must not depend on %s: %s (%s)", name, way[len(way)-1], rule.why, strings.Join(way, " → ")))
			}
		}
	}
	return out
}

// wayTo returns the shortest chain of imports from a package to one that is wanted, or nil.
func (g graph) wayTo(from string, wanted func(string) bool) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if wanted(at) {
			return chain(before, at)
		}
		for _, next := range g[at] {
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func chain(before map[string]string, end string) []string {
	var way []string
	for at := end; at != ""; at = before[at] {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

func TestArchitecture(t *testing.T) {
	root := ".."
	readSources(t, root)
	g := load(t, root)
	for _, name := range []string{"internal/rules", "internal/record", "api/dns/v1alpha1"} {
		if _, known := g[module+name]; !known {
			t.Errorf("go list does not know %s: the graph is not that of this repository", name)
		}
	}
	for _, violation := range g.violations() {
		t.Error(violation)
	}
}

// load asks the go command for every package of this module and all that they depend on.
func load(t *testing.T, root string) graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports,GoFiles,CgoFiles", "./...")
	cmd.Dir = root
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, failure.Bytes())
	}
	g := graph{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath                 string
			Imports, GoFiles, CgoFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return g
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 { // not where there are tests only
			g[p.ImportPath] = p.Imports
		}
	}
}

// readSources looks at every directory with sources of ours. The go command notes which files a test looks at, and takes a cached
// result only while they stay as they are; of what its own child reads it knows nothing.
func readSources(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == root {
			return err
		}
		if name := entry.Name(); strings.HasPrefix(name, ".") || name == "bin" || name == "testdata" {
			return filepath.SkipDir
		}
		_, err = os.Stat(filepath.Join(path, "go.mod"))
		if err == nil {
			return filepath.SkipDir // another module
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A graph that keeps every rule, for the tests of the checks to break.
func soundGraph() graph {
	return graph{
		module + "api/dns/v1alpha1":                                {"k8s.io/apimachinery/pkg/apis/meta/v1"},
		module + "api/dns/v1alpha1/applyconfiguration/dns":         {module + "api/dns/v1alpha1", "k8s.io/client-go/applyconfigurations/meta/v1"},
		module + "api/kubizone/v1alpha1":                           nil,
		module + "api/dnsserver/v1":                                {"crypto/hmac"},
		module + "internal/rules":                                  nil,
		module + "internal/dnsname":                                nil,
		module + "internal/endpoint":                               {module + "internal/dnsname"},
		module + "internal/record":                                 {module + "internal/dnsname", module + "internal/rules", "github.com/miekg/dns"},
		module + "internal/format":                                 {module + "internal/record", "github.com/go-playground/validator/v10"},
		module + "internal/claims":                                 {module + "api/dns/v1alpha1", module + "internal/endpoint", module + "internal/rules"},
		module + "internal/refs":                                   {module + "internal/claims"},
		module + "internal/refs/cached":                            {module + "internal/refs", "sigs.k8s.io/controller-runtime/pkg/client"},
		module + "internal/validation":                             {module + "internal/format", module + "internal/refs", module + "internal/endpoint", module + "internal/record"},
		module + "internal/lint":                                   {module + "internal/validation", "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"},
		module + "webhooks":                                        {module + "internal/validation", "sigs.k8s.io/controller-runtime/pkg/webhook"},
		module + "internal/provider":                               nil,
		module + "internal/provider/httpdns":                       {module + "internal/provider", module + "api/dnsserver/v1"},
		module + "internal/provider/pihole":                        {module + "internal/provider"},
		module + "internal/conditions":                             {"sigs.k8s.io/controller-runtime/pkg/client"},
		module + "internal/controller":                             nil,
		module + "internal/controller/dns":                         {module + "internal/controller", module + "internal/provider/httpdns", module + "internal/conditions"},
		module + "internal/controller/kubizone":                    {module + "internal/controller/kubizone/shard"},
		module + "internal/controller/kubizone/shard":              nil,
		module + "cmd/manager":                                     {module + "cmd/manager/app"},
		module + "cmd/manager/app":                                 {module + "webhooks", module + "internal/refs/cached", module + "internal/controller/dns"},
		module + "cmd/kubectl-namegate":                            {module + "internal/lint"},
		module + "cmd/coredns":                                     {"github.com/coredns/coredns/plugin", "github.com/miekg/dns"},
		module + "test/e2e":                                        {module + "cmd/manager/app", module + "test/cluster", "github.com/miekg/dns"},
		module + "test/cluster":                                    nil,
		"sigs.k8s.io/controller-runtime/pkg/webhook":               {"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"},
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1": nil,
		"sigs.k8s.io/controller-runtime/pkg/client":                {"k8s.io/client-go/rest"},
	}
}

func TestTheChecksCanFail(t *testing.T) {
	if got := soundGraph().violations(); len(got) != 0 {
		t.Fatalf("the graph to start from breaks rules itself: %q", got)
	}
	const path = "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	tests := []struct {
		name string
		from string // a package that gets one more import
		to   string
		want string // how the one sentence starts
	}{
		{"unknown package", "internal/helpers", "fmt", "internal/helpers has no row in the import table: decide"},
		{"unknown package at the top", "pkg/dnsclient", "fmt", "pkg/dnsclient has no row"},
		{"name that only starts like a known one", "internal/recorder", "fmt", "internal/recorder has no row"},
		{"a leaf", "internal/rules", module + "internal/dnsname", "internal/rules imports internal/dnsname, and internal/rules may import only what is not ours: move"},
		{"dnsname", "internal/dnsname", module + "internal/rules", "internal/dnsname imports internal/rules"},
		{"endpoint", "internal/endpoint", module + "internal/rules", "internal/endpoint imports internal/rules, and internal/endpoint may import only internal/dnsname: move"},
		{"record", "internal/record", module + "api/dns/v1alpha1", "internal/record imports api/dns/v1alpha1"},
		{"api", "api/dns/v1alpha1", module + "internal/rules", "api/dns/v1alpha1 imports internal/rules"},
		{"one API group and another", "api/dns/v1alpha1", module + "api/kubizone/v1alpha1", "api/dns/v1alpha1 imports api/kubizone/v1alpha1: move what they share to api"},
		{"the protocol kit", "api/dnsserver/v1", module + "api/dns/v1alpha1", "api/dnsserver/v1 imports api/dns/v1alpha1"},
		{"api and the protocol kit", "api/dns/v1alpha1", module + "api/dnsserver/v1", "api/dns/v1alpha1 imports api/dnsserver/v1"},
		{"format and claims", "internal/format", module + "internal/claims", "internal/format imports internal/claims"},
		{"claims and refs", "internal/claims", module + "internal/refs", "internal/claims imports internal/refs"},
		{"gate and controller", "webhooks", module + "internal/controller/dns", "webhooks imports internal/controller/dns"},
		{"gate and provider", "webhooks", module + "internal/provider/httpdns", "webhooks imports internal/provider/httpdns"},
		{"defaulting and validation", "internal/defaulting", module + "internal/validation", "internal/defaulting imports internal/validation"},
		{"controller and gate", "internal/controller/dns", module + "webhooks", "internal/controller/dns imports webhooks"},
		{"controller and validation", "internal/controller/dns", module + "internal/validation", "internal/controller/dns imports internal/validation"},
		{"controller and protocol", "internal/controller/dns", module + "api/dnsserver/v1", "internal/controller/dns imports api/dnsserver/v1"},
		{"one controller and another", "internal/controller/dns", module + "internal/controller/kubizone", "internal/controller/dns imports internal/controller/kubizone: move"},
		{"one provider and another", "internal/provider/pihole", module + "internal/provider/httpdns", "internal/provider/pihole imports internal/provider/httpdns: move"},
		{"shared code and one controller", "internal/controller", module + "internal/controller/dns", "internal/controller imports internal/controller/dns"},
		{"a product package and tests", "internal/lint", module + "test/cluster", "internal/lint imports test/cluster: nothing that ships imports tests"},
		{"a command and tests", "cmd/manager", module + "test/cluster", "cmd/manager imports test/cluster: nothing that ships imports tests"},
		{"a product package and a command", "webhooks", module + "cmd/manager/app", "webhooks imports cmd/manager/app"},
		{"validator", "webhooks", "github.com/go-playground/validator/v10", "webhooks imports github.com/go-playground/validator/v10, which only internal/format may"},
		{"miekg/dns", "internal/endpoint", "github.com/miekg/dns", "internal/endpoint imports github.com/miekg/dns, which only"},
		{"the schema machinery", "test/e2e", path, "test/e2e imports " + path + ", which only internal/lint may"},
		{"a client in validation", "internal/validation", "k8s.io/client-go/kubernetes", "internal/validation must not depend on k8s.io/client-go/kubernetes: what the gate"},
		{"a client further down", "internal/claims", "sigs.k8s.io/controller-runtime/pkg/client",
			"internal/validation must not depend on sigs.k8s.io/controller-runtime/pkg/client: what the gate"},
		{"a client through the cached references", "internal/validation", module + "internal/refs/cached",
			"internal/validation must not depend on sigs.k8s.io/controller-runtime/pkg/client: what the gate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := soundGraph()
			g[module+tt.from] = append(g[module+tt.from], tt.to)
			got := g.violations()
			if len(got) != 1 || !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("violations are %q; want one that starts with %q", got, tt.want)
			}
		})
	}
}

// What the manager links counts however it comes in, and the sentence shows how.
func TestTheLinkChecksShowTheWay(t *testing.T) {
	const schema = "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	tests := []struct {
		name     string
		from, to string
		end      string
	}{
		{"linter", module + "cmd/manager/app", module + "internal/lint", "cmd/manager/app → " + module + "internal/lint → " + schema + ")"},
		{"library", "sigs.k8s.io/controller-runtime/pkg/webhook", "k8s.io/apiextensions-apiserver/pkg/client/clientset",
			"webhooks → sigs.k8s.io/controller-runtime/pkg/webhook → k8s.io/apiextensions-apiserver/pkg/client/clientset)"},
		{"CoreDNS", module + "cmd/manager/app", module + "cmd/coredns", "cmd/manager/app → " + module + "cmd/coredns → github.com/coredns/coredns/plugin)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := soundGraph()
			g[tt.from] = append(g[tt.from], tt.to)
			got := g.violations()
			if len(got) != 2 { // cmd/manager and cmd/manager/app
				t.Fatalf("violations are %q; want two", got)
			}
			for i, name := range []string{"cmd/manager ", "cmd/manager/app "} {
				if !strings.HasPrefix(got[i], name+"must not depend on ") || !strings.HasSuffix(got[i], tt.end) {
					t.Errorf("violation %q does not start with %q and end with %q", got[i], name, tt.end)
				}
			}
		})
	}
}

// Every package that a row names has a row itself, so that no permission is a slip of the pen.
func TestTheTableNamesItsOwnRows(t *testing.T) {
	for row, names := range mayImport {
		for _, name := range names {
			if _, known := mayImport[name]; !known && name != anything {
				t.Errorf("%s may import %s, which has no row", row, name)
			}
		}
	}
	for _, name := range slices.Concat(grouped, slices.Collect(maps.Keys(rowsOfRules()))) {
		if rowOf(name) == "" {
			t.Errorf("%s, which a rule names, has no row", name)
		}
	}
}

// rowsOfRules collects the packages of ours that onlyFor and neverLinks name.
func rowsOfRules() map[string]bool {
	names := map[string]bool{}
	for _, rule := range onlyFor {
		for _, name := range rule.by {
			names[name] = true
		}
	}
	for _, rule := range neverLinks {
		names[rule.from] = true
	}
	return names
}
