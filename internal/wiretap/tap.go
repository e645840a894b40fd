package wiretap

import "errors"

var errStranger = errors.New("a reply without a request")

// find gives the index of the oldest pending request with this xid, or -1.
// Replies come in the order of their requests, so it is nearly always 0.
func (c *conn) find(xid int32) int {
	for i := range c.pending {
		if c.pending[i].frame.Xid == xid {
			return i
		}
	}
	return -1
}

func (c *conn) settle(i int) pending {
	p := c.pending[i]
	if p.drop {
		c.drops.Add(-1)
	}
	if i == 0 {
		c.pending[0] = pending{}
		c.pending = c.pending[1:]
	} else {
		c.pending = append(c.pending[:i], c.pending[i+1:]...)
	}
	return p
}

// passed decodes and reports a complete frame, just before its last byte is forwarded.
func (c *conn) passed(d Direction, a *assembly) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decode(d, a, false)
}

func (c *conn) decode(d Direction, a *assembly, dropped bool) {
	f := Frame{Dir: d, Size: a.size, Partial: a.partial(), Dropped: dropped}
	var err error
	switch {
	case !c.greeted[d]:
		err = c.greeting(d, a.body(), &f)
	case d == ToServer:
		err = c.request(a, &f)
	default:
		err = c.reply(a.body(), &f)
	}
	if err != nil {
		c.undecoded(&f, a.body(), err.Error())
		return
	}
	c.report(&f)
}

func (c *conn) undecoded(f *Frame, raw []byte, why string) {
	f.Kind, f.Text = Undecoded, why
	f.Raw = append([]byte(nil), raw[:min(len(raw), MaxRaw)]...)
	c.report(f)
}

func (c *conn) greeting(d Direction, body []byte, f *Frame) error {
	c.greeted[d] = true
	if d == ToServer {
		f.Kind = SessionRequest
		err := decodeConnect(body, f)
		c.asked = f.Session
		return err
	}
	f.Kind = SessionReply
	password, err := decodeConnected(body, f)
	if err != nil {
		return err
	}
	c.session = f.Session
	if f.Expired() {
		c.r.sessions.remove(c.asked)
	}
	if f.Session != 0 && f.Timeout > 0 {
		c.r.sessions.put(session{id: f.Session, password: string(password), timeout: f.Timeout, server: c.addr})
	}
	return nil
}

func (c *conn) request(a *assembly, f *Frame) error {
	err := decodeRequest(a.body(), f, f.Partial)
	if len(a.body()) >= 8 && len(c.pending) < maxPending {
		p := pending{frame: *f, drop: a.drop}
		p.frame.At = c.r.now()
		if p.drop {
			c.drops.Add(1)
		}
		c.pending = append(c.pending, p)
	}
	return err
}

func (c *conn) reply(body []byte, f *Frame) error {
	j := jute{b: body}
	f.Xid, f.Zxid, f.Err = j.int(), j.long(), j.int()
	if j.err != nil {
		if !f.Dropped {
			return wrap("the reply header", j.err)
		}
		f.Zxid, f.Err = 0, 0
	}
	if f.Xid == xidEvent {
		return decodeEvent(&j, f)
	}
	i := c.find(f.Xid)
	if i < 0 {
		return errStranger
	}
	p := c.settle(i)
	f.Latency = c.r.now().Sub(p.frame.At)
	if f.Xid == xidPing {
		f.Kind, f.Op = Pong, OpPing
		return nil
	}
	if p.frame.Op == OpCloseSession && f.Err == ErrOK {
		c.r.sessions.remove(c.session)
	}
	return decodeReply(&j, &p.frame, f, f.Partial)
}

// notZooKeeper reports a direction that is forwarded undecoded from here on.
func (c *conn) notZooKeeper(d Direction, before, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw := append(append([]byte(nil), before...), b[:min(len(b), MaxRaw)]...)
	c.undecoded(&Frame{Dir: d, Size: len(before) + len(b)}, raw, "an impossible frame length: forwarded undecoded from here on")
}

// truncated reports a frame whose rest never came.
func (c *conn) truncated(d Direction, a *assembly) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undecoded(&Frame{Dir: d, Size: a.got}, a.body(), "the connection ended within a frame")
}
