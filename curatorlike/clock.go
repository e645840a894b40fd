package curatorlike

import "time"

// Clock is where a client takes its time from. It must be monotonic, as
// time.Now is. The default is the real one; tests pass their own.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once, d from now, and a function
	// that gives the timer up.
	After(d time.Duration) (<-chan time.Time, func() bool)
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) After(d time.Duration) (<-chan time.Time, func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}
