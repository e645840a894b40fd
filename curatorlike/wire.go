package curatorlike

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// The request types that only the leader can answer, so that an answer proves
// that the session lived after the request was sent. From when the leader counts
// its time is another question: see session.unsure.
const (
	opCreate          = 1
	opDelete          = 2
	opSetData         = 5
	opSetACL          = 7
	opSync            = 9
	opMulti           = 14
	opCreateContainer = 19
	opCreateTTL       = 21
	opCloseSession    = -11

	opSetWatches = 101

	codeSessionExpired = -112
	codeSessionMoved   = -118
)

func answeredByLeader(op int32) bool {
	switch op {
	case opCreate, opDelete, opSetData, opSetACL, opSync, opMulti, opCreateContainer, opCreateTTL, opCloseSession:
		return true
	}
	return false
}

// wireListener is told what passes by on the wire. Its methods are called
// from go-zookeeper's goroutines and must not block.
type wireListener interface {
	established(id int64, timeout time.Duration, sent time.Time)
	hasWatches() bool
	proved(sent time.Time)
	created(path string, zxid int64)
	confirmEnd()
	trouble(err error)
}

// sent is a request whose answer is of interest.
type sent struct {
	op int32
	at time.Time
}

// wire is the connection given to go-zookeeper. It reads along, because
// go-zookeeper keeps three things to itself that a lock needs: the negotiated
// timeout, when a request that the leader answered was sent, and the zxid of
// a create, which is the fencing token. It also mends three faults: a handshake
// may not take longer than the session can afford; a failed write shows
// as a lost connection, not as an error that leaves go-zookeeper's loop stuck
// while it sends credentials again; and after a reconnect no answer is read
// before the watches are on their way again, because until then go-zookeeper
// still reads the last zxid, which every answer changes.
type wire struct {
	net.Conn
	to        wireListener
	now       func() time.Time
	handshake time.Duration // limit for the answer to the connect request

	// Only go-zookeeper's reading goroutine uses these.
	r       *bufio.Reader
	left    int // bytes of the current frame that are still to be read
	open    bool
	held    bool // watches are to be set again
	closing bool // the session has been closed
	waited  bool // an answer has been held back for them

	mu          sync.Mutex
	connectSent time.Time
	sent        map[int32]sent
	rewatched   chan struct{} // closed when watches have been set again
	isRewatched bool
}

// maxHeld bounds how long an answer is held back for the watches, and so does
// half of the time for a handshake. They are set at once, if the process runs.
const maxHeld = time.Second

func newWire(c net.Conn, to wireListener, now func() time.Time, handshake time.Duration) *wire {
	return &wire{Conn: c, to: to, now: now, handshake: handshake,
		r: bufio.NewReaderSize(c, 8<<10), sent: make(map[int32]sent), rewatched: make(chan struct{})}
}

// Write sends one frame; go-zookeeper never splits or joins them.
func (w *wire) Write(p []byte) (int, error) {
	w.noteRequest(p)
	if _, err := w.Conn.Write(p); err != nil {
		_ = w.Conn.Close() // the reader sees it, and it fails every request at once
	}
	return len(p), nil
}

func (w *wire) noteRequest(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.connectSent.IsZero() {
		w.connectSent = w.now()
		return
	}
	if len(p) < 12 {
		return
	}
	op := int32(binary.BigEndian.Uint32(p[8:]))
	if op == opSetWatches && !w.isRewatched {
		w.isRewatched = true
		close(w.rewatched)
	}
	if answeredByLeader(op) {
		w.sent[int32(binary.BigEndian.Uint32(p[4:]))] = sent{op, w.now()}
	}
}

func (w *wire) Read(p []byte) (int, error) {
	if w.left == 0 {
		if err := w.nextFrame(); err != nil {
			return 0, err
		}
	}
	n, err := w.r.Read(p[:min(len(p), w.left)])
	w.left -= n
	return n, err
}

// SetReadDeadline clamps the deadline while the handshake lasts: go-zookeeper
// would wait for 6.7 session timeouts, and for part of it for ever.
func (w *wire) SetReadDeadline(t time.Time) error {
	if !w.open {
		if limit := time.Now().Add(w.handshake); t.IsZero() || t.After(limit) {
			t = limit
		}
	}
	return w.Conn.SetReadDeadline(t)
}

func (w *wire) nextFrame() error {
	if !w.open {
		return w.firstFrame()
	}
	head, err := w.r.Peek(4)
	if err != nil {
		return err
	}
	size := int(int32(binary.BigEndian.Uint32(head)))
	if size >= 16 {
		if head, err = w.r.Peek(20); err != nil {
			return err
		}
		if err := w.noteReply(head, size); err != nil { // before its zxid may go
			return err
		}
		if head, err = w.r.Peek(20); err != nil {
			return err
		}
		w.holdBack(head)
	}
	w.left = 4 + max(size, 0)
	return nil
}

// firstFrame reads the whole answer to the connect request, within the limit of a
// handshake: go-zookeeper has none for its second part.
func (w *wire) firstFrame() error {
	head, err := w.r.Peek(20)
	if err == nil {
		w.left = 4 + int(int32(binary.BigEndian.Uint32(head)))
		if w.left < 20 || w.left > w.r.Size() {
			err = errNoZooKeeper
		} else {
			_, err = w.r.Peek(w.left)
		}
	}
	if err != nil {
		w.left = 0
		w.to.trouble(fmt.Errorf("no answer to the connect request from %s: %w", w.RemoteAddr(), err))
		return err
	}
	w.noteConnect(head)
	w.open, w.held = true, w.to.hasWatches()
	return nil
}

var errNoZooKeeper = errors.New("this is not ZooKeeper's protocol")

func (w *wire) noteConnect(head []byte) {
	w.mu.Lock()
	at := w.connectSent
	w.mu.Unlock()
	timeout := time.Duration(binary.BigEndian.Uint32(head[8:])) * time.Millisecond
	w.to.established(int64(binary.BigEndian.Uint64(head[12:])), timeout, at)
}

// holdBack waits, before the first answer that carries a zxid, until watches
// have been set again. Answers to credentials carry none, and must pass:
// go-zookeeper sends nothing else before it has them. When none are set, as by
// a connection that is being closed, the zxid is taken out of the answers.
func (w *wire) holdBack(head []byte) {
	xid, zxid := int32(binary.BigEndian.Uint32(head[4:])), int64(binary.BigEndian.Uint64(head[8:]))
	if !w.held || xid < 0 || zxid <= 0 {
		return
	}
	if w.awaitWatches() {
		w.held = false
		return
	}
	clear(head[8:16])
}

func (w *wire) awaitWatches() bool {
	patience := min(maxHeld, w.handshake/2)
	if w.closing || w.waited {
		patience = 0
	}
	w.waited = true
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select { // when both are so, the watches count
	case <-w.rewatched:
		return true
	default:
	}
	select {
	case <-w.rewatched:
		return true
	case <-limit.C:
		return false
	}
}

func (w *wire) noteReply(head []byte, size int) error {
	xid := int32(binary.BigEndian.Uint32(head[4:]))
	w.mu.Lock()
	s, ok := w.sent[xid]
	delete(w.sent, xid)
	w.mu.Unlock()
	w.closing = w.closing || s.op == opCloseSession
	if !ok {
		return nil
	}
	code := int32(binary.BigEndian.Uint32(head[16:]))
	if code == codeSessionExpired || code == codeSessionMoved {
		return nil
	}
	zxid := int64(binary.BigEndian.Uint64(head[8:]))
	w.to.proved(s.at)
	if s.op == opCloseSession && code == 0 {
		w.to.confirmEnd()
	}
	if s.op != opCreate || code != 0 || 4+size > w.r.Size() || size < 20 {
		return nil
	}
	all, err := w.r.Peek(4 + size)
	if err != nil {
		return err
	}
	if n := int(binary.BigEndian.Uint32(all[20:])); n >= 0 && n <= size-20 {
		w.to.created(string(all[24:24+n]), zxid)
	}
	return nil
}
