package journal

import (
	"maps"
	"slices"
	"time"

	"zklab/internal/recipe"
)

// Limits on what a Folder remembers, so that no stream of events, however
// foreign, makes it grow without end.
const (
	maxPending  = 64      // requests of one contestant that await their reply
	maxLoose    = 8192    // watch events of one lock that no release explains yet
	maxSessions = 1 << 16 // sessions whose contestant is remembered
)

// Fold gives the state at time t: all events not later than t, applied in the
// order given. It never changes an event, takes any events in any order, and
// two folds of the same events are equal.
func Fold(events []Event, t time.Time) State {
	f := NewFolder()
	for i := range events {
		if !events[i].At.After(t) {
			f.Apply(&events[i])
		}
	}
	return f.State(t)
}

// Folder is a fold that goes on: it takes events one by one and gives the state
// at any moment between them. It is not safe for concurrent use.
//
// Slices inside it are replaced and not written to, or only grown at the end;
// so a State and a Clone may share them with it.
type Folder struct {
	start       time.Time
	seq         int64
	servers     []ServerState
	locks       []lock       // in order of their paths
	contestants []contestant // in order of joining
	byPath      map[string]int
	byWho       map[string]int
	bySession   map[SessionID]string
	deadlines   map[SessionID]Deadline  // replaced by each reading
	watched     map[SessionID][]Watched // data watches by the server; replaced by each reading
	watchCount  int
	fired       Fired
	base        Fired // the reading that the next difference starts from
	stray       int   // watch events since the last counters that belong to no release
}

// contestant is what is known of one contestant between events.
type contestant struct {
	ContestantState
	conns   int       // open connections through its relay
	pending []pending // oldest first
	wire    []Watched // watches by the frames
}

// pending is a request whose reply has not passed yet.
type pending struct {
	xid   int32
	op    string
	node  string
	watch WatchKind
	again []WatchedNode // child watches that a setWatches sets again
}

// lock is what is known of one lock between events.
type lock struct {
	LockState                      // Queue without what State fills in, Wakes unused
	kind      recipe.Kind          //
	deleting  map[string]time.Time // nodes whose delete was requested by their holder
	wakes     []wake               // oldest first
	woken     []int64              // czxids of the last releases counted
	loose     []loose
}

// loose is a watch event that no release explains yet.
type loose struct {
	at  time.Time
	who string
}

// NewFolder returns a Folder that has seen nothing.
func NewFolder() *Folder {
	return &Folder{
		byPath:    map[string]int{},
		byWho:     map[string]int{},
		bySession: map[SessionID]string{},
	}
}

// Clone returns a Folder that has seen the same events and goes its own way.
func (f *Folder) Clone() *Folder {
	c := *f
	c.servers = slices.Clone(f.servers)
	c.contestants = slices.Clone(f.contestants)
	c.locks = slices.Clone(f.locks)
	for i := range c.locks {
		l := &c.locks[i]
		l.deleting = maps.Clone(l.deleting)
		l.loose = slices.Clip(l.loose)
		l.wakes = slices.Clone(l.wakes)
		for k := range l.wakes {
			l.wakes[k].Clients = slices.Clip(l.wakes[k].Clients)
		}
	}
	c.byPath, c.byWho, c.bySession = maps.Clone(f.byPath), maps.Clone(f.byWho), maps.Clone(f.bySession)
	return &c
}

// size estimates what a Clone costs, in bytes.
func (f *Folder) size() int {
	n := 900*len(f.contestants) + 100*len(f.bySession) + 1024
	for i := range f.locks {
		n += 200*len(f.locks[i].Queue) + 150*len(f.locks[i].wakes)
	}
	return n
}

// Apply takes the next event. It keeps no pointer to it.
func (f *Folder) Apply(e *Event) {
	if f.start.IsZero() {
		f.start = e.At
	}
	f.seq = e.Seq
	switch e.Type {
	case Joined, Started, Exited, Signal, Fault, Healed, Belief, Write:
		f.applyProcess(e)
	case ConnOpened, ConnClosed, SessionOpen, Request, Reply, WatchEvent, Ping, Pong, CloseSession:
		f.applyWire(e)
	case ServerUp, ServerDown, Queue, Sessions, Watches, Counters, SessionEnded:
		f.applyServer(e)
	case Note:
		f.serverFault(e)
	}
}

// contestant returns the contestant of that name, made on first mention. The
// pointer is good until the next one is made.
func (f *Folder) contestant(who string) *contestant {
	i, known := f.byWho[who]
	if !known {
		i = len(f.contestants)
		f.byWho[who] = i
		f.contestants = append(f.contestants, contestant{ContestantState: ContestantState{Who: who, Phase: Running, Belief: Idle}})
	}
	return &f.contestants[i]
}

// lock returns the lock at path, made on first mention. The pointer is good
// until the next one is made.
func (f *Folder) lock(path string) *lock {
	if i, known := f.byPath[path]; known {
		return &f.locks[i]
	}
	i, _ := slices.BinarySearchFunc(f.locks, path, func(l lock, p string) int {
		switch {
		case l.Path < p:
			return -1
		case l.Path > p:
			return 1
		}
		return 0
	})
	f.locks = slices.Insert(f.locks, i, lock{LockState: LockState{Path: path}, deleting: map[string]time.Time{}})
	for k := i; k < len(f.locks); k++ {
		f.byPath[f.locks[k].Path] = k
	}
	return &f.locks[i]
}

// bind remembers whose session that is.
func (f *Folder) bind(c *contestant, s SessionID, timeout time.Duration) {
	if s == 0 {
		return
	}
	if c.Session != s {
		c.Session, c.SessionEnd, c.EndedBy = s, time.Time{}, ""
	}
	if timeout > 0 {
		c.Timeout = timeout
	}
	if len(f.bySession) < maxSessions || f.bySession[s] != "" {
		f.bySession[s] = c.Who
	}
}
