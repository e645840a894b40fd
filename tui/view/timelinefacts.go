package view

import (
	"fmt"
	"slices"
	"time"

	"zklab/tui/theme"
	"zklab/tui/trace"
)

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
