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

// On a low screen the release that woke most stays: the newest ones of a drained line
// wake nobody on either side.
func TestHerd_80x24_drainedBesideALongNarration_theLargestHerdStaysInTheChart(t *testing.T) {
	f := herd(10, 9, 40)
	f.Steps = &view.Steps{At: 4, Of: 5, Text: "next: what did each line cost?", Question: "and?", Choices: []string{"a", "b", "c", "d", "e"}}
	out := ansi.Strip(view.Herd(f, 80, 24, looks["mono"]))
	for _, want := range []string{"#1 ", "#9 "} {
		if strings.Count(out, want) < 2 {
			t.Errorf("%q is missing on a side:\n%s", want, out)
		}
	}
}

// How long somebody waited between two keys says nothing about the lock.
func TestHerd_releasesByHand_noTimeIsTold(t *testing.T) {
	out := ansi.Strip(view.Herd(herd(10, 4, 14.6), 80, 24, looks["mono"]))
	if strings.Contains(out, "releases in") || strings.Contains(out, "last 4 in") {
		t.Errorf("the pauses between the keys are told as the lock's time:\n%s", out)
	}
}

func TestHerd_nobodyCameYet_bothSidesSayWhatTheyAre(t *testing.T) {
	out := ansi.Strip(view.Herd(view.Frame{}, 80, 24, looks["mono"]))
	for _, want := range []string{"NAIVE: watch the parent", "MINI: watch your predecessor"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// Of more releases than are remembered only the distance from the last one is known.
func TestHerd_90releases_areNumberedFromTheLast(t *testing.T) {
	out := ansi.Strip(view.Herd(herd(100, 90, 200), 80, 24, looks["mono"]))
	for _, want := range []string{"last release: lock-0000000089", " last ", " -1 "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if strings.Contains(out, "#") {
		t.Errorf("a number that is none:\n%s", out)
	}
}
