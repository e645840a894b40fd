package lab

import (
	"fmt"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// eventOf turns a frame of a contestant's relay into an event, and reports false
// for what the journal does not keep.
func eventOf(who string, f *wiretap.Frame) (journal.Event, bool) {
	e := journal.Event{At: f.At, By: journal.Wire, Who: who, Session: journal.SessionID(f.Session)}
	if f.Dropped {
		e.Err = "cut before it passed"
	}
	switch f.Kind {
	case wiretap.Opened:
		e.Type, e.Text = journal.ConnOpened, f.Server
	case wiretap.Closed:
		e.Type, e.Op, e.Text = journal.ConnClosed, string(f.By), f.Text
	case wiretap.SessionReply:
		e.Type, e.Timeout, e.OK = journal.SessionOpen, f.Timeout, !f.Expired()
	case wiretap.Request:
		e.Type = journal.Request
		operation(&e, f)
	case wiretap.Reply:
		e.Type, e.Zxid, e.Latency, e.Children = journal.Reply, f.Zxid, f.Latency, f.Count
		operation(&e, f)
		if f.Created != "" {
			e.Node = f.Created
		}
		// A reply that the client never got is still what the server did.
		e.Err, e.Text = "", e.Err
		if f.Err != wiretap.ErrOK {
			e.Err = wiretap.ErrName(f.Err)
		}
	case wiretap.WatchEvent:
		if f.Event.Type == wiretap.EventNone {
			return e, false
		}
		e.Type, e.Node, e.Op, e.Zxid = journal.WatchEvent, f.Path, f.Event.Type.String(), f.Zxid
	case wiretap.Ping:
		e.Type = journal.Ping
	case wiretap.Pong:
		e.Type, e.Latency = journal.Pong, f.Latency
	case wiretap.CloseSession:
		e.Type = journal.CloseSession
	case wiretap.Undecoded:
		e.Type, e.Text = journal.Undecoded, fmt.Sprintf("%s (%d bytes)", f.Text, f.Size)
	default:
		return e, false
	}
	return e, true
}

// operation fills in what request and reply have in common.
func operation(e *journal.Event, f *wiretap.Frame) {
	e.Xid, e.Op, e.Node = f.Xid, f.Op.String(), f.Path
	switch f.Op {
	case wiretap.OpCreate, wiretap.OpCreate2, wiretap.OpCreateContainer, wiretap.OpCreateTTL:
		e.Mode = f.Mode.String()
	case wiretap.OpGetData:
		e.Watch = kindIf(f.Watch, journal.DataWatch)
	case wiretap.OpExists:
		e.Watch = kindIf(f.Watch, journal.ExistsWatch)
	case wiretap.OpGetChildren, wiretap.OpGetChildren2:
		e.Watch = kindIf(f.Watch, journal.ChildWatch)
	case wiretap.OpSetWatches, wiretap.OpSetWatches2:
		if f.Watches != nil {
			// Data watches are in the server's own list; child watches only here.
			for _, path := range f.Watches.Children {
				e.WatchedBy = append(e.WatchedBy, journal.WatchedNode{Node: path})
			}
		}
	}
}

func kindIf(on bool, kind journal.WatchKind) journal.WatchKind {
	if !on {
		return ""
	}
	return kind
}

// moves reports whether the frame can mean that a queue has changed.
func moves(f *wiretap.Frame) bool {
	switch f.Kind {
	case wiretap.WatchEvent, wiretap.Closed, wiretap.CloseSession:
		return true
	case wiretap.Reply:
		switch f.Op {
		case wiretap.OpCreate, wiretap.OpCreate2, wiretap.OpCreateTTL, wiretap.OpDelete, wiretap.OpMulti, wiretap.OpCloseSession:
			return true
		}
	}
	return false
}
