// Package lock is exercise 04: a check that one release wakes one client.
package lock

import (
	"errors"
	"fmt"
)

// Reading is one reading of the server's own counters. They only grow.
type Reading map[string]float64

// Two of the counters, by ZooKeeper's names.
const (
	// DeletedWatches counts watches that fired because the node they were on was
	// deleted.
	DeletedWatches = "zk_sum_node_deleted_watch_count"
	// ChildWatches counts watches that fired because a child of the node they were
	// on came or went.
	ChildWatches = "zk_sum_node_children_watch_count"
)

// ErrHerd is what AtMostOneWake returns when more than one client was woken.
var ErrHerd = errors.New("herd")

// AtMostOneWake takes two readings, one before and one after a release, and
// returns nil when the release woke at most one client. Otherwise it returns an
// error that wraps ErrHerd and says how many.
func AtMostOneWake(before, after Reading) error {
	// SOLUTION-BEGIN How many watches fired between the two readings? A lock may use
	// | watches of both kinds. If there were more than one, return ErrHerd with the
	// | number: fmt.Errorf("%w: %v clients were woken", ErrHerd, woken).
	woken := after[DeletedWatches] - before[DeletedWatches] + after[ChildWatches] - before[ChildWatches]
	if woken > 1 {
		return fmt.Errorf("%w: %v clients were woken", ErrHerd, woken)
	}
	return nil
	// SOLUTION-END
}
