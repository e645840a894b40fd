package curatorlike

import (
	"sync"
	"testing"
	"time"

	"zklab/internal/wiretap"
)

// best returns the shortest of five tries: a busy machine makes things slower,
// never quicker.
func best(f func() time.Duration) time.Duration {
	d := time.Hour
	for range 5 {
		d = min(d, f())
	}
	return d
}

// TestCost_roundTrips: with a delay that dwarfs everything else, an acquire
// that meets nobody takes one round trip, its release one, and a hand-off one.
func TestCost_roundTrips(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 60*time.Second)
	const delay = 25 * time.Millisecond
	const one, two = 2 * delay, 4 * delay
	c, relay := tapped(t, WithSessionTimeout(10*time.Second))
	other, otherRelay := tapped(t, WithSessionTimeout(10*time.Second))
	m, om := mutexOn(t, c, path), mutexOn(t, other, path)
	_ = must[*Hold](t)(m.Acquire(ctx)).Release(ctx) // makes the directory
	keep := must[*Hold](t)(mutexOn(t, c, path+"/keep").Acquire(ctx))
	defer func() { _ = keep.Release(ctx) }() // a container with a child stays
	relay.Delay(delay)
	otherRelay.Delay(delay)

	var h *Hold
	var release time.Duration = time.Hour
	acquire := best(func() time.Duration {
		start := time.Now()
		h = must[*Hold](t)(m.Acquire(ctx))
		mid := time.Now()
		if err := h.Release(ctx); err != nil {
			t.Fatal(err)
		}
		release = min(release, time.Since(mid))
		return mid.Sub(start)
	})
	if acquire < one || acquire >= two || release < one || release >= two {
		t.Errorf("acquire %v, release %v; a round trip is %v", acquire, release, one)
	}
	handoff := best(func() time.Duration {
		h := must[*Hold](t)(m.Acquire(ctx))
		granted := make(chan time.Time)
		go func() {
			h, err := om.Acquire(ctx)
			granted <- time.Now()
			if err != nil {
				t.Error(err)
				return
			}
			_ = h.Release(ctx)
			granted <- time.Time{}
		}()
		awaitCount(t, z, path, 3) // with the one that keeps the directory
		time.Sleep(3 * one)       // its watches are set
		start := time.Now()
		go func() { _ = h.Release(ctx) }()
		d := receive(t, granted).Sub(start)
		receive(t, granted)
		return d
	})
	if handoff < one || handoff >= two {
		t.Errorf("hand-off %v; a round trip is %v", handoff, one)
	}
}

// TestCost_drain_20waiters: a waiter lists at most twice, once when it joins and
// once while its predecessor holds, and at most two waiters wake up for a release.
func TestCost_drain_20waiters(t *testing.T) {
	z, path, ctx := raw(t), lockPath(t), within(t, 30*time.Second)
	h := must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx))
	var mu sync.Mutex
	lists, wakeUps, grants := 0, 0, 0
	count := func(m Measurement) {
		mu.Lock()
		defer mu.Unlock()
		if m.Wait > 0 {
			lists, wakeUps, grants = lists+m.Lists, wakeUps+m.WakeUps, grants+1
		}
	}
	var wg sync.WaitGroup
	const n = 20
	for i := range n {
		c, relay := tapped(t, WithMetrics(count))
		m := mutexOn(t, c, path)
		wg.Go(func() {
			h, err := m.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			if err := h.Release(ctx); err != nil {
				t.Error(err)
			}
		})
		awaitCount(t, z, path, i+2)
		reads := min(i+1, 2) + 1 // its own node and up to two before it
		await(t, "watches", func() bool { return relay.Counters().Requests[wiretap.OpGetData] >= int64(reads) })
	}
	if err := h.Release(ctx); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if grants != n || lists > 2*n || wakeUps > 2*n {
		t.Errorf("%d grants, %d lists, %d wake-ups", grants, lists, wakeUps)
	}
}
