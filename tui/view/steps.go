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
	Running  bool
	Done     bool
}

// Result is an expectation that was checked.
type Result struct {
	Text string
	OK   bool
}

func steps(p pane, s Steps) {
	title := fmt.Sprintf("step %d of %d", s.At, s.Of)
	if s.Done {
		title = "done: " + verdict(s.Results)
	} else if s.At == 0 {
		title = fmt.Sprintf("%d steps", s.Of)
	}
	p.rule(0, title)
	y := 1
	last := stepsTail(p, s)
	for _, line := range wrap(s.Text, p.r.W-2) {
		if y >= p.r.H-last {
			break
		}
		p.put(1, y, line, theme.Text.Style())
		y++
	}
	stepsEnd(p, p.r.H-last, s)
}

// stepsTail says how many rows the question or the results need.
func stepsTail(p pane, s Steps) int {
	n := 0
	if s.Question != "" {
		n++
		if len(s.Choices) > 0 {
			n++
		}
	} else if s.Waiting != "" {
		n++
	}
	if n == 0 {
		n = len(s.Results)
	}
	return min(n, max(p.r.H-2, 0))
}

func stepsEnd(p pane, y int, s Steps) {
	switch {
	case s.Question != "":
		p.fit(1, y, p.r.W-2, "predict: "+s.Question, theme.Fired.Style())
		choices(p, y+1, s)
	case s.Waiting != "":
		p.fit(1, y, p.r.W-2, "waiting for: "+s.Waiting, theme.Waits.Style())
	default:
		show := s.Results[max(len(s.Results)-max(p.r.H-y, 0), 0):]
		for i, r := range show {
			glyph, style := p.th.Glyph.Done, theme.Reader.Style()
			if !r.OK {
				glyph, style = p.th.Glyph.Killed, theme.Dead.Style()
			}
			p.fit(1, y+i, p.r.W-2, glyph+" "+r.Text, style)
		}
	}
}

func choices(p pane, y int, s Steps) {
	x := 1
	for i, c := range s.Choices {
		style := theme.Text.Style()
		text := fmt.Sprintf("%d %s", i+1, c)
		switch n := i + 1; {
		case n == s.Right:
			text, style = p.th.Glyph.Done+" "+text, theme.Reader.Style().Bold()
		case n == s.Answer && s.Right != 0:
			text, style = p.th.Glyph.Killed+" "+text, theme.Dead.Style()
		case n == s.Answer:
			text, style = "["+text+"]", style.Bold()
		}
		x = p.put(x, y, text, style) + 3
	}
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
