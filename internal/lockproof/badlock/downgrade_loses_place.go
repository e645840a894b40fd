package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// DowngradeLosesPlace takes the read lock with a node at the end of the queue
// while it holds the write lock. Once the write lock is given back, a writer
// that queued in between comes first, although the reader reads.
func DowngradeLosesPlace(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := q.acquire(ctx, s, writeKind, anybody)
		if err != nil {
			return nil, err
		}
		g.Share = func(context.Context) (*lockproof.Grant, error) {
			t, err := q.join(readKind)
			if err != nil {
				return nil, err
			}
			t.token = g.Token
			return q.grant(s, t), nil
		}
		return g, nil
	})
}
