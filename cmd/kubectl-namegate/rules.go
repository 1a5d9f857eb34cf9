package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

func newRulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules, or explain one",
		Long: `Lists every rule that Namegate checks, or explains the one whose ID is given. A message that
refuses something ends with the ID of its rule.`,
		Example: `  kubectl namegate rules
  kubectl namegate rules cname-at-apex`,
		Args: arguments(0, 1, "one rule, or none for all"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return similarRules(""), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listRules(cmd.OutOrStdout())
			}
			rule, known := rules.Lookup(args[0])
			if !known {
				return unknownRule(args[0])
			}
			return explainRule(cmd.OutOrStdout(), rule)
		},
	}
}

func listRules(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSEVERITY\tLAYER\tRULE") // errors come with Flush
	for _, r := range rules.All() {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.ID, r.Severity, r.Layer, r.Summary)
	}
	return table.Flush()
}

// layers says what each layer means for the one who meets a rule of it.
var layers = map[rules.Layer]string{
	rules.Schema:    "part of the schema or of the form of manifests; it always holds, and its severity cannot be set",
	rules.Object:    "looks at the object alone",
	rules.Reference: "looks at other objects too",
}

func explainRule(w io.Writer, r *rules.Rule) error {
	text := fmt.Sprintf("%s\n\n  %s\n\n  Severity  %s\n  Layer     %s: %s\n  Source    %s\n",
		r.ID, r.Summary, r.Severity, r.Layer, layers[r.Layer], r.Source)
	if why := lint.ClusterOnly(r); why != "" {
		text += "\n  Only a cluster can decide it, so the linter never says it: " + why + ".\n"
	}
	if r.Layer != rules.Schema {
		text += fmt.Sprintf("\n  An installation sets another severity with --rule-severity %s=Deny|Warn|Off.\n", r.ID)
	}
	_, err := io.WriteString(w, text)
	return err
}

func unknownRule(id string) error {
	hint := "kubectl namegate rules lists them"
	if similar := similarRules(id); len(similar) > 0 && id != "" {
		hint = "did you mean " + strings.Join(similar, ", ") + "?"
	}
	return fmt.Errorf("there is no rule %q: %s", rules.Clip(id), hint)
}

// similarRules returns the IDs that hold a text.
func similarRules(part string) []string {
	var out []string
	for _, r := range rules.All() {
		if strings.Contains(r.ID, strings.ToLower(part)) {
			out = append(out, r.ID)
		}
	}
	return out
}
