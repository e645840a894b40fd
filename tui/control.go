package tui

import (
	"context"

	"zklab/tui/view"
)

// Control acts on the contestants. Its methods are called from commands, at
// most a few at a time; each returns once the act is done or ctx ends. What came
// of it shows in the journal; an error is told on the screen.
type Control interface {
	// Join lets a new contestant stand in line. As says with which intent:
	// empty for the lock's usual one, "read" or "write" for a read/write lock.
	Join(ctx context.Context, as string) error
	// Release lets who give back the lock, or leave the line.
	Release(ctx context.Context, who string) error
	// Kill sends who's process SIGKILL.
	Kill(ctx context.Context, who string) error
	// Stop sends who's process SIGSTOP.
	Stop(ctx context.Context, who string) error
	// Cont sends who's process SIGCONT.
	Cont(ctx context.Context, who string) error
	// Cut takes who's network away.
	Cut(ctx context.Context, who string) error
	// Heal takes all of who's network faults away.
	Heal(ctx context.Context, who string) error
}

// Crowd is a Control that can also drive two equal crowds, for the herd page.
type Crowd interface {
	Control
	// ReleaseAll lets the holder of every lock release at the same moment.
	ReleaseAll(ctx context.Context) error
	// Grow adds n waiters to every lock; a negative n takes some away.
	Grow(ctx context.Context, n int) error
}

// Script is a scenario that is run step by step. Its methods may be called
// concurrently.
type Script interface {
	// Steps tells where the scenario is. It never waits for a step.
	Steps() view.Steps
	// Next runs the next step. It returns when the step's event has come, when
	// the step failed, or when ctx ends. With a question open, it runs the step
	// without an answer.
	Next(ctx context.Context) error
	// Answer answers the open question; choice counts from 1.
	Answer(ctx context.Context, choice int) error
}
