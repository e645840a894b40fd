package view

import (
	"time"

	"zklab/internal/journal"
	"zklab/tui/theme"
	"zklab/tui/trace"
)

// network draws the lanes of an outage of the network: the process works on, and
// what it believes is a lane of its own beside what the server has.
func network(p pane, a axis, f Frame, o *trace.Outage) {
	g, here := p.th.Glyph, a.column(f.Now)+1
	x := p.put(a.x, 1, g.Cut+" "+cutWord(o)+" ", theme.Dead.Style().Bold())
	healed := here
	if came(o.Healed, f) {
		healed = max(a.column(o.Healed), x)
	}
	x = p.repeat(x, 1, healed-x, g.WaitLine, theme.Dead.Style())
	if came(o.Healed, f) {
		p.repeat(x, 1, here-x, g.Full, theme.Reader.Style())
		if here-x > 10 {
			p.put(x+1, 1, " healed ", theme.Reader.Style().Reverse())
		}
	}
	until(p, 2, a, f.Now, o.Closed, g.Wire, theme.Waits.Style())
	if came(o.Back, f) {
		back := a.column(o.Back)
		p.repeat(back, 2, here-back, g.Wire, theme.Waits.Style())
	}
	until(p, 3, a, f.Now, o.Ended, g.Session, theme.Writer.Style())
	until(p, 4, a, f.Now, o.NodeGone, g.Full, theme.Holds.Style())
	if came(o.NextAt, f) {
		at := a.column(o.NextAt)
		if text := " " + o.Next + " holds "; at+width(text)+1 <= here {
			p.put(at+1, 4, text, theme.Holds.Style().Reverse())
		}
	}
	beliefLane(p, 5, a, f, o)
}

func cutWord(o *trace.Outage) string {
	if o.Fault == "blackhole" {
		return "BLACK HOLE"
	}
	return "CUT"
}

// beliefLane draws what the process believes, stretch by stretch.
func beliefLane(p pane, y int, a axis, f Frame, o *trace.Outage) {
	now := journal.Waiting
	if o.Held {
		now = journal.Holds
	}
	from, end := o.At, a.to
	if f.Now.Before(end) {
		end = f.Now
	}
	for i := 0; i <= len(o.Beliefs); i++ {
		to, next := end, now
		if i < len(o.Beliefs) && came(o.Beliefs[i].At, f) {
			to, next = o.Beliefs[i].At, o.Beliefs[i].Belief
		}
		if next == now && to != end {
			continue
		}
		stretch(p, y, a.column(from), a.column(to), now, came(o.NodeGone, f) && to.After(o.NodeGone))
		if to == end {
			return
		}
		from, now = to, next
	}
}

// stretch draws one belief from x to the cell before to, and its name where there
// is room. Wrong says that the server knows better.
func stretch(p pane, y, x, to int, b journal.BeliefKind, wrong bool) {
	g := p.th.Glyph
	glyph, style, word := g.WaitLine, theme.Waits.Style(), string(b)
	switch b {
	case journal.Holds:
		glyph, style = g.Full, theme.Holds.Style()
		if wrong {
			style, word = theme.Dead.Style().Bold(), "still believes it holds"
		}
	case journal.Suspended:
		style, word = theme.Dead.Style(), "unsure"
	case journal.Lost, journal.Failed:
		glyph, style = g.Dot, theme.Dead.Style()
	case journal.Idle, journal.Released:
		glyph, style = g.Dot, theme.Muted.Style()
	}
	p.repeat(x, y, max(to-x, 1), glyph, style)
	if to-x >= width(word)+4 {
		p.put(x+1, y, " "+word+" ", style)
	}
}

// networkFacts tells what only follows an outage of the network.
func networkFacts(o *trace.Outage) []fact {
	facts := []fact{{o.Healed, "the network heals", theme.Reader}, {o.Back, "heard again, in the same session", theme.Reader}}
	var unsure time.Time
	for _, b := range o.Beliefs {
		if b.Belief == journal.Suspended && unsure.IsZero() {
			unsure = b.At
		}
	}
	facts = append(facts, fact{unsure, "the client is no longer sure of its session", theme.Dead})
	return append(facts, fact{o.Learned, "the client learns that its session is over", theme.Dead})
}
