package view

import (
	"path"
	"strconv"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/internal/recipe"
	"zklab/tui/theme"
)

// row is one line of the queue's table: a place in the queue, the ghost of one,
// or a contestant that is in no queue but matters.
type row struct {
	place   journal.Place
	c       *journal.ContestantState // nil for a stranger
	ghost   *Ghost
	outside bool   // the server has no node of it
	above   string // the node of the row above, empty for the first
}

// id is what selects the row.
func (r row) id() string {
	if r.place.Who != "" {
		return r.place.Who
	}
	return r.place.Node.Name
}

// table is everything the queue's table shows of a frame.
type table struct {
	rows []row
	at   map[string]int // node name to row
	lock journal.LockState
}

func newTable(f Frame) table {
	lock, _ := f.State.Lock(f.Lock)
	t := table{lock: lock, at: make(map[string]int, len(lock.Queue))}
	who := make(map[string]*journal.ContestantState, len(f.State.Contestants))
	for i := range f.State.Contestants {
		c := &f.State.Contestants[i]
		who[c.Who] = c
	}
	t.rows = make([]row, 0, len(lock.Queue)+len(f.Motion.Gone))
	gone := f.Motion.Gone
	above := ""
	for _, p := range lock.Queue {
		for len(gone) > 0 && before(gone[0].Place, p) {
			t.add(row{place: gone[0].Place, c: who[gone[0].Place.Who], ghost: &gone[0]})
			gone = gone[1:]
		}
		t.add(row{place: p, c: who[p.Who], above: above})
		above = p.Node.Name
	}
	for i := range gone {
		t.add(row{place: gone[i].Place, c: who[gone[i].Place.Who], ghost: &gone[i]})
	}
	for i := range f.State.Contestants {
		c := &f.State.Contestants[i]
		if from, stray := StrayFrom(*c); c.Lock == f.Lock && stray && !f.Now.Before(from) {
			p := journal.Place{Seq: -1, Who: c.Who, Session: c.Session, Deadline: c.Deadline, Timeout: c.Timeout}
			t.add(row{place: p, c: c, outside: true})
		}
	}
	return t
}

func (t *table) add(r row) {
	if r.place.Node.Name != "" {
		t.at[r.place.Node.Name] = len(t.rows)
	}
	t.rows = append(t.rows, r)
}

// before says whether a ghost stood in line before p.
func before(ghost, p journal.Place) bool {
	if ghost.Seq >= 0 && p.Seq >= 0 && ghost.Seq != p.Seq {
		return ghost.Seq < p.Seq
	}
	return ghost.Node.Czxid < p.Node.Czxid
}

// unread is how long a belief may be ahead of the server's reading: a process tells of
// its grant at once, the queue is read when that has passed on the wire.
const unread = 300 * time.Millisecond

// StrayFrom says from when on a contestant without a node at the server must be shown all
// the same: it believes that it still has a part in the lock, or it is stopped and will
// believe so when it wakes. A grant that the server has not been asked about yet is
// none, unless the node was seen to go since.
func StrayFrom(c journal.ContestantState) (from time.Time, stray bool) {
	if c.Node != "" || c.Phase == journal.Killed || c.Phase == journal.Gone {
		return time.Time{}, false
	}
	switch {
	case c.Phase == journal.Stopped, c.Belief == journal.Suspended:
		return time.Time{}, true
	case c.Belief == journal.Holds && c.NodeGone.After(c.BeliefAt):
		return c.NodeGone, true
	case c.Belief == journal.Holds:
		return c.BeliefAt.Add(unread), true
	}
	return time.Time{}, false
}

// state tells in glyph, word and role what has become of a row.
func (r row) state(g theme.Glyphs, fired bool) (glyph, word string, s theme.Style) {
	c := r.c
	if c == nil {
		c = &journal.ContestantState{}
	}
	switch {
	case r.ghost != nil && r.ghost.Phase == journal.Killed:
		return g.Killed, "gone: expired", theme.Dead.Style()
	case r.ghost != nil:
		return g.Killed, "gone", theme.Muted.Style()
	case c.Phase == journal.Killed:
		return g.Killed, "KILLED", theme.Dead.Style()
	case c.Phase == journal.Gone:
		return g.Killed, "ended", theme.Dead.Style()
	case r.outside && c.Belief == journal.Holds && c.Phase == journal.Stopped:
		return g.Stopped, "thinks HOLDS", theme.Dead.Style()
	case r.outside && c.Belief == journal.Holds:
		return g.Killed, "thinks HOLDS", theme.Dead.Style().Bold()
	case c.Phase == journal.Stopped:
		return g.Stopped, "STOPPED", theme.Dead.Style()
	case len(c.Faults) > 0:
		return g.Cut, faultWord(c.Faults), theme.Dead.Style()
	case r.place.Holds:
		return r.holds(g, c)
	case fired:
		return g.Fired, "fired", theme.Fired.Style()
	}
	return r.waits(g, c)
}

// faultWord says in a word what is wrong with a network, the worst first.
func faultWord(faults []string) string {
	for _, f := range []struct{ fault, word string }{
		{"cut", "CUT"}, {"refuse", "CUT"}, {"blackhole", "BLACK HOLE"}, {"delay", "SLOW"},
		{"drop-reply", "REPLY LOST"}, {"fail-write", "WRITE FAILS"},
	} {
		for _, have := range faults {
			if strings.HasPrefix(have, f.fault) {
				return f.word
			}
		}
	}
	return strings.ToUpper(faults[0])
}

func (r row) holds(g theme.Glyphs, c *journal.ContestantState) (glyph, word string, s theme.Style) {
	word = "HOLDS 0x" + strconv.FormatInt(r.place.Node.Czxid, 16)
	switch c.Belief {
	case journal.Suspended:
		word = "HOLDS, unsure"
	case journal.Lost:
		word = "HOLDS, thinks lost"
	}
	return g.Holds, word, theme.Holds.Style().Bold()
}

func (r row) waits(g theme.Glyphs, c *journal.ContestantState) (glyph, word string, s theme.Style) {
	switch c.Belief {
	case journal.Holds:
		return g.Killed, "thinks HOLDS", theme.Dead.Style().Bold()
	case journal.Suspended:
		return g.Waits, "unsure", theme.Dead.Style()
	case journal.Lost:
		return g.Killed, "lost", theme.Dead.Style()
	case journal.Failed:
		return g.Killed, "failed", theme.Dead.Style()
	case journal.Released:
		return g.Waits, "leaving", theme.Waits.Style()
	}
	return g.Waits, "waiting", theme.Waits.Style()
}

// watch tells what a row watches: in words, and where an arrow must point.
type watch struct {
	text string
	node string // the watched node's name; empty for a parent or nothing
	more int    // data watches beside that one, but for the row's own node
	far  bool   // not the row above: it is drawn as a bracket
	bad  bool   // far, and not what the recipe's rule says: a gap in the line
	none bool
}

// watch picks, of several data watches, the one of the nearest node in front of
// the row: that one is its place in line. A watch of its own node points nowhere,
// and neither does one of a lock that the recipe has inside, as a semaphore's.
func (r row) watch(t table) watch {
	var parent bool
	var nearest, inside string
	best, watched := -2, 0
	here, queued := t.at[r.place.Node.Name]
	for _, w := range r.place.Watches {
		name := strings.TrimPrefix(w.Node, t.lock.Path+"/")
		switch {
		case w.Kind == journal.ChildWatch:
			parent = true
			continue
		case w.Node == t.lock.Path:
			name = recipe.Itself
		case name == r.place.Node.Name:
			continue
		}
		at, known := t.at[name]
		if !known && strings.Contains(name, "/") {
			inside = "lock " + seqOf(path.Base(name))
			continue
		}
		watched++
		if !known || queued && at > here {
			at = -1
		}
		if at > best {
			best, nearest = at, name
		}
	}
	switch {
	case watched > 0:
		far := nearest != r.above
		return watch{text: seqOf(nearest), node: nearest, more: watched - 1, far: far, bad: far && nearest != r.place.WaitsFor}
	case parent:
		return watch{text: "parent"}
	case inside != "":
		return watch{text: inside}
	}
	return watch{none: true}
}

// words is a watch in at most w cells; what does not fit of the sign for further
// watches is left out.
func (w watch) words(g theme.Glyphs, cells int) string {
	text := g.Waits + " " + w.text
	if w.more == 0 {
		return text
	}
	for _, sign := range []string{" +" + strconv.Itoa(w.more), "+"} {
		if width(text+sign) <= cells {
			return text + sign
		}
	}
	return text
}

// seqOf shortens a node's name to what tells it apart.
func seqOf(name string) string {
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	short := strings.TrimLeft(name[digits:], "0")
	switch {
	case digits == len(name):
		return name
	case short == "":
		return "0"
	}
	return short
}
