package wiretap

import (
	"errors"
	"fmt"
)

var (
	errXid     = errors.New("its xid does not fit the operation")
	errUnknown = errors.New("the operation is not known")
)

// maxParts bounds the operations of a multi that are decoded.
const maxParts = 1 << 16

// The xids that are not numbers of requests.
const (
	xidEvent      int32 = -1
	xidPing       int32 = -2
	xidAuth       int32 = -4
	xidSetWatches int32 = -8
)

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", what, err)
}

// decodeRequest reads a client's frame into f. On an error f keeps what was
// read before it: at least xid and operation when there were eight bytes. With
// partial, body is only the beginning of the frame, and ending early is no
// error once xid and operation are known.
func decodeRequest(body []byte, f *Frame, partial bool) error {
	j := jute{b: body}
	f.Xid, f.Op = j.int(), Op(j.int())
	if j.err != nil {
		return wrap("the request header", j.err)
	}
	switch f.Op {
	case OpPing:
		f.Kind = Ping
	case OpCloseSession:
		f.Kind = CloseSession
	default:
		f.Kind = Request
	}
	if (f.Op == OpPing) != (f.Xid == xidPing) {
		return wrap("the request is odd:", errXid)
	}
	if err := decodeBody(&j, f); err != nil {
		return wrap("the "+f.Op.String()+" request:", err)
	}
	if j.err != nil && !partial {
		return wrap("the "+f.Op.String()+" request", j.err)
	}
	return nil
}

func decodeBody(j *jute, f *Frame) error {
	switch f.Op {
	case OpPing, OpCloseSession, OpWhoAmI, OpSASL, OpReconfig:
	case OpAuth:
		j.int()
		j.buffer() // scheme
		j.buffer() // the credentials are nobody's business
	case OpSetWatches, OpSetWatches2:
		f.LastZxid = j.long()
		w := &WatchList{Data: j.strings(), Exists: j.strings(), Children: j.strings()}
		if f.Op == OpSetWatches2 {
			w.Persistent, w.Recursive = j.strings(), j.strings()
		}
		f.Watches = w
	case OpAddWatch:
		f.Path, f.WatchMode, f.Watch = j.string(), WatchMode(j.int()), true
	case OpSync, OpGetACL, OpGetEphemerals, OpGetAllChildrenNumber,
		OpCheckWatches, OpRemoveWatches, OpDeleteContainer:
		f.Path = j.string()
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		f.Path, f.Watch = j.string(), j.bool()
	case OpMulti, OpMultiRead:
		f.Parts = decodeParts(j)
		if len(f.Parts) > 0 {
			f.Path = f.Parts[0].Path
		}
	case OpSetACL:
		f.Path = j.string()
		j.skipACL()
		f.Version = j.int()
	default:
		var p Part
		if !decodePart(j, f.Op, &p) {
			return errUnknown
		}
		f.Path, f.Mode, f.Version, f.DataLen = p.Path, p.Mode, p.Version, p.DataLen
	}
	return nil
}

// decodePart reads the operations that can stand alone or in a multi.
func decodePart(j *jute, op Op, p *Part) bool {
	p.Op = op
	p.Path = j.string()
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		p.DataLen = len(j.buffer())
		j.skipACL()
		p.Mode = CreateMode(j.int())
		if op == OpCreateTTL {
			j.long()
		}
	case OpDelete, OpCheck:
		p.Version = j.int()
	case OpSetData:
		p.DataLen = len(j.buffer())
		p.Version = j.int()
	case OpGetData, OpGetChildren: // only in a multiRead
		j.bool()
	default:
		return false
	}
	return true
}

func decodeParts(j *jute) []Part {
	var parts []Part
	for len(parts) < maxParts {
		op, done := Op(j.int()), j.bool()
		j.int()
		if done || j.err != nil {
			return parts
		}
		var p Part
		if !decodePart(j, op, &p) && j.err == nil {
			j.err = errUnknown
		}
		if j.err != nil {
			return parts
		}
		parts = append(parts, p)
	}
	return parts
}

// headIsEnough reports whether the first bytes of a request's body tell what a Match
// asks for: operation and every path.
func headIsEnough(head []byte) bool {
	j := jute{b: head}
	j.int()
	switch op := Op(j.int()); {
	case j.err != nil:
		return false
	case op == OpMulti || op == OpMultiRead:
		return false // its paths are spread over the whole frame
	case op == OpPing || op == OpCloseSession || op == OpWhoAmI || op == OpSASL ||
		op == OpReconfig || op == OpAuth || op == OpSetWatches || op == OpSetWatches2:
		return true
	}
	j.buffer()
	return j.err != errShort
}
