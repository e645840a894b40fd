package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// permits is how many leases there are.
const permits = 2

// worker takes leases of a pool and remembers them.
type worker struct {
	pool *Pool

	mu     sync.Mutex
	calls  int // of Acquire
	leases []string
}

func newWorker(conn *zk.Conn, path string) locktest.Locker {
	return &worker{pool: New(conn, path, permits)}
}

func (w *worker) Acquire(ctx context.Context) error {
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	lease, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, lease)
	return nil
}

func (w *worker) Release(context.Context) error { return w.pool.Return(w.lease(0)) }

// lease is the worker's i-th lease of those it took; "" if there is none.
func (w *worker) lease(i int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.leases) {
		return ""
	}
	return w.leases[i]
}

// pool is a lab with the two folders of a pool.
type pool struct {
	*locktest.Queue
	t *testing.T
}

func newPool(t *testing.T) pool {
	t.Helper()
	p := pool{locktest.NewQueue(t, newWorker), t}
	for _, folder := range []string{"leases", "locks"} {
		if _, err := p.Observer().Create(p.Path()+"/"+folder, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// in lists a folder of the pool, as the server has it.
func (p pool) in(folder string) []string {
	p.t.Helper()
	names, _, err := p.Observer().Children(p.Path() + "/" + folder)
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

// foreign puts a node among the leases that is none, and takes it away in the end.
func (p pool) foreign(name string) {
	p.t.Helper()
	node := p.Path() + "/leases/" + name
	if _, err := p.Observer().Create(node, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.Observer().Delete(node, -1) })
}

func (p pool) exists(node string) bool {
	p.t.Helper()
	there, _, err := p.Observer().Exists(node)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		p.t.Fatal(err)
	}
	return there
}

var (
	// leaseSteps are what matters of a client that wants a lease.
	leaseSteps = locktest.Doing("create", "delete", "get", "getW", "exists", "existsW", "children", "childrenW", "woken", "entered")
	changes    = locktest.Doing("create", "delete", "entered")
)

// steps are those at the leases; the way through the door is left out.
func (p pool) steps(pick locktest.Pick) []locktest.Step {
	return p.Steps(time.Time{}, locktest.Both(pick, func(s locktest.Seen) bool {
		return s.Node == "" || strings.Contains(s.Node, "/leases")
	}))
}

// ask lets a client ask for a lease, and waits until it has one, or waits.
func (p pool) ask(name string) *locktest.Member {
	p.t.Helper()
	m := p.Member(name)
	call := p.Start(m, m.Lock.Acquire)
	p.settle(m)
	p.CallFailed(m.Client, "Acquire", call)
	for _, made := range m.Creates() {
		if !strings.HasPrefix(made.Mode, "ephemeral") {
			p.Fail(locktest.Diagnosis{Code: locktest.CodeForever,
				Says:  fmt.Sprintf("%s created a lease that stays when its session ends (%s): if %s dies, one of %d leases is lost for good.", name, made.Mode, name, permits),
				Steps: p.steps(locktest.Both(locktest.By(name), locktest.Doing("create")))})
		}
	}
	if m.Polls() {
		steps := p.steps(locktest.By(name))
		p.Fail(locktest.Diagnosis{Code: "POLLING",
			Says:  name + " asks again and again while nothing has changed. A watch costs one request, and the server speaks up by itself.",
			Steps: append(steps[:min(len(steps), 4)], locktest.Step{Who: name, Text: "… and so on"})})
	}
	return m
}

// oneEach requires that a client has created no more leases than it was asked for.
func (p pool) oneEach(m *locktest.Member) {
	p.t.Helper()
	made := 0
	for _, c := range m.Creates() {
		if c.Node != "" && strings.Contains(c.Node, "/leases/") {
			made++
		}
	}
	w := m.Lock.(*worker)
	w.mu.Lock()
	calls := w.calls
	w.mu.Unlock()
	if made > calls {
		p.Fail(locktest.Diagnosis{Code: "TWO-LEASES",
			Says:  fmt.Sprintf("%s has created more than one lease for one Acquire. Only one of them can be returned; the others are out, and nobody has them.", m.Name),
			Steps: p.steps(locktest.Both(locktest.By(m.Name), leaseSteps))})
	}
}

// settle waits until a client has its lease, or sleeps. A watch that was set may
// belong to a look that has just said yes: what the client does with it comes
// before the answers to a few more requests on its connection.
func (p pool) settle(m *locktest.Member) {
	p.t.Helper()
	p.Until(func() bool { return m.Ended() || m.Polls() || len(m.Armed()) > 0 })
	for i := 0; i < 5 && !m.Ended(); i++ {
		p.Flush()
	}
}

// mustGet requires that a client gets its lease; what says what holds it up if not.
func (p pool) mustGet(m *locktest.Member, whatIf func() locktest.Diagnosis) {
	p.t.Helper()
	p.Until(func() bool { return m.Ended() || m.Polls() })
	p.oneEach(m)
	if !m.Ended() {
		p.Fail(whatIf())
	}
	if m.Err() != nil {
		p.Fail(locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says:  fmt.Sprintf("Acquire of %s returned an error although nothing was wrong: %q.", m.Name, m.Err()),
			Steps: p.steps(locktest.By(m.Name))})
	}
	w := m.Lock.(*worker)
	if lease := w.lease(len(w.leases) - 1); path.Dir(lease) != p.Path()+"/leases" || !p.exists(lease) {
		p.Fail(locktest.Diagnosis{Code: "NOT-A-LEASE",
			Says:  fmt.Sprintf("Acquire of %s returned a path that ends in %q, and there is no such node among the leases. It must return the full path that Create gave it.", m.Name, path.Base(lease)),
			Steps: p.steps(locktest.Both(locktest.By(m.Name), changes))})
	}
	p.doorIsFree(m)
}

// doorIsFree requires that a client that wants nothing any more has left the line.
func (p pool) doorIsFree(m *locktest.Member) {
	p.t.Helper()
	at := func() string {
		for _, name := range p.in("locks") {
			if p.Owner(p.Path()+"/locks/"+name) == m.Name {
				return name
			}
		}
		return ""
	}
	if p.Until(func() bool { return at() == "" }) {
		return
	}
	p.Fail(locktest.Diagnosis{Code: "KEEPS-THE-DOOR",
		Says: fmt.Sprintf("Acquire of %s has returned, and %s still stands in the door: nobody else can even ask for a lease. "+
			"The door is held while one looks for a lease, not while one has it.", m.Name, m.Name),
		Steps: append(p.Steps(time.Time{}, locktest.Both(locktest.By(m.Name), changes)),
			locktest.Step{Who: m.Name, Text: "Acquire returned", Effect: at() + " still there"})})
}

// mustWait requires that a client waits: all leases are out.
func (p pool) mustWait(m *locktest.Member, why string) {
	p.t.Helper()
	if m.Ended() && m.Err() == nil {
		p.Fail(locktest.Diagnosis{Code: "OVERSUBSCRIBED",
			Says:  fmt.Sprintf("There are %d leases, they were out, and %s got a third one. %s", permits, m.Name, why),
			Steps: p.steps(changes)})
	}
}

// giveBack returns a client's lease, and requires that its node goes.
func (p pool) giveBack(m *locktest.Member) {
	p.t.Helper()
	lease := m.Lock.(*worker).lease(0)
	call := m.Do("Return", m.Lock.Release)
	p.MustReturn(m.Client, "Return", call)
	if p.exists(lease) {
		p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
			Says: fmt.Sprintf("%s returned its lease, and the lease's node is still there: one of %d leases is lost until %s's session ends.", m.Name, permits, m.Name),
			Steps: append(p.steps(locktest.Both(locktest.By(m.Name), changes)),
				locktest.Step{Who: m.Name, Text: "Return has returned", Effect: path.Base(lease) + " still there"})})
	}
}

// neverPromoted says why a client that is next sleeps although a lease is free.
func (p pool) neverPromoted(m *locktest.Member) func() locktest.Diagnosis {
	return func() locktest.Diagnosis {
		p.Flush()
		why := "It has no watch on the leases: nothing will wake it."
		for _, w := range m.Armed() {
			switch {
			case w.Node == p.Path()+"/leases" && w.Kind != journal.ChildWatch:
				why = "It watches the folder itself, and that does not change when a lease goes: what changes is the list of its children."
			case w.Node == p.Path()+"/leases":
				why = "It was woken, counted, and sleeps again: the leases of clients that wait count as well. " +
					"Only one may wait with a lease, the one who holds the door, until it has what it wants."
			case strings.HasPrefix(w.Node, p.Path()+"/leases/"):
				why = fmt.Sprintf("It watches %s, which is still out. Any of the leases may be the one that is returned.", path.Base(w.Node))
			}
		}
		return locktest.Diagnosis{Code: "NEVER-PROMOTED",
			Says:  fmt.Sprintf("A lease was returned, so one is free, and %s, who is next, still waits. %s", m.Name, why),
			Steps: p.steps(locktest.Any(locktest.Doing("create", "delete"), locktest.Both(locktest.By(m.Name), leaseSteps)))}
	}
}

// done requires that nothing is left.
func (p pool) done() {
	p.t.Helper()
	for _, name := range p.in("leases") {
		if isALease(name) {
			p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
				Says:  fmt.Sprintf("All have returned their leases, and %s is still there: one of %d leases is lost.", name, permits),
				Steps: p.steps(changes)})
		}
	}
}

// first picks the first wake-up of each of the named clients.
func first(who ...string) locktest.Pick {
	woken := map[string]bool{}
	pick := locktest.Both(locktest.By(who...), locktest.Doing("woken"))
	return func(s locktest.Seen) bool {
		if !pick(s) || woken[s.Who] {
			return false
		}
		woken[s.Who] = true
		return true
	}
}

// isALease is the test's own rule, whatever lock.go says.
func isALease(name string) bool { return len(name) > 10 && strings.Contains(name, "lease-0") }

// Two leases, four clients. Whichever lease is returned, the next one gets it.
func TestTwoLeasesFourClients(t *testing.T) {
	p := newPool(t)
	a, b := p.ask("A"), p.ask("B")
	stuck := func(m *locktest.Member) func() locktest.Diagnosis {
		return func() locktest.Diagnosis {
			out := 0
			for _, name := range p.in("leases") {
				if isALease(name) {
					out++
				}
			}
			return locktest.Diagnosis{Code: "NEVER-PROMOTED",
				Says:  fmt.Sprintf("%d of %d leases are out, %s's own included, and %s waits. Its own lease is one of those that may be out.", out, permits, m.Name, m.Name),
				Steps: p.steps(locktest.Any(changes, locktest.Both(locktest.By(m.Name), leaseSteps)))}
		}
	}
	p.mustGet(a, stuck(a))
	p.mustGet(b, stuck(b))
	c := p.ask("C")
	p.mustWait(c, "Count the leases, and go in only when yours is one of them.")
	d := p.ask("D")
	p.mustWait(d, "Count the leases, and go in only when yours is one of them.")
	if !p.Silent(c.Client) {
		steps := p.steps(locktest.By("C"))
		p.Fail(locktest.Diagnosis{Code: "POLLING",
			Says:  "C waits with a watch set and nothing has changed, yet it asks again after a while. A hundred that wait so ask a hundred times a round; the server speaks up by itself.",
			Steps: append(steps[:min(len(steps), 3)], locktest.Step{Who: "C", Text: "… and so on"})})
	}
	herd := c.WouldWake(a.Lock.(*worker).lease(0)) && d.WouldWake(a.Lock.(*worker).lease(0))

	start := time.Now()
	p.giveBack(a)
	p.mustGet(c, p.neverPromoted(c))
	if herd {
		p.Fail(locktest.Diagnosis{Code: "HERD",
			Says: "A returned one lease, and C and D were both woken. Only one can get it. " +
				"Behind the door only one client looks at the list; the others wait at the door, each for the one in front.",
			Steps: p.Steps(start, locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("delete")), first("C", "D")))})
	}
	p.Until(func() bool { return d.Ended() || d.Polls() || p.atTheLeases(d) })
	p.mustWait(d, "One lease was returned, and two clients took it.")
	p.giveBack(c)
	p.mustGet(d, p.neverPromoted(d))
	if _, err := p.Observer().Set(b.Lock.(*worker).lease(0), []byte("a note"), -1); err != nil { // another version
		t.Fatal(err)
	}
	p.giveBack(b)
	p.giveBack(d)
	p.done()
}

// atTheLeases reports whether a client watches the list of leases, or one of them.
func (p pool) atTheLeases(m *locktest.Member) bool {
	return slices.ContainsFunc(m.Armed(), func(w locktest.Watch) bool { return strings.HasPrefix(w.Node, p.Path()+"/leases") })
}

// A lease comes back after C has looked, and before it watches: if there is such a gap.
func TestNoGapBetweenLookAndWatch(t *testing.T) {
	p := newPool(t)
	a, b := p.ask("A"), p.ask("B")
	p.mustGet(a, p.neverPromoted(a))
	p.mustGet(b, p.neverPromoted(b))
	c := p.Member("C")
	c.Delay(slow)
	start := time.Now()
	p.Start(c, c.Lock.Acquire)
	looked := func() bool {
		for _, s := range p.Since(start) {
			if s.Who == "C" && s.Node == p.Path()+"/leases" && s.Type == journal.Reply {
				return true
			}
		}
		return false
	}
	p.Until(func() bool { return c.Ended() || looked() })
	gap := len(c.Armed()) == 0 || c.Armed()[0].Node != p.Path()+"/leases"
	c.Hold() // until the lease is back
	p.giveBack(a)
	c.Heal()
	p.settle(c)
	p.mustGet(c, func() locktest.Diagnosis {
		if !gap {
			return p.neverPromoted(c)()
		}
		return locktest.Diagnosis{Code: "NEVER-PROMOTED",
			Says:  "C looked at the list without a watch, then A's lease came back, then C set a watch. It waits for a change that it has missed: to look and to watch must be one request.",
			Steps: p.steps(locktest.Any(locktest.Both(locktest.By("A"), locktest.Doing("delete")), locktest.Both(locktest.By("C"), leaseSteps)))}
	})
	p.giveBack(b)
	p.giveBack(c)
	p.done()
}

// slow is how long a slow network holds everything up, in each direction.
const slow = 80 * time.Millisecond

// A client cannot list the leases: its connection breaks.
func TestCannotLook(t *testing.T) {
	p := newPool(t)
	a := p.Member("A")
	a.FailWrite(wiretap.Match{Op: wiretap.OpGetChildren2, PathPrefix: p.Path() + "/leases"})
	p.Start(a, a.Lock.Acquire)
	p.Until(a.Ended)
	if lease := a.Node(); a.Ended() && a.Err() != nil && strings.Contains(lease, "/leases/") && p.exists(lease) {
		p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
			Says: "A's connection broke when it listed the leases, and Acquire returned the error. The session goes on, and so does A's lease, which nobody has.",
			Steps: append(p.steps(locktest.Both(locktest.By("A"), leaseSteps)),
				locktest.Step{Who: "A", Text: "Acquire returned an error", Effect: path.Base(lease) + " still there"})})
	}
}

// A lease's number has ten digits, and a sign is none.
func TestASignIsNoDigit(t *testing.T) {
	locktest.First(t)
	for _, name := range []string{"lease-+000000004", "lease--000000004"} {
		if isLease(name) {
			t.Errorf("isLease takes %q for a lease", name)
		}
	}
}

// Not every child is a lease, and not every lease is one of ours.
func TestForeignChildrenAndForeignLeases(t *testing.T) {
	p := newPool(t)
	p.foreign("config")
	p.foreign("notes-of-lease-7")
	java := p.Client("Java")
	theirs, err := java.Conn.Create(p.Path()+"/leases/_c_7f1c2a90-52f4-4c09-9c55-0d1f7e0f3b11-lease-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	a := p.ask("A")
	p.mustGet(a, func() locktest.Diagnosis {
		return locktest.Diagnosis{Code: "COUNTS-FOREIGN",
			Says: "One of two leases is out, and A waits. Its list has children that are no leases, " +
				"\"config\" and \"notes-of-lease-7\": somebody else's node must neither take a lease away nor give one.",
			Steps: p.steps(locktest.Any(changes, locktest.By("A")))}
	})
	b := p.ask("B")
	p.mustWait(b, "One of the two is a Java client's: its name is longer, and it counts like any other.")
	start := time.Now()
	p.foreign("notes")
	p.Until(func() bool { return b.Ended() || b.Did(start, "woken") })
	p.settle(b)
	p.mustWait(b, "B was woken because the list had changed, and went in. Being woken is a reason to count again.")
	if err := java.Conn.Delete(theirs, -1); err != nil {
		t.Fatal(err)
	}
	p.mustGet(b, p.neverPromoted(b))
	p.giveBack(a)
	p.giveBack(b)
	p.done()
}

// A client gives up while it waits. Its lease must not stay.
func TestGivingUp(t *testing.T) {
	p := newPool(t)
	a, b := p.ask("A"), p.ask("B")
	p.mustGet(a, p.neverPromoted(a))
	p.mustGet(b, p.neverPromoted(b))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := p.Member("C")
	p.Start(c, func(context.Context) error { return c.Lock.Acquire(ctx) })
	p.settle(c)
	p.mustWait(c, "Count the leases, and go in only when yours is one of them.")
	p.givesUpAtTheDoor()
	cancel()
	p.Until(c.Ended)
	steps := func() []locktest.Step {
		return append(p.steps(locktest.Both(locktest.By("C"), locktest.Doing("create", "children", "childrenW", "get", "getW", "delete"))), locktest.Step{Who: "C", Text: "its context ended"})
	}
	switch {
	case !c.Ended():
		p.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says:  "C's context has ended, and C still waits for a lease. Whoever calls Acquire wants to go home.",
			Steps: append(steps(), locktest.Step{Who: "C", Text: "still waiting"})})
	case c.Err() == nil:
		p.mustWait(c, "C's context ended while it waited: that is no success.")
	case !errors.Is(c.Err(), context.Canceled):
		p.Fail(locktest.Diagnosis{Code: "WRONG-ERROR",
			Says:  fmt.Sprintf("C gave up because its context ended, but Acquire says %q. The caller must find ctx.Err() in the error.", c.Err()),
			Steps: steps()})
	}
	if lease := c.Node(); strings.Contains(lease, "/leases/") && p.exists(lease) {
		p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
			Says: "C gave up, and its lease is still there. When it is C's turn, nobody is there to return it: " +
				"of two leases one is lost, until C's session ends, and C's process goes on.",
			Steps: append(steps(), locktest.Step{Who: "C", Text: "Acquire returned an error", Effect: path.Base(lease) + " still there"})})
	}
	p.doorIsFree(c)
	p.giveBack(a)
	d := p.ask("D")
	p.mustGet(d, p.neverPromoted(d))
	p.giveBack(b)
	p.giveBack(d)
	p.done()
}

// givesUpAtTheDoor lets a client wait behind the one in the door, and give up there.
func (p pool) givesUpAtTheDoor() {
	p.t.Helper()
	e := p.Member("E")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.Start(e, func(context.Context) error { return e.Lock.Acquire(ctx) })
	p.settle(e)
	p.mustWait(e, "Count the leases, and go in only when yours is one of them.")
	cancel()
	if p.Until(e.Ended); !e.Ended() {
		p.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says: "E waits at the door, behind C. Its context has ended, and it still waits: the door knows nothing of that context.",
			Steps: append(p.Steps(time.Time{}, locktest.Both(locktest.By("E"), leaseSteps)),
				locktest.Step{Who: "E", Text: "its context ended"}, locktest.Step{Who: "E", Text: "still waiting"})})
	}
	p.doorIsFree(e)
}

// A lease is returned by whoever has its path, and more than once does no harm.
func TestAnybodyMayReturn(t *testing.T) {
	p := newPool(t)
	a := p.ask("A")
	p.mustGet(a, p.neverPromoted(a))
	p.ask("A")
	p.mustGet(a, p.neverPromoted(a))
	w := a.Lock.(*worker)
	b := p.Member("B")
	call := b.Do("Return", func(context.Context) error { return b.Lock.(*worker).pool.Return(w.lease(0)) })
	p.Until(call.Ended)
	if p.exists(w.lease(0)) {
		said := "Return said nothing"
		if call.Err() != nil {
			said = fmt.Sprintf("Return said %q", call.Err())
		}
		p.Fail(locktest.Diagnosis{Code: "ONLY-THE-OWNER",
			Says: "A took a lease and gave it to B, as a connection goes from one goroutine to another. B returned it, and it is still there. " +
				"A lease has no owner but whoever has it.",
			Steps: append(p.steps(changes), locktest.Step{Who: "B", Text: said, Effect: path.Base(w.lease(0)) + " (A) still there"})})
	}
	p.MustReturn(b.Client, "Return", call)
	again := b.Do("Return", func(context.Context) error { return b.Lock.(*worker).pool.Return(w.lease(0)) })
	p.MustReturn(b.Client, "A second Return", again)
	last := b.Do("Return", func(context.Context) error { return b.Lock.(*worker).pool.Return(w.lease(1)) })
	p.MustReturn(b.Client, "Return", last)
	p.done()
}
