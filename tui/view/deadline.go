package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/tui/theme"
)

// A client sends a heartbeat every third of its timeout. Until that much
// silence has passed, plus what the readings of the server may lag behind, its
// deadline moves away again before anybody needs to look at it.
const readingLag = 400 * time.Millisecond

// TimeLeft is how long a session has by the server's own deadline.
type TimeLeft struct {
	Known   bool
	Left    time.Duration
	Timeout time.Duration
	// Resting: heartbeats come, so that Left never falls below Floor. Only the
	// deadline of a silent session runs down for people to see.
	Resting bool
	Floor   time.Duration
	// RestEnds is when the session stops resting unless it is heard.
	RestEnds time.Time
}

// Remaining works out the time that p's session has left at the moment now.
func Remaining(p journal.Place, c journal.ContestantState, now time.Time) TimeLeft {
	deadline, timeout := p.Deadline, p.Timeout
	if deadline.IsZero() {
		deadline = c.Deadline
	}
	if timeout == 0 {
		timeout = c.Timeout
	}
	if deadline.IsZero() || timeout <= 0 {
		return TimeLeft{Timeout: timeout}
	}
	quiet := timeout/3 + readingLag
	t := TimeLeft{Known: true, Timeout: timeout, Left: max(deadline.Sub(now), 0), Floor: timeout - quiet}
	t.RestEnds = deadline.Add(quiet - timeout)
	silenced := c.Phase == journal.Stopped || c.Phase == journal.Killed || c.Phase == journal.Gone ||
		slices.ContainsFunc(c.Faults, silences)
	t.Resting = t.Floor > 0 && !silenced && now.Before(t.RestEnds)
	return t
}

// silences says whether a network fault keeps heartbeats from the server.
func silences(fault string) bool {
	return strings.HasPrefix(fault, "refuse") || strings.HasPrefix(fault, "blackhole") || strings.HasPrefix(fault, "cut")
}

// text tells the time left: exactly when it runs down or stands still, as a
// bound when heartbeats keep moving it.
func (t TimeLeft) text(exact bool, g theme.Glyphs) string {
	switch {
	case !t.Known:
		return ""
	case t.Resting && !exact:
		return fmt.Sprintf("%s%.1fs", g.AtLeast, t.Floor.Truncate(100*time.Millisecond).Seconds())
	default:
		return fmt.Sprintf("%.1fs", t.Left.Seconds())
	}
}

// draw draws the bar at x, y in w cells: what is certainly left is solid, what
// heartbeats move to and fro is shaded, what is gone is empty.
func (t TimeLeft) draw(p pane, x, y, w int, exact bool, s theme.Style) {
	if !t.Known || w <= 0 {
		return
	}
	g := p.th.Glyph
	if t.Resting && !exact {
		solid := int(float64(w) * float64(t.Floor) / float64(t.Timeout))
		at := p.repeat(x, y, solid, g.Full, s)
		p.repeat(at, y, w-solid, g.Shade, s)
		return
	}
	eighths := int(float64(w*8)*float64(t.Left)/float64(t.Timeout) + 0.5)
	level(p, x, y, w, eighths, s)
}

// level draws a bar of w cells that is filled by so many eighths of a cell.
func level(p pane, x, y, w, eighths int, s theme.Style) {
	g := p.th.Glyph
	eighths = min(max(eighths, 0), w*8)
	at := p.repeat(x, y, eighths/8, g.Full, s)
	left := w - eighths/8
	if left == 0 {
		return
	}
	if part := eighths % 8; part > 0 {
		at = p.put(at, y, g.Eighths[part], s)
		left--
	}
	p.repeat(at, y, left, g.Empty, theme.Muted.Style())
}
