package zkdial

import (
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// Dialer opens TCP connections for go-zookeeper, each wrapped by [Wrap].
func Dialer(handshake time.Duration) zk.Dialer {
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, address, timeout)
		if err != nil {
			return nil, err
		}
		return Wrap(c, handshake), nil
	}
}

// Wrap mends two faults of go-zookeeper 1.0.4. It waits ten thirds of two session
// timeouts for the first answer on a connection, though a server that is stopped or
// is being started may accept one and never read from it: here the connection fails
// after handshake. And a request whose write fails while its session is being closed
// gets three answers where there is room for two, which blocks go-zookeeper's
// goroutine for ever: here a failed write shows as a lost connection, and every
// request under way then gets the one answer that says so.
func Wrap(c net.Conn, handshake time.Duration) net.Conn {
	return &conn{Conn: c, handshake: handshake}
}

// conn is read by one goroutine of go-zookeeper at a time.
type conn struct {
	net.Conn
	handshake time.Duration
	answered  bool
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.answered = c.answered || n > 0
	return n, err
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if limit := time.Now().Add(c.handshake); !c.answered && t.After(limit) {
		t = limit
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(b); err != nil {
		_ = c.Conn.Close() // the reader sees it
	}
	return len(b), nil
}
