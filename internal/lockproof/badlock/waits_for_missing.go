package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// WaitsForMissing sets its watch with exists and sleeps whatever the answer
// was. If the predecessor went between the list and the watch, nothing will
// ever wake it.
func WaitsForMissing(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquireExists(ctx, s, func(bool) bool { return true })
	})
}

// acquireExists is the recipe with exists in place of getData; sleep says
// whether to sleep when the predecessor was there, or was not.
func (q queue) acquireExists(ctx context.Context, s *Session, sleep func(there bool) bool) (*lockproof.Grant, error) {
	t, err := q.join(lockKind)
	if err != nil {
		return nil, err
	}
	for {
		p, err := q.before(t, anybody)
		if err != nil {
			return nil, q.giveUp(t, err)
		}
		if p == "" {
			return q.grant(s, t), nil
		}
		there, _, events, err := q.conn.ExistsW(q.at(p))
		if err != nil {
			return nil, q.giveUp(t, err)
		}
		if !sleep(there) {
			continue
		}
		select {
		case <-events:
		case <-ctx.Done():
			return nil, q.giveUp(t, ctx.Err())
		}
	}
}
