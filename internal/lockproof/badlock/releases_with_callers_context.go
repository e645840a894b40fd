package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// ReleasesWithCallersContext does nothing on release when the context it is
// given has ended, as the context of a finished request has.
func ReleasesWithCallersContext(s *Session, path string) lockproof.Lock {
	sound := Sound(s, path)
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := sound.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		free := g.Release
		g.Release = func(ctx context.Context) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return free(ctx)
		}
		return g, nil
	})
}
