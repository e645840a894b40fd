package view

import (
	"fmt"
	"strings"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
	"zklab/tui/trace"
)

// Zombie draws who believes to hold a lock beside who holds it by the server,
// and what the resource does with their writes.
func Zombie(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := f.stack(w, h, max((h-12)/2, 4))
	c := page(f, w, h, th, at.Frame)
	zombieVerdict(c.pane(at.Info), f)
	p := c.pane(at.Main).spread(f.Big, 3)
	half := p.r.W / 2
	beliefs(p.sub(0, 0, half, p.r.H), f)
	p.sub(half, 0, 1, p.r.H).bar(0)
	serverHolds(p.sub(half+1, 0, p.r.W-half-1, p.r.H), f)
	resource(c.pane(at.Foot).spread(f.Big, 2), f)
	if !at.Events.Empty() {
		events(c.pane(at.Events), f)
	}
	return c.done(f)
}

// zombieVerdict says in a sentence whether beliefs and server agree.
func zombieVerdict(p pane, f Frame) {
	l, _ := f.State.Lock(f.Lock)
	believe := f.State.HoldersBelieved(f.Lock)
	text, role := fmt.Sprintf("%s; by the server %s", believing(len(believe)), plural(len(l.Holders), "holds", "hold")), theme.Text
	if len(believe) > max(len(l.Holders), 1) {
		role = theme.Dead
	}
	path := shortPath(f.Lock, max(p.r.W/3, 12), p.th.Glyph.Ellipsis)
	x := p.put(1, 0, path, theme.Text.Style().Bold())
	p.fit(x+3, 0, p.r.W-x-4, text, role.Style().Bold())
}

func believing(n int) string {
	switch n {
	case 0:
		return "nobody believes that it holds"
	case 1:
		return "1 believes that it holds"
	}
	return fmt.Sprintf("%d believe that they hold", n)
}

// beliefs lists the contestants of the lock and what each thinks of itself.
func beliefs(p pane, f Frame) {
	p.put(1, 0, "WHAT THE PROCESSES BELIEVE", theme.Muted.Style())
	g, y := p.th.Glyph, 1
	for i := range f.State.Contestants {
		c := &f.State.Contestants[i]
		if c.Lock != f.Lock || y >= p.r.H {
			continue
		}
		glyph, word, style := believes(c, g)
		if f.Selected == c.Who {
			p.put(0, y, g.Selected, theme.Text.Style().Bold())
		}
		p.put(2, y, glyph, style)
		p.fit(4, y, 8, c.Who, style.Bold())
		p.fit(13, y, p.r.W-14, word, style)
		y++
	}
}

func believes(c *journal.ContestantState, g theme.Glyphs) (glyph, word string, s theme.Style) {
	word = string(c.Belief)
	glyph, s = g.Waits, theme.Waits.Style()
	switch c.Belief {
	case journal.Holds:
		glyph, s = g.Holds, theme.Holds.Style()
		word = fmt.Sprintf("HOLDS, token 0x%x", c.Token)
		if c.Node == "" {
			s = theme.Dead.Style()
		}
	case journal.Idle, journal.Released:
		glyph, s = g.Dot, theme.Muted.Style()
	case journal.Lost, journal.Suspended, journal.Failed:
		glyph, s = g.Killed, theme.Dead.Style()
	}
	switch c.Phase {
	case journal.Stopped:
		return g.Stopped, word + ", STOPPED", theme.Dead.Style()
	case journal.Killed:
		return g.Killed, "KILLED", theme.Dead.Style()
	case journal.Gone:
		return g.Killed, "ended", theme.Muted.Style()
	}
	return glyph, word, s
}

// serverHolds lists what the server knows of the same contestants.
func serverHolds(p pane, f Frame) {
	p.put(1, 0, "WHAT THE SERVER SAYS", theme.Muted.Style())
	g, y := p.th.Glyph, 1
	t := newTable(Frame{State: f.State, Lock: f.Lock})
	for i := range f.State.Contestants {
		c := &f.State.Contestants[i]
		if c.Lock != f.Lock || y >= p.r.H {
			continue
		}
		glyph, word, style := g.Dot, "has no node", theme.Muted.Style()
		if c.EndedBy == "expired" {
			glyph, word, style = g.Killed, "expired, node deleted", theme.Dead.Style()
		}
		for _, r := range t.rows {
			if r.place.Who != c.Who || r.outside {
				continue
			}
			glyph, word, style = g.Waits, fmt.Sprintf("waits, node 0x%x", r.place.Node.Czxid), theme.Waits.Style()
			if r.place.Holds {
				glyph, word, style = g.Holds, fmt.Sprintf("HOLDS, node 0x%x", r.place.Node.Czxid), theme.Holds.Style().Bold()
			}
			if left := remaining(r, f); left.Known && !left.Resting {
				word += ", " + left.text(true, g)
			}
		}
		p.put(2, y, glyph, style)
		p.fit(4, y, 8, c.Who, style)
		p.fit(13, y, p.r.W-14, word, style)
		y++
	}
}

// resource lists the writes that the resource got, and what it did with each.
func resource(p pane, f Frame) {
	writes := f.Trace.Writes
	for len(writes) > 0 && writes[len(writes)-1].At.After(f.Now) {
		writes = writes[:len(writes)-1]
	}
	var last trace.Write
	if n := len(writes); n > 0 {
		last = writes[n-1]
	}
	p.rule(0, fmt.Sprintf("the resource: %d accepted, %d refused, largest token 0x%x", last.Accepted, last.Refused, last.Largest))
	if len(writes) == 0 {
		p.put(1, 1, f.orLost("nobody has written yet", f.Trace.Lost.Writes), theme.Muted.Style())
		return
	}
	show := writes[max(len(writes)-(p.r.H-1), 0):]
	for i, w := range show {
		resourceLine(p, 1+i, f, w)
	}
}

func resourceLine(p pane, y int, f Frame, w trace.Write) {
	g := p.th.Glyph
	glyph, word, style := g.Done, "accepted", theme.Reader.Style()
	switch {
	case !w.OK:
		glyph, word, style = g.Killed, "REFUSED", theme.Holds.Style().Bold()
	case w.Stale:
		glyph, word, style = g.Killed, "ACCEPTED, though STALE", theme.Dead.Style().Bold()
	}
	x := p.put(1, y, fmt.Sprintf("+%6.2fs", w.At.Sub(f.State.Start).Seconds()), theme.Muted.Style())
	p.fit(x+2, y, 8, w.Who, theme.Text.Style().Bold())
	x = p.put(x+11, y, fmt.Sprintf("token 0x%-5x", w.Token), theme.Text.Style())
	x = p.put(x+1, y, glyph+" "+word, style)
	text := strings.Replace(w.Text, "(the resource has seen token ", "(it has seen ", 1) // "it" is the heading's
	p.fit(x+2, y, p.r.W-x-3, strings.TrimSpace(text), theme.Muted.Style())
}
