package badlock

import (
	"context"
	"slices"

	"zklab/internal/lockproof"
)

// SortsWholeName orders the contenders by name. The random part comes first in
// a name, so that a newcomer can sort before the holder.
func SortsWholeName(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquireSorted(ctx, s, func(all []string) { slices.Sort(all) })
	})
}

// acquireSorted is the recipe with another order of the contenders.
func (q queue) acquireSorted(ctx context.Context, s *Session, sort func([]string)) (*lockproof.Grant, error) {
	t, err := q.join(lockKind)
	if err != nil {
		return nil, err
	}
	for {
		all, err := q.contenders()
		if err != nil {
			return nil, q.giveUp(t, err)
		}
		sort(all)
		i := slices.Index(all, t.name)
		if i < 0 {
			return nil, errOwnNodeGone
		}
		if i == 0 {
			return q.grant(s, t), nil
		}
		if err := q.awaitEnd(ctx, all[i-1]); err != nil {
			return nil, q.giveUp(t, err)
		}
	}
}
