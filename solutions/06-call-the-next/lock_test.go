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

// One release wakes one client: the one that was next.
func TestOneReleaseWakesOneClient(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	line := []string{"A", "B", "C", "D", "E"}
	q.Join(line...)
	q.MustBeSilent(line[1:]...)
	for i, name := range line {
		q.MustHold(name)
		q.MustWait(line[i+1:]...)
		q.Release(name)
	}
	q.Join("A") // once more, with the same lock
	q.MustHold("A")
	q.Release("A")
	q.Done()
}

// The node in front may go between the look and the watch: after the list, or, if there
// is a look at the node itself before the watch is set, after that.
func TestTheOneInFrontGoesWhileYouLook(t *testing.T) {
	t.Run("afterTheList", func(t *testing.T) { goesAfter(t, "children", "childrenW") })
	t.Run("afterALook", func(t *testing.T) { goesAfter(t, "exists", "existsW", "get", "getW") })
}

func goesAfter(t *testing.T, look ...string) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	b.Delay(60 * time.Millisecond) // B's network is slow
	start := time.Now()
	q.Start(b, b.Lock.Acquire)
	q.Until(func() bool { return b.Did(start, look...) || b.Ended() })
	b.Hold() // until A has gone
	q.Release("A")
	b.Heal()

	q.Until(func() bool { return b.Ended() || b.Polls() })
	if errors.Is(b.Err(), zk.ErrNoNode) {
		q.Fail(locktest.Diagnosis{
			Code: "NONODE-IS-FATAL",
			Says: "B gave up because the node in front of it was gone before B could watch it. " +
				"But that is good news: B is one place further. It has to look again.",
			Steps: q.Steps(start, locktest.Doing("create", "children", "childrenW", "delete", "get", "getW", "exists", "existsW")),
		})
	}
	q.MustHold("B")
	q.Release("B")
	q.Done()
}

// The one in front goes while you look, and somebody else holds the lock: you are one
// place further, and it is not your turn.
func TestTheOneInFrontGoesAndItIsNotYourTurn(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A", "B")
	c := q.Member("C")
	c.Delay(60 * time.Millisecond)
	start := time.Now()
	q.Start(c, c.Lock.Acquire)
	q.Until(func() bool { return c.Did(start, "children", "childrenW") || c.Ended() })
	c.Hold() // until B has gone
	q.Member("B").Kill()
	c.Heal()
	q.Until(func() bool { return c.Ended() || len(c.Armed()) > 0 })
	notYourTurn(q, start, "C took the lock because B, the one in front of it, was gone before C could watch it. "+
		"But A still holds it. Who is in front of C now? Only a new list says that.")
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
