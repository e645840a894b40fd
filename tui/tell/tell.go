// Package tell puts the events of a journal into words: one line for each fact
// that a person wants to read, and none for the readings and heartbeats in
// between.
package tell

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"zklab/internal/journal"
)

// Line is one told fact.
type Line struct {
	Seq  int64
	At   time.Time
	By   journal.Observer
	Type journal.Type
	Who  string // a contestant, or the observer
	Text string
	Mood Mood
}

// Mood says what kind of news a line is.
type Mood int

// The moods.
const (
	Plain Mood = iota
	Grant      // a lock was given
	Wake       // a watch fired
	Harm       // something was killed, stopped, cut, lost or refused
	Aside      // narration
)

// Teller tells events in order. It remembers the last readings of the server,
// so that it can say what a new one changed. It is not safe for concurrent use.
type Teller struct {
	nodes map[string][]journal.Node
	who   map[journal.SessionID]string
}

// New returns a Teller that has heard nothing.
func New() *Teller {
	return &Teller{nodes: map[string][]journal.Node{}, who: map[journal.SessionID]string{}}
}

// maxNamed is how many sessions a Teller knows the contestants of.
const maxNamed = 1 << 16

// Tell puts one event into words. Most readings and all heartbeats give none.
func (t *Teller) Tell(e journal.Event) []Line {
	if e.Session != 0 && e.Who != "" && len(t.who) < maxNamed {
		t.who[e.Session] = e.Who
	}
	switch e.By {
	case journal.Lab:
		return t.lab(e)
	case journal.Process:
		return t.process(e)
	case journal.Wire:
		return t.wire(e)
	case journal.Server:
		return t.server(e)
	}
	return nil
}

func line(e journal.Event, mood Mood, format string, args ...any) []Line {
	who := e.Who
	if who == "" {
		who = string(e.By)
	}
	return []Line{{Seq: e.Seq, At: e.At, By: e.By, Type: e.Type, Who: who, Text: fmt.Sprintf(format, args...), Mood: mood}}
}

func (t *Teller) lab(e journal.Event) []Line {
	switch e.Type {
	case journal.Note, journal.Step:
		return line(e, Aside, "%s", e.Text)
	case journal.Expect:
		if e.OK {
			return line(e, Grant, "as expected: %s", e.Text)
		}
		return line(e, Harm, "NOT as expected: %s%s", e.Text, because(e.Err))
	case journal.Joined:
		return line(e, Plain, "joins %s (%s)", e.Lock, e.Recipe)
	case journal.Asked:
		return line(e, Plain, "asked to %s", e.Op)
	case journal.Signal:
		return line(e, Harm, "%s to pid %d%s", e.Op, e.PID, signalMeans[e.Op])
	case journal.Fault:
		return line(e, Harm, "network: %s%s", e.Op, because(e.Text))
	case journal.Healed:
		return line(e, Plain, "network healed")
	}
	return nil
}

var signalMeans = map[string]string{
	"SIGKILL": ": process gone, its session lives on",
	"SIGSTOP": ": process alive, heartbeats stop",
	"SIGCONT": ": it goes on where it was",
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func (t *Teller) process(e journal.Event) []Line {
	switch e.Type {
	case journal.Exited:
		return line(e, Harm, "process %d ended: %s", e.PID, e.Text)
	case journal.Belief:
		return belief(e)
	case journal.Write:
		if e.OK {
			return line(e, Plain, "wrote with token 0x%x: accepted%s", e.Token, because(e.Text))
		}
		return line(e, Harm, "wrote with token 0x%x: REFUSED%s", e.Token, because(e.Text))
	}
	return nil
}

func belief(e journal.Event) []Line {
	switch e.Belief {
	case journal.Holds:
		return line(e, Grant, "is lowest → HOLDS, token czxid 0x%x", e.Token)
	case journal.Released:
		return line(e, Plain, "released")
	case journal.Suspended:
		return line(e, Harm, "connection gone: no longer sure")
	case journal.Lost:
		return line(e, Harm, "knows that its session is over")
	case journal.Failed:
		return line(e, Harm, "failed%s", because(e.Err))
	}
	return nil
}

func (t *Teller) wire(e journal.Event) []Line {
	switch e.Type {
	case journal.ConnClosed:
		return line(e, Harm, "connection closed by %s", e.Op)
	case journal.SessionOpen:
		if !e.OK {
			return line(e, Harm, "session refused: expired")
		}
		return line(e, Plain, "session %s, timeout %v", e.Session, e.Timeout)
	case journal.Request:
		return request(e)
	case journal.Reply:
		if e.Err != "" {
			return line(e, Plain, "%s %s → %s", e.Op, path.Base(e.Node), e.Err)
		}
		if strings.HasPrefix(e.Op, "create") {
			return line(e, Plain, "create → %s", path.Base(e.Node))
		}
	case journal.WatchEvent:
		return line(e, Wake, "watch fired: %s %s → %s", e.Op, path.Base(e.Node), e.Who)
	case journal.CloseSession:
		return line(e, Plain, "closes its session")
	case journal.Undecoded:
		return line(e, Plain, "bytes that the relay could not read%s", because(e.Text))
	}
	return nil
}

// request tells what a client asks for. A create is told when its name is
// known, with the reply.
func request(e journal.Event) []Line {
	node := path.Base(e.Node)
	switch {
	case e.Op == "delete":
		return line(e, Plain, "delete %s", node)
	case e.Watch == journal.DataWatch:
		return line(e, Plain, "get -w %s", node)
	case e.Watch == journal.ExistsWatch:
		return line(e, Plain, "exists -w %s", node)
	case e.Watch == journal.ChildWatch:
		return line(e, Plain, "ls -w %s", node)
	}
	return nil
}

func (t *Teller) server(e journal.Event) []Line {
	switch e.Type {
	case journal.ServerUp:
		return line(e, Plain, "%s is up: %s", e.Text, e.Mode)
	case journal.ServerDown:
		return line(e, Harm, "%s is down", e.Text)
	case journal.SessionEnded:
		mood := Plain
		if e.Op == "expired" {
			mood = Harm
		}
		out := line(e, mood, "session %s %s%s", e.Session, e.Op, t.whose(e.Session))
		out[0].Who = string(journal.Server)
		return out
	case journal.Queue:
		return t.queue(e)
	}
	return nil
}

func (t *Teller) whose(s journal.SessionID) string {
	if who := t.who[s]; who != "" {
		return " (" + who + ")"
	}
	return ""
}

// queue tells which nodes a new reading of a lock no longer lists. New ones were
// told by their create, unless a stranger made them.
func (t *Teller) queue(e journal.Event) []Line {
	var out []Line
	for _, n := range t.nodes[e.Lock] {
		if !slices.ContainsFunc(e.Nodes, func(m journal.Node) bool { return m.Name == n.Name && m.Czxid == n.Czxid }) {
			out = append(out, line(e, Plain, "deleted %s%s", n.Name, t.whose(n.Owner))...)
		}
	}
	for _, n := range e.Nodes {
		if _, known := t.who[n.Owner]; known {
			continue
		}
		if !slices.ContainsFunc(t.nodes[e.Lock], func(m journal.Node) bool { return m.Name == n.Name && m.Czxid == n.Czxid }) {
			out = append(out, line(e, Plain, "new %s", n.Name)...)
		}
	}
	t.nodes[e.Lock] = e.Nodes
	return out
}
