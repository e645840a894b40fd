package view

import (
	"fmt"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/theme"
	"zklab/tui/trace"
)

// Clock says how the moment that is shown relates to the present.
type Clock int

// The clocks.
const (
	Live Clock = iota
	Paused
	Replay
	Timeless // nothing that has a time is shown
)

// Frame is what every page is drawn from. A page reads it and changes nothing.
type Frame struct {
	Page    string // its name, for the header
	Address string // of the servers
	State   journal.State
	Now     time.Time // the moment shown
	Clock   Clock
	Speed   float64 // of a replay; 0 and 1: as it was
	Calm    bool    // nothing moves: times are shown coarsely, so that nothing needs redrawing

	Lock     string // path of the lock shown
	Selected string // node or name of the contestant that the keys act on
	Lines    []Line // what was told until Now, newest last
	Keys     Keys
	Notice   string // a failure to tell at once
	Steps    *Steps // narration of a scenario; nil without one
	Motion   Motion
	Trace    trace.Trace
	Big      bool  // for a projector: fewer things, more space
	Menu     *Menu // over the page; nil: none
	Reel     *Reel // a recorded journal; nil when live
}

// orLost is what there is to say of nothing: that nothing was, or, where it may have
// been and is forgotten, that.
func (f Frame) orLost(nothing string, lost time.Time) string {
	if lost.IsZero() {
		return nothing
	}
	return fmt.Sprintf("what was until t+%.1fs is not kept", lost.Sub(f.State.Start).Seconds())
}

// Reel is where in a recorded journal the moment shown is.
type Reel struct {
	Start, End time.Time
	Marks      []time.Time
	Mark       string // the words of the last mark before the moment
}

// Line is one line of the event pane: who did what, in words.
type Line struct {
	At   time.Time
	Who  string // a contestant, or "server", "lab"
	Text string
	Role theme.Role
	Same bool // of the event in the line before: it goes on
}

// Key is one entry of the key line.
type Key struct{ Key, Does string }

// Keys are those that work now: what acts on the page, and what always stands
// at the right. The first matter most: the last are left out on a narrow screen.
type Keys struct{ Page, Always []Key }

// Motion is what moves at this moment.
type Motion struct {
	Gone  []Ghost         // rows that left, still shown
	Fires []Fire          // watches that fire
	Fresh map[string]bool // nodes that hold since a moment
}

// Ghost is a place that has left its queue.
type Ghost struct {
	Place  journal.Place
	Phase  journal.Phase
	Struck bool // the second of its two pictures
}

// Fire is a watch event on its way from a deleted node to its watcher.
type Fire struct {
	From, To string  // names of the nodes
	At       float64 // 0 at the deleted node, 1 at the watcher
	Landed   bool    // it has arrived
}

// stack lays out a stacked page with a foot of n rows.
func (f Frame) stack(w, h, foot int) layout.Stack {
	if f.Big {
		return layout.BigStackPage(w, h, stepRows(f, w), foot)
	}
	return layout.StackPage(w, h, stepRows(f, w), foot)
}

// page starts a page: header, key line and narration are drawn, the body is
// left to the caller.
func page(f Frame, w, h int, th theme.Theme, at layout.Frame) *canvas {
	c := newCanvas(w, h, th)
	header(c.pane(at.Header), f)
	keyLine(c.pane(at.Keys), f)
	if f.Steps != nil {
		steps(c.pane(at.Steps), f.narration())
	}
	return c
}

func header(p pane, f Frame) {
	g, muted := p.th.Glyph, theme.Muted.Style()
	x := p.put(1, 0, "zklab", theme.Text.Style().Bold())
	left := p.put(x+3, 0, g.Here+" ", muted)
	end := p.r.W - 1
	if f.Address != "" && p.r.W >= 76 {
		address := shortAddress(f.Address, max(p.r.W/4, 16), g.Ellipsis)
		p.right(end, 0, address, muted)
		end -= width(address) + 3
	}
	if f.Clock == Timeless {
		p.fit(left, 0, end-left-1, f.Page, theme.Text.Style().Bold())
		p.rule(1, "")
		return
	}
	stamp := "t" + since(f)
	if f.State.Start.IsZero() {
		stamp = ""
	}
	p.right(end, 0, stamp, theme.Text.Style())
	end -= max(width(stamp), 8) + 3
	glyph, word, style := clock(f, g)
	end -= width(word) + 2
	p.put(end, 0, glyph+" "+word, style)
	p.fit(left, 0, end-left-1, f.Page, theme.Text.Style().Bold())
	p.rule(1, "")
}

// shortAddress is the address of a server, or of several: in full, or the first one and
// how many more there are.
func shortAddress(address string, w int, ellipsis string) string {
	if first, rest, several := strings.Cut(address, ","); several && width(address) > w {
		more := fmt.Sprintf(" +%d", strings.Count(rest, ",")+1)
		return shorten(first, w-width(more), ellipsis) + more
	}
	return shorten(address, w, ellipsis)
}

func clock(f Frame, g theme.Glyphs) (glyph, word string, s theme.Style) {
	switch f.Clock {
	case Paused:
		return g.Paused, "paused", theme.Waits.Style()
	case Replay:
		word = "replay"
		if f.Speed != 0 && f.Speed != 1 {
			word = fmt.Sprintf("replay %gx", f.Speed)
		}
		return g.Replay, word, theme.Waits.Style()
	default:
		return g.Live, "live", theme.Reader.Style()
	}
}

// since tells the time since the first event: in tenths when the picture stands
// still or moves, in whole seconds when it is calm.
func since(f Frame) string {
	d := f.Now.Sub(f.State.Start)
	if f.Calm {
		return fmt.Sprintf("+%ds", int(d.Seconds()))
	}
	return fmt.Sprintf("+%.1fs", d.Seconds())
}

func keyLine(p pane, f Frame) {
	p.rule(0, "")
	if f.Reel != nil {
		reel(p, f)
	}
	if f.Notice != "" {
		p.fit(1, 0, p.r.W-2, " "+p.th.Glyph.Killed+" "+f.Notice+" ", theme.Dead.Style().Bold())
	}
	tail := 1
	for _, k := range f.Keys.Always {
		tail += width(k.Key) + width(k.Does) + 3
	}
	x := 1
	for _, k := range f.Keys.Page {
		need := width(p.th.Twin(k.Key)) + 1 + width(k.Does)
		if x+need > p.r.W-tail {
			break
		}
		x = key(p, x, k) + 2
	}
	x = p.r.W - tail + 1
	for _, k := range f.Keys.Always {
		x = key(p, x, k) + 2
	}
}

// reel draws the way through a recorded journal on the key line's rule.
func reel(p pane, f Frame) {
	r, g := f.Reel, p.th.Glyph
	of := r.End.Sub(r.Start)
	label := fmt.Sprintf(" %.1f of %.1f s ", f.Now.Sub(r.Start).Seconds(), of.Seconds())
	if f.Speed != 0 && f.Speed != 1 {
		label += fmt.Sprintf("at %gx ", f.Speed)
	}
	x := p.put(1, 0, label, theme.Text.Style().Bold())
	mark := ""
	if r.Mark != "" {
		mark = " " + shorten(r.Mark, max(p.r.W/3, 8), g.Ellipsis) + " "
	}
	a := axis{from: r.Start, to: r.End, x: x, w: max(p.r.W-x-width(mark)-2, 1)}
	if of <= 0 {
		return
	}
	p.repeat(x, 0, a.column(f.Now)-x+1, g.Wire, theme.Waits.Style())
	for _, m := range r.Marks {
		p.put(a.column(m), 0, g.Fired, theme.Fired.Style())
	}
	p.put(a.column(f.Now), 0, g.Full, theme.Text.Style().Bold())
	p.put(p.r.W-width(mark)-1, 0, mark, theme.Muted.Style())
}

func key(p pane, x int, k Key) int {
	x = p.put(x, 1, p.th.Twin(k.Key), theme.Text.Style().Bold())
	if k.Does == "" {
		return x
	}
	return p.put(x+1, 1, k.Does, theme.Muted.Style())
}

// shortPath cuts the middle out of a path: its end says which lock it is, and its
// beginning whose.
func shortPath(path string, w int, ellipsis string) string {
	if width(path) <= w {
		return path
	}
	end := strings.LastIndexByte(path, '/')
	if before := strings.LastIndexByte(path[:max(end, 0)], '/'); before > 0 && width(path[before:]) < w-2*width(ellipsis) {
		end = before
	}
	if end <= 0 || width(path[end:]) > w-2*width(ellipsis) {
		return shorten(path, w, ellipsis)
	}
	return shorten(path[:end], w-width(path[end:]), ellipsis) + path[end:]
}

// shorten cuts text to w cells.
func shorten(text string, w int, ellipsis string) string {
	if width(text) <= w {
		return text
	}
	cut := text
	for width(cut) > w-width(ellipsis) && cut != "" {
		cut = cut[:len(cut)-1]
	}
	return strings.ToValidUTF8(cut, "") + ellipsis
}
