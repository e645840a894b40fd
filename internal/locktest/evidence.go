package locktest

import (
	"path"
	"slices"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// Watch is a watch that a client has at the server, as the wire says.
type Watch struct {
	Node string // full path
	Kind journal.WatchKind
}

// Name is the node's name in the lock path, or "the list" for a child watch on
// the lock path itself.
func (w Watch) Name(l *Lab) string {
	if w.Node == l.path {
		return "the list"
	}
	return path.Base(w.Node)
}

// Armed lists the watches that a client has at the server now.
func (c *Client) Armed() []Watch {
	var armed []Watch
	for _, s := range c.lab.All() {
		if s.Who != c.Name {
			continue
		}
		switch s.Type {
		case journal.Reply:
			if s.Watch != "" && s.Text != "dropped" {
				armed = append(armed, Watch{s.Node, s.Watch})
			}
		case journal.WatchEvent:
			armed = disarm(armed, s.Node, s.Op)
		case journal.ConnClosed:
			armed = nil
		case journal.Request:
			armed = append(armed, setAgain(s)...)
		}
	}
	return armed
}

// setAgain lists the watches that a client sets again after it came back.
func setAgain(s Seen) []Watch {
	if s.Frame == nil || s.Frame.Watches == nil {
		return nil
	}
	var again []Watch
	for kind, nodes := range map[journal.WatchKind][]string{
		journal.DataWatch: s.Frame.Watches.Data, journal.ExistsWatch: s.Frame.Watches.Exists, journal.ChildWatch: s.Frame.Watches.Children,
	} {
		for _, node := range nodes {
			again = append(again, Watch{node, kind})
		}
	}
	return again
}

// disarm takes away the watches that an event has used up.
func disarm(armed []Watch, node, event string) []Watch {
	var left []Watch
	for _, w := range armed {
		child := w.Kind == journal.ChildWatch
		fired := w.Node == node && (event == "NodeDeleted" || child == (event == "NodeChildrenChanged"))
		if !fired {
			left = append(left, w)
		}
	}
	return left
}

// WouldWake reports whether the end of a node wakes the client.
func (c *Client) WouldWake(node string) bool {
	for _, w := range c.Armed() {
		if w.Node == node || w.Node == path.Dir(node) && w.Kind == journal.ChildWatch {
			return true
		}
	}
	return false
}

// Requests counts the client's requests of some operations since a moment; of
// all operations when none is named.
func (c *Client) Requests(since time.Time, ops ...string) int {
	n := 0
	for _, s := range c.lab.Since(since) {
		if s.Who == c.Name && s.Type == journal.Request && (len(ops) == 0 || contains(ops, s.Op)) {
			n++
		}
	}
	return n
}

// Did reports whether the client has done one of the steps since a moment, named
// as in Doing.
func (c *Client) Did(since time.Time, what ...string) bool {
	for _, s := range c.lab.Since(since) {
		if s.Who == c.Name && contains(what, verb(s)) {
			return true
		}
	}
	return false
}

// Creates lists the nodes that the client has tried to create, by their create
// requests: the frame of the request, and the node when the reply came through.
func (c *Client) Creates() []Created {
	var all []Created
	for _, s := range c.lab.All() {
		if s.Who != c.Name || !strings.HasPrefix(s.Op, "create") {
			continue
		}
		switch s.Type {
		case journal.Request:
			all = append(all, Created{Asked: s.Node, Mode: s.Mode, xid: s.Xid, At: s.At})
		case journal.Reply:
			for i := range all {
				if all[i].xid == s.Xid && s.Err == "" && s.Text != "dropped" {
					all[i].Node = s.Node
				}
			}
		}
	}
	return all
}

// Created is one create of a client.
type Created struct {
	Asked string // the path in the request
	Node  string // the path in the reply; "" when none came
	Mode  string // persistent, ephemeral, ephemeral-sequential, …
	At    time.Time
	xid   int32
}

// Node is the newest node that the client knows it has created; "" if none.
func (c *Client) Node() string {
	node := ""
	for _, made := range c.Creates() {
		if made.Node != "" {
			node = made.Node
		}
	}
	return node
}

// Owner is the client that has created a node; "" when none is known.
func (l *Lab) Owner(node string) string {
	for _, c := range l.clients {
		for _, made := range c.Creates() {
			if made.Node == node && node != "" {
				return c.Name
			}
		}
	}
	return ""
}

// Polling is asking again and again while nothing changes: so many reads in a row
// without a watch, or so many in all. To look at a queue takes two reads, and may
// have to be done again.
const (
	blindReads    = 5
	restlessReads = 12
)

// Polls reports whether the client polls. It counts its reads since it was last
// woken, changed something, or came back.
func (c *Client) Polls() bool {
	blind, all := 0, 0
	for _, s := range c.lab.All() {
		if s.Who != c.Name {
			continue
		}
		switch {
		case s.Type == journal.WatchEvent, s.Type == journal.ConnOpened, s.Type == journal.Request && !reads(s.Op):
			blind, all = 0, 0
		case s.Type == journal.Reply && s.Watch != "":
			blind = 0
		case s.Type == journal.Request:
			all++
			if s.Watch == "" {
				blind++
			}
		}
		if blind >= blindReads || all >= restlessReads {
			return true
		}
	}
	return false
}

// calm is how long a client that waits must have been silent.
const calm = 50 * time.Millisecond

// Calm waits until a client has been silent for a moment, as one that waits for a
// watch is, or until it shows that it polls, or done.
func (c *Client) Calm(done func() bool) {
	c.lab.Until(func() bool {
		if done() || c.Polls() {
			return true
		}
		all := c.lab.All()
		for i := len(all) - 1; i >= 0; i-- {
			if s := all[i]; s.Who == c.Name && (s.Type == journal.Request || s.Type == journal.Reply) {
				return time.Since(s.At) > calm
			}
		}
		return true
	})
}

// silence is how long those who wait are listened to. Whoever asks again each second
// is heard.
const silence = 1500 * time.Millisecond

// Silent reports whether clients that wait ask nothing again while nothing changes. It
// listens for a while, less when one of them asks again. What one asks for the first time
// does not count: on a busy machine its watch may be there before it has looked at all
// that it looks at.
func (l *Lab) Silent(clients ...*Client) bool {
	start := time.Now()
	again := func() bool {
		return slices.ContainsFunc(clients, func(c *Client) bool { return c.AsksAgain(start) })
	}
	l.Until(func() bool { return again() || time.Since(start) > silence })
	return !again()
}

// AsksAgain reports whether the client has sent a request since a moment that is no
// first look: it changes something, or the client has read the same since it was last
// woken, came back or changed something.
func (c *Client) AsksAgain(since time.Time) bool {
	read := map[string]bool{}
	for _, s := range c.lab.All() {
		if s.Who != c.Name {
			continue
		}
		switch {
		case s.Type == journal.WatchEvent, s.Type == journal.ConnOpened:
			clear(read)
		case s.Type != journal.Request:
		case !reads(s.Op):
			if !s.At.Before(since) {
				return true
			}
			clear(read)
		default:
			if !s.At.Before(since) && read[s.Node] {
				return true
			}
			read[s.Node] = true
		}
	}
	return false
}

func reads(op string) bool {
	switch op {
	case wiretap.OpExists.String(), wiretap.OpGetData.String(), wiretap.OpGetChildren.String(), wiretap.OpGetChildren2.String():
		return true
	}
	return false
}

// Flush waits until everything that passed a live client's relay is in the
// record.
func (l *Lab) Flush() {
	for _, c := range l.clients {
		if c.dead || c.Conn == nil {
			continue
		}
		start := time.Now()
		if _, _, err := c.Conn.Exists(flushPath); err != nil {
			continue
		}
		deadline := time.Now().Add(time.Second)
		for !c.answered(start) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
}

// flushPath is asked for by Flush; what concerns it is no evidence.
const flushPath = "/locktest-flush"

func (c *Client) answered(since time.Time) bool {
	c.lab.mu.Lock()
	defer c.lab.mu.Unlock()
	return c.flushed.After(since)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
