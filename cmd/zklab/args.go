package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// takes accepts so many arguments. With fewer it asks, and tells how the command is
// used.
func takes(least, most int, ask string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch name := cmd.Name(); {
		case len(args) < least:
			return usagef("%s: %s Usage: zklab %s", name, ask, cmd.Use)
		case len(args) > most:
			return usagef("%s: %s is too much. Usage: zklab %s", name, strings.Join(args[most:], " "), cmd.Use)
		}
		return nil
	}
}
