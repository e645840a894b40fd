package view

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Herd draws two queues of equal length side by side: how many watches each
// release fires where everybody watches the parent, and where each watches its
// predecessor.
func Herd(f Frame, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	at := layout.HerdPage(w, h, stepRows(f, w))
	c := page(f, w, h, th, at.Frame)
	left, right := HerdLocks(&f.State)
	most := max(mostWoken(left), mostWoken(right), 1)
	herdSide(c.pane(at.Left), f, left, most)
	herdSide(c.pane(at.Right), f, right, most)
	c.pane(at.Middle).bar(0)
	return c.done(f)
}

// HerdLocks picks the two locks that are compared: on the left one where
// everybody watches the parent, on the right one where not, if there is such a
// one. Either may be nil.
func HerdLocks(s *journal.State) (left, right *journal.LockState) {
	var second *journal.LockState // where everybody watches the parent, too
	for i := range s.Locks {
		l := &s.Locks[i]
		switch {
		case l.Recipe == "naive" && left == nil:
			left = l
		case l.Recipe == "naive" && second == nil:
			second = l
		case l.Recipe != "naive" && right == nil:
			right = l
		}
	}
	if right == nil {
		right = second
	}
	return left, right
}

// wakes is how many watches a release fired, and whether the server said so.
func wakes(w journal.Wake) (n int, server bool) {
	if w.Server >= 0 {
		return int(w.Server), true
	}
	return w.Events, false
}

func mostWoken(l *journal.LockState) int {
	most := 0
	if l != nil {
		for _, w := range l.Wakes {
			n, _ := wakes(w)
			most = max(most, n)
		}
	}
	return most
}

func herdSide(p pane, f Frame, l *journal.LockState, most int) {
	if l == nil {
		p.fit(1, 0, p.r.W-2, "no lock here yet", theme.Muted.Style())
		return
	}
	title, role := strings.ToUpper(l.Recipe)+": watch your predecessor", theme.Waits
	if l.Recipe == "naive" {
		title, role = "NAIVE: watch the parent", theme.Dead
	}
	if f.Big {
		herdBig(p, f, l, most, title, role)
		return
	}
	p.fit(1, 0, p.r.W-2, title, role.Style().Bold())
	p.fit(1, 1, p.r.W-2, herdWatches(l), theme.Text.Style())
	herdRelease(p.sub(0, 3, p.r.W, 3), f, l, role)
	p.rule(7, "watches fired, per release")
	chart := p.sub(0, 8, p.r.W, p.r.H-10)
	herdChart(chart, l, most, role)
	herdTotals(p.sub(0, p.r.H-2, p.r.W, 2), f, l)
}

// herdBig is a side for a projector: whom the last release woke, and the bars.
func herdBig(p pane, f Frame, l *journal.LockState, most int, title string, role theme.Role) {
	p = p.spread(true, 4)
	p.fit(1, 0, p.r.W-2, title, role.Style().Bold())
	text := "nobody has released yet"
	if k := len(l.Wakes); k > 0 {
		n, _ := wakes(l.Wakes[k-1])
		text = fmt.Sprintf("%d of %d re-read the queue", n, max(len(l.Queue), n))
	}
	p.fit(1, 1, p.r.W-2, text, role.Style().Bold())
	herdChart(p.sub(0, 2, p.r.W, p.r.H-3), l, most, role)
	herdTotals(p.sub(0, p.r.H-1, p.r.W, 1), f, l)
}

// herdWatches tells what the members watch at this moment.
func herdWatches(l *journal.LockState) string {
	var data, child int
	for _, place := range l.Queue {
		for _, w := range place.Watches {
			if w.Kind == journal.ChildWatch {
				child++
			} else {
				data++
			}
		}
	}
	if child > data {
		return fmt.Sprintf("%d in line, %d watch the one parent", len(l.Queue), child)
	}
	return fmt.Sprintf("%d in line, %d watch one node each", len(l.Queue), data)
}

// herdRelease draws the newest release: a diamond for each in line, lit for
// each that was woken.
func herdRelease(p pane, f Frame, l *journal.LockState, role theme.Role) {
	if len(l.Wakes) == 0 {
		p.fit(1, 0, p.r.W-2, "nobody has released yet", theme.Muted.Style())
		return
	}
	w := l.Wakes[len(l.Wakes)-1]
	p.fit(1, 0, p.r.W-2, fmt.Sprintf("release #%s: %s deleted", releaseNumber(l, len(l.Wakes)-1), path.Base(w.Node)), theme.Text.Style())
	n, _ := wakes(w)
	line := max(len(l.Queue), n)
	lit := min(herdLit(f, w, n), n)
	room := max((p.r.W-11)/2, 1)
	each := (line + room - 1) / room
	x := p.put(1, 1, "wakes    ", theme.Muted.Style())
	for i := 0; i < line; i += max(each, 1) {
		glyph, style := p.th.Glyph.Dot, theme.Muted.Style()
		if i < lit {
			glyph, style = p.th.Glyph.Fired, theme.Fired.Style()
		}
		x = p.put(x, 1, glyph, style) + 1
	}
	text := fmt.Sprintf("%d of %d re-read the queue", n, line)
	if each > 1 {
		p.put(1, 2, fmt.Sprintf("%s=%d", p.th.Glyph.Fired, each), theme.Muted.Style())
	}
	p.fit(10, 2, p.r.W-11, text, role.Style())
}

// herdSpread is the longest that the diamonds of one release take to light.
const herdSpread = 500 * time.Millisecond

// herdLit is how many diamonds are lit: in the order and at the pace in which
// the clients were woken, if that took longer than a moment.
func herdLit(f Frame, w journal.Wake, n int) int {
	if f.Clock != Live || n == 0 || f.Now.Sub(w.At) > herdSpread {
		return n
	}
	lit := 0
	for i := len(f.Trace.Messages) - 1; i >= 0 && !f.Trace.Messages[i].At.Before(w.At); i-- {
		m := f.Trace.Messages[i]
		if m.Type == journal.WatchEvent && !m.At.After(f.Now) && (m.Node == w.Node || m.Node == path.Dir(w.Node)) {
			lit++
		}
	}
	return lit
}

// HerdLights says whether diamonds may still light at now.
func HerdLights(s *journal.State, now time.Time) bool {
	left, right := HerdLocks(s)
	for _, l := range []*journal.LockState{left, right} {
		if l != nil && len(l.Wakes) > 0 && now.Sub(l.Wakes[len(l.Wakes)-1].At) < herdSpread {
			return true
		}
	}
	return false
}

// releaseNumber numbers the releases that are remembered; with the memory full,
// only their distance from the newest is known.
func releaseNumber(l *journal.LockState, i int) string {
	if len(l.Wakes) >= journal.MaxWakes {
		return strconv.Itoa(i-len(l.Wakes)+1) + " "
	}
	return strconv.Itoa(i + 1)
}

// herdChart draws a bar for each release, the newest at the bottom.
func herdChart(p pane, l *journal.LockState, most int, role theme.Role) {
	from := max(len(l.Wakes)-p.r.H, 0)
	digits := len(strconv.Itoa(most))
	w := max(p.r.W-9-digits, 1)
	for i := from; i < len(l.Wakes); i++ {
		n, server := wakes(l.Wakes[i])
		y := i - from
		p.put(1, y, "#"+releaseNumber(l, i), theme.Muted.Style())
		eighths := (n*w*8 + most - 1) / most
		x := solid(p, 6, y, eighths, role.Style())
		text := strconv.Itoa(n)
		if !server {
			text += "?"
		}
		p.put(x+1, y, text, theme.Text.Style().Bold())
	}
}

// solid draws so many eighths of a cell, with nothing behind them.
func solid(p pane, x, y, eighths int, s theme.Style) int {
	x = p.repeat(x, y, eighths/8, p.th.Glyph.Full, s)
	if part := eighths % 8; part > 0 {
		x = p.put(x, y, p.th.Glyph.Eighths[part], s)
	}
	return x
}

// herdTotals sums up the releases.
func herdTotals(p pane, f Frame, l *journal.LockState) {
	total, server := 0, true
	for _, w := range l.Wakes {
		n, by := wakes(w)
		total += n
		server = server && by
	}
	source := "server counter"
	if !server {
		source = "? seen on the wire only"
	}
	if len(l.Wakes) >= journal.MaxWakes {
		source += fmt.Sprintf(", last %d", journal.MaxWakes)
	}
	x := p.put(1, 0, "total ", theme.Text.Style())
	x = p.put(x, 0, strconv.Itoa(total), theme.Text.Style().Bold())
	p.fit(x+2, 0, p.r.W-x-3, "("+source+")", theme.Muted.Style())
	p.fit(1, 1, p.r.W-2, herdCost(f, l), theme.Muted.Style())
}

func kilobytes(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

// herdCost tells how many packets the queue cost since its beginning, heartbeats
// aside, and how long it has drained. A journal without counts of packets tells of
// the frames in it.
func herdCost(f Frame, l *journal.LockState) string {
	var cost []string
	switch p := l.Passed; {
	case p.Packets > 0:
		cost = append(cost, fmt.Sprintf("%d packets, %s", p.Packets, kilobytes(p.Bytes)))
	case !f.Now.Before(f.Trace.At): // of an earlier moment the number is not known
		cost = append(cost, fmt.Sprintf("%d frames", f.Trace.Traffic[l.Path].Frames()))
	}
	if n := len(l.Wakes); n > 1 {
		cost = append(cost, fmt.Sprintf("%d releases in %s", n, seconds(l.Wakes[n-1].At.Sub(l.Wakes[0].At))))
	}
	return strings.Join(cost, ", ")
}
