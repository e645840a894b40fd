package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// NeverDoubts does not tell its holder that the connection, and with it
// perhaps the session, is gone.
func NeverDoubts(s *Session, path string) lockproof.Lock {
	sound := Sound(s, path)
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := sound.Acquire(ctx)
		if err == nil {
			g.Certain = nil
		}
		return g, err
	})
}
