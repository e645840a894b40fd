package badlock

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/lockproof"
)

// ReleaseDeletesWhoever is one ephemeral node. Its release deletes that node
// without asking whose it is by now.
func ReleaseDeletesWhoever(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		const name = "holder"
		for {
			_, err := s.Conn.Create(q.at(name), nil, zk.FlagEphemeral, acl)
			if err == nil {
				t, err := q.look(q.at(name))
				if err != nil {
					return nil, err
				}
				g := q.grant(s, t)
				g.Release = func(ctx context.Context) error { return q.insist(ctx, t) }
				return g, nil
			}
			if !errors.Is(err, zk.ErrNodeExists) {
				return nil, err
			}
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
}

// insist deletes until the answer is definite, in whatever session.
func (q queue) insist(ctx context.Context, t ticket) error {
	for {
		err := q.leave(t)
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
