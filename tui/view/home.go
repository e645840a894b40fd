package view

import (
	"fmt"
	"strings"

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
	ladder(c.pane(at.Ladder).spread(f.Big, 4), v, chosen)
	c.pane(at.Middle).bar(0)
	demos(c.pane(at.Demos).spread(f.Big, 4+len(v.Demos)), v, chosen)
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
	each := 1
	if 2*len(v.Lessons) <= rows && p.r.W >= 70 {
		each = 2 // what a lesson is about stands below it
	}
	for i := top; i < len(v.Lessons) && i-top < rows; i++ {
		l, y := v.Lessons[i], 1+(i-top)*each
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
		if note := rungNote(l, i == v.Next); x+36+width(note) < p.r.W {
			p.fit(x+36, y, p.r.W-x-37, note, theme.Muted.Style())
		}
		if each > 1 {
			p.fit(x, y+1, p.r.W-x-1, firstClauses(l.Summary, p.r.W-x-1), theme.Muted.Style())
		}
	}
}

func rungNote(l Rung, next bool) string {
	switch {
	case l.Status == Assisted:
		return "assisted"
	case next:
		return "next"
	}
	return ""
}

// firstClauses are as many of a text's clauses as have room.
func firstClauses(text string, w int) string {
	for width(text) > w {
		cut := -1
		for _, end := range []string{". ", "; ", ": ", ", "} {
			cut = max(cut, strings.LastIndex(text, end))
		}
		if cut < 0 {
			break
		}
		text = text[:cut]
	}
	return text
}

func demos(p pane, v Home, chosen int) {
	p.fit(1, 0, p.r.W-2, "SEE IT LIVE", theme.Text.Style().Bold())
	y := 1
	for i, d := range v.Demos {
		if y >= p.r.H {
			return
		}
		choice(p, y, i == chosen-len(v.Lessons))
		p.fit(2, y, 10, d.Name, theme.Waits.Style().Bold())
		p.fit(13, y, p.r.W-14, shortTitle(d.Title, p.r.W-14), theme.Text.Style())
		y++
	}
	greets := wrap(v.Greets, p.r.W-4)
	below := p.sub(0, y+1, p.r.W, p.r.H-y-1)
	about(below, v, chosen)
	if room := below.r.H - aboutRows(v, chosen, p.r.W) - 1; room >= len(greets) {
		for i, l := range greets {
			below.put(2, below.r.H-len(greets)+i, l, theme.Muted.Style())
		}
	}
}

// shortTitle leaves out what a title explains, where there is no room for it.
func shortTitle(title string, w int) string {
	for _, end := range []string{": ", ", "} {
		if head, _, ok := strings.Cut(title, end); ok && width(title) > w {
			title = head
		}
	}
	return title
}

// aboutOf is what the chosen lesson or demo is about, in full.
func aboutOf(v Home, chosen int) (title, text string) {
	switch i := chosen - len(v.Lessons); {
	case chosen >= 0 && i < 0:
		l := v.Lessons[chosen]
		return "lesson " + l.Number, l.Title + ". " + l.Summary
	case i >= 0 && i < len(v.Demos):
		return "demo " + v.Demos[i].Name, v.Demos[i].Title
	}
	return "", ""
}

func aboutRows(v Home, chosen, w int) int {
	_, text := aboutOf(v, chosen)
	return 1 + len(wrap(text, w-3))
}

func about(p pane, v Home, chosen int) {
	title, text := aboutOf(v, chosen)
	if title == "" || p.r.H < 2 {
		return
	}
	p.rule(0, title)
	for i, l := range wrap(text, p.r.W-3) {
		p.put(2, 1+i, l, theme.Text.Style())
	}
}

// choice marks the chosen row.
func choice(p pane, y int, here bool) {
	if here {
		p.put(0, y, p.th.Glyph.Selected, theme.Text.Style().Bold())
	}
}
