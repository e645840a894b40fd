package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Ensemble draws the servers: who leads, and whose session is on which. Chosen is
// the index of the server that keys act on; -1: none.
func Ensemble(f Frame, chosen, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := f.stack(w, h, 0)
	c := page(f, w, h, th, at.Frame)
	quorum(c.pane(at.Info), f)
	servers(c.pane(at.Main).spread(f.Big, 2*len(f.State.Servers)), f, chosen)
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

func servers(p pane, f Frame, chosen int) {
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
	for i, s := range f.State.Servers {
		choice(p, y, i == chosen)
		serverBox(p.sub(0, y, p.r.W, each), i+1, s, on[s.Addr], f)
		delete(on, s.Addr)
		y += each
	}
	lost := 0
	for _, cs := range on {
		lost += len(cs)
	}
	if lost > 0 && y < p.r.H {
		p.fit(2, y, p.r.W-3, plural(lost, "session", "sessions")+" on no server that is known", theme.Muted.Style())
	}
}

// serverWord says in glyph, word and style how a server is: what it says itself,
// unless something was done to it.
func serverWord(s journal.ServerState, g theme.Glyphs) (glyph, word string, style theme.Style) {
	did := func(what string) bool { return slices.Contains(s.Faults, what) }
	dead := theme.Dead.Style()
	switch {
	case did("kill"):
		return g.Killed, "KILLED", dead
	case did("pause"):
		return g.Stopped, "STOPPED", dead
	case did("isolate") && s.Up:
		return g.Cut, "CUT OFF, says " + s.Mode, dead
	case did("isolate"):
		return g.Cut, "CUT OFF, serves nobody", dead
	case !s.Up:
		return g.Killed, "does not serve", dead
	case s.Mode == "leader" || s.Mode == "standalone":
		return g.Holds, s.Mode, theme.Holds.Style().Bold()
	}
	return g.Dot, s.Mode, theme.Waits.Style()
}

func serverBox(p pane, number int, s journal.ServerState, sessions []*journal.ContestantState, f Frame) {
	g := p.th.Glyph
	glyph, word, style := serverWord(s, g)
	p.put(2, 0, glyph, style)
	p.put(4, 0, strconv.Itoa(number), style)
	p.fit(6, 0, 22, s.Addr, style)
	p.fit(29, 0, 26, word, style)
	p.fit(56, 0, p.r.W-57, plural(len(sessions), "session", "sessions"), theme.Muted.Style())
	x, y := 5, 1
	for i, c := range sessions {
		name := c.Who
		mark, role := "", theme.Text.Style()
		switch {
		case !c.Connected:
			mark, role = g.Cut+" ", theme.Dead.Style()
		case holdsIn(f.State, c):
			mark, role = g.Holds+" ", theme.Holds.Style().Bold()
		}
		w := width(mark+name) + 3
		if x+w > p.r.W-1 {
			x, y = 5, y+1
		}
		if y >= p.r.H-1 && i < len(sessions)-1 && x+w+12 > p.r.W {
			p.put(x, y, fmt.Sprintf("and %d more", len(sessions)-i), theme.Muted.Style())
			return
		}
		x = p.put(x, y, mark+name, role) + 3
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
