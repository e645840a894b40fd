package badlock

import (
	"context"
	"time"

	"zklab/internal/lockproof"
)

// CountsBeforeJoining is a semaphore that counts the leases and then adds its
// own. Two can count before either adds.
func CountsBeforeJoining(s *Session, path string, permits int) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		for {
			all, err := q.contenders()
			if err != nil {
				return nil, err
			}
			if len(all) < permits {
				t, err := q.join(leaseKind)
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
