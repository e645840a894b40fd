package view

import (
	"fmt"
	"path"

	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Lesson is what the lesson page shows beside the live queue.
type Lesson struct {
	Number, Of int
	Title      string
	Prose      Prose
	Top        int  // first line of the text shown
	Reading    bool // the text has the focus
	Outcome    Outcome
	Hint       string // the hint asked for; empty: none
}

// Outcome is the learner's last test run.
type Outcome struct {
	Running bool
	Ran     bool
	OK      bool
	Lines   []string // the diagnosis, or what to do next
}

// LessonText returns the width of a lesson's text on a screen of w by h.
func LessonText(w, h int, big bool) int {
	return max(lessonLayout(Frame{Big: big}, w, h, 0, true).Text.W-2, 8)
}

func lessonLayout(f Frame, w, h, outcome int, reading bool) layout.Lesson {
	if f.Big {
		return layout.BigLessonPage(w, h, stepRows(f, w), outcome, reading)
	}
	return layout.LessonPage(w, h, stepRows(f, w), outcome)
}

// LessonPage draws a lesson.
func LessonPage(f Frame, l Lesson, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	f.Page = fmt.Sprintf("lesson %d of %d", l.Number, l.Of)
	room := lessonLayout(f, w, h, h, l.Reading).Outcome.H
	says := learnt(l, w-2, room)
	at := lessonLayout(f, w, h, len(says), l.Reading)
	c := page(f, w, h, th, at.Frame)
	if !at.Text.Empty() {
		lessonText(c.pane(at.Text), l)
	}
	c.pane(at.Middle).bar(0)
	if !at.Live.Empty() {
		lessonLive(c.pane(at.Live), f, l)
	}
	if !at.Outcome.Empty() {
		drawLearnt(c.pane(at.Outcome), says)
	}
	return c.done(f)
}

func lessonText(text pane, l Lesson) {
	where := l.Prose.where(l.Top, text.r.H-2, text.th.Glyph)
	text.fit(1, 0, text.r.W-3-width(where), l.Title, focus(l.Reading))
	text.right(text.r.W-1, 0, where, theme.Muted.Style())
	l.Prose.draw(text.sub(0, 2, text.r.W, text.r.H-2), l.Top)
}

func lessonLive(live pane, f Frame, l Lesson) {
	t := newTable(f)
	live.fit(1, 0, live.r.W-2, fmt.Sprintf("LIVE  %s  %d in line", path.Base(f.Lock), len(t.lock.Queue)), focus(!l.Reading))
	drawTable(live.sub(0, 1, live.r.W, live.r.H-1), f, t)
}

// focus is how the title of a pane looks.
func focus(has bool) theme.Style {
	if has {
		return theme.Text.Style().Bold().Underline()
	}
	return theme.Text.Style().Bold()
}

// learntLine is one line of what a test run or a hint says; the title of either
// stands on a rule.
type learntLine struct {
	text  string
	rule  bool
	style theme.Style
}

// learnt is what the last test run and the hint say, in at most rows lines of w
// cells. How the exercise stands comes first: it is seen on every screen.
func learnt(l Lesson, w, rows int) []learntLine {
	var out []learntLine
	add := func(text string, s theme.Style) {
		for _, line := range wrap(text, w) {
			out = append(out, learntLine{text: line, style: s})
		}
	}
	o := l.Outcome
	switch {
	case o.Running:
		out = append(out, learntLine{text: "your test runs", rule: true})
	case o.OK:
		out = append(out, learntLine{text: "✓ your test passes", rule: true})
	case o.Ran:
		out = append(out, learntLine{text: "✗ your test does not pass yet", rule: true})
	case len(o.Lines) > 0:
		out = append(out, learntLine{text: "your exercise: not tested yet", rule: true})
	}
	style := theme.Text.Style()
	switch {
	case o.OK:
		style = theme.Reader.Style()
	case o.Ran:
		style = theme.Dead.Style()
	}
	for i, line := range o.Lines {
		if l.Hint != "" && i > 0 {
			break // the hint needs the room more
		}
		add(line, style)
		style = theme.Text.Style()
	}
	if l.Hint != "" {
		out = append(out, learntLine{text: "hint", rule: true})
		add(l.Hint, theme.Waits.Style())
	}
	if len(out) > rows && rows > 0 {
		out = append(out[:rows-1], learntLine{text: "…", style: theme.Muted.Style()})
	}
	return out
}

func drawLearnt(p pane, lines []learntLine) {
	for y, l := range lines {
		if l.rule {
			p.rule(y, p.th.Twin(l.text))
			continue
		}
		p.fit(1, y, p.r.W-2, p.th.Twin(l.text), l.style)
	}
}
