package tui

import (
	"context"
	"time"
)

// Control acts on the contestants. Its methods are called from commands, at
// most a few at a time; each returns once the act is done or ctx ends. What came
// of it shows in the journal; an error is told on the screen.
type Control interface {
	// Usual says by which recipe a newcomer at a lock locks: that of whoever came
	// there last, or comes first. It is false where nobody is known to come; Join
	// then fails. It never waits.
	Usual(lock string) (recipe string, known bool)
	// Join lets a new contestant stand in line at a lock, who is like the others
	// there. As says with which intent: empty for the lock's usual one, "read" or
	// "write" for a read/write lock.
	Join(ctx context.Context, lock, as string) error
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

// Servers is a Control that can also act on the ZooKeeper servers.
type Servers interface {
	Control
	// ServersOwned says whether the servers can be acted on: those that somebody
	// else runs cannot. It never waits.
	ServersOwned() bool
	// Server does something to a server: kill, pause, continue, restart, isolate
	// (cut it off from the other servers) or rejoin. which is its number, from 1
	// in the order of the journal's servers, or "leader".
	Server(ctx context.Context, do, which string) error
}

// Sandbox is a Control that can do anything to anyone, for the sandbox.
type Sandbox interface {
	Control
	// Choices says what new contestants can be like. The first of each list is
	// the usual one; a list must not be empty.
	Choices() Choices
	// JoinLike lets new contestants stand in line.
	JoinLike(ctx context.Context, w Wish) error
	// Deeds names what can be done to a contestant beside the Control's own:
	// network faults, the end of its session, a write.
	Deeds() []string
	// Do does one of the Deeds to who.
	Do(ctx context.Context, who, deed string) error
}

// Choices are the values that a Wish can be made of.
type Choices struct {
	Recipes  []string
	Locks    []string
	Counts   []int
	Sessions []time.Duration
	Holds    []time.Duration // 0: until told to release
}

// Wish says what new contestants are like.
type Wish struct {
	Recipe  string
	Lock    string
	Count   int
	Session time.Duration
	Hold    time.Duration
}
