package badlock

import (
	"context"
	"time"

	"zklab/internal/lockproof"
)

// ChecksThenActs looks whether the queue is empty and joins it if so. Two can
// look before either joins.
func ChecksThenActs(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		for {
			all, err := q.contenders()
			if err != nil {
				return nil, err
			}
			if len(all) == 0 {
				t, err := q.join(lockKind)
				if err != nil {
					return nil, err
				}
				return q.grant(s, t), nil
			}
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
}
