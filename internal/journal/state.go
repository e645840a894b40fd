package journal

import "time"

// State is what is known at one moment. It is a value made by Fold: reading it
// never does I/O, and two folds of the same events are equal.
type State struct {
	At          time.Time
	Start       time.Time // the first event's time
	Servers     []ServerState
	Locks       []LockState       // in order of their paths
	Contestants []ContestantState // in order of joining
	Counters    Fired             // the server's counters, newest reading
	WatchCount  int               // all watches at the server, child watches included
	LastSeq     int64
}

// ServerState is one ZooKeeper server.
type ServerState struct {
	Addr string
	Mode string // standalone, leader, follower; empty when down
	Up   bool
	// Faults are what the lab did to it and has not taken back: kill, pause, isolate.
	Faults []string
}

// LockState is one lock's queue, as the server has it.
type LockState struct {
	Path    string
	Recipe  string
	Permits int       // leases of a semaphore; 0 otherwise
	Queue   []Place   // in queue order, one a client; foreign children are left out
	Beside  []Place   // further nodes of a semaphore's clients who stand in Queue already
	Foreign []Node    // children that belong to no known recipe
	Holders []string  // Names of the nodes that hold, by the server
	Changed time.Time // when the queue last changed
	Wakes   []Wake    // one entry a release, newest last; at most MaxWakes
	Passed  Passed    // what its contestants' relays had passed on when the Counters were read
}

// MaxWakes is how many releases a LockState remembers.
const MaxWakes = 64

// Wake says how many watches one release fired.
type Wake struct {
	At      time.Time
	Node    string    // what was deleted
	Who     string    // whose it was
	Clients []string  // who was sent a watch event, in the order of the wire
	Events  int       // watch events seen on the wire
	Server  float64   // the server's counters over the same release; -1 until known
	Until   time.Time // when the counters were read
}

// Place is one contender in a queue.
type Place struct {
	Node     Node
	Seq      int64 // sequence number, -1 when the name has none
	Intent   string
	Who      string // contestant, empty for a stranger
	Session  SessionID
	Holds    bool      // by the server
	WaitsFor string    // the node it must wait for by the recipe's rule
	Watches  []Watched // what it really watches, by server and wire
	Deadline time.Time // when its session ends by the server's clock; zero: not known
	Timeout  time.Duration
	Since    time.Time // when the node was first seen
}

// Watched is one watch that a contestant has at the server.
type Watched struct {
	Node string // full path
	Kind WatchKind
	By   Observer // Server for data watches it listed, Wire where only the frames say so
}

// Phase is what has become of a contestant's process.
type Phase string

// The phases of a process.
const (
	Running Phase = "running"
	Stopped Phase = "stopped" // SIGSTOP
	Killed  Phase = "killed"  // SIGKILL
	Gone    Phase = "gone"    // ended by itself
)

// ContestantState is one contestant: a real process (or one session of it).
type ContestantState struct {
	Who        string
	Lock       string
	Recipe     string
	PID        int
	Phase      Phase
	Belief     BeliefKind
	BeliefAt   time.Time
	Token      int64
	Err        string // of its last failure
	Node       string // full path of its znode, while the server has it
	Session    SessionID
	Timeout    time.Duration // negotiated
	Asked      time.Duration // the timeout it asked for
	Deadline   time.Time
	Server     string   // the server its session is on
	Connected  bool     // by the wire
	Faults     []string // of its network, that still last or have yet to happen
	Watches    []Watched
	Heard      time.Time // the last frame from the contestant that the relay passed on
	Watch      WatchMark // the last watch event sent to it
	Spans      []Span    // what it did over time, for lanes; at most MaxSpans
	JoinedAt   time.Time
	DiedAt     time.Time
	Writes     int       // writes the resource took
	Refused    int       // writes the resource refused
	SessionEnd time.Time // when its session was seen to be gone; zero while it lives
	EndedBy    string    // how it ended: expired, closed
	NodeGone   time.Time // when its znode was seen to be deleted; zero while it has one
}

// WatchMark is a watch event's arrival.
type WatchMark struct {
	Node string
	At   time.Time
}

// MaxSpans is how many spans a contestant remembers.
const MaxSpans = 256

// Span is a stretch of time in which a contestant did one thing.
type Span struct {
	From, To time.Time // To is zero while it lasts
	What     SpanKind
}

// SpanKind is what a contestant does in a Span, by the server.
type SpanKind string

// The kinds of span.
const (
	SpanWaits SpanKind = "waits"
	SpanHolds SpanKind = "holds"
)

// Fired is a reading of the server's counters.
type Fired struct {
	At       time.Time
	Values   map[string]float64 // by ZooKeeper's own names: zk_sum_node_deleted_watch_count, …
	Children float64            // zk_sum_node_children_watch_count
	Deleted  float64            // zk_sum_node_deleted_watch_count
	Nodes    float64            // Deleted, and those fired because the node was made or changed
	Packets  float64            // received and sent
	Shared   bool               // others use the servers too: what they had fired is counted
}

// HoldersBelieved lists who believes to hold the lock at path.
func (s State) HoldersBelieved(path string) []string {
	var who []string
	for _, c := range s.Contestants {
		if c.Lock == path && c.Belief == Holds && c.Phase != Killed && c.Phase != Gone {
			who = append(who, c.Who)
		}
	}
	return who
}

// Lock returns the lock at path.
func (s State) Lock(path string) (LockState, bool) {
	for _, l := range s.Locks {
		if l.Path == path {
			return l, true
		}
	}
	return LockState{}, false
}

// Contestant returns the contestant of that name.
func (s State) Contestant(who string) (ContestantState, bool) {
	for _, c := range s.Contestants {
		if c.Who == who {
			return c, true
		}
	}
	return ContestantState{}, false
}
