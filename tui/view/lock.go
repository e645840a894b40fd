package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/internal/recipe"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// ReadWrite draws the members of a read/write lock as lanes over time: who
// waited and who was inside together with whom.
func ReadWrite(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	foot, sentence := 4, "a reader watches the writer before it, a writer its neighbour"
	if f.Big {
		g := th.Glyph
		foot, sentence = 2, fmt.Sprintf("%s holds, shared   %s holds, exclusive   %s waits", g.Shade, g.Full, g.WaitLine)
	}
	at := f.stack(w, h, foot)
	c := page(f, w, h, th, at.Frame)
	t := newTable(f)
	says(c.pane(at.Info), f.Lock, sentence)
	rwLanes(c.pane(at.Main).spread(f.Big, 2+len(t.lock.Queue)), f, t) // those who left give way
	rwFoot(c.pane(at.Foot), t)
	if !at.Events.Empty() {
		events(c.pane(at.Events), f)
	}
	return c.done(f)
}

// says writes the lock's path and a sentence beside it.
func says(p pane, path, sentence string) {
	path = shortPath(path, max(p.r.W/3, 12), p.th.Glyph.Ellipsis)
	x := p.put(1, 0, path, theme.Text.Style().Bold())
	p.fit(x+3, 0, p.r.W-x-4, sentence, theme.Muted.Style())
}

// rwLane is one member's row.
type rwLane struct {
	c     *journal.ContestantState
	row   *row // its place; nil when it has left
	write bool
}

const rwLeft = 29 // cells before the lanes

func rwLanes(p pane, f Frame, t table) {
	heading := theme.Muted.Style()
	p.put(4, 0, "ZNODE", heading)
	p.put(15, 0, "WHO", heading)
	p.put(23, 0, "WATCHES", heading)
	f, a := laneAxis(f, rwLeft+4, p.r.W-rwLeft-6)
	show := rwRows(f, t, p.r.H-2)
	if len(show) == 0 {
		p.put(5, 2, "nobody is in line", theme.Muted.Style())
	}
	for i, l := range show {
		rwRow(p, 1+i, a, f, t, l)
	}
	a.labels(p, p.r.H-1, f.State.Start, 10*time.Second)
}

// rwRows picks who is shown: those who left within the span, then the queue. When
// there are too many, those who left go first, and then the last in line.
func rwRows(f Frame, t table, rows int) []rwLane {
	var left, here []rwLane
	in := map[string]bool{}
	for i := range t.rows {
		r := &t.rows[i]
		if r.ghost != nil || r.c == nil {
			continue
		}
		in[r.who()] = true
		here = append(here, rwLane{c: r.c, row: r, write: r.place.Intent == string(recipe.Write) || r.outside && r.c.Recipe == "write"})
	}
	for _, c := range laneOf(f, 1<<20) {
		if !in[c.Who] {
			left = append(left, rwLane{c: c, write: strings.Contains(c.Recipe, "write")})
		}
	}
	rows = max(rows, 0)
	if extra := len(left) + len(here) - rows; extra > 0 {
		left = left[min(extra, len(left)):]
	}
	all := slices.Concat(left, here)
	return all[:min(len(all), rows)]
}

func rwRow(p pane, y int, a axis, f Frame, t table, l rwLane) {
	g := p.th.Glyph
	role, glyph, kind := theme.Reader, g.Shade, "read "
	if l.write {
		role, glyph, kind = theme.Writer, g.Full, "write"
	}
	seq, watched := "left", ""
	if l.row != nil {
		seq = rwSeq(l.row.place.Seq, g)
		watched = rwWatches(l.row.watch(t), g)
		if l.row.place.Holds {
			p.put(2, y, g.Holds, theme.Holds.Style().Bold())
		}
		if f.Selected == l.row.id() {
			p.put(0, y, g.Selected, theme.Text.Style().Bold())
		}
	}
	p.put(4, y, kind, role.Style())
	p.fit(10, y, 4, seq, theme.Text.Style())
	p.fit(15, y, 7, l.c.Who, role.Style().Bold())
	p.fit(23, y, 9, watched, theme.Waits.Style())
	for _, s := range l.c.Spans {
		span(p, y, a, f.Now, s, glyph, role)
	}
	fate(p, y, a, f.Now, l.c)
}

// rwSeq is a number in four cells: of a long one the end, which tells it apart, and
// a mark for one who has no node.
func rwSeq(seq int64, g theme.Glyphs) string {
	switch {
	case seq < 0:
		return g.Dot
	case seq > 9999:
		return fmt.Sprintf("%s%03d", g.Ellipsis, seq%1000)
	}
	return fmt.Sprintf("%04d", seq)
}

func rwWatches(w watch, g theme.Glyphs) string {
	switch {
	case w.none:
		return ""
	case w.node == "":
		return g.Waits + " parent"
	default:
		kind := "r"
		if strings.Contains(w.node, "writ") || strings.Contains(w.node, "WRIT") {
			kind = "w"
		}
		return g.Waits + " " + kind + " " + w.text
	}
}

// span draws one stretch of a lane.
func span(p pane, y int, a axis, now time.Time, s journal.Span, holds string, role theme.Role) {
	to := s.To
	if to.IsZero() {
		to = now
	}
	if to.Before(a.from) || s.From.After(a.to) {
		return
	}
	glyph, style := p.th.Glyph.WaitLine, theme.Waits.Style()
	if s.What == journal.SpanHolds {
		glyph, style = holds, role.Style()
	}
	from := a.column(s.From)
	p.repeat(from, y, max(a.column(to)-from, 1), glyph, style)
}

// fate marks on a lane where its contestant was killed, and that it is stopped.
func fate(p pane, y int, a axis, now time.Time, c *journal.ContestantState) {
	switch {
	case c.Phase == journal.Killed && c.DiedAt.After(a.from):
		p.put(a.column(c.DiedAt), y, p.th.Glyph.Killed, theme.Dead.Style().Bold())
	case c.Phase == journal.Stopped:
		p.put(a.column(now), y, p.th.Glyph.Stopped, theme.Dead.Style().Bold())
	}
}

func rwFoot(p pane, t table) {
	g := p.th.Glyph
	p.rule(0, "")
	if p.r.H > 2 {
		x := p.put(1, 1, g.Shade+" holds (shared)   ", theme.Reader.Style())
		x = p.put(x, 1, g.Full+" holds (exclusive)   ", theme.Writer.Style())
		p.put(x, 1, g.WaitLine+" waiting", theme.Waits.Style())
		p = p.sub(0, 1, p.r.W, p.r.H-1)
	}
	readers, writer := 0, "none"
	var queue []string
	for _, r := range t.rows {
		if r.ghost != nil || r.outside {
			continue
		}
		write := r.place.Intent == string(recipe.Write)
		switch {
		case r.place.Holds && write:
			writer = r.who()
		case r.place.Holds:
			readers++
		case write:
			queue = append(queue, "W")
		default:
			queue = append(queue, "R")
		}
	}
	line := strings.Join(queue, " ")
	if line == "" {
		line = "empty"
	}
	p.fit(1, 1, p.r.W-2, fmt.Sprintf("readers inside: %d   writer inside: %s   queue: %s", readers, writer, line), theme.Text.Style())
}

// Semaphore draws the leases of a semaphore: each permit with who has it, then
// who waits.
func Semaphore(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := f.stack(w, h, 0)
	c := page(f, w, h, th, at.Frame)
	t := newTable(f)
	taken := 0
	for _, r := range t.rows {
		if r.place.Holds && r.ghost == nil {
			taken++
		}
	}
	line := "nobody is here yet: whoever comes first says how many leases there are"
	if t.lock.Permits > 0 || len(t.lock.Queue) > 0 {
		line = fmt.Sprintf("%d of %s taken, %d waiting: the lowest numbers hold",
			taken, plural(t.lock.Permits, "lease", "leases"), len(t.lock.Queue)-taken)
	}
	says(c.pane(at.Info), f.Lock, line)
	leases(c.pane(at.Main).spread(f.Big, 2+max(len(t.rows), t.lock.Permits)), f, t)
	if !at.Events.Empty() {
		events(c.pane(at.Events), f)
	}
	return c.done(f)
}

func leases(p pane, f Frame, t table) {
	cols := columns(p.r.W, t, f.Big)
	for _, c := range cols {
		c.heading(p)
	}
	g, y := p.th.Glyph, 1
	var waiting []int // and after them those who are in no line
	taken, outside := 0, 0
	for i, r := range t.rows {
		if !r.place.Holds && r.ghost == nil {
			waiting = append(waiting, i)
			if r.outside {
				outside++
			}
			continue
		}
		drawRow(p, f, t, cols, i, y)
		y++
		if r.ghost == nil {
			taken++
		}
	}
	for ; taken < t.lock.Permits && y < p.r.H-2; taken++ {
		p.put(2, y, g.Dot, theme.Muted.Style())
		p.put(cols[1].x, y, "free", theme.Muted.Style())
		y++
	}
	if y >= p.r.H {
		return
	}
	p.rule(y, fmt.Sprintf("%d waiting", len(waiting)-outside))
	rest := p.sub(0, y+1, p.r.W, p.r.H-y-1)
	sel := max(slices.Index(waiting, t.selected(f.Selected)), 0)
	_, from, to := window(len(waiting), rest.r.H, sel, false)
	y = 0
	if from > 0 {
		rest.put(5, y, fmt.Sprintf("%s %d more above", g.Up, from), theme.Muted.Style())
		y++
	}
	for i := from; i < to; i++ {
		drawRow(rest, f, t, cols, waiting[i], y+i-from)
	}
	if to < len(waiting) {
		rest.put(5, y+to-from, fmt.Sprintf("%s %d more below", g.Down, len(waiting)-to), theme.Muted.Style())
	}
}
