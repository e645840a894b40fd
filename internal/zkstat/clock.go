package zkstat

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// clockAge is how long a measured clock is used; two quartz clocks part by some
// ten milliseconds in that time.
const clockAge = 10 * time.Minute

// Clock translates moments of a server's own clock into local time.
type Clock struct {
	zero     time.Time     // when the server's clock showed 0
	Within   time.Duration // how wrong the translation may be, either way
	Measured time.Time
}

// Local is the local time of a moment on the server's clock.
func (c Clock) Local(ms ServerMillis) time.Time {
	return c.zero.Add(time.Duration(ms) * time.Millisecond)
}

// Server is the server's clock at a local time.
func (c Clock) Server(at time.Time) ServerMillis {
	return ServerMillis(at.Sub(c.zero).Milliseconds())
}

// Clock measures how the server's clock relates to the local one, or returns the
// last measurement while it is fresh. The server tells its clock nowhere, but stamps every
// answer in cons: the measurement opens a session, pings, looks up the stamp, and
// closes the session. The server's time of day does not matter.
func (r *Reader) Clock(ctx context.Context) (Clock, error) {
	r.mu.Lock()
	c := r.clock
	r.mu.Unlock()
	if age := r.now().Sub(c.Measured); !c.zero.IsZero() && age >= 0 && age < clockAge {
		return c, nil
	}
	c, err := r.measure(ctx)
	if err != nil {
		return Clock{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = c
	return c, nil
}

// forget drops a measured clock that a reading has proved wrong: another
// server answers at the address now.
func (r *Reader) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = Clock{}
}

// fits reports whether a reading is possible by the clock: nobody was answered after it
// was read, and no session lives on that should have ended long before.
func (c Clock) fits(conns Connections, tick time.Duration) bool {
	const slack = 50 * time.Millisecond
	for _, one := range conns.List {
		if one.LastResponse == 0 || one.Session == 0 {
			continue
		}
		at := c.Local(one.LastResponse)
		if at.After(conns.At.Add(c.Within+slack)) || at.Add(one.Timeout+tick+5*time.Second).Before(conns.At) {
			return false
		}
	}
	return true
}

// measure takes the best of three measurements.
func (r *Reader) measure(ctx context.Context) (Clock, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	fail := func(err error) (Clock, error) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return Clock{}, fmt.Errorf("zkstat: the clock of %s cannot be measured: %w", r.addr, err)
	}
	p, err := openProbe(ctx, r.addr)
	if err != nil {
		return fail(err)
	}
	defer p.close()
	var best Clock
	for range 3 {
		before := r.now()
		if err := p.ask(pingXid, pingOp); err != nil {
			return fail(err)
		}
		after := r.now()
		stamp, err := r.stamp(ctx, p.session)
		if err != nil {
			return fail(err)
		}
		// The stamp was made between before and after, and is cut off to a millisecond.
		half := after.Sub(before) / 2
		const cut = time.Millisecond / 2
		c := Clock{
			zero:     before.Add(half).Add(-time.Duration(stamp)*time.Millisecond - cut),
			Within:   half + cut,
			Measured: after,
		}
		if best.zero.IsZero() || c.Within < best.Within {
			best = c
		}
	}
	return best, nil
}

// stamp is when the server last answered a session.
func (r *Reader) stamp(ctx context.Context, session int64) (ServerMillis, error) {
	conns, err := r.Connections(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range conns.List {
		if c.Session == session && c.LastResponse > 0 {
			return c.LastResponse, nil
		}
	}
	return 0, fmt.Errorf("%w: %s does not list the session 0x%x that was just opened", ErrFormat, r.addr, uint64(session))
}

// The two operations a probe knows, and the xids they go by.
const (
	pingXid, pingOp   int32 = -2, 11
	closeXid, closeOp int32 = 1, -11
)

// probe is a session of our own, for as long as a measurement takes.
type probe struct {
	conn    net.Conn
	stop    func() bool
	session int64
}

func openProbe(ctx context.Context, addr string) (*probe, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &probe{conn: conn}
	p.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	hello := make([]byte, 4+8+4+8+4+16+1) // version, zxid, timeout (the shortest), session, password, read-only: all 0
	hello[4+8+4+8+3] = 16
	answer, err := p.exchange(hello)
	if err == nil && len(answer) < 16 {
		err = errors.New("its answer to a connect request is too short")
	}
	if err == nil {
		p.session = int64(binary.BigEndian.Uint64(answer[8:]))
	}
	if err == nil && p.session == 0 {
		err = errors.New("it gives no session")
	}
	if err != nil {
		p.stop()
		_ = conn.Close()
		return nil, err
	}
	return p, nil
}

func (p *probe) ask(xid, op int32) error {
	body := binary.BigEndian.AppendUint32(nil, uint32(xid))
	answer, err := p.exchange(binary.BigEndian.AppendUint32(body, uint32(op)))
	if err == nil && (len(answer) < 16 || int32(binary.BigEndian.Uint32(answer)) != xid) {
		err = errors.New("its answer is to something else")
	}
	return err
}

// exchange sends a frame and reads the next one.
func (p *probe) exchange(body []byte) ([]byte, error) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, err := p.conn.Write(append(frame, body...)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(p.conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > 1<<16 {
		return nil, fmt.Errorf("its answer claims %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(p.conn, answer)
	return answer, err
}

// close ends the session. If that fails it ends by itself, after two ticks.
func (p *probe) close() {
	_ = p.ask(closeXid, closeOp)
	p.stop()
	_ = p.conn.Close()
}
