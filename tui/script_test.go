package tui_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"zklab/internal/journal"
	"zklab/tui"
	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

// steps is a scenario of two steps, the first with a question.
type steps struct {
	mu     sync.Mutex
	now    view.Steps
	finish chan struct{}
}

func (s *steps) Steps() view.Steps {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *steps) set(f func(*view.Steps)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.now)
}

func (s *steps) Next(ctx context.Context) error { return s.Answer(ctx, 0) }

func (s *steps) Answer(ctx context.Context, choice int) error {
	s.set(func(v *view.Steps) {
		v.At, v.Running, v.Answer, v.Right, v.Waiting = 1, true, choice, 2, "its session to expire"
	})
	select {
	case <-s.finish:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.set(func(v *view.Steps) {
		v.Running, v.Done, v.Waiting, v.Question = false, true, "", ""
		v.Results = []view.Result{{Text: "wakes 1", OK: true}, {Text: "overlap 0: found 2", OK: false}}
	})
	return nil
}

func TestRun_script_predictStepAndResults(t *testing.T) {
	script := &steps{now: view.Steps{Of: 1, Text: "The holder gets kill -9.", Question: "When does the next one hold?",
		Choices: []string{"at once", "when the session has run out"}}}
	live(t, five, tui.Options{Script: script}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		script.finish = make(chan struct{})
		s.await("The holder gets kill -9.", "predict: When does", "1-2 predict")
		s.press("1")
		s.await("✗ 1 at once", "✓ 2 when the session", "waiting for: its session to expire")
		if text := s.text(); strings.Contains(text, "predict 1-2") || strings.Contains(text, "1-2 predict") {
			t.Errorf("an answer is asked for while the step runs:\n%s", text)
		}
		close(script.finish)
		s.await("✓ wakes 1", "✗ overlap 0: found 2", "1 of 2 as expected")
	})
}

func TestRun_script_quitWhileAStepWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := fixture.NewLab(time.Now, five...)
		script := &steps{finish: make(chan struct{}), now: view.Steps{Of: 1, Text: "a step that never ends"}}
		s := show(t, t.Context(), 80, 24, tui.Options{Source: tui.FromJournal(lab.Journal), Script: script})
		s.await("a step that never ends")
		s.press(keyEnter)
		s.await("waiting for")
		began := time.Now()
		s.press("q")
		if err := s.wait(); err != nil {
			t.Errorf("quit: %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("quitting took %v", took)
		}
	})
}

// A clicker's page up looks back at the step before, page down comes back step by
// step to the present, and no step runs from the past.
func TestRun_clicker_looksBackStepByStep(t *testing.T) {
	script := &steps{finish: make(chan struct{}), now: view.Steps{Of: 3, Text: "next: the third"}}
	close(script.finish)
	live(t, five, tui.Options{Script: script}, func(t *testing.T, lab *fixture.Lab, s *screen) {
		const pageUp, pageDown = "\x1b[5~", "\x1b[6~"
		s.await("5 in line", "next: the third")
		time.Sleep(time.Second)
		for i, text := range []string{"they line up", "the holder leaves"} {
			lab.Journal.Append(journal.Event{By: journal.Lab, Type: journal.Step, Text: text})
			time.Sleep(100 * time.Millisecond)
			if i == 1 {
				s.press("r")
				s.await("4 in line")
			}
			time.Sleep(70 * time.Second) // longer ago than plain scrubbing reaches
		}
		s.press(pageUp)
		s.await("paused", "5 in line", "this was the step: the holder leaves", "step 2 of 3")
		s.press(pageUp)
		s.await("paused", "this was the step: they line up", "step 1 of 3", "space go on")
		s.press(keyRight) // from there, a second on
		s.await("t+2.", "this was the step: they line up")
		s.press(pageDown)
		s.await("this was the step: the holder leaves")
		s.press(pageDown)
		s.await("live", "4 in line", "next: the third")
		s.press(pageUp, keyEnter) // from the past enter only returns
		s.await("live", "next: the third")
		if at := script.Steps().At; at != 0 {
			t.Errorf("step %d was run from the past", at)
		}
		s.press(pageDown)
		s.await("✓ wakes 1", "1 of 2 as expected")
	})
}
