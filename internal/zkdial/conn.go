package zkdial

import (
	"encoding/binary"
	"fmt"
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

// maxFirstAnswer is far above the some 40 bytes of an answer to a connect request.
const maxFirstAnswer = 1 << 20

// Wrap mends three faults of go-zookeeper 1.0.4. It waits 6.7 times the session timeout
// that is asked for until the first answer on a connection: too long where a server
// that is stopped, or is being started, accepts one and never reads from it, and too
// short for a timeout of a few milliseconds, which the server will raise. Here it is handshake. It makes room for as many bytes as the first answer announces,
// which from somebody who speaks another protocol are some gigabytes: here such an
// answer ends the connection. And a request whose write fails while its session is being closed
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
	length    []byte // of the first answer, as far as it was read
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.answered = c.answered || n > 0
	if missing := 4 - len(c.length); missing > 0 {
		c.length = append(c.length, b[:min(n, missing)]...)
		if len(c.length) == 4 && binary.BigEndian.Uint32(c.length) > maxFirstAnswer {
			return 0, fmt.Errorf("%s answers %q, which is not ZooKeeper's protocol", c.RemoteAddr(), c.length)
		}
	}
	return n, err
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if !c.answered {
		t = time.Now().Add(c.handshake)
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(b); err != nil {
		_ = c.Conn.Close() // the reader sees it
	}
	return len(b), nil
}
