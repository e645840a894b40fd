package tui

import (
	"context"
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/tui/view"
)

// Script is a scenario that is run step by step. Its methods may be called
// concurrently.
type Script interface {
	// Steps tells where the scenario is. It never waits for a step.
	Steps() view.Steps
	// Next runs the next step. It returns when the step's event has come, when
	// the step failed, or when ctx ends. With a question open, it runs the step
	// without an answer.
	Next(ctx context.Context) error
	// Answer answers the open question, and runs the step that it stands before as
	// Next does; choice counts from 1.
	Answer(ctx context.Context, choice int) error
}

// scenario are the keys that run a scenario.
func scenario() []deed {
	return []deed{
		{key: bind("space", "step", "space", "enter", "."), help: "Runs the scenario's next step; from the past, returns to the present first.",
			now: func(m *model) (bool, string) {
				if m.still {
					return true, "go on"
				}
				return stepReady(m)
			},
			do: func(m *model) tea.Cmd {
				if m.still {
					m.goOn()
					return nil
				}
				return runStep(m)
			}},
		{key: bind("", "", "pgdown"), help: "A clicker's key: the next step; in the past, forward to the next one that was.",
			now: func(m *model) (bool, string) {
				ready, _ := stepReady(m)
				return (ready || m.still) && !m.reads(), ""
			},
			do: func(m *model) tea.Cmd {
				if m.still {
					return m.lookOn()
				}
				return runStep(m)
			}},
		{key: bind("", "", "pgup"), help: "A clicker's key: back to how it was when the step began, and the one before.",
			now: func(m *model) (bool, string) { return len(m.marks) > 0 && !m.reads(), "" },
			do:  func(m *model) tea.Cmd { return m.lookBack() }},
		{key: bind("1-9", "predict", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			help: "Answers the question with your prediction.",
			now:  func(m *model) (bool, string) { return m.asked(), "" },
			name: func(m *model) string { return fmt.Sprintf("1-%d", len(m.steps.Choices)) },
			do: func(m *model) tea.Cmd {
				n, err := strconv.Atoi(m.pressed)
				if err != nil || n > len(m.steps.Choices) {
					return nil
				}
				return m.act("answer", 0, func(ctx context.Context) error { return m.o.Script.Answer(ctx, n) })
			}},
	}
}

// reads says whether a text has the keys that turn pages.
func (m *model) reads() bool { return m.page.name == PageLesson && m.study.reading() }

// lookBack shows how it was at the mark before the moment shown.
func (m *model) lookBack() tea.Cmd {
	if !m.still {
		m.hold()
	}
	first := m.marks[0].at
	return m.lookAt(neighbour(m.markTimes(), m.wanted, -1, first, m.from))
}

// lookOn shows how it was at the mark after the moment shown; after the last one
// it returns to the present.
func (m *model) lookOn() tea.Cmd {
	to := neighbour(m.markTimes(), m.wanted, 1, m.from, m.from)
	if !to.Before(m.from) {
		m.goOn()
		return nil
	}
	return m.lookAt(to)
}

// lookAt shows a moment of the past.
func (m *model) lookAt(t time.Time) tea.Cmd {
	if oldest, _ := m.o.Source.Bounds(); t.Before(oldest) {
		t = oldest
	}
	m.wanted = t
	return m.fetch()
}

// stepsThen is the narration of a moment of the past: which step it was in, and
// what had gone wrong in it. Nothing to narrate gives nil.
func (m *model) stepsThen(t time.Time) *view.Steps {
	if m.steps == nil && len(m.marks) == 0 {
		return nil
	}
	then := view.Steps{Text: m.o.Opening}
	for _, k := range m.marks {
		if k.step {
			then.Of++
		}
		switch {
		case k.at.After(t):
		case k.step:
			then.At, then.Text, then.Results = then.Of, "this was the step: "+k.text, nil
		default:
			then.Results = append(then.Results, view.Result{Text: k.text})
		}
	}
	if then.Of == 0 && len(then.Results) > 0 {
		then.Text = "" // one has found it
	}
	if m.steps != nil {
		then.Of = m.steps.Of
	}
	if then.Of > 0 && then.At == 0 && then.Text == "" {
		then.Text = "before the first step"
	}
	return &then
}

func stepReady(m *model) (bool, string) {
	return m.steps != nil && !m.steps.Running && !m.steps.Done, ""
}

func runStep(m *model) tea.Cmd {
	m.steps.Running = true
	return m.act("step", 0, m.o.Script.Next)
}

// asked says whether a question waits for an answer.
func (m *model) asked() bool {
	return m.steps != nil && !m.steps.Running && m.steps.Question != "" && m.steps.Answer == 0
}
