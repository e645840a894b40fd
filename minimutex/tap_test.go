package minimutex

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Operation codes of ZooKeeper's protocol.
const (
	opDelete      = 2
	opGetData     = 4
	opGetChildren = 12
)

// fate is what becomes of a request.
type fate int

const (
	deliver   fate = iota
	loseReply      // deliver it and cut the connection before its reply
	swallow        // from here on this connection is a black hole
)

// tap sees the requests of one client on their way out, one at a time. The client
// library writes each request with one Write: length, xid, operation, path.
type tap struct {
	mu sync.Mutex
	on func(op int32, path string) fate
}

func (p *tap) set(on func(op int32, path string) fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = on
}

func (p *tap) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, addr, timeout)
	if err != nil {
		return nil, err
	}
	return &tapped{Conn: conn, tap: p}, nil
}

type tapped struct {
	net.Conn
	tap   *tap
	black bool // only the library's one writer at a time looks at it
	deaf  atomic.Bool
}

// Read hands on nothing that comes in once the connection is deaf. Closing it after
// the request has been written would be too late: the reply may be there first.
func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.deaf.Load() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *tapped) Write(b []byte) (int, error) {
	if c.black {
		return len(b), nil
	}
	op, path := request(b)
	c.tap.mu.Lock()
	on := c.tap.on
	c.tap.mu.Unlock()
	what := deliver
	if on != nil && path != "" {
		what = on(op, path)
	}
	switch what {
	case swallow:
		c.black = true
		return len(b), nil
	case loseReply:
		c.deaf.Store(true)
		n, err := c.Conn.Write(b)
		_ = c.Conn.Close()
		return n, err
	default:
		return c.Conn.Write(b)
	}
}

// request reads operation and path of a request that has one.
func request(b []byte) (op int32, path string) {
	if len(b) < 16 {
		return 0, ""
	}
	op = int32(binary.BigEndian.Uint32(b[8:]))
	n := int(int32(binary.BigEndian.Uint32(b[12:])))
	if op <= 0 || n <= 0 || 16+n > len(b) {
		return 0, ""
	}
	return op, string(b[16 : 16+n])
}
