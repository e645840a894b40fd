package lockproof_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A server that is starting may accept a connection and never read the connect
// request. go-zookeeper then waits for 6.7 session timeouts. The observer, who has to
// come back before anything can be judged, gives up sooner and tries again.
const (
	handshakeLimit = time.Second
	longestRead    = 20 * time.Second // go-zookeeper's reads, once it is connected, are shorter
)

type boundedConn struct{ net.Conn }

func dialBounded(network, addr string, limit time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, addr, min(limit, handshakeLimit))
	return boundedConn{c}, err
}

// SetReadDeadline recognizes the deadline of a handshake by its length.
func (c boundedConn) SetReadDeadline(t time.Time) error {
	if time.Until(t) > longestRead {
		t = time.Now().Add(handshakeLimit)
	}
	return c.Conn.SetReadDeadline(t)
}

// TestObserver_unansweredHandshake: a connect request that is never answered keeps
// the observer away for a second or two, not for a minute.
func TestObserver_unansweredHandshake_triesAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
	work.Go(func() {
		silent, err := l.Accept()
		if err != nil {
			return
		}
		defer silent.Close()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { forward(c, servers(t)[0]) })
		}
	})
	start := time.Now()
	connect(t, l.Addr().String()).Close()
	if took := time.Since(start); took < handshakeLimit || took > patience/2 {
		t.Errorf("connected after %v", took)
	}
}

// forward carries a connection to a server and back until either side ends it.
func forward(near net.Conn, server string) {
	defer near.Close()
	far, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer far.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			near.Close()
			far.Close()
		})
	}
	both.Wait()
}
