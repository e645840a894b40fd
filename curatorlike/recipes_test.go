package curatorlike

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"zklab/internal/wiretap"
)

func unfairOn(t testing.TB, c *Client, path string) *UnfairLock {
	t.Helper()
	return must[*UnfairLock](t)(NewUnfairLock(c, path))
}

// TestUnfairLock_5clients_3goroutines: one holder at a time, tokens increase.
func TestUnfairLock_5clients_3goroutines(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 30*time.Second)
	var mu sync.Mutex
	inside, last := 0, int64(0)
	var wg sync.WaitGroup
	for range 5 {
		l := unfairOn(t, open(t), path)
		for range 3 {
			wg.Go(func() {
				for range 5 {
					h, err := l.Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					inside++
					if inside != 1 || h.Token() <= last {
						t.Errorf("%d inside, token %d after %d", inside, h.Token(), last)
					}
					last = h.Token()
					inside--
					mu.Unlock()
					if err := h.Release(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if ok, _, err := z.Exists(fullPath(t, path)); ok || err != nil {
		t.Error(ok, err)
	}
}

func TestUnfairLock_lostRequests(t *testing.T) {
	for _, op := range []wiretap.Op{wiretap.OpCreate, wiretap.OpDelete} {
		t.Run(op.String(), func(t *testing.T) {
			noLeak(t)
			z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
			c, relay := tapped(t, WithSessionTimeout(8*time.Second))
			l := unfairOn(t, c, path)
			for range 2 {
				relay.DropReply(wiretap.Match{Op: op, PathPrefix: fullPath(t, path)})
				h := must[*Hold](t)(l.Acquire(ctx)) // the second one waits for the first one's end
				if ok, _, err := z.Exists(fullPath(t, path)); !ok || err != nil {
					t.Fatal(ok, err)
				}
				if _, err := unfairOn(t, open(t), path).TryAcquire(ctx); !errors.Is(err, ErrBusy) {
					t.Fatal(err)
				}
				if err := h.Release(ctx); err != nil && !errors.Is(err, ErrReleasePending) {
					t.Fatal(err)
				}
			}
			awaitGone(t, z, path)
		})
	}
}

// TestUnfairLock_tokenIsOfItsOwnNode: a create that was given up, and answered
// afterwards, leaves its zxid to nobody: neither to the next create under the
// same name whose own answer is lost.
func TestUnfairLock_tokenIsOfItsOwnNode(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t)+"/job", within(t, 30*time.Second)
	c, relay := tapped(t, WithSessionTimeout(10*time.Second))
	l := unfairOn(t, c, path)
	plainParents(t, z, path) // a container could go meanwhile, and the create would fail
	deletes := func() int64 { return relay.Counters().Requests[wiretap.OpDelete] }
	before := deletes()
	relay.Delay(40 * time.Millisecond)
	brief, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if _, err := l.Acquire(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	relay.Delay(0)
	// Then the cleaner has the answer to the create.
	await(t, "deletion of the node that was given up", func() bool { return deletes() > before })
	awaitEmpty(t, z, parentOf(path))
	relay.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: fullPath(t, path)})
	h := must[*Hold](t)(l.Acquire(ctx))
	_, stat, err := z.Get(fullPath(t, path))
	if err != nil || h.Token() != stat.Czxid {
		t.Errorf("token 0x%x of a node made by 0x%x (%v)", h.Token(), stat.Czxid, err)
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestUnfairLock_expiry: the lost lock does not keep the process's others out.
func TestUnfairLock_bug46_expiryFreesTheLane(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t)
	l := unfairOn(t, c, path)
	h := must[*Hold](t)(l.Acquire(ctx))
	expire(t, relay)
	again := must[*Hold](t)(l.Acquire(ctx)) // h was never released
	if again.Token() <= h.Token() {
		t.Error(again.Token(), h.Token())
	}
	_, _ = again.Release(ctx), h.Release(ctx)
}

// TestMultiLock_oppositeOrders do not deadlock, and one context counts for all.
func TestMultiLock_oppositeOrders_4clients(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 30*time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside := 0
	for i := range 4 {
		c := open(t)
		locks := []Lock{mutexOn(t, c, path+"/a"), rwOn(t, c, path+"/b").Write(), semOn(t, c, path+"/c", 1)}
		if i%2 == 1 {
			locks[0], locks[2] = locks[2], locks[0]
		}
		m := must[*MultiLock](t)(NewMultiLock(locks...))
		wg.Go(func() {
			for range 5 {
				h, err := m.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if inside++; inside != 1 {
					t.Error(inside, "inside")
				}
				inside--
				mu.Unlock()
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestMultiLock_failureReleasesTheRest(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	blocker := must[*Hold](t)(mutexOn(t, open(t), path+"/z").Acquire(ctx))
	c := open(t)
	m := must[*MultiLock](t)(NewMultiLock(mutexOn(t, c, path+"/z"), mutexOn(t, c, path+"/a")))
	if _, err := m.TryAcquire(ctx); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path+"/a")
	mine, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := m.Acquire(mine); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Fatal(err, time.Since(start))
	}
	awaitEmpty(t, z, path+"/a")
	awaitCount(t, z, path+"/z", 1)
	_ = blocker.Release(ctx)
	h := must[*MultiHold](t)(m.Acquire(ctx))
	if err := z.Delete(fullPath(t, h.Holds()[1].Path()), -1); err != nil {
		t.Fatal(err)
	}
	receive(t, h.Context().Done())
	if !errors.Is(context.Cause(h.Context()), ErrNodeDeleted) {
		t.Error(context.Cause(h.Context()))
	}
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
	awaitEmpty(t, z, path+"/a")
}

// TestUnfairLock_lateDelete: a release whose answer is lost, or whose node an
// administrator deleted, must not hit the node of whoever came next.
func TestUnfairLock_lateDeleteHitsNobodyElse(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	l, other := unfairOn(t, c, path), unfairOn(t, open(t), path)
	for _, how := range []string{"answer lost", "deleted by an administrator"} {
		h := must[*Hold](t)(l.Acquire(ctx))
		var next *Hold
		if how == "answer lost" {
			relay.DropReply(wiretap.Match{Op: wiretap.OpDelete, PathPrefix: fullPath(t, path)})
			relay.Refuse(true)
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			if err := h.Release(short); !errors.Is(err, ErrReleasePending) {
				t.Fatal(err)
			}
			cancel()
			next = must[*Hold](t)(other.Acquire(ctx))
			relay.Refuse(false)
			awaitState(t, states, Reconnected)
		} else {
			if err := z.Delete(fullPath(t, path), -1); err != nil {
				t.Fatal(err)
			}
			next = must[*Hold](t)(other.Acquire(ctx))
			if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrNodeDeleted) {
				t.Fatal(how, err, h.Lost())
			}
		}
		mine, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		if _, err := l.Acquire(mine); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(how, "the lock is free:", err)
		}
		cancel()
		if err := next.Release(ctx); err != nil || next.Lost() != nil {
			t.Fatal(how, err, next.Lost())
		}
	}
}
