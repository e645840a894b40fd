package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/tui"
	"zklab/tui/theme"
)

func (g *global) replayCommand() *cobra.Command {
	var plainText bool
	cmd := &cobra.Command{
		Use:   "replay FILE|last",
		Short: "Play a recorded journal: pause, step, scrub, slow down; last is your last failed test",
		Long: `replay plays a journal that demo --record wrote, or with "last" the run of an
exercise's test that failed last. A journal that is cut off or damaged is played
up to the damage.`,
		Example: `  zklab demo kill --record kill.ndjson
  zklab replay kill.ndjson
  zklab replay last --plain`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.replay(cmd.Context(), args[0], plainText)
		},
	}
	cmd.Flags().BoolVar(&plainText, "plain", false, "text, a line for each event")
	return cmd
}

func (g *global) replay(ctx context.Context, name string, plainText bool) error {
	events, err := g.readJournal(name)
	if err != nil {
		return err
	}
	if plainText || !g.terminal() {
		g.printAll(events)
		return nil
	}
	return screenError(tui.Run(ctx, tui.Options{
		Source: tui.FromJournal(journal.Of(events)), Replay: true, Title: "replay " + name,
		Theme: theme.Name(g.theme), ASCII: g.ascii, NoMotion: g.noMotion,
	}))
}

// readJournal reads a file, or the last failed run. Damage is told, and what
// stands before it is used.
func (g *global) readJournal(name string) ([]journal.Event, error) {
	if name == "last" {
		w, err := g.openWorkbook()
		if err != nil {
			return nil, err
		}
		if name, err = w.LastRun(); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, usagef("replay: %v", err)
	}
	defer f.Close()
	events, err := journal.Read(f)
	var damage *journal.DamageError
	switch {
	case errors.As(err, &damage) && len(events) > 0:
		g.progress("zklab: %s: %v", name, damage)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be replayed: %w", name, err)
	case len(events) == 0:
		return nil, fmt.Errorf("%s cannot be replayed: nothing was recorded in it", name)
	}
	return events, nil
}

func (g *global) printAll(events []journal.Event) {
	printer, start := plain.New(plain.Story), time.Time{}
	for i := range events {
		if start.IsZero() {
			start = events[i].At
		}
		for _, line := range printer.Lines(&events[i]) {
			fmt.Fprintln(g.out, line.String(start))
		}
	}
}
