package main

import (
	"github.com/spf13/cobra"
)

func (g *global) commands() []*cobra.Command {
	return []*cobra.Command{
		g.learnCommand(), g.listCommand(), g.nextCommand(), g.hintCommand(), g.checkCommand(), g.resetCommand(), g.solutionCommand(), g.notesCommand(),
		g.demoCommand(), g.labCommand(), g.benchCommand(), g.recordCommand(), g.replayCommand(), g.watchCommand(), g.serverCommand(), g.doctorCommand(), g.versionCommand(), g.contestantCommand(),
	}
}
