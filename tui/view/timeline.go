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
	all := outagesOf(f)
	at := layout.TimelinePage(w, h, stepRows(f, w), len(all))
	if f.Big {
		at = layout.BigTimelinePage(w, h, stepRows(f, w))
	}
	c := page(f, w, h, th, at.Frame)
	all = fewer(all, len(at.Outages))
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

// outagesOf gives the panes: that of the network only when there was such an outage.
func outagesOf(f Frame) []shownOutage {
	whom := ""
	if f.Selected != "" {
		whom = " to " + f.Selected
	}
	all := []shownOutage{
		{"kill -9: the socket dies with the process, the session does not", f.orLost("nobody was killed yet: k sends kill -9"+whom, f.Trace.Lost.Outages), newest(f, "SIGKILL")},
		{"SIGSTOP: process and socket stay, only the heartbeats stop", f.orLost("nobody was stopped yet: z sends SIGSTOP"+whom, f.Trace.Lost.Outages), newest(f, "SIGSTOP")},
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

// fewer leaves out panes until there are n: empty ones first, then the oldest.
func fewer(all []shownOutage, n int) []shownOutage {
	for len(all) > n {
		out := 0
		for i, s := range all {
			switch o := all[out].o; {
			case o == nil:
			case s.o == nil || s.o.At.Before(o.At):
				out = i
			}
		}
		all = slices.Delete(all, out, out+1)
	}
	return all
}

func newestOf(all []shownOutage) []*trace.Outage {
	var out []*trace.Outage
	for _, s := range all {
		out = append(out, s.o)
	}
	return out
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
		p.fit(laneLabels, 2, p.r.W-laneLabels-1, s.invitation, theme.Muted.Style())
		return
	}
	a := axis{from: o.At, to: o.At.Add(span), x: laneLabels, w: p.r.W - laneLabels - 2}
	g := p.th.Glyph
	end := func(y int, at time.Time, glyph string, s theme.Style) { until(p, y, a, f.Now, at, glyph, s) }
	names := []string{"process", "tcp conn", "session", "znode", "next holder"}
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

// fact is one thing that followed an outage.
type fact struct {
	at   time.Time
	text string
	role theme.Role
}

// facts tells what followed the newest outage, in order.
func facts(p pane, f Frame, outages ...*trace.Outage) {
	var newest *trace.Outage
	for _, o := range outages {
		if o != nil && (newest == nil || o.At.After(newest.At)) {
			newest = o
		}
	}
	if newest == nil || p.r.H <= 0 {
		return
	}
	all := factsOf(newest)
	all = slices.DeleteFunc(all, func(x fact) bool { return !came(x.at, f) })
	slices.SortStableFunc(all, func(a, b fact) int { return a.at.Compare(b.at) })
	if extra := len(all) - p.r.H; extra > 0 && p.r.H > 1 {
		all = slices.Delete(all, 1, 1+extra) // the signal stays
	}
	for y, x := range all[:min(len(all), p.r.H)] {
		ms := x.at.Sub(newest.At).Milliseconds()
		x0 := p.put(1, y, fmt.Sprintf("+%5d ms", ms), theme.Muted.Style()) + 2
		p.fit(x0, y, p.r.W-x0-1, p.th.Twin(x.text), x.role.Style())
	}
}

func factsOf(o *trace.Outage) []fact {
	began := fmt.Sprintf("%s to %s (pid %d)", o.Op, o.Who, o.PID)
	if o.Op == trace.Network {
		began = fmt.Sprintf("network of %s: %s", o.Who, o.Fault)
	}
	facts := []fact{{o.At, began, theme.Dead}, {o.Closed, "connection closed by the " + o.ClosedBy, theme.Waits}}
	facts = append(facts, joined([]fact{
		{o.Ended, "session " + o.EndedAs, theme.Writer},
		{o.NodeGone, "znode " + seqOf(o.Node) + " deleted", theme.Fired},
		{o.FiredAt, plural(o.Fired, "watch", "watches") + " fired", theme.Fired},
		{o.NextAt, o.Next + " holds", theme.Holds},
	})...)
	if o.Op == trace.Network {
		return append(facts, networkFacts(o)...)
	}
	switch {
	case o.Learned.IsZero():
		return append(facts, fact{o.Cont, "SIGCONT", theme.Reader})
	case o.Cont.IsZero():
		return append(facts, fact{o.Learned, "the client learns that its session is over", theme.Dead})
	}
	late := seconds(o.Learned.Sub(o.Cont))
	return append(facts, fact{o.Learned, "the client learns that its session is over, " + late + " after SIGCONT", theme.Dead})
}

// oneBreath is within what time facts are told on one line, as one following
// from the other.
const oneBreath = 20 * time.Millisecond

// joined tells facts that came in one breath on one line.
func joined(facts []fact) []fact {
	var out []fact
	for _, x := range facts {
		n := len(out)
		if n > 0 && !out[n-1].at.IsZero() && x.at.Sub(out[n-1].at).Abs() < oneBreath {
			out[n-1].text += " → " + x.text
			continue
		}
		out = append(out, x)
	}
	return out
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
