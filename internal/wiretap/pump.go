package wiretap

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// errCut is returned when a fault cuts the connection.
var errCut = errors.New("cut by a fault")

// pump carries one direction of a connection. While no fault holds bytes back the
// reading goroutine forwards them itself; otherwise it queues them, and the
// second goroutine forwards them when they are due. At any moment only one of
// the two forwards: the reader only while the queue is empty and idle.
type pump struct {
	c     *conn
	dir   Direction
	src   *net.TCPConn
	dst   *net.TCPConn // of the direction to the server nil until the first bytes pass
	out   io.Writer    // dst, once there is one
	queue *queue
	frame assembly
	raw   bool // not ZooKeeper's protocol: forward only
	deaf  bool // dst takes nothing more
}

func newPump(c *conn, d Direction, src, dst *net.TCPConn) *pump {
	return &pump{c: c, dir: d, src: src, dst: dst, out: dst, queue: newQueue()}
}

func (p *pump) read(ctx context.Context) {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.src.Read(buf)
		if n > 0 {
			p.c.r.count.bytes[p.dir].Add(int64(n))
			if !p.take(ctx, buf[:n], nil) {
				return
			}
		}
		if err != nil {
			p.c.sourceEnded(p.dir, err)
			p.take(ctx, nil, err)
			return
		}
	}
}

// take forwards what was read, or queues it.
func (p *pump) take(ctx context.Context, b []byte, end error) bool {
	if p.queue.busy.Load() > 0 || !p.c.r.faults.transparent(p.dir) {
		return p.queue.put(ctx, time.Now(), b, end)
	}
	return p.forward(b, end)
}

// drain forwards what is queued, each item when it is due.
func (p *pump) drain(ctx context.Context) {
	for {
		it, ok := p.queue.first(ctx)
		if !ok || !p.wait(ctx, it.at) {
			return
		}
		ok = p.forward(it.b, it.end)
		p.queue.done()
		if !ok {
			return
		}
	}
}

// wait returns when bytes that were read at a moment may pass.
func (p *pump) wait(ctx context.Context, at time.Time) bool {
	f := &p.c.r.faults
	for {
		changed := f.watch()
		timer := time.NewTimer(0)
		timer.Stop()
		if !f.hole[p.dir].Load() {
			left := time.Until(at.Add(time.Duration(f.delay.Load())))
			if left <= 0 {
				return ctx.Err() == nil
			}
			timer.Reset(left)
		}
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// forward passes bytes on, or the end of the stream. False: nothing more will.
func (p *pump) forward(b []byte, end error) bool {
	if p.dst == nil {
		if end != nil {
			p.c.shut()
			return false
		}
		if p.dst = p.c.dial(); p.dst == nil {
			return false
		}
		p.out = p.dst
	}
	if end != nil {
		p.finish(end)
		return false
	}
	if err := p.pass(b); err != nil {
		p.c.cutByFault(p.dir)
		return false
	}
	return true
}

// pass forwards b, each frame after it was judged and reported.
func (p *pump) pass(b []byte) error {
	if p.raw {
		p.write(b)
		return nil
	}
	a := &p.frame
	free := 0 // b[:free] may go
	for at := 0; at < len(b); {
		n, broken := a.add(b[at:])
		at += n
		if broken {
			p.raw = true
			p.write(a.kept[:a.held])
			p.write(b)
			p.c.notZooKeeper(p.dir, a.kept[:a.held], b)
			return nil
		}
		if !a.judged {
			if p.c.mustWait(p.dir, a) {
				break
			}
			if p.c.judge(p.dir, a) != nil {
				p.write(b[:free])
				return errCut
			}
			a.judged = true
			p.write(a.kept[:a.held])
			a.held = 0
		}
		free = at
		if a.complete() {
			p.c.passed(p.dir, a)
			a.reset()
		}
	}
	p.write(b[:free])
	if !a.judged {
		a.held = a.got
	}
	return nil
}

func (p *pump) write(b []byte) {
	if p.deaf || len(b) == 0 {
		return
	}
	if _, err := p.out.Write(b); err != nil {
		p.deaf = true // its other direction will tell who closed
	}
}

// finish tells dst that src has closed.
func (p *pump) finish(end error) {
	p.flush()
	p.c.closed(p.dir.from(), closeText(end))
	if errors.Is(end, io.EOF) {
		_ = p.dst.CloseWrite() // fails only when dst is gone already
	} else {
		abort(p.dst)
	}
	p.c.streamEnded()
}

// flush forwards and reports the beginning of a frame whose rest will not come.
func (p *pump) flush() {
	if p.frame.got > 0 && !p.raw {
		p.write(p.frame.kept[:p.frame.held])
		p.c.truncated(p.dir, &p.frame)
	}
}

func closeText(end error) string {
	if errors.Is(end, io.EOF) {
		return "closed"
	}
	return end.Error()
}

// abort closes a socket with a reset.
func abort(s *net.TCPConn) {
	if s != nil {
		_ = s.SetLinger(0)
		_ = s.Close()
	}
}
