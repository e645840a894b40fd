package flawed

import (
	"context"
	"errors"
)

// Sound is the lock without a flaw: what lessons 06 to 09 have built.
type Sound struct{ line }

// Acquire waits until the client holds the lock. It leaves no node when it fails.
func (s *Sound) Acquire(ctx context.Context) error {
	err := s.joinSurely(ctx)
	if err == nil {
		err = s.wait(ctx)
	}
	if err != nil {
		return errors.Join(err, s.leave())
	}
	return nil
}
