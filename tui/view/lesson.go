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
}

// Outcome is the learner's last test run.
type Outcome struct {
	Running bool
	Ran     bool
	OK      bool
	Lines   []string // the diagnosis, or what to do next
}

// LessonText returns the width of a lesson's text on a screen of w by h.
func LessonText(w, h int) int { return max(layout.LessonPage(w, h, 0, 0).Text.W-2, 8) }

// LessonPage draws a lesson.
func LessonPage(f Frame, l Lesson, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	f.Page = fmt.Sprintf("lesson %d of %d", l.Number, l.Of)
	at := layout.LessonPage(w, h, stepRows(f, w), outcomeRows(l.Outcome))
	c := page(f, w, h, th, at.Frame)
	text := c.pane(at.Text)
	text.fit(1, 0, text.r.W-2, l.Title, focus(l.Reading))
	l.Prose.draw(text.sub(0, 2, text.r.W, text.r.H-2), l.Top)
	c.pane(at.Middle).bar(0)
	live := c.pane(at.Live)
	t := newTable(f)
	live.fit(1, 0, live.r.W-2, fmt.Sprintf("LIVE  %s  %d in line", path.Base(f.Lock), len(t.lock.Queue)), focus(!l.Reading))
	drawTable(live.sub(0, 1, live.r.W, live.r.H-1), f, t)
	if !at.Outcome.Empty() {
		outcome(c.pane(at.Outcome), l.Outcome)
	}
	return c.String()
}

// focus is how the title of a pane looks.
func focus(has bool) theme.Style {
	if has {
		return theme.Text.Style().Bold().Underline()
	}
	return theme.Text.Style().Bold()
}

func outcomeRows(o Outcome) int {
	if !o.Running && !o.Ran {
		return 0
	}
	return 1 + max(min(len(o.Lines), 6), 1)
}

func outcome(p pane, o Outcome) {
	switch {
	case o.Running:
		p.rule(0, "your test runs")
	case o.OK:
		p.rule(0, p.th.Glyph.Done+" your test passes")
	default:
		p.rule(0, p.th.Glyph.Killed+" your test does not pass yet")
	}
	style := theme.Dead.Style()
	if o.OK {
		style = theme.Reader.Style()
	}
	for i, l := range o.Lines {
		p.fit(1, 1+i, p.r.W-2, l, style)
		style = theme.Text.Style()
	}
}
