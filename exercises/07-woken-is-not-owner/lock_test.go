package lock

import (
	"errors"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

func newLock(conn *zk.Conn, path string) locktest.Locker { return New(conn, path) }

// A client in the middle of the line dies. Whoever stood behind it is woken, and
// it is still not its turn.
func TestMiddleClientDies(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A", "B", "C", "D")
	b, c := q.Member("B"), q.Member("C")
	start := time.Now()
	b.Kill()
	q.Until(func() bool { return c.Ended() || c.Did(start, "woken") && (len(c.Armed()) > 0 || len(c.Creates()) > 1) })
	if c.Holds() {
		a := q.Member("A")
		q.Fail(locktest.Diagnosis{Code: "WOKEN-IS-NOT-OWNER",
			Says: "A and C hold the lock at the same moment: C entered because its watch fired. Being woken is a reason to look again, not permission to enter.",
			Steps: append(q.Steps(time.Time{}, locktest.Any(
				locktest.Both(locktest.By("C"), locktest.Doing("getW", "existsW", "woken", "entered")), locktest.Doing("killed"))),
				locktest.Step{Who: "A", Text: path.Base(a.Node()) + " still there"})})
	}
	if len(c.Creates()) > 1 {
		q.Fail(locktest.Diagnosis{Code: "REQUEUES",
			Says: "C took a new number when it was woken. It had come before D, and now D goes first. Keep your node while you wait: it is your place.",
			Steps: append(q.Steps(start, locktest.Any(locktest.Both(locktest.By("C"), locktest.Doing("woken", "delete")), locktest.Doing("killed"))),
				locktest.Step{Who: "C", Text: "create    a new node", Effect: "at the end of the line"})})
	}
	q.MustWait("C", "D")
	q.Release("A")
	q.MustHold("C")
	q.MustWait("D")
	q.Release("C")
	q.MustHold("D")
	q.Release("D")
	q.Done()
}

// The one in front goes while you look, and somebody else holds the lock: you are one
// place further, and it is not your turn. It goes after the list, or, if there is a look
// at the node itself before the watch is set, after that.
func TestTheOneInFrontGoesAndItIsNotYourTurn(t *testing.T) {
	t.Run("afterTheList", func(t *testing.T) { goesAfter(t, "children", "childrenW") })
	t.Run("afterALook", func(t *testing.T) { goesAfter(t, "exists", "existsW", "get", "getW") })
}

func goesAfter(t *testing.T, look ...string) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A", "B")
	b, c := q.Member("B"), q.Member("C")
	c.Delay(60 * time.Millisecond)
	start := time.Now()
	q.Start(c, c.Lock.Acquire)
	q.Until(func() bool { return c.Did(start, look...) || c.Ended() })
	c.Hold() // until B has gone
	b.Kill()
	c.Heal()
	q.Until(func() bool { return c.Ended() || c.Polls() || len(c.Armed()) > 0 && !c.WouldWake(b.Node()) })
	notYourTurn(q, start, "C took the lock because B, the one in front of it, was gone before C could watch it. "+
		"But A still holds it. Who is in front of C now? Only a new list says that.")
	if errors.Is(c.Err(), zk.ErrNoNode) {
		q.Fail(locktest.Diagnosis{Code: "NONODE-IS-FATAL",
			Says: "C gave up because the node in front of it was gone before C could watch it. " +
				"But that is good news: C is one place further. It has to look again.",
			Steps: q.Steps(start, locktest.Any(locktest.Doing("killed"), locktest.Both(locktest.By("C"), locktest.Not(locktest.Doing("entered")))))})
	}
	q.MustWait("C")
	q.Release("A")
	q.MustHold("C")
	q.Release("C")
	q.Done()
}

// C cannot ask the server: which of its questions is lost does not matter. That says
// nothing about whose turn it is.
func TestAnErrorIsNotYourTurn(t *testing.T) {
	for lost := range 2 {
		q := locktest.NewQueue(t, newLock)
		q.Join("A")
		c := q.Member("C")
		c.FailWrite(wiretap.Match{PathPrefix: q.Path(), Skip: 1 + lost}) // the create goes through
		start := time.Now()
		q.Start(c, c.Lock.Acquire)
		q.Until(func() bool { return c.Ended() || len(c.Armed()) > 0 || c.Polls() })
		notYourTurn(q, start, "C's connection broke before its question reached the server, and C took that error for its turn. "+
			"A still holds the lock. Without an answer C knows nothing: it has to return the error.")
	}
}

// notYourTurn requires that C has not taken the lock.
func notYourTurn(q *locktest.Queue, start time.Time, says string) {
	c := q.Member("C")
	if !c.Holds() {
		return
	}
	q.Fail(locktest.Diagnosis{Code: "ERROR-IS-TURN", Says: says,
		Steps: append(q.Steps(start, locktest.Any(locktest.Doing("killed"), locktest.Both(locktest.By("C"),
			locktest.Doing("create", "children", "childrenW", "get", "getW", "exists", "existsW", "entered")))),
			locktest.Step{Who: "A", Text: path.Base(q.Member("A").Node()) + " still there"})})
}

// Somebody deletes the node of a client that waits. Its turn will never come.
func TestOwnNodeIsGone(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A", "B")
	b := q.Member("B")
	start := time.Now()
	if err := q.Observer().Delete(b.Node(), -1); err != nil {
		t.Fatal(err)
	}
	q.Release("A")
	q.Until(func() bool { return b.Ended() || b.Polls() })
	if b.Err() != nil {
		q.Done()
		return
	}
	says := "An administrator has deleted B's node. B does not notice, and waits for ever for a turn that cannot come."
	switch {
	case len(b.Creates()) > 1:
		says = "An administrator has deleted B's node, and B took a new number without a word: whoever came after B goes first, and nobody learns why. Return the error; the caller decides."
	case b.Holds():
		says = "An administrator has deleted B's node, and B took the lock without one. The next client that comes finds the line empty and holds the lock as well."
	}
	q.Fail(locktest.Diagnosis{Code: "OWN-NODE-GONE", Says: says,
		Steps: append([]locktest.Step{{Who: "admin", Text: "delete    " + path.Base(b.Node()) + " (B)"}},
			q.Steps(start, locktest.Doing("delete", "woken", "children", "childrenW", "create", "entered"))...)})
}
