package trace

import (
	"path"
	"slices"
	"time"

	"zklab/internal/journal"
)

// Network is the Op of an Outage in which the process goes on and its network does
// not.
const Network = "network"

// Outage is how it went on after a contestant's process got SIGKILL or SIGSTOP, or
// its network was taken away. Times that have not come are zero.
type Outage struct {
	Who     string
	PID     int
	Op      string // SIGKILL, SIGSTOP, Network
	At      time.Time
	Held    bool // it believed to hold the lock
	Lock    string
	Node    string // name of its node
	Session journal.SessionID
	Timeout time.Duration // negotiated

	Exited   time.Time // the process was gone
	Closed   time.Time // its connection was closed,
	ClosedBy string    // by the client or the server
	Ended    time.Time // the server ended its session,
	EndedAs  string    // expired or closed
	NodeGone time.Time
	Fired    int // watches that the node's end fired
	FiredAt  time.Time
	Next     string // who held next,
	NextAt   time.Time
	NextTok  int64
	Token    int64     // the victim's
	Cont     time.Time // SIGCONT
	Learned  time.Time // the client learnt that its session is over

	// Of an Outage of the network:
	Fault   string       // what happens to bytes: cut (connections fail), or blackhole (they stay open)
	Healed  time.Time    // the network was given back
	Back    time.Time    // the client was heard again in its old session
	Beliefs []BeliefMark // what it believed from then on, oldest first; at most maxBeliefs
}

// BeliefMark is a change of belief.
type BeliefMark struct {
	At     time.Time
	Belief journal.BeliefKind
}

const maxBeliefs = 32

// Over says whether nothing more is to come, as far as can be told.
func (o Outage) Over() bool {
	if !o.Back.IsZero() {
		return true
	}
	if o.Ended.IsZero() || o.NodeGone.IsZero() && o.Node != "" || o.Held && o.NextAt.IsZero() {
		return false
	}
	return o.Op == "SIGKILL" || !o.Learned.IsZero()
}

func (t *Tracer) outage(e *journal.Event) {
	switch e.Type {
	case journal.Signal:
		t.signal(e)
		return
	case journal.Fault:
		t.fault(e)
		return
	}
	for i := range t.outages {
		switch o := &t.outages[i]; {
		case !o.Over():
			o.apply(e)
		case o.Op == Network && e.Type == journal.Belief:
			o.believe(e) // it is told what it believes after it learns of its end
		}
	}
}

func (t *Tracer) signal(e *journal.Event) {
	switch e.Op {
	case "SIGCONT":
		for i := range t.outages {
			if o := &t.outages[i]; o.Who == e.Who && o.Op == "SIGSTOP" && o.Cont.IsZero() {
				o.Cont = e.At
			}
		}
	case "SIGKILL", "SIGSTOP":
		t.begin(e, e.Op)
	}
}

func (t *Tracer) begin(e *journal.Event, op string) *Outage {
	p := t.people[e.Who]
	if p == nil {
		p = &person{}
	}
	t.outages = keep(t, t.outages, Outage{Who: e.Who, PID: e.PID, Op: op, At: e.At, Held: p.holds, Lock: p.lock,
		Node: nodeName(p.node), Session: p.session, Timeout: p.timeout, Token: p.token}, MaxOutages,
		func(o Outage) time.Time { return o.At }, &t.lost.Outages)
	return &t.outages[len(t.outages)-1]
}

// fault takes a network fault that keeps everything from passing. Several at once
// are one outage.
func (t *Tracer) fault(e *journal.Event) {
	kind := e.Op
	switch kind {
	case "cut", "refuse":
		kind = "cut"
	case "blackhole":
	default:
		return
	}
	for i := range t.outages {
		if o := &t.outages[i]; o.Op == Network && o.Who == e.Who && !o.Over() && o.Healed.IsZero() {
			return
		}
	}
	t.begin(e, Network).Fault = kind
}

func nodeName(node string) string {
	if node == "" {
		return ""
	}
	return path.Base(node)
}

// first sets a time that has not come yet.
func first(at *time.Time, e *journal.Event) bool {
	if !at.IsZero() {
		return false
	}
	*at = e.At
	return true
}

func (o *Outage) apply(e *journal.Event) {
	switch e.Type {
	case journal.Exited:
		if e.Who == o.Who {
			first(&o.Exited, e)
		}
	case journal.ConnClosed:
		if e.Who == o.Who && first(&o.Closed, e) {
			o.ClosedBy = e.Op
		}
	case journal.SessionEnded:
		if e.Session == o.Session && o.Session != 0 && first(&o.Ended, e) {
			o.EndedAs = e.Op
		}
	case journal.SessionOpen:
		if e.Who != o.Who {
			break
		}
		switch {
		case !e.OK:
			first(&o.Learned, e)
		case o.Op == Network && e.Session == o.Session:
			first(&o.Back, e)
		}
	case journal.Pong:
		if e.Who == o.Who && o.Op == Network && !o.Healed.IsZero() && o.Closed.IsZero() {
			first(&o.Back, e) // the same connection lived on
		}
	case journal.Healed:
		if e.Who == o.Who && o.Op == Network {
			first(&o.Healed, e)
		}
	case journal.WatchEvent:
		if o.Node != "" && e.Op == "NodeDeleted" && path.Base(e.Node) == o.Node && path.Dir(e.Node) == o.Lock {
			first(&o.NodeGone, e)
			first(&o.FiredAt, e)
			o.Fired++
		} else if e.Node == o.Lock && !o.NodeGone.IsZero() && o.NextAt.IsZero() {
			o.Fired++
		}
	case journal.Queue:
		if e.Lock == o.Lock && o.Node != "" &&
			!slices.ContainsFunc(e.Nodes, func(n journal.Node) bool { return n.Name == o.Node }) {
			first(&o.NodeGone, e)
		}
	case journal.Belief:
		o.belief(e)
	}
}

func (o *Outage) belief(e *journal.Event) {
	o.believe(e)
	switch {
	case e.Who == o.Who && e.Belief == journal.Lost:
		first(&o.Learned, e)
	case e.Who != o.Who && e.Lock == o.Lock && e.Belief == journal.Holds && o.Held && first(&o.NextAt, e):
		o.Next, o.NextTok = e.Who, e.Token
	}
}

func (o *Outage) believe(e *journal.Event) {
	if e.Who == o.Who && len(o.Beliefs) < maxBeliefs {
		o.Beliefs = append(slices.Clip(o.Beliefs), BeliefMark{e.At, e.Belief})
	}
}
