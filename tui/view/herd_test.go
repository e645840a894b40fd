package view_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/internal/journal"
	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

func herd(n, releases int, seconds float64) view.Frame {
	f := frame(fixture.Herd(n, releases), seconds)
	f.Page = "herd effect"
	f.Lock = fixture.NaiveLock
	return f
}

func TestHerd_10inLine_4releases(t *testing.T) { goldens(t, herd(10, 4, 14.6), view.Herd) }

func TestHerd_everySize(t *testing.T) {
	sweep(t, view.Herd, herd(10, 4, 14.6), herd(3, 0, 5), herd(90, 3, 20), view.Frame{})
}

func TestHerd_90inLine_diamondsStandForSeveral(t *testing.T) {
	out := ansi.Strip(view.Herd(herd(90, 3, 20), 80, 24, looks["mono"]))
	for _, want := range []string{"87 of 87 re-read the queue", "1 of 87 re-read the queue", "◆=7"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// With the naive lock on both sides there still are two sides to see.
func TestHerdLocks(t *testing.T) {
	lock := func(path, recipe string) journal.LockState { return journal.LockState{Path: path, Recipe: recipe} }
	for _, c := range []struct {
		locks       []journal.LockState
		left, right string
	}{
		{nil, "", ""},
		{[]journal.LockState{lock("/a", "mini"), lock("/b", "naive")}, "/b", "/a"},
		{[]journal.LockState{lock("/a", "naive"), lock("/b", "naive")}, "/a", "/b"},
		{[]journal.LockState{lock("/a", "naive"), lock("/b", "naive"), lock("/c", "mutex")}, "/a", "/c"},
		{[]journal.LockState{lock("/a", "mini")}, "", "/a"},
	} {
		left, right := view.HerdLocks(&journal.State{Locks: c.locks})
		got := [2]string{}
		for i, l := range []*journal.LockState{left, right} {
			if l != nil {
				got[i] = l.Path
			}
		}
		if got != [2]string{c.left, c.right} {
			t.Errorf("%v: got %q, want %q and %q", c.locks, got, c.left, c.right)
		}
	}
}
