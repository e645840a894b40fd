package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// ForgetsOnCancel returns when its context ends and leaves its node in the
// queue, where it becomes a holder that nobody knows of.
func ForgetsOnCancel(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(lockKind)
		if err != nil {
			return nil, err
		}
		if err := q.awaitTurn(ctx, t, anybody); err != nil {
			return nil, err
		}
		return q.grant(s, t), nil
	})
}
