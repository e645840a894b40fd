package journal

import "slices"

// applyWire takes a frame that passed a contestant's relay.
func (f *Folder) applyWire(e *Event) {
	if e.Who == "" {
		return
	}
	c := f.contestant(e.Who)
	switch e.Type {
	case ConnOpened:
		c.conns++
	case ConnClosed:
		c.conns = max(c.conns-1, 0)
		if c.conns == 0 {
			f.dropWatches(c)
		}
	case SessionOpen:
		if e.OK {
			f.bind(c, e.Session, e.Timeout)
			c.Heard = e.At
		} else if c.SessionEnd.IsZero() {
			c.SessionEnd, c.EndedBy = e.At, "expired"
		}
	case Request:
		if e.Err != "" {
			c.met("fail-write")
			break // a fault kept it from the server
		}
		c.Heard = e.At
		c.ask(e)
		if e.Op == "delete" {
			f.deleteAsked(e)
		}
	case Reply:
		if e.Text != "" {
			c.met("drop-reply")
		}
		f.replied(c, e)
	case WatchEvent:
		c.Watch = WatchMark{Node: e.Node, At: e.At}
		c.wire = without(c.wire, e.Node, e.Op)
		if s := f.watched[c.Session]; len(s) > 0 {
			f.setWatched(c.Session, without(s, e.Node, e.Op))
		}
		if e.Op == "NodeDeleted" {
			f.nodeGone(e.Node, e)
		}
		f.woke(e)
	case Ping, CloseSession:
		if e.Err == "" {
			c.Heard = e.At
		}
	}
	c.Connected = c.conns > 0
}

// met takes a fault away that has happened, once.
func (c *contestant) met(fault string) {
	if i := slices.Index(c.Faults, fault); i >= 0 {
		c.Faults = slices.Delete(slices.Clone(c.Faults), i, i+1)
	}
}

// ask keeps what a reply will need to know of its request.
func (c *contestant) ask(e *Event) {
	keep := c.pending
	if len(keep) >= maxPending {
		keep = keep[1:]
	}
	c.pending = append(slices.Clip(keep), pending{e.Xid, e.Op, e.Node, e.Watch, e.WatchedBy})
}

// replied arms the watch that the request left at the server, and counts a
// release once its delete is answered.
func (f *Folder) replied(c *contestant, e *Event) {
	i := slices.IndexFunc(c.pending, func(p pending) bool { return p.xid == e.Xid })
	if i < 0 {
		return
	}
	p := c.pending[i]
	c.pending = slices.Delete(slices.Clone(c.pending), i, i+1)
	ok := e.Err == ""
	// exists on a missing node leaves its watch behind; the others do not.
	if p.watch != "" && (ok || p.watch == ExistsWatch && e.Err == "NoNode") {
		c.arm(Watched{Node: p.node, Kind: p.watch, By: Wire})
	}
	if ok {
		for _, w := range p.again {
			c.arm(Watched{Node: w.Node, Kind: ChildWatch, By: Wire})
		}
	}
	if p.op == "delete" && ok {
		f.nodeGone(p.node, e)
		f.deleted(p.node, e)
	}
}

// arm notes a watch that the frames show to be at the server now.
func (c *contestant) arm(w Watched) {
	if !slices.Contains(c.wire, w) {
		c.wire = append(slices.Clip(c.wire), w)
	}
}

// nodeGone notes when a contestant's znode was first seen to be deleted: by the
// answer to a delete, or by the event that a watch on it fired.
func (f *Folder) nodeGone(node string, e *Event) {
	for i := range f.contestants {
		if c := &f.contestants[i]; c.Node == node && node != "" && c.NodeGone.IsZero() {
			c.NodeGone = e.At
			return
		}
	}
}

// dropWatches forgets the watches of a contestant whose connection is gone: the
// server drops them with the connection.
func (f *Folder) dropWatches(c *contestant) {
	c.wire, c.pending = nil, nil
	if f.watched[c.Session] != nil {
		f.setWatched(c.Session, nil)
	}
}

// setWatched replaces what the server was read to hold for one session. The map
// is copied, because clones share it.
func (f *Folder) setWatched(s SessionID, to []Watched) {
	next := make(map[SessionID][]Watched, len(f.watched))
	for k, v := range f.watched {
		if k != s {
			next[k] = v
		}
	}
	if len(to) > 0 {
		next[s] = to
	}
	f.watched = next
}

// without returns the watches that a watch event leaves: those it fired are gone.
func without(ws []Watched, node, op string) []Watched {
	if !slices.ContainsFunc(ws, func(w Watched) bool { return fires(w, node, op) }) {
		return ws
	}
	return slices.DeleteFunc(slices.Clone(ws), func(w Watched) bool { return fires(w, node, op) })
}

// fires reports whether an event of that kind on that node uses up the watch.
func fires(w Watched, node, op string) bool {
	if w.Node != node {
		return false
	}
	switch op {
	case "NodeChildrenChanged":
		return w.Kind == ChildWatch
	case "NodeCreated", "NodeDataChanged":
		return w.Kind != ChildWatch
	default:
		return true
	}
}

// unlisted keeps of the watches by the wire those that a reading of the server
// confirms or, as with child watches, does not list by its nature.
func unlisted(ws []Watched, known map[SessionID][]Watched, s SessionID) []Watched {
	listed := known[s]
	return slices.DeleteFunc(slices.Clone(ws), func(w Watched) bool {
		return w.Kind != ChildWatch && !slices.ContainsFunc(listed, func(l Watched) bool { return l.Node == w.Node })
	})
}
