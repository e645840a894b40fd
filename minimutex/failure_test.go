package minimutex

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// late is how far after its context an acquire may return on a busy machine.
const late = 500 * time.Millisecond

func wantOnTime(t *testing.T, ended time.Time, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if d := time.Since(ended); d > late {
		t.Errorf("returned %v after its context had ended", d)
	}
}

func TestMutex_cancelledInLine_leavesNothing(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	a := New(conn, lock)
	mustAcquire(t, a)
	ctx, cancel := context.WithCancel(context.Background())
	b := New(connect(t, 10*time.Second), lock)
	done := acquire(ctx, b)
	waitChildren(t, conn, lock, 2)
	ended := time.Now()
	cancel()
	wantOnTime(t, ended, <-done, context.Canceled)
	waitChildren(t, conn, lock, 1)

	done = acquire(within(t, patience), b) // it can be used again
	waitChildren(t, conn, lock, 2)
	mustRelease(t, a)
	mustGet(t, "b's second acquire", done)
	mustRelease(t, b)
}

// However the moment of cancelling falls, either the lock is held or nothing is left.
func TestMutex_cancelledAtAnyMoment_heldOrNothing(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	m := New(connect(t, 10*time.Second), lock)
	held := 0
	for i := range 100 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*20*time.Microsecond)
		err := m.Acquire(ctx)
		cancel()
		if err == nil {
			held++
			waitChildren(t, conn, lock, 1)
			mustRelease(t, m)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		waitChildren(t, conn, lock, 0)
	}
	t.Logf("held %d of 100", held)
}

func TestMutex_listReplyLost_leavesNothing(t *testing.T) {
	t.Parallel()
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	p := &tap{}
	m := New(connect(t, 10*time.Second, p), lock)
	var lost atomic.Bool
	p.set(func(op int32, _ string) fate {
		if op == opGetChildren && lost.CompareAndSwap(false, true) {
			return loseReply
		}
		return deliver
	})
	if err := m.Acquire(within(t, patience)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Acquire with its list's reply lost: %v, want the connection's error", err)
	}
	if children, _, err := conn.Children(lock); err != nil || len(children) != 0 {
		t.Errorf("the failed acquire left %v (%v)", children, err)
	}
}

func TestMutex_deleteReplyLost_isReleased(t *testing.T) {
	t.Parallel()
	lock := lockPath(t)
	p := &tap{}
	m := New(connect(t, 10*time.Second, p), lock)
	mustAcquire(t, m)
	var lost atomic.Bool
	p.set(func(op int32, _ string) fate {
		if op == opDelete && lost.CompareAndSwap(false, true) {
			return loseReply
		}
		return deliver
	})
	mustRelease(t, m)
	waitChildren(t, connect(t, 10*time.Second), lock, 0)
}

// The network swallows the list: the acquire returns on time, and its node goes
// as soon as the client has a connection again.
func TestMutex_blackHoleAtList_onTime_leavesNothing(t *testing.T) {
	t.Parallel()
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	p := &tap{}
	m := New(connect(t, 2*time.Second, p), lock)
	var once atomic.Bool
	p.set(func(op int32, _ string) fate {
		if op == opGetChildren && once.CompareAndSwap(false, true) {
			return swallow
		}
		return deliver
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := acquire(ctx, m)
	waitChildren(t, conn, lock, 1)
	ended := time.Now()
	cancel()
	wantOnTime(t, ended, <-done, context.Canceled)
	waitChildren(t, conn, lock, 0)
}

func TestMutex_releaseInBlackHole_onTime_goesLater(t *testing.T) {
	t.Parallel()
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	p := &tap{}
	m := New(connect(t, 2*time.Second, p), lock)
	mustAcquire(t, m)
	p.set(func(op int32, _ string) fate {
		if op == opDelete {
			p.set(nil)
			return swallow
		}
		return deliver
	})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err := m.Release(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Release into a black hole: %v, want %v", err, context.DeadlineExceeded)
	}
	waitChildren(t, conn, lock, 0)
}

func TestMutex_noServer_onTime(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never says a word
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, _, err := zk.Connect([]string{l.Addr().String()}, time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err = New(conn, "/x").Acquire(ctx)
	wantOnTime(t, time.Now(), err, context.DeadlineExceeded)
}

func TestMutex_closedConnection_isAnError(t *testing.T) {
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	a, b := New(conn, lock), New(connect(t, 10*time.Second), lock)
	mustAcquire(t, a)
	conn.Close()
	if err := a.Acquire(within(t, patience)); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("Acquire on a closed connection: %v, want %v", err, zk.ErrConnectionClosed)
	}
	if err := a.Release(within(t, patience)); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("Release on a closed connection: %v, want %v", err, zk.ErrConnectionClosed)
	}
	mustAcquire(t, b) // the session's end has freed the lock
	mustRelease(t, b)
}

// The server goes and comes back with its data: sessions live on, and the watch of
// the waiter, which the client library sets again, still wakes it.
func TestMutex_serverRestart_waiterStillWakes(t *testing.T) {
	t.Parallel()
	server := zktest.Start(t, zkserver.Options{})
	if !server.Servers()[0].Control() {
		t.Skip("this server is not ours to restart")
	}
	addr := server.Servers()[0].Addr()
	admin := connectTo(t, addr, 10*time.Second)
	const lock = "/restarted"
	if _, err := admin.Create(lock, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	connB := connectTo(t, addr, 10*time.Second)
	a, b := New(connectTo(t, addr, 10*time.Second), lock), New(connB, lock)
	mustAcquire(t, a)
	done := acquire(within(t, patience), b)
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		text, err := zkserver.Ask(within(t, patience), addr, "wchp")
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("b does not watch a: %q, %v", text, err)
		}
		if strings.Contains(text, a.Node()) {
			break
		}
	}
	if _, _, err := connB.Exists(lock); err != nil { // replies come in order: b knows of its watch
		t.Fatal(err)
	}
	if err := server.Servers()[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Servers()[0].Restart(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("b's acquire ended with the server: %v", err)
	default:
	}
	mustRelease(t, a)
	mustGet(t, "b's acquire", done)
	mustRelease(t, b)
}

// Who may create nodes and not delete them is told so by the first answer.
func TestMutex_mayNotDelete_asksOnce(t *testing.T) {
	t.Parallel()
	lock := lockPath(t)
	if _, err := connect(t, 10*time.Second).SetACL(lock, zk.WorldACL(zk.PermRead|zk.PermCreate), -1); err != nil {
		t.Fatal(err)
	}
	p := &tap{}
	m := New(connect(t, 10*time.Second, p), lock)
	mustAcquire(t, m)
	var deletes atomic.Int32
	p.set(func(op int32, _ string) fate {
		if op == opDelete {
			deletes.Add(1)
		}
		return deliver
	})
	if err := m.Release(within(t, patience)); err != zk.ErrNoAuth || deletes.Load() != 1 {
		t.Errorf("%v after %d requests, want %v after 1", err, deletes.Load(), zk.ErrNoAuth)
	}
}
