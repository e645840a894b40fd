package scenario

import (
	"testing"
	"time"

	"zklab/internal/journal"
)

// A waiter's watch may be known by the wire before its node is known by the server's
// list. Until both are, whoever asks how many are in line is told too few.
func TestSettled_waitsForTheServersList(t *testing.T) {
	read := time.Now()
	s := journal.State{
		Contestants: []journal.ContestantState{
			{Who: "amber", Lock: "/lock", Belief: journal.Holds, Node: "/lock/lock-0000000000"},
			{Who: "basil", Lock: "/lock", Belief: journal.Waiting, Node: "/lock/lock-0000000001", Watches: []journal.Watched{{}}},
		},
		Locks: []journal.LockState{{Path: "/lock", Changed: read, Queue: []journal.Place{{Who: "amber", Holds: true}}}},
	}
	s.Counters.At = read.Add(time.Second)
	if f := settled(&Runner{}, s, "/lock", 2); f.ok {
		t.Errorf("settled, and the server's list has only the first of two: %s", f.is)
	}
	s.Locks[0].Queue = append(s.Locks[0].Queue, journal.Place{Who: "basil"})
	if f := settled(&Runner{}, s, "/lock", 2); !f.ok {
		t.Errorf("not settled, and everybody is listed: %s", f.is)
	}
	s.Locks[0].Queue = s.Locks[0].Queue[:1]
	s.Contestants[1].Recipe = "unfair"
	if f := settled(&Runner{}, s, "/lock", 2); !f.ok {
		t.Errorf("not settled, and a waiter for an unfair lock has no node: %s", f.is)
	}
}
