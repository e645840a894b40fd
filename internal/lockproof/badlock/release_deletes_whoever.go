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
				return q.grant(s, t), nil
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
