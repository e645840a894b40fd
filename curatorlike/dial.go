package curatorlike

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// hosts hands the servers out in turn. go-zookeeper's own provider makes every
// reconnect to a single server wait a second; here the pauses are the dialer's.
//
// Once the session may not dial any more, it parks go-zookeeper's loop until
// the connection is being closed, and lets it look then. Otherwise the loop
// may end before the request to close is queued, and closing takes a second.
type hosts struct {
	stopped context.Context
	parked  chan struct{} // closed when the loop is parked
	quit    chan struct{} // closed when the connection is about to be closed
	list    []string
	next    int
	once    sync.Once
}

func (h *hosts) Init(servers []string) error {
	h.list = servers
	return nil
}

func (h *hosts) Len() int { return len(h.list) }

func (h *hosts) Next() (string, bool) {
	server := h.list[h.next%len(h.list)]
	h.next++
	if h.stopped.Err() == nil {
		return server, false
	}
	h.once.Do(func() { close(h.parked) })
	<-h.quit
	time.Sleep(5 * time.Millisecond) // for the request to be queued
	return server, true
}

func (h *hosts) Connected() {}

// dial is called by go-zookeeper's loop, one call at a time.
func (s *session) dial(network, address string, _ time.Duration) (net.Conn, error) {
	if err := s.pauseBeforeDial(); err != nil {
		return nil, err
	}
	conn, err := s.connect(network, address)
	if err != nil {
		s.trouble(err)
	}
	return conn, err
}

func (s *session) connect(network, address string) (net.Conn, error) {
	limit := s.handshakeLimit()
	ctx, cancel := context.WithTimeout(s.dialCtx, limit)
	defer cancel()
	conn, err := s.c.opts.dial(ctx, network, address)
	if err == nil && s.c.opts.tls != nil {
		conn, err = encrypt(ctx, conn, address, s.c.opts.tls)
	}
	if err != nil {
		return nil, err
	}
	w := newWire(conn, s, s.c.opts.clock.Now, limit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.dialCtx.Err(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	if s.socket != nil {
		_ = s.socket.Close() // go-zookeeper leaves it open after an expiry
	}
	s.socket = w
	return w, nil
}

// pauseBeforeDial lets every server be tried once at full speed, then slows down.
func (s *session) pauseBeforeDial() error {
	s.mu.Lock()
	again := s.attempts - len(s.c.servers) + 1
	s.attempts++
	s.mu.Unlock()
	if again < 1 {
		return s.dialCtx.Err()
	}
	t := time.NewTimer(s.c.opts.retry(again))
	defer t.Stop()
	select {
	case <-t.C:
		return s.dialCtx.Err()
	case <-s.dialCtx.Done():
		return s.dialCtx.Err()
	}
}

// handshakeLimit is a second, which is plenty for a server that is well, so that
// silent ones leave time to try another. It doubles with each round over the
// servers, up to a third of the session timeout.
func (s *session) handshakeLimit() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := max(s.timeout/3, min(time.Second, s.timeout*2/3))
	if s.timeout == 0 { // no session to lose yet
		most = max(s.c.opts.timeout/3, 2*time.Second)
	}
	round := max(s.attempts-1, 0) / len(s.c.servers)
	return min(time.Second<<min(round, 10), most)
}

func encrypt(ctx context.Context, conn net.Conn, address string, c *tls.Config) (net.Conn, error) {
	if c.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		c = c.Clone()
		c.ServerName = host
	}
	t := tls.Client(conn, c)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}

// zkLogger passes go-zookeeper's messages on; they are about single
// connections, which come and go.
type zkLogger struct{ l *slog.Logger }

func (z zkLogger) Printf(format string, args ...any) {
	z.l.Debug(fmt.Sprintf(format, args...))
}
