package view

import (
	"fmt"
	"strings"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Ensemble draws the servers: who leads, and whose session is on which.
func Ensemble(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := layout.StackPage(w, h, stepRows(f, w), 0)
	c := page(f, w, h, th, at.Frame)
	quorum(c.pane(at.Info), f)
	servers(c.pane(at.Main), f)
	if !at.Events.Empty() {
		events(c.pane(at.Events), f)
	}
	return c.done(f)
}

// quorum says whether enough servers are up to serve.
func quorum(p pane, f Frame) {
	up, leader := 0, ""
	for _, s := range f.State.Servers {
		if s.Up {
			up++
		}
		if s.Mode == "leader" || s.Mode == "standalone" {
			leader = s.Addr
		}
	}
	need := len(f.State.Servers)/2 + 1
	text, role := fmt.Sprintf("%d of %d up, %d needed", up, len(f.State.Servers), need), theme.Reader
	switch {
	case len(f.State.Servers) == 0:
		text, role = "no server was seen yet", theme.Muted
	case up < need:
		text, role = text+": no quorum, nothing is served", theme.Dead
	case leader == "":
		text, role = text+": no leader yet", theme.Dead
	default:
		text += ": serves"
	}
	p.fit(1, 0, p.r.W-2, text, role.Style().Bold())
}

func servers(p pane, f Frame) {
	on := map[string][]*journal.ContestantState{}
	for i := range f.State.Contestants {
		c := &f.State.Contestants[i]
		if c.Session != 0 && c.SessionEnd.IsZero() && c.Phase != journal.Killed && c.Phase != journal.Gone {
			on[c.Server] = append(on[c.Server], c)
		}
	}
	n := max(len(f.State.Servers), 1)
	each := max(min(p.r.H/n, 8), 2)
	y := 0
	for _, s := range f.State.Servers {
		serverBox(p.sub(0, y, p.r.W, each), s, on[s.Addr], f)
		delete(on, s.Addr)
		y += each
	}
	var lost []*journal.ContestantState
	for _, cs := range on {
		lost = append(lost, cs...)
	}
	if len(lost) > 0 && y < p.r.H {
		p.fit(1, y, p.r.W-2, fmt.Sprintf("%d sessions on no server that is known", len(lost)), theme.Muted.Style())
	}
}

func serverBox(p pane, s journal.ServerState, sessions []*journal.ContestantState, f Frame) {
	g := p.th.Glyph
	glyph, word, style := g.Dot, s.Mode, theme.Waits.Style()
	switch {
	case !s.Up:
		glyph, word, style = g.Killed, "down", theme.Dead.Style()
	case s.Mode == "leader" || s.Mode == "standalone":
		glyph, style = g.Holds, theme.Holds.Style().Bold()
	}
	p.put(1, 0, glyph, style)
	p.fit(3, 0, 22, s.Addr, style)
	p.put(26, 0, word, style)
	p.fit(40, 0, p.r.W-41, plural(len(sessions), "session", "sessions"), theme.Muted.Style())
	x, y := 5, 1
	for i, c := range sessions {
		name := c.Who
		mark := ""
		if holdsIn(f.State, c) {
			mark = g.Holds + " "
		}
		w := width(mark+name) + 3
		if x+w > p.r.W-1 {
			x, y = 5, y+1
		}
		if y >= p.r.H-1 && i < len(sessions)-1 && x+w+12 > p.r.W {
			p.put(x, y, fmt.Sprintf("and %d more", len(sessions)-i), theme.Muted.Style())
			return
		}
		x = p.put(x, y, mark, theme.Holds.Style().Bold())
		x = p.put(x, y, name, theme.Text.Style()) + 3
	}
}

// holdsIn says whether a contestant's node holds its lock, by the server.
func holdsIn(s journal.State, c *journal.ContestantState) bool {
	l, _ := s.Lock(c.Lock)
	for _, name := range l.Holders {
		if c.Node != "" && strings.HasSuffix(c.Node, "/"+name) {
			return true
		}
	}
	return false
}
