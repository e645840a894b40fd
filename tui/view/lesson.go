package view

import (
	"fmt"
	"path"
	"strings"

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
	Full       Part   // what has the page for itself
	Said       int    // first line of the outcome shown, when that has the page
	More       string // what is said where the outcome is cut; empty: only that it is
}

// Part is a part of the lesson page.
type Part int

// The parts that can have the page for themselves. Zero is none.
const (
	TextInFull Part = iota + 1
	OutcomeInFull
)

// Outcome is the learner's last test run.
type Outcome struct {
	Running bool
	Ran     bool
	OK      bool
	Lines   []string // the diagnosis, or what to do next
}

// LessonText returns the width of a lesson's text on a screen of w by h. Big and in
// full it is the same.
func LessonText(w, h int, full bool) int {
	return max(lessonLayout(Frame{Big: full}, w, h, 0, true).Text.W-2, 8)
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
	switch l.Full {
	case TextInFull:
		return lessonInFull(f, l, w, h, th)
	case OutcomeInFull:
		return outcomeInFull(f, l, w, h, th)
	}
	room := lessonLayout(f, w, h, h, l.Reading).Outcome.H
	says := cutTo(room, l.More, learnt(l, w-2, l.Hint != ""))
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

// lessonInFull draws the text alone, and how the exercise stands.
func lessonInFull(f Frame, l Lesson, w, h int, th theme.Theme) string {
	stands := learnt(l, w-2, true)
	stands = stands[:min(len(stands), 1)]
	at := layout.BigLessonPage(w, h, stepRows(f, w), len(stands), true)
	c := page(f, w, h, th, at.Frame)
	l.Reading = true
	lessonText(c.pane(at.Text), l)
	drawLearnt(c.pane(at.Outcome), stands)
	return c.done(f)
}

// outcomeInFull draws all that the last test run and the hint say.
func outcomeInFull(f Frame, l Lesson, w, h int, th theme.Theme) string {
	at := layout.Around(w, h, stepRows(f, w))
	c := page(f, w, h, th, at)
	p := c.pane(at.Body)
	if all := learnt(l, w-2, false); len(all) > 0 {
		stands, says := all[:1], all[1:]
		drawLearnt(p, stands)
		if where := whereIn(l.Said, p.r.H-1, len(says), th.Glyph); where != "" {
			p.right(p.r.W-1, 0, " "+where+" ", theme.Muted.Style())
		}
		drawLearnt(p.sub(0, 1, p.r.W, p.r.H-1), says[min(max(l.Said, 0), len(says)):])
	}
	return c.done(f)
}

// LessonLines is how many lines the part has that the keys scroll, on a screen of w.
func LessonLines(l Lesson, w int) int {
	if l.Full == OutcomeInFull {
		return len(learnt(l, w-2, false)) - 1
	}
	return l.Prose.Lines()
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

// learnt is what the last test run and the hint say, in lines of w cells: all of it, or
// of the run only the first line. How the exercise stands comes first: it is seen on
// every screen.
func learnt(l Lesson, w int, short bool) []learntLine {
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
		if short && i > 0 {
			break // the hint needs the room more
		}
		add(line, style)
		style = theme.Text.Style()
	}
	if l.Hint != "" {
		out = append(out, learntLine{text: "hint", rule: true})
		add(l.Hint, theme.Waits.Style())
	}
	return out
}

// cutTo leaves as many lines as there is room for, and says in the last of them that
// there are more.
func cutTo(rows int, more string, lines []learntLine) []learntLine {
	if len(lines) <= rows || rows <= 0 {
		return lines
	}
	return append(lines[:rows-1], learntLine{text: strings.TrimSpace("… " + more), style: theme.Muted.Style()})
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
