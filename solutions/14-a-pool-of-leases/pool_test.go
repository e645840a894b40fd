package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
)

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
