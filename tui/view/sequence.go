package view

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
	"zklab/tui/trace"
)

// Sequence draws the frames on the wire as a sequence diagram: a lifeline for
// each contestant that spoke lately, and the server's at the right.
func Sequence(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := layout.Around(w, h, stepRows(f, w))
	c := page(f, w, h, th, at)
	sequence(c.pane(at.Body).spread(f.Big, 6), f)
	return c.done(f)
}

const (
	seqTime  = 10 // cells for the time
	seqLane  = 7  // cells between lifelines
	seqLabel = 34 // cells that an arrow's words get at least
)

// told are the last n messages until now, heartbeats last.
func told(f Frame, n int) []trace.Message {
	all := f.Trace.Messages
	for len(all) > 0 && all[len(all)-1].At.After(f.Now) {
		all = all[:len(all)-1]
	}
	last := slices.Clone(all[max(len(all)-n, 0):])
	for _, b := range f.Trace.Beats {
		if !b.At.After(f.Now) {
			last = append(last, b)
		}
	}
	return last[max(len(last)-n, 0):]
}

func sequence(p pane, f Frame) {
	server := p.r.W - 4
	show := told(f, max(p.r.H-1, 0))
	lanes := lifelines(show, f.Selected, max((server-seqTime-seqLabel)/seqLane, 1))
	muted := theme.Muted.Style()
	for who, lane := range lanes {
		x := seqTime + lane*seqLane
		p.fit(x, 0, seqLane-1, who, theme.Text.Style().Bold())
	}
	p.right(server+3, 0, "server", theme.Text.Style().Bold())
	if len(show) == 0 {
		p.put(seqTime, 2, f.orLost("no frame has passed yet", f.Trace.Lost.Messages), muted)
	}
	below := p.sub(0, 1, p.r.W, p.r.H-1)
	for _, lane := range lanes {
		below.bar(seqTime + lane*seqLane)
	}
	below.bar(server)
	for i, m := range show {
		p.put(0, 1+i, fmt.Sprintf("%+8.2fs", m.At.Sub(f.State.Start).Seconds()), muted)
		lane, known := lanes[m.Who]
		if !known {
			lane = len(lanes) - 1
		}
		message(p, 1+i, seqTime+lane*seqLane, server, m, known)
	}
}

// lifelines gives the contestants of the newest messages a lane each, in the
// order in which they first spoke.
func lifelines(show []trace.Message, selected string, most int) map[string]int {
	var names []string
	for i := len(show) - 1; i >= 0 && len(names) < most; i-- {
		if !slices.Contains(names, show[i].Who) {
			names = append(names, show[i].Who)
		}
	}
	lanes := make(map[string]int, len(names))
	for _, m := range show {
		if _, has := lanes[m.Who]; !has && slices.Contains(names, m.Who) {
			lanes[m.Who] = len(lanes)
		}
	}
	return lanes
}

// message draws one arrow from its contestant's lifeline at x to the server's,
// or back, with its words on it.
func message(p pane, y, x, server int, m trace.Message, known bool) {
	g := p.th.Glyph
	text, style, line := words(m, g)
	if !known {
		text = m.Who + ": " + text
	}
	p.repeat(x+1, y, server-x-1, line, style)
	if m.ToServer() {
		p.put(server-1, y, g.Right, style)
	} else {
		p.put(x+1, y, g.Left, style)
	}
	p.fit(x+3, y, server-x-5, " "+p.th.Twin(text)+" ", style)
}

// words says what a message is, how it looks and what its arrow is made of.
func words(m trace.Message, g theme.Glyphs) (text string, s theme.Style, line string) {
	line = g.Rule
	node := path.Base(m.Node)
	switch m.Type {
	case journal.ConnOpened:
		return "connects", theme.Muted.Style(), g.Wire
	case journal.ConnClosed:
		return "connection closed by the " + m.Op, theme.Dead.Style(), g.Wire
	case journal.SessionOpen:
		if !m.OK {
			return "this session has expired", theme.Dead.Style(), line
		}
		return fmt.Sprintf("session …%05x, timeout %s", uint64(m.Session)&0xfffff, seconds(m.Timeout)), theme.Reader.Style(), line
	case journal.CloseSession:
		return "close session", theme.Muted.Style(), line
	case journal.Ping:
		return plural(m.Beats, "heartbeat", "heartbeats"), theme.Muted.Style(), g.WaitLine
	case journal.WatchEvent:
		return g.Fired + " " + m.Op + " " + node, theme.Fired.Style(), line
	case journal.Request:
		flag := ""
		if m.Watch != "" {
			flag = " -w"
		}
		style := theme.Waits.Style()
		if m.Err != "" {
			return m.Op + flag + " " + node + ": " + m.Err, theme.Dead.Style(), line
		}
		return m.Op + flag + " " + node, style, line
	}
	return reply(m, node), replyStyle(m), line
}

func reply(m trace.Message, node string) string {
	took := fmt.Sprintf("  %.1f ms", float64(m.Latency.Microseconds())/1000)
	if m.Latency == 0 {
		took = ""
	}
	switch {
	case m.Err != "":
		return m.Op + ": " + m.Err + took
	case strings.HasPrefix(m.Op, "create"):
		return "made " + node + took
	case strings.HasPrefix(m.Op, "getChildren"):
		return plural(m.Children, "child", "children") + took
	}
	return m.Op + " ok" + took
}

func replyStyle(m trace.Message) theme.Style {
	if m.Err != "" {
		return theme.Dead.Style()
	}
	return theme.Text.Style()
}
