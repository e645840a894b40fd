package view

import (
	"fmt"
	"path"
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
	herdSide(c.pane(at.Left), f, orEmpty(left, "naive"), most)
	herdSide(c.pane(at.Right), f, orEmpty(right, "mini"), most)
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

// orEmpty is the lock, or while it is not there one where nobody stands.
func orEmpty(l *journal.LockState, recipe string) *journal.LockState {
	if l == nil {
		return &journal.LockState{Recipe: recipe}
	}
	return l
}

func herdSide(p pane, f Frame, l *journal.LockState, most int) {
	title, role := strings.ToUpper(l.Recipe)+": watch your predecessor", theme.Waits
	if l.Recipe == "naive" {
		title, role = "NAIVE: watch the parent", theme.Dead
	}
	if f.Big {
		herdBig(p, f, l, most, title, role)
		return
	}
	p.fit(1, 0, p.r.W-2, title, role.Style().Bold())
	if len(l.Queue) == 0 && len(l.Wakes) == 0 {
		text := "nobody is in line yet"
		if l.Path == "" {
			text = "no lock here yet"
		}
		p.fit(1, 1, p.r.W-2, text, theme.Muted.Style())
		return
	}
	p.fit(1, 1, p.r.W-2, herdWatches(l), theme.Text.Style())
	gap := 1
	if p.r.H < herdGapsFrom {
		gap = 0
	}
	herdRelease(p.sub(0, 2+gap, p.r.W, 3), f, l, role)
	y := 5 + 2*gap
	p.rule(y, "watches fired, per release")
	herdChart(p.sub(0, y+1, p.r.W, p.r.H-y-3), l, most, role)
	herdTotals(p.sub(0, p.r.H-2, p.r.W, 2), f, l)
}

// herdGapsFrom is from how many rows a side is spaced: below that bars are worth more.
const herdGapsFrom = 16

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
	if child > data || l.Recipe == "naive" && child == data {
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
	p.fit(1, 0, p.r.W-2, fmt.Sprintf("%s: %s deleted", releaseTitle(l, len(l.Wakes)-1), path.Base(w.Node)), theme.Text.Style())
	n, _ := wakes(w)
	line := max(len(l.Queue), n)
	lit := min(herdLit(f, w, n), n)
	room := max((p.r.W-11)/2, 1)
	each := (line + room - 1) / room
	x := 10
	for i := 0; i < line; i += max(each, 1) {
		glyph, style := p.th.Glyph.Dot, theme.Muted.Style()
		if i < lit {
			glyph, style = p.th.Glyph.Fired, theme.Fired.Style()
		}
		x = p.put(x, 1, glyph, style) + 1
	}
	text := fmt.Sprintf("%d of %d re-read the queue", n, line)
	if line == 0 {
		p.fit(1, 1, p.r.W-2, "nobody was left to wake", theme.Muted.Style())
		return
	}
	if each > 1 {
		p.put(1, 2, fmt.Sprintf("%s=%d", p.th.Glyph.Fired, each), theme.Muted.Style())
	}
	p.put(1, 1, "wakes", theme.Muted.Style())
	p.fit(10, 2, p.r.W-11, text, role.Style())
}

func releaseTitle(l *journal.LockState, i int) string {
	if n := releaseNumber(l, i); strings.HasPrefix(n, "#") {
		return "release " + n
	}
	return "last release"
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
