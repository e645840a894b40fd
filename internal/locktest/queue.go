package locktest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
)

// Locker is a learner's lock.
type Locker interface {
	Acquire(ctx context.Context) error
	Release(ctx context.Context) error
}

// Queue is a lab in which clients contend for one lock. Every method looks for
// what may have gone wrong with the lock so far, and ends the test with the first
// diagnosis that fits.
type Queue struct {
	*Lab
	make    func(conn *zk.Conn, path string) Locker
	members map[string]*Member
	share   func(names []string) bool // set by Sharing
	start   time.Time
}

// Member is a client with its lock.
type Member struct {
	*Client
	Lock    Locker
	acquire *Call     // of the last Acquire; nil after its Release
	joined  time.Time // when that was called
}

// NewQueue makes a lab for locks that make creates.
func NewQueue(t testing.TB, make func(conn *zk.Conn, path string) Locker) *Queue {
	t.Helper()
	return &Queue{Lab: New(t), make: make, members: map[string]*Member{}, start: time.Now()}
}

// Member returns a client that has not asked for the lock yet, or has.
func (q *Queue) Member(name string) *Member {
	q.t.Helper()
	if m := q.members[name]; m != nil {
		return m
	}
	m := &Member{Client: q.Client(name)}
	m.Lock = q.make(m.Conn, q.path)
	q.members[name] = m
	return m
}

// Join lets clients ask for the lock, one after another: the next one does when
// the one before holds the lock or waits.
func (q *Queue) Join(names ...string) {
	q.t.Helper()
	for _, name := range names {
		m := q.Member(name)
		q.Start(m, m.Lock.Acquire)
		q.settle(m)
	}
}

// Start calls acquire, which is the member's lock or a variation of it, and does
// not wait.
func (q *Queue) Start(m *Member, acquire func(context.Context) error) *Call {
	q.believe(m, journal.Waiting, nil)
	m.joined = time.Now()
	m.acquire = m.Do("Acquire", func(ctx context.Context) error {
		err := acquire(ctx)
		if err == nil {
			q.believe(m, journal.Holds, nil)
		} else {
			q.believe(m, journal.Failed, err)
		}
		return err
	})
	return m.acquire
}

func (q *Queue) believe(m *Member, b journal.BeliefKind, err error) {
	e := journal.Event{At: time.Now(), By: journal.Process, Type: journal.Belief, Who: m.Name, Lock: q.path,
		Belief: b, Session: journal.SessionID(m.SessionID())}
	if err != nil {
		e.Err = err.Error()
	}
	q.add(Seen{Event: e})
}

// Holds reports whether the member's Acquire has returned without an error and
// it has not released since.
func (m *Member) Holds() bool {
	return m.acquire != nil && m.acquire.Ended() && m.acquire.Err() == nil && !m.dead
}

// Ended reports whether the member's Acquire has returned.
func (m *Member) Ended() bool { return m.acquire != nil && m.acquire.Ended() }

// Err is what the member's Acquire returned; nil while it has not.
func (m *Member) Err() error {
	if m.acquire == nil {
		return nil
	}
	return m.acquire.Err()
}

// Waiting reports whether the member's Acquire was called and has not returned.
func (m *Member) Waiting() bool { return m.acquire != nil && !m.acquire.Ended() && !m.dead }

// holders lists, in order, who holds the lock by its own belief.
func (q *Queue) holders() []string {
	var who []string
	for name, m := range q.members {
		if m.Holds() {
			who = append(who, name)
		}
	}
	sort.Strings(who)
	return who
}

// settle waits until a member holds the lock or waits for it as it should.
func (q *Queue) settle(m *Member) {
	q.t.Helper()
	alone := len(q.holders()) == 0
	ok := q.Until(func() bool {
		return m.acquire.Ended() || m.Polls() || !alone && m.waits()
	})
	m.Calm(m.acquire.Ended)
	m.told()
	q.look(m)
	if !ok && !m.acquire.Ended() {
		q.stuck(m)
	}
}

// toldWithin is how long the record of a reply may come after the reply.
const toldWithin = 100 * time.Millisecond

// told waits for the replies to the member's creates: the relay passes one on before
// it is recorded, so Acquire may have returned while the node is not known yet.
func (m *Member) told() {
	unanswered := func() bool {
		return slices.ContainsFunc(m.Creates(), func(c Created) bool { return c.Node == "" })
	}
	for end := time.Now().Add(toldWithin); unanswered() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// waits reports whether the member is in line and has left a watch since.
func (m *Member) waits() bool { return m.Node() != "" && len(m.Armed()) > 0 }

// look looks for what is wrong with a member whose Acquire was called.
func (q *Queue) look(m *Member) {
	q.t.Helper()
	q.checkNodes(m)
	if m.acquire.Ended() && m.acquire.Err() != nil {
		q.CallFailed(m.Client, "Acquire", m.acquire)
	}
	who := q.holders()
	q.checkHolders(who)
	if len(who) > 1 && !q.mayShare(who) {
		q.Fail(Diagnosis{CodeTwoHolders,
			fmt.Sprintf("%s hold the lock at the same moment.", list(who)),
			q.Steps(q.start, Both(By(who...), Doing("create", "entered", "woken", "released")))})
	}
	if m.Polls() {
		q.checkList(m)
		q.Fail(Diagnosis{CodePolling,
			fmt.Sprintf("%s asks again and again while nothing has changed. A watch costs one request, and the server speaks up by itself.", m.Name),
			q.Steps(q.start, By(m.Name))})
	}
	for _, w := range m.Armed() {
		if !m.acquire.Ended() && w.Node == m.Node() && w.Node != "" {
			q.Fail(Diagnosis{CodeWatchesSelf,
				fmt.Sprintf("%s watches its own node. It goes only when %s itself goes: what %s waits for is the node in front of it.", m.Name, m.Name, m.Name),
				q.Steps(q.start, Any(Doing("create"), By(m.Name)))})
		}
	}
}

// checkHolders requires that nobody who holds the lock has taken its node out of the
// line before it said so.
func (q *Queue) checkHolders(who []string) {
	q.t.Helper()
	for _, name := range who {
		m := q.members[name]
		node := m.Node()
		if node == "" {
			continue
		}
		for _, s := range q.Since(m.joined) {
			if s.Who == name && s.Type == journal.Reply && s.Op == "delete" && s.Err == "" && s.Node == node && s.At.Before(m.acquire.EndedAt()) {
				q.Fail(Diagnosis{CodeHoldsNothing,
					fmt.Sprintf("%s's Acquire has returned without an error, but has deleted %s's own node before: nobody can see that %s holds the lock, and the next one walks in.", name, name, name),
					q.Steps(m.joined, Both(By(name), Doing("create", "children", "childrenW", "delete", "entered")))})
			}
		}
	}
}

// goneAsked is how often the server must have said that a node is gone before asking
// for it once more is a mistake of its own.
const goneAsked = 3

// checkList requires that a member takes a new list when the node that it has found in
// the one before is gone.
func (q *Queue) checkList(m *Member) {
	q.t.Helper()
	gone := map[string]int{} // since the last list
	for _, s := range q.Since(m.joined) {
		switch {
		case s.Who != m.Name || s.Type != journal.Reply:
		case strings.HasPrefix(s.Op, "getChildren"):
			clear(gone)
		case reads(s.Op) && s.Err == "NoNode":
			gone[s.Node]++
		}
	}
	for node, n := range gone {
		if n < goneAsked || node == m.Node() {
			continue
		}
		q.Fail(Diagnosis{CodeOldList,
			fmt.Sprintf("%s asks for %s again and again, and the server says each time that it is gone. %s has it from an old list: who is in front of %s now, only a new list says.", m.Name, path.Base(node), m.Name, m.Name),
			append(q.Steps(m.joined, Both(Any(By(m.Name), Doing("delete", "killed")), untilGoneTwice(m.Name, node))), Step{m.Name, "and so on", ""})})
	}
}

// untilGoneTwice picks up to the second time that the server told a client that a node
// is gone: what goes on without end is the same from there on.
func untilGoneTwice(who, node string) Pick {
	told := 0
	return func(s Seen) bool {
		if told == 2 {
			return false
		}
		if s.Who == who && s.Type == journal.Reply && s.Node == node && s.Err == "NoNode" {
			told++
		}
		return true
	}
}

// stuck gives the diagnosis for a member that will never move again.
func (q *Queue) stuck(m *Member) {
	q.t.Helper()
	q.Flush()
	var says string
	armed := m.Armed()
	switch {
	case m.Node() == "":
		q.Fail(Diagnosis{CodeNotInLine,
			fmt.Sprintf("%s waits, but has created no node below the lock's path: nobody can see that it is there.", m.Name),
			q.Steps(q.start, By(m.Name))})
	case len(armed) == 0:
		says = fmt.Sprintf("%s waits, but has no watch at the server: nothing will ever wake it.", m.Name)
	default:
		says = fmt.Sprintf("%s waits for ever: it watches %s, and that will not wake it any more.", m.Name, watched(q.Lab, armed))
	}
	q.Fail(Diagnosis{CodeStuck, says,
		q.Steps(q.start, Any(Both(By(m.Name), Not(Doing("entered"))), Doing("delete", "killed")))})
}

func watched(l *Lab, armed []Watch) string {
	var names []string
	for _, w := range armed {
		names = append(names, w.Name(l))
	}
	return list(names)
}

// Not picks what another pick does not.
func Not(p Pick) Pick { return func(s Seen) bool { return !p(s) } }

// MustHold waits until a member holds the lock, and requires that nobody else
// does.
func (q *Queue) MustHold(name string) {
	q.t.Helper()
	m := q.members[name]
	ok := q.Until(func() bool { return m.acquire.Ended() || m.Polls() })
	q.look(m)
	if !ok && !m.acquire.Ended() {
		q.stuck(m)
	}
}

// MustWait requires that members still wait, each with a watch.
func (q *Queue) MustWait(names ...string) {
	q.t.Helper()
	for _, name := range names {
		m := q.members[name]
		q.Until(func() bool { return m.acquire.Ended() || m.waits() || m.Polls() })
		q.look(m)
		if m.Holds() {
			q.Fail(Diagnosis{CodeOvertaken, fmt.Sprintf("%s holds the lock although it is not its turn.", name),
				q.Steps(q.start, Doing("create", "entered", "released", "killed", "delete"))})
		}
		if len(m.Armed()) == 0 {
			q.stuck(m)
		}
	}
}

// MustBeSilent requires that members that wait ask nothing while nothing changes.
func (q *Queue) MustBeSilent(names ...string) {
	q.t.Helper()
	var clients []*Client
	for _, name := range names {
		clients = append(clients, q.members[name].Client)
	}
	start := time.Now()
	if q.Silent(clients...) {
		return
	}
	for _, c := range clients {
		if c.AsksAgain(start) {
			c.Calm(func() bool { return false })
			q.Fail(Diagnosis{CodePolling,
				fmt.Sprintf("%s waits with a watch set and nothing has changed, yet it asks again after a while. A hundred that wait so ask a hundred times a round; the server speaks up by itself.", c.Name),
				append([]Step{{c.Name, "waits", "watch set"}}, q.Steps(start, By(c.Name))...)})
		}
	}
}

// Done requires that the lock's path is empty.
func (q *Queue) Done() {
	q.t.Helper()
	if left := q.Children(); len(left) > 0 {
		q.Fail(Diagnosis{CodeLeftover, fmt.Sprintf("Nobody holds the lock or waits for it, yet %s is left in the lock's path.", list(left)),
			q.Steps(q.start, Doing("create", "delete"))})
	}
}

// list writes names as a person does: "A", "A and B", "A, B and C".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
