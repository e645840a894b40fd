package curatorlike

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestMutex_6clients_3goroutines_orderAndTokens: one holder at a time, tokens
// strictly increase, and nothing is left.
func TestMutex_6clients_3goroutines_orderAndTokens(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 30*time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	inside, last, grants := 0, int64(0), 0
	for range 6 {
		c := open(t)
		for range 3 {
			m := mutexOn(t, c, path)
			wg.Go(func() {
				for range 10 {
					h, err := m.Acquire(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					inside++
					grants++
					if inside != 1 || h.Token() <= last {
						t.Errorf("%d holders, token %d after %d", inside, h.Token(), last)
					}
					last = h.Token()
					mu.Unlock()
					mu.Lock()
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
	if grants != 180 {
		t.Error(grants, "grants")
	}
	awaitEmpty(t, z, path)
}

// TestMutex_queueOrder: grants go in the order of arrival, and the token is
// the node's czxid.
func TestMutex_queueOrder(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 30*time.Second)
	first, err := mutexOn(t, open(t), path).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, stat, err := z.Get(fullPath(t, first.Path()))
	if err != nil || stat.Czxid != first.Token() || stat.EphemeralOwner != first.SessionID() {
		t.Fatal(err, stat, first.Token())
	}
	order := make(chan int, 8)
	for i := range 8 {
		m := mutexOn(t, open(t), path)
		go func() {
			h, err := m.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			order <- i
			_ = h.Release(ctx)
		}()
		awaitCount(t, z, path, i+2)
	}
	if err := first.Release(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if got := receive(t, order); got != i {
			t.Fatalf("grant %d went to %d", i, got)
		}
	}
	awaitEmpty(t, z, path)
}

func TestMutex_reentrantByOwner(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := open(t)
	m := mutexOn(t, c, path)
	owner := NewOwner("order 4711")
	mine := WithOwner(ctx, owner)
	outer := must[*Hold](t)(m.Acquire(mine))
	inner := must[*Hold](t)(mutexOn(t, c, path).Acquire(outer.Context()))
	if inner.Token() != outer.Token() || inner.Owner() != owner {
		t.Fatal("not the same grant")
	}
	awaitCount(t, z, path, 1)
	if _, err := m.TryAcquire(WithOwner(ctx, NewOwner("another"))); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	if err := outer.Release(WithOwner(ctx, NewOwner("another"))); !errors.Is(err, ErrNotOwner) {
		t.Fatal(err)
	}
	if err := outer.Release(mine); err != nil { // the outer one first
		t.Fatal(err)
	}
	if inner.Context().Err() != nil {
		// derived from the outer hold's context, but a hold of its own
		t.Fatal("the inner hold ended with the outer one")
	}
	awaitCount(t, z, path, 1)
	if err := inner.Release(mine); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
	if !errors.Is(context.Cause(inner.Context()), ErrReleased) {
		t.Fatal(context.Cause(inner.Context()))
	}
	again := must[*Hold](t)(m.Acquire(mine))
	if again.Token() <= outer.Token() {
		t.Error("an old token")
	}
	_ = again.Release(mine)
}

// TestMutex_contextWithoutOwner_waitsForItself, as the documentation says.
func TestMutex_contextWithoutOwner_waitsForItself(t *testing.T) {
	path, ctx := lockPath(t), within(t, 20*time.Second)
	m := mutexOn(t, open(t), path)
	h := must[*Hold](t)(m.Acquire(ctx))
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := m.Acquire(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestMutex_TryAcquire_leavesNoNode(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).TryAcquire(ctx))
	other := mutexOn(t, open(t), path)
	for range 5 {
		if _, err := other.TryAcquire(ctx); !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
		names, _, err := z.Children(fullPath(t, path))
		if err != nil || len(names) != 1 {
			t.Fatal("when TryAcquire has returned its node is gone:", names, err)
		}
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := must[*Hold](t)(other.TryAcquire(ctx)).Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path)
}

// TestMutex_bug46_foreignChildren neither block nor break nor join the queue.
func TestMutex_bug46_foreignChildren(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := mutexOn(t, open(t), path)
	h := must[*Hold](t)(m.Acquire(ctx))
	foreign := []string{"_c_x", "config", "0000000000", "lock-", "lock-abc", "a__lock__0000000000", "_c_-__READ__0000000000"}
	for _, name := range foreign {
		if _, err := z.Create(fullPath(t, path)+"/"+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	next := make(chan *Hold)
	go func() {
		h, err := mutexOn(t, open(t), path).Acquire(ctx)
		if err != nil {
			t.Error(err)
		}
		next <- h
	}()
	awaitCount(t, z, path, 2+len(foreign))
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	h = receive(t, next)
	if h == nil {
		return
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	awaitCount(t, z, path, len(foreign))
	for _, name := range foreign {
		if err := z.Delete(fullPath(t, path)+"/"+name, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMutex_bug01_exhausted: a number near 2^31 is refused, and its node removed.
func TestMutex_bug01_exhausted(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := open(t)
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx)) // makes the directory
	s, _ := c.current()
	n := &node{s: s, dir: c.full(path), guid: newGUID()}
	full := c.full(path) + "/" + protected(n.guid, lockName) + "2147483647"
	n.last = launch(s, func(z *zk.Conn) (string, error) {
		return z.Create(full, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	})
	if _, err := n.last.wait(ctx, s); err != nil {
		t.Fatal(err)
	}
	err := n.named(ctx, full, lockName)
	if !errors.Is(err, ErrSequenceExhausted) || !strings.Contains(err.Error(), "2147483647") {
		t.Fatal(err)
	}
	awaitCount(t, z, path, 1)
	_ = h.Release(ctx)
}
