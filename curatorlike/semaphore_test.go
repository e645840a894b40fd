package curatorlike

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

func semOn(t testing.TB, c *Client, path string, max int, opts ...LockOption) *Semaphore {
	t.Helper()
	return must[*Semaphore](t)(NewSemaphore(c, path, max, opts...))
}

// TestSemaphore_8clients_3leases: never more than three, and nothing is left.
func TestSemaphore_8clients_3leases(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 40*time.Second)
	var wg sync.WaitGroup
	var mu sync.Mutex
	out, most := 0, 0
	for i := range 8 {
		s := semOn(t, open(t), path, 3)
		n := 1 + i%2
		wg.Go(func() {
			for range 8 {
				h, err := s.AcquireN(ctx, n)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				out += n
				most = max(most, out)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				out -= n
				mu.Unlock()
				if err := h.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most > 3 || most < 2 {
		t.Error("at most", most, "leases were out")
	}
	awaitEmpty(t, z, path+"/leases")
	awaitEmpty(t, z, path+"/locks")
}

// TestSemaphore_allOrNone: who waits for two has neither, and gives up cleanly.
func TestSemaphore_bug40_allOrNone_givingUp(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	one := must[*Hold](t)(semOn(t, open(t), path, 2).Acquire(ctx))
	s := semOn(t, open(t), path, 2)
	if _, err := s.TryAcquireN(ctx, 2); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	names, _, err := z.Children(fullPath(t, path) + "/leases")
	if err != nil || len(names) != 1 {
		t.Fatal("after TryAcquireN:", names, err)
	}
	mine, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := s.AcquireN(mine, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	awaitCount(t, z, path+"/leases", 1)
	awaitEmpty(t, z, path+"/locks")
	both := acquireLater(t, ctx, nOf{s, 2})
	awaitCount(t, z, path+"/leases", 3)
	notYet(t, both, "two of two while one is out")
	done := make(chan error)
	go func() { done <- one.Release(WithOwner(ctx, NewOwner("another goroutine"))) }()
	if err := receive(t, done); err != nil { // any goroutine may return a lease
		t.Fatal(err)
	}
	_ = receive(t, both).Release(ctx)
	awaitEmpty(t, z, path+"/leases")
}

// nOf is a semaphore as a lock of n leases.
type nOf struct {
	*Semaphore
	n int
}

func (l nOf) Acquire(ctx context.Context) (*Hold, error) { return l.AcquireN(ctx, l.n) }

// TestSemaphore_bug23_raisedMaximumWakesWaiters, of this process and, with a
// shared count, of every process.
func TestSemaphore_bug23_raisedMaximumWakesWaiters(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	s := semOn(t, open(t), path, 1)
	h := must[*Hold](t)(s.Acquire(ctx))
	next := acquireLater(t, ctx, s)
	awaitCount(t, z, path+"/leases", 2)
	notYet(t, next, "above the maximum")
	if err := s.SetMax(2); err != nil {
		t.Fatal(err)
	}
	_, _ = receive(t, next).Release(ctx), h.Release(ctx)

	count := fullPath(t, path) + "/count"
	if _, err := z.Create(count, binary.BigEndian.AppendUint32(nil, 1), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	shared := semOn(t, open(t), path, 5, SharedMax(path+"/count"))
	h = must[*Hold](t)(shared.Acquire(ctx))
	next = acquireLater(t, ctx, semOn(t, open(t), path, 5, SharedMax(path+"/count")))
	awaitCount(t, z, path+"/leases", 2)
	notYet(t, next, "above the shared maximum")
	if _, err := z.Set(count, binary.BigEndian.AppendUint32(nil, 2), -1); err != nil {
		t.Fatal(err)
	}
	_, _ = receive(t, next).Release(ctx), h.Release(ctx)
	_ = z.Delete(count, -1)
	awaitEmpty(t, z, path+"/leases")
}

// TestSemaphore_foreignChild is not a lease.
func TestSemaphore_bug46_foreignChildIsNoLease(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	s := semOn(t, open(t), path, 1)
	_ = must[*Hold](t)(s.Acquire(ctx)).Release(ctx)
	for _, name := range []string{"config", "lease-", "_c_x", "x-lock-0000000001"} {
		p := fullPath(t, path) + "/leases/" + name
		if _, err := z.Create(p, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = z.Delete(p, -1) }()
	}
	if err := must[*Hold](t)(s.TryAcquire(ctx)).Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSemaphore_bug40_lostRequests: whatever is lost, no lease is left.
func TestSemaphore_bug40_lostRequests(t *testing.T) {
	for _, op := range []wiretap.Op{wiretap.OpCreate, wiretap.OpGetChildren, wiretap.OpDelete} {
		t.Run(op.String(), func(t *testing.T) {
			noLeak(t)
			z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
			c, relay := tapped(t, WithSessionTimeout(8*time.Second))
			s := semOn(t, c, path, 2)
			_ = must[*Hold](t)(s.Acquire(ctx)).Release(ctx)
			relay.DropReply(wiretap.Match{Op: op, PathPrefix: fullPath(t, path) + "/leases"})
			h := must[*Hold](t)(s.AcquireN(ctx, 2))
			awaitCount(t, z, path+"/leases", 2)
			if err := h.Release(ctx); err != nil && !errors.Is(err, ErrReleasePending) {
				t.Fatal(err)
			}
			awaitEmpty(t, z, path+"/leases")
			awaitEmpty(t, z, path+"/locks")
			if relay.Faults().Armed > 0 {
				t.Error("the fault was not met")
			}
		})
	}
}

// TestSemaphoreMutex is one lease, not reentrant, released by anybody.
func TestSemaphoreMutex(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	m := must[*SemaphoreMutex](t)(NewSemaphoreMutex(open(t), path))
	o := WithOwner(ctx, NewOwner("o"))
	h := must[*Hold](t)(m.Acquire(o))
	if _, err := m.TryAcquire(o); !errors.Is(err, ErrBusy) {
		t.Fatal("reentrant:", err)
	}
	if err := h.Release(WithOwner(ctx, NewOwner("other"))); err != nil {
		t.Fatal(err)
	}
	awaitEmpty(t, z, path+"/leases")
}

// TestSemaphore_queueNodeDeletedByHand_nobodyWaitsForEver: who has lost its turn may
// not keep its lease: the next one would wait for that, and it for the next one's.
func TestSemaphore_queueNodeDeletedByHand_nobodyWaitsForEver(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	out := must[*Hold](t)(semOn(t, open(t), path, 1).Acquire(ctx))
	awaitEmpty(t, z, path+"/locks")
	failed, first := make(chan error), semOn(t, open(t), path, 1)
	go func() {
		_, err := first.Acquire(ctx)
		failed <- err
	}()
	awaitCount(t, z, path+"/leases", 2)
	turn := awaitChildren(t, z, path+"/locks", func(n []string) bool { return len(n) == 1 })
	if err := z.Delete(fullPath(t, path)+"/locks/"+turn[0], -1); err != nil {
		t.Fatal(err)
	}
	next := acquireLater(t, ctx, semOn(t, open(t), path, 1))
	if err := receive(t, failed); !errors.Is(err, ErrNodeDeleted) {
		t.Error(err)
	}
	awaitCount(t, z, path+"/leases", 2)
	_ = out.Release(ctx)
	_ = receive(t, next).Release(ctx)
	awaitEmpty(t, z, path+"/leases")
}

// TestSemaphore_bug40_oneOfItsLeasesDeletedByHand: the acquire fails, and the other
// lease does not stay.
func TestSemaphore_bug40_oneOfItsLeasesDeletedByHand(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	out := must[*Hold](t)(semOn(t, open(t), path, 2).Acquire(ctx))
	own := out.Path()
	failed, s := make(chan error), semOn(t, open(t), path, 2)
	go func() {
		_, err := s.AcquireN(ctx, 2)
		failed <- err
	}()
	for _, name := range awaitChildren(t, z, path+"/leases", func(n []string) bool { return len(n) == 3 }) {
		if path+"/leases/"+name != own {
			if err := z.Delete(fullPath(t, path)+"/leases/"+name, -1); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if err := receive(t, failed); !errors.Is(err, ErrNodeDeleted) {
		t.Error(err)
	}
	awaitCount(t, z, path+"/leases", 1)
	_ = out.Release(ctx)
	awaitEmpty(t, z, path+"/leases")
}
