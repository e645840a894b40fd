package lockproof_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/wiretap"
)

// A holder that is stopped for longer than its session wakes up and writes:
// the resource refuses it, and the next one's work is not lost.
func TestCatalogue_26_pausedHolderIsFenced(t *testing.T) {
	strikes(t, "mutex", "SIGSTOP > T+tick", 0)
}

// The deadline counts from the last answer, not from when trouble was noticed:
// even a hold that lasts until Lost ends before anybody else can hold.
func TestCatalogue_27_lostBeforeTheServerFrees(t *testing.T) {
	a := bench(t)
	c := a.client("c", curatorlike.WithSessionTimeout(sessionTimeout))
	m, err := curatorlike.NewMutex(c.Client, a.path, curatorlike.HoldUntilLost())
	if err != nil {
		t.Fatal(err)
	}
	h := a.acquires(m)
	waiting, _ := a.queued(within(t, 3*patience), a.client("next").mutex())
	start := time.Now()
	c.relay.BlackHole(wiretap.Both, true)
	ended := make(chan time.Time, 1)
	a.work.Go(func() {
		<-h.Context().Done()
		ended <- time.Now()
	})
	next := a.granted(waiting)
	granted := time.Now()
	select {
	case at := <-ended:
		if after := at.Sub(start); after > c.SessionTimeout() && c.SessionTimeout() > 0 {
			t.Errorf("the hold ended %v after the last answer, later than the session timeout", after)
		}
		t.Logf("the hold ended after %v, the next one was granted after %v", at.Sub(start), granted.Sub(start))
	default:
		t.Error("somebody else was granted the lock before the hold's context ended")
	}
	a.endsWith(h, curatorlike.ErrSessionLost)
	c.relay.Heal()
	a.releases(next)
}

// After an outage longer than the session the old node is not taken up again.
func TestCatalogue_28_oldNodeIsNotReadopted(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	h := a.acquires(c.mutex())
	c.expire()
	a.endsWith(h, curatorlike.ErrSuspended, curatorlike.ErrSessionLost)
	again := a.acquires(c.mutex())
	a.sessionOwns(again)
	if again.SessionID() == h.SessionID() || again.Path() == h.Path() {
		t.Errorf("the second hold, %s of session 0x%x, is the lost one", again.Path(), again.SessionID())
	}
	if err := h.Release(within(t, patience)); err != nil {
		t.Errorf("release of the lost hold: %v", err)
	}
	a.sessionOwns(again) // the late release has not touched it
	a.releases(again)
	a.clean()
}

// Several whose nodes are taken away do not drive each other round: each is
// told, or joins once more, and the queue gets on.
func TestCatalogue_29_noLivelockOfResets(t *testing.T) {
	plays(t, mutexKind, 1, waiterDeleted)
}

// A waiter whose session has ended is told at once, and is never granted.
func TestCatalogue_30_waiterLearnsThatItsSessionEnded(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").mutex())
	c := a.client("c")
	waiting, _ := a.queued(within(t, 3*patience), c.mutex())
	c.expire()
	r := a.await(waiting, patience, "the acquire of the ended session, while the holder still holds")
	if !errors.Is(r.err, curatorlike.ErrSessionLost) {
		t.Errorf("the acquire ended with %v, want ErrSessionLost", r.err)
	}
	a.releases(holder)
	a.releases(a.acquires(c.mutex()))
	a.clean()
}

// Releasing after the session has ended is a success that says what happened,
// and the lock works again.
func TestCatalogue_31_releaseAfterExpiry(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m := c.mutex()
	for range 2 {
		h := a.acquires(m)
		c.expire()
		a.endsWith(h, curatorlike.ErrSuspended, curatorlike.ErrSessionLost)
		waitFor(t, patience, "the client has a new session", func() bool { return c.SessionID() != h.SessionID() && c.SessionID() != 0 })
		if err := h.Release(within(t, patience)); err != nil {
			t.Errorf("release of a lost hold: %v", err)
		}
		if !errors.Is(h.Lost(), curatorlike.ErrSessionLost) {
			t.Errorf("Lost() = %v, want ErrSessionLost", h.Lost())
		}
	}
	a.releases(a.acquires(m))
	a.clean()
}

// An acquire that began in one session does not get on in the next unseen.
func TestCatalogue_32_requestDoesNotCrossSessions(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m := c.mutex()
	for range 3 {
		c.relay.Refuse(true)
		c.relay.Cut()
		done := a.acquiring(within(t, patience), m)
		if err := c.relay.ExpireSession(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		c.relay.Refuse(false)
		r := a.await(done, patience, "the acquire")
		if r.err != nil {
			if !errors.Is(r.err, curatorlike.ErrSessionLost) {
				t.Errorf("the acquire ended with %v", r.err)
			}
			r.hold = a.acquires(m)
		}
		a.sessionOwns(r.hold)
		if r.hold.SessionID() != c.SessionID() {
			t.Errorf("the hold is of session 0x%x, the client's is 0x%x", r.hold.SessionID(), c.SessionID())
		}
		a.releases(r.hold)
	}
	a.clean()
}

// Losing a server's connection, or finding it at another address, keeps the
// session and what it holds.
func TestCatalogue_33_reconnectKeepsTheLocks(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m, err := curatorlike.NewMutex(c.Client, a.path, curatorlike.HoldUntilLost())
	if err != nil {
		t.Fatal(err)
	}
	h := a.acquires(m)
	session := c.SessionID()
	for range 3 {
		c.cut()
	}
	if c.SessionID() != session {
		t.Errorf("the session changed from 0x%x to 0x%x", session, c.SessionID())
	}
	if err := context.Cause(h.Context()); err != nil {
		t.Errorf("the hold ended: %v", err)
	}
	a.sessionOwns(h)
	a.releases(h)
	a.clean()
}

// Every grant's node belongs to the session that the hold names, whatever the
// network did in between.
func TestCatalogue_34_nodeBelongsToTheHoldsSession(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m := c.mutex()
	for i := range 12 {
		switch i % 4 {
		case 1:
			c.relay.Cut()
		case 2:
			c.expire()
		case 3:
			c.losesReply(wiretap.OpCreate)
		}
		h, err := m.Acquire(within(t, patience))
		if errors.Is(err, curatorlike.ErrSessionLost) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, stat, err := a.conn.Get(h.Path())
		if err == nil && (stat.EphemeralOwner != h.SessionID() || stat.Czxid != h.Token()) {
			t.Errorf("%s belongs to session 0x%x, the hold says 0x%x", h.Path(), stat.EphemeralOwner, h.SessionID())
		}
		if err != nil && h.Context().Err() == nil && h.Lost() == nil {
			t.Errorf("the node of a hold that is certain: %v", err)
		}
		if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
			t.Error(err)
		}
	}
	c.relay.Heal()
	a.clean()
}

// An owner that is cut off stops before the next one starts, so the lock may
// follow the session and need not outlive it.
func TestCatalogue_35_ownerStopsBeforeTheNextStarts(t *testing.T) {
	plays(t, mutexKind, 1, holderSilenced)
}

// A writer that goes on as a reader keeps its place before a queued writer.
func TestCatalogue_36_downgradeKeepsThePlace(t *testing.T) {
	plays(t, readWriteKind, 1, downgrade)
}

// Nodes that vanish under their owners end the acquire, and nothing panics.
func TestCatalogue_37_vanishedNodeIsAnError(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").readWrite().Write())
	c := a.client("c")
	for _, side := range []curatorlike.Lock{c.readWrite().Read(), c.readWrite().Write()} {
		waiting, node := a.queued(within(t, patience), side)
		a.remove(node)
		r := a.await(waiting, patience, "the acquire whose node is gone")
		if !errors.Is(r.err, curatorlike.ErrNodeDeleted) {
			t.Errorf("the acquire ended with %v, want ErrNodeDeleted", r.err)
		}
	}
	a.releases(holder)
	a.clean()
}

// A reader waits for writers before it, never for one behind.
func TestCatalogue_38_readerIgnoresLaterWriters(t *testing.T) {
	a := bench(t)
	first := a.acquires(a.client("first").readWrite().Write())
	reading, _ := a.queued(within(t, patience), a.client("reader").readWrite().Read())
	writing, _ := a.queued(within(t, patience), a.client("second").readWrite().Write())
	a.releases(first)
	reader := a.granted(reading)
	a.notYet(writing, "a reader before it reads")
	a.releases(reader)
	a.releases(a.granted(writing))
	a.clean()
}

// Nested acquires of one owner: the lock is free after the last release, not
// after the first, and another owner cannot give it back.
func TestCatalogue_39_reentryCounts(t *testing.T) {
	a := bench(t)
	m := a.client("c").mutex()
	owner := curatorlike.WithOwner(within(t, patience), curatorlike.NewOwner("outer"))
	outer, err := m.Acquire(owner)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := m.Acquire(owner)
	if err != nil {
		t.Fatal(err)
	}
	waiting, _ := a.queuedBehind(a.client("other").mutex())
	if err := inner.Release(owner); err != nil {
		t.Error(err)
	}
	if err := inner.Release(owner); err != nil { // twice is once
		t.Error(err)
	}
	stranger := curatorlike.WithOwner(within(t, patience), curatorlike.NewOwner("stranger"))
	if err := outer.Release(stranger); !errors.Is(err, curatorlike.ErrNotOwner) {
		t.Errorf("release by another owner: %v, want ErrNotOwner", err)
	}
	a.notYet(waiting, "the outer acquire still holds")
	if err := outer.Release(owner); err != nil {
		t.Error(err)
	}
	a.releases(a.granted(waiting))
	a.clean()
}

// queuedBehind is queued with the usual patience.
func (a *arena) queuedBehind(l locker) (<-chan result, string) {
	a.t.Helper()
	return a.queued(within(a.t, 3*patience), l)
}
