package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zklab/internal/lab"
	"zklab/tui"
)

// sandbox is a control that can do anything to anyone.
type sandbox struct {
	control
	usual lab.Group // as the command line has it
}

// Choices says what new contestants can be like; the lab's own come first.
func (s sandbox) Choices() tui.Choices {
	return tui.Choices{
		Recipes:  first(s.usual.Recipe, recipeNames()),
		Locks:    []string{"/locks/demo", "/locks/second", "/locks/third"},
		Counts:   []int{1, 2, 5, 10, 20},
		Sessions: first(s.usual.Session, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 10 * time.Second}),
		Holds:    first(s.usual.Hold, []time.Duration{0, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second}),
	}
}

// first puts the usual value in front of the others.
func first[T comparable](usual T, all []T) []T {
	return append([]T{usual}, slices.DeleteFunc(slices.Clone(all), func(v T) bool { return v == usual })...)
}

// JoinLike starts new contestants and has them stand in line.
func (s sandbox) JoinLike(ctx context.Context, w tui.Wish) error {
	g := s.usual
	g.Recipe, g.Lock, g.Session, g.Hold, g.Rounds = w.Recipe, w.Lock, w.Session, w.Hold, 0
	if w.Hold > 0 {
		g.Rounds = -1
	}
	return s.lineUp(ctx, g, w.Count)
}

// deed is something that can be done to a contestant by its name in the menu.
type deed struct {
	name string
	do   func(ctx context.Context, l *lab.Lab, who string) error
}

// deeds are what the keys do not offer already.
func deeds() []deed {
	fault := func(f lab.NetworkFault) func(context.Context, *lab.Lab, string) error {
		return func(ctx context.Context, l *lab.Lab, who string) error { return l.Network(ctx, who, f) }
	}
	return []deed{
		{"reset the connection", fault(lab.NetworkFault{Kind: lab.Cut})},
		{"black hole, both ways", fault(lab.NetworkFault{Kind: lab.BlackHole, Direction: "both"})},
		{"black hole, to the server", fault(lab.NetworkFault{Kind: lab.BlackHole, Direction: "out"})},
		{"black hole, to the client", fault(lab.NetworkFault{Kind: lab.BlackHole, Direction: "in"})},
		{"delay by 100 ms each way", fault(lab.NetworkFault{Kind: lab.Delay, Delay: 100 * time.Millisecond})},
		{"lose the next create's reply", fault(lab.NetworkFault{Kind: lab.DropReply, Op: "create"})},
		{"lose the next delete's reply", fault(lab.NetworkFault{Kind: lab.DropReply, Op: "delete"})},
		{"fail the next create", fault(lab.NetworkFault{Kind: lab.FailWrite, Op: "create"})},
		{"end the session at the server", func(ctx context.Context, l *lab.Lab, who string) error { return l.Expire(ctx, who) }},
		{"write to the fenced resource", func(ctx context.Context, l *lab.Lab, who string) error {
			return l.Write(ctx, who, "from the sandbox", 0)
		}},
	}
}

// Deeds names what can be done beside the keys.
func (s sandbox) Deeds() []string {
	var names []string
	for _, d := range deeds() {
		names = append(names, d.name)
	}
	return names
}

// Do does one of the Deeds to who.
func (s sandbox) Do(ctx context.Context, who, name string) error {
	for _, d := range deeds() {
		if d.name == name {
			return d.do(ctx, s.Lab, who)
		}
	}
	return fmt.Errorf("nothing is called %q here", name)
}
