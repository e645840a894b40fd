package lock

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

func newLock(conn *zk.Conn, path string) locktest.Locker { return New(conn, path) }

var writes = locktest.Doing("create", "delete", "entered", "released")

// The server creates A's node, and the reply is lost. In the other rounds the
// connection breaks once more while A looks for its node: when it lists, and when it
// asks for the owner.
func TestCreateReplyIsLost(t *testing.T) {
	t.Run("once", func(t *testing.T) { createReplyIsLost(t) })
	t.Run("twice", func(t *testing.T) { createReplyIsLost(t, wiretap.OpGetChildren) })
	t.Run("atTheOwner", func(t *testing.T) { createReplyIsLost(t, wiretap.OpExists) })
}

func createReplyIsLost(t *testing.T, more ...wiretap.Op) {
	q := locktest.NewQueue(t, newLock)
	a := q.Member("A")
	for _, op := range append([]wiretap.Op{wiretap.OpCreate}, more...) {
		a.DropReply(wiretap.Match{Op: op, PathPrefix: q.Path()})
	}
	start := time.Now()
	acquire := q.Start(a, a.Lock.Acquire)
	q.Until(func() bool { return a.Ended() || len(a.Creates()) > 1 && a.Node() != "" })
	q.Flush()
	q.CheckNodes("A")
	steps := func() []locktest.Step {
		all := q.Steps(start, locktest.Any(writes, locktest.Doing("children", "childrenW", "sync", "exists", "existsW", "get", "getW")))
		for i := len(all) - 1; i > 0; i-- { // what came after the last create matters no more
			if strings.HasPrefix(all[i].Text, "create") {
				return all[:i+1]
			}
		}
		return all
	}
	switch made := a.Creates(); {
	case len(made) > 1 && len(q.Children()) < 2:
		q.Fail(locktest.Diagnosis{Code: "REQUEUES",
			Says:  "The reply to A's create was lost. A found its node, threw it away and took a new number: whoever came in between goes first. A node that you have found is your place.",
			Steps: steps()})
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
	case locktest.OwnError(a.Err()) && a.Did(start, "exists", "existsW", "get", "getW"):
		q.CallFailed(a.Client, "Acquire", acquire) // it has found its node: something else is wrong
	case a.Err() != nil && !locktest.IsTODO(a.Err()) && len(q.Children()) > 0:
		q.Fail(locktest.Diagnosis{Code: "FORGETS",
			Says:  "A's create got no reply, and Acquire gave up. But the server had created the node: it is in line, and nobody will ever take it out.",
			Steps: append(steps(), locktest.Step{Who: "A", Text: "Acquire returned an error", Effect: q.Children()[0] + " still there"})})
	case a.Err() == nil:
		mustSync(q, a, start, steps)
	}
	q.MustHold("A")
	q.Release("A")
	q.Done()
}

// mustSync requires that A has made its server catch up before it listed: on the
// connection on which it lists, since the next one may lead to another server.
func mustSync(q *locktest.Queue, a *locktest.Member, start time.Time, steps func() []locktest.Step) {
	synced, ever := false, false
	for _, s := range q.Since(start) {
		switch {
		case s.Who != "A":
		case s.Type == journal.ConnOpened:
			synced = false
		case s.Type == journal.Reply && s.Op == "sync":
			synced, ever = true, true
		case s.Type == journal.Reply && strings.HasPrefix(s.Op, "getChildren") && s.Text != "dropped":
			if synced {
				return
			}
			says := "A looked for its node without a sync before."
			switch {
			case ever:
				says = "A's connection broke after its sync, and A looked for its node on the next one without another: it may lead to another server."
			case a.Did(start, "sync"):
				says = "A listed first and made its server catch up after that: the list was older than the sync."
			}
			q.Fail(locktest.Diagnosis{Code: "NO-SYNC",
				Says:  says + " This server was up to date. One that lags behind would not have shown the node, and A would have created another.",
				Steps: steps()})
		}
	}
}

// mustCreateAgain requires that A, which found nothing after a create that was lost,
// has not gone on without a node.
func mustCreateAgain(q *locktest.Queue, a *locktest.Member, start time.Time, call *locktest.Call, tries int) {
	err := call.Err()
	if !locktest.OwnError(err) || len(a.Creates()) > tries || !a.Did(start, "children", "childrenW") {
		return
	}
	q.Fail(locktest.Diagnosis{Code: "GOES-ON-WITHOUT",
		Says: fmt.Sprintf("A's create was lost. A looked for its node, found none, and did not create again: Acquire returned %q. No node means that nothing was created, and now A knows it.", strings.ReplaceAll(err.Error(), "\n", "; ")),
		Steps: append(q.Steps(start, locktest.Both(locktest.By("A"), locktest.Doing("create", "sync", "children", "exists"))),
			locktest.Step{Who: "A", Text: "Acquire returned an error"})})
}

// mustKeepTheGUID requires that all creates of one acquire bear the same name.
func mustKeepTheGUID(q *locktest.Queue, start time.Time, made []locktest.Created) {
	for _, m := range made {
		if m.Asked == made[0].Asked {
			continue
		}
		q.Fail(locktest.Diagnosis{Code: "NEW-GUID",
			Says: "A's create was lost, A found nothing, and created again with a new GUID. A look for one GUID finds what one try has made, and there were two tries. " +
				"One acquire, one GUID: then one look finds the node, whichever try has made it.",
			Steps: q.Steps(start, locktest.Both(locktest.By("A"), locktest.Doing("create", "children", "childrenW")))})
	}
}

// Two acquires share one session. The first one's node is no business of the
// second's, although the owner is the same.
func TestNodeOfAnotherAcquire(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	a := q.Member("A")
	first := a.Node()
	a.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: q.Path()})
	start := time.Now()
	second := New(a.Conn, q.Path())
	call := a.Do("Acquire", second.Acquire)
	q.Until(func() bool { return call.Ended() || a.Node() != first && len(a.Armed()) > 0 })
	if call.Ended() && call.Err() == nil {
		q.Fail(locktest.Diagnosis{Code: "WRONG-OWNER",
			Says: "A's session acquires twice. The second create was lost, and the second acquire took the first one's node for its own: both hold the lock. " +
				"The owner tells that a node belongs to this session, the GUID that it belongs to this acquire.",
			Steps: append([]locktest.Step{{Who: "A", Text: "first Acquire holds " + path.Base(first)}},
				append(q.Steps(start, locktest.Any(writes, locktest.Doing("children", "exists", "get"))), locktest.Step{Who: "A", Text: "second Acquire has returned: holds"})...)})
	}
	mustCreateAgain(q, a, start, call, 2)
	q.CallFailed(a.Client, "Acquire", call)
	mustKeepTheGUID(q, start, a.Creates()[1:])
	q.MustReturn(a.Client, "Release", a.Do("Release", a.Lock.Release))
	q.MustReturn(a.Client, "Acquire", call)
	q.MustReturn(a.Client, "Release", a.Do("Release", second.Release))
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
	acquire := q.Start(a, a.Lock.Acquire)
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
	mustCreateAgain(q, a, start, acquire, 1)
	if !a.Ended() {
		mustKeepTheGUID(q, start, a.Creates())
	}
	former.Kill()
	q.MustHold("A")
	q.Release("A")
	q.Done()
}

// A releases, and its delete never reaches the server; or it does, and the reply is
// lost; or it does not, and A's next question, whatever it is, does not either.
func TestDeleteIsLost(t *testing.T) {
	for _, lose := range []struct {
		what string
		how  func(*locktest.Member, wiretap.Match)
		more int // questions after it that are lost
	}{
		{"never reached the server", func(m *locktest.Member, match wiretap.Match) { m.FailWrite(match) }, 0},
		{"got no reply", func(m *locktest.Member, match wiretap.Match) { m.DropReply(match) }, 0},
		{"never reached the server, nor did A's next question", func(m *locktest.Member, match wiretap.Match) { m.FailWrite(match) }, 1},
	} {
		q := locktest.NewQueue(t, newLock)
		q.Join("A", "B")
		a := q.Member("A")
		lose.how(a, wiretap.Match{Op: wiretap.OpDelete, PathPrefix: q.Path()})
		for range lose.more {
			a.FailWrite(wiretap.Match{PathPrefix: q.Path() + "/", Skip: 1}) // the delete comes first
		}
		start := time.Now()
		call := a.Do("Release", a.Lock.Release)
		q.Until(call.Ended)
		if len(q.Children()) > 1 {
			what := writes
			if lose.more > 0 {
				what = locktest.Any(writes, locktest.Doing("exists", "existsW", "get", "getW"))
			}
			q.Fail(locktest.Diagnosis{Code: "FORGETS",
				Says: "A's delete " + lose.what + ", and A left it at that. Its node is still in line: " +
					"B waits until A's session ends, and A's session goes on.",
				Steps: append(q.Steps(start, what), locktest.Step{Who: "A", Text: "Release returned", Effect: path.Base(a.Node()) + " still there"})})
		}
		a.Heal()
		q.CallFailed(a.Client, "Release", call)
		q.MustHandOver("A", "B")
		q.Release("B")
		q.Done()
	}
}
