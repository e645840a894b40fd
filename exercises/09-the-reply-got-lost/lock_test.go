package lock

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

func newLock(conn *zk.Conn, path string) locktest.Locker { return New(conn, path) }

var writes = locktest.Doing("create", "delete", "entered", "released")

// The server creates A's node, and the reply is lost.
func TestCreateReplyIsLost(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	a := q.Member("A")
	a.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: q.Path()})
	start := time.Now()
	q.Start(a, a.Lock.Acquire)
	q.Until(func() bool { return a.Ended() || len(a.Creates()) > 1 })
	q.Flush()
	steps := func() []locktest.Step {
		all := q.Steps(start, locktest.Any(writes, locktest.Doing("children", "childrenW", "sync", "exists")))
		for i := len(all) - 1; i > 0; i-- { // what came after the last create matters no more
			if strings.HasPrefix(all[i].Text, "create") {
				return all[:i+1]
			}
		}
		return all
	}
	switch made := a.Creates(); {
	case len(made) > 1 && made[0].Asked == made[1].Asked:
		q.Fail(locktest.Diagnosis{Code: "RETRY-BLIND",
			Says: "The reply to A's create was lost, and A created once more without finding its first node. " +
				"Now A has two nodes in line, and waits behind itself for ever. No reply does not mean no node.",
			Steps: steps()})
	case len(made) > 1:
		q.Fail(locktest.Diagnosis{Code: "NEW-GUID",
			Says: "The reply to A's create was lost, and A came back with a new GUID. Its first node bears the old one, " +
				"so A can never recognize it, and waits behind itself for ever. One acquire, one GUID.",
			Steps: steps()})
	case a.Err() != nil && !locktest.IsTODO(a.Err()) && len(q.Children()) > 0:
		q.Fail(locktest.Diagnosis{Code: "FORGETS",
			Says:  "A's create got no reply, and Acquire gave up. But the server had created the node: it is in line, and nobody will ever take it out.",
			Steps: append(steps(), locktest.Step{Who: "A", Text: "Acquire returned an error", Effect: q.Children()[0] + " still there"})})
	}
	q.MustHold("A")
	q.Release("A")
	q.Done()
}

// A's create never reaches the server. But there is a node with A's GUID: its
// former session has left it, and is about to end.
func TestNodeOfAFormerSession(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	a, former := q.Member("A"), q.Client("former A")
	a.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: q.Path()})
	a.Refuse(true)
	start := time.Now()
	q.Start(a, a.Lock.Acquire)
	q.Until(func() bool { return a.Ended() || len(a.Creates()) > 0 })
	asked := q.Path() + "/lock-"
	if made := a.Creates(); len(made) > 0 {
		asked = made[0].Asked
	}
	old, err := former.Conn.Create(asked, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	a.Refuse(false)
	q.Until(func() bool { return a.Ended() || a.Node() != "" && len(a.Armed()) > 0 })
	if a.Holds() && strings.Contains(strings.Join(q.Children(), " "), path.Base(old)) {
		former.Kill()
		q.Fail(locktest.Diagnosis{Code: "WRONG-OWNER",
			Says: "A found a node with its GUID and took it for its own. It belongs to A's former session, and went when that ended: " +
				"A believes that it holds the lock, and has no node. Whose a node is says its Stat: EphemeralOwner.",
			Steps: q.Steps(start, locktest.Any(writes, locktest.Doing("killed", "children", "exists", "get")))})
	}
	former.Kill()
	q.MustHold("A")
	q.Release("A")
	q.Done()
}

// A releases, and its delete never reaches the server; or it does, and the reply
// is lost.
func TestDeleteIsLost(t *testing.T) {
	for _, lose := range []struct {
		what string
		how  func(*locktest.Member, wiretap.Match)
	}{
		{"never reached the server", func(m *locktest.Member, match wiretap.Match) { m.FailWrite(match) }},
		{"got no reply", func(m *locktest.Member, match wiretap.Match) { m.DropReply(match) }},
	} {
		q := locktest.NewQueue(t, newLock)
		q.Join("A", "B")
		a := q.Member("A")
		lose.how(a, wiretap.Match{Op: wiretap.OpDelete, PathPrefix: q.Path()})
		start := time.Now()
		call := a.Do("Release", a.Lock.Release)
		q.Until(call.Ended)
		if len(q.Children()) > 1 {
			q.Fail(locktest.Diagnosis{Code: "FORGETS",
				Says: "A's delete " + lose.what + ", and A left it at that. Its node is still in line: " +
					"B waits until A's session ends, and A's session goes on.",
				Steps: append(q.Steps(start, writes), locktest.Step{Who: "A", Text: "Release returned", Effect: path.Base(a.Node()) + " still there"})})
		}
		q.CallFailed(a.Client, "Release", call)
		q.MustHandOver("A", "B")
		q.Release("B")
		q.Done()
	}
}
