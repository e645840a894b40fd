package view

import (
	"fmt"
	"strconv"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Queue draws the queue of one lock: who stands where, who watches whom, and
// how long each one's session lasts by the server.
func Queue(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := queueLayout(f, w, h)
	c := page(f, w, h, th, at.Frame)
	t := newTable(f)
	info(c.pane(at.Info), f, t)
	drawTable(c.pane(at.Table), f, t)
	if !at.Lanes.Empty() {
		lanes(c.pane(at.Lanes), f)
	}
	events(c.pane(at.Events), f)
	if !at.Side.Empty() {
		server(c.pane(at.Side), f, t)
	}
	return c.done(f)
}

func queueLayout(f Frame, w, h int) layout.Queue {
	if f.Big {
		return layout.BigQueuePage(w, h, stepRows(f, w))
	}
	return layout.QueuePage(w, h, stepRows(f, w))
}

// info is the one line about the lock.
func info(p pane, f Frame, t table) {
	parts := []string{fmt.Sprintf("%d in line", len(t.lock.Queue))}
	data, child := watchCounts(f, t.lock)
	parts = append(parts, fmt.Sprintf("watches: %d data, %s child", data, child))
	if n := len(t.lock.Wakes); n > 0 {
		parts = append(parts, "last release woke "+woke(t.lock.Wakes[n-1]))
	}
	if n := len(t.lock.Foreign); n > 0 {
		parts = append(parts, fmt.Sprintf("%d foreign", n))
	}
	if t.lock.Recipe != "" {
		parts = append(parts, "recipe "+t.lock.Recipe)
	}
	x := p.put(1, 0, shortPath(f.Lock, max(p.r.W/3, 12), p.th.Glyph.Ellipsis), theme.Text.Style().Bold())
	for _, part := range parts {
		if x+3+width(part) > p.r.W-1 {
			break
		}
		x = p.put(x+3, 0, part, theme.Text.Style())
	}
}

// watchCounts counts the watches of a lock's members. The server tells of child
// watches only in the number of all its watches: with one lock that is the
// difference to its data watches, with several only the wire tells whose.
func watchCounts(f Frame, l journal.LockState) (data int, child string) {
	wire := 0
	for _, p := range l.Queue {
		for _, w := range p.Watches {
			if w.Kind == journal.ChildWatch {
				wire++
			} else {
				data++
			}
		}
	}
	switch {
	case len(f.State.Locks) > 1:
		return data, strconv.Itoa(wire)
	case f.State.WatchCount < data:
		return data, "?"
	}
	return data, strconv.Itoa(f.State.WatchCount - data)
}

// woke tells how many watches a release fired: the server's own count when it
// is known, else what passed on the wire.
func woke(w journal.Wake) string {
	if w.Server >= 0 {
		return strconv.FormatFloat(w.Server, 'f', -1, 64)
	}
	return strconv.Itoa(w.Events)
}

// drawTable draws the heading and the part of the rows that fits: all with
// arrows between them, all without, or a window that follows the selection.
func drawTable(p pane, f Frame, t table) {
	cols := columns(p.r.W, t, f.Big)
	for _, c := range cols {
		c.heading(p)
	}
	body := p.sub(0, 1, p.r.W, p.r.H-1)
	if len(t.rows) == 0 {
		body.put(5, 1, "nobody is in line", theme.Muted.Style())
		return
	}
	step, from, to := window(len(t.rows), body.r.H, t.selected(f.Selected), f.Big)
	y := 0
	if from > 0 {
		body.put(5, y, fmt.Sprintf("%s %d more above", p.th.Glyph.Up, from), theme.Muted.Style())
		y++
	}
	ys := make(map[string]int, to-from)
	for i := from; i < to; i++ {
		ys[t.rows[i].place.Node.Name] = y + (i-from)*step
	}
	for i := from; i < to; i++ {
		drawRow(body, f, t, cols, i, y+(i-from)*step)
	}
	for i := from; i < to; i++ {
		arrow(body, t, ys, i, step, y+(i-from)*step)
	}
	if to < len(t.rows) {
		body.put(5, y+(to-from)*step, fmt.Sprintf("%s %d more below", p.th.Glyph.Down, len(t.rows)-to), theme.Muted.Style())
	}
	fires(body, f, ys)
}

func (t table) selected(id string) int {
	for i, r := range t.rows {
		if id != "" && r.id() == id {
			return i
		}
	}
	return 0
}

// window says which of n rows are shown in h lines, around the row sel, and how
// far apart. A line each is kept for the counts of what is hidden.
func window(n, h, sel int, big bool) (step, from, to int) {
	switch {
	case big && 4*n-3 <= h:
		return 4, 0, n
	case 2*n-1 <= h:
		return 2, 0, n
	case n <= h:
		return 1, 0, n
	case h < 3:
		return 1, min(sel, n-1), min(sel+max(h, 0), n)
	}
	if sel < h-1 {
		return 1, 0, h - 1
	}
	if sel >= n-(h-1) {
		return 1, n - (h - 1), n
	}
	from = sel - (h-2)/2
	return 1, from, from + h - 2
}

// arrow draws what row i watches, in the gap above it or as a bracket beside
// the rows that it passes over.
func arrow(p pane, t table, ys map[string]int, i, step, y int) {
	r := t.rows[i]
	if r.ghost != nil || r.outside {
		return
	}
	w, g := r.watch(t), p.th.Glyph
	switch {
	case w.node == "":
	case !w.far:
		for shaft := y - 1; shaft > y-step+1; shaft-- {
			p.put(5, shaft, g.Gap, theme.Waits.Style())
		}
		if step > 1 {
			p.put(5, y-step+1, g.Waits, theme.Waits.Style())
		}
	default:
		bracket(p, ys, w, y, step)
	}
}

// bracket joins a row with the node it watches where that is not the row above:
// a reader that passes other readers over, or else the bug to see when a client
// in the middle died.
func bracket(p pane, ys map[string]int, w watch, y, step int) {
	g, style := p.th.Glyph, theme.Waits.Style()
	if w.bad {
		style = theme.Dead.Style()
	}
	top, shown := ys[w.node]
	if !shown || top >= y {
		top = max(y-step, 0)
		if w.bad && step > 1 {
			p.put(5, y-1, g.Killed+" "+w.text+" is gone", style)
		}
	}
	p.put(3, top, g.GapTop, style)
	for mid := top + 1; mid < y; mid++ {
		p.put(3, mid, g.Gap, style)
	}
	p.put(3, y, g.GapEnd, style)
}

// fires draws the watches that fire at this moment.
func fires(p pane, f Frame, ys map[string]int) {
	for _, fire := range f.Motion.Fires {
		to, ok := ys[fire.To]
		if !ok {
			continue
		}
		from, ok := ys[fire.From]
		if !ok {
			from = max(to-2, 0)
		}
		y := from + int(float64(to-from)*fire.At+0.5)
		p.put(3, y, p.th.Glyph.Fired, theme.Fired.Style())
	}
}

func (f Frame) fired(node string) bool {
	for _, fire := range f.Motion.Fires {
		if fire.To == node && fire.Landed {
			return true
		}
	}
	return false
}

// drawRow draws one row of the table.
func drawRow(p pane, f Frame, t table, cols []column, i, y int) {
	r := t.rows[i]
	glyph, word, style := r.state(p.th.Glyph, f.fired(r.place.Node.Name))
	if r.place.Holds && r.ghost == nil {
		p.put(2, y, p.th.Glyph.Holds, theme.Holds.Style().Bold())
	}
	for _, c := range cols {
		c.draw(p, f, t, r, y, cellOf{glyph, word, style})
	}
	switch {
	case r.ghost != nil:
		p.restyle(y, func(s theme.Style) theme.Style {
			s = s.Faint()
			if r.ghost.Struck && s != theme.Style(0).Faint() {
				s = s.Strike()
			}
			return s
		})
	case f.Motion.Fresh[r.place.Node.Name]:
		p.restyle(y, theme.Style.Reverse)
	}
	if f.Selected != "" && r.id() == f.Selected && r.ghost == nil {
		p.put(0, y, p.th.Glyph.Selected, theme.Text.Style().Bold())
	}
}
