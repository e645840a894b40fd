package badlock

import (
	"context"
	"slices"

	"zklab/internal/lockproof"
)

// CountsForeign is a semaphore to which every child is a lease.
func CountsForeign(s *Session, path string, permits int) lockproof.Lock {
	q := queue{s.Conn, path}
	everybody := func(children []string) []string {
		foreign := slices.DeleteFunc(slices.Clone(children), func(c string) bool { return lockproof.Sequence(c) >= 0 })
		return append(foreign, inOrder(children)...)
	}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(leaseKind)
		if err != nil {
			return nil, err
		}
		if err := q.awaitPermit(ctx, t, permits, everybody); err != nil {
			return nil, q.giveUp(t, err)
		}
		return q.grant(s, t), nil
	})
}
