// Package lock is exercise 17: tests that catch flawed locks. The locks are those of
// internal/flawed, one a file; read them. A test gets a bench with one of them, and
// returns an error when that lock is wrong, nil when all is well.
package lock

import (
	"fmt"
	"slices"

	"zklab/internal/flawed"
)

// mustHold returns an error unless exactly these clients hold the lock.
func mustHold(b *flawed.Bench, names ...string) error {
	if got := b.Holders(); !slices.Equal(got, names) {
		return fmt.Errorf("%v hold the lock, it should be %v", got, names)
	}
	return nil
}

// HolderDies is written already, as an example. It catches OutlivesItsHolder.
func HolderDies(b *flawed.Bench) error {
	b.Ask("A", "B") // A holds, B waits
	b.Kill("A")
	return mustHold(b, "B")
}

// MiddleDies catches WokenIsOwner.
func MiddleDies(b *flawed.Bench) error {
	// SOLUTION-BEGIN Three clients in line. Which of them must die, so that another one is
	// | woken although it is not its turn? Say who must hold the lock then, with mustHold.
	b.Ask("A", "B", "C")
	b.Kill("B")
	return mustHold(b, "A")
	// SOLUTION-END
}

// OneWake catches WakesEverybody.
func OneWake(b *flawed.Bench) error {
	// SOLUTION-BEGIN Let several clients wait, and the holder release (b.Release). b.Woken()
	// | lists the names of those who were woken by that.
	b.Ask("A", "B", "C", "D")
	b.Release("A")
	if woken := b.Woken(); len(woken) > 1 {
		return fmt.Errorf("one release woke %v", woken)
	}
	return nil
	// SOLUTION-END
}

// OrderOfArrival catches SortsWholeNames.
func OrderOfArrival(b *flawed.Bench) error {
	// SOLUTION-BEGIN The names of the clients are yours to choose. In which order must
	// | they come, so that sorting the names and sorting the numbers differ?
	b.Ask("B", "A")
	return mustHold(b, "B")
	// SOLUTION-END
}

// GivesUp catches ForgetsItsNode and TimeoutIsSuccess.
func GivesUp(b *flawed.Bench) error {
	// SOLUTION-BEGIN One holds and one waits. The one who waits gives up (b.GiveUp). Two
	// | things must be true then. Who holds the lock? And if one more comes and the holder
	// | releases, does that one get it?
	b.Ask("A", "B")
	b.GiveUp("B")
	if err := mustHold(b, "A"); err != nil {
		return err
	}
	b.Ask("C")
	b.Release("A")
	return mustHold(b, "C")
	// SOLUTION-END
}

// GoneBeforeTheWatch catches SleepsOnMissing.
func GoneBeforeTheWatch(b *flawed.Bench) error {
	// SOLUTION-BEGIN b.StopBefore("B", flawed.Watch) stops B after its list and before it
	// | sets its watch, until b.Continue("B"). What must happen in that gap?
	b.Ask("A")
	b.StopBefore("B", flawed.Watch)
	b.Ask("B")
	b.Release("A")
	b.Continue("B")
	return mustHold(b, "B")
	// SOLUTION-END
}

// ReplyLost catches RetriesBlindly.
func ReplyLost(b *flawed.Bench) error {
	// SOLUTION-BEGIN b.LoseReply("A", flawed.Create) loses the reply to A's next create.
	// | Nobody else is there: who must hold the lock then?
	b.LoseReply("A", flawed.Create)
	b.Ask("A")
	return mustHold(b, "A")
	// SOLUTION-END
}

// NodeDeleted catches EntersWithoutItsNode.
func NodeDeleted(b *flawed.Bench) error {
	// SOLUTION-BEGIN Somebody deletes the node of one who waits (b.DeleteNode). Let one
	// | more client come, and the holder release: only one may hold the lock then.
	b.Ask("A", "B")
	b.DeleteNode("B")
	b.Ask("C")
	b.Release("A")
	return mustHold(b, "C")
	// SOLUTION-END
}

// LateRelease catches ReleasesWhoever.
func LateRelease(b *flawed.Bench) error {
	// SOLUTION-BEGIN A holder sleeps, and its session ends (b.EndSession). The next one
	// | gets the lock, and one more comes. Then the sleeper wakes up and releases what it
	// | has no more. Releasing is no fault of it; a lock must stand it.
	b.Ask("A", "B")
	b.EndSession("A")
	b.Ask("C")
	b.Release("A")
	return mustHold(b, "B")
	// SOLUTION-END
}
