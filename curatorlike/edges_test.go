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

// TestSemaphore_tryAfterTry: the turn of the one before, which is given back behind
// its back, makes nobody of the same client busy.
func TestSemaphore_tryAfterTry_allLeases(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t)
	relay.Delay(3 * time.Millisecond)
	pool := semOn(t, c, path, 10)
	var holds []*Hold
	for i := range 10 {
		h, err := pool.TryAcquire(ctx)
		if err != nil {
			t.Fatalf("lease %d of 10: %v", i+1, err)
		}
		holds = append(holds, h)
	}
	if _, err := pool.TryAcquire(ctx); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	for _, h := range holds {
		if err := h.Release(ctx); err != nil {
			t.Error(err)
		}
	}
	awaitEmpty(t, z, path+"/leases")
	awaitEmpty(t, z, path+"/locks")
}

// TestSemaphore_sharedMaximumComesLate: the creation of the node wakes waiters, and
// nobody creates leases that the maximum cannot allow.
func TestSemaphore_sharedMaximumComesLate(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	plainParents(t, z, path+"/leases/x")
	count := fullPath(t, path) + "-count"
	t.Cleanup(func() { _ = z.Delete(count, -1) })
	shared := SharedMax(path + "-count")
	h := must[*Hold](t)(semOn(t, open(t), path, 1, shared).Acquire(ctx))
	second := semOn(t, open(t), path, 1, shared)
	next := acquireLater(t, ctx, second)
	awaitCount(t, z, path+"/leases", 2)
	notYet(t, next, "above the own maximum")
	if _, err := z.Create(count, binary.BigEndian.AppendUint32(nil, 2), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	_ = receive(t, next).Release(ctx)
	awaitCount(t, z, path+"/leases", 1)

	if _, err := second.TryAcquireN(ctx, 100_000); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	many := acquireLater(t, ctx, nOf{second, 3})
	awaitCount(t, z, path+"/locks", 1)
	notYet(t, many, "three of two")
	awaitCount(t, z, path+"/leases", 1)
	_ = h.Release(ctx)
	if _, err := z.Set(count, binary.BigEndian.AppendUint32(nil, 3), -1); err != nil {
		t.Fatal(err)
	}
	_ = receive(t, many).Release(ctx)
	awaitEmpty(t, z, path+"/leases")
	awaitEmpty(t, z, path+"/locks")
}

// TestSemaphore_retryPolicy does not make an acquire late.
func TestSemaphore_retryPolicy_deadlineIsKept(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second), WithRetryPolicy(func(int) time.Duration { return 3 * time.Second }))
	h := must[*Hold](t)(semOn(t, open(t), path, 1).Acquire(ctx))
	relay.DropReply(wiretap.Match{Op: wiretap.OpGetChildren2, PathPrefix: fullPath(t, path) + "/leases"})
	relay.DropReply(wiretap.Match{Op: wiretap.OpGetChildren, PathPrefix: fullPath(t, path) + "/leases"})
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	start := time.Now()
	if _, err := semOn(t, c, path, 1).Acquire(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Error("it took", took)
	}
	_ = h.Release(ctx)
}

// TestSemaphore_metrics: one measurement for an acquire and one for a hold, of the
// semaphore and of no other path.
func TestMetrics_semaphoreAndUnfair(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	var mu sync.Mutex
	var all []Measurement
	c := open(t, WithMetrics(func(m Measurement) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
	}))
	h := must[*Hold](t)(semOn(t, open(t), path, 1).Acquire(ctx))
	next := acquireLater(t, ctx, semOn(t, c, path, 1))
	awaitCount(t, z, path+"/leases", 2)
	_ = h.Release(ctx)
	_ = receive(t, next).Release(ctx)
	u := must[*Hold](t)(unfairOn(t, open(t), path+"-u").Acquire(ctx))
	next = acquireLater(t, ctx, unfairOn(t, c, path+"-u"))
	notYet(t, next, "it is taken")
	_ = u.Release(ctx)
	_ = receive(t, next).Release(ctx)
	mu.Lock()
	defer mu.Unlock()
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	if a := all[0]; a.Path != path || a.Wait == 0 || a.WakeUps < 1 || a.Lists < 3 || all[1].Path != path || all[1].Held == 0 {
		t.Errorf("%+v", all[:2])
	}
	if a := all[2]; a.Path != path+"-u" || a.WakeUps != 1 || a.Ahead != 1 || all[3].Path != path+"-u" {
		t.Errorf("%+v", all[2:])
	}
}

// TestHold_secondRelease: while one release waits for a dead connection, everything
// else about the hold goes by its own context.
func TestHold_secondRelease_keepsItsDeadline(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	m := must[*MultiLock](t)(NewMultiLock(mutexOn(t, c, path+"-m")))
	h, mh := must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx)), must[*MultiHold](t)(m.Acquire(ctx))
	relay.BlackHole(wiretap.Both, true)
	first := make(chan error, 2)
	go func() { first <- h.Release(context.Background()) }()
	go func() { first <- mh.Release(context.Background()) }()
	await(t, "release", func() bool { return h.Released() && mh.Holds()[0].Released() })
	start := time.Now()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	for _, release := range []func(context.Context) error{h.Release, mh.Release} {
		if err := release(short); !errors.Is(err, ErrReleasePending) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	if _, err := h.Guard(short); !errors.Is(err, ErrNotHeld) {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Error("it took", took)
	}
	relay.BlackHole(wiretap.Both, false)
	for range 2 {
		if err := receive(t, first); err != nil && !errors.Is(err, ErrReleasePending) {
			t.Error(err)
		}
	}
}

// TestData_tooLarge: what would make the server hang up is refused before it is sent.
func TestData_tooLarge_isRefused(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c := open(t, WithEventHook(func(e Event) {
		if e.State != Connected {
			t.Error(e.State)
		}
	}))
	huge, fits := make([]byte, maxData+1), make([]byte, maxData)
	for name, err := range map[string]error{
		"mutex":     second(NewMutex(c, path, WithData(huge))),
		"rw":        second(NewRWMutex(c, path, WithData(huge))),
		"semaphore": second(NewSemaphore(c, path, 2, WithData(huge))),
		"unfair":    second(NewUnfairLock(c, path, WithData(huge))),
	} {
		if !errors.Is(err, ErrBadArgument) {
			t.Error(name, err)
		}
	}
	h := must[*Hold](t)(mutexOn(t, c, path, WithData(fits)).Acquire(ctx))
	if err := h.SetData(ctx, huge); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
	if err := h.SetData(ctx, fits[:maxData-1000]); err != nil {
		t.Error(err)
	}
	if h.Context().Err() != nil {
		t.Error(context.Cause(h.Context()))
	}
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestMultiHold_asksTheClock, as a single hold does.
func TestMultiHold_asksTheClock(t *testing.T) {
	clock := &stoppedClock{now: time.Now()}
	s := deadlineSession(clock)
	m := &MultiHold{}
	for range 2 {
		g := newGrant(context.Background(), s.c, "/x", lockOptions{}, Owner{}, &node{s: s})
		s.admit(g)
		m.holds = append(m.holds, newHold(g))
	}
	m.bind(m.holds)
	if m.Context().Err() != nil {
		t.Fatal("ended at once")
	}
	clock.move(6 * time.Second)
	if m.Context().Err() == nil || !errors.Is(context.Cause(m.Context()), ErrSuspended) {
		t.Fatal("alive after 2/3 T:", context.Cause(m.Context()))
	}
}
