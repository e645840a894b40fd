package lockproof_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
)

// Goroutines of one process share its client, and stand in a queue of their
// own inside it. They are contestants like any other.
func TestGoroutines_2clients_5goroutinesEach(t *testing.T) {
	leavesNothing(t)
	for i := range recipes {
		r := &recipes[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := calmSuite(r.name, r.permits, r.make)
			s.dirs = r.dirs
			a := newArena(t, s)
			ctx := within(t, 3*patience)
			var all sync.WaitGroup
			for c := range 2 {
				first := a.player(fmt.Sprintf("c%d", c), r.victim)
				for g := range 5 {
					m := first.member
					m.Who = fmt.Sprintf("c%dg%d", c, g)
					if g%2 == 1 {
						m.Mode = r.rival
					}
					lock := first.session.Lock(m.Mode, a.path)
					all.Go(func() {
						for range 10 {
							if err := m.Round(ctx, lock, nil); err != nil {
								t.Errorf("%s: %v", m.Who, err)
								return
							}
						}
					})
				}
			}
			all.Wait()
			a.empties()
			if vs := a.verdict(); len(vs) > 0 {
				t.Errorf("%s\n%s", lockproof.Report(vs), a.logTail(60))
			}
		})
	}
}

// The way of an acquire to fail that needs no fault: the client is closed, or
// an administrator or another process asks for the lock.
func TestNoTrace_closedAndRevoked(t *testing.T) {
	leavesNothing(t)
	t.Run("closed", func(t *testing.T) {
		a := newArena(t, calmSuite("mutex", 1, ourMutex))
		holder := a.acquires(a.client("holder").mutex())
		c := a.client("c")
		waiting, _ := a.queuedBehind(c.mutex())
		if err := c.Close(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		if r := a.await(waiting, patience, "the acquire of the closed client"); !errors.Is(r.err, curatorlike.ErrClosed) {
			t.Errorf("the acquire ended with %v, want ErrClosed", r.err)
		}
		if n := len(a.children()); n != 1 {
			t.Errorf("%d nodes after Close, want the holder's", n)
		}
		if _, err := c.mutex().Acquire(within(t, patience)); !errors.Is(err, curatorlike.ErrClosed) {
			t.Errorf("acquire on a closed client: %v, want ErrClosed", err)
		}
		a.releases(holder)
		a.clean()
	})
	t.Run("revoked", func(t *testing.T) {
		a := newArena(t, calmSuite("mutex", 1, ourMutex))
		h := a.acquires(a.client("holder").mutex())
		waiting, _ := a.queuedBehind(a.client("next").mutex())
		h.OnRevoke(func(h *curatorlike.Hold) { _ = h.Release(context.Background()) })
		if err := curatorlike.Revoke(within(t, patience), a.client("asks").Client, h.Path()); err != nil {
			t.Fatal(err)
		}
		a.endsWith(h, curatorlike.ErrRevoked)
		a.releases(a.granted(waiting))
		a.clean()
	})
}
