package view

import (
	"fmt"
	"strconv"

	"zklab/tui/theme"
)

// column is one column of the queue's table.
type column struct {
	title string
	x, w  int
	timed bool // no bar beside it: the state tells the time left
}

// The titles of the columns.
const (
	colSeq     = "SEQ"
	colWho     = "WHO"
	colPID     = "PID"
	colSession = "SESSION"
	colWatches = "WATCHES"
	colBar     = "SERVER DEADLINE"
	colState   = "STATE"
)

const (
	minBar    = 8
	timeWidth = 6 // of the time beside a bar
)

// columns chooses and places the columns for w cells. When it gets narrow they
// go in order of how little they say: session, pid, watches, bar.
func columns(w int, t table, big bool) []column {
	seq, who, pid := 3, 5, 5
	for _, r := range t.rows {
		seq = max(seq, len(strconv.FormatInt(r.place.Seq, 10)))
		who = max(who, width(r.who()))
		if r.c != nil {
			pid = max(pid, len(strconv.Itoa(r.c.PID)))
		}
	}
	all := []column{
		{title: colSeq, w: seq}, {title: colWho, w: min(who, max(w/8, 5))}, {title: colPID, w: pid},
		{title: colSession, w: 7}, {title: colWatches, w: 8}, {title: colBar}, {title: colState, w: 14},
	}
	if big {
		all = without(without(all, colSession), colPID)
	}
	for _, drop := range []string{"", colSession, colPID, colWatches, colBar} {
		all = without(all, drop)
		bar := w - 3 // the gutter, but for the space behind the last column
		for _, c := range all {
			bar -= c.w + 2
		}
		if bar >= minBar+1+timeWidth || drop == colBar {
			all[len(all)-1].timed = drop == colBar
			return place(all, bar)
		}
	}
	return all
}

func without(cols []column, title string) []column {
	kept := cols[:0:0]
	for _, c := range cols {
		if c.title != title {
			kept = append(kept, c)
		}
	}
	return kept
}

func place(cols []column, bar int) []column {
	x := 4
	for i := range cols {
		if cols[i].title == colBar {
			cols[i].w = bar
		}
		cols[i].x = x
		x += cols[i].w + 2
	}
	return cols
}

func (c column) heading(p pane) {
	x := c.x
	if c.title == colSeq {
		x += c.w - len(c.title)
	}
	p.put(x, 0, c.title, theme.Muted.Style())
}

// cellOf is what the state of a row looks like.
type cellOf struct {
	glyph, word string
	style       theme.Style
}

func (r row) who() string {
	if r.place.Who != "" {
		return r.place.Who
	}
	return "?"
}

func (c column) draw(p pane, f Frame, t table, r row, y int, st cellOf) {
	text, muted := theme.Text.Style(), theme.Muted.Style()
	switch c.title {
	case colSeq:
		seq := "-"
		if r.place.Seq >= 0 {
			seq = strconv.FormatInt(r.place.Seq, 10)
		}
		p.right(c.x+c.w, y, seq, text)
	case colWho:
		if r.place.Holds {
			text = theme.Holds.Style().Bold()
		}
		p.fit(c.x, y, c.w, r.who(), text)
	case colPID:
		if r.c != nil && r.c.PID > 0 {
			p.fit(c.x, y, c.w, strconv.Itoa(r.c.PID), text)
		}
	case colSession:
		if id := uint64(r.place.Session); id != 0 {
			p.put(c.x, y, p.th.Glyph.Ellipsis+fmt.Sprintf("%05x", id&0xfffff), muted)
		}
	case colWatches:
		c.watches(p, t, r, y)
	case colBar:
		c.deadline(p, f, r, y, st)
	case colState:
		word := st.glyph + " " + st.word
		if left := remaining(r, f); c.timed && left.Known && !left.Resting && r.ghost == nil {
			word += " " + left.text(true, p.th.Glyph)
		}
		p.fit(c.x, y, p.r.W-c.x, word, st.style)
	}
}

func (c column) watches(p pane, t table, r row, y int) {
	w, g := r.watch(t), p.th.Glyph
	switch {
	case r.ghost != nil || r.outside:
	case w.none:
		p.put(c.x+3, y, "-", theme.Muted.Style())
	case w.bad:
		p.fit(c.x, y, c.w, w.words(g, c.w), theme.Dead.Style())
	default:
		p.fit(c.x, y, c.w, w.words(g, c.w), theme.Waits.Style())
	}
}

func (c column) deadline(p pane, f Frame, r row, y int, st cellOf) {
	if r.ghost != nil {
		return
	}
	left := remaining(r, f)
	exact := f.Clock != Live
	bar := c.w - 1 - timeWidth
	left.draw(p, c.x, y, bar, exact, st.style)
	p.right(c.x+c.w, y, left.text(exact, p.th.Glyph), st.style)
}
