// Package plain says events in words, one line each. The lines are what
// --plain prints, what a screen reader reads, and what an event pane shows.
package plain

import (
	"fmt"
	"path"
	"strings"
	"time"

	"zklab/internal/journal"
)

// Line is one event in words.
type Line struct {
	Seq   int64
	At    time.Time
	Actor string // who did or saw it: a contestant, server, lab
	Text  string
}

// String gives the line with its time since start:
//
//   - 4.078 s  server  session 0x..e0005 expired
func (l Line) String(start time.Time) string {
	return fmt.Sprintf("+%7.3f s  %-7s %s", l.At.Sub(start).Seconds(), l.Actor, l.Text)
}

// Detail says how much a Printer tells.
type Detail int

// The details.
const (
	Story  Detail = iota // what changes somebody's standing
	Frames               // every request, reply and heartbeat as well
)

// Printer turns events into lines. What some events mean depends on those
// before (whose session that was, which release fired the watches), so it sees
// all of them, in order. Its lines depend on nothing else. It is not safe for
// concurrent use.
type Printer struct {
	detail  Detail
	fold    *journal.Folder
	now     journal.State
	told    map[string]int // watch events told, by node
	counted time.Time      // the last reading of the counters
}

// New returns a Printer that has seen nothing.
func New(d Detail) *Printer {
	return &Printer{detail: d, fold: journal.NewFolder(), told: map[string]int{}}
}

// Lines takes the next event and returns what there is to say: often nothing,
// mostly one line, several for a queue in which more than one thing changed.
func (p *Printer) Lines(e *journal.Event) []Line {
	before := p.now
	p.fold.Apply(e)
	if stateful(e.Type) {
		p.now = p.fold.State(e.At)
	}
	var texts []string
	switch e.Type {
	case journal.Queue:
		texts = p.queue(e, before)
	case journal.Counters:
		texts = p.counters(e)
	default:
		if text := p.one(e, before); text != "" {
			texts = []string{text}
		}
	}
	lines := make([]Line, len(texts))
	for i, text := range texts {
		lines[i] = Line{Seq: e.Seq, At: e.At, Actor: oneLine(actor(e)), Text: oneLine(text)}
	}
	return lines
}

// stateful names the types after which a line may need a new state.
func stateful(t journal.Type) bool {
	switch t {
	case journal.Queue, journal.Counters, journal.Joined, journal.Started, journal.SessionOpen, journal.ConnClosed, journal.Exited, journal.Belief, journal.Signal:
		return true
	}
	return false
}

func actor(e *journal.Event) string {
	switch {
	case e.By == journal.Server || e.Type == journal.WatchEvent:
		return "server"
	case e.By == journal.Lab || e.Who == "":
		return "lab"
	default:
		return e.Who
	}
}

// oneLine keeps text that came from elsewhere on its line and harmless to a
// terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// Session shortens a session id to its telling end: 0x..e0005.
func Session(s journal.SessionID) string {
	hex := fmt.Sprintf("%x", uint64(s))
	if len(hex) <= 6 {
		return "0x" + hex
	}
	return "0x.." + hex[len(hex)-5:]
}

// Node shortens a node's path to its name, and a GUID in that to its beginning:
// _c_9399..-lock-0000000001.
func Node(node string) string {
	if node == "" {
		return "?"
	}
	name := path.Base(node)
	guid, protected := strings.CutPrefix(name, "_c_")
	const uuid, hex, keep = 36, 32, 4
	for _, n := range []int{uuid, hex} {
		if protected && len(guid) > n && guid[n] == '-' {
			return "_c_" + guid[:keep] + ".." + guid[n:]
		}
	}
	return name
}

// seconds says a duration as people do, to the millisecond.
func seconds(d time.Duration) string {
	text := fmt.Sprintf("%.3f", d.Seconds())
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " s"
}

// list names a few and counts the rest.
func list(who []string) string {
	const few = 4
	if len(who) <= few+1 {
		return strings.Join(who, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(who[:few], ", "), len(who)-few)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
