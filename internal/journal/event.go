package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Version is written into the first line of a journal file. A reader refuses
// versions it does not know.
const Version = 1

// Observer says who saw a fact. When two observers disagree, both facts stay:
// that difference is what the lessons are about.
type Observer string

// The observers.
const (
	Server  Observer = "server"  // the ZooKeeper server said so
	Wire    Observer = "wire"    // a frame passed a contestant's relay
	Process Observer = "process" // a contestant believes so, or its process ended
	Lab     Observer = "lab"     // zklab itself did it
)

// SessionID is a ZooKeeper session id. It is written in hexadecimal, because
// it is above 2^53 and a JSON number would lose digits.
type SessionID int64

func (s SessionID) String() string { return fmt.Sprintf("0x%x", uint64(s)) }

// MarshalJSON writes the id as a hexadecimal string.
func (s SessionID) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *SessionID) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("session id %s: not a string: %w", b, err)
	}
	u, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return fmt.Errorf("session id %q: %w", text, err)
	}
	*s = SessionID(u)
	return nil
}

// Type says what kind of fact an event is.
type Type string

// What the lab did.
const (
	Note   Type = "note"   // a line of narration: Text; when the lab does something to a server, Op (kill, pause, …) and Node: its address; Err: it has failed
	Step   Type = "step"   // a scenario step begins: Text
	Expect Type = "expect" // an expectation was checked: Text, OK, Err (what was found instead)
	Joined Type = "joined" // a contestant was asked to join: Who, Lock, Recipe, PID, Timeout (asked), Count (permits)
	Asked  Type = "asked"  // a contestant was asked to do something: Who, Op (release, quit)
	Signal Type = "signal" // a signal was sent: Who, PID, Op (SIGKILL, SIGSTOP, SIGCONT)
	Fault  Type = "fault"  // a network fault was put in place: Who, Op (refuse, blackhole, delay: until healed; drop-reply, fail-write: the next time; cut, expire: done), Text
	Healed Type = "healed" // the faults of Who were taken away
)

// What a process believes, and what became of it.
const (
	Started Type = "started" // Who, PID, Timeout (it asks for)
	Exited  Type = "exited"  // Who, PID, Text ("signal: killed", "exit status 0", or QuitText)
	Belief  Type = "belief"  // Who, Lock, Belief, and Node, Token, Session where known; Err
	Work    Type = "work"    // Who has looked whether it holds and works before it writes: Token, Text
	Write   Type = "write"   // Who wrote to the fenced resource: Token, OK, Text
)

// QuitText is the Text of an Exited whose process goes on for others in it: Who has
// ended its session as it was asked to.
const QuitText = "quit"

// What passed on the wire of one contestant's relay.
const (
	ConnOpened   Type = "conn-opened"   // Who
	ConnClosed   Type = "conn-closed"   // Who, Op (client, server, lab): who closed first
	SessionOpen  Type = "session"       // Who, Session, Timeout (negotiated), OK false: refused as expired
	Request      Type = "request"       // Who, Xid, Op, Node, Watch, Mode; Err where a fault kept it from the server; of a setWatches WatchedBy: child watches set again
	Reply        Type = "reply"         // Who, Xid, Op, Node, Err, Zxid, Children, Latency; Text where a fault kept it from the client
	WatchEvent   Type = "watch-event"   // Who, Node, Op (NodeDeleted, NodeChildrenChanged, …)
	Ping         Type = "ping"          // Who: a heartbeat went out
	Pong         Type = "pong"          // Who: its answer came back
	CloseSession Type = "close-session" // Who: the client ends its session
	Undecoded    Type = "undecoded"     // Who, Text: bytes passed that the relay could not read
)

// What a server said. These are whole readings, written when they changed.
const (
	ServerUp   Type = "server-up"   // Text (address), Mode (standalone, leader, follower)
	ServerDown Type = "server-down" // Text (address)
	Queue      Type = "queue"       // Lock, Nodes: the children, with owner and czxid
	Sessions   Type = "sessions"    // Deadlines: each session's expiry by the server's clock
	Watches    Type = "watches"     // WatchedBy: data watches; Count: all watches, child watches included
	Counters   Type = "counters"    // Fired: the server's own counters; Passed: what the relays counted by then

	// SessionEnded is written once for a session that is gone from the server:
	// Session, Who, Op (expired, closed). At is when that was noticed.
	SessionEnded Type = "session-ended"
)

// BeliefKind is what a contestant thinks of its own standing.
type BeliefKind string

// The beliefs.
const (
	Idle      BeliefKind = "idle"      // not in the queue
	Waiting   BeliefKind = "waiting"   // joined, in line
	Holds     BeliefKind = "holds"     // believes it holds the lock
	Suspended BeliefKind = "suspended" // connection gone: no longer sure
	Lost      BeliefKind = "lost"      // knows that its session is over
	Released  BeliefKind = "released"  // gave the lock back
	Failed    BeliefKind = "failed"    // could not acquire or release: Err
)

// WatchKind is the kind of watch a request leaves at the server.
type WatchKind string

// The kinds of watch.
const (
	DataWatch   WatchKind = "data"   // getData with watch
	ExistsWatch WatchKind = "exists" // exists with watch
	ChildWatch  WatchKind = "child"  // getChildren with watch
)

// Event is one observed fact. Only the fields named beside its Type are set.
// Events are values: nobody changes one after it was appended.
type Event struct {
	Seq  int64     `json:"seq"` // position in the journal, from 1
	At   time.Time `json:"at"`  // when it was observed
	By   Observer  `json:"by"`
	Type Type      `json:"type"`

	Who    string `json:"who,omitempty"`    // a contestant's name
	Lock   string `json:"lock,omitempty"`   // a lock's path
	Recipe string `json:"recipe,omitempty"` // mini, naive, unfair, mutex, read, write, …
	Node   string `json:"node,omitempty"`   // a znode's full path
	PID    int    `json:"pid,omitempty"`
	Op     string `json:"op,omitempty"` // the operation, signal, fault or watch event
	Text   string `json:"text,omitempty"`
	Err    string `json:"err,omitempty"`
	OK     bool   `json:"ok,omitempty"`

	Belief  BeliefKind    `json:"belief,omitempty"`
	Session SessionID     `json:"session,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // negotiated
	Token   int64         `json:"token,omitempty"`      // fencing token: the czxid of the lock node

	Xid      int32         `json:"xid,omitempty"`
	Zxid     int64         `json:"zxid,omitempty"`
	Watch    WatchKind     `json:"watch,omitempty"`
	Mode     string        `json:"mode,omitempty"`
	Children int           `json:"children,omitempty"` // how many names a list returned
	Latency  time.Duration `json:"latency_ns,omitempty"`

	Nodes     []Node             `json:"nodes,omitempty"`
	Deadlines []Deadline         `json:"deadlines,omitempty"`
	WatchedBy []WatchedNode      `json:"watched_by,omitempty"`
	Count     int                `json:"count,omitempty"`
	Fired     map[string]float64 `json:"fired,omitempty"`
	Passed    []Passed           `json:"passed,omitempty"`

	// Of counters. Unsure: a server did not tell all that it has fired since the
	// reading before. Shared: what others have had fired is counted too.
	Unsure bool `json:"unsure,omitempty"`
	Shared bool `json:"shared,omitempty"`
}

// Passed is what the relays of one lock's contestants have passed on, both ways,
// since the first of them was there.
type Passed struct {
	Lock       string `json:"lock"`
	Packets    int64  `json:"packets"` // frames, heartbeats and their answers aside
	Bytes      int64  `json:"bytes"`   // of those frames
	ChildFired int64  `json:"child"`   // watch events: children of the watched node changed
	NodeFired  int64  `json:"node"`    // watch events: the watched node was made, changed or deleted
}

// Node is one child of a lock's path, as the server lists it.
type Node struct {
	Name  string    `json:"name"` // without the path
	Owner SessionID `json:"owner,omitempty"`
	Czxid int64     `json:"czxid"`
	Data  string    `json:"data,omitempty"`
}

// Deadline is when the server will end a session if it hears nothing more.
type Deadline struct {
	Session SessionID     `json:"session"`
	At      time.Time     `json:"at"`
	Timeout time.Duration `json:"timeout_ns"`
	Server  string        `json:"server,omitempty"` // the server its connection is on
}

// WatchedNode says which sessions watch a node's data, by the server.
type WatchedNode struct {
	Node     string      `json:"node"`
	Sessions []SessionID `json:"sessions"`
}
