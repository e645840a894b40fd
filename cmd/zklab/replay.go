package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/tui"
	"zklab/tui/theme"
)

func (g *global) replayCommand() *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay FILE|last",
		Short: "Play a recorded journal: pause, step, scrub, slow down; last is your last failed test",
		Long: `replay plays a journal that demo --record wrote, or with "last" the run of an
exercise's test that failed last. A journal that is cut off or damaged is played
up to the damage.`,
		Example: `  zklab demo kill --record kill.ndjson
  zklab replay kill.ndjson
  zklab replay last --plain
  zklab replay kill.ndjson --cast kill.cast --page timeline     then: asciinema play kill.cast`,
		Args: takes(1, 1, "which recording? That of your last failed test is called last."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.replay(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.plain, "plain", false, "text, a line for each event")
	fl.StringVar(&f.cast, "cast", "", "write an asciicast v2 to this `file` instead of playing")
	fl.DurationVar(&f.still, "still", -1, "print the page at this time after the start as text, for a document")
	fl.StringVar(&f.page, "page", tui.PageQueue, "the page to begin with, or to write")
	fl.StringVar(&f.size, "size", "80x24", "of the asciicast's or the still's screen, `WIDTHxHEIGHT`")
	return cmd
}

// recordCommand is demo --record by the name people look for.
func (g *global) recordCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "record FILE [DEMO]",
		Short: "Play a demo and write its journal to a new file, for replay",
		Example: `  zklab record kill.ndjson kill
  zklab replay kill.ndjson`,
		Args: takes(1, 2, "into which file?"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "queue"
			if len(args) == 2 {
				name = args[1]
			}
			return g.demo(cmd.Context(), name, nil, &demoFlags{record: args[0]})
		},
	}
}

// replayFlags are the flags of `zklab replay`.
type replayFlags struct {
	plain      bool
	still      time.Duration
	cast       string
	page, size string
}

// replayPages are the pages that need nothing but a journal.
var replayPages = []string{tui.PageQueue, tui.PageTimeline, tui.PageHerd, tui.PageReadWrite, tui.PageSemaphore,
	tui.PageZombie, tui.PageEnsemble, tui.PageSequence}

func (g *global) replay(ctx context.Context, name string, f *replayFlags) error {
	if !slices.Contains(replayPages, f.page) {
		return usagef("--page %s: there is no such page of a journal; take one of %s", f.page, strings.Join(replayPages, ", "))
	}
	if f.plain && (f.cast != "" || f.still >= 0) || f.cast != "" && f.still >= 0 {
		return usagef("--plain, --cast and --still: give one of them")
	}
	events, damaged, err := g.readJournal(name)
	if err != nil {
		return err
	}
	if f.cast != "" {
		return g.writeCast(ctx, events, f)
	}
	if f.still >= 0 {
		return g.printStill(events, f)
	}
	if f.plain || !g.terminal() {
		detail := plain.Story
		if name == "last" { // few requests, and it is them the test judges
			detail = plain.Frames
		}
		g.printAll(events, detail)
		return nil
	}
	o := tui.Options{
		Source: tui.FromJournal(journal.Of(events)), Replay: true, Title: "replay " + name + damaged, Page: f.page,
		Theme: theme.Name(g.theme), ASCII: g.plainGlyphs(), NoMotion: g.noMotion, Say: withoutRoom,
	}
	if name == "last" { // it lasts a second or two, and what matters are its steps
		o.Held = true
		o.Opening = "The run that failed, at its start. The key . goes from event to event, page down to what went wrong; space plays it all."
	}
	return screenError(tui.Run(ctx, o))
}

// castOf says which page is drawn, how large and in which colours.
func (g *global) castOf(f *replayFlags) (tui.Cast, error) {
	c := tui.Cast{Page: f.page, Title: f.page, Theme: theme.Name(g.theme), ASCII: g.plainGlyphs()}
	n, err := fmt.Sscanf(f.size+"|", "%dx%d|", &c.Width, &c.Height)
	if n != 2 || err != nil || c.Width < 60 || c.Height < 16 || c.Width > 500 || c.Height > 200 {
		return c, usagef("--size %s: give WIDTHxHEIGHT, from 60x16 to 500x200", f.size)
	}
	return c, nil
}

// printStill prints one moment of the journal.
func (g *global) printStill(events []journal.Event, f *replayFlags) error {
	c, err := g.castOf(f)
	if err != nil {
		return err
	}
	text, err := tui.Picture(events, events[0].At.Add(f.still), c)
	if err != nil {
		return err
	}
	fmt.Fprintln(g.out, text)
	return nil
}

// writeCast writes the journal as an asciicast. An existing file is kept.
func (g *global) writeCast(ctx context.Context, events []journal.Event, f *replayFlags) error {
	c, err := g.castOf(f)
	if err != nil {
		return err
	}
	out, err := createNew(f.cast)
	if err != nil {
		return err
	}
	err = errors.Join(tui.WriteCast(ctx, out, events, c), out.Close())
	if err != nil { // half of it is of no use, and would be in the way of the next try
		_ = os.Remove(f.cast)
	}
	return err
}

// readJournal reads a file, or the last failed run. Damage is told, here and in
// the words that it returns, and what stands before it is used.
func (g *global) readJournal(name string) (events []journal.Event, damaged string, err error) {
	if name == "last" {
		w, err := g.openWorkbook()
		if err != nil {
			return nil, "", err
		}
		if name, err = w.LastRun(); err != nil {
			return nil, "", err
		}
	}
	// A pipe that nobody writes to would be waited for, with no key to stop it.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, "", usagef("replay %s: it is no file that a journal could be in", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", usagef("replay: %v", err)
	}
	defer f.Close()
	events, err = journal.Read(f)
	var damage *journal.DamageError
	switch {
	case errors.As(err, &damage) && len(events) > 0:
		g.progress("zklab: %s: %v", name, damage)
		damaged = fmt.Sprintf(", damaged at line %d", damage.Line)
	case errors.Is(err, journal.ErrForeign):
		return nil, "", fmt.Errorf("%s cannot be replayed: %w; zklab record FILE makes a journal", name, err)
	case err != nil:
		return nil, "", fmt.Errorf("%s cannot be replayed: %w", name, err)
	case len(events) == 0:
		return nil, "", fmt.Errorf("%s cannot be replayed: nothing was recorded in it", name)
	}
	return events, damaged, nil
}

func (g *global) printAll(events []journal.Event, detail plain.Detail) {
	printer, start := plain.New(detail), time.Time{}
	for i := range events {
		if start.IsZero() {
			start = events[i].At
		}
		for _, line := range printer.Lines(&events[i]) {
			fmt.Fprintln(g.out, line.String(start))
		}
	}
}
