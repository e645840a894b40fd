package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// UpgradeDeadlock lets a reader wait for the write lock while it reads. Two
// that do so wait for each other.
func UpgradeDeadlock(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		read, err := q.acquire(ctx, s, readKind, writers)
		if err != nil {
			return nil, err
		}
		read.Own = func(ctx context.Context) (*lockproof.Grant, error) {
			return q.acquire(ctx, s, writeKind, func(name string) bool { return name != read.Node })
		}
		return read, nil
	})
}
