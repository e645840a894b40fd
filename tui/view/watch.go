package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"zklab/internal/attach"
	"zklab/internal/recipe"
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Watched is what the watch page shows: the newest reading of a lock path, and
// why there is no newer one.
type Watched struct {
	Reading attach.Reading
	Failure string   // of the newest attempt to read; empty when it went well
	Top     int      // first place shown
	Cost    string   // what looking costs the servers, in words
	Held    string   // how long the one holder has been the same, in words
	Gone    []string // whose connection has gone while its node is there, in words
}

// Watch draws a lock path of any ZooKeeper, read-only.
func Watch(f Frame, v Watched, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	notes := watchNotes(v, w-4)
	f.Steps = nil
	at := f.stack(w, h, min(len(notes)+1, 8)) // the foot's rule tells the cost
	c := page(f, w, h, th, at.Frame)
	p := c.pane(at.Main).spread(f.Big, 3)
	watchInfo(c.pane(at.Info), v, p.r.H-1)
	if len(v.Reading.Locks) > 0 {
		folder(p, v)
	} else {
		contenders(p, v)
	}
	foot := c.pane(at.Foot)
	foot.rule(0, "")
	if v.Cost != "" {
		foot.right(w-2, 0, " "+v.Cost+"; no watch is set ", theme.Muted.Style())
	}
	for i, n := range notes {
		foot.fit(1, 1+i, w-2, n.text, n.role.Style())
	}
	if !at.Events.Empty() {
		watchEvents(c.pane(at.Events), f)
	}
	return c.done(f)
}

// watchEvents draws the event pane with each line in full: what became of a node
// stands behind its long name.
func watchEvents(p pane, f Frame) {
	if len(f.Lines) == 0 {
		events(p, f)
		p.fit(1, 1, p.r.W-2, "nothing has changed since the first look", theme.Muted.Style())
		return
	}
	var all []Line
	for _, l := range f.Lines[max(len(f.Lines)-max(p.r.H, 0), 0):] {
		for _, part := range wrap(l.Text, p.r.W-eventText-1) {
			l.Text = part
			all = append(all, l)
			l.Who, l.Same = "", true
		}
	}
	f.Lines = all
	events(p, f)
}

type note struct {
	text string
	role theme.Role
}

// watchNotes are the warnings, the holder in full where columns were left out, the
// foreign children, and what could not be read.
func watchNotes(v Watched, w int) []note {
	r := v.Reading
	var out []note
	add := func(text string, role theme.Role) {
		for _, l := range wrap(text, w) {
			out = append(out, note{l, role})
		}
	}
	for _, warning := range r.Warnings {
		add("WARNING: "+warning, theme.Dead)
	}
	for _, gone := range v.Gone {
		add(gone, theme.Dead)
	}
	if text := inFull(r); text != "" && w < allWatchColumns() {
		add(text, theme.Text)
	}
	if n := len(r.Foreign); n > 0 {
		few := r.Foreign[:min(n, 4)]
		text := fmt.Sprintf("%s, not in line: %s", plural(n, "foreign child", "foreign children"), strings.Join(few, ", "))
		if n > len(few) {
			text += fmt.Sprintf(" and %d more", n-len(few))
		}
		add(text, theme.Muted)
	}
	for _, n := range r.Notes {
		add("note: "+n, theme.Muted)
	}
	return out
}

func watchInfo(p pane, v Watched, rows int) {
	r := v.Reading
	text, role := fmt.Sprintf("%s   %d in line   read-only", r.Kind, len(r.Places)), theme.Text
	if v.Held != "" {
		text = fmt.Sprintf("%s   %d in line   %s   read-only", r.Kind, len(r.Places), v.Held)
	}
	switch {
	case v.Failure != "":
		text, role = "no answer: "+v.Failure, theme.Dead
	case r.At.IsZero():
		text, role = "reading", theme.Muted
	case !r.Exists:
		text, role = "no such node", theme.Muted
	case len(r.Locks) > 0:
		text = plural(len(r.Locks), "lock", "locks") + " below it   read-only"
	case len(r.Places) == 0:
		text = "nobody holds, nobody waits   read-only"
	}
	path := shortPath(r.Path, max(p.r.W/2, 12), p.th.Glyph.Ellipsis)
	x := p.put(1, 0, path, theme.Text.Style().Bold())
	n := max(len(r.Places), len(r.Locks))
	if n > rows && v.Failure == "" && rows > 0 {
		top := min(v.Top, n-rows)
		where := fmt.Sprintf("%s %d-%d of %d", p.th.Glyph.Down, top+1, top+rows, n)
		p.right(p.r.W-1, 0, where, theme.Muted.Style())
		p = p.sub(0, 0, p.r.W-width(where)-1, 1)
	}
	p.fit(x+3, 0, p.r.W-x-4, text, role.Style())
}

// watchColumns are drawn while there is room for them, in this order. The last one
// takes what is left of the width.
var watchColumns = []struct {
	title string
	w     int
	cell  func(r attach.Reading, p attach.Place) string
}{
	{"WAITS FOR", 18, func(r attach.Reading, p attach.Place) string { return awaits(r, p) }},
	{"IN LINE", 7, func(r attach.Reading, p attach.Place) string {
		if p.Denied {
			return "-"
		}
		return Age(r.At.Sub(p.Since))
	}},
	{"HOST", 21, func(_ attach.Reading, p attach.Place) string { return p.Host }},
	{"SESSION", 7, func(_ attach.Reading, p attach.Place) string {
		if p.Denied {
			return "-"
		}
		return fmt.Sprintf("…%05x", uint64(p.Session)&0xfffff)
	}},
	{"TIMEOUT", 7, func(_ attach.Reading, p attach.Place) string { return timeout(p) }},
	{"LIBRARY", 12, func(_ attach.Reading, p attach.Place) string { return string(p.Family) }},
	{"DATA", 12, func(_ attach.Reading, p attach.Place) string { return p.Data }},
}

// firstWatchColumn is where they begin: after the state and the number.
const firstWatchColumn = 28

// allWatchColumns is the width from which none is left out.
func allWatchColumns() int {
	w := firstWatchColumn
	for _, c := range watchColumns {
		w += c.w + 2
	}
	return w
}

func timeout(p attach.Place) string {
	if p.Timeout == 0 {
		return ""
	}
	return p.Timeout.String()
}

// inFull tells everything of the first holder, for a screen that has no room for
// all columns.
func inFull(r attach.Reading) string {
	hold := r.Holders()
	if len(hold) == 0 {
		return ""
	}
	p := hold[0]
	if p.Denied {
		return p.Node + " holds: its node is not ours to read"
	}
	text := fmt.Sprintf("%s holds: session 0x%x", p.Node, uint64(p.Session))
	for _, more := range []struct{ name, value string }{{"timeout", timeout(p)}, {"library", string(p.Family)}, {"data", p.Data}} {
		if more.value != "" {
			text += ", " + more.name + " " + more.value
		}
	}
	return text
}

func contenders(p pane, v Watched) {
	r, g, muted := v.Reading, p.th.Glyph, theme.Muted.Style()
	p.put(3, 0, "STATE", muted)
	p.right(26, 0, "SEQ", muted)
	rows := p.r.H - 1
	top := min(v.Top, max(len(r.Places)-rows, 0))
	for i := top; i < len(r.Places) && i-top < rows; i++ {
		place, y := r.Places[i], 1+i-top
		glyph, word, style := g.Waits, "waits", theme.Waits.Style()
		if place.Holds {
			glyph, word, style = g.Holds, "HOLDS", theme.Holds.Style().Bold()
		}
		seq := "-"
		if place.Seq >= 0 {
			seq = strconv.FormatInt(place.Seq, 10)
		}
		if place.Intent != recipe.Exclusive {
			word += " " + string(place.Intent)
		}
		p.fit(1, y, 14, glyph+" "+word, style)
		p.right(26, y, seq, theme.Text.Style())
	}
	x := firstWatchColumn
	for n, c := range watchColumns {
		if x+c.w > p.r.W-1 {
			break
		}
		if n == len(watchColumns)-1 {
			c.w = p.r.W - 1 - x
		}
		p.fit(x, 0, c.w, c.title, muted)
		for i := top; i < len(r.Places) && i-top < rows; i++ {
			p.fit(x, 1+i-top, c.w, p.th.Twin(c.cell(r, r.Places[i])), theme.Text.Style())
		}
		x += c.w + 2
	}
}

// awaits says whom a contender waits for: what the server lists as watched, or
// what the rule says, marked as inferred. The list is read more seldom than the line:
// a holder's watch of one that has gone has fired.
func awaits(r attach.Reading, p attach.Place) string {
	there := func(node string) bool {
		return slices.ContainsFunc(r.Places, func(o attach.Place) bool { return o.Node == node })
	}
	switch {
	case p.Holds && !slices.ContainsFunc(p.Watches, there):
		return "-"
	case p.Observed && len(p.Watches) > 0:
		short := make([]string, len(p.Watches))
		for i, w := range p.Watches {
			short[i] = seqOf(w)
		}
		return "▲ " + strings.Join(short, ", ")
	case p.WaitsFor == "":
		return "a free lease"
	case p.Observed:
		return seqOf(p.WaitsFor) + " (no data watch)"
	}
	return seqOf(p.WaitsFor) + " (inferred)"
}

// Age says how long ago something was, coarsely.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// folder lists the locks below a path.
func folder(p pane, v Watched) {
	muted := theme.Muted.Style()
	half := max(p.r.W/2-4, 12)
	p.put(3, 0, "LOCK", muted)
	p.put(half, 0, "KIND", muted)
	p.put(half+12, 0, "IN LINE", muted)
	p.put(half+22, 0, "HOLDER", muted)
	rows := p.r.H - 1
	top := min(v.Top, max(len(v.Reading.Locks)-rows, 0))
	for i := top; i < len(v.Reading.Locks) && i-top < rows; i++ {
		l, y := v.Reading.Locks[i], 1+i-top
		if l.Holder != "" {
			p.put(1, y, p.th.Glyph.Holds, theme.Holds.Style().Bold())
		}
		p.fit(3, y, half-4, l.Name, theme.Text.Style().Bold())
		p.fit(half, y, 11, string(l.Kind), theme.Text.Style())
		p.right(half+19, y, strconv.Itoa(l.Length), theme.Text.Style())
		p.fit(half+22, y, p.r.W-half-23, l.Holder, theme.Text.Style())
	}
}
