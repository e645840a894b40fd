package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (g *global) commands() []*cobra.Command {
	return []*cobra.Command{
		g.demoCommand(), g.watchCommand(), g.serverCommand(), g.doctorCommand(), g.versionCommand(), g.contestantCommand(),
	}
}

// home is zklab without a command: without a terminal, the first demo as text.
func (g *global) home(ctx context.Context) error {
	return g.demo(ctx, "queue", nil, &demoFlags{})
}
