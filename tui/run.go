package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"
)

// framesPerSecond bounds how often the terminal is written to: an event is on
// the screen within coalesce plus one frame.
const framesPerSecond = 30

// quitWithin bounds how long Run waits for acts on contestants to return after
// their context ended.
const quitWithin = 2 * time.Second

// Run shows the pages until the person quits, and leaves the terminal as it
// was, whatever happens: on quitting, on signals, when ctx ends, and when
// something panics, here or in a command.
//
// It returns nil when the person quit or the program got SIGTERM, ErrInterrupted
// on ctrl+c or SIGINT, ctx's error when that ended, and an error that wraps
// tea.ErrProgramPanic after a panic. Whether there is a terminal at all is for
// the caller to know before.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, o)
	with := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(framesPerSecond), tea.WithEnvironment(o.Env)}
	if o.Width > 0 && o.Height > 0 {
		with = append(with, tea.WithWindowSize(o.Width, o.Height))
	}
	if o.Input != nil {
		with = append(with, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		with = append(with, tea.WithOutput(o.Output))
	}
	_, err = tea.NewProgram(m, with...).Run()
	cancel()
	m.acts.close(quitWithin)
	if h := o.Home; err == nil && h != nil && h.Picked != nil && (m.picked.lesson != "" || m.picked.demo != "") {
		h.Picked(m.picked.lesson, m.picked.demo)
	}
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return err
	case m.interrupted, errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	case context.Cause(ctx) != nil && errors.Is(err, tea.ErrProgramKilled):
		return context.Cause(ctx)
	}
	return err
}
