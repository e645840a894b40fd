package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
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

func pretendsToHold(q *locktest.Queue, m *locktest.Member, what string) {
	q.Fail(locktest.Diagnosis{Code: "TIMEOUT-IS-SUCCESS",
		Says: what + " was over before the lock was free, and Acquire reported success: A and B hold it at the same moment.",
		Steps: append(q.Steps(time.Time{}, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("create", "entered")), locktest.Both(locktest.By("B"), locktest.Doing("create", "getW")))),
			locktest.Step{Who: "B", Text: strings.TrimPrefix(what, "B's ") + " is over"}, locktest.Step{Who: "B", Text: "entered", Effect: path.Base(q.Member("A").Node()) + " (A) still there"})})
}

// A client gives up while it waits. It returns soon, and leaves nothing.
func TestGivesUpWhileItWaits(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	q.Start(b, func(context.Context) error { return b.Lock.Acquire(ctx) })
	q.Until(func() bool { return b.Ended() || len(b.Armed()) > 0 || b.Polls() })
	q.MustWait("B")
	cancel()
	q.Until(b.Ended)
	if !b.Ended() {
		q.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says: "B's context has ended, and B still waits. Whoever calls Acquire wants to go home.",
			Steps: append(q.Steps(start, locktest.By("B")), locktest.Step{Who: "B", Text: "context ended"},
				locktest.Step{Who: "B", Text: "still waiting"})})
	}
	if b.Err() == nil {
		pretendsToHold(q, b, "B's context")
	}
	mustLeaveNothing(q, b, "its context ended")
	if !errors.Is(b.Err(), context.Canceled) {
		q.Fail(locktest.Diagnosis{Code: "WRONG-ERROR",
			Says: fmt.Sprintf("B gave up because its context ended, but Acquire says %q. The caller must find ctx.Err() in the error.", b.Err())})
	}
	q.Join("C")
	q.Release("A")
	q.MustHold("C")
	q.Join("B") // once more, with the same lock
	q.Release("C")
	q.MustHold("B")
	q.Release("B")
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
	cancel() // B has been woken and takes a new list, which will say that it is its turn
	q.Until(b.Ended)
	if b.Err() != nil && leftBehind(q, b) {
		q.Fail(locktest.Diagnosis{Code: "CANCELLED-BUT-HELD",
			Says: "B's context ended just as its turn came. Acquire said that B has not got the lock, but B's node is first in line: to everybody else B holds it, and nobody will ever release it.",
			Steps: append(q.Steps(start, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("delete")), locktest.Both(locktest.By("B"), locktest.Doing("woken", "children")))),
				locktest.Step{Who: "B", Text: "Acquire returned an error", Effect: path.Base(b.Node()) + " is first in line"})})
	}
	b.Heal()
	if b.Err() == nil {
		q.Release("B")
	}
	q.Done()
}

// A client waits for so many milliseconds, and no longer.
func TestWaitsForSoLong(t *testing.T) {
	const asked = 300
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	var got bool
	start := time.Now()
	q.Start(b, func(ctx context.Context) (err error) {
		got, err = b.Lock.(*Mutex).AcquireWithin(ctx, asked)
		if err == nil && !got {
			err = errNotGot
		}
		return err
	})
	q.Until(b.Ended)
	took := time.Since(start)
	switch {
	case !b.Ended():
		q.Fail(wrongUnit(q, "300 milliseconds were asked for, and after 2 seconds B still waits. Is it the context with the deadline that Acquire gets?"))
	case b.Err() == nil:
		pretendsToHold(q, b, "B's time")
	case locktest.IsTODO(b.Err()):
		q.Fail(locktest.TODO("AcquireWithin"))
	}
	mustLeaveNothing(q, b, "its time was up")
	if !errors.Is(b.Err(), errNotGot) {
		q.Fail(locktest.Diagnosis{Code: "WRONG-ERROR",
			Says: fmt.Sprintf("B's time was up, which is no failure, but AcquireWithin returned the error %q.", b.Err())})
	}
	if took < asked*time.Millisecond*9/10 {
		q.Fail(wrongUnit(q, "300 milliseconds were asked for, and B gave up much sooner."))
	}
	q.Release("A")
	c := q.Member("C")
	q.Start(c, func(ctx context.Context) error {
		ok, err := c.Lock.(*Mutex).AcquireWithin(ctx, 2000)
		if err == nil && !ok {
			err = errNotGot
		}
		return err
	})
	q.MustHold("C")
	q.Release("C")
	q.Done()
}

var errNotGot = errors.New("AcquireWithin returned false, nil")

func wrongUnit(q *locktest.Queue, says string) locktest.Diagnosis {
	return locktest.Diagnosis{Code: "WRONG-UNIT",
		Says:  says + " A number has no unit: time.Duration counts nanoseconds.",
		Steps: q.Steps(time.Time{}, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete")))}
}
