package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/charmbracelet/x/term"

	"zklab/internal/scenario"
	"zklab/tui"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// terminal says whether there is a screen to draw on and keys to read. It is
// asked before the program for the screen is made: afterwards is too late.
func (g *global) terminal() bool {
	out, ok := g.out.(*os.File)
	return ok && term.IsTerminal(out.Fd()) && term.IsTerminal(g.in.Fd()) &&
		os.Getenv("TERM") != "dumb" && os.Getenv("ACCESSIBLE") == ""
}

// screen are the options that every page is shown with.
func (g *global) screen(h *house) tui.Options {
	return tui.Options{
		Source: tui.FromJournal(h.journal), Address: h.ensemble.Connect(),
		Theme: theme.Name(g.theme), ASCII: g.ascii, NoMotion: g.noMotion,
	}
}

// demoScreen plays a demo on the screen, a step a key, and says at the end what
// came of it.
func (g *global) demoScreen(ctx context.Context, h *house, page string, script *scenario.Script) error {
	runner := scenario.NewRunner(script, h.lab, h.journal)
	defer runner.Close()
	s := newStepper(runner)
	o := g.screen(h)
	o.Page, o.Control, o.Script, o.Lock = page, newControl(h, script), s, h.lab.Lock()
	if page == tui.PageHerd {
		o.Control = crowd{newControl(h, script)}
	}
	if err := tui.Run(ctx, o); err != nil {
		return screenError(err)
	}
	fmt.Fprintf(g.out, "%s", s.summary())
	return nil
}

// demoPage is the page that shows a demo best.
func demoPage(name string) string {
	switch name {
	case "kill":
		return tui.PageTimeline
	case "herd":
		return tui.PageHerd
	case "zombie":
		return tui.PageZombie
	case "rw":
		return tui.PageReadWrite
	case "semaphore":
		return tui.PageSemaphore
	case "ensemble":
		return tui.PageEnsemble
	}
	return tui.PageQueue
}

// stepper runs a script on the screen's behalf. The runner is one goroutine's
// at a time; what the screen shows of it is a copy.
type stepper struct {
	run    sync.Mutex // held while a step runs
	runner *scenario.Runner

	mu    sync.Mutex
	shown view.Steps
}

func newStepper(r *scenario.Runner) *stepper {
	s := &stepper{runner: r}
	s.look()
	return s
}

// Steps tells where the scenario is, and what its running step waits for.
func (s *stepper) Steps() view.Steps {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.shown
	if v.Running {
		v.Waiting = s.runner.Waiting()
	}
	return v
}

// Next runs the next step to its end.
func (s *stepper) Next(ctx context.Context) error {
	if !s.run.TryLock() {
		return errors.New("the step still runs: it waits for an event")
	}
	defer s.run.Unlock()
	step, ok := s.runner.Current()
	if !ok {
		return nil
	}
	done, _ := s.runner.Position()
	s.mu.Lock()
	s.shown.At, s.shown.Text, s.shown.Running = done+1, step.Text, true
	if step.Question != nil {
		s.shown.Right = step.Question.Answer + 1
	}
	s.mu.Unlock()
	err := s.runner.Advance(ctx)
	s.look()
	if errors.Is(err, scenario.ErrExpectation) {
		return nil // it stands among the results
	}
	return err
}

// Answer answers the open question and runs the step.
func (s *stepper) Answer(ctx context.Context, choice int) error {
	s.run.Lock()
	s.runner.Predict(choice - 1)
	s.run.Unlock()
	s.mu.Lock()
	s.shown.Answer = choice
	s.mu.Unlock()
	return s.Next(ctx)
}

// look copies what the screen shows. The runner must be at rest.
func (s *stepper) look() {
	sum := s.runner.Summary()
	v := view.Steps{At: sum.Steps, Of: sum.Of}
	for _, r := range sum.Results {
		text := r.Text
		if r.Found != "" {
			text += ": " + r.Found
		}
		v.Results = append(v.Results, view.Result{Text: text, OK: r.OK})
	}
	step, more := s.runner.Current()
	v.Done = !more
	if more {
		v.Text = "next: " + step.Text
		if q := step.Question; q != nil {
			v.Question, v.Choices = q.Text, q.Choices
		}
	}
	s.mu.Lock()
	s.shown = v
	s.mu.Unlock()
}

func (s *stepper) summary() string {
	s.run.Lock()
	defer s.run.Unlock()
	return s.runner.Summary().String()
}
