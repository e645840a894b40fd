package locktest

import (
	"context"
	"errors"
	"fmt"
	"path"
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
	start   time.Time
}

// Member is a client with its lock.
type Member struct {
	*Client
	Lock    Locker
	acquire *Call // of the last Acquire; nil after its Release
	excused bool  // may end with an error: the test does not look at its call
}

// Codes that tests of locks yield.
const (
	CodeTwoHolders  = "TWO-HOLDERS"
	CodeNotInLine   = "NOT-IN-LINE"
	CodeForever     = "FOREVER"
	CodeNoNumber    = "NO-NUMBER"
	CodePolling     = "POLLING"
	CodeWatchesSelf = "WATCHES-SELF"
	CodeHerd        = "HERD"
	CodeStuck       = "STUCK"
	CodeNotReleased = "NOT-RELEASED"
	CodeOvertaken   = "OVERTAKEN"
)

// blindReads is how many reads in a row without a watch are polling. A look at
// the queue takes two, and may have to be done again.
const blindReads = 5

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
		return m.acquire.Ended() || m.BlindReads() >= blindReads || !alone && m.waits()
	})
	q.look(m)
	if !ok && !m.acquire.Ended() {
		q.stuck(m)
	}
}

// waits reports whether the member is in line and has left a watch since.
func (m *Member) waits() bool { return m.Node() != "" && len(m.Armed()) > 0 }

// look looks for what is wrong with a member whose Acquire was called.
func (q *Queue) look(m *Member) {
	q.t.Helper()
	if m.excused {
		return
	}
	if m.acquire.Ended() && m.acquire.Err() != nil {
		q.failed(m, "Acquire", m.acquire)
	}
	if who := q.holders(); len(who) > 1 {
		q.Fail(Diagnosis{CodeTwoHolders,
			fmt.Sprintf("%s hold the lock at the same moment.", list(who)),
			q.Steps(q.start, Both(By(who...), Doing("create", "entered", "woken", "released")))})
	}
	for _, made := range m.Creates() {
		q.checkCreate(m, made)
	}
	if m.BlindReads() >= blindReads {
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

func (q *Queue) checkCreate(m *Member, made Created) {
	q.t.Helper()
	if path.Dir(made.Asked) != q.path {
		return
	}
	steps := func() []Step { return q.Steps(q.start, Both(By(m.Name), Doing("create"))) }
	if !strings.HasPrefix(made.Mode, "ephemeral") {
		q.Fail(Diagnosis{CodeForever,
			fmt.Sprintf("%s created a node that stays when its session ends (%s): if %s dies, everybody behind it waits for ever.", m.Name, made.Mode, m.Name), steps()})
	}
	if !strings.HasSuffix(made.Mode, "sequential") {
		q.Fail(Diagnosis{CodeNoNumber,
			fmt.Sprintf("%s created a node without a number (%s), so nobody can tell who came first.", m.Name, made.Mode), steps()})
	}
}

// failed gives the diagnosis for a call that returned an error.
func (q *Queue) failed(m *Member, what string, call *Call) {
	q.t.Helper()
	q.CallFailed(m.Client, what, call)
}

// CallFailed gives the diagnosis for a call of the learner's code that returned an
// error where it should not have.
func (l *Lab) CallFailed(c *Client, what string, call *Call) {
	l.t.Helper()
	err := call.Err()
	switch {
	case err == nil:
		return
	case call.panics != "":
		l.Fail(Diagnosis{CodePanics, fmt.Sprintf("%s of %s panicked: %s.", what, c.Name, call.panics), nil})
	case IsTODO(err):
		l.Fail(TODO(what))
	}
	l.Fail(Diagnosis{CodeUnexpected,
		fmt.Sprintf("%s of %s returned an error although nothing was wrong: %q.", what, c.Name, err),
		l.Steps(time.Time{}, By(c.Name))})
}

// IsTODO reports whether an error says that the exercise is not written yet.
func IsTODO(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "TODO") }

// TODO is the diagnosis of a function that is not written yet.
func TODO(what string) Diagnosis {
	return Diagnosis{CodeTODO, fmt.Sprintf("%s is still to be written: look for TODO in lock.go.", what), nil}
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
	ok := q.Until(func() bool { return m.acquire.Ended() || m.BlindReads() >= blindReads })
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
		q.Until(func() bool { return m.acquire.Ended() || m.waits() || m.BlindReads() >= blindReads })
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
	if call.Err() != nil {
		q.failed(m, "Release", call)
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
	if len(sleepers) < 2 {
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

// Done requires that the lock's path is empty.
func (q *Queue) Done() {
	q.t.Helper()
	if left := q.Children(); len(left) > 0 {
		q.Fail(Diagnosis{"LEFTOVER", fmt.Sprintf("nobody holds the lock or waits for it, yet %s is left in the lock's path.", list(left)),
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
