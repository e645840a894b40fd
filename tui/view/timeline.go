package view

import (
	"fmt"
	"slices"
	"time"

	"zklab/tui/layout"
	"zklab/tui/theme"
	"zklab/tui/trace"
)

// Timeline draws what follows a kill -9, a SIGSTOP and the loss of the network, one
// above the other: when the process, its connection, its session and its node end,
// and when the next one holds.
func Timeline(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	all, steps := outagesOf(f), stepRows(f, w)
	var at layout.Timeline
	if f.Big {
		all, at = fewer(all, 1), layout.BigTimelinePage(w, h, steps)
	} else {
		all = fewer(all, layout.TimelineHolds(h, steps))
		at = layout.TimelinePage(w, h, steps, each(all, shownOutage.was))
	}
	c := page(f, w, h, th, at.Frame)
	span := spanOf(newestOf(all)...)
	for i, o := range all {
		outage(c.pane(at.Outages[i]).spread(f.Big, 8), f, o, span)
	}
	facts(c.pane(at.Facts), f, newestOf(all)...)
	if !at.Events.Empty() {
		events(c.pane(at.Events), f)
	}
	return c.done(f)
}

// shownOutage is one of the page's panes: the newest outage of its kind, nil for
// none yet.
type shownOutage struct {
	title, invitation string
	o                 *trace.Outage
}

// was says whether there was such an outage.
func (s shownOutage) was() bool { return s.o != nil }

func each[T, R any](all []T, of func(T) R) []R {
	var out []R
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// outagesOf gives the panes: that of the network only when there was such an outage.
func outagesOf(f Frame) []shownOutage {
	kills, stops := ": k sends kill -9", ": z sends SIGSTOP"
	switch {
	case f.Reel != nil:
		kills, stops = "", "" // what was recorded stays as it is
	case f.Selected != "":
		kills, stops = kills+" to "+f.Selected, stops+" to "+f.Selected
	}
	all := []shownOutage{
		{"kill -9: the socket dies with the process, the session does not", f.orLost("nobody was killed yet"+kills, f.Trace.Lost.Outages), newest(f, "SIGKILL")},
		{"SIGSTOP: process and socket stay, only the heartbeats stop", f.orLost("nobody was stopped yet"+stops, f.Trace.Lost.Outages), newest(f, "SIGSTOP")},
	}
	if o := newest(f, trace.Network); o != nil {
		title := "network cut: the process lives, its connection does not"
		if o.Fault == "blackhole" {
			title = "black hole: process and socket live, nothing arrives"
		}
		all = append(all, shownOutage{title, "", o})
	}
	return all
}

// fewer leaves out panes until there are n: empty ones first, from the last, then
// the oldest.
func fewer(all []shownOutage, n int) []shownOutage {
	for len(all) > n {
		out := 0
		for i, s := range all {
			if o := all[out].o; s.o == nil || o != nil && s.o.At.Before(o.At) {
				out = i
			}
		}
		all = slices.Delete(all, out, out+1)
	}
	return all
}

func newestOf(all []shownOutage) []*trace.Outage {
	return each(all, func(s shownOutage) *trace.Outage { return s.o })
}

// newest returns the newest outage of a kind that had begun by now.
func newest(f Frame, op string) *trace.Outage {
	for i := len(f.Trace.Outages) - 1; i >= 0; i-- {
		if o := &f.Trace.Outages[i]; o.Op == op && !o.At.After(f.Now) {
			return o
		}
	}
	return nil
}

// spanOf is how much time the axis shows: what a session's expiry needs, and
// some more.
func spanOf(outages ...*trace.Outage) time.Duration {
	span := 4 * time.Second
	for _, o := range outages {
		if o == nil {
			continue
		}
		span = max(span, o.Timeout+2*time.Second)
		for _, t := range []time.Time{o.Ended, o.NodeGone, o.NextAt, o.Learned, o.Healed, o.Back} {
			if !t.IsZero() {
				span = max(span, t.Sub(o.At)+time.Second/2)
			}
		}
	}
	return min((span + time.Second - 1).Truncate(time.Second), time.Minute)
}

const laneLabels = 13 // cells for the names of the rows

func outage(p pane, f Frame, s shownOutage, span time.Duration) {
	p.fit(1, 0, p.r.W-2, s.title, theme.Text.Style().Bold())
	o := s.o
	if o == nil {
		invite(p, s.invitation)
		return
	}
	a := axis{from: o.At, to: o.At.Add(span), x: laneLabels, w: p.r.W - laneLabels - 2}
	g := p.th.Glyph
	end := func(y int, at time.Time, glyph string, s theme.Style) { until(p, y, a, f.Now, at, glyph, s) }
	names := laneNames
	if o.Op == trace.Network {
		names[4] = "belief"
	}
	for y, name := range names {
		p.put(1, 1+y, name, theme.Muted.Style())
		p.put(p.r.W-2, 1+y, g.Bar, theme.Muted.Style())
	}
	scale(p, 6, a, span)
	if o.Op == trace.Network {
		network(p, a, f, o)
		return
	}
	process(p, 1, a, f, o)
	end(2, o.Closed, g.Wire, theme.Waits.Style())
	end(3, o.Ended, g.Session, theme.Writer.Style())
	end(4, o.NodeGone, g.Full, theme.Holds.Style())
	switch {
	case !o.Held:
		p.fit(a.x, 5, a.w, o.Who+" did not hold the lock", theme.Muted.Style())
	default:
		next(p, 5, a, f, o)
	}
}

// laneNames are what a kill or a stop ends, one after the other.
var laneNames = [5]string{"process", "tcp conn", "session", "znode", "next holder"}

// invite says which key would make an outage, beside the names of what it will show
// where there is room for them.
func invite(p pane, text string) {
	y := 1
	if p.r.H > len(laneNames) {
		y = 3
		for i, name := range laneNames {
			p.put(1, 1+i, name, theme.Muted.Style())
		}
	}
	p.fit(laneLabels, y, p.r.W-laneLabels-1, text, theme.Muted.Style())
}

// came says whether something had happened by the moment shown.
func came(t time.Time, f Frame) bool { return !t.IsZero() && !t.After(f.Now) }

// until draws a row that lasts from the outage's beginning to at, or to now.
func until(p pane, y int, a axis, now, at time.Time, glyph string, s theme.Style) {
	here := a.column(now) + 1
	stop := here
	if !at.IsZero() && !at.After(now) {
		stop = a.column(at)
	}
	x := p.repeat(a.x, y, max(stop-a.x, 1), glyph, s)
	p.repeat(x, y, here-x, p.th.Glyph.Dot, theme.Muted.Style())
}

func process(p pane, y int, a axis, f Frame, o *trace.Outage) {
	g, dead := p.th.Glyph, theme.Dead.Style()
	here := a.column(f.Now) + 1
	x := p.put(a.x, y, g.Full, theme.Reader.Style())
	if o.Op == "SIGKILL" {
		x = p.put(x, y, g.Killed+" SIGKILL", dead.Bold())
		p.repeat(x, y, here-x, g.Dot, theme.Muted.Style())
		return
	}
	x = p.put(x, y, g.Stopped+" SIGSTOP", dead.Bold())
	until := func(t time.Time) int {
		if !came(t, f) {
			return here
		}
		return max(a.column(t), x)
	}
	woke := until(o.Cont)
	p.repeat(x, y, woke-x, g.WaitLine, dead)
	knows := max(until(o.Learned), woke)
	if !came(o.Ended, f) {
		knows = woke // its session lives: nothing is wrong with what it believes
	}
	p.repeat(woke, y, knows-woke, g.Full, dead)
	p.repeat(knows, y, here-knows, g.Full, theme.Reader.Style())
	if o.Held && came(o.NodeGone, f) {
		believesOn(p, y, x, woke, knows)
	}
}

// stillBelieves is what a stopped holder does after its node has gone.
const stillBelieves = " still believes it holds "

// believesOn writes that onto the stretch in which it is so and there is room:
// awake, from woke to knows, or else stopped.
func believesOn(p pane, y, x, woke, knows int) {
	need := width(stillBelieves)
	switch {
	case knows-woke >= need+2:
		p.put(woke+1, y, stillBelieves, theme.Dead.Style().Bold())
	case woke-x >= need+2:
		p.put(woke-need-1, y, stillBelieves, theme.Dead.Style().Bold())
	}
}

func next(p pane, y int, a axis, f Frame, o *trace.Outage) {
	here := a.column(f.Now) + 1
	from := here
	if came(o.NextAt, f) {
		from = a.column(o.NextAt)
	}
	x := p.repeat(a.x, y, from-a.x, p.th.Glyph.Dot, theme.Muted.Style())
	p.repeat(x, y, here-x, p.th.Glyph.Full, theme.Holds.Style())
	if came(o.NextAt, f) && here-x > width(o.Next)+2 {
		p.put(x+1, y, " "+o.Next+" ", theme.Holds.Style().Reverse())
	}
}

// scale draws a tick and a number for each second, or for each few.
func scale(p pane, y int, a axis, span time.Duration) {
	step := time.Second
	for a.w/int(span/step) < 5 {
		step *= 2
	}
	for d := time.Duration(0); d <= span; d += step {
		x := a.column(a.from.Add(d))
		p.put(x, y, p.th.Glyph.Tick, theme.Muted.Style())
		text := fmt.Sprintf("%ds", int(d.Seconds()))
		p.put(min(x, p.r.W-width(text)), y+1, text, theme.Muted.Style())
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Unfolding says whether an outage that is shown at now still changes by itself,
// and needs drawing again as time goes by.
func Unfolding(t trace.Trace, now time.Time) bool {
	all := newestOf(outagesOf(Frame{Trace: t, Now: now}))
	span := spanOf(all...)
	for _, o := range all {
		if o != nil && now.Before(o.At.Add(span)) {
			return true
		}
	}
	return false
}
