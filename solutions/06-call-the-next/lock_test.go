package lock

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

func newLock(conn *zk.Conn, path string) locktest.Locker { return New(conn, path) }

// One release wakes one client: the one that was next.
func TestOneReleaseWakesOneClient(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	line := []string{"A", "B", "C", "D", "E"}
	q.Join(line...)
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

// The node in front may go between the look and the watch.
func TestTheOneInFrontGoesWhileYouLook(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	b.Delay(60 * time.Millisecond) // B's network is slow: time enough for A to go
	start := time.Now()
	q.Start(b, b.Lock.Acquire)
	q.Until(func() bool { return b.Did(start, "children", "childrenW") || b.Ended() })
	q.Release("A")

	q.Until(b.Ended)
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
