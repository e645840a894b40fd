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

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// Two leases, four clients. Whichever lease is returned, the next one gets it.
func TestTwoLeasesFourClients(t *testing.T) {
	p := newPool(t)
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
	a := p.ask("A")
	p.mustGet(a, stuck(a))
	b := p.ask("B")
	p.mustGet(b, stuck(b))
	c := p.ask("C")
	p.mustWait(c, "Count the leases, and go in only when yours is one of them.")
	d := p.ask("D")
	p.mustWait(d, "Count the leases, and go in only when yours is one of them.")
	silent := p.Silent(c.Client)
	if !silent {
		c.Calm(c.Ended)
	}
	if err := c.Err(); c.Ended() && (locktest.OwnError(err) || errors.Is(err, context.DeadlineExceeded)) {
		p.Fail(locktest.Diagnosis{Code: "OWN-DEADLINE",
			Says: fmt.Sprintf("Nobody has set C a limit, its context goes on, all leases are still out, and C has given up: %q. How long to wait is for the caller to say, and ctx is where it says so.", err),
			Steps: append(p.steps(locktest.Both(locktest.By("C"), leaseSteps)),
				locktest.Step{Who: "C", Text: "Acquire returned an error", Effect: "its context goes on"})})
	}
	if !silent {
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
