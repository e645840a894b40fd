package badlock

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"zklab/internal/lockproof"
)

// ComparesAsText orders the contenders by their numbers written out, in which
// 10 comes before 9.
func ComparesAsText(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	text := func(name string) string { return strconv.FormatInt(lockproof.Sequence(name), 10) }
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquireSorted(ctx, s, func(all []string) {
			slices.SortFunc(all, func(a, b string) int { return cmp.Compare(text(a), text(b)) })
		})
	})
}
