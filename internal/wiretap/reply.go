package wiretap

// pending is a request whose reply has not come yet.
type pending struct {
	frame Frame // the request, as reported
	drop  bool  // its reply must not reach the client
}

// decodeEvent reads a watch event after its header.
func decodeEvent(j *jute, f *Frame) error {
	f.Kind = WatchEvent
	f.Event.Type = EventType(j.int())
	f.Event.State = j.int()
	f.Path = j.string()
	return wrap("the watch event", j.err)
}

// decodeReply reads a reply's body, after its header, into f. With partial,
// ending early is no error.
func decodeReply(j *jute, req *Frame, f *Frame, partial bool) error {
	f.Kind = Reply
	f.Op, f.Path, f.Mode, f.WatchMode = req.Op, req.Path, req.Mode, req.WatchMode
	f.Version, f.Watches = req.Version, req.Watches
	f.Watch = req.Watch && (f.Err == ErrOK || f.Op == OpExists && f.Err == ErrNoNode)
	if f.Err != ErrOK && f.Op != OpMulti {
		return nil
	}
	switch f.Op {
	case OpCreate:
		f.Created = j.string()
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		f.Created = j.string()
		f.Stat = j.stat()
	case OpExists, OpSetData, OpSetACL:
		f.Stat = j.stat()
	case OpGetData:
		f.DataLen = len(j.buffer())
		f.Stat = j.stat()
	case OpGetACL:
		j.skipACL()
		f.Stat = j.stat()
	case OpGetChildren, OpGetChildren2:
		decodeChildren(j, f, partial)
		if f.Op == OpGetChildren2 {
			f.Stat = j.stat()
		}
	case OpMulti, OpMultiRead:
		if f.Err == ErrOK || len(j.b) > 0 {
			f.Parts = decodeResults(j, req.Parts)
			f.Err = multiErr(f.Err, f.Parts)
		}
	}
	if j.err != nil && !partial {
		return wrap("the reply to "+f.Op.String(), j.err)
	}
	return nil
}

func decodeChildren(j *jute, f *Frame, partial bool) {
	if partial { // the names are not all here, their number is
		f.Count = int(max(0, j.int()))
		j.err = errShort
		return
	}
	f.Children = j.strings()
	f.Count = len(f.Children)
}

// multiErr finds why a multi failed. The server answers a failed multi with error
// 0 in the header and one error for each part: RuntimeInconsistency for those that
// were not the reason, 0 for those before the reason.
func multiErr(header int32, parts []Part) int32 {
	for _, p := range parts {
		if header == ErrOK && p.Err != ErrOK && p.Err != errRuntimeInconsistency {
			return p.Err
		}
	}
	return header
}

// decodeResults reads the results of a multi, each beside its request.
func decodeResults(j *jute, reqs []Part) []Part {
	var parts []Part
	for len(parts) < maxParts {
		op, done := Op(j.int()), j.bool()
		j.int()
		if done || j.err != nil {
			return parts
		}
		// The server answers a create2 as a create: how to read the result is for
		// the reply to say, what was asked is not.
		p := Part{Op: op}
		if len(parts) < len(reqs) {
			p = reqs[len(parts)]
		}
		switch op {
		case OpCreate:
			p.Path = j.string()
		case OpCreate2, OpCreateContainer, OpCreateTTL:
			p.Path, p.Stat = j.string(), j.stat()
		case OpSetData:
			p.Stat = j.stat()
		case OpGetData:
			p.DataLen = len(j.buffer())
			p.Stat = j.stat()
		case OpGetChildren:
			j.strings()
		case OpDelete, OpCheck:
		case opError:
			p.Err = j.int()
		default:
			j.err = errUnknown
		}
		if j.err != nil {
			return parts
		}
		parts = append(parts, p)
	}
	return parts
}
