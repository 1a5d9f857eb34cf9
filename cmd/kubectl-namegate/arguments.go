package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// arguments wants so many of them, and otherwise says what they are and how the command is called.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		return fmt.Errorf("give %s: %s", what, cmd.UseLine())
	}
}
