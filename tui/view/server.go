package view

import (
	"fmt"
	"strconv"
	"strings"

	"zklab/internal/journal"
	"zklab/tui/theme"
)

func remaining(r row, f Frame) TimeLeft {
	c := journal.ContestantState{}
	if r.c != nil {
		c = *r.c
	}
	return Remaining(r.place, c, f.Now)
}

// server draws the pane of what the server says: who watches what, when each
// session ends, and its counters.
func server(p pane, f Frame, t table) {
	p.bar(0)
	p = p.sub(1, 0, p.r.W-1, p.r.H)
	p.fit(1, 0, p.r.W-1, "SERVER SAYS", theme.Text.Style().Bold())
	const counters = 5
	part := max((p.r.H-counters-2)/2, 2)
	p.branch(1, "who watches what (wchp)")
	watchers(p.sub(0, 2, p.r.W, part-1), t)
	p.branch(1+part, "sessions by deadline (dump)")
	deadlines(p.sub(0, 2+part, p.r.W, p.r.H-counters-2-part), f, t)
	p.branch(p.r.H-counters, "watches fired since start (mntr)")
	counts(p.sub(0, p.r.H-counters+1, p.r.W, counters-1), f)
}

// branch is a rule that grows out of the bar at the pane's left.
func (p pane) branch(y int, title string) {
	p.rule(y, title)
	if p.r.X > 0 && y < p.r.H {
		p.set(p.r.X-1, p.r.Y+y, p.th.Glyph.Tee, 1, theme.Muted.Style())
	}
}

// watchers lists the data watches that the server lists. It never lists child
// watches: those are counted below, as the wire tells of them.
func watchers(p pane, t table) {
	wire, y := 0, 0
	for _, r := range t.rows {
		for _, w := range r.place.Watches {
			if w.By != journal.Server {
				wire++
			}
		}
	}
	list := p
	if wire > 0 {
		list = p.sub(0, 0, p.r.W, p.r.H-1)
		p.fit(1, p.r.H-1, p.r.W-2, plural(wire, "watch", "watches")+" more, by the wire alone", theme.Muted.Style())
	}
	for _, r := range t.rows {
		if r.ghost != nil {
			continue
		}
		for _, w := range r.place.Watches {
			if w.By != journal.Server {
				continue
			}
			if y+2 > list.r.H {
				more(list, "watchers")
				return
			}
			list.fit(1, y, p.r.W-2, p.th.Glyph.Ellipsis+tail(w.Node, 15), theme.Text.Style())
			list.fit(6, y+1, p.r.W-7, fmt.Sprintf("%s %s  (%s)", p.th.Glyph.Child, r.place.Session, r.who()), theme.Waits.Style())
			y += 2
		}
	}
	if y == 0 {
		list.put(1, 0, "no data watches", theme.Muted.Style())
	}
}

// tail keeps the last n characters of an ASCII name.
func tail(name string, n int) string {
	if len(name) <= n || !ascii(name) {
		return name
	}
	return name[len(name)-n:]
}

func more(p pane, what string) {
	p.right(p.r.W-1, p.r.H-1, p.th.Glyph.Ellipsis+" more "+what, theme.Muted.Style())
}

func deadlines(p pane, f Frame, t table) {
	y := 0
	for _, r := range t.rows {
		if r.place.Session == 0 || r.ghost != nil {
			continue
		}
		if y >= p.r.H {
			more(p, "sessions")
			return
		}
		left := remaining(r, f)
		if !left.Known {
			continue
		}
		x := p.put(1, y, r.place.Session.String(), theme.Text.Style())
		text := left.text(f.Clock != Live, p.th.Glyph)
		p.fit(x+2, y, p.r.W-x-2, fmt.Sprintf("ends in %5s %s1 tick", text, p.th.Glyph.PlusMinus), theme.Muted.Style())
		y++
	}
	if y == 0 {
		p.put(1, 0, "no sessions", theme.Muted.Style())
	}
}

func counts(p pane, f Frame) {
	line := func(y int, name, value string) {
		p.fit(1, y, p.r.W-10, name, theme.Text.Style())
		p.right(p.r.W-1, y, value, theme.Text.Style().Bold())
	}
	c := f.State.Counters
	line(0, "sum_node_deleted_watch_count", number(c.Deleted))
	line(1, "sum_node_children_watch_count", number(c.Children))
	line(2, "watch_count (data + child)", strconv.Itoa(f.State.WatchCount))
	var up []string
	for _, s := range f.State.Servers {
		if s.Up {
			up = append(up, strings.TrimSpace(s.Addr+" "+s.Mode))
		}
	}
	p.fit(1, 3, p.r.W-2, strings.Join(up, ", "), theme.Muted.Style())
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
