package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// TokenCountedLocally numbers its own grants. Another process counts for
// itself.
func TokenCountedLocally(s *Session, path string) lockproof.Lock {
	sound := Sound(s, path)
	var granted int64
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := sound.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		granted++
		g.Token = granted
		return g, nil
	})
}
