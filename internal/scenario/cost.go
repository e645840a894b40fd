package scenario

import (
	"fmt"
	"time"

	"zklab/internal/journal"
)

// marked is where counting begins: what there was when mark was said. The zero
// value is the beginning of all.
type marked struct {
	fired  journal.Fired
	passed map[string]journal.Passed // by the lock's path
	line   map[string]int            // how many stood in line
}

// mark has "fired" and "packets" count from now on. Who marks waits before that
// until the lines have settled.
func (r *Runner) mark() {
	s := r.state()
	r.marked = marked{fired: s.Counters, passed: map[string]journal.Passed{}, line: map[string]int{}}
	for _, l := range s.Locks {
		r.marked.passed[l.Path], r.marked.line[l.Path] = l.Passed, len(l.Queue)
	}
}

// wireSettled is how long after the last watch event the wire has told of all, where
// others use the servers too and the counters cannot say so.
const wireSettled = 500 * time.Millisecond

// watchesFired is how many watches a lock's contestants were sent since the mark.
// The server's counters are global; the relays tell of each lock. It is known when
// both agree on each kind of watch.
func watchesFired(r *Runner, s journal.State, lock string) (n int, known bool, why string) {
	if s.Counters.At.IsZero() {
		return 0, false, "the server does not tell its counters"
	}
	var child, node, of int64
	for _, l := range s.Locks {
		was := r.marked.passed[l.Path]
		child += l.Passed.ChildFired - was.ChildFired
		node += l.Passed.NodeFired - was.NodeFired
		if l.Path == lock {
			of = l.Passed.ChildFired - was.ChildFired + l.Passed.NodeFired - was.NodeFired
		}
	}
	children, nodes := s.Counters.Children-r.marked.fired.Children, s.Counters.Nodes-r.marked.fired.Nodes
	if s.Counters.Shared && children+nodes > float64(child+node) && s.Counters.At.Sub(r.watch.lastFired) > wireSettled {
		return int(of), true, "others use these servers too, so their counters cannot say"
	}
	if float64(child) != children || float64(node) != nodes {
		return int(of), false, fmt.Sprintf("the server has counted %.0f child watches and %.0f others, %d and %d events passed on the wire", children, nodes, child, node)
	}
	return int(of), true, ""
}

func fired(r *Runner, s journal.State, lock string) (int, bool, string) {
	n, known, why := watchesFired(r, s, lock)
	if !known {
		return n, false, why
	}
	by := "by the server's counters, and by the wire"
	if why != "" {
		by = "by the wire; " + why
	}
	is := fmt.Sprintf("%s fired %s %s", count(releases(r, s, lock), "release", "releases"), count(n, "watch", "watches"), by)
	_, _, cost := packets(r, s, lock)
	return n, true, is + "; " + cost
}

// packets is what passed on the wire since the mark, and how long the line took
// to drain.
func packets(r *Runner, s journal.State, lock string) (int, bool, string) {
	l, _ := s.Lock(lock)
	was := r.marked.passed[lock]
	n := int(l.Passed.Packets - was.Packets)
	is := fmt.Sprintf("%s, %s", count(n, "packet", "packets"), size(l.Passed.Bytes-was.Bytes))
	if d, ok := r.drained[lock]; ok {
		is += "; " + d.String()
	}
	return n, true, is
}

// releases counts who has left the line since the mark. Nobody has joined since.
func releases(r *Runner, s journal.State, lock string) int {
	l, _ := s.Lock(lock)
	return max(r.marked.line[lock]-len(l.Queue), 0)
}

// woken is how many watches one release may fire, however long the line is. Who
// waits by the library's mutex watches its own node and the two in front of it: so
// the next in line is told, the one behind that, which need not list the line again
// when it moves up, and whoever released.
func woken(recipe string) int {
	if recipe == "mutex" {
		return 3
	}
	return 1
}

func fewWakes(_ *Runner, s journal.State, lock string) int {
	l, _ := s.Lock(lock)
	return woken(l.Recipe)
}

func fewFired(r *Runner, s journal.State, lock string) int {
	l, _ := s.Lock(lock)
	return woken(l.Recipe) * releases(r, s, lock)
}

func size(bytes int64) string {
	switch {
	case bytes >= 10_000_000:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	case bytes >= 10_000:
		return fmt.Sprintf("%d kB", bytes/1_000)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
