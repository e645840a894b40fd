package lock

import (
	"context"
	"errors"
	"testing"
	"time"
)

// maxPlaces is how many places a run is stopped at, at most.
const maxPlaces = 10

// A holder sleeps through the end of its session, wherever it is; the next one settles;
// the first one wakes up.
func TestOldHolderWakesUp(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n, a := newNight(t, 2).afterOldHolder(place)
		if a == nil {
			return
		}
		_, _ = a.wake() // what it says is for the test after next
		n.check()
	}
}

// afterOldHolder stops A at a place for longer than its session, and lets B settle. It
// returns no A when A ends before that place.
func (n *night) afterOldHolder(place int) (*night, *instance) {
	n.t.Helper()
	a, b := n.instance("A", 10*time.Second), n.instance("B", 10*time.Second)
	if !a.stopped(place) {
		a.must("runs")
		return n, nil
	}
	a.takeAway()
	b.run(0)
	b.must("runs")
	n.exactlyOnce("B ran to its end.")
	return n, a
}

// The next holder is stopped in its turn, and the old one wakes up in that gap.
func TestOldHolderWakesUpInBetween(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n := newNight(t, 2)
		a, b := n.instance("A", 10*time.Second), n.instance("B", 10*time.Second)
		if !a.stopped(1) {
			a.must("runs")
			return
		}
		a.takeAway()
		if !b.stopped(place) {
			b.must("runs")
			return
		}
		_, _ = a.wake() // both are right: it was in time, or it was not
		b.gate.Open()
		b.must("goes on")
		n.exactlyOnce("B ran to its end.")
	}
}

// An order comes in when the next one has settled, so that the old holder finds work.
func TestOldHolderFindsAnOrder(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n, a := newNight(t, 2).afterOldHolder(place)
		if a == nil {
			return
		}
		n.order()
		n.step("customer", "orders once more", "")
		_, err := a.wake()
		n.check()
		if errors.Is(err, ErrStale) || errors.Is(err, context.Canceled) {
			continue
		}
		if len(n.bookings()[n.orders]) > 0 {
			n.step("ledger", "the new order", "booked by A")
			n.fail("FENCE-TAKEN-BACK", "A has lost the lock long ago, and the database takes its booking: the fence is not higher than A's token. B had raised it, found nothing open, and did not commit. "+
				"So the database took the fence back with B's transaction.")
		}
		n.fail("SILENT-REFUSAL", "A has lost the lock, the new order is open, and Run of A does not say ErrStale, neither alone nor beside an error of the release: it reads as if A had done all there was to do.")
	}
}
