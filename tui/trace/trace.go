package trace

import (
	"path"
	"slices"
	"strings"
	"time"

	"zklab/internal/journal"
)

// Limits on what a Tracer remembers, unless it is a Whole one.
const (
	MaxOutages  = 16
	MaxMessages = 2000
	MaxWrites   = 64
	maxPeople   = 1 << 14
)

// Trace is what a Tracer has found. It is a value: it does not change when the
// Tracer goes on.
type Trace struct {
	Outages  []Outage  // oldest first
	Messages []Message // oldest first
	Beats    []Message // heartbeats after them, one entry for each contestant
	Writes   []Write   // oldest first
	Traffic  map[string]Traffic
	At       time.Time // of the last event: Traffic is as of then
	// Lost are the times up to which older ones were forgotten; zero: all are there.
	Lost struct{ Outages, Messages, Writes time.Time }
}

// Traffic counts the frames of the contestants of one lock.
type Traffic struct {
	Requests, Replies, Events int
}

// Frames is how many frames passed in all.
func (t Traffic) Frames() int { return t.Requests + t.Replies + t.Events }

// person is what a Tracer knows of one contestant.
type person struct {
	lock    string
	session journal.SessionID
	node    string // full path
	listed  bool   // the server has said so
	token   int64
	holds   bool // by its belief
	timeout time.Duration
}

// Tracer makes a Trace of events. It is not safe for concurrent use.
type Tracer struct {
	whole    bool // there are no limits
	lost     struct{ Outages, Messages, Writes time.Time }
	at       time.Time
	people   map[string]*person
	outages  []Outage
	messages []Message
	beats    []Message // since the last of messages
	writes   []Write
	traffic  map[string]Traffic
	counting bool // traffic changed since the last Trace
	counted  map[string]Traffic
}

// New returns a Tracer that has seen nothing.
func New() *Tracer {
	return &Tracer{people: map[string]*person{}, traffic: map[string]Traffic{}}
}

// Whole returns a Tracer that forgets nothing, for a journal that has an end.
func Whole() *Tracer {
	t := New()
	t.whole = true
	return t
}

// Trace gives what was found so far.
func (t *Tracer) Trace() Trace {
	if t.counting || t.counted == nil {
		t.counted = make(map[string]Traffic, len(t.traffic))
		for k, v := range t.traffic {
			t.counted[k] = v
		}
		t.counting = false
	}
	return Trace{Outages: slices.Clone(t.outages), Messages: slices.Clip(t.messages), Beats: slices.Clone(t.beats),
		Writes: slices.Clip(t.writes), Traffic: t.counted, At: t.at, Lost: t.lost}
}

// Apply takes the next event.
func (t *Tracer) Apply(e *journal.Event) {
	t.at = e.At
	t.know(e)
	t.outage(e)
	t.message(e)
	t.write(e)
	t.count(e)
}

// know keeps who has which session and node.
func (t *Tracer) know(e *journal.Event) {
	if e.Type == journal.Queue {
		t.queue(e)
		return
	}
	if e.Who == "" {
		return
	}
	p := t.people[e.Who]
	if p == nil {
		if len(t.people) >= maxPeople {
			return
		}
		p = &person{}
		t.people[e.Who] = p
	}
	switch e.Type {
	case journal.Joined:
		p.lock = e.Lock
	case journal.SessionOpen:
		if e.OK {
			p.session, p.timeout = e.Session, e.Timeout
		}
	case journal.Belief:
		p.holds = e.Belief == journal.Holds
		if e.Node != "" {
			p.node = e.Node
		}
		if e.Token != 0 {
			p.token = e.Token
		}
		if e.Session != 0 {
			p.session = e.Session
		}
		if e.Lock != "" {
			p.lock = e.Lock
		}
	}
}

// queue gives each contestant the node that the server says its session owns.
func (t *Tracer) queue(e *journal.Event) {
	owner := make(map[journal.SessionID]journal.Node, len(e.Nodes))
	for _, n := range e.Nodes {
		owner[n.Owner] = n
	}
	for _, p := range t.people {
		n, owns := owner[p.session]
		switch {
		case owns && p.session != 0:
			p.node, p.listed = path.Join(e.Lock, n.Name), true
		case p.listed && (p.node == e.Lock || strings.HasPrefix(p.node, e.Lock+"/")):
			p.node, p.listed = "", false
		}
	}
}

func (t *Tracer) count(e *journal.Event) {
	p := t.people[e.Who]
	if p == nil || p.lock == "" {
		return
	}
	c := t.traffic[p.lock]
	switch e.Type {
	case journal.Request:
		c.Requests++
	case journal.Reply:
		c.Replies++
	case journal.WatchEvent:
		c.Events++
	default:
		return
	}
	t.traffic[p.lock] = c
	t.counting = true
}

// keep appends to a list that has a limit: when it is full, its older half goes, and
// lost becomes the time of the last that went.
func keep[T any](t *Tracer, list []T, v T, limit int, at func(T) time.Time, lost *time.Time) []T {
	if len(list) >= limit && !t.whole {
		gone := len(list) - limit/2
		*lost = at(list[gone-1])
		list = slices.Clone(list[gone:])
	}
	return append(list, v)
}
