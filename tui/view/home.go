package view

import (
	"fmt"

	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Home is what the home page shows.
type Home struct {
	Lessons []Rung
	Demos   []Demo
	Next    int // the lesson to do next, an index; -1: none
	Greets  string
}

// Rung is one lesson on the ladder.
type Rung struct {
	Number, Title, Summary string
	Status                 RungStatus
}

// RungStatus says how far a lesson is.
type RungStatus string

// The statuses.
const (
	Untouched RungStatus = ""
	Tried     RungStatus = "tried"
	Solved    RungStatus = "solved"
	Assisted  RungStatus = "assisted" // solved after its answer was shown
)

// Demo is one live demo.
type Demo struct{ Name, Title string }

// HomePage draws the ladder and the demos. Chosen is an index into the lessons
// and then the demos.
func HomePage(f Frame, v Home, chosen, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := layout.HomePage(w, h)
	f.Steps, f.Clock = nil, Timeless
	c := page(f, w, h, th, at.Frame)
	ladder(c.pane(at.Ladder), v, chosen)
	c.pane(at.Middle).bar(0)
	demos(c.pane(at.Demos), v, chosen-len(v.Lessons))
	return c.done(f)
}

func ladder(p pane, v Home, chosen int) {
	done := 0
	for _, l := range v.Lessons {
		if l.Status == Solved || l.Status == Assisted {
			done++
		}
	}
	p.fit(1, 0, p.r.W-2, fmt.Sprintf("THE LADDER  %d of %d", done, len(v.Lessons)), theme.Text.Style().Bold())
	g := p.th.Glyph
	rows := p.r.H - 1
	top := min(max(chosen-rows+2, 0), max(len(v.Lessons)-rows, 0))
	if chosen >= len(v.Lessons) {
		top = 0
	}
	for i := top; i < len(v.Lessons) && i-top < rows; i++ {
		l, y := v.Lessons[i], 1+i-top
		glyph, style := g.Todo, theme.Text.Style()
		switch {
		case l.Status == Solved:
			glyph, style = g.Done, theme.Reader.Style()
		case l.Status == Assisted:
			glyph, style = g.Done, theme.Waits.Style()
		case i == v.Next:
			glyph, style = g.Holds, theme.Holds.Style().Bold()
		case l.Status == Tried:
			glyph, style = g.Waits, theme.Waits.Style()
		}
		choice(p, y, i == chosen)
		p.put(2, y, glyph, style)
		x := p.put(4, y, l.Number+"  ", theme.Muted.Style())
		p.fit(x, y, min(p.r.W-x-1, 34), l.Title, style)
		if x+36 < p.r.W-12 {
			p.fit(x+36, y, p.r.W-x-37, rungNote(l, i == v.Next), theme.Muted.Style())
		}
	}
}

func rungNote(l Rung, next bool) string {
	switch {
	case l.Status == Assisted:
		return "assisted  " + l.Summary
	case next:
		return "next  " + l.Summary
	}
	return l.Summary
}

func demos(p pane, v Home, chosen int) {
	p.fit(1, 0, p.r.W-2, "SEE IT LIVE", theme.Text.Style().Bold())
	y := 1
	for i, d := range v.Demos {
		if y >= p.r.H {
			return
		}
		choice(p, y, i == chosen)
		p.fit(2, y, 10, d.Name, theme.Waits.Style().Bold())
		p.fit(13, y, p.r.W-14, d.Title, theme.Text.Style())
		y++
	}
	for i, l := range wrap(v.Greets, p.r.W-4) {
		p.put(2, y+1+i, l, theme.Muted.Style())
	}
}

// choice marks the chosen row.
func choice(p pane, y int, here bool) {
	if here {
		p.put(0, y, p.th.Glyph.Selected, theme.Text.Style().Bold())
	}
}
