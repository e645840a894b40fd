package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"zklab/internal/scenario"
	"zklab/tui/view"
)

// errRuns is returned when a key would run a step while one runs.
var errRuns = errors.New("the step still runs: it waits for an event")

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
	s.look("")
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
func (s *stepper) Next(ctx context.Context) error { return s.advance(ctx, 0) }

// Answer answers the open question and runs the step.
func (s *stepper) Answer(ctx context.Context, choice int) error { return s.advance(ctx, choice) }

// advance runs the next step, with an answer to its question when choice is not 0.
// What became of a prediction is shown until the step after it begins.
func (s *stepper) advance(ctx context.Context, choice int) error {
	if !s.run.TryLock() {
		return errRuns
	}
	defer s.run.Unlock()
	step, ok := s.runner.Current()
	if !ok {
		return nil
	}
	if choice != 0 {
		s.runner.Predict(choice - 1)
	}
	done, _ := s.runner.Position()
	s.mu.Lock()
	s.shown.At, s.shown.Text, s.shown.Running, s.shown.Answer = done+1, step.Text, true, choice
	s.shown.Earlier = len(s.shown.Results)
	if step.Question != nil {
		s.shown.Right = step.Question.Answer + 1
	}
	s.mu.Unlock()
	err := s.runner.Advance(ctx)
	s.look(judged(step.Question, choice))
	if errors.Is(err, scenario.ErrExpectation) {
		return nil // it stands among the results
	}
	return err
}

// judged says what became of a prediction; choice counts from 1, 0 is none.
func judged(q *scenario.Question, choice int) string {
	if q == nil {
		return ""
	}
	return scenario.Guess{Question: q, Choice: choice - 1}.Verdict() + "\n"
}

// look copies what the screen shows, after what is to be said of the step before.
// The runner must be at rest.
func (s *stepper) look(before string) {
	sum := s.runner.Summary()
	v := view.Steps{At: sum.Steps, Of: sum.Of, Text: before}
	for _, r := range sum.Results {
		text := r.Text
		if r.Found != "" {
			text += ": " + r.Found
		}
		v.Results = append(v.Results, view.Result{Text: text, OK: r.OK})
	}
	step, more := s.runner.Current()
	v.Done, v.Stopped = !more, sum.Broken != nil
	if sum.Broken != nil {
		v.Text += fmt.Sprintf("stopped in step %d of %d at %v", sum.Steps, sum.Of, sum.Broken)
	}
	if more {
		v.Text += "next: " + step.Text
		if q := step.Question; q != nil {
			v.Question, v.Choices = q.Text, q.Choices
		}
	}
	if v.Done && !v.Stopped {
		v.Text += scriptEnd
	}
	s.mu.Lock()
	v.Earlier = s.shown.Earlier
	s.shown = v
	s.mu.Unlock()
}

// scriptEnd says what is left to do after the last step.
const scriptEnd = "That was the last step. The keys below go on working."

func (s *stepper) summary(width int) string {
	s.run.Lock()
	defer s.run.Unlock()
	sum := s.runner.Summary()
	if !errors.Is(sum.Broken, context.Canceled) {
		return sum.Text(width)
	}
	// It was left while a step ran: that nothing came of it is no news.
	left := sum.Steps
	sum.Broken, sum.Steps = nil, left-1
	return sum.Text(width)
}
