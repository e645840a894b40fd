package lock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

// tooEarly requires that nobody has been told of an end that has not come.
func tooEarly(t *testing.T, c *client, says string, steps []locktest.Step) {
	t.Helper()
	if c.lost.Load() > 0 {
		locktest.Fail(t, locktest.Diagnosis{Code: "CLOSES-ON-DISCONNECT", Says: says, Steps: steps})
	}
}

// The server that A is connected to dies, and it is the leader. A's session and its
// lock go on at another one.
func TestTheLeaderDies(t *testing.T) {
	e := whole(t)
	n := newNetwork(t, e)
	for i := range n.relays {
		n.pin(i, n.who[0]) // so that A's first server is the leader
	}
	a := connect(t, n.servers())
	hasSession(t, a)
	n.timeoutAsked()
	tooEarly(t, a, "Nothing has happened yet, and lost was called. It says that the session has ended, and the session has just begun.", nil)
	lock, err := a.Create("/nightly", nil, zk.FlagEphemeral, open)
	if err != nil {
		t.Fatal(err)
	}
	dead := n.leaderAt()
	died := time.Now()
	if err := n.who[0].Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	if _, err := e.Leader(ctx); err != nil {
		t.Fatal(err)
	}
	steps := []locktest.Step{
		{Who: "A", Text: "create /nightly", Effect: "created, at the leader"},
		{Who: "leader", Text: "killed", Effect: "A's connection breaks"},
		{Who: "others", Text: "elect a new leader"},
	}
	others := func() int { return n.tried((dead+1)%3, died) + n.tried((dead+2)%3, died) }
	back := func() bool { return others() > 0 && a.State() == zk.StateHasSession }
	gaveUp := func() bool {
		lately := time.Now().Add(-silence)
		return lately.After(died) && a.State() == zk.StateDisconnected && n.tried(0, lately)+n.tried(1, lately)+n.tried(2, lately) == 0
	}
	alone := func() bool { return others() == 0 && n.tried(dead, died) > 0 && time.Since(died) > silence }
	within(patience, func() bool { return back() || alone() || gaveUp() || a.lost.Load() > 0 })
	early := "The leader died, A's connection broke, and lost was called. But the session belongs to all servers together: it lives on, and A's lock with it."
	tooEarly(t, a, early, append(steps, locktest.Step{Who: "A", Text: "lost was called", Effect: "/nightly still there"}))
	switch {
	case back():
	case alone():
		locktest.Fail(t, locktest.Diagnosis{Code: "ONE-SERVER",
			Says:  "The server that A was connected to died. Two others serve, and A asks only the dead one, again and again. Its session will run out, and its lock with it.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "calls the dead server", Effect: "nobody there"})})
	case gaveUp():
		locktest.Fail(t, locktest.Diagnosis{Code: "CLOSES-ON-DISCONNECT",
			Says: "The leader died, A's connection broke, and A calls no server any more: it has closed its connection for good. " +
				"But the session lives on at the other servers, with A's lock, until it runs out. Nobody releases it.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "calls nobody", Effect: "/nightly still there"})})
	default:
		t.Fatalf("A is not back: %v", a.State())
	}
	another := func() bool {
		return n.count(died, func(f frame) bool { return f.Kind == wiretap.SessionRequest && f.Session == 0 }) > 0
	}
	if within(time.Second, another) { // nothing else shows that none will come
		locktest.Fail(t, locktest.Diagnosis{Code: "NEW-SESSION",
			Says: "The leader died, A's connection broke, and A opened a second session, although its first one lives on and comes back by itself. " +
				"Nobody holds anything with the second one, and each time that a connection breaks there is one more.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "connects again", Effect: "its session goes on"},
				locktest.Step{Who: "A", Text: "opens a second session", Effect: "holds nothing"})})
	}
	there, stat, err := direct(t, n.who[1].Addr()+","+n.who[2].Addr()).Exists(lock)
	if err != nil || !there || stat.EphemeralOwner != a.SessionID() {
		t.Fatalf("A's lock is not its own any more: %v %v %v", there, stat, err)
	}
	tooEarly(t, a, early, steps)
}

// The session ends. Who holds a lock must be told. One of the servers is dead by now.
func TestTheSessionEnds(t *testing.T) {
	n := newNetwork(t, locktest.Ensemble(t))
	c := connect(t, n.servers())
	hasSession(t, c)
	for _, r := range n.relays {
		if _, _, ok := r.Session(); ok {
			if err := r.ExpireSession(t.Context()); err != nil && !errors.Is(err, wiretap.ErrSessionOver) {
				t.Fatal(err)
			}
		}
	}
	if !within(patience/2, func() bool { return c.lost.Load() > 0 }) {
		locktest.Fail(t, locktest.Diagnosis{Code: "NEVER-LOST",
			Says: "A's session has ended, its lock is free, and lost was not called: A goes on as if it held the lock.",
			Steps: []locktest.Step{
				{Who: "A", Text: "session ended", Effect: "its ephemeral nodes deleted"},
				{Who: "A", Text: "connects again", Effect: "told: expired"},
				{Who: "A", Text: "lost was not called"},
			}})
	}
}
