package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/internal/scenario"
)

// demoText plays a demo to its end and prints what happens, a line an event.
func (g *global) demoText(ctx context.Context, h *house, script *scenario.Script, f *demoFlags) error {
	follow, stop := context.WithCancel(context.Background())
	var lines sync.WaitGroup
	lines.Go(func() { g.print(follow, h.journal, f.asJSON) })
	runner := scenario.NewRunner(script, h.lab, h.journal)
	defer runner.Close()
	err := runner.Run(ctx)
	stop()
	lines.Wait()
	if !f.asJSON && ctx.Err() == nil {
		fmt.Fprintf(g.out, "\n%s", runner.Summary().Text(g.width()))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, scenario.ErrExpectation):
		return errFailed
	case err != nil:
		return err
	}
	return nil
}

// print writes events as they come, and what is there when ctx ends.
func (g *global) print(ctx context.Context, j *journal.Journal, asJSON bool) {
	sub := j.Subscribe(0)
	defer sub.Close()
	var write func(events []journal.Event)
	if asJSON {
		w := journal.NewWriter(g.out)
		write = func(events []journal.Event) {
			_ = w.Write(events...) // g.out remembers the first failure and ends the run
			_ = w.Flush()
		}
	} else {
		printer, start := plain.New(plain.Story), time.Time{}
		write = func(events []journal.Event) {
			for i := range events {
				if start.IsZero() {
					start = events[i].At
				}
				for _, line := range printer.Lines(&events[i]) {
					fmt.Fprintln(g.out, line.String(start))
				}
			}
		}
	}
	for {
		events, missed, err := sub.Next(ctx)
		if err != nil {
			for {
				if events, _ = sub.Take(); len(events) == 0 {
					return
				}
				write(events)
			}
		}
		if missed > 0 {
			fmt.Fprintf(g.err, "zklab: %d events came too fast to be printed\n", missed)
		}
		write(events)
	}
}
