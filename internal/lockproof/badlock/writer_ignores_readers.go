package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// WriterIgnoresReaders waits for writers only.
func WriterIgnoresReaders(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquire(ctx, s, writeKind, writers)
	})
}
