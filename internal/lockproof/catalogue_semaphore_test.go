package lockproof_test

import (
	"errors"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/wiretap"
)

// allPermits requires that all leases can be had at once: none has leaked.
func (c *client) allPermits(n int) {
	c.a.t.Helper()
	h, err := c.semaphore(n).AcquireN(within(c.a.t, patience), n)
	if err != nil {
		c.a.t.Fatalf("not all %d leases can be had: %v", n, err)
	}
	c.a.releases(h)
	c.a.clean()
}

// Whatever is lost while a lease is taken, the semaphore does not shrink.
func TestCatalogue_40_noLeaseIsLost(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	s := c.semaphore(2)
	for _, lost := range []wiretap.Match{
		{Op: wiretap.OpCreate, PathPrefix: a.path + "/leases/_c_"},
		{Op: wiretap.OpCreate, PathPrefix: a.path + "/locks/_c_"},
		{Op: wiretap.OpGetChildren, PathPrefix: a.path + "/leases"},
		{Op: wiretap.OpGetChildren, PathPrefix: a.path + "/locks"},
		{Op: wiretap.OpDelete, PathPrefix: a.path + "/locks"},
	} {
		c.relay.DropReply(lost)
		h, err := s.Acquire(within(t, patience))
		if err != nil {
			t.Errorf("%v %s lost: %v", lost.Op, lost.PathPrefix, err)
			continue
		}
		waitFor(t, patience, lost.Op.String()+" of "+lost.PathPrefix+" is lost", func() bool { return c.relay.Faults().Armed == 0 })
		c.relay.Heal()
		if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
			t.Error(err)
		}
	}
	a.client("other").allPermits(2)
}

// After the session of a lease's holder has ended, its permit is free.
func TestCatalogue_41_permitOfALostSessionIsFree(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	h := a.acquires(c.semaphore(1))
	waiting, _ := a.queuedBehind(a.client("other").semaphore(1))
	c.expire()
	a.releases(a.granted(waiting))
	if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
		t.Error(err)
	}
	c.allPermits(1)
}

// A try does not wait behind somebody who waits for a lease, and leaves
// nothing that others wait for.
func TestCatalogue_42_tryDoesNotWait(t *testing.T) {
	a := bench(t)
	holder := a.acquires(a.client("holder").semaphore(1))
	waiting, _ := a.queuedBehind(a.client("waiter").semaphore(1))
	start := time.Now()
	if h, err := a.client("try").semaphore(1).TryAcquire(within(t, patience)); !errors.Is(err, curatorlike.ErrBusy) {
		t.Errorf("TryAcquire = %v, %v; want ErrBusy", h, err)
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("a try took %v", took)
	}
	a.releases(holder)
	a.releases(a.granted(waiting))
	a.clean()
}
