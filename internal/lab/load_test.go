package lab

import (
	"os"
	"testing"
	"time"

	"zklab/internal/journal"
)

// herd lines contestants up, in one process or in many, and has so many holders
// release, each when the last change has settled.
func herd(t *testing.T, g Group, releases int) (s journal.State, lining, draining time.Duration) {
	t.Helper()
	l := open(t, Options{Session: 10 * time.Second})
	start := time.Now()
	names, err := l.Start(t.Context(), g)
	must(t, err)
	for _, who := range names {
		must(t, l.Join(t.Context(), who))
	}
	settled := func(n int) func(journal.State) bool {
		return func(s journal.State) bool {
			q, _ := s.Lock(l.Lock())
			if len(q.Queue) != n || !s.Counters.At.After(q.Changed) {
				return false
			}
			if k := len(q.Wakes); k > 0 && float64(q.Wakes[k-1].Events) < q.Wakes[k-1].Server {
				return false // some events are still on their way to their clients
			}
			for i, p := range q.Queue {
				c, _ := s.Contestant(p.Who)
				if i == 0 && c.Belief != journal.Holds || i > 0 && len(p.Watches) == 0 || c.Watch.At.After(s.Counters.At) {
					return false
				}
			}
			return true
		}
	}
	until(t, l, "all in line", settled(g.Count))
	lining, start = time.Since(start), time.Now()
	defer func() {
		if t.Failed() {
			q, _ := l.j.Latest(time.Now()).Lock(l.Lock())
			for _, w := range q.Wakes[max(len(q.Wakes)-4, 0):] {
				t.Logf("%+v", w)
			}
		}
	}()
	for left := g.Count; left > g.Count-releases; left-- {
		must(t, l.Release(t.Context(), holder(l, l.j.Latest(time.Now()))))
		s = until(t, l, "the next one holds", settled(left-1))
	}
	return s, lining, time.Since(start)
}

func checkWakes(t *testing.T, s journal.State, want func(left int) int) {
	t.Helper()
	q := s.Locks[0]
	wrong := 0
	for i, w := range q.Wakes {
		left := len(q.Queue) + len(q.Wakes) - 1 - i
		if w.Server != float64(want(left)) || len(w.Clients) != want(left) {
			if wrong++; wrong < 5 {
				t.Errorf("with %d left the server says %v, the wire %d, want %d", left, w.Server, len(w.Clients), want(left))
			}
		}
	}
	if len(q.Wakes) == 0 {
		t.Error("no release was seen")
	}
}

func TestLab_20processes_naive_everyReleaseWakesAll(t *testing.T) {
	s, lining, draining := herd(t, Group{Count: 20, Recipe: "naive"}, 20)
	t.Logf("lined up in %v, drained in %v, %d events", lining, draining, s.LastSeq)
	checkWakes(t, s, func(left int) int { return left })
}

func TestLab_200sessions_mini_everyReleaseWakesOne(t *testing.T) {
	s, lining, draining := herd(t, Group{Count: 200, Recipe: "mini", InOneProcess: true}, 20)
	t.Logf("lined up in %v, drained in %v, %d events", lining, draining, s.LastSeq)
	checkWakes(t, s, func(left int) int { return min(left, 1) })
}

func TestLab_200sessions_naive_everyReleaseWakesAll(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("takes half a minute: ZKLAB_LONG=1")
	}
	s, lining, draining := herd(t, Group{Count: 200, Recipe: "naive", InOneProcess: true}, 200)
	t.Logf("lined up in %v, drained in %v, %d events", lining, draining, s.LastSeq)
	checkWakes(t, s, func(left int) int { return left })
}

func TestLab_1000sessions_mini_lineUpAndRelease(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("takes a minute: ZKLAB_LONG=1")
	}
	s, lining, draining := herd(t, Group{Count: 1000, Recipe: "mini", InOneProcess: true}, 60)
	t.Logf("lined up in %v, drained in %v, %d events", lining, draining, s.LastSeq)
	checkWakes(t, s, func(left int) int { return min(left, 1) })
}
