package locktest

import (
	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// eventOf turns a relay's frame into a fact for the record. Frames that say
// nothing about a lock are left out.
func eventOf(who string, f wiretap.Frame) (journal.Event, bool) {
	e := journal.Event{At: f.At, By: journal.Wire, Who: who, Session: journal.SessionID(f.Session)}
	switch f.Kind {
	case wiretap.Opened:
		e.Type = journal.ConnOpened
	case wiretap.Closed:
		e.Type, e.Op, e.Text = journal.ConnClosed, string(f.By), f.Text
	case wiretap.SessionReply:
		e.Type, e.Timeout, e.OK = journal.SessionOpen, f.Timeout, !f.Expired()
	case wiretap.Request:
		e.Type, e.Xid, e.Op, e.Node = journal.Request, f.Xid, f.Op.String(), f.Path
		e.Watch = watchKind(f)
		if f.Op == wiretap.OpCreate || f.Op == wiretap.OpCreate2 || f.Op == wiretap.OpCreateContainer {
			e.Mode = f.Mode.String()
		}
		if f.Dropped {
			e.Text = "dropped"
		}
	case wiretap.Reply:
		e.Type, e.Xid, e.Op, e.Node = journal.Reply, f.Xid, f.Op.String(), f.Path
		e.Zxid, e.Latency, e.Children, e.Watch = f.Zxid, f.Latency, f.Count, watchKind(f)
		if f.Created != "" {
			e.Node = f.Created
		}
		if f.Err != wiretap.ErrOK {
			e.Err = wiretap.ErrName(f.Err)
		}
		if f.Dropped {
			e.Text = "dropped"
		}
	case wiretap.WatchEvent:
		e.Type, e.Node, e.Op = journal.WatchEvent, f.Path, f.Event.Type.String()
	case wiretap.Ping:
		e.Type = journal.Ping
	case wiretap.Pong:
		e.Type = journal.Pong
	case wiretap.CloseSession:
		e.Type = journal.CloseSession
	case wiretap.Undecoded:
		e.Type, e.Text = journal.Undecoded, f.Text
	default:
		return e, false
	}
	return e, true
}

func watchKind(f wiretap.Frame) journal.WatchKind {
	if !f.Watch {
		return ""
	}
	switch f.Op {
	case wiretap.OpExists:
		return journal.ExistsWatch
	case wiretap.OpGetChildren, wiretap.OpGetChildren2:
		return journal.ChildWatch
	}
	return journal.DataWatch
}
