package trace

import (
	"path"
	"slices"
	"time"

	"zklab/internal/journal"
)

// Outage is how it went on after a contestant's process got SIGKILL or SIGSTOP.
// Times that have not come are zero.
type Outage struct {
	Who     string
	PID     int
	Op      string // SIGKILL, SIGSTOP
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
}

// Over says whether nothing more is to come, as far as can be told.
func (o Outage) Over() bool {
	if o.Ended.IsZero() || o.NodeGone.IsZero() && o.Node != "" || o.Held && o.NextAt.IsZero() {
		return false
	}
	return o.Op == "SIGKILL" || !o.Learned.IsZero()
}

func (t *Tracer) outage(e *journal.Event) {
	if e.Type == journal.Signal {
		t.signal(e)
		return
	}
	for i := range t.outages {
		if o := &t.outages[i]; !o.Over() {
			o.apply(e)
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
		p := t.people[e.Who]
		if p == nil {
			p = &person{}
		}
		t.outages = keep(t.outages, Outage{Who: e.Who, PID: e.PID, Op: e.Op, At: e.At, Held: p.holds, Lock: p.lock,
			Node: nodeName(p.node), Session: p.session, Timeout: p.timeout, Token: p.token}, MaxOutages)
	}
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
		if e.Who == o.Who && !e.OK {
			first(&o.Learned, e)
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
	switch {
	case e.Who == o.Who && e.Belief == journal.Lost:
		first(&o.Learned, e)
	case e.Who != o.Who && e.Lock == o.Lock && e.Belief == journal.Holds && o.Held && first(&o.NextAt, e):
		o.Next, o.NextTok = e.Who, e.Token
	}
}
