package view

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"zklab/tui/theme"
)

// Steps is the narration of a scenario: which step it is at, what that says,
// what it asks and what it waits for.
type Steps struct {
	At, Of   int    // step number from 1, and how many; At 0: not begun
	Text     string // what happens in this step
	Question string // a prediction asked before the step runs
	Choices  []string
	Answer   int    // the choice given, from 1; 0: none yet
	Right    int    // the choice that proved right, from 1; 0: not known yet
	Waiting  string // the event that the step waits for
	Results  []Result
	Earlier  int // how many of the results were there before this step
	Running  bool
	Done     bool
	Stopped  bool // it could not go on: no further step runs
}

// Result is an expectation that was checked.
type Result struct {
	Text string
	OK   bool
}

// shownResults is how many of a step's newest results are shown.
const shownResults = 3

// found are the results that are shown: this step's. Those of a step before would
// be taken for what this one has shown.
func (s Steps) found() []Result {
	return s.Results[max(min(s.Earlier, len(s.Results)), len(s.Results)-shownResults):]
}

// stepRows is how many rows the frame's narration needs on a screen w wide.
func stepRows(f Frame, w int) int {
	if f.Steps == nil {
		return 0
	}
	s := f.narration()
	return max(1+len(wrap(s.Text, w-2))+len(stepsEnd(s, w-2)), 4)
}

// narration is what is shown of the frame's: with little room for it, of the
// results only one.
func (f Frame) narration() Steps {
	s := *f.Steps
	if f.Big && !s.Done && !s.Stopped {
		found := s.found()
		s.Results, s.Earlier = found[max(len(found)-1, 0):], 0
	}
	return s
}

// stepLine is one line of a narration.
type stepLine struct {
	glyph func(theme.Glyphs) string // before the text; nil: none
	text  string
	style theme.Style
	more  bool // of the line before
}

func steps(p pane, s Steps) {
	title := fmt.Sprintf("step %d of %d", s.At, s.Of)
	switch {
	case s.Stopped:
		title = fmt.Sprintf("stopped in step %d of %d: %s", s.At, s.Of, verdict(s.Results))
	case s.Done:
		title = "done: " + verdict(s.Results)
	case s.Of == 0 && len(s.Results) == 0:
		title = "a test's run"
	case s.Of == 0:
		title = "what went wrong"
	case s.At == 0:
		title = plural(s.Of, "step", "steps")
	}
	p.rule(0, title)
	ticks(p, s)
	end := stepsEnd(s, p.r.W-2)
	text := wrap(s.Text, p.r.W-2)
	room := max(p.r.H-1, 0)
	if s.asks() {
		end = end[max(len(end)-room, 0):]
	} else {
		end = wholeResults(end, room-len(text))
	}
	if keep := room - len(end); len(text) > keep {
		text = text[:keep]
		if keep > 0 {
			text[keep-1] += " " + p.th.Glyph.Ellipsis
		}
	}
	for i, l := range text {
		p.fit(1, 1+i, p.r.W-2, l, theme.Text.Style())
	}
	for i, l := range end {
		x, y := 1, p.r.H-len(end)+i
		if l.glyph != nil {
			x = p.put(x, y, l.glyph(p.th.Glyph), l.style) + 1
		}
		p.fit(x, y, p.r.W-x-1, p.th.Arrows(l.text), l.style)
	}
}

// wholeResults leaves out the oldest results until the others fit into so many rows.
func wholeResults(lines []stepLine, rows int) []stepLine {
	for len(lines) > max(rows, 0) || len(lines) > 0 && lines[0].more {
		lines = lines[1:]
	}
	return lines
}

// ticks shows at the right of the narration's rule which steps are done: a step
// ticks itself when the event that it waits for has come.
func ticks(p pane, s Steps) {
	if s.Of <= 0 || s.Of > 20 || p.r.W < 60 {
		return
	}
	done := s.At
	if s.Running {
		done--
	}
	g := p.th.Glyph
	x := p.r.W - 2*s.Of - 3
	p.put(x, 0, " ", theme.Muted.Style())
	for i := range s.Of {
		switch {
		case i < done:
			p.put(x+1+2*i, 0, g.Done+" ", theme.Reader.Style())
		case i == done && s.Running:
			p.put(x+1+2*i, 0, g.Waits+" ", theme.Waits.Style())
		default:
			p.put(x+1+2*i, 0, g.Dot+" ", theme.Muted.Style())
		}
	}
}

// asks says whether something is asked or waited for, beside which no results are
// shown.
func (s Steps) asks() bool { return s.Question != "" || s.Waiting != "" }

// stepsEnd is what follows a narration's text: the question with its choices and
// what is waited for, or else the newest results.
func stepsEnd(s Steps, w int) []stepLine {
	var out []stepLine
	if s.Question != "" {
		out = question(s, w)
	}
	if s.Waiting != "" {
		out = append(out, stepLine{text: "waiting for: " + s.Waiting, style: theme.Waits.Style()})
	}
	if s.asks() {
		return out
	}
	for _, r := range s.found() {
		glyph, style := func(g theme.Glyphs) string { return g.Done }, theme.Reader.Style()
		if !r.OK {
			glyph, style = func(g theme.Glyphs) string { return g.Killed }, theme.Dead.Style()
		}
		for i, l := range wrap(r.Text, w-2) {
			out = append(out, stepLine{glyph, l, style, i > 0})
			glyph = func(theme.Glyphs) string { return " " }
		}
	}
	return out
}

func question(s Steps, w int) []stepLine {
	var out []stepLine
	for _, l := range wrap("predict: "+s.Question, w) {
		out = append(out, stepLine{text: l, style: theme.Fired.Style()})
	}
	for i, c := range s.Choices {
		l := stepLine{glyph: func(theme.Glyphs) string { return " " }, text: fmt.Sprintf("%d %s", i+1, c), style: theme.Text.Style()}
		switch n := i + 1; {
		case n == s.Right && s.Answer != 0:
			l.glyph, l.style = func(g theme.Glyphs) string { return g.Done }, theme.Reader.Style().Bold()
		case n == s.Answer && s.Right != 0:
			l.glyph, l.style = func(g theme.Glyphs) string { return g.Killed }, theme.Dead.Style()
		case n == s.Answer:
			l.glyph, l.style = func(g theme.Glyphs) string { return g.Selected }, l.style.Bold()
		}
		out = append(out, l)
	}
	return out
}

func verdict(results []Result) string {
	ok := 0
	for _, r := range results {
		if r.OK {
			ok++
		}
	}
	return fmt.Sprintf("%d of %d as expected", ok, len(results))
}

// wrap breaks text into lines of at most w cells.
func wrap(text string, w int) []string {
	if text == "" || w <= 0 {
		return nil
	}
	return lines(ansi.Wrap(text, w, " "))
}
