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
	t.Parallel() // the servers are its own
	rounds := 2
	if os.Getenv("ZKLAB_LONG") != "" {
		rounds = 20
	}
	// Sessions outlast the wait for the next grant, which was seen to take 9.6 s with
	// sessions of 10 s and 22 s with these: a session that ends loses its place, and
	// rightly. The client library notices a connection on which nothing comes back by
	// its ping after a third of the session, or by its read limit after two thirds;
	// whether that is what took so long is not known.
	const session = 30 * time.Second
	e := zktest.Start(t, zkserver.Options{Size: 3, MaxSession: session})
	l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Session: session})
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

// tally reads the journal as it grows and counts what must not happen. Observers
// write side by side, so on a busy machine a fact may come after a later one: what
// is compared is when each was observed.
type tally struct {
	t   *testing.T
	sub *journal.Subscription

	holds   []hold
	open    map[string]int       // who's hold that has no end yet
	deleted map[string]time.Time // when the delete of a node was sent
	granted map[int64]bool       // by token
	grants  []time.Time
	largest int64          // token
	places  []journal.Node // the queue as last read
	gone    []journal.Node // places that were left
	wrong   []string
}

// hold is a stretch of time in which somebody believes to hold.
type hold struct {
	who, node string
	from, to  time.Time // to is zero while it lasts
}

func newTally(t *testing.T, l *Lab) *tally {
	return &tally{t: t, sub: l.j.Subscribe(0), open: map[string]int{}, deleted: map[string]time.Time{}, granted: map[int64]bool{}}
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
		for _, p := range y.places {
			if !slices.Contains(e.Nodes, p) {
				y.gone = append(y.gone, p)
			}
		}
		y.places = e.Nodes
	case e.Type == journal.SessionEnded:
		y.wrong = append(y.wrong, fmt.Sprintf("the session of %s %s", e.Who, e.Op))
	case e.Type == journal.Request && e.Op == "delete":
		if _, again := y.deleted[e.Node]; !again {
			y.deleted[e.Node] = e.At
		}
	case e.Type == journal.Belief:
		if i, holding := y.open[e.Who]; holding && (e.Belief != journal.Holds || e.Node != y.holds[i].node) {
			y.holds[i].to = e.At
			delete(y.open, e.Who)
		}
		if e.Belief == journal.Holds {
			y.takeHold(e)
		}
	}
}

func (y *tally) takeHold(e *journal.Event) {
	if _, holding := y.open[e.Who]; !holding {
		y.open[e.Who] = len(y.holds)
		y.holds = append(y.holds, hold{who: e.Who, node: e.Node, from: e.At})
	}
	if y.granted[e.Token] {
		return // the same hold, after a doubt
	}
	if e.Token <= y.largest {
		y.wrong = append(y.wrong, fmt.Sprintf("%s was granted token 0x%x after 0x%x", e.Who, e.Token, y.largest))
	}
	y.largest, y.granted[e.Token] = max(y.largest, e.Token), true
	y.grants = append(y.grants, e.At)
}

// overlaps finds holds that begin before another one's end. Who has sent the delete
// of its node has given the lock up.
func (y *tally) overlaps() {
	all := slices.Clone(y.holds)
	slices.SortFunc(all, func(a, b hold) int { return a.from.Compare(b.from) })
	var last hold
	for i, h := range all {
		if at, sent := y.deleted[h.node]; sent && (h.to.IsZero() || at.Before(h.to)) {
			h.to = at
		}
		if i > 0 && h.who != last.who && (last.to.IsZero() || h.from.Before(last.to)) {
			y.wrong = append(y.wrong, fmt.Sprintf("%s holds %s from %s on, and %s holds %s until %s", h.who, h.node, h.from.Format("05.000000"),
				last.who, last.node, last.to.Format("05.000000")))
		}
		if i == 0 || h.to.IsZero() || !last.to.IsZero() && h.to.After(last.to) {
			last = h
		}
	}
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

// check tells what was wrong. Who left the line without a grant has lost its place.
func (y *tally) check() {
	y.t.Helper()
	y.overlaps()
	for _, p := range y.gone {
		if !y.granted[p.Czxid] {
			y.wrong = append(y.wrong, fmt.Sprintf("%s lost its place with token 0x%x", p.Name, p.Czxid))
		}
	}
	for i, w := range y.wrong {
		if i == 10 {
			y.t.Errorf("and %d more", len(y.wrong)-i)
			break
		}
		y.t.Error(w)
	}
}
