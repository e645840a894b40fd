package curatorlike

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"zklab/internal/wiretap"
)

// stoppedClock stands still until it is moved.
type stoppedClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stoppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stoppedClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *stoppedClock) After(time.Duration) (<-chan time.Time, func() bool) {
	return nil, func() bool { return true }
}

// deadlineSession is a session of T = 9 s that was last proved at the clock's
// time, with no connection behind it.
func deadlineSession(clock Clock) *session {
	c := &Client{opts: defaults(), turn: make(chan struct{}), closing: make(chan struct{}), hook: newHookQueue(nil)}
	c.opts.clock = clock
	s := &session{c: c, ended: make(chan struct{}), kick: make(chan struct{}, 1), turn: make(chan struct{}),
		grants: make(map[*grant]struct{}), id: 1, timeout: 9 * time.Second, proof: clock.Now(), linked: true, usable: true, syncing: true}
	c.cur = s
	return s
}

// TestDeadlines_countFromTheLastProof: Suspended at 2/3 T, a hold until Lost
// ends before anybody else can hold, and Lost comes at T; all from the send time of the
// last request that the leader answered (bugs 27, 26).
func TestDeadlines_bug27_countFromTheLastProof(t *testing.T) {
	clock := &stoppedClock{now: time.Now()}
	s := deadlineSession(clock)
	s.c.opts.tick = time.Second
	n := &node{s: s}
	short := newGrant(context.Background(), s.c, "/x", lockOptions{}, Owner{}, n)
	long := newGrant(context.Background(), s.c, "/x", lockOptions{untilLost: true}, Owner{}, n)
	if !s.admit(short) || !s.admit(long) {
		t.Fatal("not admitted")
	}
	clock.move(3 * time.Second)
	s.proved(clock.Now().Add(-time.Second)) // sent at 2 s, answered at 3 s
	s.proved(clock.Now().Add(-2 * time.Second))
	clock.move(5*time.Second - time.Millisecond) // 8 s: 6 s after the proof
	s.check()
	if short.ctx.Err() != nil || s.c.State() != 0 {
		t.Fatal("suspended too early")
	}
	clock.move(time.Millisecond)
	s.check()
	if !errors.Is(context.Cause(short.ctx), ErrSuspended) || long.ctx.Err() != nil || s.c.State() != Connected && s.c.State() != Suspended {
		t.Fatal("not suspended at 2/3 T:", context.Cause(short.ctx), long.ctx.Err(), s.c.State())
	}
	if s.admit(newGrant(context.Background(), s.c, "/x", lockOptions{}, Owner{}, n)) {
		t.Fatal("a grant in a suspended session")
	}
	clock.move(925*time.Millisecond - time.Millisecond) // T less 7/40 T and half a tick, less 1 ms
	s.check()
	if long.ctx.Err() != nil {
		t.Fatal("ended too early")
	}
	clock.move(time.Millisecond)
	s.check()
	if !errors.Is(context.Cause(long.ctx), ErrSessionLost) || s.overErr() != nil {
		t.Fatal("not ended in time", context.Cause(long.ctx), s.overErr())
	}
	clock.move(2075 * time.Millisecond)
	s.check()
	if !errors.Is(s.overErr(), ErrSessionLost) || s.c.State() != Lost {
		t.Fatal("not lost at T", s.overErr(), s.c.State())
	}
}

// TestHoldContext_asksTheClock: after a pause of the process the context says
// so before any timer has run.
func TestHoldContext_asksTheClock(t *testing.T) {
	clock := &stoppedClock{now: time.Now()}
	s := deadlineSession(clock)
	g := newGrant(context.Background(), s.c, "/x", lockOptions{}, Owner{}, &node{s: s})
	s.admit(g)
	h := newHold(g)
	if h.ctx.Err() != nil {
		t.Fatal("ended at once")
	}
	child, cancel := context.WithCancel(h.ctx)
	defer cancel()
	clock.move(6 * time.Second)
	if h.ctx.Err() == nil || !errors.Is(context.Cause(h.ctx), ErrSuspended) {
		t.Fatal("alive after 2/3 T:", context.Cause(h.ctx))
	}
	if receive(t, child.Done()); !errors.Is(context.Cause(child), ErrSuspended) {
		t.Fatal(context.Cause(child))
	}
	if err := g.again(); !errors.Is(err, ErrSuspended) {
		t.Fatal("reentered a hold that is not certain:", err)
	}
}

// TestDeadlines_next: whatever the age of the proof, the keeper wakes up for
// the next thing that is due, and for nothing before it.
func TestDeadlines_next(t *testing.T) {
	clock := &stoppedClock{now: time.Now()}
	s := deadlineSession(clock)
	s.c.opts.tick = time.Second
	due := map[string][]time.Duration{ // T = 9 s
		"connected": {1125 * time.Millisecond, 6 * time.Second, 6925 * time.Millisecond, 9 * time.Second},
		"asking":    {6 * time.Second, 6925 * time.Millisecond, 9 * time.Second},
		"suspended": {6 * time.Second, 6925 * time.Millisecond, 9 * time.Second},
	}
	for state, marks := range due {
		s.syncing, s.linked = state == "asking", state != "suspended"
		for age := time.Duration(0); age < s.timeout; age += 100 * time.Millisecond {
			want := s.timeout
			for _, m := range marks {
				if m > age {
					want = min(want, m)
				}
			}
			if got := age + s.nextDeadline(s.proof.Add(age)); got != want {
				t.Fatalf("%s, %v after the proof: wakes up at %v, want %v", state, age, got, want)
			}
		}
	}
}

// TestClient_quietSession_isProvedAgain: with nothing else to do the leader
// is asked often enough for the session to stay certain. An answer may take
// more than half of the session: with 3 s that is more than a busy machine needs.
func TestClient_quietSession_isProvedAgain(t *testing.T) {
	c, relay := tapped(t, WithSessionTimeout(3*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	awaitState(t, states, Connected)
	time.Sleep(3 * c.SessionTimeout())
	select {
	case st := <-states:
		t.Error(st, "although nothing happened")
	default:
	}
	if n := relay.Counters().Requests[wiretap.OpSync]; n < 16 || n > 40 {
		t.Error(n, "questions in three session timeouts")
	}
}
