package contestant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Version of the line protocol. Either side refuses another one.
const Version = 1

// Limits of the protocol.
const (
	MaxLine    = 64 << 10 // bytes of one command or report, line end included
	MaxMembers = 1000     // members of one process
	MaxName    = 64       // bytes of a member's name
)

// Member is one contestant: a name, a session and a lock.
type Member struct {
	Who     string        `json:"who"`
	Servers string        `json:"servers"` // "host:port,host:port", usually a relay's address
	Lock    string        `json:"lock"`    // full path, chroot included; missing parents are made
	Recipe  string        `json:"recipe"`
	Session time.Duration `json:"session_ns"` // the timeout to ask for; the server negotiates
	// Hold is how long to hold a lock before releasing it; 0: until told to.
	Hold time.Duration `json:"hold_ns,omitempty"`
	// Rounds is how often a join acquires the lock; 0 means once, and a negative
	// number means until told to quit.
	Rounds int `json:"rounds,omitempty"`
	// Leases is the number of permits, for recipes that have more than one.
	Leases int `json:"leases,omitempty"`
	// Join makes the member join as soon as it has a session.
	Join bool `json:"join,omitempty"`
}

// Check says what is wrong with a member, before anything is started for it.
func (m Member) Check() error {
	switch {
	case m.Who == "" || len(m.Who) > MaxName || strings.ContainsAny(m.Who, "\r\n"):
		return fmt.Errorf("contestant: name %q: it must have 1 to %d bytes on one line", m.Who, MaxName)
	case m.Servers == "":
		return fmt.Errorf("contestant: %s: no server named; give host:port", m.Who)
	case !strings.HasPrefix(m.Lock, "/") || m.Lock == "/" || strings.HasSuffix(m.Lock, "/"):
		return fmt.Errorf("contestant: %s: lock %q: it must be a path like /locks/demo", m.Who, m.Lock)
	case m.Recipe == "":
		return fmt.Errorf("contestant: %s: no recipe named", m.Who)
	case m.Session < time.Millisecond:
		return fmt.Errorf("contestant: %s: session timeout %v: it must be at least 1 ms", m.Who, m.Session)
	case m.Hold < 0:
		return fmt.Errorf("contestant: %s: hold time %v: it must not be negative", m.Who, m.Hold)
	case m.Leases < 0:
		return fmt.Errorf("contestant: %s: %d leases: there must not be fewer than 0", m.Who, m.Leases)
	}
	return nil
}

// Op is what a command asks for.
type Op string

// The commands.
const (
	OpOpen    Op = "open"    // a new member: Member
	OpJoin    Op = "join"    // Who stands in line, for its number of rounds
	OpRelease Op = "release" // Who gives the lock back, or leaves the line
	OpWrite   Op = "write"   // Who works for Work and then writes Text to the fenced resource
	OpQuit    Op = "quit"    // Who ends its session and is gone
)

// command is one line to a process.
type command struct {
	V      int           `json:"v"`
	Op     Op            `json:"op"`
	Who    string        `json:"who,omitempty"`
	Text   string        `json:"text,omitempty"`
	Work   time.Duration `json:"work_ns,omitempty"`
	Member *Member       `json:"member,omitempty"`
}

func parseCommand(line []byte) (command, error) {
	var c command
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("not a command: %w", err)
	}
	switch {
	case c.V != Version:
		return c, fmt.Errorf("command of version %d; this process speaks version %d", c.V, Version)
	case c.Op == OpOpen && c.Member == nil:
		return c, errors.New("open without a member")
	case c.Op == OpOpen:
		return c, c.Member.Check()
	case c.Who == "":
		return c, fmt.Errorf("%q without a name", c.Op)
	}
	return c, nil
}

// Kind says what a report is about.
type Kind string

// The kinds of report.
const (
	KindBelief Kind = "belief" // Who's belief, after it changed
	KindWrite  Kind = "write"  // Who writes to the fenced resource: Token, Text; the resource judges
	KindWork   Kind = "work"   // Who has looked whether it holds and works for a while before it writes: Token, Text
	KindGone   Kind = "gone"   // Who has ended its session and takes no more commands
	KindError  Kind = "error"  // a command could not be obeyed, and changed nothing: Err
)

// Belief is what a member thinks of its own standing. The words are those of the
// journal.
type Belief string

// The beliefs.
const (
	Idle      Belief = "idle"      // has a session, is not in the queue
	Waiting   Belief = "waiting"   // joined, in line
	Holds     Belief = "holds"     // believes it holds the lock
	Suspended Belief = "suspended" // connection gone: no longer sure
	Lost      Belief = "lost"      // knows that its session is over
	Released  Belief = "released"  // gave the lock back, or left the line
	Failed    Belief = "failed"    // could not acquire, release or connect: Err
)

// Report is one line from a process.
type Report struct {
	V      int       `json:"v"`
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at"` // by the process's own clock
	Who    string    `json:"who,omitempty"`
	Belief Belief    `json:"belief,omitempty"`
	Lock   string    `json:"lock,omitempty"`
	Node   string    `json:"node,omitempty"` // full path of the node by which it holds
	// Token is the fencing token of the hold: the czxid of the node. A recipe whose
	// node is gone before it could be read has 0.
	Token   int64         `json:"token,omitempty"`
	Session int64         `json:"session,string,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // negotiated; 0 when the recipe does not know it
	Round   int           `json:"round,omitempty"`      // which acquisition of this join, from 1
	Text    string        `json:"text,omitempty"`
	Err     string        `json:"err,omitempty"`
}

func parseReport(line []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("not a report: %w", err)
	}
	if r.V != Version {
		return r, fmt.Errorf("report of version %d; this side speaks version %d", r.V, Version)
	}
	return r, nil
}
