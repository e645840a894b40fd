package journal

import (
	"slices"
	"strings"
	"time"

	"zklab/internal/recipe"
)

// A release is the end of a node that held its lock, by delete or by the end of
// its session. Three observers report it, in any order: the delete's frames, the
// watch events that it fired, and the next reading of the queue. The first one
// opens the Wake; the others add to it. The server's counters are global, so
// they are given to a release only where the reading before it and the reading
// after it enclose nothing else that fired a watch.

// wake is a Wake and the moment at which it was certain.
type wake struct {
	Wake
	opened time.Time
	child  int // of the Events: those of child watches
}

// lateEvents is how long watch events that the server has counted may take to
// pass the relays, on a machine that is busy with a herd, before the wire is taken
// to have lost them.
const lateEvents = 10 * time.Second

// wokenMemory is how many counted releases a lock remembers to not count twice.
const wokenMemory = 16

// deleteAsked remembers when a holder's delete was on its way: that is the
// earliest moment its watches can fire.
func (f *Folder) deleteAsked(e *Event) {
	l, p := f.find(e.Node)
	if l == nil || p == nil || !l.holding(p) {
		return
	}
	if len(l.deleting) < maxPending {
		l.deleting[p.Node.Name] = e.At
	}
}

// deleted takes the answer to a delete: the server has done it.
func (f *Folder) deleted(node string, e *Event) {
	if l, p := f.find(node); l != nil && p != nil && l.holding(p) {
		f.openWake(l, p, e.At)
	}
}

// woke gives a watch event to the release that fired it.
func (f *Folder) woke(e *Event) {
	l, p := f.find(e.Node)
	if l == nil {
		f.stray++
		return
	}
	if p != nil && e.Op == "NodeDeleted" && l.holding(p) {
		f.openWake(l, p, e.At)
	}
	if w := l.lastWake(); w != nil && w.takes(e, l.Path) {
		w.take(e)
		return
	}
	f.stray++
	if e.Op == "NodeChildrenChanged" && len(l.loose) < maxLoose {
		l.loose = append(l.loose, loose{e.At, e.Who})
	}
}

func (w *wake) take(e *Event) {
	w.Events++
	w.Clients = append(w.Clients, e.Who)
	if e.Op == "NodeChildrenChanged" {
		w.child++
	}
}

// takes reports whether the event can be one that this release fired.
func (w *wake) takes(e *Event, lockPath string) bool {
	switch e.Op {
	case "NodeDeleted":
		return e.Node == w.Node
	case "NodeChildrenChanged":
		// Watches are one-shot: a second event is another change's.
		return e.Node == lockPath && !slices.Contains(w.Clients, e.Who)
	}
	return false
}

// released opens a Wake for each holder that the new reading no longer lists.
func (f *Folder) released(l *lock, now map[string]Node, at time.Time) {
	for i := range l.Queue {
		p := &l.Queue[i]
		if n, there := now[p.Node.Name]; (!there || n.Czxid != p.Node.Czxid) && l.holding(p) {
			f.openWake(l, p, at)
		}
	}
	for name := range l.deleting {
		if _, there := now[name]; !there {
			delete(l.deleting, name)
		}
	}
	l.loose = nil
}

// openWake counts the end of p as a release, once.
func (f *Folder) openWake(l *lock, p *Place, at time.Time) {
	if slices.Contains(l.woken, p.Node.Czxid) {
		return
	}
	if n := len(l.woken); n >= wokenMemory {
		l.woken = l.woken[1:]
	}
	l.woken = append(slices.Clip(l.woken), p.Node.Czxid)
	w := wake{opened: at, Wake: Wake{At: at, Node: nodePath(l.Path, p.Node.Name), Who: f.bySession[p.Session], Server: -1}}
	if asked, known := l.deleting[p.Node.Name]; known {
		w.At = asked
		delete(l.deleting, p.Node.Name)
	} else {
		for _, e := range l.loose {
			if e.at.Before(w.At) {
				w.At = e.at
			}
		}
	}
	for _, e := range l.loose {
		if !e.at.Before(w.At) {
			w.Events++
			w.child++
			w.Clients = append(w.Clients, e.who)
			f.stray--
		}
	}
	l.loose = nil
	if len(l.wakes) >= MaxWakes {
		l.wakes = slices.Delete(l.wakes, 0, len(l.wakes)-MaxWakes+1)
	}
	l.wakes = append(l.wakes, w)
}

// holding reports whether a place holds, given that releases already counted
// are over even if no reading of the queue says so yet.
func (l *lock) holding(p *Place) bool {
	if p.Holds {
		return true
	}
	if p.WaitsFor == "" || len(l.woken) == 0 {
		return false
	}
	// Only the nearest in front: with more gone, the next reading will tell.
	i := slices.IndexFunc(l.Queue, func(q Place) bool { return q.Node.Name == p.WaitsFor })
	return i >= 0 && l.Queue[i].Holds && slices.Contains(l.woken, l.Queue[i].Node.Czxid)
}

func (l *lock) lastWake() *wake {
	if len(l.wakes) == 0 {
		return nil
	}
	return &l.wakes[len(l.wakes)-1]
}

// find returns the lock that a node belongs to, and its place there, or nils.
func (f *Folder) find(node string) (*lock, *Place) {
	var l *lock
	for i := range f.locks { // in order of paths: the last match is the innermost
		if lockOf(node, f.locks[i].Path) {
			l = &f.locks[i]
		}
	}
	if l == nil {
		return nil, nil
	}
	name := strings.TrimPrefix(strings.TrimPrefix(node, l.Path), "/")
	if name == "" {
		name = recipe.Itself
	}
	for k := range l.Queue {
		if l.Queue[k].Node.Name == name {
			return l, &l.Queue[k]
		}
	}
	return l, nil
}

// counters takes a reading of the server's counters, and gives the difference
// to the releases since the one before where it can be told whose it is.
//
// The reading was made e.Latency before it was written. Whoever writes one sees
// to it that every change of a queue that it counts was written before it.
func (f *Folder) counters(e *Event) {
	f.fired = Fired{
		At: e.At, Values: e.Fired, Shared: e.Shared,
		Children: e.Fired["zk_sum_node_children_watch_count"],
		Deleted:  e.Fired["zk_sum_node_deleted_watch_count"],
		Packets:  e.Fired["zk_packets_received"] + e.Fired["zk_packets_sent"],
	}
	f.fired.Nodes = f.fired.Deleted + e.Fired["zk_sum_node_created_watch_count"] + e.Fired["zk_sum_node_changed_watch_count"]
	for _, p := range e.Passed {
		if p.Lock != "" {
			f.lock(p.Lock).Passed = p
		}
	}
	readAt := e.At.Add(-e.Latency)
	var open []*wake
	for i := range f.locks {
		l := &f.locks[i]
		if l.loose = firedSince(l.loose, readAt); len(l.loose) > 0 {
			return // watches fired for a reason that no reading of the queue shows yet
		}
		for k := range l.wakes {
			if w := &l.wakes[k]; w.Until.IsZero() {
				if w.opened.After(readAt) {
					return // may or may not count this release: wait for the next
				}
				open = append(open, w)
			}
		}
	}
	if !f.base.At.IsZero() && f.stray <= 0 && !e.Unsure {
		children, deleted := f.fired.Children-f.base.Children, f.fired.Deleted-f.base.Deleted
		if awaitsEvents(open, children, deleted, e.At) {
			return // the wire has yet to show whose they are
		}
		if c, d := seen(open); !e.Shared || c == children && d == deleted {
			share(open, children, deleted)
		}
	}
	for _, w := range open {
		w.Until = e.At
	}
	f.base, f.stray = f.fired, 0
}

// firedSince leaves out the events from before a reading: what fired those, the
// readings of the queues show that were written before it, though the last of the
// events may have passed the relays after them.
func firedSince(events []loose, read time.Time) (since []loose) {
	for _, e := range events {
		if !e.at.Before(read) {
			since = append(since, e)
		}
	}
	return since
}

// awaitsEvents reports whether the wire has shown fewer watch events than the
// server has counted, where only the wire can tell the releases apart.
func awaitsEvents(open []*wake, children, deleted float64, now time.Time) bool {
	if len(open) < 2 || !ofDifferentLocks(open) {
		return false
	}
	c, d := seen(open)
	return (c < children || d < deleted) && now.Sub(open[0].opened) < lateEvents
}

// share gives the difference of two readings to the releases between them: to a
// single one all of it; to several of different locks, released at the same
// moment, to each what the wire shows that it fired, where that is all that the
// server has counted. Otherwise it stays unknown.
func share(open []*wake, children, deleted float64) {
	switch {
	case children < 0 || deleted < 0: // a server that counted is down
	case len(open) == 1:
		open[0].Server = children + deleted
	case ofDifferentLocks(open):
		if c, d := seen(open); c == children && d == deleted {
			for _, w := range open {
				w.Server = float64(w.Events)
			}
		}
	}
}

// seen adds up the watch events that the wire shows, by the kind of watch.
func seen(open []*wake) (children, deleted float64) {
	for _, w := range open {
		children += float64(w.child)
		deleted += float64(w.Events - w.child)
	}
	return children, deleted
}

// ofDifferentLocks reports whether no two releases are of the same lock: which of
// those a child watch has told of, the wire does not say.
func ofDifferentLocks(open []*wake) bool {
	for i, w := range open {
		if slices.ContainsFunc(open[:i], func(o *wake) bool { return parentOf(o) == parentOf(w) }) {
			return false
		}
	}
	return true
}

func parentOf(w *wake) string { return w.Node[:strings.LastIndexByte(w.Node, '/')+1] }
