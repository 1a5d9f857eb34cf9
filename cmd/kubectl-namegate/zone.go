package main

import "github.com/spf13/cobra"

func newZoneCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "zone",
		Short: "Write a zone as a master file, or make manifests of one",
		Long: `Zones go between clusters and other DNS servers as master files (RFC 1035 section 5): export prints
what a Zone publishes, and import prints the Zone and the Records that publish what a file holds.`,
		Example: `  kubectl namegate zone export example-org -n dns > example.org.zone
  kubectl namegate zone import example.org.zone -n dns | kubectl apply -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExportCommand(), newImportCommand())
	return cmd
}
