package wiretap

import (
	"fmt"
	"time"
)

// Direction is one way through the relay.
type Direction uint8

// The directions. Both is for faults only; a frame goes one way.
const (
	ToServer Direction = 1
	ToClient Direction = 2
	Both               = ToServer | ToClient
)

func (d Direction) String() string {
	switch d {
	case ToServer:
		return "to-server"
	case ToClient:
		return "to-client"
	case Both:
		return "both"
	}
	return fmt.Sprintf("direction %d", uint8(d))
}

// FrameKind says what a Frame is.
type FrameKind uint8

// The kinds of frame.
const (
	// Opened: the relay accepted a connection and reached a server (Server).
	// It is reported when the client has sent its first bytes.
	Opened FrameKind = iota + 1
	// Closed: one side closed the connection (By), or a fault did (By is Lab).
	// What was still under way in the other direction may follow it.
	Closed
	// Turned: a new connection was turned away, by Refuse or since no server
	// could be reached; Text says which.
	Turned
	// SessionRequest: the client asks for a session (Session 0) or wants to go
	// on with one. Timeout is what it asks for.
	SessionRequest
	// SessionReply: the server's answer. Timeout is the negotiated one.
	// Timeout 0: the session asked for has expired (see Frame.Expired).
	SessionReply
	// Request: an operation.
	Request
	// Reply: the answer to a Request or CloseSession, with the fields of the request
	// repeated.
	Reply
	// WatchEvent: a watch has fired.
	WatchEvent
	// Ping: the client's heartbeat; Pong: the server's answer to it.
	Ping
	Pong
	// CloseSession: the client ends its session.
	CloseSession
	// Undecoded: bytes passed that the relay could not read.
	Undecoded
)

var kindNames = [...]string{
	Opened: "opened", Closed: "closed", Turned: "turned", SessionRequest: "session-request",
	SessionReply: "session-reply", Request: "request", Reply: "reply", WatchEvent: "watch-event",
	Ping: "ping", Pong: "pong", CloseSession: "close-session", Undecoded: "undecoded",
}

func (k FrameKind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Party is who closed a connection.
type Party string

// The parties.
const (
	Client Party = "client"
	Server Party = "server"
	Lab    Party = "lab" // the relay, told to
)

// Frame is one thing that passed the relay. Beside each kind only the fields
// that apply are set. A Frame is a value of the receiver's own: its slices are
// not used again.
type Frame struct {
	At   time.Time // when it passed, by Options.Now
	Conn int       // number of the connection at this relay, from 1
	Dir  Direction
	Kind FrameKind

	Server string // the server's address: on every frame once it is known
	By     Party  // Closed: who closed first
	Text   string // Closed, Turned, Undecoded: why

	// Session is the connection's session id: in a SessionRequest the one asked
	// for, in a SessionReply the one given, and from then on the same in every
	// frame. 0: none yet.
	Session     int64
	Timeout     time.Duration // SessionRequest: asked; SessionReply: negotiated
	PasswordLen int           // SessionRequest, SessionReply
	LastZxid    int64         // SessionRequest, setWatches: the last zxid the client has seen

	Xid  int32
	Op   Op
	Path string // as asked; of a multi the path of its first part
	// Watch: in a Request that a watch is asked for; in its Reply that the server
	// keeps one. (A failed getData leaves none, an exists on a missing node does.)
	Watch   bool
	Mode    CreateMode // the create operations; of addWatch see WatchMode
	Version int32      // delete, setData, setACL, check: expected version, -1 any
	DataLen int        // bytes of node data in the frame
	Parts   []Part     // multi: the operations, in the Reply with their results
	Watches *WatchList // setWatches, setWatches2: the watches set again

	WatchMode WatchMode // addWatch

	Err      int32  // Reply: ZooKeeper's code, 0 for success; of a multi that of the part that failed; see ErrName
	Zxid     int64  // Reply, Pong, WatchEvent: the header's zxid
	Created  string // Reply to a create: the path, with its sequence number
	Children []string
	Count    int // how many children; known even where Children is too long to keep
	Stat     *Stat
	Latency  time.Duration // Reply, Pong: since its request passed

	Event Event // WatchEvent

	Size    int    // bytes of the whole frame
	Partial bool   // longer than MaxDecode, or cut off: only the head was read
	Dropped bool   // not passed on: a fault cut the connection first
	Raw     []byte // Undecoded: its beginning, at most MaxRaw bytes
	Lost    int    // frames that are missing before this one; see the package documentation
}

// Expired reports whether f is the server's answer that the session asked for
// is over.
func (f Frame) Expired() bool { return f.Kind == SessionReply && f.Timeout == 0 && f.Session == 0 }

// Part is one operation of a multi, or its result.
type Part struct {
	Op      Op
	Path    string // in the reply to a create: with its sequence number
	Mode    CreateMode
	Version int32
	DataLen int
	Err     int32 // in a reply
	Stat    *Stat // in a reply, where there is one
}

// WatchList is what a client watches, as it tells the server on reconnecting.
type WatchList struct {
	Data, Exists, Children, Persistent, Recursive []string
}

// Stat is a node's metadata.
type Stat struct {
	Czxid, Mzxid                int64 // of its creation, of its last change
	Ctime, Mtime                int64 // milliseconds since 1970, by the server's clock
	Version, Cversion, Aversion int32
	EphemeralOwner              int64 // session id; 0 for a node that stays
	DataLength, NumChildren     int32
	Pzxid                       int64 // of the last child created or deleted
}

// WatchMode is the mode of an addWatch.
type WatchMode int32

// The modes of addWatch.
const (
	WatchPersistent          WatchMode = 0
	WatchPersistentRecursive WatchMode = 1
)
