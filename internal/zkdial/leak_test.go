package zkdial

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// breaking is a connection whose writes fail once broken is set.
type breaking struct {
	net.Conn
	broken *atomic.Bool
}

func (b breaking) Write(p []byte) (int, error) {
	if b.broken.Load() {
		return 0, net.ErrClosed
	}
	return b.Conn.Write(p)
}

func TestWrap_100closesWhileWritesFail_leaveNoGoroutine(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var closing sync.WaitGroup
	for range 10 {
		closing.Go(func() {
			for range 10 {
				closeWhileWritesFail(t, e.Connect())
			}
		})
	}
	closing.Wait()
}

func closeWhileWritesFail(t *testing.T, servers string) {
	var broken atomic.Bool
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, address, timeout)
		if err != nil {
			return nil, err
		}
		return Wrap(breaking{c, &broken}, time.Second), nil
	}
	conn, _, err := zk.Connect(strings.Split(servers, ","), 10*time.Second, zk.WithLogger(Silent{}), zk.WithDialer(dial))
	if err != nil {
		t.Error(err)
		return
	}
	if _, _, err := conn.Get("/"); err != nil {
		t.Error(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for conn.State() == zk.StateHasSession {
				_, _, _ = conn.Get("/")
			}
		})
	}
	broken.Store(true)
	conn.Close()
	asking.Wait()
}

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }
