package tui

import (
	"context"
	"strconv"

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
	// Answer answers the open question; choice counts from 1.
	Answer(ctx context.Context, choice int) error
}

// scenario are the keys that run a scenario.
func scenario() []deed {
	return []deed{
		{key: bind("space", "step", "space", "enter", "."), help: "Runs the scenario's next step.", now: stepReady, do: runStep},
		{key: bind("", "", "pgdown"), help: "A clicker's key: the next step, except where it moves down a text.",
			now: func(m *model) (bool, string) {
				ready, _ := stepReady(m)
				return ready && (m.page.name != PageLesson || m.study.acting), ""
			}, do: runStep},
		{key: bind("1-9", "predict", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			help: "Answers the question with your prediction.",
			now:  func(m *model) (bool, string) { return m.asked(), "" },
			do: func(m *model) tea.Cmd {
				n, err := strconv.Atoi(m.pressed)
				if err != nil || n > len(m.steps.Choices) {
					return nil
				}
				return m.act("answer", 0, func(ctx context.Context) error { return m.o.Script.Answer(ctx, n) })
			}},
	}
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
	return m.steps != nil && m.steps.Question != "" && m.steps.Answer == 0
}
