package view

import (
	"fmt"
	"time"

	"zklab/internal/journal"
	"zklab/tui/theme"
)

const laneSpan = 30 * time.Second

// lanes draws what the contestants did in the last half minute, by the server,
// and what became of them.
func lanes(p pane, f Frame) {
	g := p.th.Glyph
	p.rule(0, fmt.Sprintf("last %d s   %s waits   %s holds   %s watch fired   %s stopped   %s killed",
		int(laneSpan.Seconds()), g.WaitLine, g.Full, g.Fired, g.Stopped, g.Killed))
	f, a := laneAxis(f, 10, p.r.W-12)
	show := laneOf(f, p.r.H-2)
	for i, c := range show {
		p.fit(4, 1+i, 6, c.Who, theme.Text.Style())
		lane(p, 1+i, a, f, c)
	}
	a.labels(p, p.r.H-1, f.State.Start, 10*time.Second)
}

// calmStep is how far lanes advance at once while nothing happens, so that a
// calm screen is hardly written to.
const calmStep = 5 * time.Second

// laneAxis is the axis of lanes that stand at x, w cells wide. While it is calm
// they reach to the last whole step, or to the last thing told.
func laneAxis(f Frame, x, w int) (Frame, axis) {
	to := f.Now
	if f.Calm {
		step := f.State.Start.Add(f.Now.Sub(f.State.Start).Truncate(calmStep))
		f.Now, to = step, step.Add(calmStep)
		if n := len(f.Lines); n > 0 && f.Lines[n-1].At.After(step) {
			f.Now = f.Lines[n-1].At
		}
	}
	return f, axis{from: to.Add(-laneSpan), to: to, x: x, w: w}
}

// axis maps times to columns.
type axis struct {
	from, to time.Time
	x, w     int
}

// column returns the column of t, kept within the axis.
func (a axis) column(t time.Time) int {
	if !t.After(a.from) {
		return a.x
	}
	if !t.Before(a.to) {
		return a.x + a.w - 1
	}
	return a.x + int(int64(a.w-1)*int64(t.Sub(a.from))/int64(a.to.Sub(a.from)))
}

// labels writes the time since start at each whole step on the axis.
func (a axis) labels(p pane, y int, start time.Time, step time.Duration) {
	if start.IsZero() {
		return
	}
	first := max(a.from.Sub(start), 0)
	for d := (first + step - 1) / step * step; d <= a.to.Sub(start); d += step {
		text := fmt.Sprintf("t+%ds", int(d.Seconds()))
		x := min(a.column(start.Add(d)), p.r.W-width(text)-1)
		p.put(x, y, text, theme.Muted.Style())
	}
}

// laneOf picks the contestants of the lock that did something within the span:
// the newest, in order of joining.
func laneOf(f Frame, rows int) []*journal.ContestantState {
	var show []*journal.ContestantState
	since := f.Now.Add(-laneSpan)
	for i := len(f.State.Contestants) - 1; i >= 0 && len(show) < rows; i-- {
		c := &f.State.Contestants[i]
		n := len(c.Spans)
		if c.Lock != f.Lock || n == 0 {
			continue
		}
		if last := c.Spans[n-1]; last.To.IsZero() || last.To.After(since) {
			show = append(show, c)
		}
	}
	for i, j := 0, len(show)-1; i < j; i, j = i+1, j-1 {
		show[i], show[j] = show[j], show[i]
	}
	return show
}

func lane(p pane, y int, a axis, f Frame, c *journal.ContestantState) {
	for _, s := range c.Spans {
		span(p, y, a, f.Now, s, p.th.Glyph.Full, theme.Holds)
		from := a.column(s.From)
		if s.What == journal.SpanHolds && c.Watch.At.After(a.from) && !c.Watch.At.After(s.From) && from > a.x {
			p.put(from-1, y, p.th.Glyph.Fired, theme.Fired.Style())
		}
	}
	fate(p, y, a, f.Now, c)
}
