package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/namegate/namegate/internal/dnsname"
	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/record"
	"github.com/namegate/namegate/internal/rules"
	"github.com/namegate/namegate/internal/zone/masterfile"
)

// importFlags are the flags of zone import.
type importFlags struct {
	cluster      clusterFlags
	name, origin string
}

func newImportCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Print the Zone and Records that publish what a master file holds",
		Long: fmt.Sprintf(`Reads an RFC 1035 master file, and prints a Zone and one Record for each of its records as manifests,
in an order in which kubectl applies them in one pass. No cluster is asked.

The Zone takes the fields of the SOA record, but not its serial, which the controller gives; its ttl is
that of the SOA record, and a Record has its own only where it differs. The Zone lets in the Records
of its own namespace and nothing else. Names of objects follow from what they hold: the same file
makes the same manifests.

$ORIGIN, $TTL and $GENERATE are obeyed (%d generated records at most); $INCLUDE is refused. What the
webhooks would refuse is reported by line, all at once, and then nothing is printed.

Left out, with a note on standard error, are: RRSIG, NSEC, NSEC3 and NSEC3PARAM records, and in a file
that has RRSIG records DNSKEY, CDS and CDNSKEY, because whoever signs the zone makes them anew; ZONEMD,
which is the digest of the zone with the serial of the file; and records that the file has twice.

Exit code 0: printed. 1: the file cannot be imported. 2: it could not be read.`, masterfile.MaxGenerated),
		Example: `  kubectl namegate zone import example.org.zone -n dns | kubectl apply -f -
  kubectl namegate zone import db.example --origin example.org --name example-org -n dns
  kubectl namegate zone export example-org -n dns | kubectl namegate zone import - -n staging`,
		Args: arguments(1, 1, "one master file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.cluster.add(cmd.Flags(), "of the Zone and the Records")
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of the Zone; not given: made of the origin, as in example-org")
	cmd.Flags().StringVar(&f.origin, "origin", "", "`origin` of the zone, where the file does not say it; whole, with or without the trailing dot")
	return cmd
}

func (f *importFlags) run(path string, stdin io.Reader, stdout, stderr io.Writer) error {
	namespace, origin, err := f.check()
	if err != nil {
		return err
	}
	file := stdinName
	if path != "-" {
		opened, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		file, stdin = path, opened
	}
	z, manifests, problems, err := masterfile.Import(stdin, origin, namespace, f.name)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return report(stderr, file, problems)
	}
	if err := writeNotes(stderr, file, z); err != nil {
		return err
	}
	return writeManifests(stdout, manifests)
}

func (f *importFlags) check() (namespace string, origin dnsname.Name, err error) {
	if namespace, err = f.cluster.namespaceName(); err != nil {
		return "", origin, err
	}
	if f.name != "" && !format.Is(format.ObjectName, f.name) {
		return "", origin, fmt.Errorf("--name %q: give %s", rules.Clip(f.name), format.Accepts(format.ObjectName))
	}
	if f.origin == "" {
		return namespace, origin, nil
	}
	if origin, err = dnsname.Parse(f.origin); err != nil {
		return "", origin, fmt.Errorf("--origin %q: %w", rules.Clip(f.origin), err)
	}
	return namespace, origin, nil
}

// report prints what is wrong with a file, as compilers do.
func report(stderr io.Writer, file string, problems []masterfile.Problem) error {
	out := bufio.NewWriter(stderr)
	for _, p := range problems {
		_, _ = fmt.Fprintf(out, "%s:%s\n", file, p) // errors come with Flush
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return errNegative
}

// writeNotes says which records were passed over, and what an operator of the zone has to do about it.
func writeNotes(stderr io.Writer, file string, z *masterfile.Zone) error {
	var out strings.Builder
	note := func(format string, args ...any) { fmt.Fprintf(&out, "%s: %s\n", file, fmt.Sprintf(format, args...)) }
	leftOut := maps.Clone(z.LeftOut)
	digests := leftOut["ZONEMD"]
	delete(leftOut, "ZONEMD")
	if len(leftOut) > 0 {
		note("left out: %s. Whoever signs the zone makes them anew", countedTypes(leftOut))
	}
	if z.Signed() {
		note("this zone was signed: before it is answered from here without signatures, have its DS records removed from the zone above it and wait for their TTL, or resolvers that validate take its answers for forged")
	}
	if digests > 0 {
		note("left out: %d ZONEMD. It is the digest of the zone with the serial of this file, which is not the serial that the zone gets here", digests)
	}
	if z.Repeated > 0 {
		note("left out: %d that the file has twice", z.Repeated)
	}
	if kept := keysIn(z); len(kept) > 0 {
		note("kept: %s. The file has no signatures, so these are for somebody else who signs the zone", countedTypes(kept))
	}
	_, err := io.WriteString(stderr, out.String())
	return err
}

// keysIn counts what a signer would publish of its keys.
func keysIn(z *masterfile.Zone) map[record.Type]int {
	out := map[record.Type]int{}
	for _, r := range z.Records {
		if r.Type == "DNSKEY" || r.Type == "CDS" || r.Type == "CDNSKEY" {
			out[r.Type]++
		}
	}
	return out
}

func countedTypes(counts map[record.Type]int) string {
	var out []string
	for _, typ := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[typ], typ))
	}
	return strings.Join(out, ", ")
}

// manifest is an object as people write it: without what only a cluster fills in.
type manifest struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   manifestObject `json:"metadata"`
	Spec       any            `json:"spec"`
}

type manifestObject struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func writeManifests(w io.Writer, m *masterfile.Manifests) error {
	out := bufio.NewWriter(w)
	zone := manifest{m.Zone.APIVersion, m.Zone.Kind, manifestObject{m.Zone.Name, m.Zone.Namespace}, m.Zone.Spec}
	if err := writeManifest(out, zone); err != nil {
		return err
	}
	for _, r := range m.Records {
		if err := writeManifest(out, manifest{r.APIVersion, r.Kind, manifestObject{r.Name, r.Namespace}, r.Spec}); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeManifest(w io.Writer, m manifest) error {
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "---\n%s", text)
	return err
}
