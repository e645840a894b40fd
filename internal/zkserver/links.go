package zkserver

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	linkBuffer   = 32 << 10
	linkConns    = 64              // open at once on one link
	leaderOpens  = 2 * time.Second // an elected leader opens its port a moment later
	acceptPause  = 10 * time.Millisecond
	maxHelloAddr = 2048 // ZooKeeper's own limit

	// What an election connection begins with, from 3.5 on: the version, the
	// server's id, and the address to call it back at.
	helloV1, helloV2 = -65536, -65535
)

// links carry everything that the servers of one ensemble say to each other, so
// that a server can be cut off without the rights that a firewall takes. Each
// server is told, instead of its peers' addresses, those of links of its own.
//
// What a server sends while it is cut off is held back and passes when it rejoins,
// as on a network that loses packets and sends them again; so is the closing of a
// connection.
type links struct {
	ends []*link
	done chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	isolated map[int]chan struct{} // by server; closed when it rejoins
	conns    map[net.Conn]bool
}

// link is what one server calls another through, for one purpose.
type link struct {
	from, to int
	election bool
	listener net.Listener
	target   string
	slots    chan struct{}
}

// openLinks opens all links between the peers.
func openLinks(peers []peer) (*links, error) {
	l := &links{done: make(chan struct{}), isolated: map[int]chan struct{}{}, conns: map[net.Conn]bool{}}
	for _, a := range peers {
		for _, b := range peers {
			if a.id == b.id {
				continue
			}
			for _, election := range []bool{false, true} {
				port := b.quorum
				if election {
					port = b.election
				}
				listener, err := net.Listen("tcp4", loopback(0))
				if err != nil {
					l.close()
					return nil, err
				}
				l.ends = append(l.ends, &link{from: a.id, to: b.id, election: election, listener: listener,
					target: loopback(port), slots: make(chan struct{}, linkConns)})
			}
		}
	}
	for _, end := range l.ends {
		l.wg.Go(func() { l.accept(end) })
	}
	return l, nil
}

// addr is where server from reaches server to.
func (l *links) addr(from, to int, election bool) string {
	i := slices.IndexFunc(l.ends, func(e *link) bool { return e.from == from && e.to == to && e.election == election })
	return l.ends[i].listener.Addr().String()
}

// spec is how server from knows server to in its configuration: host:quorum:election.
func (l *links) spec(from, to int) string {
	_, election, _ := strings.Cut(l.addr(from, to, true), ":")
	return l.addr(from, to, false) + ":" + election
}

// cut has nothing pass to and from a server until joined is called.
func (l *links) cut(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isolated[id] == nil {
		l.isolated[id] = make(chan struct{})
	}
}

func (l *links) join(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.isolated[id]; c != nil {
		close(c)
		delete(l.isolated, id)
	}
}

// await returns when the link's servers can reach each other, and false when the
// links are closed.
func (l *links) await(end *link) bool {
	for {
		l.mu.Lock()
		blocked := l.isolated[end.from]
		if blocked == nil {
			blocked = l.isolated[end.to]
		}
		closed := l.closed
		l.mu.Unlock()
		if closed || blocked == nil {
			return !closed
		}
		select {
		case <-blocked:
		case <-l.done:
			return false
		}
	}
}

func (l *links) accept(end *link) {
	for {
		c, err := end.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors, or gone before it was accepted
			select {
			case <-l.done:
			case <-time.After(acceptPause):
			}
			continue
		}
		select {
		case end.slots <- struct{}{}:
			l.wg.Go(func() {
				defer func() { <-end.slots }()
				l.carry(end, c)
			})
		default:
			c.Close()
		}
	}
}

// carry takes one connection to its server and back until either side ends it.
func (l *links) carry(end *link, near net.Conn) {
	if !l.track(near) {
		return
	}
	defer l.drop(near)
	if !l.await(end) {
		return
	}
	far, err := l.dial(end)
	if err != nil || !l.track(far) {
		return
	}
	defer l.drop(far)
	if end.election && l.hello(end, far, near) != nil {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			l.pump(end, way[0], way[1])
			near.Close()
			far.Close()
		})
	}
	both.Wait()
}

// dial calls the server. A leader that was just elected opens its port a moment
// after its followers know of it.
func (l *links) dial(end *link) (net.Conn, error) {
	began := time.Now()
	for {
		c, err := net.DialTimeout("tcp4", end.target, askTimeout)
		if err == nil || end.election || time.Since(began) > leaderOpens {
			return c, err
		}
		select {
		case <-l.done:
			return nil, err
		case <-time.After(pollInterval):
		}
	}
}

// hello passes the beginning of an election connection on. The address in it,
// where the other one would call back past the links, becomes that of a link.
func (l *links) hello(end *link, to io.Writer, from io.Reader) error {
	head := make([]byte, 8)
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	if v := int64(binary.BigEndian.Uint64(head)); v != helloV1 && v != helloV2 {
		_, err := to.Write(head) // before 3.5: an id and nothing else
		return err
	}
	rest := make([]byte, 12) // id, length of the address
	if _, err := io.ReadFull(from, rest); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(rest[8:])
	if length > maxHelloAddr {
		return io.ErrUnexpectedEOF
	}
	if _, err := io.CopyN(io.Discard, from, int64(length)); err != nil {
		return err
	}
	back := l.addr(end.to, end.from, true)
	head = append(head, rest[:8]...)
	head = binary.BigEndian.AppendUint32(head, uint32(len(back)))
	_, err := to.Write(append(head, back...))
	return err
}

func (l *links) pump(end *link, from io.Reader, to io.Writer) {
	b := make([]byte, linkBuffer)
	for {
		n, err := from.Read(b)
		if !l.await(end) {
			return
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// track has close end the connection; false when that has happened already.
func (l *links) track(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.Close()
		return false
	}
	l.conns[c] = true
	return true
}

func (l *links) drop(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// close ends everything and waits for it. A nil links is one server's.
func (l *links) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
		for _, end := range l.ends {
			end.listener.Close()
		}
		for c := range l.conns {
			c.Close()
		}
	}
	l.mu.Unlock()
	l.wg.Wait()
}
