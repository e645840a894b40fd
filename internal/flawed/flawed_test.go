package flawed_test

import (
	"slices"
	"testing"

	"zklab/internal/flawed"
	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

var designs = []flawed.Design{
	flawed.Good, flawed.Outlives, flawed.Woken, flawed.Herd, flawed.Sorts, flawed.Forgets,
	flawed.Timeout, flawed.Missing, flawed.Blind, flawed.Nodeless, flawed.Whoever,
}

// What lesson 17 says: whoever only tries one of these locks finds nothing.
func TestDesigns_2clients_passWhenTried(t *testing.T) {
	for _, d := range designs {
		t.Run(d.Name, func(t *testing.T) {
			b := flawed.NewBench(locktest.New(t), d)
			t.Cleanup(b.Close)
			b.Ask("A", "B")
			expect(t, b, "A")
			if w := b.Waiting(); !slices.Equal(w, []string{"B"}) {
				t.Errorf("%v wait", w)
			}
			b.Release("A")
			expect(t, b, "B")
			b.Release("B")
			expect(t, b)
			if left := b.Children(); len(left) > 0 || b.ReleaseErr("B") != nil || b.AcquireErr("B") != nil {
				t.Errorf("left: %v, %v, %v", left, b.ReleaseErr("B"), b.AcquireErr("B"))
			}
		})
	}
}

// A child that is no place in line keeps nobody out.
func TestDesigns_foreignChild_isNotInLine(t *testing.T) {
	for _, d := range designs {
		t.Run(d.Name, func(t *testing.T) {
			b := flawed.NewBench(locktest.New(t), d)
			t.Cleanup(b.Close)
			b.Put("config")
			b.Ask("A")
			expect(t, b, "A")
		})
	}
}

// What should happen to somebody who never came is noted, and does nothing.
func TestBench_unknownClient_isNoted(t *testing.T) {
	b := flawed.NewBench(locktest.New(t), flawed.Good)
	t.Cleanup(b.Close)
	b.Ask("A")
	steps := map[string]func(string){"Release": b.Release, "GiveUp": b.GiveUp, "Kill": b.Kill,
		"EndSession": b.EndSession, "DeleteNode": b.DeleteNode, "Continue": b.Continue,
		"AcquireErr": func(name string) { _ = b.AcquireErr(name) }, "ReleaseErr": func(name string) { _ = b.ReleaseErr(name) }}
	for what, do := range steps {
		before := len(b.Steps())
		do("X")
		if got := b.Steps()[before:]; len(got) != 1 || got[0].Effect != "there is no X" {
			t.Errorf("%s of X: %v", what, got)
		}
	}
	expect(t, b, "A")
	if b.Unknown() != "X" {
		t.Errorf("unknown: %q", b.Unknown())
	}
	b.StopBefore("B", flawed.Create)
	b.Ask("B")
	b.DeleteNode("B")
	if got := b.Steps(); got[len(got)-1].Effect != "B has no node" {
		t.Errorf("a node that is not there was deleted: %v", got)
	}
	b.Continue("B")
}

func expect(t *testing.T, b *flawed.Bench, names ...string) {
	t.Helper()
	if got := b.Holders(); !slices.Equal(got, names) {
		t.Errorf("%v hold, want %v", got, names)
	}
}
