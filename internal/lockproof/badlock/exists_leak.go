package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// ExistsLeak looks again when the predecessor is missing, as it should, but
// asked with exists, which leaves a watch on the missing node at the server
// for as long as the session lasts.
func ExistsLeak(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquireExists(ctx, s, func(there bool) bool { return there })
	})
}
