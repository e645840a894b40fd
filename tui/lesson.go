package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"zklab/tui/view"
)

// study is the state of the lesson page.
type study struct {
	prose   view.Prose
	top     int
	acting  bool // the live pane has the focus, not the text
	outcome view.Outcome
	hint    string
}

func drawLesson(m *model, f view.Frame) string {
	l := m.o.Lesson
	if w := view.LessonText(m.w, m.h, m.big); m.study.prose.Width != w {
		prose, err := view.SetProse(l.Markdown, w)
		if err != nil {
			f.Notice = err.Error()
		}
		m.study.prose = prose
	}
	return view.LessonPage(f, view.Lesson{Number: l.Number, Of: l.Of, Title: l.Title, Prose: m.study.prose,
		Top: m.study.top, Reading: !m.study.acting, Outcome: m.study.outcome, Hint: m.study.hint}, m.w, m.h, m.theme)
}

// outcomeMsg brings the outcome of the learner's test.
type outcomeMsg struct {
	outcome view.Outcome
	seq     int
	err     error
}

func (m *model) awaitOutcome(seq int) tea.Cmd {
	ctx, watch := m.ctx, m.o.Lesson.Watch
	return func() tea.Msg {
		o, next, err := watch(ctx, seq)
		return outcomeMsg{o, next, err}
	}
}

func (m *model) outcome(msg outcomeMsg) tea.Cmd {
	if msg.err != nil {
		if m.ctx.Err() == nil {
			m.notice = "your file is not watched any more: " + msg.err.Error()
		}
		return nil
	}
	m.study.outcome, m.study.hint = msg.outcome, ""
	return m.awaitOutcome(msg.seq)
}

// hintMsg brings a hint.
type hintMsg struct{ text string }

// learning are the keys of the lesson page: those of the text or those of the
// contestants, as the focus is.
func learning() []deed {
	reading := func(m *model) (bool, string) { return !m.study.acting, "" }
	scroll := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd {
			m.study.top = min(max(m.study.top+n, 0), max(m.study.prose.Lines()-1, 0))
			return nil
		}
	}
	all := []deed{
		{key: bind("tab", "focus", "tab"), help: "Moves between the text and the live pane.", now: always,
			do: func(m *model) tea.Cmd { m.study.acting = !m.study.acting; return nil }},
		{key: bind("↑↓", "scroll", "down"), help: "Moves down the text.", now: reading, do: scroll(1)},
		{key: bind("", "", "up"), help: "Moves up the text.", now: reading, do: scroll(-1)},
		{key: bind("", "", "pgup"), help: "Moves up the text by ten lines.", now: reading, do: scroll(-10)},
		{key: bind("", "", "pgdown"), help: "Moves down the text by ten lines.", now: reading, do: scroll(10)},
		{key: bind("e", "edit", "e"), help: "Opens your exercise's file in $EDITOR; it is tested when you save it.",
			now: func(m *model) (bool, string) { return m.o.Lesson.Edit != nil, "" },
			do: func(m *model) tea.Cmd {
				editor, err := m.o.Lesson.Edit()
				if err != nil {
					m.notice = err.Error()
					return nil
				}
				return tea.Exec(editor, func(err error) tea.Msg { return actedMsg{what: "editor", err: err} })
			}},
		{key: bind("t", "test", "t"), help: "Runs your test now.",
			now: func(m *model) (bool, string) { return m.o.Lesson.Check != nil, "" },
			do:  func(m *model) tea.Cmd { return m.act("test", 0, m.o.Lesson.Check) }},
		{key: bind("i", "hint", "i"), help: "Shows the next hint for what your test found.",
			now: func(m *model) (bool, string) { return m.o.Lesson.Hint != nil, "" },
			do: func(m *model) tea.Cmd {
				ctx, hint := m.ctx, m.o.Lesson.Hint
				return func() tea.Msg {
					ctx, cancel := context.WithTimeout(ctx, actLimit)
					defer cancel()
					text, err := hint(ctx)
					if err != nil {
						return actedMsg{what: "hint", err: err}
					}
					return hintMsg{text}
				}
			}},
	}
	return append(all, contestants()...)
}
