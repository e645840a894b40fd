package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver"
	"zklab/minimutex"
)

// Three servers of this exercise's own: it cuts them off and kills them.
func TestMain(m *testing.M) { locktest.MainServers(m, 3) }

const (
	session  = 9 * time.Second  // longer than an election takes, and not what anybody would guess
	patience = 15 * time.Second // for what must come
	silence  = 4 * time.Second  // a client that wants to connect tries again sooner
)

var open = zk.WorldACL(zk.PermAll)

// There is something to judge at all. No server is needed for that.
func TestConnectIsWritten(t *testing.T) {
	locktest.First(t)
	connect(t, "127.0.0.1:1,127.0.0.1:2")
}

// A server that lags answers from what it knows. Latest must not.
func TestAFollowerLags(t *testing.T) {
	e := whole(t)
	const tries = 3 // a server that is cut off for too long closes its connections
	for try := range tries {
		path := fmt.Sprintf("/price-%d", try)
		n := newNetwork(t, e)
		a, b := direct(t, n.who[0].Addr()), direct(t, n.relays[1].Addr())
		write(t, a, path, "old")
		if _, err := b.Sync(path); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		cutOff(t, n.who[1])
		write(t, a, path, "new")
		var data []byte
		done := guarded(func() (err error) { data, err = Latest(b, path); return err })
		within(patience, func() bool { return len(done) > 0 || n.toLeader(start) })
		synced := n.asked(wiretap.OpSync, start)
		early := len(done) > 0
		rejoin(t, n.who[1])
		var err error
		select {
		case err = <-done:
		case <-time.After(patience):
			locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns, Says: "Latest does not return, although the server has caught up."})
		}
		if errors.Is(err, zk.ErrConnectionClosed) && try < tries-1 {
			continue
		}
		failed(t, "Latest", err)
		if string(data) == "new" {
			return
		}
		if string(data) != "old" {
			locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
				Says: fmt.Sprintf(`A wrote "new", and Latest returned %q, which A has never written.`, data)})
		}
		steps := []locktest.Step{
			{Who: "A", Text: "set /price", Effect: `"new", at the leader`},
			{Who: "A", Text: "calls B: \"it is there\""},
			{Who: "B", Text: "getData /price", Effect: fmt.Sprintf("%q, from a follower that lags", data)},
		}
		says := "A wrote a new price, and told B so. B then read the old one: its server is a follower that has not heard of the change yet, and answers all the same."
		if synced && !early {
			steps = append(steps, locktest.Step{Who: "B", Text: "sync /price"})
			says = "B asked its server to catch up, but what it returned was read before that."
		}
		locktest.Fail(t, locktest.Diagnosis{Code: "NO-SYNC", Says: says, Steps: steps})
	}
}

// latest calls the learner's Latest.
func latest(t *testing.T, conn *zk.Conn, path string) (data []byte, err error) {
	t.Helper()
	done := guarded(func() (err error) { data, err = Latest(conn, path); return err })
	select {
	case err = <-done:
	case <-time.After(patience):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns, Says: "Latest does not return, although there is a server that answers."})
	}
	if p := panicked(""); locktest.IsTODO(err) || errors.As(err, &p) {
		failed(t, "Latest", err)
	}
	return data, err
}

// What cannot be known is an error: the connection breaks before the sync is sent, or
// there is no such node.
func TestLatestSaysWhenItDoesNotKnow(t *testing.T) {
	n := newNetwork(t, whole(t))
	b := direct(t, n.relays[1].Addr())
	write(t, b, "/rate", "old")
	start := time.Now()
	n.relays[1].FailWrite(wiretap.Match{Op: wiretap.OpSync})
	data, err := latest(t, b, "/rate")
	synced := n.count(start, func(f frame) bool { return f.Kind == wiretap.Reply && f.Op == wiretap.OpSync }) > 0
	if err == nil && !synced {
		locktest.Fail(t, locktest.Diagnosis{Code: "NO-SYNC",
			Says: "B's connection broke when it asked its server to catch up. Latest took no notice, and read from a server that may lag. A sync that has failed has not been made.",
			Steps: []locktest.Step{
				{Who: "B", Text: "sync /rate", Effect: "connection cut before it was sent"},
				{Who: "B", Text: "getData /rate", Effect: fmt.Sprintf("%q, and no error", data)},
			}})
	}
	if data, err = latest(t, b, "/nowhere"); err == nil {
		locktest.Fail(t, locktest.Diagnosis{Code: "IGNORES-ERROR",
			Says: fmt.Sprintf("There is no node /nowhere, and Latest returned %q and no error, as if there were one with this data.", data)})
	}
}

func cutOff(t *testing.T, s *zkserver.Server) {
	t.Helper()
	if err := s.Isolate(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Rejoin(context.Background()) })
}

func rejoin(t *testing.T, s *zkserver.Server) {
	t.Helper()
	if err := s.Rejoin(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The lock itself needs no sync and no leader. B's server lags so far behind that it
// knows nothing of A's node; but the reply to B's create comes when it has caught up.
func TestALockNeedsNoSync(t *testing.T) {
	e := whole(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	n := newNetwork(t, e)
	a, b := direct(t, n.who[0].Addr()), direct(t, n.relays[1].Addr())
	write(t, a, "/lock", "")
	if _, err := b.Sync("/lock"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cutOff(t, n.who[1])
	lockA, lockB := minimutex.New(a, "/lock"), minimutex.New(b, "/lock")
	if err := lockA.Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	done := guarded(func() error { return lockB.Acquire(ctx) })
	if !within(patience, func() bool { return n.asked(wiretap.OpCreate, start) }) {
		t.Fatal("B did not ask for its node")
	}
	rejoin(t, n.who[1])
	if !within(patience, func() bool { return len(done) > 0 || n.asked(wiretap.OpGetData, start) }) {
		t.Fatal("B did not go on after its server had caught up")
	}
	if len(done) > 0 {
		t.Fatalf("A holds the lock, and B's Acquire at a server that lagged returned %v", <-done)
	}
	if err := lockA.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n.asked(wiretap.OpSync, start) {
		t.Error("the lock asked for sync")
	}
	if err := lockB.Release(ctx); err != nil {
		t.Error(err)
	}
}
