package lab

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/internal/zkstat"
)

// fakeServer tells what the test has it tell. A follower that is behind has fired
// only what it has applied.
type fakeServer struct {
	addr    string
	zxid    int64 // it has applied
	next    int64 // it applies after it was asked, when not 0
	fired   float64
	more    float64 // fired with that
	uptime  float64
	err     error
	watches int64
}

func (s *fakeServer) Addr() string { return s.addr }

func (s *fakeServer) Srvr(context.Context) (zkstat.Srvr, error) {
	told := zkstat.Srvr{Zxid: s.zxid}
	if s.err == nil && s.next != 0 {
		s.zxid, s.fired, s.next = s.next, s.fired+s.more, 0
	}
	return told, s.err
}

func (s *fakeServer) Monitor(context.Context) (zkstat.Monitor, error) {
	return zkstat.Monitor{Watches: s.watches, Values: map[string]float64{
		zkstat.DeleteWatchesFired: s.fired, zkstat.WatchCount: float64(s.watches), upSince: s.uptime,
	}}, s.err
}

// fakes are n servers that have applied the same and have fired 1, 2, 3 … watches.
func fakes(n int) []*fakeServer {
	var all []*fakeServer
	for i := range n {
		all = append(all, &fakeServer{addr: string(rune('a' + i)), zxid: 0x100000007, fired: float64(i + 1), uptime: 1000})
	}
	return all
}

func wantSum(t *testing.T, of *totals, servers []*fakeServer, fired float64, unsure bool) {
	t.Helper()
	var all []counting
	for _, s := range servers {
		all = append(all, s)
	}
	got, ok := of.read(t.Context(), all)
	if !ok || got.fired[zkstat.DeleteWatchesFired] != fired || got.unsure != unsure {
		t.Errorf("fired %v, unsure %v, %v; want %v, unsure %v", got.fired[zkstat.DeleteWatchesFired], got.unsure, ok, fired, unsure)
	}
	of.written()
}

// counted3 are the totals of three servers that have told once, and sum to 6.
func counted3(t *testing.T) (*totals, []*fakeServer) {
	of, servers := newTotals(), fakes(3)
	wantSum(t, of, servers, 6, true) // what they fired before is nobody's
	wantSum(t, of, servers, 6, false)
	return of, servers
}

// A server that does not answer once must not make the sum fall and then jump: the
// next release would be charged with all that it ever fired.
func TestTotals_silentServer_keepsItsLastValues(t *testing.T) {
	of, servers := counted3(t)
	servers[2].err = context.DeadlineExceeded
	servers[0].fired++
	wantSum(t, of, servers, 7, true)
	wantSum(t, of, servers, 7, true)
	servers[2].err = nil
	wantSum(t, of, servers, 7, true) // what it fired meanwhile is only told now
	servers[1].fired++
	wantSum(t, of, servers, 8, false)
}

func TestTotals_deadServer_keepsWhatItCounted(t *testing.T) {
	of, servers := counted3(t)
	wantSum(t, of, servers[:2], 6, true)
	servers[0].fired++
	wantSum(t, of, servers[:2], 7, false) // a dead server has no clients to tell
	servers[2].fired, servers[2].uptime = 0, 1
	wantSum(t, of, servers, 7, true)
	servers[2].fired = 1
	wantSum(t, of, servers, 8, false)
}

// One that was started again between two readings begins at zero, even when it has
// more to tell than in its life before.
func TestTotals_restartedServer_addsToItsLifeBefore(t *testing.T) {
	for _, fired := range []float64{0, 5} {
		of, servers := counted3(t)
		servers[2].fired, servers[2].uptime = fired, 1
		wantSum(t, of, servers, 6+fired, true)
		wantSum(t, of, servers, 6+fired, false)
	}
}

func TestTotals_refusedServer_isGone(t *testing.T) {
	for _, err := range []error{syscall.ECONNREFUSED, zkstat.ErrNotServing} {
		of, servers := counted3(t)
		servers[2].err = err
		wantSum(t, of, servers, 6, true)
		wantSum(t, of, servers, 6, false)
	}
}

// A follower applies a deletion after the leader. What it fires for that must be in
// the sum that follows the deletion, and not in the next one's.
func TestTotals_followerBehind_isAwaited(t *testing.T) {
	of, servers := counted3(t)
	servers[0].zxid++
	servers[1].next, servers[1].more = servers[0].zxid, 1
	servers[2].next = servers[0].zxid
	wantSum(t, of, servers, 7, false)
}

// A follower that never catches up is one that does not tell.
func TestTotals_followerStuck_makesTheSumUnsure(t *testing.T) {
	of, servers := counted3(t)
	servers[0].zxid++
	servers[1].next = servers[0].zxid
	synctest.Test(t, func(t *testing.T) { // the limit is two seconds
		start := time.Now()
		wantSum(t, of, servers, 6, true)
		if took := time.Since(start); took > levelLimit+time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// A new leader says the number its term begins with, its followers only that of the
// last change before: none of them is behind.
func TestTotals_newLeader_nobodyIsBehind(t *testing.T) {
	of, servers := counted3(t)
	servers[0].zxid = 0x200000000
	start := time.Now()
	wantSum(t, of, servers, 6, false)
	if took := time.Since(start); took > levelLimit/2 {
		t.Errorf("waited %v for a change that there is not", took)
	}
}

// Three real servers, and what is to be so of each kind of trouble.
func TestLab_3servers(t *testing.T) {
	t.Parallel() // the servers are its own
	e := zktest.Start(t, zkserver.Options{Size: 3})
	t.Run("everyReleaseIsGivenItsOwn", func(t *testing.T) { testOwnWakes(t, e) })
	t.Run("pausedFollower_holdsNothingUp", func(t *testing.T) { testPausedFollower(t, e) })
	t.Run("killLeader_queueAndCountersGoOn", func(t *testing.T) { testKillLeader(t, e) })
}

// testOwnWakes has sessions spread over three servers, and many releases one after
// the other, each given the watches that it fired, on whichever server.
func testOwnWakes(t *testing.T, e *zkserver.Ensemble) {
	for _, recipe := range []string{"mini", "naive"} {
		t.Run(recipe, func(t *testing.T) {
			l, err := New(t.Context(), Options{Ensemble: e, Journal: journal.New(journal.Options{}), Session: 6 * time.Second, Lock: "/" + recipe, Recipe: recipe})
			must(t, err)
			t.Cleanup(func() { closeEmpty(t, l) })
			const n = 20
			line(t, l, Group{Count: n, InOneProcess: true})
			// The counters of the first release begin with a reading that was made after everybody came.
			until(t, l, "all in line are counted", func(s journal.State) bool {
				q, _ := s.Lock(l.Lock())
				return armed(l, s, n) && s.Counters.At.After(q.Changed.Add(settleCount)) && s.Counters.Values[zkstat.WatchCount] == n-1
			})
			for left := n - 1; left >= 0; left-- {
				must(t, l.Release(t.Context(), holder(l, l.j.Latest(time.Now()))))
				until(t, l, "the next one holds, and the release is counted", func(s journal.State) bool { return told(l, s, left) })
			}
			wantOwn(t, l, n, recipe)
		})
	}
}

// told reports whether n are in line in good order, and all releases counted.
func told(l *Lab, s journal.State, n int) bool {
	q, _ := s.Lock(l.Lock())
	k := len(q.Wakes)
	return armed(l, s, n) && k > 0 && !q.Wakes[k-1].Until.IsZero() && s.Counters.At.After(q.Changed)
}

// armed reports whether n are in line, the first holds, and each other has a watch.
func armed(l *Lab, s journal.State, n int) bool {
	q, _ := s.Lock(l.Lock())
	return len(q.Queue) == n && !slices.ContainsFunc(q.Queue, func(p journal.Place) bool {
		c, _ := s.Contestant(p.Who)
		return p.Holds && c.Belief != journal.Holds || !p.Holds && len(c.Watches) == 0
	})
}

// wantOwn checks that each of n releases was given the watches that it fired.
func wantOwn(t *testing.T, l *Lab, n int, recipe string) {
	t.Helper()
	q, _ := l.j.Latest(time.Now()).Lock(l.Lock())
	if len(q.Wakes) != n {
		t.Fatalf("%d releases were seen, want %d", len(q.Wakes), n)
	}
	for i, w := range q.Wakes {
		want := n - 1 - i
		if recipe == "mini" {
			want = min(want, 1)
		}
		if w.Server != float64(want) || len(w.Clients) != want {
			t.Errorf("release %d of %s: the servers say %v, the wire %d, want %d", i+1, recipe, w.Server, len(w.Clients), want)
		}
	}
}

// Others use the same servers: their watches must not be charged to our releases.
func TestLab_sharedServers_othersAreNotCharged(t *testing.T) {
	t.Parallel() // the servers are its own
	e := zktest.Start(t, zkserver.Options{})
	var labs []*Lab
	for range 2 {
		mine, err := zkserver.Start(t.Context(), zkserver.Options{Servers: e.Connect(), Backend: zkserver.External})
		must(t, err)
		t.Cleanup(func() { must(t, mine.Close()) })
		l, err := New(t.Context(), Options{Ensemble: mine, Journal: journal.New(journal.Options{}), Recipe: "naive"})
		must(t, err)
		t.Cleanup(func() { closeEmpty(t, l) })
		line(t, l, Group{Count: 6, InOneProcess: true})
		until(t, l, "all in line have their watches", func(s journal.State) bool { return armed(l, s, 6) })
		labs = append(labs, l)
	}
	for left := 6; left > 0; left-- {
		for _, l := range labs {
			must(t, l.Release(t.Context(), holder(l, l.j.Latest(time.Now()))))
		}
		for _, l := range labs {
			until(t, l, "the next one holds and is counted", func(s journal.State) bool {
				return told(l, s, left-1)
			})
		}
	}
	for _, l := range labs {
		q, _ := l.j.Latest(time.Now()).Lock(l.Lock())
		for i, w := range q.Wakes {
			if want := 5 - i; w.Server >= 0 && w.Server != float64(want) || len(w.Clients) != want {
				t.Errorf("release %d: the servers say %v, the wire %d, want %d", i+1, w.Server, len(w.Clients), want)
			}
		}
	}
}
