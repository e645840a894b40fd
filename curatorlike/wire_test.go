package curatorlike

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// silentListener has watches to set again, or not.
type silentListener struct{ watches bool }

func (silentListener) established(int64, time.Duration, time.Time) {}
func (l silentListener) hasWatches() bool                          { return l.watches }
func (silentListener) proved(time.Time)                            {}
func (silentListener) created(string, int64)                       {}
func (silentListener) confirmEnd()                                 {}
func (silentListener) trouble(error)                               {}

// frameOf is an answer of the server: a length, an xid, a zxid and an error code.
func frameOf(xid int32, zxid int64) []byte {
	f := binary.BigEndian.AppendUint32(nil, 16)
	f = binary.BigEndian.AppendUint32(f, uint32(xid))
	f = binary.BigEndian.AppendUint64(f, uint64(zxid))
	return binary.BigEndian.AppendUint32(f, 0)
}

// requestOf is a request: a length, an xid and an operation.
func requestOf(xid, op int32) []byte {
	f := binary.BigEndian.AppendUint32(nil, 8)
	f = binary.BigEndian.AppendUint32(f, uint32(xid))
	return binary.BigEndian.AppendUint32(f, uint32(op))
}

const handshake = 400 * time.Millisecond // the limit for it

// handshaken returns a wire after its handshake, and the server's end.
func handshaken(t *testing.T, watches bool) (*wire, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	w := newWire(near, silentListener{watches}, time.Now, handshake)
	go func() {
		_, _ = io.CopyN(io.Discard, far, 12)
		_, _ = far.Write(append(binary.BigEndian.AppendUint32(nil, 16), make([]byte, 16)...))
	}()
	if _, err := w.Write(requestOf(0, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(w, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	return w, far
}

// TestWire_bug22_answersWaitForTheWatches: after a reconnect the answer to a
// credential passes, and the first other answer waits until the watches are on
// their way, or for half of a handshake's limit; without watches nothing waits.
func TestWire_bug22_answersWaitForTheWatches(t *testing.T) {
	noLeak(t)
	answer := func(far net.Conn, w *wire, xid int32, zxid int64) <-chan time.Time {
		read := make(chan time.Time, 1)
		go func() { _, _ = far.Write(frameOf(xid, zxid)) }()
		go func() {
			if _, err := io.ReadFull(w, make([]byte, 20)); err == nil {
				read <- time.Now()
			}
		}()
		return read
	}
	t.Run("set again", func(t *testing.T) {
		w, far := handshaken(t, true)
		receive(t, answer(far, w, 1, 0))
		read := answer(far, w, 2, 77)
		select {
		case <-read:
			t.Fatal("an answer was read before the watches were set again")
		case <-time.After(handshake / 8):
		}
		go func() { _, _ = io.CopyN(io.Discard, far, 12) }()
		set := time.Now()
		if _, err := w.Write(requestOf(3, opSetWatches)); err != nil {
			t.Fatal(err)
		}
		if at := receive(t, read); at.Before(set) {
			t.Error("read", set.Sub(at), "before the watches were set")
		}
		receive(t, answer(far, w, 4, 78))
	})
	t.Run("none set", func(t *testing.T) {
		w, far := handshaken(t, true)
		start := time.Now()
		if took := receive(t, answer(far, w, 1, 77)).Sub(start); took < handshake/2 {
			t.Error("held for only", took)
		}
		again := time.Now()
		if took := receive(t, answer(far, w, 2, 78)).Sub(again); took >= handshake/2 || !w.held {
			t.Error("held twice", took)
		}
	})
	t.Run("no watches", func(t *testing.T) {
		w, far := handshaken(t, false)
		receive(t, answer(far, w, 1, 77))
		if w.held {
			t.Error("held")
		}
	})
}

// TestClient_bug22_reconnects_withWatches: a holder with a watch on its node
// and answers that come at once: under -race, go-zookeeper's last zxid is not
// read and written at the same time.
func TestClient_bug22_reconnects_withWatches(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	m, free := mutexOn(t, c, path), mutexOn(t, c, path+"-free")
	h := must[*Hold](t)(m.Acquire(ctx))
	_ = h.Context() // watches the node
	for range 10 {
		other := must[*Hold](t)(free.Acquire(ctx)) // comes and goes over the cuts
		_ = other.Context()
		states, stop := c.Subscribe()
		receive(t, states) // the one of now; a slow reader may miss Suspended, not what follows it
		relay.Cut()
		if err := other.Release(ctx); err != nil && !errors.Is(err, ErrReleasePending) {
			t.Fatal(err)
		}
		awaitState(t, states, Reconnected)
		stop()
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSession_farewell_whileTheConnectAnswerComes: under -race, the negotiated
// timeout is not read while the answer to a connect request writes it.
func TestSession_farewell_whileTheConnectAnswerComes(t *testing.T) {
	s := deadlineSession(&stoppedClock{now: time.Now()})
	s.relinked, s.connGone = make(chan struct{}, 1), make(chan struct{})
	s.dialCtx, s.stopDial = context.WithCancel(context.Background())
	defer s.stopDial()
	var both sync.WaitGroup
	both.Go(s.awaitFarewell)
	both.Go(func() {
		s.established(1, 6*time.Second, time.Now())
		close(s.connGone)
	})
	both.Wait()
}
