package scenario

import (
	"context"
	"time"

	"zklab/internal/lab"
)

// Stage is where a script plays: a *lab.Lab with its contestants. Each
// method returns when the thing is done (a signal sent, a fault in force), not
// when its consequences have come: a script waits for those.
type Stage interface {
	// Start makes contestants that are not in line yet, and returns their names.
	Start(ctx context.Context, g lab.Group) ([]string, error)
	Join(ctx context.Context, who string) error
	Release(ctx context.Context, who string) error
	Quit(ctx context.Context, who string) error
	Kill(ctx context.Context, who string) error
	Stop(ctx context.Context, who string) error
	Continue(ctx context.Context, who string) error
	// Network puts a fault in force for one contestant's connection.
	Network(ctx context.Context, who string, f lab.NetworkFault) error
	Heal(ctx context.Context, who string) error
	Expire(ctx context.Context, who string) error
	// Write has a contestant that believes it holds work and then write to the
	// resource that its lock protects; Fence turns the resource's check of tokens
	// on or off.
	Write(ctx context.Context, who, text string, work time.Duration) error
	Fence(on bool)
	// Server does something to a ZooKeeper server: kill, pause, continue, restart,
	// isolate, rejoin; which is a number from 1, or "leader".
	Server(ctx context.Context, do, which string) error
	// Tick is the servers' tick; 0 when it is not known.
	Tick() time.Duration
	// StoodStill tells when the stage itself stood still for a second or longer, and
	// every contestant's network with it, oldest first.
	StoodStill() []lab.Pause
	// Lock is the path that contestants queue up at.
	Lock() string
}
