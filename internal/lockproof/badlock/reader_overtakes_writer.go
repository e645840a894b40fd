package badlock

import (
	"context"
	"slices"

	"zklab/internal/lockproof"
)

// ReaderOvertakesWriter joins a reader to readers that hold, past a writer
// that waits between them. With enough readers the writer never comes in.
func ReaderOvertakesWriter(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(readKind)
		if err != nil {
			return nil, err
		}
		for {
			all, err := q.contenders()
			if err != nil {
				return nil, q.giveUp(t, err)
			}
			if slices.Index(all, t.name) < 0 {
				return nil, errOwnNodeGone
			}
			if !writers(all[0]) {
				return q.grant(s, t), nil
			}
			if err := q.awaitEnd(ctx, all[0]); err != nil {
				return nil, q.giveUp(t, err)
			}
		}
	})
}
