package badlock

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/lockproof"
)

// RetriesCreateBlindly creates again when the answer to its create was lost.
// If the first one had succeeded, its node stays before the second in the
// queue, and its owner waits for itself.
func RetriesCreateBlindly(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		for {
			g, err := q.acquire(ctx, s, lockKind, anybody)
			if err == nil || ctx.Err() != nil || errors.Is(err, zk.ErrClosing) {
				return g, err
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}
