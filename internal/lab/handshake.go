package lab

import (
	"net"
	"time"
)

// handshakeLimit is how long a server may take to answer the first request on a
// connection. The library itself waits for 67 s there: a server that is stopped, or
// is being started, may have a connection accepted and never read from it.
const handshakeLimit = 3 * time.Second

// dialHandshake is a dialer for the library.
func dialHandshake(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &handshake{Conn: c}, nil
}

// handshake is a connection that is given up when its first answer does not come in
// time. The library reads from one goroutine at a time.
type handshake struct {
	net.Conn
	answered bool
}

func (h *handshake) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.answered = h.answered || n > 0
	return n, err
}

func (h *handshake) SetReadDeadline(t time.Time) error {
	if limit := time.Now().Add(handshakeLimit); !h.answered && t.After(limit) {
		t = limit
	}
	return h.Conn.SetReadDeadline(t)
}
