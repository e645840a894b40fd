package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/view"
)

// tickMsg is the one clock message. It counts only if its generation is the
// newest: a clock that was set anew leaves older messages behind.
type tickMsg struct{ generation int }

const (
	barTick  = 100 * time.Millisecond // bars that run down
	slowTick = time.Second            // the same without motion
	stepTick = 250 * time.Millisecond // what a running step waits for
)

// clock knows when the screen changes next by itself.
type clock struct {
	generation int
	next       time.Time // zero: nothing is due
}

// set makes the clock strike at a moment, zero for never. It returns nil when
// it will strike by then anyway: at most one timer is under way.
func (c *clock) set(ctx context.Context, at, now time.Time) tea.Cmd {
	if at.IsZero() {
		if !c.next.IsZero() {
			c.generation++
			c.next = time.Time{}
		}
		return nil
	}
	if !c.next.IsZero() && !c.next.After(at) {
		return nil
	}
	c.generation++
	c.next = at
	generation := c.generation
	return func() tea.Msg {
		pause(ctx, max(at.Sub(now), time.Millisecond))
		return tickMsg{generation}
	}
}

// struck says whether a message is from the timer that counts.
func (c *clock) struck(m tickMsg) bool {
	if m.generation != c.generation || c.next.IsZero() {
		return false
	}
	c.next = time.Time{}
	return true
}

// due says when the bars of a lock change next by themselves. Sessions that are
// heard rest: only a silent one runs down, until nothing is left of it.
func due(s *journal.State, path string, now time.Time, tick time.Duration) time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	see := func(p journal.Place, c journal.ContestantState) {
		left := view.Remaining(p, c, now)
		switch {
		case !left.Known:
		case left.Resting:
			sooner(left.RestEnds.Add(time.Millisecond))
		case left.Left > 0:
			sooner(now.Add(tick))
		}
	}
	who := make(map[string]*journal.ContestantState, len(s.Contestants))
	for i := range s.Contestants {
		c := &s.Contestants[i]
		who[c.Who] = c
		switch from, stray := view.StrayFrom(*c); {
		case c.Lock != path || !stray:
		case from.After(now):
			sooner(from)
		default:
			see(journal.Place{}, *c)
		}
	}
	for i := range s.Locks {
		if s.Locks[i].Path != path {
			continue
		}
		for _, p := range s.Locks[i].Queue {
			if c := who[p.Who]; c != nil {
				see(p, *c)
			} else {
				see(p, journal.ContestantState{})
			}
		}
	}
	return at
}
