package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

func newLock(conn *zk.Conn, path string) locktest.Locker { return New(conn, path) }

// leftBehind reports whether a member's node is still in line.
func leftBehind(q *locktest.Queue, m *locktest.Member) bool {
	for _, child := range q.Children() {
		if q.Path()+"/"+child == m.Node() {
			return true
		}
	}
	return false
}

// mustLeaveNothing requires that a member that gave up has no node.
func mustLeaveNothing(q *locktest.Queue, m *locktest.Member, how string) {
	q.Patient(locktest.Quiet / 4)
	gone := q.Until(func() bool { return !leftBehind(q, m) })
	q.Patient(locktest.Quiet)
	if !gone {
		q.Fail(locktest.Diagnosis{Code: "LEFTOVER",
			Says: fmt.Sprintf("%s gave up (%s) and left its node in line. When the node's turn comes nobody is there to take it, and everybody behind waits until %s's session ends.", m.Name, how, m.Name),
			Steps: append(q.Steps(time.Time{}, locktest.Both(locktest.By(m.Name), locktest.Doing("create", "getW", "existsW", "delete"))),
				locktest.Step{Who: m.Name, Text: "Acquire returned an error", Effect: path.Base(m.Node()) + " still there"})})
	}
}

func pretendsToHold(q *locktest.Queue, m *locktest.Member, what, call string) {
	q.Fail(locktest.Diagnosis{Code: "TIMEOUT-IS-SUCCESS",
		Says: what + " was over before the lock was free, and " + call + " reported success: A and B hold it at the same moment.",
		Steps: slices.Concat(
			q.Steps(time.Time{}, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("create", "entered")), locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW")))),
			[]locktest.Step{{Who: "B", Text: strings.TrimPrefix(what, "B's ") + " is over"}},
			q.Steps(time.Time{}, locktest.Both(locktest.By("B"), locktest.Doing("delete"))),
			[]locktest.Step{{Who: "B", Text: call + " returned", Effect: path.Base(q.Member("A").Node()) + " (A) still there"}})})
}

// mustHaveLeft requires that a member that gave up had no node any more when its call
// returned. That the server has taken it out is on the wire before a call that waits
// for it can return.
func mustHaveLeft(q *locktest.Queue, m *locktest.Member, since time.Time, call *locktest.Call) {
	q.Flush()
	if !m.Did(call.EndedAt(), "delete") {
		return
	}
	q.Fail(locktest.Diagnosis{Code: "LEAVES-LATER",
		Says: fmt.Sprintf("%s's Acquire returned first, and %s's node went after that. Who returns an error says \"I have no node\": whoever acts on it, closes the connection or comes again, does so too early, and if the delete fails nobody hears of it.", m.Name, m.Name),
		Steps: append(q.Steps(since, locktest.Both(locktest.By(m.Name), locktest.Doing("create", "getW", "existsW"))),
			locktest.Step{Who: m.Name, Text: "context ended"},
			locktest.Step{Who: m.Name, Text: "Acquire returned an error", Effect: path.Base(m.Node()) + " still there"},
			locktest.Step{Who: m.Name, Text: "delete    " + path.Base(m.Node()) + " (own)", Effect: "deleted"})})
}

// Nobody has set a limit: a client that waits goes on waiting, in silence.
func TestNobodyHasSetALimit(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	start := time.Now()
	q.Start(b, b.Lock.Acquire)
	q.Until(func() bool { return b.Ended() || len(b.Armed()) > 0 || b.Polls() })
	asks := !q.Silent(b.Client)
	if asks {
		q.Until(func() bool { return b.Ended() || b.Polls() })
	}
	if b.Err() != nil && !locktest.IsTODO(b.Err()) && len(b.Armed()) > 0 {
		q.Fail(locktest.Diagnosis{Code: "OWN-DEADLINE",
			Says: fmt.Sprintf("Nobody has set B a limit, its context goes on, its watch has not fired, and B has given up: %q. How long to wait is for the caller to say, and ctx is where it says so.", b.Err()),
			Steps: append(q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete"))),
				locktest.Step{Who: "B", Text: "Acquire returned an error", Effect: "its context goes on"})})
	}
	q.MustWait("B")
	if asks {
		q.MustBeSilent("B")
	}
	q.Release("A")
	q.MustHold("B")
	q.Release("B")
	q.Done()
}

// A client gives up while it waits. It returns soon, and leaves nothing.
func TestGivesUpWhileItWaits(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	call := q.Start(b, func(context.Context) error { return b.Lock.Acquire(ctx) })
	q.Until(func() bool { return b.Ended() || len(b.Armed()) > 0 || b.Polls() })
	q.MustWait("B")
	b.Delay(60 * time.Millisecond) // a delete takes so long that nobody can overlook it
	cancel()
	q.Until(b.Ended)
	if !b.Ended() {
		q.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says: "B's context has ended, and B still waits. Whoever calls Acquire wants to go home.",
			Steps: append(q.Steps(start, locktest.Both(locktest.By("B"), locktest.Not(locktest.Doing("delay")))), locktest.Step{Who: "B", Text: "context ended"},
				locktest.Step{Who: "B", Text: "still waiting"})})
	}
	if b.Err() == nil {
		pretendsToHold(q, b, "B's context", "Acquire")
	}
	mustLeaveNothing(q, b, "its context ended")
	mustHaveLeft(q, b, start, call)
	b.Heal()
	if b.Closed(start) {
		q.Fail(locktest.Diagnosis{Code: "CLOSES-CONNECTION",
			Says:  "B gave up and closed its connection. Its node is gone, because the session has ended; but the connection is not the lock's to close. With it go B's other locks and watches, and B can acquire no lock again.",
			Steps: q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete", "close")))})
	}
	mustSayWhy(q, b)
	q.Join("C")
	released := time.Now()
	q.Release("A")
	q.MustHold("C")
	mustNotWaitOn(q, b, released)
	q.Join("B") // once more, with the same lock
	q.Release("C")
	q.MustHold("B")
	q.Release("B")
	q.Done()
}

// mustSayWhy requires that a member that gave up says that its context has ended.
func mustSayWhy(q *locktest.Queue, m *locktest.Member) {
	if !errors.Is(m.Err(), context.Canceled) {
		q.Fail(locktest.Diagnosis{Code: "WRONG-ERROR",
			Says: fmt.Sprintf("%s gave up because its context ended, but Acquire says %q. The caller must find ctx.Err() in the error.", m.Name, m.Err())})
	}
}

// mustNotWaitOn requires that a member that gave up asks nothing when the node that it
// watched goes. A release wakes its session: that watch it cannot take back.
func mustNotWaitOn(q *locktest.Queue, m *locktest.Member, since time.Time) {
	m.Calm(func() bool { return false })
	q.Flush()
	if m.Requests(since) == 0 {
		return
	}
	q.Fail(locktest.Diagnosis{Code: "WAITS-ON",
		Says: fmt.Sprintf("%s's Acquire has returned an error, and yet %s looks again when A releases: a goroutine of that Acquire still waits for a lock that nobody wants any more. When %s comes again with the same lock, both work with one m.node.", m.Name, m.Name, m.Name),
		Steps: append([]locktest.Step{{Who: m.Name, Text: "Acquire returned an error"}},
			q.Steps(since, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("delete")), locktest.Both(locktest.By(m.Name), locktest.Doing("woken", "children", "getW", "existsW"))))...)})
}

// A client's context has ended before it asks. That is no lock either.
func TestGivesUpBeforeItAsks(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	q.Start(b, func(context.Context) error { return b.Lock.Acquire(ctx) })
	q.Until(b.Ended)
	switch {
	case !b.Ended():
		q.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says: "B's context had ended before B called Acquire, and B waits.",
			Steps: append([]locktest.Step{{Who: "B", Text: "context ended"}}, append(q.Steps(start, locktest.By("B")),
				locktest.Step{Who: "B", Text: "still waiting"})...)})
	case b.Err() == nil:
		pretendsToHold(q, b, "B's context", "Acquire")
	}
	mustLeaveNothing(q, b, "its context had ended before")
	mustSayWhy(q, b)
	q.Release("A")
	q.Done()
}

// A client gives up in the very moment in which its turn comes. Either it holds
// the lock, or it has left.
func TestGivesUpAsItsTurnComes(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q.Start(b, func(context.Context) error { return b.Lock.Acquire(ctx) })
	q.MustWait("B")
	b.Delay(60 * time.Millisecond)
	start := time.Now()
	q.Release("A")
	q.Until(func() bool { return b.Ended() || b.Requests(start, "getChildren", "getChildren2") > 0 })
	b.Hold()
	cancel() // B has been woken and takes a new list, which will say that it is its turn
	b.Heal()
	q.Until(b.Ended)
	if b.Err() != nil && leftBehind(q, b) {
		q.Fail(locktest.Diagnosis{Code: "CANCELLED-BUT-HELD",
			Says: "B's context ended just as its turn came. Acquire said that B has not got the lock, but B's node is first in line: to everybody else B holds it, and nobody will ever release it.",
			Steps: append(q.Steps(start, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("delete")), locktest.Both(locktest.By("B"), locktest.Doing("woken", "children")))),
				locktest.Step{Who: "B", Text: "Acquire returned an error", Effect: path.Base(b.Node()) + " is first in line"})})
	}
	if b.Err() == nil {
		q.Release("B")
	}
	q.Done()
}
