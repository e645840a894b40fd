package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"zklab/internal/wiretap"
)

// TestMutex_bug08_lostRequests_everyOperation: whatever request of an acquire
// or release is lost, before or after the server has carried it out, the
// acquire succeeds with one node, and afterwards none is left.
func TestMutex_bug08_lostRequests_everyOperation(t *testing.T) {
	for _, op := range []wiretap.Op{wiretap.OpCreate, wiretap.OpGetChildren, wiretap.OpGetData, wiretap.OpDelete} {
		for _, drop := range []bool{true, false} {
			t.Run(fmt.Sprintf("op=%v/carriedOut=%v", op, drop), func(t *testing.T) {
				noLeak(t)
				z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
				first := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
				c, relay := tapped(t)
				match := wiretap.Match{Op: op, PathPrefix: fullPath(t, path)}
				if drop {
					relay.DropReply(match)
				} else {
					relay.FailWrite(match)
				}
				got := make(chan *Hold)
				go func() {
					h, err := mutexOn(t, c, path).Acquire(ctx)
					if err != nil {
						t.Error(err)
					}
					got <- h
				}()
				awaitCount(t, z, path, 2)
				if op != wiretap.OpDelete {
					await(t, "fault", func() bool { return relay.Faults().Armed == 0 })
				}
				awaitCount(t, z, path, 2)
				if err := first.Release(ctx); err != nil {
					t.Fatal(err)
				}
				h := receive(t, got)
				if h == nil {
					return
				}
				if h.Token() <= first.Token() {
					t.Error("token", h.Token(), "after", first.Token())
				}
				if err := h.Release(ctx); err != nil && !errors.Is(err, ErrReleasePending) {
					t.Fatal(err)
				}
				awaitEmpty(t, z, path)
				if relay.Faults().Armed > 0 {
					t.Error("the fault was not met")
				}
			})
		}
	}
}

// TestMutex_bug09_everythingLost: create reply lost, then every list of the
// search too.
func TestMutex_bug09_searchFailsToo(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t)
	relay.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: fullPath(t, path) + "/"})
	for range 3 {
		relay.DropReply(wiretap.Match{Op: wiretap.OpGetChildren, PathPrefix: fullPath(t, path)})
	}
	relay.DropReply(wiretap.Match{Op: wiretap.OpSync, PathPrefix: fullPath(t, path)})
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	awaitCount(t, z, path, 1)
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}

// TestMutex_bug45_blackHole_acquireReturnsOnTime at every step, and leaves nothing.
func TestMutex_bug45_blackHole_acquireReturnsOnTime(t *testing.T) {
	for _, dir := range []wiretap.Direction{wiretap.ToServer, wiretap.ToClient} {
		t.Run(fmt.Sprint(dir), func(t *testing.T) {
			noLeak(t)
			z, path, ctx := raw(t), lockPath(t), within(t, 30*time.Second)
			c, relay := tapped(t, WithSessionTimeout(4*time.Second))
			m := mutexOn(t, c, path)
			if err := must[*Hold](t)(m.Acquire(ctx)).Release(ctx); err != nil { // the directory exists
				t.Fatal(err)
			}
			relay.BlackHole(dir, true)
			short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := m.Acquire(short)
			if late := time.Since(start) - 200*time.Millisecond; !errors.Is(err, context.DeadlineExceeded) || late > 300*time.Millisecond {
				t.Fatal(err, late)
			}
			relay.BlackHole(dir, false)
			h := must[*Hold](t)(m.Acquire(ctx)) // behind whatever was left
			awaitCount(t, z, path, 1)
			if err := h.Release(ctx); err != nil {
				t.Fatal(err)
			}
			awaitEmpty(t, z, path)
		})
	}
}

// TestMutex_cancel_inTheQueue: the node is gone soon after.
func TestMutex_bug14_cancelInTheQueue(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	m := mutexOn(t, open(t), path)
	for range 5 {
		mine, cancel := context.WithCancel(ctx)
		failed := make(chan error)
		go func() {
			_, err := m.Acquire(mine)
			failed <- err
		}()
		awaitCount(t, z, path, 2)
		cancel()
		if err := receive(t, failed); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		awaitCount(t, z, path, 1)
	}
	_ = h.Release(ctx)
	awaitEmpty(t, z, path)
}

// TestMutex_bug20_outageWhileWaiting: the predecessor leaves while the waiter
// is cut off; it is granted when it is back.
func TestMutex_bug20_outageWhileWaiting(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	got := make(chan *Hold)
	go func() {
		h, err := mutexOn(t, c, path).Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()
	awaitCount(t, z, path, 2)
	relay.Refuse(true)
	relay.Cut()
	awaitState(t, states, Suspended)
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitCount(t, z, path, 1)
	relay.Refuse(false)
	h = receive(t, got)
	if h == nil {
		return
	}
	awaitState(t, states, Reconnected)
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}

// TestMutex_expiry_whileHoldingAndWaiting: both are told, the holder's Release
// succeeds, and both go on in a new session (bugs 29, 30, 31, 32).
func TestMutex_bug31_expiry_whileHoldingAndWaiting(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	ch, relayH := tapped(t)
	cw, relayW := tapped(t)
	states, stop := ch.Subscribe()
	defer stop()
	m := mutexOn(t, ch, path)
	owner := WithOwner(ctx, NewOwner("job"))
	h := must[*Hold](t)(m.Acquire(owner))
	failed := make(chan error)
	go func() {
		_, err := mutexOn(t, cw, path).Acquire(ctx)
		failed <- err
	}()
	awaitCount(t, z, path, 2)
	expire(t, relayW)
	if err := receive(t, failed); !errors.Is(err, ErrSessionLost) {
		t.Fatal(err)
	}
	old := ch.SessionID()
	expire(t, relayH)
	receive(t, h.Context().Done())
	awaitState(t, states, Reconnected)
	if ch.SessionID() == old {
		t.Fatal("the old session")
	}
	if _, err := m.Acquire(owner); !errors.Is(err, ErrSessionLost) && !errors.Is(err, ErrSuspended) {
		t.Fatal("reentered a lost hold:", err)
	}
	if err := h.Release(owner); err != nil || !errors.Is(h.Lost(), ErrSessionLost) {
		t.Fatal(err, h.Lost())
	}
	again := must[*Hold](t)(m.Acquire(owner))
	if again.Token() <= h.Token() || again.SessionID() == old {
		t.Error(again.Token(), h.Token())
	}
	if err := again.Release(owner); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}

// TestClient_bug27_blackHole_holderIsToldFirst: the holder's context ends at
// two thirds of T, before anybody else can be granted, and Lost comes no later
// than T after the last contact.
func TestClient_bug27_blackHole_holderIsToldFirst(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t)
	states, stop := c.Subscribe()
	defer stop()
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	hc := h.Context()
	other := mutexOn(t, open(t), path)
	granted := make(chan time.Time)
	go func() {
		h, err := other.Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		granted <- time.Now()
		if h != nil {
			_ = h.Release(ctx)
		}
	}()
	relay.BlackHole(wiretap.Both, true)
	start := time.Now()
	receive(t, hc.Done())
	told := time.Now()
	if took := told.Sub(start); !errors.Is(context.Cause(hc), ErrSuspended) || took > testT*2/3+300*time.Millisecond {
		t.Error("told after", took, context.Cause(hc))
	}
	awaitState(t, states, Lost)
	if took := time.Since(start); took > testT+300*time.Millisecond {
		t.Error("Lost after", took)
	}
	if at := receive(t, granted); at.Before(told) {
		t.Error("somebody else was granted", told.Sub(at), "before the holder was told")
	}
	relay.BlackHole(wiretap.Both, false)
	awaitState(t, states, Reconnected)
	if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrSessionLost) {
		t.Error(err, h.Lost())
	}
}

// TestMutex_bug43_releaseWhileCutOff: the release is completed in the
// background, and the next acquire of the process stands behind it.
func TestMutex_bug43_releaseWhileCutOff(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	m := mutexOn(t, c, path)
	h := must[*Hold](t)(m.Acquire(ctx))
	relay.Refuse(true)
	relay.Cut()
	awaitState(t, states, Suspended)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := h.Release(short); !errors.Is(err, ErrReleasePending) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	relay.Refuse(false)
	next := must[*Hold](t)(m.Acquire(ctx))
	if next.Token() <= h.Token() {
		t.Error("the old grant")
	}
	awaitCount(t, z, path, 1)
	if err := next.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}
