package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/namegate/namegate/internal/format"
	"github.com/namegate/namegate/internal/lint"
	"github.com/namegate/namegate/internal/rules"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	files             []string
	recursive         bool
	output            string
	severities        []string
	namespace         string
	operatorNamespace string
	secretNamespaces  []string
}

func newLintCommand() *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint -f FILE|DIRECTORY|-",
		Short: "Check manifests with the rules of the webhooks, without a cluster",
		Long: `Checks manifests as the API server and Namegate's webhooks would: their schema and its CEL rules, the
defaults, and every rule about names, values and references. All documents of the input are taken
together, so references and conflicts among them are seen; of two that want one name, the first keeps
it. What is not in the input is unknown, and nothing is denied for it.

Other kinds are passed over, but a Secret in the input is looked at when a DNSClass refers to it.
Secrets are never shown.

The last line counts objects: how many were looked at, how many would be denied, and how many have
warnings; and all findings about them. --output json has the same under "summary", sarif under
"properties" of the run.

Exit code 0: no object is denied, though there may be warnings. 1: at least one is denied. 2: the
check could not be run.`,
		Example: `  kubectl namegate lint -f records.yaml
  kubectl namegate lint -f manifests/ -o sarif > namegate.sarif
  helm template ./chart | kubectl namegate lint -f -
  kubectl namegate lint -f manifests/ --rule-severity name-repeats-domain=Deny,txt-quoted=Off`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("give files and directories with -f: -f %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.InOrStdin(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`file`, directory or - for standard input; repeatable. Of a directory, every .yaml, .yml and .json file that is not hidden")
	flags.BoolVarP(&f.recursive, "recursive", "R", true, "look into the directories of a directory; hidden ones are passed over")
	flags.StringVarP(&f.output, "output", "o", "text", "`form` of the findings: text, json or sarif")
	flags.StringArrayVar(&f.severities, "rule-severity", nil, "`settings` rule-id=Deny|Warn|Off, as the installation has them; repeatable, or separated by commas")
	flags.StringVarP(&f.namespace, "namespace", "n", lint.DefaultNamespace, "`namespace` of objects that name none")
	flags.StringVar(&f.operatorNamespace, "operator-namespace", lint.DefaultOperatorNamespace, "`namespace` that the operator runs in: where a secretRef without one points")
	flags.StringSliceVar(&f.secretNamespaces, "secret-namespaces", nil, "`namespaces` that a secretRef may point into, as the installation has them; not given: not checked")
	return cmd
}

// writers of the forms of output.
var writers = map[string]func(io.Writer, lint.Report) error{
	"text":  lint.WriteText,
	"json":  lint.WriteJSON,
	"sarif": func(w io.Writer, report lint.Report) error { return lint.WriteSARIF(w, report, version) },
}

func (f *lintFlags) run(stdin io.Reader, stdout io.Writer) error {
	write, known := writers[f.output]
	if !known {
		return errors.New("--output: give text, json or sarif")
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	inputs, err := collect(f.files, f.recursive, stdin)
	if err != nil {
		return err
	}
	report, err := lint.Run(inputs, options)
	if err != nil {
		return err
	}
	if err := write(stdout, report); err != nil {
		return err
	}
	if report.Summary.Denied > 0 {
		return errNegative
	}
	return nil
}

func (f *lintFlags) options() (lint.Options, error) {
	policy, err := rules.ParsePolicy(strings.Join(f.severities, ","))
	if err != nil {
		return lint.Options{}, fmt.Errorf("--rule-severity: %w", err)
	}
	for _, flag := range []struct {
		name   string
		values []string
	}{
		{"namespace", []string{f.namespace}}, {"operator-namespace", []string{f.operatorNamespace}}, {"secret-namespaces", f.secretNamespaces},
	} {
		for _, value := range flag.values {
			if !format.Is(format.Namespace, value) {
				return lint.Options{}, fmt.Errorf("--%s %q: give %s", flag.name, rules.Clip(value), format.Accepts(format.Namespace))
			}
		}
	}
	return lint.Options{Namespace: f.namespace, OperatorNamespace: f.operatorNamespace, SecretNamespaces: f.secretNamespaces, Policy: policy}, nil
}
