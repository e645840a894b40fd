package attach

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"zklab/internal/zkdial"
)

const dialLimit = 5 * time.Second // for TCP and TLS together, and for the first answer

// dials makes the connections of one Watcher, and ends them: go-zookeeper waits
// without limit for one who announces a long answer.
type dials struct {
	tls *tls.Config // nil: plain TCP
	ctx context.Context
	end context.CancelFunc // of all connections, and of all dialling

	bytes atomic.Int64 // that went both ways, as the protocol has them: within TLS
}

func newDials(c *tls.Config) *dials {
	d := &dials{tls: c}
	d.ctx, d.end = context.WithCancel(context.Background())
	return d
}

func (d *dials) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, min(timeout, dialLimit))
	defer cancel()
	var conn net.Conn
	var err error
	if d.tls == nil {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	} else {
		conn, err = (&tls.Dialer{Config: d.tls}).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	return &dialled{Conn: zkdial.Wrap(conn, dialLimit), bytes: &d.bytes, forget: context.AfterFunc(d.ctx, func() { _ = conn.Close() })}, nil
}

// dialled is a connection that ends with its dials, and counts what it carries.
type dialled struct {
	net.Conn
	bytes  *atomic.Int64
	forget func() bool
}

func (c *dialled) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c *dialled) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c *dialled) Close() error {
	c.forget()
	return c.Conn.Close()
}
