package locktest

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
)

// Release lets a member give the lock back. It requires that its node goes, and
// that this wakes one client at most.
func (q *Queue) Release(name string) {
	q.t.Helper()
	m, since := q.members[name], time.Now()
	node := m.Node()
	var sleepers []*Member
	for _, other := range q.members {
		if other.Waiting() && other.WouldWake(node) {
			sleepers = append(sleepers, other)
		}
	}
	call := m.Do("Release", m.Lock.Release)
	ended := q.Until(call.Ended)
	if ended {
		q.checkOpen(m, since)
	}
	if call.Err() != nil {
		q.CallFailed(m.Client, "Release", call)
	}
	if !ended {
		q.Fail(Diagnosis{CodeStuck, fmt.Sprintf("Release of %s does not return.", name), q.Steps(since, By(name))})
	}
	m.acquire = nil
	q.believe(m, journal.Released, nil)
	q.checkGone(m, node, since)
	q.checkHerd(m, sleepers, since)
}

// MustHandOver requires that one member holds the lock after another has released
// it in some way of the test's own.
func (q *Queue) MustHandOver(from, to string) {
	q.t.Helper()
	m := q.members[from]
	m.acquire = nil
	q.believe(m, journal.Released, nil)
	q.MustHold(to)
}

// recorded is how soon what has passed a relay is in the record, at the latest.
const recorded = 500 * time.Millisecond

// Closed reports whether the client's connection was closed from its own side since a
// moment. One that is closed answers nothing more; that it was closed is on the wire.
func (c *Client) Closed(since time.Time) bool {
	if _, _, err := c.Conn.Exists(flushPath); err == nil {
		return false
	}
	asked := time.Now()
	closed := func() bool { return c.Did(since, "close") }
	c.lab.Until(func() bool { return closed() || time.Since(asked) > recorded })
	return closed()
}

// checkOpen requires that a Release has left the client its session.
func (q *Queue) checkOpen(m *Member, since time.Time) {
	q.t.Helper()
	if m.Closed(since) {
		q.Fail(Diagnosis{CodeClosesConnection,
			fmt.Sprintf("%s's Release has closed the connection. The lock is free, because the session has ended with all of its nodes; but the connection is not the lock's to close. With it go %s's other locks and watches, and it can acquire no lock again.", m.Name, m.Name),
			q.Steps(since, By(m.Name))})
	}
}

func (q *Queue) checkGone(m *Member, node string, since time.Time) {
	q.t.Helper()
	if node == "" {
		return
	}
	there, _, err := q.observer.Exists(node)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		q.t.Fatalf("locktest: cannot look for %s: %v", node, err)
	}
	if there {
		q.Fail(Diagnosis{CodeNotReleased,
			fmt.Sprintf("%s's Release has returned, but its node is still there: to everybody else %s still holds the lock.", m.Name, m.Name),
			append(q.Steps(since, Both(By(m.Name), Not(Doing("released")))), Step{m.Name, "released", path.Base(node) + " still there"})})
	}
}

func (q *Queue) checkHerd(m *Member, sleepers []*Member, since time.Time) {
	q.t.Helper()
	if len(sleepers) < 2 || q.share != nil {
		return
	}
	woken := func() []string {
		found := map[string]bool{}
		for _, s := range q.Since(since) {
			if s.Type == journal.WatchEvent {
				found[s.Who] = true
			}
		}
		var who []string
		for _, s := range sleepers {
			if found[s.Name] {
				who = append(who, s.Name)
			}
		}
		sort.Strings(who)
		return who
	}
	q.Until(func() bool { return len(woken()) == len(sleepers) })
	who := woken()
	firstWake := map[string]bool{}
	q.Fail(Diagnosis{CodeHerd,
		fmt.Sprintf("%s released, and %s were woken, but only one of them can have the lock. With a hundred waiters it is a hundred wake-ups for every release.", m.Name, list(who)),
		q.Steps(since, Any(Both(By(m.Name), Doing("delete")), func(s Seen) bool {
			first := s.Type == journal.WatchEvent && !firstWake[s.Who]
			if first {
				firstWake[s.Who] = true
			}
			return first
		}))})
}
