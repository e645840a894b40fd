package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// TokenFromVersion takes the version of its own node for a fencing token. A
// fresh node's version is 0, always.
func TokenFromVersion(s *Session, path string) lockproof.Lock {
	sound := Sound(s, path)
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := sound.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		_, stat, err := s.Conn.Get(path + "/" + g.Node)
		if err != nil {
			return nil, err
		}
		g.Token = int64(stat.Version)
		return g, nil
	})
}
