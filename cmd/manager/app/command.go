// Package app is the operator's process: its configuration, its front doors, and how they start. Tests run it as it is.
package app

import (
	"fmt"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewCommand returns the command line of namegate.
func NewCommand(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "namegate",
		Short: "One gate for every DNS name of a cluster",
		Long: `namegate checks every object that publishes a DNS name before the cluster takes it, and publishes what passed.

In a cluster it runs as two Deployments of one image, so that nothing that happens to a DNS server ever stops admission:
  namegate webhook      the gate: admission webhooks, any number of replicas
  namegate controller   the controllers: one replica leads
On one machine, both run in one process:
  namegate all

Every flag can be given as an environment variable too; the flag wins. --help of a command names them.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newRunCommand("webhook", "Run the gate: admission webhooks", version, Roles{Gate: true}),
		newRunCommand("controller", "Run the controllers", version, Roles{Controllers: true}),
		newRunCommand("all", "Run the gate and the controllers in one process", version, Roles{Gate: true, Controllers: true}),
	)
	return root
}

// Roles says what a process does.
type Roles struct{ Gate, Controllers bool }

func newRunCommand(name, short, version string, roles Roles) *cobra.Command {
	cfg, envErr := ConfigFromEnvironment()
	cfg.Version = version
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if envErr != nil {
				return envErr
			}
			rest, err := ctrl.GetConfig()
			if err != nil {
				return fmt.Errorf("find the cluster: %w", err)
			}
			logLibraries(newLogger(cfg))
			return Run(cmd.Context(), rest, cfg, roles)
		},
	}
	cfg.addFlags(cmd.Flags(), roles)
	return cmd
}
