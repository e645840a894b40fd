package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// WakesAndEnters takes the end of its predecessor for its turn. The
// predecessor may have given up while somebody before it still holds.
func WakesAndEnters(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(lockKind)
		if err != nil {
			return nil, err
		}
		p, err := q.before(t, anybody)
		if err == nil && p != "" {
			err = q.awaitEnd(ctx, p)
		}
		if err != nil {
			return nil, q.giveUp(t, err)
		}
		return q.grant(s, t), nil
	})
}
