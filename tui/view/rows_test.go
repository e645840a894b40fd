package view

import (
	"testing"
	"time"

	"zklab/internal/journal"
)

// A contestant that has just got the lock is no stray: the server's reading comes a
// moment later. One whose node has gone, or is still not there after several readings,
// only thinks that it holds.
func TestStray_beliefAheadOfTheReading_isNone(t *testing.T) {
	granted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name string
		gone time.Time
		now  time.Time
		want bool
	}{
		{"just granted", time.Time{}, granted.Add(20 * time.Millisecond), false},
		{"granted again after a release", granted.Add(-time.Second), granted.Add(20 * time.Millisecond), false},
		{"no node for long", time.Time{}, granted.Add(unread), true},
		{"its node went", granted.Add(10 * time.Millisecond), granted.Add(20 * time.Millisecond), true},
	} {
		f := Frame{Now: c.now, Lock: "/l", State: journal.State{Contestants: []journal.ContestantState{{
			Who: "amber", Lock: "/l", Phase: journal.Running, Belief: journal.Holds, BeliefAt: granted, NodeGone: c.gone,
		}}}}
		if got := len(newTable(f).rows) == 1; got != c.want {
			t.Errorf("%s: shown %v, want %v", c.name, got, c.want)
		}
	}
}
