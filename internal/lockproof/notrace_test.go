package lockproof_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// requests is how many requests of an acquire and its release are cut, one a
// try. More than any recipe sends: then nothing is cut, and that is fine too.
const requests = 8

// TestNoTrace_cutAtEachRequest cuts the connection before and after each
// request of an acquire, of a free lock and of one that is held, and requires
// that nothing stays behind while the session lives.
func TestNoTrace_cutAtEachRequest(t *testing.T) {
	leavesNothing(t)
	for i := range recipes {
		r := &recipes[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, r.suite(curatorlike.WithSessionTimeout(calmTimeout)))
			victim, other := a.player("victim", r.victim), a.player("other", r.rival)
			cut := 0
			for skip := range requests {
				for _, breaks := range []func(wiretap.Match) bool{victim.relay.DropReply, victim.relay.FailWrite} {
					breaks(wiretap.Match{PathPrefix: a.path, Skip: skip})
					tries(a, victim, patience)
					held := holdsAll(a, other, r.permits)
					tries(a, victim, 30*time.Millisecond)
					if victim.relay.Faults().Armed == 0 {
						cut++
					}
					victim.relay.Heal()
					for _, g := range held {
						if err := g.Release(within(t, patience)); err != nil {
							t.Errorf("the other's release: %v", err)
						}
					}
					if a.empties(); len(a.found) > 0 {
						t.Fatalf("after a cut at request %d:\n%s%s", skip+1, lockproof.Report(a.found), a.logTail(20))
					}
				}
			}
			if cut < 4 {
				t.Errorf("only %d of %d cuts met a request", cut, 2*requests)
			}
		})
	}
}

// tries acquires and releases; every way to fail is allowed.
func tries(a *arena, p *player, limit time.Duration) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	start := time.Now()
	err := p.member.Round(ctx, p.lock, nil)
	if took := time.Since(start); took > limit+patience/2 {
		a.t.Errorf("with a limit of %v it took %v (%v)", limit, took, err)
	}
}

// holdsAll takes the lock as often as its permits allow.
func holdsAll(a *arena, p *player, permits int) []*lockproof.Grant {
	a.t.Helper()
	var held []*lockproof.Grant
	for range permits {
		g, err := p.lock.Acquire(within(a.t, patience))
		if err != nil {
			a.t.Fatalf("the other: %v", err)
		}
		held = append(held, g)
	}
	return held
}

// waysToGiveUp are those of a waiter whose requests all get through. strike
// is done while it waits; none: its context ends by itself.
var waysToGiveUp = []struct {
	name   string
	limit  time.Duration
	strike func(p *player, cancel context.CancelFunc) error
	want   error
}{
	{"timeout", 100 * time.Millisecond, nil, context.DeadlineExceeded},
	{"cancel", patience, func(_ *player, cancel context.CancelFunc) error { cancel(); return nil }, context.Canceled},
	{"expiry", patience, func(p *player, _ context.CancelFunc) error { return p.expire() }, curatorlike.ErrSessionLost},
	{"close", patience, func(p *player, _ context.CancelFunc) error { p.session.Close(); return nil }, curatorlike.ErrClosed},
}

// TestNoTrace_waiterGivesUp: a waiter of each recipe says why it has failed,
// and is out of the queue while the other still holds.
func TestNoTrace_waiterGivesUp(t *testing.T) {
	leavesNothing(t)
	for i := range recipes {
		r := &recipes[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, r.suite(curatorlike.WithSessionTimeout(calmTimeout)))
			held := holdsAll(a, a.player("other", r.rival), r.permits)
			before := a.children()
			for _, way := range waysToGiveUp {
				ctx, cancel := context.WithTimeout(within(t, patience), way.limit)
				victim := a.player(way.name, r.victim)
				if way.strike == nil {
					victim.begin(ctx)
				} else {
					victim.queues(ctx)
					if err := way.strike(victim, cancel); err != nil {
						t.Fatal(err)
					}
				}
				if err := victim.ends(); !errors.Is(err, way.want) {
					t.Errorf("%s: the acquire ended with %v, want %v", way.name, err, way.want)
				}
				cancel()
				waitFor(t, patience, way.name+": the waiter's nodes are gone", func() bool {
					return !slices.ContainsFunc(a.children(), func(n string) bool { return !slices.Contains(before, n) })
				})
			}
			for _, g := range held {
				if err := g.Release(within(t, patience)); err != nil {
					t.Errorf("the other's release: %v", err)
				}
			}
			if a.empties(); len(a.found) > 0 {
				t.Errorf("%s\n%s", lockproof.Report(a.found), a.logTail(20))
			}
		})
	}
}

// The ways of an acquire to fail that need no broken network.
func TestNoTrace_closedAndRevoked(t *testing.T) {
	leavesNothing(t)
	t.Run("closed", closedWhileWaiting)
	t.Run("revoked", revokedWhileHeld)
}

func closedWhileWaiting(t *testing.T) {
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
}

func revokedWhileHeld(t *testing.T) {
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
}
