package trace

import (
	"time"

	"zklab/internal/journal"
)

// Message is one frame that passed between a contestant and the server.
type Message struct {
	At       time.Time
	Who      string
	Type     journal.Type // Request, Reply, WatchEvent, Ping, CloseSession, ConnOpened, ConnClosed, SessionOpen
	Op       string
	Node     string
	Err      string
	Watch    journal.WatchKind
	Children int
	Latency  time.Duration
	Session  journal.SessionID
	Timeout  time.Duration
	OK       bool
	Beats    int // heartbeats folded into this one
}

// ToServer says in which direction the frame went.
func (m Message) ToServer() bool {
	switch m.Type {
	case journal.Request, journal.Ping, journal.CloseSession, journal.ConnOpened:
		return true
	case journal.ConnClosed:
		return m.Op == "client"
	}
	return false
}

func (t *Tracer) message(e *journal.Event) {
	switch e.Type {
	case journal.Request, journal.Reply, journal.WatchEvent, journal.CloseSession, journal.ConnOpened,
		journal.ConnClosed, journal.SessionOpen:
	case journal.Ping:
		t.beat(e)
		return
	default:
		return
	}
	m := Message{At: e.At, Who: e.Who, Type: e.Type, Op: e.Op, Node: e.Node, Err: e.Err, Watch: e.Watch,
		Children: e.Children, Latency: e.Latency, Session: e.Session, Timeout: e.Timeout, OK: e.OK}
	for _, b := range t.beats {
		t.keepMessage(b)
	}
	t.beats = nil
	t.keepMessage(m)
}

func (t *Tracer) keepMessage(m Message) {
	t.messages = keep(t, t.messages, m, MaxMessages, func(m Message) time.Time { return m.At }, &t.lost.Messages)
}

// beat counts a heartbeat with those that passed since the last other frame.
func (t *Tracer) beat(e *journal.Event) {
	for i := range t.beats {
		if t.beats[i].Who == e.Who {
			t.beats[i].Beats++
			return
		}
	}
	t.beats = append(t.beats, Message{At: e.At, Who: e.Who, Type: e.Type, Beats: 1})
}
