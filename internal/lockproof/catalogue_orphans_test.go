package lockproof_test

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

func (c *client) losesReply(op wiretap.Op) {
	c.relay.DropReply(wiretap.Match{Op: op, PathPrefix: c.a.path})
}

// The answer to a create is lost, and the caller gives up at that moment.
func TestCatalogue_08_createLostAndCancelled(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	c.losesReply(wiretap.OpCreate)
	ctx, cancel := context.WithCancel(within(t, patience))
	done := a.acquiring(ctx, c.mutex())
	waitFor(t, patience, "the create's reply is dropped", func() bool { return c.relay.Faults().Armed == 0 })
	cancel()
	r := a.await(done, time.Second, "an acquire returns when its context ends")
	if r.err == nil {
		a.releases(r.hold)
	}
	a.clean()
	a.releases(a.acquires(a.client("other").mutex()))
}

// The create's answer is lost, and the list's after it; then the list's alone.
func TestCatalogue_09_createAndListLost(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	c.losesReply(wiretap.OpCreate)
	c.losesReply(wiretap.OpGetChildren)
	done := a.acquiring(within(t, patience), c.mutex())
	if r := a.await(done, patience, "the acquire"); r.err == nil {
		a.sessionOwns(r.hold)
		a.releases(r.hold)
	}
	a.clean()
	c.relay.Heal()
	c.losesReply(wiretap.OpGetChildren)
	a.releases(a.acquires(c.mutex()))
	a.clean()
}

// A node that carries the own GUID but belongs to another session is not taken
// for the own. (On several servers it is the one of the own old session, which
// a follower still shows; here the test makes it.)
func TestCatalogue_10_dyingSessionsNodeIsNotAdopted(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	c.relay.Refuse(true) // nobody comes back before the nodes are exchanged
	c.losesReply(wiretap.OpCreate)
	done := a.acquiring(within(t, patience), c.mutex())
	waitFor(t, patience, "the create has reached the server", func() bool { return len(a.children()) == 1 })
	own := a.children()[0]
	a.remove(own)
	other := a.makes(own[:len(own)-10], zk.FlagEphemeral|zk.FlagSequence)
	c.relay.Refuse(false)
	a.notYet(done, "a node of another session stands before it")
	a.remove(other)
	h := a.granted(done)
	a.sessionOwns(h)
	a.releases(h)
	a.clean()
}

var curatorsName = regexp.MustCompile(`^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-\d{10}$`)

// However often the create is repeated, the name is prefixed once, and at most
// one node is there.
func TestCatalogue_11_retriesDoNotPileUpNames(t *testing.T) {
	a := bench(t)
	repeatedCreates(a, func(c *client) {
		for range 4 {
			c.losesReply(wiretap.OpCreate)
		}
	})
}

// repeatedCreates lets creates fail in the given way and watches the directory.
func repeatedCreates(a *arena, breaks func(c *client)) {
	a.t.Helper()
	c := a.client("c")
	breaks(c)
	done := a.acquiring(within(a.t, patience), c.mutex())
	var r result
	for over := false; !over; {
		nodes := a.children()
		if len(nodes) > 1 {
			a.t.Fatalf("one acquire has %d nodes: %v", len(nodes), nodes)
		}
		for _, n := range nodes {
			if !curatorsName.MatchString(n) {
				a.t.Fatalf("%q is not a name as Curator gives it", n)
			}
		}
		select {
		case r = <-done:
			over = true
		case <-time.After(2 * time.Millisecond):
		}
	}
	if r.err == nil {
		a.sessionOwns(r.hold)
		a.releases(r.hold)
	}
	a.clean()
}

// Acquires that are given up and begun anew at once, with the connection
// broken in between, leave no second node.
func TestCatalogue_12_resetRaceLeavesNoNode(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m := c.mutex()
	holder := a.acquires(a.client("holder").mutex())
	var all sync.WaitGroup
	for i := range 20 {
		ctx, cancel := context.WithTimeout(within(t, patience), time.Duration(i)*2*time.Millisecond)
		defer cancel()
		all.Go(func() {
			if h, err := m.Acquire(ctx); err == nil {
				t.Errorf("granted %s while another holds", h.Path())
			}
		})
		if i == 10 {
			c.relay.Cut()
		}
	}
	all.Wait()
	a.releases(holder)
	a.clean()
}

// A try that fails while the connection is lost does not stay in the queue.
func TestCatalogue_13_failedTryIsTakenOut(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").mutex())
	c := a.client("c")
	c.relay.FailWrite(wiretap.Match{Op: wiretap.OpDelete, PathPrefix: a.path})
	if h, err := c.mutex().TryAcquire(within(t, patience)); err == nil {
		t.Fatalf("granted %s while another holds", h.Path())
	}
	a.releases(holder)
	a.clean()
	a.releases(a.acquires(a.client("other").mutex()))
}

// An acquire that runs out of time leaves the queue.
func TestCatalogue_14_timeoutLeavesTheQueue(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").mutex())
	ctx, cancel := context.WithTimeout(context.Background(), moment)
	defer cancel()
	if _, err := a.client("c").mutex().Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the acquire ended with %v, want the context's error", err)
	}
	waitFor(t, patience, "only the holder's node is left", func() bool { return len(a.children()) == 1 })
	a.releases(holder)
	a.clean()
}

// A connection lost in the middle of an acquire keeps the place.
func TestCatalogue_15_suspensionKeepsThePlace(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").mutex())
	c := a.client("c")
	waiting, node := a.queued(within(t, patience), c.mutex())
	for range 3 {
		c.cut()
	}
	if n := len(a.children()); n != 2 {
		t.Errorf("%d nodes in the queue, want the holder's and the waiter's", n)
	}
	a.releases(holder)
	h := a.granted(waiting)
	if got := a.path + "/" + node; h.Path() != got {
		t.Errorf("granted %s, want the place %s", h.Path(), got)
	}
	a.releases(h)
	a.clean()
}

// The context of a finished request does not keep the lock from its release.
func TestCatalogue_16_releaseWithEndedContext(t *testing.T) {
	plays(t, mutexKind, 1, requestOver)
}

// Creates that fail before and after they reach the server make one node.
func TestCatalogue_17_oneNodeOfOneGUID(t *testing.T) {
	a := bench(t)
	repeatedCreates(a, func(c *client) {
		c.relay.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: a.path})
		c.losesReply(wiretap.OpCreate)
		c.relay.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: a.path})
		c.losesReply(wiretap.OpCreate)
	})
}
