package wiretap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

var (
	// ErrNoSession is returned when no session that is still open was
	// established through the relay.
	ErrNoSession = errors.New("wiretap: no open session has passed the relay")
	// ErrSessionOver is returned when the server says that the session had
	// ended already.
	ErrSessionOver = errors.New("wiretap: the session had ended already")
)

// maxSessions bounds the sessions a relay remembers; the oldest is forgotten.
const maxSessions = 4096

type session struct {
	id       int64
	password string
	timeout  time.Duration
	server   string
}

// sessions are the sessions established through a relay, newest last.
type sessions struct {
	mu   sync.Mutex
	list []session
}

func (s *sessions) put(one session) {
	s.remove(one.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= maxSessions {
		s.list = append(s.list[:0], s.list[1:]...)
	}
	s.list = append(s.list, one)
}

func (s *sessions) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		if s.list[i].id == id {
			s.list = append(s.list[:i], s.list[i+1:]...)
			return
		}
	}
}

func (s *sessions) newest() (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return session{}, false
	}
	return s.list[len(s.list)-1], true
}

// ExpireSession ends the newest session established through the relay at the
// server, at once, without the client's doing: its ephemeral nodes go, and watches on
// them fire. It returns when the server has done it.
//
// The server closes the client's connection thereby, as at an expiry. The client
// takes it for a lost connection, and hears of the expiry when it connects again.
// To keep even the closing from it, call BlackHole(ToClient, true) first; to keep
// it from connecting again, Refuse(true).
func (r *Relay) ExpireSession(ctx context.Context) error {
	s, ok := r.sessions.newest()
	if !ok {
		return ErrNoSession
	}
	err := r.endSession(ctx, s)
	if err == nil || errors.Is(err, ErrSessionOver) {
		r.sessions.remove(s.id)
	}
	if err != nil && !errors.Is(err, ErrSessionOver) {
		return fmt.Errorf("wiretap: session 0x%x was not ended: %w", uint64(s.id), err)
	}
	return err
}

// Session is the newest open session established through the relay, with its negotiated timeout.
func (r *Relay) Session() (id int64, timeout time.Duration, ok bool) {
	s, ok := r.sessions.newest()
	return s.id, s.timeout, ok
}

// takeOverLimit bounds one server's part: one that is stopped accepts the connection
// and never answers.
const takeOverLimit = 3 * time.Second

// endSession ends the session at the server it was established at or, if that
// cannot be reached or does not answer, at another.
func (r *Relay) endSession(ctx context.Context, s session) error {
	var failed error
	for i, addr := range append([]string{s.server}, r.targets...) {
		if i > 0 && addr == s.server {
			continue
		}
		err := takeOver(ctx, addr, s)
		if err == nil || errors.Is(err, ErrSessionOver) || ctx.Err() != nil {
			return err
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", addr, err))
	}
	return failed
}

// takeOver takes the session over on a connection of its own and closes it.
// The server accepts that from whoever knows the password.
func takeOver(ctx context.Context, addr string, s session) error {
	ctx, cancel := context.WithTimeout(ctx, takeOverLimit)
	defer cancel()
	conn, err := dialServer(ctx, addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = converse(conn, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func converse(conn net.Conn, s session) error {
	b := binary.BigEndian
	hello := b.AppendUint32(nil, 0)                                 // protocol version
	hello = b.AppendUint64(hello, 0)                                // last zxid seen
	hello = b.AppendUint32(hello, uint32(s.timeout.Milliseconds())) // timeout
	hello = b.AppendUint64(hello, uint64(s.id))
	hello = b.AppendUint32(hello, uint32(len(s.password)))
	hello = append(append(hello, s.password...), 0) // not read-only
	answer, err := ask(conn, hello)
	if err != nil {
		return err
	}
	var got Frame
	if _, err := decodeConnected(answer, &got); err != nil {
		return err
	}
	if got.Timeout == 0 || got.Session != s.id {
		return ErrSessionOver
	}
	const xid = 1
	goodbye := b.AppendUint32(b.AppendUint32(nil, xid), 0xfffffff5) // closeSession, -11
	for range 16 {                                                  // a watch event may come before the reply
		answer, err = ask(conn, goodbye)
		if err != nil {
			return err
		}
		goodbye = nil
		j := jute{b: answer}
		if j.int() == xid && j.err == nil {
			return nil
		}
	}
	return errors.New("the server does not answer closeSession")
}

// ask sends a frame, unless it is nil, and reads the next one.
func ask(conn net.Conn, body []byte) ([]byte, error) {
	if body != nil {
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		if _, err := conn.Write(append(frame, body...)); err != nil {
			return nil, err
		}
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > MaxDecode {
		return nil, fmt.Errorf("the server answers with a frame of %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}
