package lab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// TestLab_3servers_20contestants_killLeader_noOverlapNoLostPlace kills the leader
// again and again while 20 contestants pass a lock on. It tells how long it takes
// until the next one gets it.
func TestLab_3servers_20contestants_killLeader_noOverlapNoLostPlace(t *testing.T) {
	rounds := 2
	if os.Getenv("ZKLAB_LONG") != "" {
		rounds = 20
	}
	e := zktest.Start(t, zkserver.Options{Size: 3})
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Session: 10 * time.Second})
	must(t, err)
	t.Cleanup(func() { closeEmpty(t, l) })
	y := newTally(t, l)
	defer y.sub.Close()
	names, err := l.Start(t.Context(), Group{Count: 20, Recipe: "mutex", Hold: 20 * time.Millisecond, Rounds: -1, InOneProcess: true})
	must(t, err)
	for _, who := range names {
		must(t, l.Join(t.Context(), who))
	}
	y.await(2*len(names), time.Time{})
	var took []time.Duration
	for range rounds {
		leader, err := e.Leader(t.Context())
		must(t, err)
		killed := time.Now()
		must(t, leader.Kill())
		y.await(len(names), killed)
		took = append(took, y.outage(killed))
		must(t, leader.Restart(t.Context()))
	}
	slices.Sort(took)
	t.Logf("%s: leader killed %d times, %d grants; until the next grant: min %v, median %v, max %v",
		e.Backend(), rounds, len(y.grants), took[0], took[len(took)/2], took[len(took)-1])
	if n := len(took); n > 2 {
		t.Log("all of them: ", took)
	}
	y.check()
}

// tally reads the journal as it grows and counts what must not happen.
type tally struct {
	t   *testing.T
	sub *journal.Subscription

	believing map[string]bool
	deleting  map[string]string // the last node that each asked to delete
	granted   map[int64]bool    // by token
	grants    []time.Time
	largest   int64          // token
	places    []journal.Node // the queue as last read
	wrong     []string
}

func newTally(t *testing.T, l *Lab) *tally {
	return &tally{t: t, sub: l.j.Subscribe(0), believing: map[string]bool{}, deleting: map[string]string{}, granted: map[int64]bool{}}
}

// await reads on until n grants came after the moment.
func (y *tally) await(n int, after time.Time) {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), time.Minute)
	defer cancel()
	since := func() int {
		i := slices.IndexFunc(y.grants, after.Before)
		if i < 0 {
			return 0
		}
		return len(y.grants) - i
	}
	for since() < n {
		events, missed, err := y.sub.Next(ctx)
		if err != nil || missed > 0 {
			y.t.Fatalf("%d of %d grants, %d events missed: %v; wrong: %q", since(), n, missed, err, y.wrong)
		}
		for i := range events {
			y.take(&events[i])
		}
	}
}

func (y *tally) take(e *journal.Event) {
	switch {
	case e.Type == journal.Queue:
		// Who is out of line must have held.
		for _, p := range y.places {
			if !slices.Contains(e.Nodes, p) && !y.granted[p.Czxid] {
				y.wrong = append(y.wrong, fmt.Sprintf("%s lost its place with token 0x%x", p.Name, p.Czxid))
			}
		}
		y.places = e.Nodes
	case e.Type == journal.SessionEnded:
		y.wrong = append(y.wrong, fmt.Sprintf("the session of %s %s", e.Who, e.Op))
	case e.Type == journal.Request && e.Op == "delete":
		delete(y.believing, e.Who) // it gives the lock up; word of it comes later
		y.deleting[e.Who] = e.Node
	case e.Type == journal.Belief && e.Belief == journal.Holds:
		y.holds(e)
	case e.Type == journal.Belief:
		delete(y.believing, e.Who)
	}
}

func (y *tally) holds(e *journal.Event) {
	for other := range y.believing {
		if other != e.Who && y.believing[other] {
			y.wrong = append(y.wrong, fmt.Sprintf("%s holds with token 0x%x, and so does %s", e.Who, e.Token, other))
		}
	}
	// On a busy machine word of a short hold comes when its end has passed the relay.
	y.believing[e.Who] = y.deleting[e.Who] != e.Node
	if y.granted[e.Token] {
		return // the same hold, after a doubt
	}
	if e.Token <= y.largest {
		y.wrong = append(y.wrong, fmt.Sprintf("%s was granted token 0x%x after 0x%x", e.Who, e.Token, y.largest))
	}
	y.largest, y.granted[e.Token] = max(y.largest, e.Token), true
	y.grants = append(y.grants, e.At)
}

// outage is the time from the kill to the end of the longest pause between grants
// from then on: the grant at the pause's end is the first that the new leader took
// part in. One whose answer was under way may have come before.
func (y *tally) outage(killed time.Time) time.Duration {
	i := slices.IndexFunc(y.grants, killed.Before)
	pause, end := time.Duration(0), y.grants[i]
	for ; i < len(y.grants); i++ {
		before := killed
		if i > 0 {
			before = y.grants[i-1]
		}
		if d := y.grants[i].Sub(before); d > pause {
			pause, end = d, y.grants[i]
		}
	}
	return end.Sub(killed).Round(time.Millisecond)
}

func (y *tally) check() {
	y.t.Helper()
	for i, w := range y.wrong {
		if i == 10 {
			y.t.Errorf("and %d more", len(y.wrong)-i)
			break
		}
		y.t.Error(w)
	}
}
