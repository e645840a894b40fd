package journal

import (
	"path"
	"slices"
	"strings"
	"time"

	"zklab/internal/recipe"
)

// applyServer takes a reading of the server.
func (f *Folder) applyServer(e *Event) {
	switch e.Type {
	case ServerUp:
		f.server(ServerState{Addr: e.Text, Mode: e.Mode, Up: true})
	case ServerDown:
		f.server(ServerState{Addr: e.Text})
	case Queue:
		f.queue(e)
	case Sessions:
		f.deadlines = make(map[SessionID]Deadline, len(e.Deadlines))
		for _, d := range e.Deadlines {
			f.deadlines[d.Session] = d
		}
	case Watches:
		f.watches(e)
	case Counters:
		f.counters(e)
	case SessionEnded:
		f.sessionEnded(e)
	}
}

func (f *Folder) server(s ServerState) {
	next := slices.Clone(f.servers)
	i := slices.IndexFunc(next, func(o ServerState) bool { return o.Addr == s.Addr })
	if i < 0 {
		next = append(next, s)
	} else {
		s.Faults = next[i].Faults
		next[i] = s
	}
	f.servers = next
}

// serverFault takes what the lab does to a server, or takes back what has failed. A
// new process is neither killed nor paused; whether it is cut off does not depend on
// the process.
func (f *Folder) serverFault(e *Event) {
	i := slices.IndexFunc(f.servers, func(s ServerState) bool { return s.Addr == e.Node })
	if i < 0 || e.Op == "" {
		return
	}
	ends := map[string][]string{"kill": {"pause", "kill"}, "pause": {"pause"}, "isolate": {"isolate"},
		"continue": {"pause"}, "restart": {"kill", "pause"}, "rejoin": {"isolate"}}[e.Op]
	var faults []string
	for _, old := range f.servers[i].Faults {
		if e.Err != "" && old != e.Op || e.Err == "" && !slices.Contains(ends, old) {
			faults = append(faults, old)
		}
	}
	if e.Err == "" && (e.Op == "kill" || e.Op == "pause" || e.Op == "isolate") {
		faults = append(faults, e.Op)
	}
	f.servers = slices.Clone(f.servers)
	f.servers[i].Faults = faults
}

func (f *Folder) sessionEnded(e *Event) {
	if who := f.bySession[e.Session]; who != "" {
		if c := f.contestant(who); c.Session == e.Session && c.SessionEnd.IsZero() {
			c.SessionEnd, c.EndedBy = e.At, e.Op
		}
	}
	if _, known := f.deadlines[e.Session]; known {
		next := make(map[SessionID]Deadline, len(f.deadlines))
		for s, d := range f.deadlines {
			if s != e.Session {
				next[s] = d
			}
		}
		f.deadlines = next
	}
}

func (f *Folder) watches(e *Event) {
	f.watchCount = e.Count
	f.watched = map[SessionID][]Watched{}
	for _, w := range e.WatchedBy {
		for _, s := range w.Sessions {
			f.watched[s] = append(f.watched[s], Watched{Node: w.Node, Kind: DataWatch, By: Server})
		}
	}
	for i := range f.contestants {
		c := &f.contestants[i]
		if len(c.wire) > 0 {
			c.wire = unlisted(c.wire, f.watched, c.Session)
		}
	}
}

// queue takes a lock's children as the server lists them.
func (f *Folder) queue(e *Event) {
	if e.Lock == "" {
		return
	}
	l := f.lock(e.Lock)
	names := make([]string, 0, len(e.Nodes))
	byName := make(map[string]Node, len(e.Nodes))
	for _, n := range e.Nodes {
		if _, twice := byName[n.Name]; !twice {
			names = append(names, n.Name)
		}
		byName[n.Name] = n
	}
	l.learnKind(e, names)
	standings, foreign := recipe.Standings(l.kind, l.Permits, names)
	since := make(map[int64]time.Time, len(l.Queue))
	for i := range l.Queue {
		since[l.Queue[i].Node.Czxid] = l.Queue[i].Since
	}
	next := make([]Place, len(standings))
	var holders []string
	for i, s := range standings {
		n := byName[s.Name]
		next[i] = Place{Node: n, Seq: s.Seq, Intent: string(s.Intent), Session: n.Owner,
			Holds: s.Holds, WaitsFor: s.WaitsFor, Since: e.At}
		if t, seen := since[n.Czxid]; seen {
			next[i].Since = t
		}
		if s.Holds {
			holders = append(holders, s.Name)
		}
	}
	f.released(l, byName, e.At)
	l.Queue, l.Holders, l.Changed = next, holders, e.At
	l.Foreign = nil
	for _, name := range foreign {
		l.Foreign = append(l.Foreign, byName[name])
	}
	f.seat(l, e.At)
}

// learnKind settles by which rule the lock's queue is read.
func (l *lock) learnKind(e *Event, names []string) {
	if e.Recipe != "" {
		l.Recipe, l.kind = e.Recipe, recipe.KindOf(e.Recipe)
	}
	if e.Count > 0 {
		l.Permits = e.Count
	}
	if l.Recipe != "" {
		return
	}
	kind, known := recipe.Detect(names)
	if known || l.kind == "" {
		l.kind = kind
	}
}

// seat tells each contestant of the lock where it stands now.
func (f *Folder) seat(l *lock, at time.Time) {
	type seat struct {
		node  string
		holds bool
	}
	seats := make(map[string]seat, len(l.Queue))
	for i := range l.Queue {
		p := &l.Queue[i]
		who := f.bySession[p.Session]
		if who == "" {
			continue
		}
		s := seats[who]
		seats[who] = seat{nodePath(l.Path, p.Node.Name), s.holds || p.Holds}
	}
	for i := range f.contestants {
		c := &f.contestants[i]
		s, seated := seats[c.Who]
		switch {
		case seated:
			if c.Node != s.node {
				c.Node, c.NodeGone = s.node, time.Time{}
			}
			if s.holds {
				c.stretch(SpanHolds, at)
			} else {
				c.stretch(SpanWaits, at)
			}
		case c.Lock == l.Path || lockOf(c.Node, l.Path):
			if c.Node != "" && c.NodeGone.IsZero() {
				c.NodeGone = at
			}
			c.Node = ""
			c.closeSpan(at)
		}
	}
}

// nodePath is a child's full path; the lock itself goes by recipe.Itself.
func nodePath(lock, name string) string { return path.Join(lock, name) }

// lockOf reports whether the node belongs to the lock at that path.
func lockOf(node, lock string) bool {
	return node == lock || lock == "/" || strings.HasPrefix(node, lock+"/")
}
