package main

import (
	"github.com/spf13/cobra"

	"zklab/internal/contestant"
	"zklab/internal/contestant/recipes"
)

// contestantCommand is the hidden sub-command: the process that gets kill -9
// and SIGSTOP.
const contestantCommand = "contestant"

func (g *global) contestantCommand() *cobra.Command {
	return &cobra.Command{
		Use:                contestantCommand,
		Short:              "Join a lock, as told on standard input",
		Hidden:             true,
		DisableFlagParsing: true,
		// Its arguments are no flags of zklab's, and the environment is its parent's.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			return contestant.Main(cmd.Context(), g.in, g.out, args, recipes.All())
		},
	}
}
