package badlock

import (
	"context"
	"time"

	"zklab/internal/lockproof"
)

// ReleasesEarly gives the lock back after a time of its own, as a lock with a
// lease of fixed length does, and does not tell its holder.
func ReleasesEarly(s *Session, path string) lockproof.Lock {
	const lease = time.Millisecond
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(lockKind)
		if err != nil {
			return nil, err
		}
		if err := q.awaitTurn(ctx, t, anybody); err != nil {
			return nil, q.giveUp(t, err)
		}
		over := make(chan error, 1)
		time.AfterFunc(lease, func() { over <- q.leave(t) })
		g := q.grant(s, t)
		g.Release = func(context.Context) error { return <-over }
		return g, nil
	})
}
