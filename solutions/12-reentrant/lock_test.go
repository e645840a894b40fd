package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// as is a Mutex as one owner sees it.
type as struct {
	mutex *Mutex
	owner *Owner
}

func (l as) Acquire(ctx context.Context) error { return l.mutex.Acquire(WithOwner(ctx, l.owner)) }
func (l as) Release(ctx context.Context) error { return l.mutex.Release(WithOwner(ctx, l.owner)) }

func newLock(conn *zk.Conn, path string) locktest.Locker {
	return as{New(conn, path), NewOwner("settlement")}
}

// another is the same Mutex, in the same process, as another owner of the same name
// sees it.
func another(m *locktest.Member) as { return as{m.Lock.(as).mutex, NewOwner("settlement")} }

// inLine reports whether a node is there.
func inLine(q *locktest.Queue, node string) bool {
	return slices.Contains(q.Children(), path.Base(node))
}

// process is the test of one process A, with the steps of its owners.
type process struct {
	*locktest.Queue
	a     *locktest.Member
	steps []locktest.Step
}

func newProcess(t *testing.T) *process {
	q := locktest.NewQueue(t, newLock)
	return &process{Queue: q, a: q.Member("A")}
}

func (p *process) step(who, text, effect string) {
	p.steps = append(p.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

func (p *process) fail(code, says string) {
	p.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: p.steps})
}

const (
	first  = "A, first owner"
	second = "A, second owner"
	third  = "A, third owner"
)

// soon is how long something that should wait is given to do something else.
const soon = 400 * time.Millisecond

// hold has A's first owner acquire the lock, and B wait for it if so wanted.
func (p *process) hold(b bool) (node string) {
	p.Join("A")
	p.step(first, "acquires", path.Base(p.a.Node()))
	if b {
		p.Join("B")
		p.step("B", "waits", "")
	}
	return p.a.Node()
}

// An owner acquires three times, and releases three times.
func TestSameOwnerAgain(t *testing.T) {
	p := newProcess(t)
	node := p.hold(true)
	for _, which := range []string{"a second time", "a third time"} {
		call := p.a.Do("Acquire", p.a.Lock.Acquire)
		p.Until(func() bool { return call.Ended() || len(p.a.Creates()) > 1 })
		switch {
		case len(p.a.Creates()) > 1:
			p.step(first, "acquires "+which, "stands in line again, behind its own node")
			p.fail("DEADLOCKS-ITSELF", "A's owner holds the lock and acquires it again, and now A has a second node in line, behind its own first one. It waits for itself, and will not release before it gets what it waits for.")
		case !call.Ended():
			p.step(first, "acquires "+which, "still waiting")
			p.fail("DEADLOCKS-ITSELF", "A's owner holds the lock and acquires it again, and waits: for itself. It will not release before it gets what it waits for.")
		}
		p.CallFailed(p.a.Client, "Acquire", call)
		p.step(first, "acquires "+which, "goes on")
	}
	for _, left := range []string{"twice", "once"} {
		call := p.a.Do("Release", p.a.Lock.Release)
		p.MustReturn(p.a.Client, "Release", call)
		p.step(first, "releases", "")
		if !inLine(p.Queue, node) {
			p.step("B", "can enter", path.Base(node)+" is gone")
			p.fail("RELEASES-TOO-EARLY", fmt.Sprintf("A's owner has acquired the lock %s more than it has released it, and the node is gone already: B can enter while A still works under the outer acquire.", left))
		}
	}
	p.MustWait("B")
	p.Release("A")
	p.MustHold("B")
	p.Release("B")
	p.Done()
}

// Two owners of one process, on one session.
func TestAnotherOwnerOfTheProcess(t *testing.T) {
	p := newProcess(t)
	node := p.hold(false)
	other := another(p.a)
	call := p.a.Do("Acquire", other.Acquire)
	p.waitsOrElse(second, call, "The two are different goroutines with work of their own, that is what they have the lock for. That they share a process and a session does not make them one.")
	p.step(first, "releases", "")
	release := p.a.Do("Release", p.a.Lock.Release)
	p.MustReturn(p.a.Client, "Release", release)
	if inLine(p.Queue, node) {
		p.step("server", path.Base(node)+" is still there", "")
		p.fail("WRONG-NODE", "The first owner has released, and its node is still in line. While it held, the second owner's attempt has overwritten what the Mutex knew about the node. One process has one node in line at a time: the others wait for their turn before they create theirs.")
	}
	if !p.Until(call.Ended) && !call.Ended() {
		p.step(second, "still waiting", "")
		p.fail("STUCK", "The first owner has released the lock, and the second owner of the same process waits on: nobody has given it the turn.")
	}
	p.CallFailed(p.a.Client, "Acquire", call)

	p.step(second, "goes on", "")

	other3 := as{other.mutex, NewOwner("third")}
	ctx, cancel := context.WithCancel(context.Background())
	impatient := p.a.Do("Acquire", func(context.Context) error { return other3.Acquire(ctx) })
	p.waitsOrElse(third, impatient, "")
	cancel()
	p.Until(impatient.Ended)
	switch {
	case !impatient.Ended():
		p.step(third, "its context ends", "still waiting")
		p.fail("IGNORES-CONTEXT", "An owner waits for another one of the same process, its context has ended, and it still waits. A sync.Mutex cannot be given up; a channel in a select can.")
	case !errors.Is(impatient.Err(), context.Canceled):
		p.fail("WRONG-ERROR", fmt.Sprintf("An owner gave up because its context ended, but Acquire says %q. The caller must find ctx.Err() in the error.", impatient.Err()))
	}
	p.MustReturn(p.a.Client, "Release", p.a.Do("Release", other.Release))
	p.Done()
}

// waitsOrElse requires that another owner's acquire waits.
func (p *process) waitsOrElse(who string, call *locktest.Call, why string) {
	p.Patient(soon)
	p.Until(call.Ended)
	p.Patient(locktest.Quiet)
	if !call.Ended() {
		p.step(who, "acquires", "waits")
		return
	}
	p.CallFailed(p.a.Client, "Acquire", call)
	p.step(who, "acquires", "goes on as well")
	named := p.a.Do("Acquire", as{p.a.Lock.(as).mutex, NewOwner("another name")}.Acquire)
	p.Patient(soon)
	if p.Until(named.Ended); !named.Ended() {
		p.fail("SAME-NAME", "Two owners hold the lock at the same moment, because they have the same name. A name is for people: two instances of a job may well be called the same. An owner is what NewOwner returns, and nothing else is equal to it.")
	}
	p.fail("SAME-SESSION", "Two owners of one process hold the lock at the same moment. "+why)
}

// Somebody releases who does not hold.
func TestReleaseByAnotherOwner(t *testing.T) {
	p := newProcess(t)
	node := p.hold(true)
	p.mustRefuse(second, another(p.a), node, "ANY-OWNER", "Another owner released the lock that the first owner holds. ")
	p.Release("A")
	p.step(first, "releases", "")
	p.MustHold("B")
	p.mustRefuse(first, p.a.Lock, p.Member("B").Node(), "RELEASES-TOO-OFTEN", "An owner has released more often than it has acquired. ")
	p.Release("B")
	p.Join("A")
	p.MustHold("A")
	p.Release("A")
	p.Done()
}

// mustRefuse requires that a release is refused, and that the node of whoever holds
// stays.
func (p *process) mustRefuse(who string, lock locktest.Locker, node, code, says string) {
	call := p.a.Do("Release", lock.Release)
	p.Until(call.Ended)
	switch err := call.Err(); {
	case !call.Ended():
		p.step(who, "releases", "does not return")
		p.fail(code, says+"The call does not return. It must be refused with ErrNotOwner.")
	case errors.Is(err, ErrNotOwner) && inLine(p.Queue, node):
		p.step(who, "releases", "ErrNotOwner")
		p.mustUnlock("Release has returned ErrNotOwner, and m.mu is still locked. The next call waits for it for ever.")
	case !inLine(p.Queue, node):
		p.step(who, "releases", path.Base(node)+" is gone")
		p.fail(code, says+"The node is gone: others can enter while the owner still works. It must be refused with ErrNotOwner.")
	case err == nil:
		p.step(who, "releases", "no error")
		p.fail(code, says+"Release says that all is well. It must be refused with ErrNotOwner.")
	default:
		if locktest.IsTODO(err) || strings.HasPrefix(err.Error(), "panic: ") {
			p.CallFailed(p.a.Client, "Release", call)
		}
		p.step(who, "releases", "error: "+err.Error())
		p.fail("WRONG-ERROR", fmt.Sprintf("%sIt was refused, which is right, but Release says %q. The caller must find ErrNotOwner in the error.", says, err))
	}
}

// An acquire that fails is not counted.
func TestFailedAcquire(t *testing.T) {
	p := newProcess(t)
	p.hold(false)
	b := p.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	attempt := b.Do("Acquire", func(context.Context) error { return b.Lock.Acquire(ctx) })
	p.Until(func() bool { return attempt.Ended() || len(b.Armed()) > 0 })
	cancel()
	p.Until(attempt.Ended)
	if attempt.Err() == nil {
		p.fail("IGNORES-CONTEXT", "B's context has ended while it waited for the lock, and Acquire does not return an error.")
	}
	p.step("B", "acquires, and gives up", "")
	q := p.Start(b, b.Lock.Acquire)
	p.Until(func() bool { return q.Ended() || len(b.Creates()) > 1 })
	if q.Ended() && q.Err() == nil {
		p.step("B", "acquires again", "goes on at once")
		p.fail("COUNTS-FAILURES", "B had given up, and now its second attempt succeeds at once although A holds the lock: B's first attempt was counted, as if it had got the lock. Count when you have it, not before.")
	}
	if !q.Ended() && len(b.Creates()) < 2 {
		p.step("B", "acquires again", "waits, but is not in line")
		p.fail("STUCK", "B had given up, and its second attempt does not even stand in line: it waits for the turn within its own process, which the first attempt has kept.")
	}
	p.Release("A")
	p.MustHold("B")
	p.Release("B")
	p.Done()
}

// mustUnlock locks m.mu of A, for a moment, and requires that it can.
func (p *process) mustUnlock(says string) {
	mu := &p.a.Lock.(as).mutex.mu
	if !mu.TryLock() {
		p.fail(locktest.CodeNeverReturns, says)
	}
	mu.Unlock()
}

// releasesInVain has A's first owner release the lock while the server cannot be reached.
func (p *process) releasesInVain() (release *locktest.Call) {
	node := p.hold(false)
	p.a.Refuse(true)
	p.a.FailWrite(wiretap.Match{Op: wiretap.OpDelete, PathPrefix: p.Path()})
	start := time.Now()
	release = p.a.Do("Release", p.a.Lock.Release)
	p.Until(func() bool { return p.a.Did(start, "delete") || release.Ended() })
	p.step(first, "releases; its connection breaks", path.Base(node)+" is still there")
	return release
}

// The node takes a while to go. The turn is given back after that.
func TestTheTurnComesLast(t *testing.T) {
	p := newProcess(t)
	release := p.releasesInVain()
	m := p.a.Lock.(as).mutex
	if !release.Ended() && len(m.turn) == 0 {
		p.step(first, "has given the turn back", "")
		p.fail("TURN-TOO-EARLY", "The first owner has given the turn back, and its node is not gone yet. Whoever takes the turn now creates a node and overwrites m.node, while Release still deletes what m.node says: the one that must go stays, or the wrong one goes.")
	}
	if !p.Until(m.mu.TryLock) {
		p.fail("IGNORES-CONTEXT", "Release waits for the server, and has m.mu locked all the while. Whoever comes in that time stands at m.mu: its context may end, and it waits.")
	}
	p.a.Refuse(false)
	p.Until(func() bool { return release.Ended() || len(m.turn) == 0 }) // whatever Release still wants of m.mu comes too late
	late := len(m.turn) == 0 && m.owner != nil
	m.mu.Unlock()
	if late {
		p.step(first, "has given the turn back", "m.owner still says that it holds")
		p.fail("FORGETS-TOO-LATE", "The first owner has given the turn back, and only then it forgets who holds. The next owner may have the lock by then: it is the next one that is forgotten, and cannot release any more.")
	}
	p.MustReturn(p.a.Client, "Release", release)
	p.Done()
}

// The node cannot be deleted in time. The turn is given back all the same.
func TestTheTurnComesBackAfterAnError(t *testing.T) {
	p := newProcess(t)
	release := p.releasesInVain()
	release.Cancel()
	p.Until(release.Ended)
	if release.Ended() && len(p.a.Lock.(as).mutex.turn) > 0 {
		p.step(first, "its context ends", "an error")
		p.fail("STUCK", "Release could not reach the server and has returned an error. The node goes when the session ends, but the turn is taken for good: no owner of this process gets the lock ever again.")
	}
	p.a.Refuse(false) // back in the same session, where the node still is
	p.Join("A")
	p.MustHold("A")
	p.Release("A")
	p.Done()
}

// A context without an owner does not say who it is.
func TestWithoutAnOwner(t *testing.T) {
	p := newProcess(t)
	mutex := p.a.Lock.(as).mutex
	p.mustSayNoOwner("Acquire", mutex.Acquire)
	p.hold(false)
	p.mustSayNoOwner("Release", mutex.Release)
	p.Release("A")
	p.Done()
}

func (p *process) mustSayNoOwner(what string, f func(context.Context) error) {
	call := p.a.Do(what, f)
	p.Until(call.Ended)
	err := call.Err()
	if errors.Is(err, ErrNoOwner) {
		p.step("A, nobody", what, "ErrNoOwner")
		return
	}
	said := "no error"
	switch {
	case !call.Ended():
		said = "does not return"
	case err != nil:
		said = fmt.Sprintf("%q", err)
	}
	p.step("A, nobody", what, said)
	p.fail("NO-OWNER", fmt.Sprintf("%s was called with a context that carries no owner. Nobody can tell then whose acquire a release belongs to, so it must be refused with ErrNoOwner: whoever has forgotten WithOwner learns of it at once.", what))
}
