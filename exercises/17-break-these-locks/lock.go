// Package lock is exercise 17: tests that catch flawed locks. The locks are those of
// internal/flawed, one a file; read them. A test gets a bench with one of them, and
// returns an error when that lock is wrong, nil when all is well.
package lock

import (
	"errors"
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
	// TODO: Three clients in line. Which of them must die, so that another one is
	// woken although it is not its turn? Say who must hold the lock then, with
	// mustHold.
	return errTODO
}

// OneWake catches WakesEverybody.
func OneWake(b *flawed.Bench) error {
	// TODO: Let several clients wait, and the holder release (b.Release).
	// b.Woken() lists the names of those who were woken by that.
	return errTODO
}

// OrderOfArrival catches SortsWholeNames.
func OrderOfArrival(b *flawed.Bench) error {
	// TODO: The names of the clients are yours to choose. In which order must
	// they come, so that sorting the names and sorting the numbers differ?
	return errTODO
}

// GivesUp catches ForgetsItsNode and TimeoutIsSuccess.
func GivesUp(b *flawed.Bench) error {
	// TODO: One holds and one waits. The one who waits gives up (b.GiveUp). Two
	// things must be true then. Who holds the lock? And if one more comes and the
	// holder releases, does that one get it?
	return errTODO
}

// GoneBeforeTheWatch catches SleepsOnMissing.
func GoneBeforeTheWatch(b *flawed.Bench) error {
	// TODO: b.StopBefore("B", flawed.Watch) stops B after its list and before it
	// sets its watch, until b.Continue("B"). What must happen in that gap?
	return errTODO
}

// ReplyLost catches RetriesBlindly.
func ReplyLost(b *flawed.Bench) error {
	// TODO: b.LoseReply("A", flawed.Create) loses the reply to A's next create.
	// Nobody else is there: who must hold the lock then?
	return errTODO
}

// NodeDeleted catches EntersWithoutItsNode.
func NodeDeleted(b *flawed.Bench) error {
	// TODO: Somebody deletes the node of one who waits (b.DeleteNode). Let one
	// more client come, and the holder release: only one may hold the lock then.
	return errTODO
}

// LateRelease catches ReleasesWhoever.
func LateRelease(b *flawed.Bench) error {
	// TODO: A holder sleeps, and its session ends (b.EndSession). The next one
	// gets the lock, and one more comes. Then the sleeper wakes up and releases
	// what it has no more. Releasing is no fault of it; a lock must stand it.
	return errTODO
}

// errTODO is what this exercise returns until you have written it. These lines
// also keep the imports in use; leave them here.
var errTODO = errors.New("TODO: write this exercise")
