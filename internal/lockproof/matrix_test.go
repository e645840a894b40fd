package lockproof_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// roundsPerCell is how often each cell is played.
func roundsPerCell() int {
	if os.Getenv("ZKLAB_LONG") != "" {
		return 20
	}
	return 2
}

// table collects the results of the matrix.
type table struct {
	rows  []string // names of the faults
	mu    sync.Mutex
	cells map[string]map[string]string // fault, recipe
}

func newTable() *table {
	m := &table{}
	for i := range faults {
		m.rows = append(m.rows, faults[i].name)
	}
	return m
}

func (m *table) add(f string, r *recipe, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells == nil {
		m.cells = map[string]map[string]string{}
	}
	if m.cells[f] == nil {
		m.cells[f] = map[string]string{}
	}
	m.cells[f][r.name] = text
}

func (m *table) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "fault")
	for _, r := range recipes {
		fmt.Fprint(w, "\t", r.name)
	}
	fmt.Fprintln(w)
	for _, f := range m.rows {
		if m.cells[f] == nil {
			continue
		}
		fmt.Fprint(w, f)
		for _, r := range recipes {
			fmt.Fprint(w, "\t", m.cells[f][r.name])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}

func (f *fault) appliesTo(r *recipe) bool { return r.lists || !f.lists }

// TestFaults plays every recipe against every fault of one contestant.
func TestFaults(t *testing.T) {
	leavesNothing(t)
	w := watchWeather(t)
	results := newTable()
	t.Cleanup(func() { t.Logf("%d rounds a cell\n%s", roundsPerCell(), results) })
	for i := range faults {
		f := &faults[i]
		if f.server {
			continue
		}
		for j := range recipes {
			r := &recipes[j]
			if !f.appliesTo(r) {
				results.add(f.name, r, "-")
				continue
			}
			t.Run(f.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				good := 0
				for round := range roundsPerCell() {
					if playBout(t, r, f, round, w) {
						good++
					}
				}
				results.add(f.name, r, fmt.Sprintf("%d/%d", good, roundsPerCell()))
			})
		}
	}
}

func playBout(t *testing.T, r *recipe, f *fault, round int, w *weather) bool {
	return t.Run(fmt.Sprint(round), func(t *testing.T) {
		for replay := range maxReplays {
			start := time.Now()
			b := newBout(t, r, f, round)
			b.setUp()
			b.strike()
			b.finish()
			vs := b.verdict()
			if len(vs) == 0 {
				return
			}
			lag, storm := w.stormSince(start)
			if storm && onlyLate(vs) && replay < maxReplays-1 {
				t.Logf("played again, because nobody came to run for %v:\n%s", lag, lockproof.Report(vs))
				continue
			}
			t.Fatalf("%s, %s, victim is the %s (latest lag %v):\n%s%s", r.name, f.name, b.role, lag, lockproof.Report(vs), b.a.logTail(60))
		}
	})
}

// TestFaults_ofTheServer plays all recipes at once against what happens to
// the server, which is one of the test's own.
func TestFaults_ofTheServer(t *testing.T) {
	needControl(t)
	t.Parallel()
	e := zktest.Start(t, zkserver.Options{})
	one := e.Servers()[0]
	at := site{server: one.Addr(), addrs: []string{one.Addr()}, chroot: e.Chroot(), control: one}
	w := watchWeather(t)
	results := newTable()
	t.Cleanup(func() { t.Logf("%d rounds a cell\n%s", roundsPerCell(), results) })
	for i := range faults {
		f := &faults[i]
		if !f.server {
			continue
		}
		good := map[string]int{}
		for round := range roundsPerCell() {
			t.Run(fmt.Sprintf("%s/%d", f.name, round), func(t *testing.T) { playBouts(t, f, round, at, w, good) })
		}
		for j := range recipes {
			results.add(f.name, &recipes[j], fmt.Sprintf("%d/%d", good[recipes[j].name], roundsPerCell()))
		}
	}
}

// playBouts plays a round with every recipe at once, and counts those that pass.
func playBouts(t *testing.T, f *fault, round int, at site, w *weather, good map[string]int) {
	t.Helper()
	for replay := range maxReplays {
		start := time.Now()
		var bouts []*bout
		for j := range recipes {
			b := newBoutAt(t, &recipes[j], f, round, at)
			b.setUp()
			bouts = append(bouts, b)
		}
		f.strike(bouts[0])
		broken, late := map[*bout][]lockproof.Violation{}, true
		for _, b := range bouts {
			b.finish()
			if vs := b.verdict(); len(vs) > 0 {
				broken[b], late = vs, late && onlyLate(vs)
			}
		}
		lag, storm := w.stormSince(start)
		if len(broken) > 0 && storm && late && replay < maxReplays-1 {
			t.Logf("played again, because nobody came to run for %v", lag)
			continue
		}
		for _, b := range bouts {
			if vs := broken[b]; len(vs) > 0 {
				t.Errorf("%s, %s, victim is the %s (latest lag %v):\n%s%s", b.recipe.name, f.name, b.role, lag, lockproof.Report(vs), b.a.logTail(60))
				continue
			}
			good[b.recipe.name]++
		}
		return
	}
}
