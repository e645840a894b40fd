package curatorlike

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestBadUse: a clear error each time, and nothing is sent, taken or lost.
func TestBadUse_arguments(t *testing.T) {
	noLeak(t)
	c, ctx := open(t), within(t, 20*time.Second)
	news := map[string]func(c *Client, path string) error{
		"Mutex":          func(c *Client, p string) error { _, err := NewMutex(c, p); return err },
		"RWMutex":        func(c *Client, p string) error { _, err := NewRWMutex(c, p); return err },
		"Semaphore":      func(c *Client, p string) error { _, err := NewSemaphore(c, p, 1); return err },
		"SemaphoreMutex": func(c *Client, p string) error { _, err := NewSemaphoreMutex(c, p); return err },
		"UnfairLock":     func(c *Client, p string) error { _, err := NewUnfairLock(c, p); return err },
	}
	for name, f := range news {
		for _, p := range []string{"", "relative", "relative/path", "/", "/a/", "/a//b", "/a/../b"} {
			if err := f(c, p); !errors.Is(err, ErrInvalidPath) {
				t.Errorf("%s on %q: %v", name, p, err)
			}
		}
		if err := f(nil, "/a"); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%s without a client: %v", name, err)
		}
	}
	for _, n := range []int{0, -1} {
		if _, err := NewSemaphore(c, "/a", n); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%d leases: %v", n, err)
		}
	}
	s := semOn(t, c, lockPath(t), 2)
	for _, n := range []int{0, -1, 3} {
		if _, err := s.AcquireN(ctx, n); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%d of 2 leases: %v", n, err)
		}
		if err := s.SetMax(min(n, 0)); !errors.Is(err, ErrBadArgument) {
			t.Errorf("maximum %d: %v", n, err)
		}
	}
	if _, err := NewSemaphore(c, "/a", 1, SharedMax("x")); !errors.Is(err, ErrInvalidPath) {
		t.Error(err)
	}
	m := mutexOn(t, c, lockPath(t))
	for _, locks := range [][]Lock{nil, {nil}, {m, m}} {
		if _, err := NewMultiLock(locks...); !errors.Is(err, ErrBadArgument) {
			t.Errorf("a multi-lock of %v: %v", locks, err)
		}
	}
	if _, err := Participants(ctx, c, "x"); !errors.Is(err, ErrInvalidPath) {
		t.Error(err)
	}
	if err := Revoke(ctx, c, ""); !errors.Is(err, ErrInvalidPath) {
		t.Error(err)
	}
}

// TestBadUse_nilContext is an error everywhere, not a panic.
func TestBadUse_nilContext(t *testing.T) {
	noLeak(t)
	c, ctx, path := open(t), within(t, 20*time.Second), lockPath(t)
	m, rw, s, u := mutexOn(t, c, path), rwOn(t, c, path), semOn(t, c, path, 1), unfairOn(t, c, path)
	ml := must[*MultiLock](t)(NewMultiLock(m))
	h := must[*Hold](t)(m.Acquire(ctx))
	var none context.Context
	calls := map[string]func() error{
		"Mutex.Acquire":         func() error { _, err := m.Acquire(none); return err },
		"Mutex.TryAcquire":      func() error { _, err := m.TryAcquire(none); return err },
		"Read.Acquire":          func() error { _, err := rw.Read().Acquire(none); return err },
		"Write.TryAcquire":      func() error { _, err := rw.Write().TryAcquire(none); return err },
		"Semaphore.AcquireN":    func() error { _, err := s.AcquireN(none, 1); return err },
		"UnfairLock.Acquire":    func() error { _, err := u.Acquire(none); return err },
		"MultiLock.Acquire":     func() error { _, err := ml.Acquire(none); return err },
		"Hold.Release":          func() error { return h.Release(none) },
		"Hold.Guard":            func() error { _, err := h.Guard(none); return err },
		"Hold.Downgrade":        func() error { _, err := h.Downgrade(none); return err },
		"Hold.TryUpgrade":       func() error { _, err := h.TryUpgrade(none); return err },
		"Participants":          func() error { _, err := Participants(none, c, "/a"); return err },
		"Participants (client)": func() error { _, err := Participants(ctx, nil, "/a"); return err },
		"Revoke":                func() error { return Revoke(none, c, "/a/b") },
		"Close":                 func() error { return c.Close(none) },
	}
	for name, f := range calls {
		if err := f(); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
}

func TestBadUse_holds(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := mutexOn(t, open(t), path)
	h := must[*Hold](t)(m.Acquire(ctx))
	if _, err := h.Downgrade(ctx); !errors.Is(err, ErrBadArgument) {
		t.Error("downgrade of a mutex:", err)
	}
	if _, err := h.TryUpgrade(ctx); !errors.Is(err, ErrBadArgument) {
		t.Error("upgrade of a mutex:", err)
	}
	if err := h.Release(WithOwner(ctx, NewOwner("other"))); !errors.Is(err, ErrNotOwner) || h.Released() {
		t.Error("release by another owner:", err)
	}
	next := acquireLater(t, ctx, mutexOn(t, open(t), path))
	awaitCount(t, z, path, 2)
	for range 3 { // the second one must not release somebody else's
		if err := h.Release(ctx); err != nil || h.Lost() != nil {
			t.Error(err, h.Lost())
		}
	}
	n := receive(t, next)
	awaitCount(t, z, path, 1)
	_ = n.Release(ctx)

	rw := rwOn(t, open(t), path+"-rw")
	r := must[*Hold](t)(rw.Read().Acquire(ctx))
	_ = r.Release(ctx)
	if _, err := r.TryUpgrade(ctx); !errors.Is(err, ErrNotHeld) {
		t.Error("upgrade of a released hold:", err)
	}
	w := must[*Hold](t)(rw.Write().Acquire(ctx))
	_ = w.Release(ctx)
	if _, err := w.Downgrade(ctx); !errors.Is(err, ErrNotHeld) {
		t.Error("downgrade of a released hold:", err)
	}
	awaitEmpty(t, z, path+"-rw")
}

// TestBadUse_parentMayNotBeCreated, and one that is ephemeral.
func TestBadUse_parentMayNotBeCreated(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := open(t)
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	if _, err := mutexOn(t, c, h.Path()+"/below").Acquire(ctx); !errors.Is(err, zk.ErrNoChildrenForEphemerals) {
		t.Error("below an ephemeral node:", err)
	}
	closed := fullPath(t, path) + "/closed"
	if _, err := z.Create(closed, nil, 0, zk.WorldACL(zk.PermRead|zk.PermDelete)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Delete(closed, -1) }()
	for _, l := range []Lock{mutexOn(t, c, path+"/closed"), mutexOn(t, c, path+"/closed/a/b"), semOn(t, c, path+"/closed", 1),
		rwOn(t, c, path+"/closed").Read(), unfairOn(t, c, path+"/closed/x"), unfairOn(t, c, path+"/closed/x/y")} {
		if _, err := l.Acquire(ctx); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("%T on %s: %v", l, l.Path(), err)
		}
	}
	_ = h.Release(ctx)
}

// TestBadUse_closedClient fails at once, whatever is asked.
func TestBadUse_closedClient(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c := open(t)
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, l := range []Lock{mutexOn(t, c, path), rwOn(t, c, path).Read(), rwOn(t, c, path).Write(), semOn(t, c, path, 1), unfairOn(t, c, path)} {
		if _, err := l.Acquire(ctx); !errors.Is(err, ErrClosed) {
			t.Errorf("%T: %v", l, err)
		}
		if _, err := l.TryAcquire(ctx); !errors.Is(err, ErrClosed) {
			t.Errorf("%T: %v", l, err)
		}
	}
	if _, err := Participants(ctx, c, path); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := Revoke(ctx, c, path+"/x"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestBadUse_endedContext: nothing is left behind, whatever the lock.
func TestBadUse_endedContext(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := open(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, l := range []Lock{mutexOn(t, c, path), rwOn(t, c, path).Read(), rwOn(t, c, path).Write(), semOn(t, c, path, 1), unfairOn(t, c, path+"/u")} {
		if _, err := l.Acquire(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v", l, err)
		}
	}
	awaitChildren(t, z, path, func(names []string) bool {
		for _, n := range names {
			if n != "locks" && n != "leases" {
				return false
			}
		}
		return true
	})
	h := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	if err := h.Release(ended); err != nil && !errors.Is(err, ErrReleasePending) {
		t.Error(err)
	}
	awaitChildren(t, z, path, func(names []string) bool { return len(names) == 0 || len(names[0]) < 10 })
}
