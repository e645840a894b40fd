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
	full    view.Part // has the page for itself
	said    int       // first line of the outcome shown, when that has the page
}

// reading says whether the keys of a text are for the lesson's, or the outcome's.
func (s *study) reading() bool { return !s.acting || s.full != 0 }

// shows gives the page to a part, or takes it away from it again.
func (s *study) shows(p view.Part) {
	if s.full == p {
		p = 0
	}
	s.full, s.said = p, 0
}

// hinted takes a hint, which the text must not hide.
func (s *study) hinted(text string) {
	s.hint, s.said = text, 0
	if s.full == view.TextInFull {
		s.full = 0
	}
}

func drawLesson(m *model, f view.Frame) string {
	if err := m.setProse(); err != nil {
		f.Notice = m.say(err)
	}
	return view.LessonPage(f, m.lesson(), m.w, m.h, m.theme)
}

// lesson is what the page shows of the lesson.
func (m *model) lesson() view.Lesson {
	l, s := m.o.Lesson, &m.study
	return view.Lesson{Number: l.Number, Of: l.Of, Title: l.Title, Prose: s.prose, Top: s.top, Reading: s.reading(),
		Outcome: s.outcome, Hint: s.hint, Full: s.full, Said: s.said, More: "o shows all of it"}
}

// setProse sets the text for the page's width, and stays at what is read.
func (m *model) setProse() error {
	w := view.LessonText(m.w, m.h, m.big || m.study.full == view.TextInFull)
	if m.study.prose.Width == w {
		return nil
	}
	prose, err := view.SetProse(m.o.Lesson.Markdown, w)
	m.study.top, m.study.prose = prose.Find(m.study.prose, m.study.top), prose
	return err
}

// scroll moves what is read by n lines.
func (m *model) scroll(n int) {
	top := &m.study.top
	if m.study.full == view.OutcomeInFull {
		top = &m.study.said
	}
	*top = min(max(*top+n, 0), max(view.LessonLines(m.lesson(), m.w)-1, 0))
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
			m.notice = "your file is not watched any more: " + m.say(msg.err)
		}
		return nil
	}
	m.study.outcome, m.study.hint, m.study.said = msg.outcome, "", 0
	return m.awaitOutcome(msg.seq)
}

// hintMsg brings a hint.
type hintMsg struct{ text string }

// learning are the keys of the lesson page: those of the text or those of the
// contestants, as the focus is.
func learning() []deed {
	reading := func(m *model) (bool, string) { return m.study.reading(), "" }
	scroll := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.scroll(n); return nil }
	}
	all := []deed{
		{key: bind("tab", "focus", "tab"), help: "Moves between the text and the live pane.",
			now: func(m *model) (bool, string) {
				to := "live"
				if m.study.acting {
					to = "text"
				}
				return m.study.full == 0, to
			},
			do: func(m *model) tea.Cmd { m.study.acting = !m.study.acting; return nil }},
		{key: bind("↑↓", "scroll", "down"), help: "Moves down the text.", now: reading, do: scroll(1)},
		{key: bind("", "", "up"), help: "Moves up the text.", now: reading, do: scroll(-1)},
		{key: bind("", "", "pgup"), help: "Moves up the text by ten lines.", now: reading, do: scroll(-10)},
		{key: bind("", "", "pgdown"), help: "Moves down the text by ten lines.", now: reading, do: scroll(10)},
		inFull("f", "all", "Shows the text in the full width, or all parts again.", view.TextInFull, always),
		{key: bind("e", "edit", "e"), help: "Opens your exercise's file in $EDITOR; it is tested when you save it.",
			now: func(m *model) (bool, string) { return m.o.Lesson.Edit != nil, "" },
			do: func(m *model) tea.Cmd {
				editor, err := m.o.Lesson.Edit()
				if err != nil {
					m.notice = m.say(err)
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
					if !m.acts.begin() { // it writes the progress
						return nil
					}
					defer m.acts.end()
					ctx, cancel := context.WithTimeout(ctx, actLimit)
					defer cancel()
					text, err := hint(ctx)
					if err != nil {
						return actedMsg{what: "hint", err: err}
					}
					return hintMsg{text}
				}
			}},
		inFull("o", "outcome", "Shows all that your test and the hint say, or all parts again.", view.OutcomeInFull,
			func(m *model) (bool, string) { return m.study.outcome.Ran || m.study.hint != "", "" }),
		{key: bind("", "", "esc"), help: "Shows all parts again.", now: func(m *model) (bool, string) { return m.study.full != 0, "" },
			do: func(m *model) tea.Cmd { m.study.shows(m.study.full); return nil }},
	}
	return append(all, contestants()...)
}

// inFull is the key that gives the page to one part.
func inFull(k, label, help string, p view.Part, now func(*model) (bool, string)) deed {
	return deed{key: bind(k, label, k), help: help,
		now: func(m *model) (bool, string) {
			if m.study.full == p {
				return true, "back"
			}
			return now(m)
		},
		do: func(m *model) tea.Cmd { m.study.shows(p); return nil }}
}
