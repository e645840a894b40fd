package badlock

import (
	"context"
	"slices"

	"zklab/internal/lockproof"
)

// IgnoresOwnNodeGone looks for contenders before its own number and does not
// notice that its own node is no longer among them: when somebody took it
// away, newcomers do not wait for it and it does not wait for them.
func IgnoresOwnNodeGone(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(lockKind)
		if err != nil {
			return nil, err
		}
		for {
			all, err := q.contenders()
			if err != nil {
				return nil, q.giveUp(t, err)
			}
			smaller := slices.DeleteFunc(all, func(c string) bool { return lockproof.Sequence(c) >= t.seq })
			if len(smaller) == 0 {
				return q.grant(s, t), nil
			}
			if err := q.awaitEnd(ctx, smaller[len(smaller)-1]); err != nil {
				return nil, q.giveUp(t, err)
			}
		}
	})
}
